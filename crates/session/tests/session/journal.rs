//! The journal: what happened, in its order, with its time; bounded, and without secrets.

use std::time::Duration;

use breakroom_session::{Access, Entry, Input, Role, Session, Token};
use serde_json::{Value, json};

use crate::rig::{Rig, TOKEN};

fn entries(session: &Session) -> Vec<Entry> {
    session.journal().since(0).notes.into_iter().map(|noted| noted.entry).collect()
}

/// The kinds of what was noted from this number on.
fn kinds(session: &Session, from: u64) -> Vec<String> {
    let notes = session.journal().since(from).notes;
    let kind = |entry: &Entry| serde_json::to_value(entry).unwrap()["event"].as_str().unwrap().to_owned();
    notes.iter().map(|noted| kind(&noted.entry)).collect()
}

#[test]
fn it_tells_who_did_what_from_the_launch_to_the_end() {
    let (mut rig, tess, node) = Rig::initialized();
    rig.start(tess, node, "launch");
    assert_eq!(
        entries(&rig.session),
        [
            Entry::EngineUp { engine: "fake".into() },
            Entry::Joined { client: "Tess".into(), role: Role::Drive },
            Entry::Started { client: "Tess".into(), command: "launch".into(), name: "x.py".into() },
            Entry::StartAccepted,
        ]
    );
    let from = rig.session.journal().next();
    rig.set_lines(tess, node, &[3, 4]);
    rig.stop(node, 1);
    let frame = json!({"id": 7, "name": "main", "line": 3, "source": {"path": "/x.py"}});
    let frames = json!({"stackFrames": [frame]});
    for start in [1, 0, 0] {
        let arguments = json!({"threadId": 1, "startFrame": start, "levels": start + 2});
        let seq = rig.request(tess, "stackTrace", arguments);
        if !rig.has_answer(tess, seq) {
            let request = rig.got(node, "stackTrace");
            rig.answer(node, &request, frames.clone());
        }
    }
    rig.round_trip(tess, node, "evaluate", json!({"expression": "1 + 1"}), json!({"result": "2"}));
    rig.round_trip(tess, node, "next", json!({"threadId": 1}), json!({}));
    rig.tell(node, "output", json!({"category": "stdout", "output": "ä\n"}));
    rig.tell(node, "output", json!({"category": "telemetry", "output": "private"}));
    rig.on(Input::Stderr { node, text: "a warning\n".into() });
    rig.tell(node, "exited", json!({"exitCode": 3}));
    let noted: Vec<Entry> =
        rig.session.journal().since(from).notes.into_iter().map(|noted| noted.entry).collect();
    let did = |deed: &str, command: &str, thread, detail: Option<&str>| Entry::Did {
        client: "Tess".into(),
        deed: deed.into(),
        command: command.into(),
        thread,
        detail: detail.map(Into::into),
    };
    let place = Entry::Place { thread: 1, function: "main".into(), source: Some("/x.py".into()), line: 3 };
    assert_eq!(
        noted,
        [
            Entry::Breakpoints { client: "Tess".into(), source: "x.py".into(), count: 2 },
            Entry::Stopped {
                reason: "breakpoint".into(),
                thread: Some(1),
                description: None,
                text: None,
                node: None
            },
            place,
            did("evaluated", "evaluate", None, Some("1 + 1")),
            did("stepped", "next", Some(1), None),
            Entry::Output { category: "stdout".into(), text: "ä\n".into(), node: None },
            Entry::Stderr { engine: "fake".into(), text: "a warning\n".into() },
            Entry::Exited { code: 3 },
        ],
        "the place is told once for a stop, and by its first frame"
    );
    let from = rig.session.journal().next();
    rig.request(tess, "disconnect", json!({}));
    let disconnect = rig.got(node, "disconnect");
    rig.answer(node, &disconnect, json!({}));
    rig.node_ended(node, "exit code 0", "");
    assert_eq!(kinds(&rig.session, from), ["left", "engine-ended"]);
}

#[test]
fn who_is_lost_is_told_from_who_left() {
    let (mut rig, tess, bob, node) = Rig::shared();
    let ann = rig.bring("Ann", json!({}), json!({"role": "observe"}));
    let from = rig.session.journal().next();
    rig.lose(bob);
    rig.breaks(ann);
    rig.request(tess, "disconnect", json!({}));
    let disconnect = rig.got(node, "disconnect");
    rig.answer(node, &disconnect, json!({}));
    let noted = rig.session.journal().since(from).notes;
    let lost = |client: &str, role, reason: Option<&str>| Entry::Lost {
        client: client.into(),
        role,
        reason: reason.map(Into::into),
    };
    let expected = [
        lost("Bob", Role::Drive, None),
        lost("Ann", Role::Observe, Some("the header has no Content-Length")),
        Entry::Left { client: "Tess".into(), role: Role::Drive, reason: None },
    ];
    assert_eq!(noted.into_iter().map(|noted| noted.entry).collect::<Vec<_>>(), expected);
}

#[test]
fn a_connection_that_took_no_part_neither_joined_nor_left() {
    let (mut rig, _, _) = Rig::running();
    let from = rig.session.journal().next();
    let stranger = rig.join();
    rig.request(stranger, "initialize", json!({"clientName": "Stranger"}));
    rig.lose(stranger);
    assert_eq!(rig.session.journal().next(), from);
}

#[test]
fn no_token_is_in_it() {
    let (mut rig, tess, node) = Rig::running();
    let bob = rig.join_as(Access::NeedsToken(Token::new(TOKEN.as_bytes())));
    rig.request(bob, "initialize", json!({"clientName": "Bob"}));
    rig.request(bob, "attach", json!({"breakroom": {"token": "a wrong one"}}));
    rig.request(bob, "attach", json!({"breakroom": {"token": TOKEN}}));
    let text = format!("{:?}", entries(&rig.session));
    assert!(text.contains("Bob") && !text.contains(TOKEN) && !text.contains("a wrong one"), "{text}");
    rig.request(bob, "disconnect", json!({}));
    rig.finish(tess, node);
}

#[test]
fn what_the_hub_says_to_several_is_one_notice_and_every_entry_has_its_time() {
    let (mut rig, _, _, _) = Rig::shared();
    rig.advance(5);
    let from = rig.session.journal().next();
    rig.on(Input::Shutdown { reason: "the hub ends".into() });
    let noted = rig.session.journal().since(from).notes;
    assert_eq!(noted[0].entry, Entry::Notice { text: "the hub ends".into() });
    assert_eq!(noted[0].at.0, Duration::from_secs(5));
    let reason = Some("the hub ends".to_owned());
    let left = |name: &str| Entry::Left { client: name.into(), role: Role::Drive, reason: reason.clone() };
    assert_eq!(noted[1].entry, left("Tess"));
    assert_eq!(noted[2].entry, left("Bob"));
}

#[test]
fn a_flood_of_output_pushes_out_the_oldest_and_costs_a_bounded_amount() {
    let (mut rig, tess, node) = Rig::running();
    for number in 0..2000 {
        let text = format!("{number} {}", "x".repeat(if number % 100 == 0 { 50_000 } else { 500 }));
        rig.tell(node, "output", json!({"category": "stdout", "output": text}));
    }
    let excerpt = rig.session.journal().since(0);
    assert!(excerpt.missed > 1000 && excerpt.missed + excerpt.notes.len() as u64 == excerpt.next);
    let texts = excerpt.notes.iter().map(|noted| match &noted.entry {
        Entry::Output { text, .. } => text.clone(),
        other => panic!("{other:?}"),
    });
    let texts: Vec<String> = texts.collect();
    assert!(texts.last().unwrap().starts_with("1999 "));
    assert!(texts.iter().map(String::len).sum::<usize>() < 256 << 10);
    assert!(texts.iter().any(|text| text.ends_with('…')), "a huge one is cut and does not push out the rest");
    rig.heard(tess);
    rig.finish(tess, node);
}

#[test]
fn an_engine_that_could_not_be_started_is_told_with_the_reason() {
    let mut rig = Rig::new();
    let client = rig.join();
    rig.request(client, "initialize", json!({"clientName": "Tess"}));
    rig.request(client, "launch", json!({"type": "python", "program": "x.py"}));
    let node = rig.started[0].0;
    rig.node_failed(node, "debugpy is not installed");
    let failed = Entry::EngineFailed { reason: "debugpy is not installed".into() };
    assert_eq!(entries(&rig.session).last(), Some(&failed));
    let value: Value = serde_json::to_value(&failed).unwrap();
    assert_eq!(value, json!({"event": "engine-failed", "reason": "debugpy is not installed"}));
}
