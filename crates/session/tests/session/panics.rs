//! Panics and aborts: filters of the hub's own, and stops that tell why the program gave up.

use breakroom_session::habits::{DyingWords, ExceptionStops, Panics};
use breakroom_session::{ClientId, EngineFacts, NodeId};
use serde_json::{Value, json};

use crate::engines::facts_with;
use crate::rig::Rig;

const FILTERS: &str = "setExceptionBreakpoints";
const FUNCTIONS: &str = "setFunctionBreakpoints";

fn words(from: &str, to: &str) -> DyingWords {
    DyingWords { from: vec![from.to_owned()], to: vec![to.to_owned()] }
}

fn facts() -> EngineFacts {
    let panics = Panics {
        filter: "panics".to_owned(),
        label: "On panic".to_owned(),
        function: "give_up".to_owned(),
        name: "panic".to_owned(),
        words: words("panicked at ", "note: "),
    };
    let exceptions = ExceptionStops::AreBreakpoints("C++ exception".to_owned());
    facts_with(|facts| {
        facts.raising.panics = Some(panics);
        facts.raising.aborts = words("terminate ", "#");
        facts.raising.exceptions = exceptions;
        facts.claims.answers = vec!["exceptionInfo".to_owned()];
    })
}

/// An engine whose program may be configured.
fn started() -> (Rig, ClientId, NodeId) {
    let (mut rig, client, node) = Rig::with_engine(facts());
    rig.request(client, "launch", json!({"program": "x"}));
    let launch = rig.got(node, "launch");
    rig.answer(node, &launch, json!({}));
    rig.tell(node, "initialized", json!({}));
    (rig, client, node)
}

/// What the engine hears of filters that its client wants, and of functions.
fn catch(rig: &mut Rig, client: ClientId, node: NodeId, filters: Value) -> (Value, Option<Value>) {
    let seq = rig.request(client, FILTERS, json!({"filters": filters}));
    let heard = rig.engine_heard(node);
    let of = |command: &str| heard.iter().find(|heard| heard.json["command"] == command);
    let told = of(FILTERS).expect("it is told its filters").json.clone();
    rig.answer(node, &told, json!({}));
    let functions = of(FUNCTIONS).map(|heard| heard.json.clone());
    if let Some(functions) = &functions {
        let count = functions["arguments"]["breakpoints"].as_array().unwrap().len();
        let list: Vec<_> = (0..count).map(|at| json!({"id": 70 + at, "verified": true})).collect();
        rig.answer(node, functions, json!({"breakpoints": list}));
    }
    rig.response(client, seq);
    let names = functions.map(|functions| functions["arguments"]["breakpoints"].clone());
    (told["arguments"]["filters"].clone(), names)
}

fn run(rig: &mut Rig, client: ClientId, node: NodeId) {
    rig.request(client, "configurationDone", json!({}));
    let done = rig.got(node, "configurationDone");
    rig.answer(node, &done, json!({}));
    rig.heard(client);
}

fn says(rig: &mut Rig, node: NodeId, text: &str) {
    rig.tell(node, "output", json!({"category": "stdout", "output": text}));
}

#[test]
fn a_filter_of_the_hubs_own_is_a_breakpoint_that_nobody_sees() {
    let (mut rig, client, node) = started();
    let (filters, functions) = catch(&mut rig, client, node, json!(["theirs", "panics"]));
    assert_eq!((filters, functions), (json!(["theirs"]), Some(json!([{"name": "give_up"}]))));
    let (_, functions) = catch(&mut rig, client, node, json!(["panics"]));
    assert_eq!(functions, None, "it has it already");
    run(&mut rig, client, node);
    says(&mut rig, node, "thread 'main' panicked at a.rs:2:5:\nno ");
    says(&mut rig, node, "beans\nnote: more\n");
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [70], "threadId": 1}));
    let why = "thread 'main' panicked at a.rs:2:5: no beans";
    let stop = json!({"reason": "exception", "description": why, "hitBreakpointIds": [], "threadId": 1});
    assert_eq!(rig.event(client, "stopped")["body"], stop);
    let seq = rig.request(client, "exceptionInfo", json!({"threadId": 1}));
    let asked = rig.got(node, "exceptionInfo");
    rig.answer(
        node,
        &asked,
        json!({"exceptionId": "exception", "description": "breakpoint 2.1", "breakMode": "always"}),
    );
    let info = rig.response(client, seq)["body"].clone();
    assert_eq!((&info["exceptionId"], &info["description"]), (&json!("panics"), &json!(why)));
    // What it said before is no reason for the next.
    rig.tell(node, "continued", json!({"threadId": 1}));
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [70], "threadId": 1}));
    assert_eq!(rig.event(client, "stopped")["body"]["description"], "panic");
    let (_, functions) = catch(&mut rig, client, node, json!([]));
    assert_eq!(functions, Some(json!([])), "it is switched off");
    rig.finish(client, node);
}

#[test]
fn the_filter_is_offered_with_those_of_the_engine() {
    for (said, offered) in [
        (json!({}), json!(["panics"])),
        (json!({"exceptionBreakpointFilters": []}), json!(["panics"])),
        (json!({"exceptionBreakpointFilters": [{"filter": "a"}]}), json!(["a", "panics"])),
        (json!({"exceptionBreakpointFilters": [{"filter": "panics"}]}), json!(["panics"])),
    ] {
        let mut rig = Rig::new();
        let client = rig.join();
        let seq = rig.request(client, "initialize", json!({"adapterID": "python"}));
        let node = rig.started[0].0;
        rig.node_up_with(node, facts());
        let asked = rig.got(node, "initialize");
        rig.answer(node, &asked, said);
        let answer = rig.response(client, seq);
        let filters = answer["body"]["exceptionBreakpointFilters"].as_array().unwrap().iter();
        assert_eq!(json!(filters.map(|filter| filter["filter"].clone()).collect::<Vec<_>>()), offered);
    }
}

#[test]
fn an_abort_is_told_with_what_the_program_said() {
    for (said, told) in [
        (
            json!({"reason": "exception", "description": "signal SIGABRT", "threadId": 1}),
            json!({"reason": "exception", "description": "signal SIGABRT: terminate by boom", "threadId": 1}),
        ),
        (
            json!({"reason": "SIGABRT", "threadId": 1}),
            json!({"reason": "exception", "description": "signal SIGABRT: terminate by boom", "threadId": 1}),
        ),
        (
            json!({"reason": "SIGSEGV", "threadId": 1}),
            json!({"reason": "exception", "description": "signal SIGSEGV", "threadId": 1}),
        ),
        (
            json!({"reason": "exception", "description": "signal SIGSEGV", "threadId": 1}),
            json!({"reason": "exception", "description": "signal SIGSEGV", "threadId": 1}),
        ),
    ] {
        let (mut rig, client, node) = started();
        run(&mut rig, client, node);
        says(&mut rig, node, "terminate by\n  boom\n");
        rig.tell(node, "stopped", said);
        assert_eq!(rig.event(client, "stopped")["body"], told);
        rig.finish(client, node);
    }
}

/// Those that were made in its console it announces.
#[test]
fn a_breakpoint_that_nobody_heard_of_is_an_exception_if_somebody_wants_them() {
    for (announced, filters, reason) in [
        (false, json!(["theirs"]), "exception"),
        (true, json!(["theirs"]), "breakpoint"),
        (false, json!([]), "breakpoint"),
        // The engine was never told this one.
        (false, json!(["panics"]), "breakpoint"),
    ] {
        let (mut rig, client, node) = started();
        catch(&mut rig, client, node, filters);
        run(&mut rig, client, node);
        if announced {
            rig.tell(node, "breakpoint", json!({"reason": "new", "breakpoint": {"id": 9, "verified": true}}));
        }
        rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [9], "threadId": 1}));
        assert_eq!(rig.event(client, "stopped")["body"]["reason"], reason);
        rig.finish(client, node);
    }
}

/// The engine may stop at it before it has said under which number it has it.
#[test]
fn a_stop_before_the_answer_to_a_breakpoint_is_no_exception() {
    let (mut rig, client, node) = started();
    catch(&mut rig, client, node, json!(["theirs"]));
    run(&mut rig, client, node);
    let wish = json!({"source": {"path": "x.c"}, "breakpoints": [{"line": 3}]});
    let seq = rig.request(client, "setBreakpoints", wish);
    let asked = rig.got(node, "setBreakpoints");
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [9], "threadId": 1}));
    assert_eq!(rig.event(client, "stopped")["body"]["reason"], "breakpoint");
    rig.answer(node, &asked, json!({"breakpoints": [{"id": 9, "verified": true, "line": 3}]}));
    rig.response(client, seq);
    rig.finish(client, node);
}

/// A program that stands by a panic of which its output tells nothing yet, and whose client asked why.
fn panicked() -> (Rig, ClientId, NodeId, i64) {
    let (mut rig, client, node) = started();
    catch(&mut rig, client, node, json!(["panics"]));
    run(&mut rig, client, node);
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [70], "threadId": 1}));
    assert_eq!(
        rig.event(client, "stopped")["body"]["description"],
        "panic",
        "the stop itself is told at once"
    );
    let seq = rig.request(client, "exceptionInfo", json!({"threadId": 1}));
    let asked = rig.got(node, "exceptionInfo");
    rig.answer(node, &asked, json!({"exceptionId": "e", "description": "b", "breakMode": "always"}));
    (rig, client, node, seq)
}

/// What writes and what stops are two streams of an engine.
#[test]
fn whoever_asks_why_hears_what_the_program_said_also_if_it_comes_behind_the_stop() {
    let (mut rig, client, node, seq) = panicked();
    assert!(!rig.has_answer(client, seq));
    says(&mut rig, node, "thread 'main' panicked at a.rs:2:5:\nno ");
    assert!(!rig.has_answer(client, seq), "that is not all of it");
    says(&mut rig, node, "beans\n");
    let info = rig.response(client, seq)["body"].clone();
    assert_eq!(info["description"], "thread 'main' panicked at a.rs:2:5: no beans");
    // It is known from here on.
    let again = rig.request(client, "exceptionInfo", json!({"threadId": 1}));
    for asked in rig.engine_heard(node) {
        rig.answer(node, &asked.json, json!({"exceptionId": "e", "breakMode": "always"}));
    }
    assert_eq!(rig.response(client, again)["body"]["description"], info["description"]);
    rig.finish(client, node);
}

#[test]
fn a_panic_of_which_nothing_is_said_is_told_after_a_moment() {
    let (mut rig, client, node, seq) = panicked();
    assert!(!rig.has_answer(client, seq));
    rig.advance(1);
    assert_eq!(rig.response(client, seq)["body"]["description"], "panic");
    let again = rig.request(client, "exceptionInfo", json!({"threadId": 1}));
    for asked in rig.engine_heard(node) {
        rig.answer(node, &asked.json, json!({"exceptionId": "e", "breakMode": "always"}));
    }
    assert_eq!(rig.response(client, again)["success"], true, "nobody waits twice");
    rig.finish(client, node);
}

#[test]
fn who_waits_for_why_is_answered_however_it_goes_on() {
    let (mut rig, client, node, seq) = panicked();
    rig.tell(node, "continued", json!({"threadId": 1}));
    rig.tell(node, "stopped", json!({"reason": "step", "threadId": 1}));
    assert!(rig.has_answer(client, seq));
    rig.finish(client, node);
    let (mut rig, client, node, seq) = panicked();
    rig.node_ended(node, "exit status 1", "");
    assert!(rig.has_answer(client, seq));
}

#[test]
fn a_panic_is_one_whoever_else_has_a_breakpoint_there() {
    let (mut rig, client, node) = started();
    catch(&mut rig, client, node, json!(["panics"]));
    let theirs = json!({"breakpoints": [{"name": "give_up", "condition": "1 == 0"}]});
    let seq = rig.request(client, FUNCTIONS, theirs);
    for told in rig.engine_heard(node) {
        let count = told.json["arguments"]["breakpoints"].as_array().unwrap().len();
        let list: Vec<_> = (0..count).map(|at| json!({"id": 70 + at, "verified": true})).collect();
        rig.answer(node, &told.json, json!({"breakpoints": list}));
    }
    rig.response(client, seq);
    run(&mut rig, client, node);
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "hitBreakpointIds": [70], "threadId": 1}));
    let told = rig.event(client, "stopped")["body"].clone();
    let expected =
        json!({"reason": "exception", "description": "panic", "hitBreakpointIds": [], "threadId": 1});
    assert_eq!(told, expected);
    rig.finish(client, node);
}

#[test]
fn the_panic_of_one_thread_is_none_of_another() {
    let (mut rig, client, node, seq) = panicked();
    rig.advance(1);
    rig.response(client, seq);
    let seq = rig.request(client, "exceptionInfo", json!({"threadId": 2}));
    let asked = rig.got(node, "exceptionInfo");
    rig.fail(node, &asked, "none");
    assert_eq!(rig.response(client, seq)["success"], false);
    rig.finish(client, node);
}
