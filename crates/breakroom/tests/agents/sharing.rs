//! An agent with an editor, each way round, and with another agent.

use breakroom_testkit::{Mcp, wait};
use serde_json::{Value, json};

use crate::support::agents::{at_last_of, desk, ended, go_on, leave, patiently, says, stands, start, value};
use crate::support::company::{C, PYTHON, join, leave_last, listed, nothing_is_listed};
use crate::support::editor::{Desk, Hub};
use crate::support::scenario::{Language, Session, Stop};

/// An editor that joined by the agent's id, both stopped where `add` is called.
fn joined(language: &Language) -> Option<(Desk, Mcp, Session<'_>, Stop, Value)> {
    let (desk, agent) = desk(&[language.adapter]).filter(|_| !language.skipped())?;
    let debuggee = language.debuggee(&desk);
    let first = json!([{"file": debuggee.source, "line": language.line("call")}]);
    let told = start(&agent, json!({"program": debuggee.program, "breakpoints": first}));
    stands(&told, &debuggee.source, language.line("call"));
    let mut editor = join(&desk, language, "Editor", &["--session", &told.session()], json!({}));
    editor.client.allow(&["continued", "breakpoint"]);
    let stop = editor.stopped("breakpoint", language.names.main, Some("call"));
    Some((desk, agent, editor, stop, told.data))
}

/// An editor that began, stopped where `add` is called, and an agent that knows nothing of it.
fn begun() -> Option<(Desk, Mcp, Session<'static>, Stop)> {
    let (desk, agent) = desk(&["debugpy"])?;
    let debuggee = PYTHON.debuggee(&desk);
    let mut editor = Session::new(desk.editor(Hub::Shared, &["--type", "python"]), &PYTHON, debuggee);
    editor.initialize(json!({"clientName": "Editor"}));
    editor.client.allow(&["continued", "breakpoint"]);
    editor.launch(editor.at("call"), json!({}));
    let stop = editor.stopped("breakpoint", "main", Some("call"));
    Some((desk, agent, editor, stop))
}

fn an_editor_joins(language: &Language) {
    let Some((desk, agent, mut editor, stop, told)) = joined(language) else { return };
    let source = editor.debuggee.source.clone();
    let id = told["session_id"].as_str().unwrap();
    let clients = &listed(&desk)[0]["clients"];
    assert_eq!(clients, &json!(["agent", "Editor"]));

    // The agent waits while the editor sets a breakpoint and goes there.
    let waits = agent.begin("debugger_wait", json!({"after_epoch": told["epoch"], "wait_ms": 45_000}));
    editor.set_breakpoints(editor.at("add"));
    editor.resume(&stop);
    let inside = editor.stopped("breakpoint", language.names.add, Some("add"));
    let told = at_last_of(&agent, agent.reply(waits));
    stands(&told, &source, language.line("add"));
    says(&told, &["set by Editor", "resumed by Editor", "others: ", "Editor joined", "Editor resumed"]);

    // A step of the agent's is one of the editor's, too, and the other way round.
    let stepped = patiently(&agent, "debugger_step", json!({"kind": "out"}));
    let told = editor.client.event("stopped");
    assert!(
        told["body"]["description"].as_str().is_some_and(|text| text.contains("resumed by agent")),
        "{told}"
    );
    let stop = Stop { thread: inside.thread.clone(), frame: Value::Null };
    editor.step("next", &stop, language.names.main, None);
    let told = patiently(&agent, "debugger_wait", json!({"after_epoch": stepped.data["epoch"]}));
    says(&told, &["others: Editor stepped", "resumed by Editor"]);

    // Each sees the other's breakpoints and removes only its own.
    let of_editor = format!("of Editor: {}:{}", source.file_name().unwrap().display(), language.line("add"));
    says(&agent.ok("debugger_breakpoints", json!({"session_id": id})), &[&of_editor, "breakpoint 1 "]);
    let end = json!({"file": source, "line": language.line("end")});
    agent.ok("debugger_set_breakpoint", end);
    let left = agent.ok("debugger_breakpoints", json!({"remove": ["all"]}));
    says(&left, &["removed 2", "you have no breakpoints here", &of_editor]);
    let told = go_on(&agent);
    stands(&told, &source, language.line("add"));
    editor.stopped("breakpoint", language.names.add, Some("add"));

    // What the agent started ends by its word, for the editor as well.
    let stopped = agent.ok("debugger_stop", json!({}));
    assert_eq!(stopped.state(), "ended", "{stopped:?}");
    editor.client.event("terminated");
    leave_last(editor);
    nothing_is_listed(&desk);
    leave(desk, agent);
}

#[test]
fn an_editor_joins_a_python_session_of_an_agent() {
    an_editor_joins(&PYTHON);
}

#[test]
fn an_editor_joins_a_c_session_of_an_agent() {
    an_editor_joins(&C);
}

#[test]
fn an_agent_joins_an_editors_session_and_leaves_it_to_the_editor() {
    let Some((desk, agent, mut editor, stop)) = begun() else { return };
    let source = editor.debuggee.source.clone();

    // It finds the session without knowing of it.
    let sessions = agent.ok("debugger_get_session", json!({}));
    says(&sessions, &["Editor", "debugger_attach joins it"]);
    let id = sessions.data["sessions"][0]["id"].as_str().unwrap().to_owned();
    let told = agent.ok("debugger_attach", json!({"session_id": id, "wait_ms": 45_000}));
    assert_eq!(told.session(), id);
    stands(&told, &source, PYTHON.line("call"));
    assert_eq!(value(&agent, "i"), "0");

    let mine = agent.ok("debugger_set_breakpoint", json!({"file": source, "line": PYTHON.line("add")}));
    assert_eq!(mine.state(), "verified", "{mine:?}");
    let told = go_on(&agent);
    stands(&told, &source, PYTHON.line("add"));
    let shown = editor.client.event("stopped");
    let description = shown["body"]["description"].as_str().unwrap();
    assert_eq!(description, "breakpoint, set by agent (resumed by agent)");

    let left = agent.ok("debugger_stop", json!({}));
    assert_eq!(left.state(), "left", "{left:?}");
    says(&left, &["the program goes on"]);
    assert_eq!(listed(&desk)[0]["clients"], json!(["Editor"]));
    let gone = agent.failed("debugger_evaluate", json!({"session_id": id, "expression": "1"}));
    says(&gone, &["you are in no session", "debugger_attach"]);

    // The agent's breakpoint went with it, and the editor's is where it was.
    editor.resume(&stop);
    editor.stopped("breakpoint", "main", Some("call"));
    editor.set_breakpoints(json!([]));
    editor.resume(&stop);
    editor.client.event("exited");
    editor.client.event("terminated");
    leave_last(editor);
    leave(desk, agent);
}

#[test]
fn whoever_leaves_last_ends_what_somebody_else_has_started() {
    let Some((desk, agent, mut editor, stop)) = begun() else { return };
    let program = editor.evaluate(&stop, "__import__('os').getpid()");
    let id = listed(&desk)[0]["id"].clone();
    agent.ok("debugger_attach", json!({"session_id": id, "wait_ms": 45_000}));
    editor.let_go();
    assert_eq!(listed(&desk)[0]["clients"], json!(["agent"]));

    let told = agent.ok("debugger_stop", json!({}));
    assert_eq!(told.state(), "ended", "{told:?}");
    says(&told, &["ended with its program", "nobody else was in it"]);
    nothing_is_listed(&desk);
    let is_gone = || (!std::path::Path::new(&format!("/proc/{program}")).exists()).then_some(());
    wait::until(wait::DEADLINE, is_gone).expect("the program has ended");
    leave(desk, agent);
}

#[test]
fn an_agent_whose_door_closes_ends_what_it_started_and_leaves_what_it_joined() {
    let Some((desk, agent, mut editor, stop)) = begun() else { return };
    let id = listed(&desk)[0]["id"].clone();
    agent.ok("debugger_attach", json!({"session_id": id, "wait_ms": 45_000}));
    let own = json!({"program": editor.debuggee.program, "stop_on_entry": true});
    assert_ne!(json!(start(&agent, own).session()), id);
    let several = agent.failed("debugger_evaluate", json!({"expression": "1"}));
    says(&several, &["several sessions", id.as_str().unwrap(), "(paused)"]);

    agent.finish();
    let rest = || Some(listed(&desk)).filter(|rest| rest.len() == 1);
    let rest = wait::until(wait::DEADLINE, rest).unwrap_or_else(|| panic!("{:?}", listed(&desk)));
    assert_eq!((&rest[0]["id"], &rest[0]["clients"]), (&id, &json!(["Editor"])));
    assert_eq!(editor.evaluate(&stop, "i"), "0");
    leave_last(editor);
    desk.leave(Hub::Shared);
}

#[test]
fn two_agents_take_turns_in_one_session() {
    let Some((desk, first)) = desk(&["debugpy"]) else { return };
    let second = Mcp::with(&desk.sandbox, &["--as", "reviewer"]);
    let source = PYTHON.debuggee(&desk).source;
    let told = start(&first, json!({"program": source, "breakpoints": [{"text": "mark: call"}]}));
    let id = told.session();
    let joined = second.ok("debugger_attach", json!({"session_id": id, "wait_ms": 45_000}));
    stands(&joined, &source, PYTHON.line("call"));
    assert_eq!(joined.data["locals"], told.data["locals"]);

    let waits = first.begin("debugger_wait", json!({"after_epoch": told.data["epoch"], "wait_ms": 45_000}));
    let stepped = patiently(&second, "debugger_step", json!({"kind": "in"}));
    assert_eq!(stepped.data["function"], "add", "{}", stepped.text);
    let seen = at_last_of(&first, first.reply(waits));
    assert_eq!((&seen.data["line"], &seen.data["function"]), (&stepped.data["line"], &json!("add")));
    says(&seen, &["reviewer joined", "reviewer stepped"]);

    // What the one changes the other reads, and hears of.
    second.ok("debugger_set_variable", json!({"name": "a", "value": "98"}));
    assert_eq!(value(&first, "a + b"), "100");
    let looked = first.ok("debugger_inspect", json!({}));
    says(&looked, &["others: ", "reviewer set a variable `a`"]);

    // Whoever believes it to stand where it was is shown where it stands before it goes on.
    patiently(&first, "debugger_step", json!({"kind": "out"}));
    let told = go_on(&second);
    assert_eq!(told.data["function"], "main", "{}", told.text);
    says(&told, &["it had stopped here before this call", "agent stepped"]);

    let left = second.ok("debugger_stop", json!({}));
    assert_eq!(left.state(), "left");
    second.finish();
    first.ok("debugger_breakpoints", json!({"remove": ["all"]}));
    let end = go_on(&first);
    ended(&end, 0);
    says(&end, &["reviewer left", "hello 100 none"]);
    leave(desk, first);
}

#[test]
fn hits_that_an_agent_is_told_at_the_end_are_of_the_run_that_an_editor_began() {
    let Some((desk, agent, mut editor, _, _)) = joined(&PYTHON) else { return };
    go_on(&agent);
    editor.client.event("stopped");
    let listed = agent.ok("debugger_breakpoints", json!({}));
    assert_eq!(listed.data["breakpoints"][0]["hits"], 2, "{listed:?}");
    editor.client.call("restart", json!({}));
    editor.stopped("breakpoint", PYTHON.names.main, Some("call"));
    let told = patiently(&agent, "debugger_wait", json!({}));
    stands(&told, &editor.debuggee.source, PYTHON.line("call"));
    editor.client.call("terminate", json!({}));
    editor.client.event("terminated");
    let over = patiently(&agent, "debugger_wait", json!({"after_epoch": told.data["epoch"]}));
    assert_eq!(over.state(), "ended", "{over:?}");
    let listed = agent.ok("debugger_breakpoints", json!({}));
    says(&listed, &["which is over"]);
    assert_eq!(listed.data["breakpoints"][0]["hits"], 1, "{listed:?}");
    leave_last(editor);
    leave(desk, agent);
}
