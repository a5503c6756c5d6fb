//! Clients that are lost, sessions that wait for them, and what they find when they come back.

use breakroom_session::{ClientId, Fate, NodeId, Reach, Setup};
use serde_json::{Value, json};

use crate::rig::{Rig, capabilities, ids, lines, setup};

/// A stopped session of a hub that others can reach, whose launch says this to the hub, and whose client is lost.
fn kept(command: &str, own: Value) -> (Rig, ClientId, NodeId) {
    let (mut rig, tess, node) = shared_hub(command, own);
    rig.set_lines(tess, node, &[3, 4]);
    rig.stop(node, 1);
    rig.lose(tess);
    (rig, tess, node)
}

fn shared_hub(command: &str, own: Value) -> (Rig, ClientId, NodeId) {
    let mut rig = Rig::with(Setup { reach: Reach::Shared, ..setup() });
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"clientID": "test", "clientName": "Tess", "adapterID": "python"}));
    let node = rig.started.last().unwrap().0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.request(tess, command, json!({"program": "x.py", "breakroom": own}));
    rig.tell(node, "initialized", json!({}));
    rig.request(tess, "configurationDone", json!({}));
    for heard in rig.engine_heard(node) {
        rig.answer(node, &heard.json, json!({}));
    }
    rig.heard(tess);
    (rig, tess, node)
}

/// Joins under a name, and gives what it was shown.
fn come(rig: &mut Rig, name: &str) -> (ClientId, Vec<String>) {
    let client = rig.bring(name, json!({"clientID": "test"}), json!({}));
    let shown = rig.names(client);
    (client, shown)
}

fn owners(rig: &mut Rig, client: ClientId) -> Vec<String> {
    let seq = rig.request(client, "breakroom/breakpoints", json!({}));
    let listed = rig.response(client, seq)["body"]["breakpoints"].clone();
    listed.as_array().unwrap().iter().map(|each| each["owner"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_client_that_comes_back_has_its_breakpoints_and_the_whole_picture_again() {
    let (mut rig, _, node) = kept("launch", json!({}));
    assert!(rig.engine_heard(node).is_empty(), "nothing happens to the program");
    rig.advance(599);
    let (back, shown) = come(&mut rig, "Tess");
    assert_eq!(
        shown[shown.len() - 3..],
        ["stopped", "breakpoint", "breakpoint"],
        "what it still has and did not say"
    );
    assert!(rig.engine_heard(node).is_empty(), "coming back costs the engine nothing");
    assert_eq!(owners(&mut rig, back), ["Tess", "Tess"]);
    let again = rig.set_lines(back, node, &[4, 5]);
    assert_eq!((lines(&again), ids(&again)), (vec![4, 5], vec![2, 3]), "numbers stay with their places");
    rig.advance(3600);
    assert_eq!(owners(&mut rig, back), ["Tess", "Tess"]);
}

#[test]
fn a_session_that_nobody_comes_back_to_ends_after_ten_minutes() {
    for (command, terminate) in [("launch", true), ("attach", false)] {
        let (mut rig, _, node) = kept(command, json!({}));
        rig.advance(599);
        assert!(rig.engine_heard(node).is_empty());
        rig.advance(1);
        let disconnect = rig.got(node, "disconnect");
        assert_eq!(disconnect["arguments"]["terminateDebuggee"], terminate, "{command}");
        rig.answer(node, &disconnect, json!({}));
        rig.node_ended(node, "exit code 0", "");
        rig.assert_over();
    }
}

#[test]
fn what_the_launch_says_becomes_of_the_program_when_the_last_is_lost() {
    for (command, said, terminate) in [
        ("launch", "terminate", true),
        ("launch", "detach", false),
        ("attach", "terminate", true),
        ("attach", "detach", false),
    ] {
        let (mut rig, _, node) = kept(command, json!({"onLastLeave": said}));
        let disconnect = rig.got(node, "disconnect");
        assert_eq!(disconnect["arguments"]["terminateDebuggee"], terminate, "{command} {said}");
        rig.answer(node, &disconnect, json!({}));
        let (.., debuggee) = *rig.stopped.last().unwrap();
        let lives = (command, said) == ("launch", "detach");
        assert_eq!(debuggee == Fate::Lives, lives, "{command} {said}");
    }
    let (mut rig, tess, _) = Rig::initialized();
    let seq = rig.request(tess, "launch", json!({"program": "x", "breakroom": {"onLastLeave": "later"}}));
    assert!(rig.refusal(tess, seq).1.contains("\"keep\", \"terminate\" or \"detach\""));
}

#[test]
fn a_session_that_is_killed_ends_what_it_launched_and_lets_go_of_what_it_attached_to() {
    for (command, terminate) in [("launch", true), ("attach", false)] {
        for said in ["keep", "terminate", "detach"] {
            let (mut rig, _, node) = shared_hub(command, json!({"onLastLeave": said}));
            rig.on(breakroom_session::Input::Killed { reason: "killed".into() });
            let disconnect = rig.got(node, "disconnect");
            assert_eq!(disconnect["arguments"]["terminateDebuggee"], terminate, "{command} {said}");
        }
    }
}

#[test]
fn a_hub_that_goes_away_does_what_the_launch_says() {
    for (command, said, terminate) in [
        ("launch", "keep", true),
        ("launch", "terminate", true),
        ("launch", "detach", false),
        ("attach", "keep", false),
        ("attach", "terminate", true),
        ("attach", "detach", false),
    ] {
        let (mut rig, _, node) = shared_hub(command, json!({"onLastLeave": said}));
        rig.on(breakroom_session::Input::Shutdown { reason: "gone".into() });
        let disconnect = rig.got(node, "disconnect");
        assert_eq!(disconnect["arguments"]["terminateDebuggee"], terminate, "{command} {said}");
    }
}

#[test]
fn a_private_session_waits_for_nobody() {
    let (mut rig, tess, node) = Rig::at_a_stop();
    rig.lose(tess);
    assert_eq!(rig.got(node, "disconnect")["arguments"]["terminateDebuggee"], true);
}

#[test]
fn disconnecting_is_not_being_lost() {
    let (mut rig, tess, node) = shared_hub("launch", json!({}));
    rig.request(tess, "disconnect", json!({}));
    let disconnect = rig.got(node, "disconnect");
    rig.answer(node, &disconnect, json!({}));
    rig.node_ended(node, "exit code 0", "");
    rig.assert_over();
}

#[test]
fn a_lost_clients_breakpoints_stay_two_minutes_with_the_others() {
    let (mut rig, tess, node) = shared_hub("launch", json!({}));
    rig.set_lines(tess, node, &[3]);
    let (bob, _) = come(&mut rig, "Bob");
    rig.set_lines(bob, node, &[4]);
    rig.lose(tess);
    rig.advance(119);
    assert_eq!(owners(&mut rig, bob), ["Tess", "Bob"]);
    assert!(rig.engine_heard(node).is_empty());
    rig.advance(1);
    assert_eq!(owners(&mut rig, bob), ["Bob"]);
    assert_eq!(lines(&rig.got(node, "setBreakpoints")), [4]);
}

#[test]
fn a_stop_at_a_lost_clients_breakpoint_says_whose_it_is_to_one_who_is_alone() {
    let (mut rig, tess, node) = shared_hub("launch", json!({}));
    rig.set_lines(tess, node, &[3]);
    let (bob, _) = come(&mut rig, "Bob");
    rig.lose(tess);
    let body = json!({"reason": "breakpoint", "threadId": 1, "hitBreakpointIds": [103]});
    rig.tell(node, "stopped", body);
    assert_eq!(rig.event(bob, "stopped")["body"]["description"], "breakpoint, set by Tess");
}

#[test]
fn another_client_that_comes_gives_the_lost_one_time_to_come_too() {
    let (mut rig, _, node) = kept("launch", json!({}));
    rig.advance(500);
    let bob = rig.bring("Bob", json!({"clientID": "other"}), json!({}));
    rig.heard(bob);
    assert_eq!(owners(&mut rig, bob), ["Tess", "Tess"]);
    rig.advance(119);
    let (tess, _) = come(&mut rig, "Tess");
    rig.advance(60);
    assert_eq!(owners(&mut rig, tess), ["Tess", "Tess"]);
    assert!(rig.engine_heard(node).is_empty());
}

#[test]
fn a_connection_that_never_says_anything_neither_ends_nor_keeps_a_session_that_waits() {
    let (mut rig, _, node) = kept("launch", json!({}));
    let silent = rig.join();
    rig.advance(300);
    rig.lose(silent);
    assert!(rig.engine_heard(node).is_empty());
    rig.advance(300);
    rig.got(node, "disconnect");
}

#[test]
fn an_observer_that_leaves_does_not_end_what_waits_for_its_driver() {
    let (mut rig, tess, node) = shared_hub("launch", json!({}));
    let watcher = rig.bring("Watcher", json!({}), json!({"role": "observe"}));
    rig.lose(tess);
    rig.request(watcher, "disconnect", json!({}));
    rig.on(breakroom_session::Input::ClientLeft { client: watcher });
    assert!(rig.engine_heard(node).is_empty());
    let (_, shown) = come(&mut rig, "Tess");
    assert!(shown.contains(&"initialized".into()), "{shown:?}");
}

#[test]
fn a_launcher_lost_before_it_configured_can_come_back_and_do_so() {
    let mut rig = Rig::with(Setup { reach: Reach::Shared, ..setup() });
    let tess = rig.join();
    let hello = json!({"clientID": "test", "clientName": "Tess", "adapterID": "python"});
    rig.request(tess, "initialize", hello);
    let node = rig.started.last().unwrap().0;
    rig.node_up(node);
    let initialize = rig.got(node, "initialize");
    rig.answer(node, &initialize, capabilities());
    rig.request(tess, "launch", json!({"program": "x.py"}));
    rig.got(node, "launch");
    rig.tell(node, "initialized", json!({}));
    rig.lose(tess);
    let back = rig.bring("Tess", json!({"clientID": "test"}), json!({}));
    let done = rig.got(node, "configurationDone");
    rig.answer(node, &done, json!({}));
    rig.tell(node, "stopped", json!({"reason": "entry", "threadId": 1, "allThreadsStopped": true}));
    assert_eq!(rig.names(back).last().unwrap(), "stopped");
}

#[test]
fn a_program_that_ended_while_nobody_was_there_is_waited_for_no_longer() {
    let (mut rig, _, node) = kept("launch", json!({}));
    rig.tell(node, "exited", json!({"exitCode": 0}));
    rig.tell(node, "terminated", json!({}));
    rig.advance(601);
    for heard in rig.engine_heard(node) {
        rig.answer(node, &heard.json, json!({}));
    }
    rig.node_ended(node, "exit code 0", "");
    rig.assert_over();
}

#[test]
fn a_program_that_could_not_be_started_is_waited_for_no_longer() {
    let mut rig = Rig::with(Setup { reach: Reach::Shared, ..setup() });
    let tess = rig.join();
    rig.request(tess, "initialize", json!({"clientName": "Tess", "adapterID": "python"}));
    rig.request(tess, "launch", json!({"program": "x.py"}));
    rig.lose(tess);
    let node = rig.started.last().unwrap().0;
    rig.node_failed(node, "it is not installed");
    rig.assert_over();
}

#[test]
fn a_connection_that_never_made_sense_is_waited_for_by_nobody() {
    let (mut rig, tess, node) = shared_hub("launch", json!({}));
    let watcher = rig.bring("Watcher", json!({}), json!({"role": "observe"}));
    rig.lose(tess);
    rig.advance(60);
    let nonsense = rig.join();
    rig.breaks(nonsense);
    rig.advance(60);
    rig.lose(watcher);
    assert_eq!(rig.got(node, "disconnect")["arguments"]["terminateDebuggee"], true);
}

#[test]
fn one_who_comes_back_takes_the_place_of_one_of_two_that_were_lost_under_its_name() {
    let (mut rig, tess, node) = shared_hub("launch", json!({}));
    rig.set_lines(tess, node, &[3]);
    let (again, _) = come(&mut rig, "Tess");
    rig.set_lines(again, node, &[4]);
    rig.lose(tess);
    rig.lose(again);
    let (back, _) = come(&mut rig, "Tess");
    assert_eq!(lines(&rig.set_lines(back, node, &[])), [0; 0]);
    assert_eq!(owners(&mut rig, back), ["Tess"]);
    rig.advance(120);
    assert_eq!(owners(&mut rig, back), [""; 0]);
}
