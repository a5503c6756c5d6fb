//! Several nodes as one session.

use breakroom_session::habits::Part;
use breakroom_session::{EngineFacts, Stdin};
use serde_json::{Value, json};

use super::super::rig::{Rig, setup};
use super::stage::{facts, js_capabilities};

fn ids(answer: &Value) -> Vec<(i64, String)> {
    let list = answer["body"]["threads"].as_array().unwrap().iter();
    list.map(|thread| (thread["id"].as_i64().unwrap(), thread["name"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn with_one_debugging_node_everything_is_as_with_one_engine() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (child, thread) = rig.js_child(tess, root, "a.js");
    rig.tell(
        child,
        "stopped",
        json!({"reason": "pause", "threadId": 0, "allThreadsStopped": true, "description": "Paused"}),
    );
    let stopped = rig.event(tess, "stopped")["body"].clone();
    assert_eq!(
        stopped,
        json!({"reason": "pause", "threadId": thread, "allThreadsStopped": true, "description": "Paused"})
    );
    let threads =
        rig.round_trip(tess, child, "threads", json!({}), json!({"threads": [{"id": 0, "name": "main"}]}));
    assert_eq!(ids(&threads), [(thread, "main".to_owned())]);
    let resumed = rig.round_trip(
        tess,
        child,
        "continue",
        json!({"threadId": thread}),
        json!({"allThreadsContinued": true}),
    );
    assert_eq!(resumed["body"], json!({"allThreadsContinued": true}));
    rig.tell(child, "continued", json!({"threadId": 0, "allThreadsContinued": true}));
    assert_eq!(
        rig.event(tess, "continued")["body"],
        json!({"threadId": thread, "allThreadsContinued": true})
    );
}

#[test]
fn a_stop_of_one_node_says_whose_it_is_and_stops_no_other() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (a, one) = rig.js_child(tess, root, "a.js");
    rig.js_child(tess, root, "b.js");
    rig.tell(a, "stopped", json!({"reason": "exception", "threadId": 0, "allThreadsStopped": true, "description": "Paused on exception", "text": "boom"}));
    let body = rig.event(tess, "stopped")["body"].clone();
    assert_eq!((body["threadId"].as_i64(), &body["allThreadsStopped"]), (Some(one), &json!(false)));
    assert_eq!(body["description"], "Paused on exception [a.js]");
    assert_eq!(body["text"], "boom");
}

#[test]
fn threads_that_stop_with_another_are_told_one_by_one_behind_it() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, one) = rig.python_child(tess, root, 7);
    let two = rig.start_thread(tess, child, 2);
    rig.tell(child, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    let heard = rig.heard(tess);
    let told: Vec<_> = heard.iter().map(|heard| heard.json["body"]["threadId"].as_i64().unwrap()).collect();
    assert_eq!(told, [one, two]);
    assert_eq!(heard[1].json["body"]["preserveFocusHint"], true);
    assert!(heard.iter().all(|heard| heard.json["body"]["allThreadsStopped"] == false));
    // A second stop of the same node tells nobody what it knows.
    rig.tell(child, "stopped", json!({"reason": "breakpoint", "threadId": 2, "allThreadsStopped": true}));
    assert_eq!(rig.names(tess), ["stopped"]);
}

/// A child process of Python has a thread that feeds its queue, which stops with every step.
#[test]
fn the_first_stop_after_a_step_is_that_of_the_thread_that_was_stepped() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, one) = rig.python_child(tess, root, 7);
    rig.tell(child, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    rig.heard(tess);
    rig.round_trip(tess, child, "next", json!({"threadId": one}), json!({}));
    let feeder = rig.start_thread(tess, child, 2);
    rig.tell(child, "stopped", json!({"reason": "step", "threadId": 1, "allThreadsStopped": true}));
    let heard = rig.heard(tess);
    let stops = heard.iter().filter(|heard| heard.json["event"] == "stopped");
    let told: Vec<_> =
        stops.map(|heard| (&heard.json["body"]["threadId"], &heard.json["body"]["reason"])).collect();
    assert_eq!(told, [(&json!(one), &json!("step")), (&json!(feeder), &json!("pause"))]);
}

#[test]
fn a_resume_is_about_the_node_of_its_thread_and_names_each_thread_that_goes_on() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    rig.start_thread(tess, root, 1);
    let (child, one) = rig.python_child(tess, root, 7);
    let two = rig.start_thread(tess, child, 2);
    let bob = rig.visitor("Bob", json!({}), json!({}));
    rig.watch_runs();
    rig.tell(root, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    rig.tell(child, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    rig.heard(tess);
    rig.heard(bob);
    let answer = rig.round_trip(
        tess,
        child,
        "continue",
        json!({"threadId": one}),
        json!({"allThreadsContinued": true}),
    );
    assert_eq!(answer["body"], json!({"allThreadsContinued": false}));
    let threads = |rig: &mut Rig, client| {
        let each = |heard: &super::super::rig::Heard| {
            assert_eq!(
                (&heard.json["event"], &heard.json["body"]["allThreadsContinued"]),
                (&json!("continued"), &json!(false))
            );
            heard.json["body"]["threadId"].as_i64().unwrap()
        };
        let mut told: Vec<_> = rig.heard(client).iter().map(each).collect();
        told.sort();
        told
    };
    assert_eq!(threads(&mut rig, tess), [two], "of its own it knows by the answer");
    let mut both = [one, two];
    both.sort();
    assert_eq!(threads(&mut rig, bob), both);
    assert!(rig.engine_names(root).is_empty(), "the root stays stopped");
    assert_eq!(rig.session.describe().state, "stopped");
    // The engine's own word about it is no news.
    rig.tell(child, "continued", json!({"threadId": 1, "allThreadsContinued": true}));
    assert_eq!(rig.names(bob), Vec::<String>::new());
    let told = rig.event(tess, "continued");
    assert_eq!(told["body"], json!({"threadId": one, "allThreadsContinued": false}));
}

#[test]
fn an_answer_that_says_nothing_of_other_threads_is_made_to() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (a, one) = rig.js_child(tess, root, "a.js");
    rig.js_child(tess, root, "b.js");
    for body in [json!({}), Value::Null] {
        rig.stop_alone(a, 0, "breakpoint");
        let seq = rig.request(tess, "continue", json!({"threadId": one}));
        let request = rig.got(a, "continue");
        if body.is_null() {
            let bare = json!({"seq": 900, "type": "response", "request_seq": request["seq"], "command": "continue", "success": true});
            rig.engine(a, bare.to_string());
        } else {
            rig.answer(a, &request, body);
        }
        let answer = rig.response(tess, seq);
        assert_eq!(
            (&answer["success"], &answer["body"]["allThreadsContinued"]),
            (&json!(true), &json!(false))
        );
    }
}

#[test]
fn threads_are_those_of_all_nodes_each_with_the_name_of_its_own() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    let seq = rig.request(tess, "threads", json!({}));
    let asked = [rig.got(root, "threads"), rig.got(child, "threads")];
    rig.answer(
        child,
        &asked[1],
        json!({"threads": [{"id": 1, "name": "MainThread", "x": 12345678901234567890u64}]}),
    );
    assert!(!rig.has_answer(tess, seq));
    rig.answer(root, &asked[0], json!({"threads": [{"id": 1, "name": "MainThread"}, {"id": 2, "name": ""}]}));
    let answer = rig.response(tess, seq);
    let names: Vec<_> = ids(&answer).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["MainThread [the program]", "[the program]", "MainThread [Subprocess 7]"]);
    assert_eq!(
        answer["body"]["threads"][2]["x"], 12345678901234567890u64,
        "what the engine says more is kept"
    );
}

#[test]
fn threads_that_become_known_in_a_stop_are_told_to_be_stopped() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, _) = rig.python_child(tess, root, 7);
    rig.tell(root, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    rig.heard(tess);
    rig.request(tess, "threads", json!({}));
    let asked = [rig.got(root, "threads"), rig.got(child, "threads")];
    rig.answer(root, &asked[0], json!({"threads": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}));
    rig.answer(child, &asked[1], json!({"threads": [{"id": 1, "name": "a"}]}));
    assert_eq!(rig.names(tess), ["+threads", "stopped"]);
}

#[test]
fn a_node_that_will_not_list_its_threads_or_ends_does_not_keep_the_answer() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    let (child, one) = rig.python_child(tess, root, 7);
    let (other, _) = rig.python_child(tess, root, 8);
    let seq = rig.request(tess, "threads", json!({}));
    let asked = [rig.got(root, "threads"), rig.got(child, "threads")];
    rig.answer(root, &asked[0], json!({"threads": [{"id": 1, "name": "a"}]}));
    rig.fail(child, &asked[1], "busy");
    rig.closes(other);
    let answer = rig.response(tess, seq);
    assert_eq!(ids(&answer)[1].0, one, "what is known of it");
    assert_eq!(ids(&answer).len(), 2);
    let seq = rig.request(tess, "threads", json!({}));
    let cancelled = rig.request(tess, "cancel", json!({"requestId": seq}));
    rig.refusal(tess, seq);
    assert_eq!(rig.response(tess, cancelled)["success"], true);
    rig.request(tess, "threads", json!({}));
    rig.on(breakroom_session::Input::Shutdown { reason: "the hub ends".into() });
    rig.assert_nothing_owed();
}

#[test]
fn a_child_that_ends_takes_its_threads_along_and_nothing_else() {
    for how in ["terminated", "closes", "crashes"] {
        let (mut rig, tess, root) = Rig::python(setup(), json!({}));
        let (child, one) = rig.python_child(tess, root, 7);
        let two = rig.start_thread(tess, child, 2);
        rig.stop_alone(child, 1, "breakpoint");
        rig.heard(tess);
        rig.tell(child, "exited", json!({"exitCode": 3}));
        match how {
            "terminated" => {
                rig.tell(child, "terminated", json!({}));
                let disconnect = rig.got(child, "disconnect");
                rig.answer(child, &disconnect, json!({}));
                assert_eq!(rig.stopped[0].0, child);
                rig.closes(child);
            }
            "closes" => rig.closes(child),
            _ => rig.node_ended(child, "signal 11", "segfault"),
        }
        let heard = rig.heard(tess);
        let mut exited: Vec<_> = heard
            .iter()
            .filter(|heard| heard.json["event"] == "thread")
            .map(|heard| heard.json["body"]["threadId"].as_i64().unwrap())
            .collect();
        exited.sort();
        let mut both = [one, two];
        both.sort();
        assert_eq!(exited, both, "{how}");
        let others: Vec<_> = heard.iter().filter(|heard| heard.json["event"] != "thread").collect();
        match how {
            "crashes" => {
                assert!(others[0].text().contains("Subprocess 7") && others[0].text().contains("signal 11"))
            }
            _ => assert!(others.is_empty(), "{how}: {others:?}"),
        }
        assert_eq!(rig.session.describe().nodes, 1);
        rig.finish(tess, root);
    }
}

#[test]
fn a_late_joiner_is_shown_every_node_with_the_one_that_stopped_last_at_the_end() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    rig.start_thread(tess, root, 1);
    let (a, one) = rig.python_child(tess, root, 7);
    let (b, two) = rig.python_child(tess, root, 8);
    for node in [root, b, a] {
        rig.tell(
            node,
            "module",
            json!({"reason": "new", "module": {"id": format!("m{}", node.0), "name": "m"}}),
        );
        rig.tell(node, "output", json!({"category": "stdout", "output": format!("{}\n", node.0)}));
        rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    }
    let seen = |rig: &mut Rig, client| -> Vec<Value> {
        let events = rig.heard(client).into_iter().filter(|heard| heard.json["type"] == "event");
        events.map(|heard| json!([heard.json["event"], heard.json["body"]])).collect()
    };
    let live = seen(&mut rig, tess);
    let bob = rig.join_late();
    rig.request(bob, "initialize", json!({"clientName": "Bob", "adapterID": "python"}));
    rig.request(bob, "attach", json!({}));
    rig.request(bob, "configurationDone", json!({}));
    let late = seen(&mut rig, bob);
    let of = |events: &[Value], name: &str| {
        events.iter().filter(|event| event[0] == name).cloned().collect::<Vec<_>>()
    };
    assert_eq!(of(&late, "output"), of(&live, "output"));
    assert_eq!(of(&late, "stopped"), of(&live, "stopped"));
    assert_eq!(of(&late, "thread").len(), 3);
    assert_eq!(of(&late, "module").len(), 3);
    let stopped: Vec<_> =
        of(&late, "stopped").iter().map(|stop| stop[1]["threadId"].as_i64().unwrap()).collect();
    assert_eq!(stopped, [1, two, one]);
}

#[test]
fn two_clients_step_in_two_nodes_at_once() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (a, one) = rig.js_child(tess, root, "a.js");
    let (b, two) = rig.js_child(tess, root, "b.js");
    let bob = rig.visitor("Bob", json!({}), json!({}));
    rig.stop_alone(a, 0, "breakpoint");
    rig.stop_alone(b, 0, "breakpoint");
    rig.request(tess, "next", json!({"threadId": one}));
    rig.request(bob, "next", json!({"threadId": two}));
    for node in [a, b] {
        let next = rig.got(node, "next");
        rig.answer(node, &next, json!({}));
        rig.stop_alone(node, 0, "step");
    }
    let seq = rig.request(tess, "next", json!({"threadId": two}));
    rig.got(b, "next");
    assert!(!rig.has_answer(tess, seq));
}

#[test]
fn what_a_program_writes_only_because_it_is_debugged_is_told_to_nobody() {
    let chatter = vec!["Debugger attached.".to_owned()];
    let mut rig = Rig::with(setup());
    let engine = EngineFacts { chatter, ..facts(Part::Coordinates) };
    let (tess, root) = rig.launch_with(engine, js_capabilities(), json!({}));
    for text in ["Debugger attached.\n", "Debugger attached.\nmine\n", "mine\n"] {
        rig.tell(root, "output", json!({"category": "stderr", "output": text}));
    }
    // What the program prints itself is its own, whatever it says.
    rig.tell(root, "output", json!({"category": "stdout", "output": "Debugger attached.\n"}));
    let told: Vec<_> = rig.heard(tess).iter().map(|heard| heard.json["body"]["output"].clone()).collect();
    assert_eq!(told, ["Debugger attached.\nmine\n", "mine\n", "Debugger attached.\n"]);
}

#[test]
fn input_goes_to_the_program_that_is_meant_and_to_no_other() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (one, first) = rig.js_child(tess, root, "a.js");
    let (two, _) = rig.js_child(tess, root, "b.js");
    let (deaf, third) = rig.js_child(tess, root, "c.js");
    let goes_to = |rig: &mut Rig, arguments: Value| {
        let seq = rig.request(tess, "breakroom/input", arguments);
        let heard = [one, two, deaf].map(|node| rig.engine_names(node).join(" ").contains("input"));
        match heard.iter().position(|heard| *heard) {
            Some(at) => Ok(at),
            None => Err(rig.refusal(tess, seq).1),
        }
    };
    let can = json!({"capabilities": {"supportsBreakroomInput": true}});
    rig.tell(one, "capabilities", can.clone());
    rig.stop_alone(deaf, 0, "breakpoint");
    assert_eq!(goes_to(&mut rig, json!({"text": "x"})), Ok(0), "the only one that takes any");
    rig.tell(two, "capabilities", can);
    let refused = goes_to(&mut rig, json!({"text": "x"})).unwrap_err();
    assert!(refused.contains("a.js") && refused.contains("b.js") && !refused.contains("c.js"), "{refused}");
    rig.stop_alone(two, 0, "breakpoint");
    assert_eq!(goes_to(&mut rig, json!({"text": "x"})), Ok(1));
    assert_eq!(goes_to(&mut rig, json!({"text": "x", "threadId": first})), Ok(0));
    let refused = goes_to(&mut rig, json!({"text": "x", "threadId": third})).unwrap_err();
    assert!(refused.contains("c.js"), "a thread that is named decides: {refused}");
    rig.request(tess, "breakroom/focus", json!({"node": one.0}));
    assert_eq!(goes_to(&mut rig, json!({"text": "x"})), Ok(0), "what the client chose itself");
}

/// js-debug itself debugs nothing: what the program reads is the root's, and its threads are a child's.
#[test]
fn input_for_a_thread_of_the_program_that_was_launched_is_the_roots_and_no_other_threads() {
    let mut rig = Rig::with(setup());
    let engine = EngineFacts { stdin: Stdin::Hubs, ..facts(Part::Coordinates) };
    let declared = json!({"supportsBreakroomInput": true});
    let (tess, root) = rig.launch_with(engine, js_capabilities(), declared);
    let (_, first) = rig.js_child(tess, root, "a.js");
    let (_, forked) = rig.js_child(tess, root, "b.js");
    rig.request(tess, "breakroom/input", json!({"text": "x", "threadId": first}));
    assert_eq!(rig.given.last().map(|(_, node, text, _)| (*node, text.as_str())), Some((root, "x")));
    let refused = rig.request(tess, "breakroom/input", json!({"text": "x", "threadId": forked}));
    assert!(rig.refusal(tess, refused).1.contains("b.js"));
    assert_eq!(rig.given.len(), 1);
}

#[test]
fn a_browser_is_given_nothing_to_read() {
    let mut rig = Rig::with(setup());
    let no_input = vec!["pwa-chrome".to_owned()];
    let engine = EngineFacts { stdin: Stdin::Hubs, no_input, ..facts(Part::Coordinates) };
    let declared = json!({"supportsBreakroomInput": true});
    let launch = json!({"type": "pwa-chrome"});
    let (tess, _) = rig.launch_as(engine, js_capabilities(), declared, launch);
    let refused = rig.request(tess, "breakroom/input", json!({"text": "x"}));
    assert!(rig.refusal(tess, refused).1.contains("input"));
    assert!(rig.given.is_empty() && rig.input_ended.is_empty());
}

#[test]
fn what_an_engine_has_no_name_for_is_called_as_its_session_is() {
    let mut rig = Rig::with(setup());
    let unnamed = vec!["Remote Process [0]".to_owned()];
    let engine = EngineFacts { unnamed, ..facts(Part::Coordinates) };
    let launch = json!({"breakroom": {"name": "spin.js"}});
    let (tess, root) = rig.launch_as(engine.clone(), js_capabilities(), json!({}), launch);
    let (child, _) = rig.announce_js(root, "Remote Process [0]");
    // It is on its parent's server, and so are its habits its parent's.
    rig.child_runs_with(child, EngineFacts { part: Part::Debugs, ..engine });
    let thread = rig.start_thread(tess, child, 0);
    let names = json!({"threads": [{"id": 0, "name": "Remote Process [0]"}]});
    let threads = rig.round_trip(tess, child, "threads", json!({}), names);
    assert_eq!(ids(&threads), [(thread, "spin.js".to_owned())]);
}
