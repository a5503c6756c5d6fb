//! The inspector of one process: found by its address, spoken to in texts.
//!
//! V8 stops at the next line that runs. A process that was asked to stop and runs none is given one here, because js-debug
//! would wait for it for ever.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::quick::Quick;
use crate::websocket::{Heard, Reader, end, hello, pong, text};
use crate::workers::Workers;

/// How long an inspector that was told of may take to let us in. One whose process is gone never does.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Nothing tells when another process listens.
const TRY_AGAIN: Duration = Duration::from_millis(20);
/// How long a process that is to stop may take to come to a line of its own.
pub(crate) const UNTIL_IDLE: Duration = Duration::from_millis(300);
/// How long js-debug may walk on from where it has paused before it is somebody who steps.
const WALK: Duration = Duration::from_secs(5);
const PAUSE: &[u8] = br#""method":"Debugger.pause""#;
/// How js-debug walks on from a pause. Steps of any other kind are somebody's own.
const STEP: &[u8] = br#""method":"Debugger.stepInto""#;
const TO_WORKER: &[u8] = br#""method":"NodeWorker.sendMessageToWorker""#;
/// How often a process gets a line to stop at. V8 forgets a pause when another debugger leaves at that moment.
const IDLE_LINES: usize = 10;
const LONGEST_ORDER: usize = 256;
/// No debugger counts so far.
const IDLE_IDS: [u32; 2] = [2_000_000_000, 2_000_000_001];
const IDLE_ANSWER: &[u8] = br#"{"id":200000000"#;
/// People see it as the source of the place. A name without a scheme would be Node's own, which many do not want to stop in.
const IDLE_LINE: &str =
    "0; // The program is idle: it runs no line until something happens.\n//# sourceURL=idle://program/idle";
/// How events begin that say what the process does.
const STOPS: &[u8] = br#"{"method":"Debugger.paused""#;
const GOES_ON: &[u8] = br#"{"method":"Debugger.resumed""#;
const CREATED: &[u8] = br#"{"method":"Runtime.executionContextCreated""#;
const DESTROYED: &[u8] = br#"{"method":"Runtime.executionContextDestroyed""#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Runs,
    StandsStill,
    /// It has come to its end and waits for its debugger to leave, or has no inspector any more.
    Over,
}

/// What js-debug wants of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Pause,
    Step,
    Else,
}

/// Where an inspector is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    host: String,
    port: u16,
    path: String,
}

impl Address {
    /// Of `ws://HOST:PORT/NAME`, which is how every inspector names itself.
    pub fn read(url: &str) -> Option<Address> {
        let (place, path) = url.strip_prefix("ws://")?.split_once('/')?;
        let (host, port) = place.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Some(Address { host, port: port.parse().ok()?, path: format!("/{path}") })
    }

    pub fn of(host: &str, port: u16, name: &str) -> Address {
        Address { host: host.to_owned(), port, path: format!("/{name}") }
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

/// What the process does, and how often it has stopped.
#[derive(Debug)]
struct State {
    doing: Doing,
    stops: u64,
    /// When it was asked to stop, as long as nobody has looked at where it did.
    asked: Option<Instant>,
    workers: Workers,
}

#[derive(Debug)]
struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

/// What is said to an inspector.
#[derive(Debug)]
pub(crate) struct Target {
    stream: Arc<Mutex<Quick>>,
    watch: Arc<Watch>,
    until_idle: Duration,
}

/// What it says.
#[derive(Debug)]
pub(crate) struct Words {
    reader: Reader<Quick>,
    stream: Quick,
    watch: Arc<Watch>,
    /// What the process itself runs in, among all that it makes.
    own_context: Option<i64>,
}

/// As much as is needed of the events that tell of contexts.
#[derive(Deserialize)]
struct ContextEvent {
    params: ContextParams,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextParams {
    execution_context_id: Option<i64>,
    context: Option<Context>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    id: i64,
    aux_data: Option<AuxData>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuxData {
    #[serde(default)]
    is_default: bool,
}

impl Target {
    pub fn open(address: &Address, host_header: &str, until_idle: Duration) -> io::Result<(Target, Words)> {
        let until = Instant::now() + PATIENCE;
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            match Target::try_open(address, host_header, rest.max(TRY_AGAIN)) {
                Err(_) if Instant::now() < until => std::thread::sleep(TRY_AGAIN),
                Ok((mut target, words)) => {
                    words.stream.be_patient()?;
                    target.until_idle = until_idle;
                    return Ok((target, words));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn try_open(address: &Address, host_header: &str, patience: Duration) -> io::Result<(Target, Words)> {
        let (stream, reader) = enter(address, host_header, patience)?;
        let state =
            Mutex::new(State { doing: Doing::Runs, stops: 0, asked: None, workers: Workers::default() });
        let watch = Arc::new(Watch { state, changed: Condvar::new() });
        let spoken = Arc::new(Mutex::new(stream.again()?));
        let target = Target { stream: spoken, watch: watch.clone(), until_idle: UNTIL_IDLE };
        Ok((target, Words { reader, stream, watch, own_context: None }))
    }

    pub fn say(&mut self, words: &[u8]) -> io::Result<()> {
        let is_to_stop = self.watch.hears(Said::of(words));
        let before = self.watch.lock().stops;
        said(&self.stream, words)?;
        if is_to_stop {
            self.stop_if_idle(before);
        }
        Ok(())
    }

    /// A process that waits for something to happen runs no line at which it could stop: it is given one.
    fn stop_if_idle(&self, before: u64) {
        let (stream, watch, until_idle) = (self.stream.clone(), self.watch.clone(), self.until_idle);
        std::thread::spawn(move || {
            let runs_on = |state: &mut State| state.doing != Doing::Over && state.stops == before;
            for _ in 0..IDLE_LINES {
                let waited = watch.changed.wait_timeout_while(watch.lock(), until_idle, runs_on);
                let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
                let runs = runs_on(&mut state) && state.doing == Doing::Runs;
                drop(state);
                if !runs {
                    return;
                }
                for words in &idle_words() {
                    // A process that is gone is reported by the end of its connection.
                    let _ = said(&stream, words.as_bytes());
                }
            }
        });
    }

    /// The process runs on without anybody who listens.
    pub fn leave(self) {
        let mut stream = locked(&self.stream);
        // One that is gone need not be told.
        let _ = stream.write_all(&end());
        stream.finish();
    }

    /// A worker that stands still would run on with the process that it is a part of.
    pub fn doing(&self) -> Doing {
        let state = self.watch.lock();
        match state.doing {
            Doing::Runs if state.workers.one_stands_still() => Doing::StandsStill,
            doing => doing,
        }
    }
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the process is to stop at the next line it runs. js-debug walks on from where many do not want to stop, and
    /// to them that is one pause.
    fn hears(&self, said: Said) -> bool {
        let mut state = self.lock();
        match said {
            Said::Pause => state.asked = Some(Instant::now()),
            Said::Step => state.asked = state.asked.filter(|asked| asked.elapsed() < WALK),
            Said::Else if state.doing == Doing::StandsStill => state.asked = None,
            Said::Else => {}
        }
        said != Said::Else && state.asked.is_some()
    }

    fn told(&self, doing: Doing) {
        let mut state = self.lock();
        state.stops += u64::from(doing == Doing::StandsStill);
        state.doing = doing;
        self.changed.notify_all();
    }
}

/// A connection to an inspector that has let us in. One that is silent for so long counts as gone, later too.
pub(crate) fn enter(
    address: &Address,
    host_header: &str,
    patience: Duration,
) -> io::Result<(Quick, Reader<Quick>)> {
    let mut stream = Quick::connect((address.host.as_str(), address.port), patience)?;
    stream.write_all(hello(&address.path, host_header).as_bytes())?;
    let mut reader = Reader::new(stream.again()?);
    reader.agreed()?;
    Ok((stream, reader))
}

fn locked(stream: &Mutex<Quick>) -> MutexGuard<'_, Quick> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

fn said(stream: &Mutex<Quick>, words: &[u8]) -> io::Result<()> {
    locked(stream).write_all(&text(&for_worker(words).unwrap_or_else(|| words.into())))
}

/// What is said to a worker, a text inside of a message, in ASCII alone: Node.js loses the other letters on the way, and the
/// worker, which understands nothing then, would wait for ever to be let run. None if it can stay as it is.
fn for_worker(words: &[u8]) -> Option<Vec<u8>> {
    let is_for_worker = || words.windows(TO_WORKER.len()).any(|part| part == TO_WORKER);
    if words.is_ascii() || !is_for_worker() {
        return None;
    }
    let mut escaped = String::with_capacity(words.len() * 2);
    for letter in std::str::from_utf8(words).ok()?.chars() {
        match letter.is_ascii() {
            true => escaped.push(letter),
            false => {
                let units = letter.encode_utf16(&mut [0; 2]).to_vec();
                escaped.extend(units.iter().map(|unit| format!("\\\\u{unit:04x}")));
            }
        }
    }
    Some(escaped.into_bytes())
}

impl Said {
    /// What js-debug says to a worker is a text inside of a message, where quotes look differently.
    fn of(words: &[u8]) -> Said {
        let says = |word: &[u8]| words.windows(word.len()).any(|part| part == word);
        match words.len() < LONGEST_ORDER {
            true if says(PAUSE) => Said::Pause,
            true if says(STEP) => Said::Step,
            _ => Said::Else,
        }
    }
}

fn idle_words() -> [String; 2] {
    let [pause, line] = IDLE_IDS;
    let params = serde_json::json!({ "expression": IDLE_LINE });
    [
        serde_json::json!({ "id": pause, "method": "Debugger.pause", "params": {} }).to_string(),
        serde_json::json!({ "id": line, "method": "Runtime.evaluate", "params": params }).to_string(),
    ]
}

impl Words {
    /// What the process does from now on, if it says so here.
    fn told(&mut self, text: &[u8]) -> Option<Doing> {
        if text.starts_with(STOPS) {
            return Some(Doing::StandsStill);
        }
        if text.starts_with(GOES_ON) {
            return Some(Doing::Runs);
        }
        if !text.starts_with(CREATED) && !text.starts_with(DESTROYED) {
            return None;
        }
        let ContextEvent { params } = serde_json::from_slice(text).ok()?;
        if let Some(Context { id, aux_data: Some(AuxData { is_default: true }) }) = params.context {
            self.own_context = Some(id);
        }
        let destroyed = params.execution_context_id.filter(|_| text.starts_with(DESTROYED));
        (destroyed.is_some() && destroyed == self.own_context).then_some(Doing::Over)
    }
}

impl Iterator for Words {
    type Item = Vec<u8>;

    /// None when the inspector is gone.
    fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.reader.hear() {
                // What is asked by us is answered to us.
                Ok(Heard::Text(text)) if text.starts_with(IDLE_ANSWER) => {}
                Ok(Heard::Text(text)) => {
                    self.watch.lock().workers.hear(&text);
                    if let Some(doing) = self.told(&text) {
                        self.watch.told(doing);
                    }
                    return Some(text);
                }
                // No inspector asks whether we are there; if one does, its question is short and the answer one piece.
                Ok(Heard::Ping(asked)) => self.stream.write_all(&pong(&asked)).ok()?,
                Ok(Heard::End) | Err(_) => {
                    self.watch.told(Doing::Over);
                    self.stream.close();
                    return None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_told_in_ascii_what_its_process_is_told_as_it_is() {
        let inside = serde_json::json!({"id": 1, "params": {"url": "wörk 😀.js", "quoted": "\"ö\\"}});
        let params = serde_json::json!({"message": inside.to_string(), "sessionId": "1"});
        let message = |method: &str| {
            serde_json::json!({"id": 7, "method": method, "params": params}).to_string().into_bytes()
        };
        let told = for_worker(&message("NodeWorker.sendMessageToWorker")).unwrap();
        assert!(told.is_ascii());
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
        let heard = told["params"]["message"].as_str().unwrap();
        assert!(heard.is_ascii(), "{heard}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(heard).unwrap(), inside);
        assert_eq!(for_worker(&message("Runtime.evaluate")), None);
        assert_eq!(for_worker(br#"{"method":"NodeWorker.sendMessageToWorker"}"#), None);
    }

    #[test]
    fn addresses_are_read() {
        let read = |url| Address::read(url).map(|address| (address.host, address.port, address.path));
        let four = Some(("127.0.0.1".to_owned(), 9229, "/ab-cd".to_owned()));
        assert_eq!(read("ws://127.0.0.1:9229/ab-cd"), four);
        assert_eq!(read("ws://[::1]:80/x"), Some(("::1".to_owned(), 80, "/x".to_owned())));
        assert_eq!(read("http://127.0.0.1:9229/x"), None);
        assert_eq!(read("ws://127.0.0.1/x"), None);
    }

    #[test]
    fn whoever_has_looked_at_where_it_paused_steps_for_themselves() {
        let state =
            Mutex::new(State { doing: Doing::Runs, stops: 0, asked: None, workers: Workers::default() });
        let watch = Watch { state, changed: Condvar::new() };
        assert!(watch.hears(Said::of(br#"{"id":8,"method":"Debugger.pause","params":{}}"#)));
        watch.told(Doing::StandsStill);
        for step in ["stepOver", "stepInto"] {
            let said = format!("{{\"id\":9,\"method\":\"Debugger.{step}\",\"params\":{{}}}}");
            assert!(!watch.hears(Said::of(said.as_bytes())), "{step}");
            watch.told(Doing::Runs);
            watch.told(Doing::StandsStill);
        }
    }
}
