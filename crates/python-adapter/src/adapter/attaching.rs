//! `attach`: to a process that is there, by its number, by a port, or because it is the child of one that is debugged.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::requests::INPUT;
use super::session::{Entrance, Start, Step, Wanted};
use super::starting::SPAWN;
use super::{Adapter, SessionId};
use crate::arguments::{Arguments, Bad, OnTerminate, Reader};
use crate::injector::Injector;
use crate::message::{Event, Request};
use crate::relay::Other;

/// An adapter that does not take the connection by then is not there.
const CONNECT: Duration = Duration::from_secs(10);

/// debugpy's command line, as it is run to get into a process.
const INJECT: &str = include_str!("../inject.py");

/// Which process is meant.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// debugpy's adapter listens there: `debugpy.listen` in a program has started it.
    Adapter {
        host: String,
        port: u16,
    },
    /// A process will connect to us there.
    Listen {
        host: Option<String>,
        port: u16,
    },
    Process {
        pid: i64,
    },
    Child {
        pid: i64,
    },
    /// Whichever has connected.
    Any,
}

/// A host and a port, as far as they are given.
type Place = (Option<String>, Option<i64>);

impl Target {
    fn read(arguments: &Arguments) -> Result<Target, Bad> {
        let reader = Reader::new(arguments)?;
        let (pid, child) = (reader.number("processId")?, reader.number("subProcessId")?);
        let at = |key: &str| -> Result<Option<Place>, Bad> {
            match arguments.get(key) {
                None => Ok(None),
                Some(Value::Object(place)) => {
                    let place = Reader::new(place)?;
                    Ok(Some((place.text("host")?, place.number("port")?)))
                }
                Some(other) => Err(Bad::new(format!("`{key}` must have `host` and `port` and is {other}"))),
            }
        };
        let (connect, listen) = (at("connect")?, at("listen")?);
        let plain = (reader.has("host") || reader.has("port"))
            .then(|| Ok((reader.text("host")?, reader.number("port")?)))
            .transpose()?;
        let given = [
            ("connect", connect.is_some()),
            ("listen", listen.is_some()),
            ("host", plain.is_some()),
            ("processId", pid.is_some()),
            ("subProcessId", child.is_some()),
        ];
        for (one, other) in [
            ("host", "listen"),
            ("host", "connect"),
            ("listen", "connect"),
            ("listen", "processId"),
            ("listen", "subProcessId"),
            ("processId", "subProcessId"),
        ] {
            let has = |name| given.contains(&(name, true));
            if has(one) && has(other) {
                return Err(Bad::new(format!("`{one}` and `{other}` cannot be given together")));
            }
        }
        if let Some((host, port)) = listen {
            return Ok(Target::Listen { host, port: needed("listen", port)? });
        }
        let adapter = match connect.or(plain) {
            Some((host, port)) => {
                let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
                Some(Target::Adapter { host, port: needed("connect", port)? })
            }
            None => None,
        };
        Ok(match (adapter, pid, child) {
            (_, Some(pid), _) => Target::Process { pid },
            (Some(adapter), _, _) => adapter,
            (None, None, Some(pid)) => Target::Child { pid },
            (None, None, None) => Target::Any,
        })
    }
}

fn needed(key: &str, port: Option<i64>) -> Result<u16, Bad> {
    let port = port.and_then(|port| u16::try_from(port).ok());
    port.ok_or_else(|| Bad::new(format!("`{key}` needs a `port` between 0 and 65535")))
}

impl Adapter {
    pub(super) fn attach(&mut self, id: SessionId, request: Request) {
        if !self.may_start(id, &request) {
            return;
        }
        let arguments = match request.arguments() {
            Value::Object(arguments) => arguments,
            _ => Arguments::new(),
        };
        if arguments.get("noDebug").and_then(Value::as_bool) == Some(true) {
            return self.refuse_start(id, &request, "`noDebug` is for `launch` only");
        }
        let target = match Target::read(&arguments) {
            Ok(target) => target,
            Err(bad) => return self.refuse_start(id, &request, &bad.to_string()),
        };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.on_terminate = OnTerminate::of(&arguments);
            let is_promised = session.entrance == Entrance::Streams;
            if is_promised && session.client.as_ref().is_some_and(|client| client.gives_input) {
                // Before it was known that the program is not ours to start.
                session.tell(Event::new("capabilities", &json!({"capabilities": {INPUT: false}})));
            }
        }
        let child = arguments.get("subProcessId").and_then(Value::as_i64);
        match target {
            // Whoever has come through our own port is where it wanted to be.
            Target::Adapter { host, port } if self.is_elsewhere(id, port) => {
                self.leave_to_adapter(id, &request, &host, port)
            }
            Target::Adapter { .. } => match child {
                Some(pid) => self.attach_to_child(id, request, arguments, pid),
                None => self.wait_for_process(id, request, arguments, Wanted::Any, Some(SPAWN)),
            },
            Target::Child { pid } => self.attach_to_child(id, request, arguments, pid),
            Target::Process { pid } => self.attach_to_process(id, request, arguments, pid),
            Target::Listen { host, port } => self.attach_by_listening(id, request, arguments, host, port),
            Target::Any if self.servers.is_empty() => {
                let why = "`attach` has to say to what: `connect` or `listen` with a `port`, or `processId`";
                self.refuse_start(id, &request, why);
            }
            Target::Any => self.wait_for_process(id, request, arguments, Wanted::Any, Some(SPAWN)),
        }
    }

    fn is_elsewhere(&self, id: SessionId, port: u16) -> bool {
        let here = self.doors.clients.local_addr().is_ok_and(|place| place.port() == port);
        !here && self.sessions.get(&id).is_some_and(|session| session.entrance == Entrance::Streams)
    }

    /// Hands the client over to the adapter that listens there.
    fn leave_to_adapter(&mut self, id: SessionId, request: &Request, host: &str, port: u16) {
        let connected = (host, port).to_socket_addrs().and_then(|places| {
            let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
            for place in places {
                match TcpStream::connect_timeout(&place, CONNECT) {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                }
            }
            Err(last)
        });
        match connected.and_then(Other::at) {
            Ok(other) => self.leave_to(id, request, other),
            Err(error) => {
                let why = format!(
                    "nothing to attach to at {host}:{port}: {error}; start the program with `python -m debugpy --listen`"
                );
                self.refuse_start(id, request, &why);
            }
        }
    }

    fn attach_to_child(&mut self, id: SessionId, request: Request, arguments: Arguments, pid: i64) {
        let there = self.servers.values().find(|server| server.pid() == Some(pid));
        match there.map(|server| server.session) {
            Some(None) => self.wait_for_process(id, request, arguments, Wanted::Pid(pid), Some(SPAWN)),
            Some(Some(_)) => {
                self.refuse_start(id, &request, &format!("process {pid} is debugged by another client"))
            }
            // It may have ended by now, which is nothing to complain about.
            None => {
                self.tell_where_processes_connect(id);
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.respond(&request, &Ok(None));
                }
                self.finalize(id, None, None);
            }
        }
    }

    fn attach_to_process(&mut self, id: SessionId, request: Request, arguments: Arguments, pid: i64) {
        let place = match self.serve_processes(None, 0) {
            Ok(place) => place,
            Err(error) => {
                return self.refuse_start(id, &request, &format!("cannot listen for the process: {error}"));
            }
        };
        let more = match Reader::new(&arguments).and_then(|reader| reader.texts("debugpyArgs")) {
            Ok(more) => more,
            Err(bad) => return self.refuse_start(id, &request, &bad.to_string()),
        };
        let folder = self.debugpy.folder.to_string_lossy().into_owned();
        let mut words = vec!["-c".to_owned(), INJECT.to_owned(), folder];
        words.extend(["--connect".to_owned(), place.to_string()]);
        if let Some(token) = &self.token {
            words.extend(["--adapter-access-token".to_owned(), token.clone()]);
        }
        words.extend(more);
        if arguments.get("linuxAttachPreferLldb").and_then(Value::as_bool) == Some(true) {
            words.push("--linux-attach-prefer-lldb".to_owned());
        }
        words.extend(["--pid".to_owned(), pid.to_string()]);
        let injector = match Injector::start(&self.debugpy.python, &words, pid) {
            Ok(injector) => injector,
            Err(error) => {
                let why = format!("`{}` cannot be started: {error}", self.debugpy.python.display());
                return self.refuse_start(id, &request, &why);
            }
        };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.injector = Some(injector);
        }
        self.wait_for_process(id, request, arguments, Wanted::Pid(pid), Some(SPAWN));
    }

    fn attach_by_listening(
        &mut self,
        id: SessionId,
        request: Request,
        arguments: Arguments,
        host: Option<String>,
        port: u16,
    ) {
        if self.doors.servers.is_some() {
            return self.refuse_start(id, &request, "processes are listened for already");
        }
        if let Err(error) = self.serve_processes(host.as_deref(), port) {
            let why = format!("cannot listen on {}:{port}: {error}", host.as_deref().unwrap_or("127.0.0.1"));
            return self.refuse_start(id, &request, &why);
        }
        // Whoever starts the process was given no token.
        self.token = None;
        if let Some(session) = self.sessions.get_mut(&id) {
            session.restart = arguments.get("restart").and_then(Value::as_bool).unwrap_or(false);
        }
        self.wait_for_process(id, request, arguments, Wanted::Any, None);
    }

    fn wait_for_process(
        &mut self,
        id: SessionId,
        request: Request,
        arguments: Arguments,
        wanted: Wanted,
        patience: Option<Duration>,
    ) {
        self.tell_where_processes_connect(id);
        let for_server = arguments.clone();
        let start = Start { request, arguments, for_server, no_debug: false, launcher: None };
        self.begin(
            id,
            start,
            Step::Server { wanted, until: patience.map(|patience| Instant::now() + patience) },
        );
    }

    fn tell_where_processes_connect(&mut self, id: SessionId) {
        let place = self.serve_processes(None, 0);
        if let (Some(session), Ok(place)) = (self.sessions.get_mut(&id), place) {
            let body = json!({"host": place.ip().to_string(), "port": place.port()});
            session.say("debugpyWaitingForServer", body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: Value) -> Result<Target, String> {
        Target::read(arguments.as_object().unwrap()).map_err(|bad| bad.to_string())
    }

    #[test]
    fn what_to_attach_to_is_said_in_one_of_several_ways() {
        let adapter = |host: &str, port| Ok(Target::Adapter { host: host.to_owned(), port });
        assert_eq!(read(json!({"connect": {"host": "h", "port": 5}})), adapter("h", 5));
        assert_eq!(read(json!({"connect": {"port": "5"}})), adapter("127.0.0.1", 5));
        assert_eq!(read(json!({"host": "h", "port": 5})), adapter("h", 5));
        assert_eq!(read(json!({"listen": {"port": 0}})), Ok(Target::Listen { host: None, port: 0 }));
        assert_eq!(read(json!({"processId": "77"})), Ok(Target::Process { pid: 77 }));
        assert_eq!(read(json!({"subProcessId": 7})), Ok(Target::Child { pid: 7 }));
        assert_eq!(read(json!({})), Ok(Target::Any));
    }

    #[test]
    fn ways_that_contradict_each_other_are_refused() {
        for arguments in [
            json!({"host": "h", "listen": {"port": 1}}),
            json!({"port": 1, "connect": {"port": 1}}),
            json!({"listen": {"port": 1}, "processId": 1}),
            json!({"processId": 1, "subProcessId": 1}),
            json!({"connect": {"host": "h"}}),
            json!({"connect": 5}),
            json!({"processId": "x"}),
            json!({"listen": {"port": 70000}}),
        ] {
            assert!(read(arguments.clone()).is_err(), "{arguments}");
        }
    }
}
