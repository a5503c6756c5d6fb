//! The thread that reads what is typed or piped in.
//!
//! It reads one line for each wish and none without: what is not wanted stays for whoever else reads that input.
//! It ends with the input or the client; at a terminal that may be never, and then with the process.

use std::io::BufRead;
use std::sync::mpsc::{self, Sender};

use crate::client::Typed;
use crate::client::reader::Incoming;

pub(super) struct Wanted;

pub(super) fn start(mut input: impl BufRead + Send + 'static, to: Sender<Incoming>) -> Sender<Wanted> {
    let (wish, wishes) = mpsc::channel();
    std::thread::spawn(move || {
        for Wanted in wishes {
            let typed = read(&mut input);
            let is_last = !matches!(typed, Typed::Line(_));
            if to.send(Incoming::Typed(typed)).is_err() || is_last {
                return;
            }
        }
    });
    wish
}

fn read(input: &mut impl BufRead) -> Typed {
    let mut line = Vec::new();
    match input.read_until(b'\n', &mut line) {
        Ok(0) => Typed::End,
        Ok(_) => Typed::Line(String::from_utf8_lossy(&line).into_owned()),
        Err(error) => Typed::Broken { reason: error.to_string() },
    }
}
