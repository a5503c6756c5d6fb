//! Steps of a program that was paused in a library: to the next line of the frame that people are shown.

use breakroom_session::habits::{Libraries, Pauses};
use breakroom_session::{ClientId, FileId, NodeId, Setup};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::{Rig, capabilities, setup};

/// Only the program's own file is on this machine.
fn identify(path: &str) -> Option<FileId> {
    (path == "/x.c" || path.ends_with(".go")).then_some(FileId { device: 1, inode: 1 })
}

/// The files of a stack, from the innermost frame on. The engine says of those with a `?` that they are subtle.
fn stack(files: &[&str]) -> Value {
    let frame = |(at, file): (usize, &&str)| {
        let hint = if file.starts_with('?') { "subtle" } else { "normal" };
        let path = file.trim_start_matches('?');
        json!({"id": at, "name": "f", "line": 3, "column": 1, "source": {"path": path}, "presentationHint": hint})
    };
    json!({"stackFrames": files.iter().enumerate().map(frame).collect::<Vec<_>>()})
}

/// A program that runs and was asked to pause.
fn pausing() -> (Rig, ClientId, NodeId) {
    let mut rig = Rig::with(Setup { identify: Some(identify), ..setup() });
    let client = rig.join();
    rig.request(client, "initialize", json!({"adapterID": "python"}));
    let node = rig.started[0].0;
    rig.node_up_with(
        node,
        facts_with(|facts| {
            facts.running.pauses = Pauses::Inside;
            let parts = vec!["/pkg/mod/".to_owned()];
            facts.running.libraries = Libraries { parts, beside: Some("/runtime/".to_owned()) };
        }),
    );
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.start(client, node, "launch");
    rig.round_trip(client, node, "pause", json!({"threadId": 1}), json!({}));
    (rig, client, node)
}

/// A program that was paused, with these files in its stack.
fn paused(files: &[&str]) -> (Rig, ClientId, NodeId) {
    let (mut rig, client, node) = pausing();
    rig.tell(node, "stopped", json!({"reason": "pause", "threadId": 1, "allThreadsStopped": true}));
    rig.event(client, "stopped");
    let asked = rig.got(node, "stackTrace");
    rig.answer(node, &asked, stack(files));
    (rig, client, node)
}

/// The program stops on its way out, in this file and line.
fn comes_to(rig: &mut Rig, node: NodeId, file: &str, line: i64) {
    stops(rig, node, "step");
    let asked = rig.got(node, "stackTrace");
    assert_eq!(asked["arguments"], json!({"threadId": 1, "startFrame": 0, "levels": 1}));
    let frame = json!({"id": 9, "name": "f", "line": line, "column": 1, "source": {"path": file}});
    rig.answer(node, &asked, json!({"stackFrames": [frame]}));
}

fn resume(rig: &mut Rig, client: ClientId, node: NodeId, arguments: Value) -> String {
    resume_by("next", rig, client, node, arguments)
}

fn resume_by(step: &str, rig: &mut Rig, client: ClientId, node: NodeId, arguments: Value) -> String {
    let seq = rig.request(client, step, arguments);
    let sent = rig.engine_heard(node).remove(0).json;
    rig.answer(node, &sent, json!({}));
    assert_eq!(rig.response(client, seq)["command"], step);
    sent["command"].as_str().unwrap().to_owned()
}

fn stops(rig: &mut Rig, node: NodeId, reason: &str) {
    rig.tell(node, "stopped", json!({"reason": reason, "threadId": 1, "allThreadsStopped": true}));
}

#[test]
fn a_step_after_a_pause_ends_at_the_next_line_of_the_frame_that_is_shown() {
    for step in ["next", "stepIn", "stepOut"] {
        let (mut rig, client, node) = paused(&["./sleep.c", "/rustc/sleep.rs", "/x.c", "/x.c"]);
        assert_eq!(resume_by(step, &mut rig, client, node, json!({"threadId": 1})), "stepOut");
        for (at, told) in ["stepOut", step].into_iter().enumerate() {
            comes_to(&mut rig, node, if at == 1 { "/x.c" } else { "./b.c" }, 3);
            let request = rig.got(node, told);
            assert_eq!(request["arguments"], json!({"threadId": 1}));
            rig.answer(node, &request, json!({}));
            rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true}));
            assert_eq!(rig.names(client), [] as [&str; 0], "nobody hears of it");
        }
        stops(&mut rig, node, "step");
        assert_eq!(rig.event(client, "stopped")["body"]["reason"], "step");
        assert_eq!(resume(&mut rig, client, node, json!({"threadId": 1})), "next", "the next one is plain");
        stops(&mut rig, node, "step");
        rig.event(client, "stopped");
        rig.finish(client, node);
    }
}

/// What is called may be the last of its line: then its end is the step's, and a step from there would pass over a line.
#[test]
fn a_step_that_comes_to_another_line_on_the_way_out_has_ended() {
    for step in ["next", "stepIn"] {
        let (mut rig, client, node) = paused(&["./sleep.c", "/x.c"]);
        assert_eq!(resume_by(step, &mut rig, client, node, json!({"threadId": 1})), "stepOut");
        comes_to(&mut rig, node, "/x.c", 4);
        let told = rig.event(client, "stopped");
        assert_eq!(told["body"], json!({"reason": "step", "threadId": 1, "allThreadsStopped": true}));
        rig.finish(client, node);
    }
}

/// lldb does that if it is told to avoid what it has no source of.
#[test]
fn an_engine_that_leaves_several_frames_at_once_is_led_no_further() {
    for (line, ends) in [(3, false), (4, true)] {
        let (mut rig, client, node) = paused(&["./a.c", "./b.c", "./c.c", "/x.c", "/x.c"]);
        resume(&mut rig, client, node, json!({"threadId": 1}));
        comes_to(&mut rig, node, "/x.c", line);
        if !ends {
            let request = rig.got(node, "next");
            rig.answer(node, &request, json!({}));
            stops(&mut rig, node, "step");
        }
        rig.event(client, "stopped");
        rig.finish(client, node);
    }
}

#[test]
fn a_pause_while_it_is_asked_where_the_way_out_has_ended_is_one_there() {
    let (mut rig, client, node) = paused(&["./sleep.c", "/x.c"]);
    resume(&mut rig, client, node, json!({"threadId": 1}));
    stops(&mut rig, node, "step");
    rig.got(node, "stackTrace");
    let seq = rig.request(client, "pause", json!({"threadId": 1}));
    rig.event(client, "stopped");
    assert_eq!(rig.response(client, seq)["success"], true);
    assert_eq!(rig.engine_names(node), [] as [&str; 0]);
    rig.finish(client, node);
}

/// Delve names no thread where none was doing anything.
#[test]
fn a_pause_that_names_no_thread_is_one_of_whichever_is_looked_at() {
    let (mut rig, client, node) = pausing();
    rig.tell(node, "stopped", json!({"reason": "pause", "allThreadsStopped": true}));
    rig.event(client, "stopped");
    for (thread, files) in [(7, &["/x.c"][..]), (1, &["./sleep.c", "/x.c"]), (1, &["./sleep.c", "/x.c"])] {
        let seq = rig.request(client, "stackTrace", json!({"threadId": thread}));
        let asked = rig.engine_heard(node);
        for asked in asked {
            assert_eq!(asked.json["arguments"]["threadId"], thread);
            rig.answer(node, &asked.json, stack(files));
        }
        rig.response(client, seq);
    }
    assert_eq!(resume(&mut rig, client, node, json!({"threadId": 1})), "stepOut");
    comes_to(&mut rig, node, "/x.c", 4);
    rig.event(client, "stopped");
    rig.finish(client, node);
}

#[test]
fn sources_of_libraries_are_not_the_programs_though_they_are_here() {
    let go = ["?/go/src/runtime/proc.go", "/go/src/time/sleep.go", "/p/pkg/mod/m/m.go", "/own/main.go"];
    for (files, first) in [
        (&go[..], "stepOut"),
        // Nothing of it is the program's.
        (&go[..3], "next"),
        // It is its own.
        (&["/own/runtime/main.go", "/own/main.go"], "next"),
    ] {
        let (mut rig, client, node) = paused(files);
        assert_eq!(resume(&mut rig, client, node, json!({"threadId": 1})), first, "{files:?}");
        for file in if first == "stepOut" { &go[1..3] } else { &[] } {
            comes_to(&mut rig, node, file, 3);
            let request = rig.got(node, "stepOut");
            rig.answer(node, &request, json!({}));
        }
        rig.finish(client, node);
    }
}

#[test]
fn where_the_program_itself_is_on_top_or_nowhere_a_step_is_left_alone() {
    for files in [&["/x.c", "./main.c"][..], &["./a.c", "./b.c"], &[]] {
        let (mut rig, client, node) = paused(files);
        assert_eq!(resume(&mut rig, client, node, json!({"threadId": 1})), "next");
        rig.finish(client, node);
    }
    let (mut rig, client, node) = paused(&["./a.c", "/x.c"]);
    let arguments = json!({"threadId": 1, "granularity": "instruction"});
    assert_eq!(resume(&mut rig, client, node, arguments), "next");
    rig.finish(client, node);
}

#[test]
fn whatever_else_stops_the_program_on_its_way_out_is_told() {
    for reason in ["breakpoint", "exception", "pause"] {
        let (mut rig, client, node) = paused(&["./a.c", "./b.c", "/x.c"]);
        resume(&mut rig, client, node, json!({"threadId": 1}));
        if reason == "pause" {
            rig.round_trip(client, node, "pause", json!({"threadId": 1}), json!({}));
        }
        stops(&mut rig, node, reason);
        assert_eq!(rig.event(client, "stopped")["body"]["reason"], reason);
        let heard = rig.engine_names(node);
        assert!(!heard.iter().any(|name| name == "stepOut" || name == "next"), "{heard:?}");
        rig.finish(client, node);
    }
}

/// A stop that the hub would judge otherwise: to let the program go on from it would be the end of the step.
#[test]
fn a_step_is_one_until_it_is_over_however_often_the_program_is_led_on() {
    for led in 0..3 {
        let (mut rig, client, node) = paused(&["./a.c", "./b.c", "/x.c"]);
        let other = rig.bring("Other", json!({}), json!({}));
        for (client, condition) in [(client, "a"), (other, "b")] {
            let breakpoints = json!([{"line": 3, "condition": condition}]);
            let wish = json!({"source": {"path": "/x.c"}, "breakpoints": breakpoints});
            let seq = rig.request(client, "setBreakpoints", wish);
            if !rig.has_answer(client, seq) {
                let request = rig.got(node, "setBreakpoints");
                rig.agree(node, &request);
            }
            rig.response(client, seq);
        }
        rig.heard(client);
        assert_eq!(resume(&mut rig, client, node, json!({"threadId": 1})), "stepOut");
        for told in ["stepOut", "next"].into_iter().take(led) {
            comes_to(&mut rig, node, if told == "next" { "/x.c" } else { "./b.c" }, 3);
            let request = rig.got(node, told);
            rig.answer(node, &request, json!({}));
        }
        let hit = json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true, "hitBreakpointIds": [103]});
        rig.tell(node, "stopped", hit);
        let told = rig.event(client, "stopped");
        assert_eq!(told["body"]["description"], "breakpoint; a step was under way", "led on {led} times");
        assert!(!rig.engine_names(node).contains(&"continue".into()));
    }
}

#[test]
fn a_step_of_one_thread_stays_one_of_that_thread() {
    let (mut rig, client, node) = paused(&["./a.c", "./b.c", "/x.c"]);
    let how = json!({"threadId": 1, "singleThread": true, "granularity": "statement", "theirs": [1]});
    assert_eq!(resume(&mut rig, client, node, how.clone()), "stepOut");
    for told in ["stepOut", "next"] {
        comes_to(&mut rig, node, if told == "next" { "/x.c" } else { "./b.c" }, 3);
        let request = rig.got(node, told);
        assert_eq!(request["arguments"], how);
        rig.answer(node, &request, json!({}));
        // The others stand where they stood, and what is known of them may be known already.
        let seq = rig.request(client, "stackTrace", json!({"threadId": 2}));
        if !rig.has_answer(client, seq) {
            let asked = rig.got(node, "stackTrace");
            rig.answer(node, &asked, json!({"stackFrames": []}));
        }
        assert_eq!(rig.response(client, seq)["success"], true);
    }
    stops(&mut rig, node, "step");
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "step");
    rig.finish(client, node);
}
