//! What a client that is behind is left to hear: examples, and any order of events against what it would have known.

use std::collections::{BTreeMap, BTreeSet};

use breakroom_dap::{Edit, event, response};
use proptest::prelude::{Strategy, prop_oneof};
use proptest::{collection, proptest};
use serde_json::{Value, json};
use smallvec::SmallVec;

use super::*;

/// An outbox whose client is behind, whatever is in it.
#[derive(Default)]
struct Behind {
    outbox: Outbox,
    backlog: Backlog,
}

impl Behind {
    fn tell(&mut self, name: &str, body: Value) {
        self.backlog.add(&mut self.outbox.line, &self.outbox.told, Outgoing::plain(event(name, Some(body))));
    }

    fn stop(&mut self, thread: i64, all: bool) {
        self.tell("stopped", json!({"reason": "step", "threadId": thread, "allThreadsStopped": all}));
    }

    fn run(&mut self, thread: i64, all: bool) {
        self.tell("continued", json!({"threadId": thread, "allThreadsContinued": all}));
    }

    fn next(&mut self) -> Option<(String, Value)> {
        let (seq, outgoing) = self.outbox.pop()?;
        let bytes = outgoing.message.renumbered(seq.0, outgoing.edits).to_bytes();
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        let name = message.get("event").or(message.get("command")).and_then(Value::as_str).unwrap();
        Some((name.to_owned(), message["body"].clone()))
    }

    /// Everything that is left, as the event and what of its body tells it apart.
    fn rest(mut self) -> Vec<String> {
        let mut said = Vec::new();
        while let Some((name, body)) = self.next() {
            let id = ["threadId", "progressId", "memoryReference"].iter().find_map(|key| body.get(key));
            let inner = ["module", "source", "breakpoint"].iter().find_map(|key| body.get(key));
            let inner = inner.and_then(|item| item.get("id").or(item.get("path")));
            let reason = body.get("reason").and_then(Value::as_str).filter(|_| name != "stopped");
            let id = id.or(inner).map(|id| format!(" {id}")).unwrap_or_default();
            said.push(format!("{name}{id}{}", reason.map(|it| format!(" {it}")).unwrap_or_default()));
        }
        assert_eq!((self.outbox.line.cost(), self.outbox.line.len()), (0, 0));
        said
    }
}

fn module(reason: &str, id: &str, version: i64) -> Value {
    json!({"reason": reason, "module": {"id": id, "version": version}})
}

#[test]
fn of_what_began_changed_and_ended_meanwhile_nothing_is_told() {
    let mut behind = Behind::default();
    for (reason, id) in [("new", "a"), ("new", "b"), ("changed", "a"), ("removed", "a"), ("removed", "old")] {
        behind.tell("module", module(reason, id, 1));
        behind.tell("loadedSource", json!({"reason": reason, "source": {"path": id}}));
    }
    behind.tell("thread", json!({"reason": "started", "threadId": 7}));
    behind.tell("thread", json!({"reason": "started", "threadId": 8}));
    behind.tell("thread", json!({"reason": "exited", "threadId": 7}));
    behind.tell("thread", json!({"reason": "exited", "threadId": 1}));
    let left = [
        "module \"b\" new",
        "loadedSource \"b\" new",
        "module \"old\" removed",
        "loadedSource \"old\" removed",
        "thread 8 started",
        "thread 1 exited",
    ];
    assert_eq!(behind.rest(), left);
}

#[test]
fn what_changed_before_it_was_told_of_is_new_with_its_last_content() {
    let mut behind = Behind::default();
    behind.tell("module", module("new", "a", 1));
    behind.tell("module", module("changed", "a", 2));
    behind.tell("module", module("changed", "b", 1));
    behind.tell("module", module("changed", "b", 2));
    assert_eq!(behind.next().unwrap().1, module("new", "a", 2));
    assert_eq!(behind.next().unwrap().1, module("changed", "b", 2));
    assert!(behind.next().is_none());
}

#[test]
fn an_id_that_is_used_again_is_told_as_the_end_of_one_and_the_beginning_of_another() {
    let mut behind = Behind::default();
    for reason in ["removed", "new", "changed", "removed", "new"] {
        behind.tell("module", module(reason, "a", 1));
    }
    assert_eq!(behind.rest(), ["module \"a\" removed", "module \"a\" new"]);
}

#[test]
fn breakpoints_are_told_apart_by_the_numbers_that_the_client_knows() {
    let mut behind = Behind::default();
    for own in [1, 2, 1] {
        let body = json!({"reason": "changed", "breakpoint": {"id": 70, "verified": true}});
        let message = event("breakpoint", Some(body));
        let id = message.payload().and_then(|body| body.get("breakpoint")?.get("id")?.span()).unwrap();
        let edits = SmallVec::from_iter([Edit::int(id, own)]);
        let outgoing = Outgoing { message, edits, asks: None };
        behind.backlog.add(&mut behind.outbox.line, &behind.outbox.told, outgoing);
    }
    assert_eq!(behind.rest(), ["breakpoint 2 changed", "breakpoint 1 changed"]);
}

#[test]
fn of_progress_the_last_report_is_told_and_nothing_once_it_is_over() {
    let mut behind = Behind::default();
    for (name, id) in [
        ("progressEnd", "known"),
        ("progressStart", "a"),
        ("progressStart", "b"),
        ("progressUpdate", "a"),
        ("progressUpdate", "b"),
        ("progressUpdate", "a"),
        ("progressEnd", "b"),
    ] {
        behind.tell(name, json!({"progressId": id}));
    }
    assert_eq!(behind.rest(), ["progressEnd \"known\"", "progressStart \"a\"", "progressUpdate \"a\""]);
}

#[test]
fn what_is_said_twice_in_the_same_words_is_told_once() {
    let mut behind = Behind::default();
    for areas in ["variables", "stacks", "variables"] {
        behind.tell("invalidated", json!({"areas": [areas]}));
        behind.tell("memory", json!({"memoryReference": areas, "offset": 0, "count": 4}));
    }
    let left = ["invalidated", "memory \"stacks\"", "invalidated", "memory \"variables\""].map(str::to_owned);
    assert_eq!(behind.rest(), left);
}

#[test]
fn a_client_that_knew_of_no_stop_hears_of_the_last_one_only() {
    let mut behind = Behind::default();
    for _ in 0..3 {
        behind.stop(1, true);
        behind.run(1, true);
    }
    behind.stop(1, true);
    assert_eq!(behind.rest(), ["stopped 1"]);
}

#[test]
fn a_client_that_knew_of_a_stop_hears_that_it_ended_and_of_the_last_one() {
    let mut behind = Behind::default();
    behind.stop(1, true);
    behind.next();
    for _ in 0..3 {
        behind.run(1, true);
        behind.stop(1, true);
    }
    assert_eq!(behind.rest(), ["continued 1", "stopped 1"]);
}

#[test]
fn a_client_that_knew_of_no_stop_hears_nothing_if_all_runs_again() {
    let mut behind = Behind::default();
    behind.stop(1, true);
    behind.stop(2, false);
    behind.run(1, true);
    assert!(behind.rest().is_empty());
}

#[test]
fn one_stop_announced_once_per_thread_stays_as_it_is() {
    let mut behind = Behind::default();
    behind.stop(1, true);
    behind.stop(2, true);
    assert_eq!(behind.rest(), ["stopped 1", "stopped 2"]);
}

#[test]
fn a_thread_that_is_gone_has_no_stop_to_tell_of() {
    let mut behind = Behind::default();
    behind.tell("thread", json!({"reason": "started", "threadId": 7}));
    behind.stop(7, false);
    behind.tell("thread", json!({"reason": "exited", "threadId": 7}));
    assert!(behind.rest().is_empty());
}

#[test]
fn output_that_is_left_out_is_counted_where_it_would_have_been() {
    let mut behind = Behind::default();
    behind.stop(1, true);
    behind.tell("output", json!({"output": "one"}));
    behind.tell("terminated", json!({}));
    behind.tell("output", json!({"output": "two"}));
    behind.next();
    let text = behind.next().unwrap().1["output"].as_str().unwrap().to_owned();
    assert!(text.contains("2 outputs were left out here"), "{text}");
    behind.tell("output", json!({"output": "three"}));
    assert_eq!(behind.next().unwrap().0, "terminated");
    assert!(behind.next().unwrap().1["output"].as_str().unwrap().contains("1 outputs"));
}

#[test]
fn everything_else_and_every_answer_stays() {
    let mut behind = Behind::default();
    for name in ["x-vendor", "breakroom/activity", "capabilities", "x-vendor"] {
        behind.tell(name, json!({}));
    }
    behind.outbox.push(Outgoing::plain(response(1, "threads", None)));
    behind.outbox.push(Outgoing::plain(response(2, "threads", None)));
    let left = ["x-vendor", "breakroom/activity", "capabilities", "x-vendor", "threads", "threads"];
    assert_eq!(behind.rest(), left);
}

#[test]
fn only_a_client_in_company_that_is_behind_misses_anything() {
    let output = || Outgoing::plain(event("output", Some(json!({"output": "x".repeat(1000)}))));
    let thread =
        |reason: &str| Outgoing::plain(event("thread", Some(json!({"reason": reason, "threadId": 7}))));
    let mut outbox = Outbox::default();
    outbox.push_in_company(thread("started"));
    outbox.push_in_company(thread("exited"));
    let mut alone = 2;
    while !outbox.is_behind() {
        outbox.push_in_company(output());
        alone += 1;
    }
    for _ in 0..1000 {
        outbox.push_alone(output());
        alone += 1;
    }
    let full = outbox.line.cost();
    for _ in 0..100_000 {
        outbox.push_in_company(output());
        outbox.push_in_company(thread("started"));
        outbox.push_in_company(thread("exited"));
    }
    assert!(outbox.line.cost() <= full, "it holds no more than before");
    let mut left = 0;
    while let Some((seq, outgoing)) = outbox.pop() {
        left += 1;
        assert_eq!(seq.0, left, "no number is left out");
        assert_ne!(outgoing.message.event_name(), Some("thread"));
    }
    assert_eq!(left, alone - 2 + 1, "what was in line, and how much was left out");
    outbox.push_in_company(output());
    outbox.push_in_company(thread("started"));
    outbox.push_in_company(thread("exited"));
    assert_eq!(std::iter::from_fn(|| outbox.pop()).count(), 3, "it keeps up again");
}

#[derive(Debug, Clone)]
enum Deed {
    Stop(i64, bool),
    Run(i64, bool),
    Exit(i64),
    Module(&'static str, i64),
    Read(usize),
}

fn step() -> impl Strategy<Value = Deed> {
    let thread = 1..4_i64;
    prop_oneof![
        (thread.clone(), proptest::bool::ANY).prop_map(|(thread, all)| Deed::Stop(thread, all)),
        (thread.clone(), proptest::bool::ANY).prop_map(|(thread, all)| Deed::Run(thread, all)),
        thread.clone().prop_map(Deed::Exit),
        (proptest::sample::select(vec!["new", "changed", "removed"]), thread)
            .prop_map(|(reason, id)| Deed::Module(reason, id)),
        (1..4_usize).prop_map(Deed::Read),
    ]
}

/// What a client makes of what it hears. It accepts only what makes sense after what it heard before.
#[derive(Default)]
struct Listener {
    belief: Belief,
    modules: BTreeMap<i64, Value>,
}

impl Listener {
    fn hears(&mut self, name: &str, body: &Value) {
        let (thread, reason) = (body["threadId"].as_i64(), body["reason"].as_str());
        let id = body["module"]["id"].as_i64().unwrap_or_default();
        match (name, reason) {
            ("stopped", _) => self.belief.stopped(thread, body["allThreadsStopped"] == true),
            ("continued", _) => {
                let news = self.belief.running(thread, body["allThreadsContinued"] == true);
                assert!(news, "it knew that {thread:?} runs");
            }
            ("thread", _) => self.belief.exited(thread.unwrap()),
            ("module", Some("removed")) => assert!(self.modules.remove(&id).is_some(), "it knew no {id}"),
            ("module", reason) => {
                let known = self.modules.insert(id, body["module"]["version"].clone()).is_some();
                assert_eq!(known, reason == Some("changed"), "{body}");
            }
            _ => {}
        }
    }
}

proptest! {
    /// Whoever is behind ends up knowing what one knows that heard everything, by a sequence that makes sense.
    #[test]
    fn in_the_end_a_client_that_was_behind_knows_what_the_others_know(steps in collection::vec(step(), 0..60)) {
        let (mut behind, mut all, mut late) = (Behind::default(), Listener::default(), Listener::default());
        let mut version = 0;
        for step in steps {
            let (name, body) = match step {
                Deed::Stop(thread, all) => {
                    ("stopped", json!({"threadId": thread, "allThreadsStopped": all}))
                }
                Deed::Run(thread, everything) => {
                    let stops = |thread: &i64| all.belief.is_stopped(Some(*thread));
                    let news = if everything { (0..4).any(|thread| stops(&thread)) } else { stops(&thread) };
                    if !news {
                        continue;
                    }
                    ("continued", json!({"threadId": thread, "allThreadsContinued": everything}))
                }
                Deed::Exit(thread) => ("thread", json!({"reason": "exited", "threadId": thread})),
                Deed::Module(reason, id) => {
                    if all.modules.contains_key(&id) == (reason == "new") {
                        continue;
                    }
                    version += 1;
                    ("module", json!({"reason": reason, "module": {"id": id, "version": version}}))
                }
                Deed::Read(count) => {
                    for _ in 0..count {
                        if let Some((name, body)) = behind.next() {
                            late.hears(&name, &body);
                        }
                    }
                    continue;
                }
            };
            all.hears(name, &body);
            behind.tell(name, body);
        }
        while let Some((name, body)) = behind.next() {
            late.hears(&name, &body);
        }
        let stopped = |listener: &Listener| -> BTreeSet<i64> {
            (0..4).filter(|thread| listener.belief.is_stopped(Some(*thread))).collect()
        };
        assert_eq!(stopped(&late), stopped(&all));
        assert_eq!(late.modules, all.modules);
    }
}
