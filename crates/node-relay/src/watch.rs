//! The part of js-debug's watchdog: announces a process to js-debug, and carries its words when js-debug takes it.
//!
//! js-debug listens at a socket of its own, where each message ends with a zero byte.

use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::RelayError;
use crate::target::{Address, Doing, Target, UNTIL_IDLE};

const ATTACH: &str = "Target.attachToTarget";
const DETACH: &str = "Target.detachFromTarget";

/// What js-debug's part inside the process says of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Watched {
    ipc_address: PathBuf,
    #[serde(default)]
    pid: String,
    #[serde(default)]
    script_name: String,
    #[serde(rename = "inspectorURL")]
    inspector_url: String,
    #[serde(default)]
    wait_for_debugger: bool,
    #[serde(default)]
    own_id: Option<String>,
    #[serde(default)]
    opener_id: Option<String>,
    #[serde(default)]
    dynamic_attach: bool,
    #[serde(default)]
    remote_host_header: Option<String>,
}

/// How a process is announced.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo<'a> {
    target_id: &'a str,
    process_id: u32,
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    opener_id: Option<&'a str>,
    attached: bool,
    can_access_opener: bool,
    process_inspector_port: u16,
}

/// What js-debug asks of us and not of the process.
#[derive(Deserialize)]
struct Request {
    id: Box<RawValue>,
    method: String,
}

/// Whether js-debug has the process.
enum Hold {
    Untaken,
    Taken(Target),
    Left,
}

/// A process that may be ended, if there is one.
struct Process(Option<OwnedFd>);

/// Both what the process says and our own answers go to js-debug, each whole.
#[derive(Clone)]
struct Server(Arc<Mutex<UnixStream>>);

impl Hold {
    fn change(&mut self, to: Hold) {
        if let Hold::Taken(before) = std::mem::replace(self, to) {
            before.leave();
        }
    }
}

impl Process {
    fn end(&self, signal: Signal) {
        if let Some(process) = &self.0 {
            // One that is gone has ended.
            let _ = pidfd_send_signal(process, signal);
        }
    }
}

impl Watched {
    pub fn read(info: &str) -> Result<Watched, RelayError> {
        serde_json::from_str(info).map_err(RelayError::Info)
    }

    fn id(&self) -> &str {
        // One that has no name has its number, which is no other's either.
        self.own_id.as_deref().unwrap_or(&self.pid)
    }

    fn announcement(&self, address: &Address) -> String {
        let info = TargetInfo {
            target_id: self.id(),
            process_id: self.pid.parse().unwrap_or(0),
            kind: if self.wait_for_debugger { "waitingForDebugger" } else { "" },
            title: &self.script_name,
            url: format!("file://{}", self.script_name),
            opener_id: self.opener_id.as_deref(),
            attached: true,
            can_access_opener: false,
            process_inspector_port: address.port(),
        };
        serde_json::json!({ "method": "Target.targetCreated", "params": { "targetInfo": info } }).to_string()
    }

    fn destroyed(&self) -> String {
        let params = serde_json::json!({ "targetId": self.id(), "sessionId": self.id() });
        serde_json::json!({ "method": "Target.targetDestroyed", "params": params }).to_string()
    }

    /// The process, if it may be ended here: its number can be another's by then.
    fn process(&self) -> Process {
        let process = self.pid.parse().ok().and_then(Pid::from_raw).filter(|_| !self.dynamic_attach);
        Process(process.and_then(|process| pidfd_open(process, PidfdFlags::empty()).ok()))
    }

    /// js-debug closes the connection of a process that it is told to end, and means us to end it. When all is over it
    /// closes every connection, but first it stops listening; and what it lets go of it says so.
    fn is_to_end(&self) -> bool {
        self.ipc_address.exists()
    }
}

/// Until js-debug or the process has gone.
pub fn watch(watched: &Watched) -> Result<(), RelayError> {
    watch_with(watched, UNTIL_IDLE)
}

fn watch_with(watched: &Watched, until_idle: Duration) -> Result<(), RelayError> {
    let address = Address::read(&watched.inspector_url)
        .ok_or_else(|| RelayError::Address(watched.inspector_url.clone()))?;
    let process = watched.process();
    let connected =
        UnixStream::connect(&watched.ipc_address).and_then(|stream| Ok((stream.try_clone()?, stream)));
    let (input, output) = connected.map_err(|source| {
        // A process that waits for a debugger that will never come would wait for ever.
        process.end(Signal::TERM);
        RelayError::Server { address: watched.ipc_address.clone(), source }
    })?;
    let server = Server(Arc::new(Mutex::new(output)));
    server.say(watched.announcement(&address).as_bytes());
    let mut input = BufReader::new(input);
    let mut hold = Hold::Untaken;
    while let Some(message) = next(&mut input) {
        match own(&message) {
            None => {
                // What is said to nobody is lost, and a process that is gone is told by its own end.
                if let Hold::Taken(target) = &mut hold {
                    let _ = target.say(&message);
                }
            }
            Some(Request { id, method }) if method == ATTACH => {
                match taken(watched, &address, &server, &id, until_idle) {
                    Ok(opened) => hold.change(Hold::Taken(opened)),
                    Err(_) => {
                        server.finish(watched.destroyed().as_bytes());
                        if let Hold::Taken(_) = hold {
                            hold.change(Hold::Left);
                        }
                    }
                }
            }
            Some(Request { id, .. }) => {
                server.say(format!("{{\"id\":{id},\"result\":{{}}}}").as_bytes());
                hold.change(Hold::Left);
            }
        }
    }
    match hold {
        // It would wait for ever, as above.
        Hold::Untaken if watched.wait_for_debugger => process.end(Signal::TERM),
        Hold::Untaken | Hold::Left => {}
        // Left first, one that is stopped would run on. One that has ended only waits to be left, and one that has closed its
        // inspector goes on without us.
        Hold::Taken(target) => {
            match target.doing() {
                Doing::StandsStill if watched.is_to_end() => process.end(Signal::KILL),
                Doing::Runs if watched.is_to_end() => process.end(Signal::TERM),
                Doing::StandsStill | Doing::Runs | Doing::Over => {}
            }
            target.leave();
        }
    }
    Ok(())
}

/// js-debug takes the process: from here on it hears what the inspector says.
fn taken(
    watched: &Watched,
    address: &Address,
    server: &Server,
    id: &RawValue,
    until_idle: Duration,
) -> io::Result<Target> {
    let host = watched.remote_host_header.as_deref().unwrap_or("localhost");
    let (target, words) = Target::open(address, host, until_idle)?;
    let dynamic = if watched.dynamic_attach { ",\"__dynamicAttach\":true" } else { "" };
    let session = serde_json::Value::from(watched.id());
    server.say(format!("{{\"id\":{id},\"result\":{{\"sessionId\":{session}{dynamic}}}}}").as_bytes());
    let (server, destroyed) = (server.clone(), watched.destroyed());
    std::thread::spawn(move || {
        for text in words {
            server.say(&text);
        }
        server.finish(destroyed.as_bytes());
    });
    Ok(target)
}

impl Server {
    fn say(&self, text: &[u8]) {
        let mut message = Vec::with_capacity(text.len() + 1);
        message.extend(text);
        message.push(0);
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // That it is gone is seen where it is read from.
        let _ = stream.write_all(&message);
    }

    /// The last that it hears from us.
    fn finish(&self, text: &[u8]) {
        self.say(text);
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// None when js-debug is gone.
fn next(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    match input.read_until(0, &mut message) {
        Ok(_) if message.pop() == Some(0) => Some(message),
        Ok(_) | Err(_) => None,
    }
}

/// A request for us. Most messages are not, and are not parsed to find out.
fn own(message: &[u8]) -> Option<Request> {
    let says = |word: &str| message.windows(word.len()).any(|part| part == word.as_bytes());
    if !says(ATTACH) && !says(DETACH) {
        return None;
    }
    let request: Request = serde_json::from_slice(message).ok()?;
    [ATTACH, DETACH].contains(&request.method.as_str()).then_some(request)
}

#[cfg(test)]
mod tests;
