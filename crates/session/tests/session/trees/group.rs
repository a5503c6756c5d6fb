//! How a group ends: the code of all its members, and what the end of one means to the others.

use breakroom_session::habits::ExitWord;
use breakroom_session::{ClientId, EngineFacts, NodeId};
use serde_json::{Value, json};

use super::super::rig::{Rig, setup};
use super::members::{member, runs};
use super::stage::{ID, opens, shared_setup};
use crate::engines::facts_with;

/// A group whose members run, each with its way to tell its exit code.
fn group<const N: usize>(launch: Value, words: [ExitWord; N]) -> (Rig, ClientId, NodeId, [NodeId; N]) {
    let (mut rig, tess, root) = Rig::coordinated_with(setup(), launch);
    let members = words.map(|exit| {
        let facts = facts_with(|facts| facts.ending.exit = exit);
        let child = member(&mut rig, root, "launch", json!({"name": "member", "type": "go"}), facts);
        runs(&mut rig, child);
        child
    });
    rig.tell(root, "terminated", json!({}));
    rig.heard(tess);
    (rig, tess, root, members)
}

fn ends_with(rig: &mut Rig, child: NodeId, code: i64) {
    rig.tell(child, "exited", json!({"exitCode": code}));
    rig.tell(child, "terminated", json!({}));
    rig.closes(child);
}

/// The code at the end, and that it is told once and before `terminated`.
fn code(rig: &mut Rig, tess: ClientId) -> Option<i64> {
    let heard = rig.heard(tess);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names.last().map(String::as_str), Some("terminated"), "{names:?}");
    let exited: Vec<_> = heard.iter().filter(|heard| heard.json["event"] == "exited").collect();
    assert!(exited.len() <= 1, "{names:?}");
    exited.first().map(|heard| heard.json["body"]["exitCode"].as_i64().unwrap())
}

#[test]
fn a_group_ends_with_the_first_code_that_is_not_0() {
    for (codes, is) in [([0, 0, 0], 0), ([0, 3, 4], 3), ([5, 0, 0], 5), ([0, 0, 7], 7)] {
        let (mut rig, tess, _, members) =
            group(json!({}), [ExitWord::Event, ExitWord::Event, ExitWord::Event]);
        for (member, code) in members.into_iter().zip(codes) {
            ends_with(&mut rig, member, code);
        }
        assert_eq!(code(&mut rig, tess), Some(is), "{codes:?}");
    }
}

#[test]
fn what_a_member_starts_does_not_count() {
    let (mut rig, tess, _, [one, two]) = group(json!({}), [ExitWord::Event, ExitWord::Event]);
    let (grandchild, _) = rig.python_child(tess, one, 7);
    ends_with(&mut rig, grandchild, 9);
    ends_with(&mut rig, one, 0);
    ends_with(&mut rig, two, 0);
    assert_eq!(code(&mut rig, tess), Some(0));
}

#[test]
fn the_code_of_a_member_is_awaited_as_that_of_a_root_is() {
    let line = "Process 12 has exited with status {}";
    for exit in [ExitWord::AtDisconnect(vec![line.into()]), ExitWord::Event] {
        let asks = matches!(exit, ExitWord::AtDisconnect(_));
        let (mut rig, tess, _, [go]) = group(json!({}), [exit]);
        rig.tell(go, "terminated", json!({}));
        assert!(rig.names(tess).is_empty(), "the code may follow");
        if asks {
            let bye = rig.got(go, "disconnect");
            rig.tell(go, "output", json!({"output": line.replace("{}", "4")}));
            rig.answer(go, &bye, json!({}));
        } else {
            rig.tell(go, "exited", json!({"exitCode": 4}));
        }
        assert_eq!(code(&mut rig, tess), Some(4));
    }
}

#[test]
fn the_code_of_a_member_is_not_awaited_for_ever() {
    let (mut rig, tess, _, [one]) = group(json!({}), [ExitWord::Event]);
    rig.tell(one, "terminated", json!({}));
    rig.advance(2);
    assert_eq!(code(&mut rig, tess), None);
}

#[test]
fn a_member_that_is_its_program_ends_with_its_code() {
    let (mut rig, tess, _, [ruby]) = group(json!({}), [ExitWord::OwnEnd]);
    rig.node_ended(ruby, "exit code 6", "");
    let heard = rig.heard(tess);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["exited", "terminated"], "that is no crash of a debugger");
    assert_eq!(heard[0].json["body"]["exitCode"], 6);
}

#[test]
fn who_is_there_for_one_member_hears_its_own_code() {
    let (mut rig, _ann, root) = Rig::coordinated(shared_setup(), opens());
    let members = [0, 3].map(|code| {
        let child =
            member(&mut rig, root, "launch", json!({"name": "m", "type": "go"}), EngineFacts::default());
        runs(&mut rig, child);
        let client = rig.visitor("Ann", opens(), json!({"session": ID, "node": child.0}));
        rig.heard(client);
        (child, client, code)
    });
    for (child, client, code) in members {
        ends_with(&mut rig, child, code);
        let heard = rig.heard(client);
        let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
        assert_eq!(names, ["exited", "terminated"]);
        assert_eq!(heard[0].json["body"]["exitCode"], code);
    }
}

#[test]
fn the_members_of_a_group_end_together_only_if_that_is_said() {
    for (launch, together) in
        [(json!({"stopAll": true}), true), (json!({"stopAll": false}), false), (json!({}), false)]
    {
        for crashes in [false, true] {
            let (mut rig, tess, _, [one, two]) = group(launch.clone(), [ExitWord::Event, ExitWord::Event]);
            rig.engine_heard(two);
            match crashes {
                true => rig.node_ended(one, "signal 9", "killed"),
                false => ends_with(&mut rig, one, 3),
            }
            let asked = rig.engine_names(two);
            assert_eq!(asked.contains(&"?disconnect".to_owned()), together, "{launch} {crashes}: {asked:?}");
            assert_eq!(rig.names(tess).contains(&"terminated".to_owned()), together);
        }
    }
}

#[test]
fn what_a_member_starts_may_end_without_the_others() {
    let (mut rig, tess, _, [one, two]) = group(json!({"stopAll": true}), [ExitWord::Event, ExitWord::Event]);
    let (grandchild, _) = rig.python_child(tess, one, 7);
    rig.engine_heard(two);
    ends_with(&mut rig, grandchild, 0);
    assert!(rig.engine_names(two).is_empty() && rig.engine_names(one).is_empty());
}

#[test]
fn a_member_that_comes_when_another_is_gone_ends_too() {
    let (mut rig, tess, root) = Rig::coordinated_with(setup(), json!({"stopAll": true}));
    let one = member(&mut rig, root, "launch", json!({"name": "a", "type": "go"}), EngineFacts::default());
    runs(&mut rig, one);
    rig.ask(
        root,
        "startDebugging",
        json!({"request": "launch", "configuration": {"name": "b", "type": "go"}}),
    );
    let slow = rig.opened.last().unwrap().0;
    ends_with(&mut rig, one, 0);
    assert!(rig.stopped.iter().any(|(node, ..)| *node == slow), "{:?}", rig.stopped);
    rig.heard(tess);
}
