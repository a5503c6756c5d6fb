//! Row "leaving". Real programs that end or live on are in `ends.rs`, `debugpy.rs`, `lldb.rs` and `sharing.rs`.

use breakroom_testkit::wait;
use serde_json::{Value, json};

use crate::support::commands::listed;
use crate::support::rig::{LONG, Rig, end};
use crate::support::trio::{Trio, Words, asked, each, lines, set_lines, wake};

/// Waits until these are the clients of the only session.
fn those_left(rig: &Rig, names: &[&str]) {
    let left = || (listed(rig)[0]["clients"] == json!(names)).then_some(());
    wait::until(LONG, left).unwrap_or_else(|| panic!("{:?}", listed(rig)));
}

#[test]
fn with_others_present_a_disconnect_detaches_its_sender_only_also_the_launchers() {
    let rig = Rig::new();
    let mut trio = Trio::stopped(&rig, &[]);
    set_lines(&mut trio.first, "/a", &[3]);
    set_lines(&mut trio.late, "/a", &[5]);
    let Trio { first, late, mut stalled, owed, .. } = trio;
    end(late);
    let told = || asked(&rig, "setBreakpoints").pop().filter(|told| lines(told) == [3]);
    wait::until(LONG, told).expect("what the one who left wanted is taken back");
    end(first);
    those_left(&rig, &["Stalled"]);
    assert_eq!(asked(&rig, "disconnect"), [] as [Value; 0]);
    wake(&mut stalled, owed);
    // It is alone now, and drives.
    stalled.call("next", json!({"threadId": 1}));
    end(stalled);
    rig.only_the_daemon_is_left();
    assert_eq!(asked(&rig, "disconnect").len(), 1);
}

#[test]
fn the_last_drivers_disconnect_is_the_debuggers_and_those_who_only_look_on_are_told() {
    for (command, arguments) in [("launch", json!({})), ("attach", json!({"terminateDebuggee": false}))] {
        let rig = Rig::new();
        let observe = Words::own(json!({"role": "observe"}));
        let words = [Words::default(), observe.clone(), observe];
        let Trio { mut first, mut late, mut stalled, owed, .. } = Trio::saying(&rig, command, &[], &words);
        first.call("disconnect", arguments.clone());
        first.finish();
        late.event("terminated");
        end(late);
        wake(&mut stalled, owed);
        stalled.event("terminated");
        end(stalled);
        rig.only_the_daemon_is_left();
        assert_eq!(asked(&rig, "disconnect"), [arguments], "{command}");
    }
}

#[test]
fn an_observer_ends_nothing_whatever_it_says() {
    let rig = Rig::new();
    let observe = Words::own(json!({"role": "observe"}));
    let words = [Words::default(), observe, Words::default()];
    let Trio { mut first, mut late, mut stalled, owed, .. } = Trio::saying(&rig, "launch", &[], &words);
    late.call("disconnect", json!({"terminateDebuggee": true}));
    late.finish();
    those_left(&rig, &["First", "Stalled"]);
    first.call("next", json!({"threadId": 1}));
    assert_eq!(asked(&rig, "disconnect"), [] as [Value; 0]);
    wake(&mut stalled, owed);
    stalled.event("continued");
    end(stalled);
    those_left(&rig, &["First"]);
    end(first);
    rig.only_the_daemon_is_left();
}

#[test]
fn terminate_by_any_driver_or_the_launchers_disconnect_that_says_so_ends_it_for_all() {
    for (command, arguments) in [("terminate", json!({})), ("disconnect", json!({"terminateDebuggee": true}))]
    {
        let rig = Rig::new();
        let Trio { first, late, mut stalled, owed, .. } = Trio::stopped(&rig, &[]);
        let (mut ends, mut stays) = if command == "terminate" { (late, first) } else { (first, late) };
        ends.call(command, arguments.clone());
        stays.event("terminated");
        if command == "terminate" {
            ends.event("terminated");
            end(ends);
        } else {
            ends.finish();
        }
        assert_eq!(asked(&rig, command), [arguments]);
        wake(&mut stalled, owed);
        stalled.event("terminated");
        end(stalled);
        end(stays);
        rig.only_the_daemon_is_left();
    }
}

#[test]
fn a_joiners_disconnect_that_would_end_the_debuggee_detaches_the_joiner_only() {
    let rig = Rig::new();
    let Trio { mut first, mut late, mut stalled, owed, .. } = Trio::stopped(&rig, &[]);
    late.call("disconnect", json!({"terminateDebuggee": true}));
    late.finish();
    those_left(&rig, &["First", "Stalled"]);
    assert_eq!(asked(&rig, "disconnect"), [] as [Value; 0]);
    first.call("next", json!({"threadId": 1}));
    wake(&mut stalled, owed);
    stalled.event("continued");
    end(first);
    // It is alone now.
    stalled.call("disconnect", json!({"terminateDebuggee": true}));
    stalled.finish();
    rig.only_the_daemon_is_left();
    assert_eq!(asked(&rig, "disconnect"), [json!({"terminateDebuggee": true})]);
}

#[test]
fn a_client_that_is_lost_while_it_stalls_leaves_the_session_and_its_breakpoints() {
    let rig = Rig::new();
    let mut trio = Trio::stopped(&rig, &[]);
    set_lines(&mut trio.first, "/a", &[3]);
    let wanted = json!({"source": {"path": "/a"}, "breakpoints": [{"line": 5}]});
    let _ = trio.stalled.request("setBreakpoints", wanted);
    trio.until_asked("setBreakpoints", 2);
    let Trio { mut first, mut late, stalled, .. } = trio;
    stalled.abandon();
    those_left(&rig, &["First", "Late"]);
    late.call("next", json!({"threadId": 1}));
    first.event("continued");
    let listed = late.call("breakroom/breakpoints", json!({}))["body"]["breakpoints"].clone();
    assert_eq!(each(listed.as_array().unwrap(), "owner"), ["First", "Stalled"]);
    assert_eq!(asked(&rig, "setBreakpoints").len(), 2, "the adapter keeps them");
    end(late);
    end(first);
    rig.only_the_daemon_is_left();
}
