//! Two hundred sessions in one door.

use breakroom_testkit::fixtures::Program;
use breakroom_testkit::mcp::Reply;
use breakroom_testkit::{adapters, wait};
use serde_json::{Value, json};

use crate::support::office::{LONGEST_WAIT, Office};
use crate::support::rig::{LONG, descriptors, peak};

const SESSIONS: usize = 200;
/// So many of them are started at once: an engine has a time by which it must have come.
const AT_ONCE: usize = 20;
/// So many of them have a debugger of their own in another language.
const OF_PYTHON: usize = 4;

fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).expect("the door lives").count()
}

/// The same call in every session at once, until each stands again or has ended.
fn all(office: &Office, tool: &str, sessions: &[String]) -> Vec<Reply> {
    let call = |id: &String| office.begin(tool, json!({"session_id": id, "wait_ms": LONGEST_WAIT}));
    let sent: Vec<_> = sessions.iter().map(call).collect();
    sent.into_iter().map(|sent| office.settled(office.reply(sent))).collect()
}

#[test]
fn two_hundred_sessions_stop_step_and_end_beside_each_other() {
    let office = Office::new();
    let door = office.agent.pid();
    let before = (descriptors(door.cast_signed()), threads(door));
    let python = if adapters::skipped("debugpy") { 0 } else { OF_PYTHON };
    let start = |at: usize| {
        let program = if at < python { Program::Python } else { Program::Ez };
        let breakpoint = json!({"line": program.line("add")});
        office.begin(
            "debugger_start",
            json!({"program": program.source(), "breakpoints": [breakpoint], "wait_ms": LONGEST_WAIT}),
        )
    };
    let mut ids = Vec::new();
    for first in (0..SESSIONS).step_by(AT_ONCE) {
        let sent: Vec<_> = (first..SESSIONS.min(first + AT_ONCE)).map(start).collect();
        ids.extend(sent.into_iter().map(|sent| office.paused(office.reply(sent)).session()));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), SESSIONS, "each has an id of its own");
    let several = office.failed("debugger_continue", json!({}));
    assert!(several.text.contains("several sessions"), "{several:?}");
    office.ok("debugger_get_session", json!({}));

    for reply in all(&office, "debugger_step", &ids) {
        assert_eq!((reply.state(), &reply.data["reason"]), ("paused", &"step".into()), "{reply:?}");
    }
    let mut running = ids;
    for _ in 0..4 {
        let replies = all(&office, "debugger_continue", &running);
        let is_over = |reply: &Reply| reply.state() == "ended";
        for ended in replies.iter().filter(|reply| is_over(reply)) {
            assert_eq!(ended.data["exit_code"], Value::from(0), "{ended:?}");
        }
        running = replies.iter().filter(|reply| !is_over(reply)).map(Reply::session).collect();
    }
    assert!(running.is_empty(), "{running:?} have not ended");
    office.rig.only_the_daemon_is_left_beside(door);

    let same = || ((descriptors(door.cast_signed()), threads(door)) == before).then_some(());
    wait::until(LONG, same).unwrap_or_else(|| {
        panic!("before {before:?}, now {:?} and {} threads", descriptors(door.cast_signed()), threads(door))
    });
    assert!(peak(door.cast_signed()) < 200 << 20, "{}", peak(door.cast_signed()));
    office.close();
}
