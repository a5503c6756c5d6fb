//! Python through the real binary: debugpy over stdio and over TCP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod failures;
    pub mod scenario;
}

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::{Strict, adapters, wait};
use serde_json::{Value, json};
use support::company;
use support::editor::{Bystander, Desk, Hub};
use support::failures::{self, NoProgram};
use support::scenario::{self, Debuggee, Language, Session};

/// Alone, a client may also hear the debugger itself say that it runs.
const PYTHON: Language = Language {
    events: &["output", "process", "thread", "module", "continued", "debugpySockets"],
    ..company::PYTHON
};

#[test]
fn the_tour_over_stdio_through_the_shared_hub() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "python"]) else { return };
    session.initialize(json!({}));
    scenario::tour(session, json!({}));
    desk.leave(Hub::Shared);
}

#[test]
fn the_tour_over_tcp_connect_through_a_private_hub() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Private, &[]) else { return };
    session.initialize(json!({"adapterID": "something else"}));
    session.client.allow(&["capabilities"]);
    let adapter = adapters::folder().join("debugpy/debugpy/adapter");
    let args = json!(["python3", adapter, "--host", "127.0.0.1", "--port", "{{port}}"]);
    let record = json!({"breakroom": {"adapter": {"args": args, "mode": "tcp-connect"}}});
    scenario::tour(session, record);
    desk.leave(Hub::Private);
}

#[test]
fn a_program_that_spins_is_paused_and_terminated() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "debugpy"]) else { return };
    session.initialize(json!({}));
    scenario::pause_and_terminate(session);
    desk.leave(Hub::Shared);
}

#[test]
fn every_way_to_choose_leads_to_debugpy() {
    scenario::every_way_to_choose(&PYTHON);
}

#[test]
fn a_program_that_is_not_there_is_told_by_python_itself() {
    let known = NoProgram::Ran { said: "No such file or directory", code: 1 };
    failures::missing_program(&PYTHON, &known);
}

#[test]
fn a_machine_without_debugpy_learns_how_to_install_it() {
    failures::missing_adapter(&PYTHON, "pip install");
}

#[test]
fn bad_launch_arguments_cost_one_request() {
    failures::bad_arguments(&PYTHON);
}

#[test]
fn a_record_that_cannot_work_is_refused_with_the_reason() {
    failures::bad_records(&PYTHON);
}

#[test]
fn the_launchers_folder_environment_and_umask_reach_the_program_though_the_hub_has_others() {
    if PYTHON.skipped() {
        return;
    }
    let desk = Desk::with_hub_from_elsewhere();
    let folder = desk.sandbox.work().canonicalize().unwrap();
    let text = "import os\nmask = os.umask(0)\nprint(os.getcwd(), os.environ.get('GREETING'), oct(mask), \
                os.environ.get('BREAKROOM_SECRET'), os.environ.get('ADDED'), flush=True)\n";
    std::fs::write(folder.join("where.py"), text).unwrap();
    let mut door = desk.sandbox.program("sh");
    door.args(["-c", "umask 027; exec \"$0\" dap"])
        .arg(desk.sandbox.binary())
        .env("GREETING", "from the editor")
        .env("BREAKROOM_SECRET", "x")
        .current_dir(&folder);
    let debuggee = Debuggee { program: "where.py".into(), source: folder.join("where.py") };
    let mut session = Session::new(Strict::spawn(door), &PYTHON, debuggee);
    session.initialize(json!({"adapterID": "python"}));
    session.launch(json!([]), json!({"env": {"ADDED": "by the launch"}}));
    let expected = format!("{} from the editor 0o27 None by the launch\n", folder.display());
    session.ended(0, &expected);
    desk.leave(Hub::Shared);
}

#[test]
fn a_client_that_counts_from_zero_and_speaks_in_uris_is_understood() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Private, &["--type", "python"]) else { return };
    session.initialize(json!({"linesStartAt1": false, "columnsStartAt1": false, "pathFormat": "uri"}));
    let folder = desk.sandbox.work().join("a b\u{e9}");
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join("t.py");
    std::fs::copy(&session.debuggee.source, &program).unwrap();
    let uri = format!("file://{}", program.display()).replace(' ', "%20").replace('\u{e9}', "%C3%A9");
    let line = PYTHON.line("add") - 1;
    let launch = session.client.request("launch", json!({"program": program, "console": "internalConsole"}));
    session.client.event("initialized");
    let source = json!({"source": {"path": uri}, "breakpoints": [{"line": line}]});
    let set = session.client.call("setBreakpoints", source);
    let breakpoint = &set["body"]["breakpoints"][0];
    assert_eq!((&breakpoint["line"], &breakpoint["source"]["path"]), (&json!(line), &json!(uri)));
    session.client.call("configurationDone", Value::Null);
    session.client.response(launch);
    let thread = session.client.event("stopped")["body"]["threadId"].clone();
    let frames = session.stack(&thread);
    let top = json!([frames[0]["line"], frames[0]["column"], frames[0]["source"]["path"]]);
    assert_eq!(top, json!([line, 0, uri]));
    session.client.allow(&["exited", "terminated"]);
    session.disconnected("");
    desk.leave(Hub::Private);
}

#[test]
fn a_client_with_terminals_is_asked_to_run_the_program_in_one() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "python"]) else { return };
    session.initialize(json!({"supportsRunInTerminalRequest": true}));
    let terminal = json!({"console": "integratedTerminal", "args": ["seven"]});
    let launch = session.client.request("launch", PYTHON.arguments(&session.debuggee, terminal));
    let asked = session.client.reverse("runInTerminal");
    assert_eq!(asked["arguments"]["kind"], "integrated", "{asked}");
    let words: Vec<&str> =
        asked["arguments"]["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut command = desk.sandbox.program(words[0]);
    command.args(&words[1..]).current_dir(asked["arguments"]["cwd"].as_str().unwrap());
    for (name, value) in asked["arguments"]["env"].as_object().into_iter().flatten() {
        match value.as_str() {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut terminal = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    session.client.reply(&asked, true, json!({"processId": terminal.id()}));
    session.client.event("initialized");
    session.configure(launch, session.at("add"));
    let stop = session.stopped("breakpoint", "add", Some("add"));
    session.set_breakpoints(json!([]));
    session.resume(&stop);
    // What it prints belongs to the terminal and not to the client.
    session.ended(7, "");
    let mut printed = String::new();
    std::io::Read::read_to_string(&mut terminal.stdout.take().unwrap(), &mut printed).unwrap();
    assert_eq!(printed, "hello 42 none\nhello 43 none\nhello 44 none\n");
    wait::for_exit(&mut terminal, wait::DEADLINE).expect("the terminal's command ends with the program");
    desk.leave(Hub::Shared);
}

#[test]
fn for_a_client_without_terminals_the_hub_opens_its_own() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "python"]) else { return };
    session.initialize(json!({}));
    session.launch(session.at("add"), json!({"console": "integratedTerminal", "args": ["seven"]}));
    let stop = session.stopped("breakpoint", "add", Some("add"));
    session.set_breakpoints(json!([]));
    session.resume(&stop);
    session.ended(7, "hello 42 none\nhello 43 none\nhello 44 none\n");
    desk.leave(Hub::Shared);
}

/// debugpy answers none of them.
#[test]
fn requests_that_debugpy_does_not_declare_are_refused_and_hold_nobody() {
    let Some((desk, mut session)) = PYTHON.open(Hub::Shared, &["--type", "python"]) else { return };
    session.initialize(json!({}));
    session.launch(session.at("add"), json!({"args": ["seven"]}));
    let stop = session.stopped("breakpoint", "add", Some("add"));
    let id = company::only_session(&desk);
    let mut other = company::join(&desk, &PYTHON, "Bob", &["--session", &id], json!({}));
    other.client.event("stopped");
    let thread = stop.thread.clone();
    for (command, arguments) in [
        ("readMemory", json!({"memoryReference": "1", "count": 1})),
        ("dataBreakpointInfo", json!({"name": "a"})),
        ("setDataBreakpoints", json!({"breakpoints": []})),
        ("terminateThreads", json!({"threadIds": [thread]})),
        ("reverseContinue", json!({"threadId": thread})),
        ("stepBack", json!({"threadId": thread})),
    ] {
        let refusal = session.client.call_failing(command, arguments);
        let text = refusal["message"].as_str().unwrap();
        assert!(text.contains(command) && text.contains("debugpy"), "{text}");
        assert_eq!(other.stack(&thread)[0]["name"], "add", "after `{command}`");
    }
    assert_eq!(company::listed(&desk)[0]["state"], "stopped");
    session.set_breakpoints(json!([]));
    session.resume(&stop);
    other.client.event("continued");
    company::all_see_the_end([session, other]);
    desk.leave(Hub::Shared);
}

fn spinning_python() -> Bystander {
    let mut command = Command::new("python3");
    command.arg(Program::Python.source()).arg("spin");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "spinning\n");
    Bystander(child)
}

/// A session that is attached to a process, stopped at its breakpoint. debugpy has gdb put it into the process at whatever
/// point that is, which fails now and then; then it is tried again.
fn attached() -> Option<(Desk, Session<'static>, Bystander)> {
    if adapters::skipped("system-gdb") {
        return None;
    }
    for _ in 0..5 {
        let (desk, mut session) = PYTHON.open(Hub::Shared, &["--type", "python"])?;
        let bystander = spinning_python();
        if attach(&mut session, &bystander) {
            return Some((desk, session, bystander));
        }
        session.client.abandon();
        desk.leave(Hub::Shared);
    }
    panic!("debugpy could not get into a process in five tries");
}

/// False if debugpy says that it could not get into the process, or lost it at once.
fn attach(session: &mut Session<'_>, bystander: &Bystander) -> bool {
    session.initialize(json!({}));
    session.client.allow(&["debugpyWaitingForServer"]);
    let attach = session.client.request("attach", json!({"processId": bystander.0.id()}));
    let got_in = wait::until(wait::DEADLINE, || {
        let timeline = session.client.timeline();
        let failed =
            |body: &Value| body["output"].as_str().is_some_and(|text| text.contains("Attach to PID failed"));
        let outcome = timeline.events("output").any(failed).then_some(false);
        outcome
            .or_else(|| timeline.received().any(|message| message["event"] == "initialized").then_some(true))
    });
    if !got_in.expect("debugpy gets in or says that it cannot") {
        return false;
    }
    session.client.event("initialized");
    session.configure(attach, session.at("spin"));
    // Put in at a bad moment, its server may lose the connection before it can do anything.
    let told = wait::until(wait::DEADLINE, || {
        let timeline = session.client.timeline();
        let told = |name: &str| timeline.events(name).next().is_some();
        told("stopped").then_some(true).or_else(|| told("terminated").then_some(false))
    });
    if !told.expect("debugpy stops the process or loses it") {
        return false;
    }
    session.stopped("breakpoint", "spin", Some("spin"));
    true
}

#[test]
fn an_attached_process_lives_on_after_disconnect() {
    let Some((desk, mut session, mut bystander)) = attached() else { return };
    session.client.allow(&["terminated"]);
    session.let_go();
    desk.leave(Hub::Shared);
    bystander.assert_runs_free();
}

#[test]
fn an_attached_process_lives_on_when_the_hub_is_killed() {
    let Some((mut desk, session, mut bystander)) = attached() else { return };
    desk.kill_hub(session.client);
    bystander.assert_runs_free();
    // The socket of the killed hub does not keep the next one from starting.
    let mut session =
        Session::new(desk.editor(Hub::Shared, &["--type", "python"]), &PYTHON, PYTHON.debuggee(&desk));
    session.initialize(json!({}));
    session.client.allow(&["terminated"]);
    session.disconnected("");
    desk.leave(Hub::Shared);
}
