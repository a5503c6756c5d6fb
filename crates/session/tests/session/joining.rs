//! Coming late: one whole picture at once, nothing before it, and nothing asked of the engine for it.

use breakroom_session::{Access, CloseReason, Input, Token};
use serde_json::{Value, json};

use crate::rig::{Heard, Rig, TOKEN, capabilities};

/// What a client knows of the program, by the events that it heard.
#[derive(Debug, Default, PartialEq)]
struct Known {
    capabilities: serde_json::Map<String, Value>,
    process: Option<Value>,
    threads: Vec<i64>,
    modules: Vec<String>,
    output: String,
    progress: Vec<String>,
    stopped: Vec<i64>,
    focus: Option<i64>,
    exited: Option<Value>,
    terminated: bool,
}

impl Known {
    fn of(heard: &[Heard]) -> Known {
        let mut known = Known::default();
        heard.iter().for_each(|heard| known.hears(&heard.json));
        known
    }

    fn hears(&mut self, json: &Value) {
        let body = &json["body"];
        let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let thread = body["threadId"].as_i64();
        match json["event"].as_str().unwrap_or_default() {
            "capabilities" => self.capabilities.extend(body["capabilities"].as_object().unwrap().clone()),
            "process" => self.process = Some(body.clone()),
            "output" => self.output += &text("output"),
            "progressStart" => self.progress.push(text("progressId")),
            "progressEnd" => self.progress.retain(|id| *id != text("progressId")),
            "exited" => self.exited = Some(body.clone()),
            "terminated" => self.terminated = true,
            "module" => {
                let name = body["module"]["name"].as_str().unwrap().to_owned();
                self.modules.retain(|known| *known != name);
                if body["reason"] != "removed" {
                    self.modules.push(name);
                }
            }
            "thread" => {
                self.threads.retain(|known| Some(*known) != thread);
                if body["reason"] == "started" {
                    self.threads.extend(thread);
                }
            }
            "stopped" => {
                if body["allThreadsStopped"] == true {
                    self.stopped = vec![1, 2, 3];
                }
                self.stopped.retain(|known| Some(*known) != thread);
                self.stopped.extend(thread);
                self.stopped.sort_unstable();
                self.focus = thread;
            }
            "continued" => {
                let all = body["allThreadsContinued"] != false;
                self.stopped.retain(|known| !all && Some(*known) != thread);
            }
            _ => {}
        }
        self.focus = self.focus.filter(|focus| self.stopped.contains(focus));
    }
}

fn continued(thread: i64) -> Value {
    json!({"threadId": thread, "allThreadsContinued": false})
}

fn stopped(thread: i64, all: bool) -> Value {
    json!({"reason": "breakpoint", "threadId": thread, "allThreadsStopped": all})
}

#[test]
fn invariant_3_at_every_moment_a_joiners_picture_equals_that_of_a_client_present_from_the_start() {
    let events = [
        ("process", json!({"name": "x.py", "systemProcessId": 7})),
        ("thread", json!({"reason": "started", "threadId": 1})),
        ("module", json!({"reason": "new", "module": {"id": 1, "name": "libc"}})),
        ("module", json!({"reason": "new", "module": {"id": 2, "name": "libm"}})),
        ("module", json!({"reason": "removed", "module": {"id": 2, "name": "libm"}})),
        ("capabilities", json!({"capabilities": {"supportsStepBack": true}})),
        ("output", json!({"category": "stdout", "output": "hello\n"})),
        ("thread", json!({"reason": "started", "threadId": 2})),
        ("progressStart", json!({"progressId": "p", "title": "loading", "requestId": 4})),
        ("stopped", stopped(1, false)),
        ("stopped", stopped(2, false)),
        ("continued", continued(1)),
        ("progressEnd", json!({"progressId": "p"})),
        ("stopped", stopped(1, true)),
        ("continued", continued(2)),
        ("continued", continued(1)),
        ("stopped", stopped(2, false)),
        ("continued", json!({"threadId": 1, "allThreadsContinued": true})),
        ("stopped", stopped(3, true)),
        ("thread", json!({"reason": "exited", "threadId": 2})),
        ("continued", json!({"threadId": 3})),
        ("output", json!({"output": "bye\n"})),
        ("exited", json!({"exitCode": 3})),
        ("terminated", json!({})),
    ];
    let declared = json!({"supportsProgressReporting": true});
    let (mut rig, first, node) = Rig::running_with(capabilities(), declared.clone());
    let mut from_the_start = Vec::new();
    for (event, body) in events {
        rig.tell(node, event, body.clone());
        from_the_start.extend(rig.heard(first));
        let joiner = rig.bring("Late", declared.clone(), json!({}));
        let (seen, shown) = (Known::of(&from_the_start), Known::of(&rig.heard(joiner)));
        // Whoever went on is not in focus any more; which other stop is, DAP does not say.
        let focus = if seen.focus.is_some() { shown.focus } else { None };
        assert_eq!(seen, Known { focus, ..shown }, "after {event} {body}");
        assert!(rig.engine_heard(node).is_empty(), "the engine was asked because of a joiner");
        rig.request(joiner, "disconnect", json!({}));
        assert_eq!(rig.closed(joiner), Some(&CloseReason::Disconnected));
    }
    assert!(rig.engine_heard(node).is_empty());
    rig.finish(first, node);
}

#[test]
fn a_joiner_of_a_stop_is_answered_then_shown_all_of_it_and_the_focused_thread_last() {
    let (mut rig, first, node) = Rig::running();
    rig.tell(node, "process", json!({"name": "x.py"}));
    rig.tell(node, "thread", json!({"reason": "started", "threadId": 1}));
    rig.tell(node, "output", json!({"output": "a"}));
    rig.tell(node, "stopped", stopped(1, false));
    rig.tell(node, "stopped", stopped(2, false));
    let second = rig.bring("Bob", json!({}), json!({}));
    assert_eq!(
        rig.names(second),
        [
            "+initialize",
            "initialized",
            "+attach",
            "+configurationDone",
            "process",
            "thread",
            "output",
            "stopped",
            "stopped"
        ]
    );
    assert!(rig.engine_heard(node).is_empty());
    rig.heard(first);
    rig.tell(node, "output", json!({"output": "b"}));
    assert_eq!(rig.event(first, "output")["body"], rig.event(second, "output")["body"]);
    rig.request(second, "disconnect", json!({}));
    rig.finish(first, node);
}

#[test]
fn nothing_live_precedes_the_picture_and_nothing_is_lost_between_the_two() {
    let (mut rig, first, node) = Rig::running();
    let second = rig.join_late();
    rig.request(second, "initialize", json!({"adapterID": "python"}));
    rig.tell(node, "output", json!({"output": "a"}));
    rig.stop(node, 1);
    rig.request(second, "configurationDone", json!({}));
    rig.tell(node, "output", json!({"output": "b"}));
    rig.tell(node, "continued", json!({"threadId": 1}));
    rig.stop(node, 2);
    assert_eq!(rig.names(second), ["+initialize", "initialized", "+configurationDone"]);
    rig.request(second, "attach", json!({}));
    assert_eq!(rig.names(second), ["+attach", "output", "output", "stopped"]);
    rig.request(second, "disconnect", json!({}));
    rig.finish(first, node);
}

#[test]
fn one_who_comes_while_the_launcher_configures_waits_for_the_engine_and_not_for_the_launcher() {
    let (mut rig, first, node) = Rig::initialized();
    rig.request(first, "launch", json!({"program": "x.py"}));
    let second = rig.bring("Bob", json!({}), json!({}));
    assert_eq!(rig.names(second), ["+initialize", "+attach", "+configurationDone"]);
    rig.tell(node, "initialized", json!({}));
    assert_eq!(rig.names(second), ["initialized"]);
    assert_eq!(
        rig.engine_names(node),
        ["?launch"],
        "whoever joins does not end the launcher's configuration"
    );
    let set = rig.ask_lines(first, &[3]);
    let request = rig.got(node, "setBreakpoints");
    rig.agree(node, &request);
    rig.response(first, set);
    rig.request(first, "configurationDone", json!({}));
    let done = rig.got(node, "configurationDone");
    rig.answer(node, &done, json!({}));
    rig.request(second, "disconnect", json!({}));
    rig.finish(first, node);
}

#[test]
fn one_who_comes_while_the_engine_starts_is_answered_with_the_launcher() {
    let mut rig = Rig::new();
    let first = rig.join();
    rig.request(first, "initialize", json!({"adapterID": "python"}));
    rig.request(first, "launch", json!({"program": "x.py"}));
    let second = rig.join_late();
    rig.request(second, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up(node);
    rig.tell(node, "output", json!({"output": "hello"}));
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    assert_eq!(
        (rig.names(first), rig.names(second)),
        (vec!["+initialize".into(), "output".into()], vec!["+initialize".into()])
    );
    rig.tell(node, "initialized", json!({}));
    assert_eq!(
        (rig.names(first), rig.names(second)),
        (vec!["initialized".into()], vec!["initialized".into()])
    );
    rig.request(second, "attach", json!({}));
    rig.request(second, "disconnect", json!({}));
    rig.finish(first, node);
}

#[test]
fn if_the_launcher_dies_before_it_configured_the_next_clients_word_counts_once() {
    for done_before in [false, true] {
        let (mut rig, first, node) = Rig::initialized();
        rig.request(first, "launch", json!({"program": "x.py"}));
        rig.tell(node, "initialized", json!({}));
        let second = rig.join_late();
        rig.request(second, "initialize", json!({"adapterID": "python"}));
        rig.request(second, "attach", json!({}));
        if done_before {
            rig.request(second, "configurationDone", json!({}));
        }
        rig.lose(first);
        if !done_before {
            rig.request(second, "configurationDone", json!({}));
        }
        assert_eq!(rig.engine_names(node), ["?launch", "?configurationDone"]);
        // The engine's number of it, which is its third message.
        rig.answer(node, &json!({"seq": 3, "command": "configurationDone"}), json!({}));
        rig.stop(node, 1);
        let names = rig.names(second);
        assert_eq!(names.last().unwrap(), "stopped", "it was shown everything: {names:?}");
        rig.finish(second, node);
    }
}

#[test]
fn an_engine_that_was_configured_is_not_configured_again_by_the_launchers_heir() {
    let (mut rig, first, node) = Rig::running();
    let second = rig.join_late();
    rig.request(second, "initialize", json!({"adapterID": "python"}));
    rig.lose(first);
    rig.request(second, "attach", json!({}));
    rig.request(second, "configurationDone", json!({}));
    assert!(rig.engine_heard(node).is_empty());
    rig.stop(node, 1);
    rig.event(second, "stopped");
    rig.finish(second, node);
}

#[test]
fn one_who_only_connected_before_the_launcher_left_can_still_join() {
    let (mut rig, first, node) = Rig::running();
    let third = rig.bring("Bob", json!({}), json!({}));
    let second = rig.join_late();
    rig.lose(first);
    rig.request(second, "initialize", json!({"adapterID": "python"}));
    let attach = rig.request(second, "attach", json!({}));
    assert_eq!(rig.response(second, attach)["success"], true);
    rig.request(second, "configurationDone", json!({}));
    rig.request(second, "disconnect", json!({}));
    rig.finish(third, node);
}

#[test]
fn without_configuration_done_in_the_capabilities_attach_alone_completes_a_joiner() {
    let (mut rig, first, node) = Rig::running_with(json!({}), json!({}));
    rig.tell(node, "capabilities", json!({"capabilities": {"supportsConfigurationDoneRequest": true}}));
    rig.stop(node, 1);
    let second = rig.join_late();
    rig.request(second, "initialize", json!({"adapterID": "python"}));
    rig.request(second, "attach", json!({}));
    assert_eq!(rig.names(second), ["+initialize", "initialized", "+attach", "capabilities", "stopped"]);
    rig.request(second, "disconnect", json!({}));
    rig.finish(first, node);
}

#[test]
fn a_session_that_ends_while_somebody_joins_is_refused_or_shown_with_its_end() {
    let (mut rig, _, node) = Rig::running();
    let attached = rig.join_late();
    rig.request(attached, "initialize", json!({"adapterID": "python"}));
    rig.request(attached, "attach", json!({}));
    let early = rig.join_late();
    rig.request(early, "initialize", json!({"adapterID": "python"}));
    let unspoken = rig.join();
    rig.tell(node, "output", json!({"output": "last words"}));
    rig.heard(attached);
    // Whoever only has to say that it is configured is taken as one who did.
    let done = rig.request(attached, "configurationDone", json!({}));
    rig.response(attached, done);
    rig.node_ended(node, "signal 11", "");
    assert_eq!(rig.names(attached), ["output", "output", "terminated"]);
    let attach = rig.request(early, "attach", json!({}));
    assert_eq!(rig.refusal(early, attach).0, 9008);
    let initialize = rig.request(unspoken, "initialize", json!({}));
    assert_eq!(rig.refusal(unspoken, initialize).0, 9008);
    rig.assert_nothing_owed();
}

#[test]
fn one_who_attached_but_did_not_configure_hears_of_the_end() {
    for says_it in [false, true] {
        let (mut rig, _, node) = Rig::running();
        let second = rig.join();
        rig.request(second, "initialize", json!({"adapterID": "python"}));
        rig.request(second, "attach", json!({}));
        rig.node_ended(node, "exit code 0", "");
        if says_it {
            rig.request(second, "configurationDone", json!({}));
        }
        rig.event(second, "terminated");
    }
}

#[test]
fn launch_of_a_live_session_is_refused_unless_it_would_rather_join() {
    let (mut rig, first, node) = Rig::running();
    let second = rig.join_late();
    rig.request(second, "initialize", json!({"adapterID": "python"}));
    let launch = rig.request(second, "launch", json!({"program": "x.py"}));
    assert_eq!(rig.refusal(second, launch).0, 9005);
    let launch = rig.request(second, "launch", json!({"breakroom": {"ifRunning": "join"}}));
    assert_eq!(rig.response(second, launch)["success"], true);
    assert!(rig.engine_heard(node).is_empty());
    rig.request(second, "disconnect", json!({}));
    rig.finish(first, node);
}

#[test]
fn a_client_that_names_another_session_goes_there_under_its_own_numbers() {
    let (mut there, first, node) = Rig::at_a_stop();
    let mut here = Rig::new();
    let client = here.join();
    here.request(client, "initialize", json!({"clientName": "Bob"}));
    assert_eq!(here.names(client), ["+initialize"]);
    here.request(client, "attach", json!({"breakroom": {"session": "abcd"}}));
    assert_eq!(here.moves, [(client, "abcd".to_owned())]);
    let (side, traveller) = here.depart(client);
    assert!(here.session.is_over(), "nothing is left where it came from");
    let second = there.arrive(side, traveller);
    assert_eq!(there.names(second), ["capabilities", "initialized", "+attach"]);
    there.request(second, "configurationDone", json!({}));
    assert_eq!(there.names(second), ["+configurationDone", "stopped"]);
    assert!(there.engine_heard(node).is_empty());
    there.request(second, "disconnect", json!({}));
    there.finish(first, node);
}

#[test]
fn a_session_that_is_not_there_refuses_the_attach_and_the_client_may_go_on() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({}));
    let attach = rig.request(client, "attach", json!({"breakroom": {"session": "abcd"}}));
    rig.on(Input::MoveRefused { client, reason: "there is no session `abcd`".into() });
    assert_eq!(rig.refusal(client, attach), (9018, "there is no session `abcd`".into()));
    rig.request(client, "launch", json!({"type": "python", "program": "x.py"}));
    assert_eq!(rig.started.len(), 1);
}

#[test]
fn a_client_that_names_its_own_session_is_told_that_there_is_nothing_yet_and_may_go_on() {
    let (mut rig, client, node) = Rig::initialized();
    let attach = rig.request(client, "attach", json!({"breakroom": {"session": "abcd"}}));
    assert!(rig.session.is_moving(client));
    rig.on(Input::AlreadyHere { client });
    assert!(!rig.session.is_moving(client));
    let (number, text) = rig.refusal(client, attach);
    assert!(number == 9004 && text.contains("already"), "{text}");
    assert!(rig.engine_heard(node).is_empty(), "its engine is not ended for that");
    rig.start(client, node, "launch");
    rig.finish(client, node);
}

#[test]
fn a_client_that_names_its_own_session_joins_what_somebody_started_there_meanwhile() {
    let mut rig = Rig::new();
    let (first, second) = (rig.join(), rig.join());
    for client in [first, second] {
        rig.request(client, "initialize", json!({}));
    }
    let attach = rig.request(second, "attach", json!({"breakroom": {"session": "abcd"}}));
    rig.request(first, "launch", json!({"type": "python", "program": "x.py"}));
    rig.on(Input::AlreadyHere { client: second });
    assert_eq!(rig.response(second, attach)["success"], true);
}

#[test]
fn what_happens_while_a_slow_joiner_does_not_read_reaches_it_behind_its_picture() {
    let (mut rig, first, node) = Rig::at_a_stop();
    let second = rig.join_late();
    rig.stall_client(second);
    rig.request(second, "initialize", json!({"adapterID": "python"}));
    rig.request(second, "attach", json!({}));
    rig.request(second, "configurationDone", json!({}));
    rig.round_trip(first, node, "continue", json!({"threadId": 1}), json!({}));
    rig.stop(node, 1);
    rig.read_on(second);
    let names = rig.names(second);
    assert_eq!(names[4..], ["stopped", "continued", "stopped"]);
    rig.request(second, "disconnect", json!({}));
    rig.finish(first, node);
}

#[test]
fn whoever_brings_the_token_joins_as_well() {
    let (mut rig, tess, node) = Rig::running();
    let stranger = rig.join_as(Access::NeedsToken(Token::new(TOKEN.as_bytes())));
    rig.request(stranger, "initialize", json!({"adapterID": "python"}));
    rig.stop(node, 1);
    assert_eq!(rig.names(stranger), ["+initialize"], "before it has proved whose it is it hears nothing");
    let attach = rig.request(stranger, "attach", json!({"breakroom": {"token": TOKEN}}));
    assert_eq!(rig.response(stranger, attach)["success"], true);
    rig.request(stranger, "configurationDone", json!({}));
    assert_eq!(rig.event(stranger, "stopped")["body"]["threadId"], 1);
    rig.request(stranger, "disconnect", json!({}));
    rig.finish(tess, node);
}

#[test]
fn a_connection_without_the_token_keeps_no_program_alive() {
    let (mut rig, tess, node) = Rig::running();
    let stranger = rig.join_as(Access::NeedsToken(Token::new(TOKEN.as_bytes())));
    rig.request(stranger, "initialize", json!({"adapterID": "python"}));
    rig.lose(tess);
    rig.got(node, "disconnect");
}

#[test]
fn one_who_waited_for_the_debuggee_is_not_told_twice_what_it_heard_meanwhile() {
    let (mut rig, tess, node) = Rig::initialized();
    rig.tell(node, "output", json!({"output": "before bob"}));
    let bob = rig.join();
    rig.request(bob, "initialize", json!({"adapterID": "python"}));
    rig.tell(node, "output", json!({"output": "with bob"}));
    rig.request(tess, "launch", json!({"program": "x.py"}));
    rig.request(bob, "attach", json!({}));
    rig.tell(node, "output", json!({"output": "as bob joins"}));
    rig.tell(node, "initialized", json!({}));
    rig.request(bob, "configurationDone", json!({}));
    let heard = rig.heard(bob);
    let outputs = heard.iter().filter(|heard| heard.name() == "output");
    let mut texts: Vec<_> = outputs.map(|heard| heard.json["body"]["output"].clone()).collect();
    texts.sort_by_key(|text| text.to_string());
    assert_eq!(texts, ["as bob joins", "before bob", "with bob"]);
}

#[test]
fn one_who_heard_of_a_stop_before_it_joined_does_not_believe_in_it_for_ever() {
    let (mut rig, tess, node) = Rig::initialized();
    let bob = rig.join();
    rig.request(bob, "initialize", json!({"adapterID": "python"}));
    rig.request(tess, "launch", json!({"program": "x.py"}));
    rig.stop(node, 1);
    rig.request(bob, "attach", json!({}));
    rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true}));
    rig.tell(node, "initialized", json!({}));
    rig.request(bob, "configurationDone", json!({}));
    let names = rig.names(bob);
    let runs: Vec<_> = names.iter().filter(|name| ["stopped", "continued"].contains(&&***name)).collect();
    assert_eq!(runs, ["stopped", "continued"]);
}

#[test]
fn one_who_was_initialized_before_the_launch_attaches_after_it_once() {
    let (mut rig, tess, node) = Rig::initialized();
    let bob = rig.join();
    rig.request(bob, "initialize", json!({"clientName": "Bob", "adapterID": "python"}));
    rig.start(tess, node, "launch");
    rig.heard(bob);
    let seq = rig.request(bob, "attach", json!({}));
    assert_eq!(rig.response(bob, seq)["success"], true);
    rig.stop(node, 1);
    rig.event(bob, "stopped");
    let again = rig.request(bob, "attach", json!({}));
    assert_eq!(rig.refusal(bob, again).0, 9005);
}
