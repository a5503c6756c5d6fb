//! The EZ engine's DAP face: an ordinary debug adapter on two byte streams, with the program in its own process.
//!
//! One thread reads requests into the mailbox; the other runs the program and answers them between its statements, so
//! nothing here is shared and nothing is locked. The language itself, and what stopping means in it, is `breakroom-ez`.

mod arguments;
mod breakpoints;
mod channel;
mod handles;
mod inspect;
mod launch;
mod mailbox;
mod modify;
mod running;
mod session;
mod world;

use std::io::{Read, Write};

/// Serves one client until it is gone or says `disconnect`.
pub fn serve(input: impl Read + Send + 'static, output: impl Write + 'static) {
    let mailbox = mailbox::Mailbox::default();
    mailbox::read(input, mailbox.clone());
    session::Session::new(channel::Channel::new(output), mailbox).serve();
}
