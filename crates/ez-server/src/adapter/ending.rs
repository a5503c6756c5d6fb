//! How a program ends: by itself, by `terminate`, by `disconnect`, or with its server.
//!
//! Whatever the server said before, the end is told when its process has ended and its streams are read: `exited` with
//! the code that it said or ended with, then `terminated`. A server that does not leave is killed with its group.

use std::collections::VecDeque;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Adapter, Done, Job, State, soon};
use crate::dap::Request;
use crate::server::exit_code;

/// For a server to end after it was told to, or after it said that the program has.
const TO_LEAVE: Duration = Duration::from_secs(1);
/// For one that said goodbye. Some never go.
const TO_GO: Duration = Duration::from_millis(250);
/// For streams that somebody outside the killed group still holds open.
const TO_FALL_SILENT: Duration = Duration::from_secs(1);
/// More than this cannot wait in the streams of a server that has ended: somebody else writes to them.
const MOST_LEFT: usize = 4 << 20;
const STREAMS: u32 = 2;
/// How much of what the server wrote to stderr is told with a failed launch.
const REMEMBERED_LINES: usize = 20;

/// What is known of the end so far.
#[derive(Debug, Default)]
pub(super) struct End {
    /// As the server said it.
    pub exit_code: Option<i64>,
    pub kill_at: Option<Instant>,
    /// Set when the process has ended, and put off by all that still comes.
    pub give_up_at: Option<Instant>,
    /// How much has come since.
    heard: usize,
    streams_ended: u32,
    wish: Wish,
    stderr: VecDeque<String>,
}

/// Who wanted the end.
#[derive(Debug, Default)]
enum Wish {
    #[default]
    Nobody,
    Terminate,
    Disconnect(Request),
    /// The client was told goodbye.
    Left,
}

impl End {
    pub fn client_has_left(&self) -> bool {
        matches!(self.wish, Wish::Left)
    }

    fn kill_within(&mut self, time: Duration) {
        let at = soon(time);
        self.kill_at = Some(self.kill_at.map_or(at, |before| before.min(at)));
    }

    /// Whether what comes now may still be the server's, which has ended.
    pub fn may_have_left_words(&self) -> bool {
        self.give_up_at.is_some() && self.heard <= MOST_LEFT
    }

    /// Something of the server's streams.
    pub fn heard(&mut self, length: usize) {
        if self.may_have_left_words() {
            self.heard += length;
            self.give_up_at = Some(soon(TO_FALL_SILENT));
        }
    }

    pub fn stream_ended(&mut self) {
        self.streams_ended += 1;
    }

    pub fn remember(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            match self.stderr.back_mut() {
                Some(line) if !line.ends_with('\n') => line.push_str(part),
                _ => self.stderr.push_back(part.to_owned()),
            }
        }
        while self.stderr.len() > REMEMBERED_LINES {
            self.stderr.pop_front();
        }
    }

    pub fn last_words(&self) -> impl Iterator<Item = &str> {
        self.stderr.iter().map(|line| line.trim_end())
    }
}

impl<W: Write> Adapter<W> {
    pub(super) fn terminate(&mut self, request: &Request) -> Done {
        if self.server.is_some() {
            if let Wish::Nobody = self.end.wish {
                self.end.wish = Wish::Terminate;
            }
            self.tell("terminate", json!({}));
            self.end_soon();
        }
        self.client.respond(request, json!({}))
    }

    /// The program ends with its server, which cannot be left alone with it.
    pub(super) fn disconnect(&mut self, request: Request) -> Done {
        if self.server.is_none() {
            self.end.wish = Wish::Left;
            return self.client.respond(&request, json!({}));
        }
        self.end.wish = Wish::Disconnect(request);
        self.tell("terminate", json!({}));
        self.end_soon();
        Ok(())
    }

    pub(super) fn end_soon(&mut self) {
        self.end.kill_within(TO_LEAVE);
    }

    /// The server has said that it ends the session.
    pub(super) fn on_terminated(&mut self) {
        self.end.kill_within(TO_GO);
    }

    pub(super) fn on_exit(&mut self) -> Done {
        // What the program started may still hold the streams, and the session is over for it too.
        if let Some(server) = &self.server {
            server.kill();
        }
        self.end.give_up_at = Some(soon(TO_FALL_SILENT));
        self.finish_if_over()
    }

    pub(super) fn finish_if_over(&mut self) -> Done {
        match self.end.give_up_at {
            Some(_) if self.end.streams_ended >= STREAMS => self.finish(),
            _ => Ok(()),
        }
    }

    pub(super) fn finish(&mut self) -> Done {
        self.end.give_up_at = None;
        self.end.kill_at = None;
        let status = self.server.take().and_then(crate::server::Server::collect);
        let code = self.end.exit_code.or(status.map(exit_code)).unwrap_or(1);
        self.ended_while_starting(code)?;
        self.drop_job()?;
        // After a failed launch nothing was begun that could end.
        let has_begun = !matches!(self.state, State::Fresh | State::Ended);
        self.state = State::Ended;
        if has_begun {
            // The code of a program that was killed on demand says nothing about it.
            if let Wish::Nobody = self.end.wish {
                self.client.event("exited", json!({"exitCode": code}))?;
            }
            self.client.event("terminated", json!({}))?;
        }
        if let Wish::Disconnect(request) = std::mem::replace(&mut self.end.wish, Wish::Nobody) {
            self.client.respond(&request, json!({}))?;
            self.end.wish = Wish::Left;
        }
        Ok(())
    }

    fn drop_job(&mut self) -> Done {
        let request = match self.job.take() {
            Some(Job::Breakpoints(setting)) => setting.into_request(),
            Some(Job::Inquiry(inquiry)) => inquiry.into_request(),
            Some(Job::Pause { request, .. }) => request,
            None => return Ok(()),
        };
        self.client.fail(&request, "the program has ended")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::adapter::Incoming;
    use crate::adapter::running::{Run, Toward};
    use crate::event::Category;

    /// A client that stops reading for a while when it is told something.
    #[derive(Clone, Default)]
    struct SlowClient {
        read: Arc<Mutex<String>>,
        slow_at: &'static str,
        gone_at: &'static str,
    }

    impl Write for SlowClient {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.read.lock().unwrap().push_str(&text);
            if !self.slow_at.is_empty() && text.contains(self.slow_at) {
                std::thread::sleep(TO_FALL_SILENT + Duration::from_millis(200));
            }
            match !self.gone_at.is_empty() && text.contains(self.gone_at) {
                true => Err(std::io::ErrorKind::BrokenPipe.into()),
                false => Ok(bytes.len()),
            }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// An adapter whose program runs, with the end of its client's stream that must be kept.
    fn running(client: &SlowClient) -> (Adapter<SlowClient>, std::io::PipeWriter) {
        let (input, keep) = std::io::pipe().unwrap();
        let mut adapter = Adapter::new(input, client.clone(), Vec::new());
        adapter.state = State::Running(Run { toward: Toward::Anything, from: None });
        (adapter, keep)
    }

    fn printed(text: &str) -> Incoming {
        Incoming::Printed { category: Category::Stdout, text: text.to_owned() }
    }

    #[test]
    fn a_client_that_reads_slowly_hears_all_that_was_printed_before_the_end() {
        let client = SlowClient { slow_at: "first", ..SlowClient::default() };
        let (adapter, _keep) = running(&client);
        let disconnect = Request { seq: 1, command: "disconnect".into(), arguments: json!({}) };
        for incoming in [
            Incoming::ServerExited,
            printed("first"),
            printed("second"),
            printed("last"),
            Incoming::StreamEnded,
            Incoming::StreamEnded,
            Incoming::Request(disconnect),
        ] {
            adapter.outbox.send(incoming).unwrap();
        }
        adapter.run().unwrap();
        let read = client.read.lock().unwrap();
        let places = ["first", "second", "last", "exited", "terminated"].map(|word| read.find(word));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{read}");
    }

    #[test]
    fn somebody_who_writes_to_the_streams_without_end_does_not_keep_the_end_off() {
        let client = SlowClient { gone_at: "terminated", ..SlowClient::default() };
        let (adapter, _keep) = running(&client);
        let outbox = adapter.outbox.clone();
        let stranger = std::thread::spawn(move || {
            let _ = outbox.send(Incoming::ServerExited);
            let text = "x".repeat(64 << 10);
            while outbox.send(printed(&text)).is_ok() {}
        });
        assert!(adapter.run().is_err(), "the client has left when it was told the end");
        stranger.join().unwrap();
    }
}
