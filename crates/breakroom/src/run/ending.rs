//! Signals that tell this program to end: the session is left in good order, and not lost.
//!
//! A second one does not wait for that: it says goodbye in the front's place, puts the terminal right and ends. One that
//! comes right behind the first is the same order, since `timeout` and service managers send several.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use breakroom_door_terminal::Client;
use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

/// SIGTERM, SIGHUP and SIGINT; the last one is a person's way to pause where a person types.
pub const ENDS: [u8; 3] = [15, 1, 2];
/// What comes in this time after the first is an echo of it.
const ECHO: Duration = Duration::from_secs(1);
/// A hub that has heard a goodbye closes much sooner.
const FAREWELL: Duration = Duration::from_secs(1);
/// Beyond the number of any request that a person makes.
const LAST_SEQ: i64 = i32::MAX as i64;

/// Which of them came first, and when.
#[derive(Clone, Default)]
pub struct ToldToEnd(Arc<Mutex<Option<(u8, Instant)>>>);

#[derive(Debug, PartialEq, Eq)]
enum Telling {
    First,
    Echo,
    Again,
}

impl ToldToEnd {
    /// Makes the client leave when one of these comes. The stream is the client's own, for as long as it has one.
    pub fn listen(&self, client: &Client, stream: &Arc<UnixStream>, signals: &[u8]) -> Result<()> {
        // As it is before any line is edited.
        let found = tcgetattr(std::io::stdin()).ok();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        for number in signals {
            let number = *number;
            // From here on, and not from when the thread gets to it: until then it would end this process.
            let mut comes = {
                let _inside = runtime.enter();
                signal(SignalKind::from_raw(number.into()))?
            };
            let (told, leaver, found) = (self.clone(), client.interrupter(), found.clone());
            let stream = Arc::downgrade(stream);
            runtime.spawn(async move {
                while comes.recv().await.is_some() {
                    match told.hear(number, Instant::now()) {
                        Telling::First => leaver.leave(),
                        Telling::Echo => {}
                        Telling::Again => {
                            stream.upgrade().inspect(|stream| say_goodbye(stream));
                            found.as_ref().inspect(|found| restore(found));
                            std::process::exit(128 + i32::from(number));
                        }
                    }
                }
            });
        }
        std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
        Ok(())
    }

    fn hear(&self, number: u8, now: Instant) -> Telling {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *first {
            None => {
                *first = Some((number, now));
                Telling::First
            }
            Some((_, at)) if now.duration_since(at) < ECHO => Telling::Echo,
            Some(_) => Telling::Again,
        }
    }

    /// What a shell makes of a program that a signal ended.
    pub fn code(&self) -> Option<ExitCode> {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.map(|(number, _)| ExitCode::from(128 + number))
    }
}

/// The front may be unable to: it waits for whoever should read what it shows. Without this the session would wait for its
/// client to come back. If the front has said it already, it is only said again.
fn say_goodbye(mut stream: &UnixStream) {
    let goodbye = json!({
        "seq": LAST_SEQ, "type": "request", "command": "disconnect", "arguments": {"restart": false},
    });
    let body = goodbye.to_string();
    // A hub that reads nothing hears nothing, and must not be waited for.
    let _ = stream.set_nonblocking(true);
    let said = stream.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    if said.is_ok() {
        hear_out(stream);
    }
}

/// Until the hub closes, for a short while: if it were writing to somebody who is gone, it would take this for a loss before
/// it read the goodbye.
fn hear_out(mut stream: &UnixStream) {
    let until = Instant::now() + FAREWELL;
    let _ = stream.set_nonblocking(false);
    let mut rest = [0; 65536];
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        let _ = stream.set_read_timeout(Some(left));
        if !matches!(stream.read(&mut rest), Ok(1..)) {
            return;
        }
    }
}

fn restore(found: &Termios) {
    // A terminal that is another's now would stop us for it.
    if tcgetpgrp(std::io::stdin()).is_ok_and(|group| group != getpgrp()) {
        return;
    }
    // If it fails the terminal is gone.
    let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_right_behind_an_order_is_its_echo_and_what_comes_later_is_another() {
        let (told, at) = (ToldToEnd::default(), Instant::now());
        assert_eq!(told.hear(15, at), Telling::First);
        assert_eq!(told.hear(15, at), Telling::Echo);
        assert_eq!(told.hear(1, at + ECHO - Duration::from_millis(1)), Telling::Echo);
        assert_eq!(told.hear(1, at + ECHO), Telling::Again, "counted from the first, and not from its echo");
        assert_eq!(told.code(), Some(ExitCode::from(143)));
    }
}
