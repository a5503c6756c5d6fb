//! `launch`: a Python process is started with the debugger in it, by us or by debugpy's launcher, and what it prints and how
//! it ends is told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Instant;

use breakroom_wire::Peer;
use serde_json::{Value, json};

use super::server::Server;
use super::session::{Asked, Entrance, Program, Stage, Start, Step, Wanted};
use super::starting::SPAWN;
use super::{Adapter, SessionId, on_loopback};
use crate::arguments::{Arguments, Between, Launch, OnTerminate};
use crate::debuggee::{Category, Debuggee, Stdin};
use crate::launcher::{self, Launcher};
use crate::link::Link;
use crate::message::{self, Event, Message, Request};
use crate::relay::{Other, Relay};
use crate::{peer, stock};

impl Adapter {
    pub(super) fn launch(&mut self, id: SessionId, request: Request) {
        if !self.may_start(id, &request) {
            return;
        }
        let Value::Object(arguments) = request.arguments() else {
            return self.refuse_start(
                id,
                &request,
                "`launch` has no arguments; give `program`, `module` or `code`",
            );
        };
        if let Some(command) = stock::adapter_for(&arguments, &self.debugpy) {
            return self.leave_to_process(id, &request, &command);
        }
        if self.sessions.get(&id).is_none_or(|session| session.entrance != Entrance::Streams)
            || !self.servers.is_empty()
        {
            return self.refuse_start(
                id,
                &request,
                "there is a program already; a process of it is reached by `attach`",
            );
        }
        let expands = self.sessions.get(&id).and_then(|session| session.client.as_ref());
        let launch = match Launch::read(&arguments, expands.is_some_and(|client| client.expands_arguments)) {
            Ok(launch) => launch,
            Err(bad) => return self.refuse_start(id, &request, &bad.to_string()),
        };
        let place = match self.serve_processes(launch.host.as_deref(), 0) {
            Ok(place) => place,
            Err(error) => {
                return self.refuse_start(id, &request, &format!("cannot listen for the program: {error}"));
            }
        };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.on_terminate = OnTerminate::of(&arguments);
        }
        let python = self.python(&launch);
        let told = launch.told(&arguments, &python);
        match &launch.between {
            Between::Nothing => self.launch_directly(id, request, &launch, told, &python, place),
            Between::Launcher { .. } => self.launch_by_launcher(id, request, &launch, told, &python, place),
        }
    }

    pub(super) fn refuse_start(&mut self, id: SessionId, request: &Request, why: &str) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.fail(request, why);
        }
    }

    /// The interpreter with its own arguments.
    fn python(&self, launch: &Launch) -> Vec<String> {
        let usual = self.debugpy.python.to_string_lossy().into_owned();
        let mut python = launch.python.clone();
        match python.first_mut() {
            Some(first) if first.is_empty() => *first = usual,
            Some(_) => {}
            None => python.push(usual),
        }
        python
    }

    fn launch_directly(
        &mut self,
        id: SessionId,
        request: Request,
        launch: &Launch,
        told: Arguments,
        python: &[String],
        place: SocketAddr,
    ) {
        let mut command = python.to_vec();
        if !launch.no_debug {
            command.extend(self.debugger_words(launch, place));
        }
        command.extend(launch.words.iter().cloned());
        let gives = self.sessions.get(&id).and_then(|session| session.client.as_ref());
        let stdin = match gives.is_some_and(|client| client.gives_input) {
            true => Stdin::Given,
            false => Stdin::Empty,
        };
        let debuggee = match Debuggee::start(launch, &command, stdin, &self.debugpy.folder) {
            Ok(debuggee) => debuggee,
            Err(error) => {
                let (python, cwd) = (&command[0], launch.cwd.as_deref().unwrap_or("this folder"));
                let why = format!(
                    "`{python}` cannot be started in {cwd}: {error}; name another with `python`, or install Python"
                );
                return self.refuse_start(id, &request, &why);
            }
        };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.tell(Event::new(
            "process",
            &json!({
                "startMethod": "launch",
                "isLocalProcess": true,
                "systemProcessId": debuggee.pid(),
                "name": launch.name,
                "pointerSize": usize::BITS,
            }),
        ));
        session.program = Some(Program::Direct(Box::new(debuggee)));
        let until = Some(Instant::now() + SPAWN);
        let step = Step::Server { wanted: Wanted::Any, until };
        self.begin(id, start(request, told, launch.no_debug), step);
        if launch.no_debug {
            self.start_is_answered(id);
        }
    }

    /// What makes a Python run with the debugger in it, connected to us.
    fn debugger_words(&self, launch: &Launch, place: SocketAddr) -> Vec<String> {
        // Modules that Python has frozen cannot be stopped in. Older ones do not know the option and pass over it.
        let mut words: Vec<String> = ["-X", "frozen_modules=off"].map(str::to_owned).to_vec();
        words.push(self.debugpy.folder.to_string_lossy().into_owned());
        words.extend(["--connect".to_owned(), place.to_string()]);
        if !launch.sub_process {
            words.extend(["--configure-subProcess", "False"].map(str::to_owned));
        }
        words.extend(["--configure-qt".to_owned(), launch.qt.clone()]);
        if let Some(token) = &self.token {
            words.extend(["--adapter-access-token".to_owned(), token.clone()]);
        }
        words.extend(launch.debugpy_args.iter().cloned());
        words
    }

    fn launch_by_launcher(
        &mut self,
        id: SessionId,
        request: Request,
        launch: &Launch,
        told: Arguments,
        python: &[String],
        place: SocketAddr,
    ) {
        let Between::Launcher { python: own, path, sudo } = &launch.between else { return };
        let opened = on_loopback().and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (here, listener) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                return self.refuse_start(
                    id,
                    &request,
                    &format!("cannot listen for debugpy's launcher: {error}"),
                );
            }
        };
        let path = path.as_ref().map_or_else(|| self.debugpy.launcher(), PathBuf::from);
        let python = own.as_ref().or(python.first()).cloned().unwrap_or_default();
        let spelled = if here.is_ipv4() { here.port().to_string() } else { here.to_string() };
        let command = launcher::command(&python, path, &spelled, *sudo, launch);
        self.doors.launcher = Some((listener, id));
        self.report_doors();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        match launch.console.kind() {
            None => match launcher::start(&command, launch) {
                Ok(process) => session.launching = Some(process),
                Err(error) => {
                    self.close_launcher_door();
                    let why = format!("debugpy's launcher cannot be started with `{}`: {error}", command[0]);
                    return self.refuse_start(id, &request, &why);
                }
            },
            Some(_) if session.client.as_ref().is_none_or(|client| !client.has_terminals) => {
                self.close_launcher_door();
                let why =
                    "this client has no terminal to run the program in; `console` can be internalConsole";
                return self.refuse_start(id, &request, why);
            }
            Some(kind) => {
                let asked = launcher::run_in_terminal(kind, command, launch);
                let seq = session.link.request("runInTerminal", message::raw(&asked).as_deref());
                session.asked.insert(seq, Asked::RunInTerminal);
            }
        }
        let until = (!sudo).then(|| Instant::now() + SPAWN);
        let mut start = start(request, told, launch.no_debug);
        start.launcher = Some(place);
        self.begin(id, start, Step::Launcher { until });
    }

    pub(super) fn close_launcher_door(&mut self) {
        self.doors.launcher = None;
        self.report_doors();
    }

    pub(super) fn on_new_launcher(&mut self) {
        let Some((listener, id)) = &self.doors.launcher else { return };
        let (id, Ok((stream, from))) = (*id, listener.accept()) else { return };
        if !listener.local_addr().is_ok_and(|local| peer::is_ours(local, from)) {
            return;
        }
        let Ok(mut link) = Link::on_socket(stream, Peer::Adapter) else { return };
        self.close_launcher_door();
        let token = self.token.clone();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Stage::Starting(start, _) = &session.stage else { return };
        let mut arguments = start.arguments.clone();
        if let (false, Some(place)) = (start.no_debug, start.launcher) {
            arguments.insert("port".to_owned(), json!(place.port()));
            arguments.insert("adapterAccessToken".to_owned(), json!(token));
        }
        let asked = link.request("launch", message::raw(&arguments.into()).as_deref());
        let mut launcher = Launcher::new(link, session.launching.take());
        launcher.asked = Some(asked);
        session.program = Some(Program::Launched(Box::new(launcher)));
        self.step(id, Step::Program { until: Instant::now() + SPAWN });
    }

    pub(super) fn on_launcher(&mut self, id: SessionId) {
        fn of(adapter: &mut Adapter, id: SessionId) -> Option<&mut Launcher> {
            match adapter.sessions.get_mut(&id)?.program.as_mut()? {
                Program::Launched(launcher) => Some(launcher),
                Program::Direct(_) => None,
            }
        }
        if let Some(launcher) = of(self, id) {
            launcher.link.read();
        }
        while let Some(message) = of(self, id).and_then(|launcher| launcher.link.next()) {
            self.on_launcher_message(id, message);
        }
        self.look_whether_over(id);
    }

    fn on_launcher_message(&mut self, id: SessionId, message: Message) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(Program::Launched(launcher)) = &mut session.program else { return };
        match message {
            Message::Response(response) if launcher.asked == Some(response.request_seq) => {
                launcher.asked = None;
                if let Err(why) = response.outcome {
                    self.fail_start(id, &why);
                }
            }
            Message::Event(event) if event.name == "process" => {
                launcher.pid = event.body()["systemProcessId"].as_i64();
                session.tell(event);
                let no_debug = session.start().is_some_and(|start| start.no_debug);
                let until = Some(Instant::now() + SPAWN);
                self.step(id, Step::Server { wanted: Wanted::Any, until });
                if no_debug {
                    self.start_is_answered(id);
                }
            }
            Message::Event(event) if event.name == "output" => session.tell(event),
            Message::Event(event) if event.name == "exited" => {
                launcher.exit_code = event.body()["exitCode"].as_i64()
            }
            Message::Event(event) if event.name == "terminated" => launcher.link.close(),
            _ => {}
        }
    }

    pub(super) fn on_printed(&mut self, id: SessionId, category: Category) {
        self.pass_output_on(id, category);
        self.look_whether_over(id);
    }

    fn pass_output_on(&mut self, id: SessionId, category: Category) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(Program::Direct(debuggee)) = &mut session.program else { return };
        if let Some(text) = debuggee.read(category) {
            let body = json!({"category": category.name(), "output": text});
            session.tell(Event::new("output", &body));
        }
    }

    pub(super) fn on_exit(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(Program::Direct(debuggee)) = &mut session.program else { return };
        debuggee.ended();
        self.look_whether_over(id);
    }

    pub(super) fn look_whether_over(&mut self, id: SessionId) {
        for category in self.read_no_further(id) {
            self.pass_output_on(id, category);
        }
        let session = self.sessions.get(&id).filter(|session| !session.exit_told);
        if session.and_then(|session| session.program.as_ref()).is_some_and(Program::is_over) {
            self.program_is_over(id);
        }
    }

    /// Output is read to its end only for processes that are debugged and for a program that the client spares: these would
    /// end of a closed pipe.
    fn read_no_further(&mut self, id: SessionId) -> Vec<Category> {
        let Some(session) = self.sessions.get_mut(&id).filter(|session| !session.is_spared()) else {
            return Vec::new();
        };
        let Some(Program::Direct(debuggee)) = &mut session.program else { return Vec::new() };
        let other = |server: &Server| server.pid().is_some_and(|pid| pid != debuggee.pid());
        if debuggee.exit_code().is_none() || self.servers.values().any(other) {
            return Vec::new();
        }
        debuggee.read_no_further()
    }

    /// It has ended and said everything.
    fn program_is_over(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let code = session.program.as_ref().and_then(Program::exit_code);
        if matches!(
            session.stage,
            Stage::Starting(_, Step::Launcher { .. } | Step::Program { .. } | Step::Server { .. })
        ) {
            let words = match &session.program {
                Some(Program::Direct(debuggee)) => debuggee.last_words().trim().to_owned(),
                _ => String::new(),
            };
            let code = code.map_or_else(|| "without a code".to_owned(), |code| format!("with code {code}"));
            let why = format!("Python ended {code} before its debugger connected; {words}");
            return self.fail_start(id, why.trim_end_matches([' ', ';']));
        }
        session.exit_told = true;
        session.release_held();
        session.say("exited", json!({"exitCode": code}));
        self.finalize(id, None, None);
    }

    fn leave_to_process(&mut self, id: SessionId, request: &Request, command: &[PathBuf]) {
        match Other::start(command) {
            Ok(other) => self.leave_to(id, request, other),
            Err(error) => {
                let why = format!("{error}; name another with `debugAdapterPython`");
                self.refuse_start(id, request, &why);
            }
        }
    }

    /// Hands the client over to another adapter.
    pub(super) fn leave_to(&mut self, id: SessionId, request: &Request, other: Other) {
        let Some(session) = self.sessions.remove(&id) else { return };
        let arguments = session.client.and_then(|client| client.arguments);
        // Its number is in nobody's way: the answer is not passed on.
        let hello = Request { seq: 0, command: "initialize".to_owned(), arguments };
        self.elsewhere = Some(Box::new(Relay::new(session.link, other, &hello, request)));
    }
}

fn start(request: Request, told: Arguments, no_debug: bool) -> Start {
    let (mut arguments, mut for_server) = (told.clone(), told);
    let captured = redirect(&mut for_server);
    // debugpy's adapter notes it where children are told of it too, unless it had something else to change.
    if captured.changed_nothing {
        arguments.insert("isOutputRedirected".to_owned(), json!(captured.redirected));
    }
    Start { request, arguments, for_server, no_debug, launcher: None }
}

struct Captured {
    redirected: bool,
    changed_nothing: bool,
}

/// The output is captured outside the process, so the debugger in it need not do it again.
fn redirect(arguments: &mut Arguments) -> Captured {
    let mut redirected = arguments.get("console").and_then(Value::as_str) == Some("internalConsole");
    let mut changed_nothing = true;
    if let Some(Value::Array(options)) = arguments.get_mut("debugOptions") {
        let before = options.len();
        options.retain(|option| option != "RedirectOutput");
        if options.len() < before {
            (redirected, changed_nothing) = (true, false);
        }
    }
    if arguments.get("redirectOutput").and_then(Value::as_bool) == Some(true) {
        arguments.remove("redirectOutput");
        (redirected, changed_nothing) = (true, false);
    }
    arguments.insert("isOutputRedirected".to_owned(), json!(redirected));
    Captured { redirected, changed_nothing }
}
