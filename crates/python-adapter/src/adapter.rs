//! The adapter itself: one thread that owns everything and handles what comes, in order.
//!
//! There is a session for each client: the first on stdin and stdout, others for processes that the program started. There
//! is a server for each Python process that has connected: the debugger inside it. Nothing waits for anybody here: what is
//! waited for is a state, with a deadline where the other side may never come.

mod attaching;
mod children;
mod ending;
mod launching;
mod requests;
mod server;
mod session;
mod starting;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use breakroom_wire::Peer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::json;

use crate::debuggee::Category;
use crate::find::Debugpy;
use crate::input::Input;
use crate::link::Link;
use crate::message::Message;
use crate::relay::Relay;
use crate::{ServeError, peer};
use server::Server;
use session::{Entrance, Program, Session};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionId(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ServerId(u32);

/// How it ends.
pub(crate) enum Verdict {
    Over,
    /// Another adapter serves the client from here on.
    Elsewhere(Box<Relay>),
}

pub(crate) struct Adapter {
    debugpy: Debugpy,
    /// What a process has to show that it is one we started. None once anyone may connect, because the client said so.
    token: Option<String>,
    sessions: BTreeMap<SessionId, Session>,
    servers: BTreeMap<ServerId, Server>,
    doors: Doors,
    made: u32,
    elsewhere: Option<Box<Relay>>,
}

/// Where others connect to us.
struct Doors {
    clients: TcpListener,
    servers: Option<TcpListener>,
    /// For debugpy's launcher, as long as a session waits for it.
    launcher: Option<(TcpListener, SessionId)>,
}

/// What there is to do.
#[derive(Debug, Clone, Copy)]
enum Source {
    NewClient,
    NewServer,
    NewLauncher,
    Client(SessionId),
    Server(ServerId),
    Launcher(SessionId),
    Printed(SessionId, Category),
    Exit(SessionId),
    Injector(SessionId),
    /// There is room to write again; that is done for all at once.
    Room,
}

impl Adapter {
    pub fn new(input: OwnedFd, output: OwnedFd, debugpy: Debugpy) -> Result<Adapter, ServeError> {
        let mut adapter = Adapter {
            debugpy,
            token: Some(new_token()?),
            sessions: BTreeMap::new(),
            servers: BTreeMap::new(),
            doors: Doors {
                clients: on_loopback().map_err(ServeError::Listen)?,
                servers: None,
                launcher: None,
            },
            made: 0,
            elsewhere: None,
        };
        adapter.greet(Session::new(Link::on_streams(input, output), Entrance::Streams));
        Ok(adapter)
    }

    pub fn run(mut self) -> Result<Verdict, ServeError> {
        loop {
            self.settle();
            if let Some(relay) = self.elsewhere.take() {
                return Ok(Verdict::Elsewhere(relay));
            }
            if self.sessions.is_empty() {
                return Ok(Verdict::Over);
            }
            for source in self.wait()? {
                self.on(source);
            }
        }
    }

    /// Does what the passing of time asks for, lets go of what is over, and writes what was said.
    fn settle(&mut self) {
        let now = Instant::now();
        for id in self.session_ids() {
            self.on_deadline(id, now);
            self.proceed(id);
        }
        for session in self.sessions.values_mut() {
            session.flush();
        }
        for server in self.servers.values_mut() {
            server.link.flush();
        }
        self.sessions.retain(|_, session| !session.is_gone());
    }

    fn wait(&self) -> Result<Vec<Source>, ServeError> {
        let watched = self.watched();
        let mut asked: Vec<PollFd<'_>> =
            watched.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        let deadline = self.sessions.values().filter_map(Session::deadline).min();
        let timeout = deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: i64::from(left.subsec_nanos()) }
        });
        match poll(&mut asked, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(ServeError::Wait(error.into())),
        }
        let ready = watched.iter().zip(&asked).filter(|(_, asked)| !asked.revents().is_empty());
        Ok(ready.map(|((source, ..), _)| *source).collect())
    }

    fn watched(&self) -> Vec<(Source, BorrowedFd<'_>, PollFlags)> {
        let mut watched = Vec::new();
        let mut add = |source, fd, flags| watched.push((source, fd, flags));
        add(Source::NewClient, self.doors.clients.as_fd(), PollFlags::IN);
        if let Some(listener) = &self.doors.servers {
            add(Source::NewServer, listener.as_fd(), PollFlags::IN);
        }
        if let Some((listener, _)) = &self.doors.launcher {
            add(Source::NewLauncher, listener.as_fd(), PollFlags::IN);
        }
        for (id, session) in &self.sessions {
            let server = session.server.and_then(|server| self.servers.get(&server));
            if session.link.is_read() && server.is_none_or(|server| server.link.wants_more()) {
                add(Source::Client(*id), session.link.input(), PollFlags::IN);
            }
            if session.link.has_unwritten() {
                add(Source::Room, session.link.output(), PollFlags::OUT);
            }
            if let Some(injector) = &session.injector
                && let Some(output) = injector.output()
            {
                add(Source::Injector(*id), output, PollFlags::IN);
            }
            let may_print = !session.link.is_open() || session.link.wants_more();
            match &session.program {
                Some(Program::Direct(debuggee)) => {
                    for (category, pipe) in debuggee.streams().filter(|_| may_print) {
                        add(Source::Printed(*id, category), pipe, PollFlags::IN);
                    }
                    if let Some(end) = debuggee.end() {
                        add(Source::Exit(*id), end, PollFlags::IN);
                    }
                    if let Some(input) = debuggee.input.as_ref().and_then(Input::waits) {
                        add(Source::Room, input, PollFlags::OUT);
                    }
                }
                Some(Program::Launched(launcher)) if launcher.link.is_open() => {
                    if may_print {
                        add(Source::Launcher(*id), launcher.link.input(), PollFlags::IN);
                    }
                    if launcher.link.has_unwritten() {
                        add(Source::Room, launcher.link.output(), PollFlags::OUT);
                    }
                }
                Some(Program::Launched(_)) | None => {}
            }
        }
        for (id, server) in &self.servers {
            let session = server.session.and_then(|session| self.sessions.get(&session));
            if session.is_none_or(|session| !session.link.is_open() || session.link.wants_more()) {
                add(Source::Server(*id), server.link.input(), PollFlags::IN);
            }
            if server.link.has_unwritten() {
                add(Source::Room, server.link.output(), PollFlags::OUT);
            }
        }
        watched
    }

    fn on(&mut self, source: Source) {
        match source {
            Source::NewClient => self.on_new_client(),
            Source::NewServer => self.on_new_server(),
            Source::NewLauncher => self.on_new_launcher(),
            Source::Client(id) => self.on_client(id),
            Source::Server(id) => self.on_server(id),
            Source::Launcher(id) => self.on_launcher(id),
            Source::Printed(id, category) => self.on_printed(id, category),
            Source::Exit(id) => self.on_exit(id),
            Source::Injector(id) => self.on_injector(id),
            Source::Room => {}
        }
    }

    fn on_new_client(&mut self) {
        let Ok((stream, from)) = self.doors.clients.accept() else { return };
        // Who may speak here may run anything in the program.
        let known = self.doors.clients.local_addr().is_ok_and(|local| peer::is_ours(local, from));
        if let (true, Ok(link)) = (known, Link::on_socket(stream, Peer::Client)) {
            self.greet(Session::new(link, Entrance::Port));
        }
    }

    /// What debugpy's adapter says of itself before it is asked.
    fn greet(&mut self, mut session: Session) {
        for name in ["ptvsd", "debugpy"] {
            let data = json!({"packageVersion": self.debugpy.version});
            session.say("output", json!({"category": "telemetry", "output": name, "data": data}));
        }
        self.made += 1;
        self.sessions.insert(SessionId(self.made), session);
        self.report_doors();
    }

    /// Tells the first client where we listen.
    fn report_doors(&mut self) {
        let doors = [
            (Some(&self.doors.clients), false),
            (self.doors.launcher.as_ref().map(|(listener, _)| listener), true),
            (self.doors.servers.as_ref(), true),
        ];
        let sockets: Vec<_> = doors
            .into_iter()
            .filter_map(|(door, internal)| {
                let place = door?.local_addr().ok()?;
                Some(json!({"host": place.ip().to_string(), "port": place.port(), "internal": internal}))
            })
            .collect();
        if let Some(session) = self.sessions.values_mut().next() {
            session.say("debugpySockets", json!({"sockets": sockets}));
        }
    }

    fn on_client(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.link.read();
        }
        while let Some(message) = self.sessions.get_mut(&id).and_then(|session| session.link.next()) {
            match message {
                Message::Request(request) => self.on_request(id, request),
                Message::Response(response) => self.on_client_answer(id, response),
                Message::Event(event) => self.pass_event_on(id, &event),
            }
            self.proceed(id);
            if self.elsewhere.is_some() {
                return;
            }
        }
        if self.sessions.get(&id).is_some_and(|session| !session.link.is_open()) {
            self.finalize(id, None, None);
        }
    }

    fn session_ids(&self) -> Vec<SessionId> {
        self.sessions.keys().copied().collect()
    }

    /// Opens the door for Python processes, if it is not open. Returns where it is. It is on this machine only: who comes
    /// over the network cannot be known.
    fn serve_processes(&mut self, host: Option<&str>, port: u16) -> std::io::Result<SocketAddr> {
        if let Some(listener) = &self.doors.servers {
            return listener.local_addr();
        }
        let listener = match host {
            None if port == 0 => on_loopback()?,
            host => {
                let places: Vec<SocketAddr> =
                    (host.unwrap_or("127.0.0.1"), port).to_socket_addrs()?.collect();
                if !places.iter().all(|place| place.ip().is_loopback()) {
                    return Err(std::io::Error::new(
                        std::io::ErrorKind::PermissionDenied,
                        "everybody on the network could pose as the program; use 127.0.0.1, and forward its port from \
                         elsewhere, as `ssh -R` does",
                    ));
                }
                TcpListener::bind(&places[..])?
            }
        };
        listener.set_nonblocking(true)?;
        let place = listener.local_addr()?;
        self.doors.servers = Some(listener);
        self.report_doors();
        Ok(place)
    }
}

/// A machine may have only one of the two addresses.
fn on_loopback() -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0").or_else(|_| TcpListener::bind("[::1]:0"))?;
    // Whoever knocks may be gone when the door is opened.
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn new_token() -> Result<String, ServeError> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(ServeError::Random)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
