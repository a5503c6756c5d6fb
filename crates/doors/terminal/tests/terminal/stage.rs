//! A front that runs beside its test: typed to, told things and watched while it waits.
//!
//! Waiting is for what is shown, with a deadline, and never for time.

use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use breakroom_client::Interrupter;
use breakroom_door_terminal::{Client, Error, Outcome, Setup, run_with};
use serde_json::Value;

use breakroom_testkit::scripted::{self as peer, Say, Voice, program};

const PATIENCE: Duration = Duration::from_secs(60);
pub const PROMPT: &str = "(breakroom) ";

type Shown = Arc<(Mutex<String>, Condvar)>;
type Asked = Vec<(String, Value)>;

pub struct Stage {
    keys: UnixStream,
    pub voice: Voice,
    interrupter: Interrupter,
    shown: Shown,
    /// How much of it was looked at.
    seen: usize,
    front: JoinHandle<Result<Outcome, Error>>,
    debugger: JoinHandle<Asked>,
}

pub struct Played {
    pub outcome: Outcome,
    pub shown: String,
    pub asked: Asked,
}

impl Played {
    pub fn count(&self, command: &str) -> usize {
        self.asked.iter().filter(|(asked, _)| asked == command).count()
    }

    pub fn arguments(&self, command: &str) -> &Value {
        let found = self.asked.iter().rev().find(|(asked, _)| asked == command);
        found.map_or(&Value::Null, |(_, arguments)| arguments)
    }
}

impl Stage {
    /// A person at the terminal, stopped in line 2 of `t.py`.
    pub fn open(
        change: impl FnOnce(&mut Setup),
        mut differ: impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send + 'static,
    ) -> Stage {
        let mut usual = program("t.py".to_owned());
        let (stream, voice, debugger) = peer::start_with_voice(move |command, arguments| {
            differ(command, arguments).unwrap_or_else(|| usual(command, arguments))
        });
        let client = Client::new(stream.try_clone().unwrap(), stream);
        let interrupter = client.interrupter();
        let (keys, read) = UnixStream::pair().unwrap();
        let shown = Shown::default();
        let mut setup = crate::setup("t.py");
        setup.interactive = true;
        change(&mut setup);
        let mut screen = Watched(Arc::clone(&shown));
        let input: BufReader<Box<dyn Read + Send>> = BufReader::new(Box::new(read));
        let front = std::thread::spawn(move || run_with(client, setup, input, &mut screen));
        Stage { keys, voice, interrupter, shown, seen: 0, front, debugger }
    }

    /// Waits until this is shown, after what was seen before; what was shown up to its end.
    pub fn sees(&mut self, text: &str) -> String {
        let (shown, changed) = &*self.shown;
        let seen = self.seen;
        let (shown, _) = changed
            .wait_timeout_while(shown.lock().unwrap(), PATIENCE, |shown| !shown[seen..].contains(text))
            .unwrap();
        let found = shown[seen..].find(text).unwrap_or_else(|| panic!("no {text:?} in:\n{}", *shown));
        self.seen = seen + found + text.len();
        shown[seen..self.seen].to_owned()
    }

    pub fn types(&mut self, line: &str) {
        self.keys.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub fn ends_typing(&self) {
        self.keys.shutdown(std::net::Shutdown::Write).unwrap();
    }

    pub fn interrupts(&self) {
        self.interrupter.interrupt();
    }

    /// Waits until the front has ended.
    pub fn end(self) -> Played {
        let ended = breakroom_testkit::wait::until(PATIENCE, || self.front.is_finished().then_some(()));
        assert!(ended.is_some(), "the front goes on; shown:\n{}", self.shown.0.lock().unwrap());
        let outcome = self.front.join().unwrap().unwrap();
        let shown = self.shown.0.lock().unwrap().clone();
        Played { outcome, shown, asked: self.debugger.join().unwrap() }
    }
}

struct Watched(Shown);

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let (shown, changed) = &*self.0;
        shown.lock().unwrap().push_str(std::str::from_utf8(bytes).unwrap());
        changed.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
