//! Rows about ends: exit codes, restart, terminate, disconnect, and what a stopped program may not do any more.

use breakroom_testkit::wait;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::path::PathBuf;

use super::adapter::Adapter;
use super::session::{DONE, SUMS, Session};
use crate::editor::Hub;

pub fn exit_code(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    session.launch(Some("seven"), json!([]));
    session.client.event("exited");
    session.ended(7, SUMS);
}

/// The program begins anew in the same session; nobody is told that it is over.
pub fn restart(adapter: &'static Adapter) {
    let (mut session, stop) = Session::at(adapter, None, "add", adapter.names.add);
    assert_eq!(session.offered["supportsRestartRequest"], true, "{}", session.offered);
    session.resume(&stop);
    let stop = session.stopped("breakpoint", adapter.names.add, Some("add"));
    assert_eq!(session.evaluate(&stop, adapter.names.first), "1");
    // The old program's threads and breakpoints go, and the new one's come.
    session.client.allow(&["breakpoint", "capabilities", "continued", "thread"]);
    session.client.call("restart", json!({}));
    let stop = session.stopped("breakpoint", adapter.names.add, Some("add"));
    assert_eq!(session.evaluate(&stop, adapter.names.first), "0", "it began anew");
    session.set_breakpoints(json!([]));
    session.resume(&stop);
    session.ended(0, &format!("sum 10\n{SUMS}{DONE}"));
}

pub fn terminate(adapter: &'static Adapter) {
    let mut session = Session::open(adapter);
    session.launch(Some("spin"), json!([]));
    session.client.output_containing("spinning");
    // To end it, some stop it first.
    session.client.allow(&["stopped"]);
    session.client.call("terminate", Value::Null);
    session.client.event("terminated");
    session.abandoned();
}

/// A stopped program is ended by the disconnect of the only client.
pub fn disconnect(adapter: &'static Adapter) {
    let (session, _) = Session::at(adapter, Some("spin"), "spin", adapter.names.spin);
    session.abandoned();
}

/// One loss in four was seen to let a program of js-debug run on.
const LOSSES: usize = 4;

/// How a session is ended, and what that is called.
type Way = (&'static str, fn(&mut Session));

/// However a session is ended, a program that is stopped in it runs no further line.
pub fn ends_where_it_is(adapter: &'static Adapter) {
    let ways: [Way; 4] = [
        ("disconnect", |session| drop(session.client.call("disconnect", json!({})))),
        ("disconnect with the program", |session| {
            session.client.call("disconnect", json!({"terminateDebuggee": true}));
        }),
        ("terminate", |session| {
            session.client.call("terminate", Value::Null);
            session.client.event("terminated");
            session.client.call("disconnect", json!({}));
        }),
        ("SIGTERM of the hub", |session| session.signal_hub(Signal::TERM)),
    ];
    for (way, end) in ways {
        let (mut session, written) = about_to_write(Session::open(adapter));
        end(&mut session);
        // The hub is this client's own, and gone with it; what it left to its guards goes soon after.
        let Session { client, desk, .. } = session;
        client.finish();
        let census = desk.sandbox.census();
        let gone = wait::until(wait::DEADLINE, || census.processes().is_empty().then_some(()));
        gone.unwrap_or_else(|| panic!("{way}: left behind:\n{}", census.left()));
        assert!(!written.exists(), "{way}: the program ran on");
        desk.leave(Hub::Private);
    }
}

/// The same of a session that somebody else kills.
pub fn kill(adapter: &'static Adapter) {
    let (session, written) = about_to_write(Session::open_in(Hub::Shared, adapter, json!({})));
    let Session { mut client, desk, .. } = session;
    let killed = desk.sandbox.command(["kill", "--all"]).output().expect("breakroom can be run");
    assert!(killed.status.success(), "{}", String::from_utf8_lossy(&killed.stderr));
    client.event("terminated");
    client.closed();
    client.abandon();
    let (census, hub) = (desk.sandbox.census(), desk.hub_pid().as_raw_pid());
    let gone = || census.processes().iter().all(|process| process.pid == hub).then_some(());
    wait::until(wait::DEADLINE, gone).unwrap_or_else(|| panic!("left behind by a kill:\n{}", census.left()));
    assert!(!written.exists(), "the program ran on");
    desk.leave(Hub::Shared);
}

/// Nobody is there then who could say in which order things end, so more than one attempt has to show it.
pub fn hub_is_lost(adapter: &'static Adapter) {
    lose_hub(adapter, json!({}));
}

/// The same of programs that the hub gave a terminal of its own, under another guard than the engine's.
pub fn hub_is_lost_with_terminals(adapter: &'static Adapter) {
    if !adapter.skipped() {
        lose_hub(adapter, json!({"console": "integratedTerminal"}));
    }
}

fn lose_hub(adapter: &'static Adapter, more: Value) {
    for attempt in 1..=LOSSES {
        let (session, written) = about_to_write_with(Session::open(adapter), more.clone());
        // The hub is this client's own, and killed with it.
        let Session { client, desk, .. } = session;
        client.abandon();
        let census = desk.sandbox.census();
        let gone = wait::until(wait::DEADLINE, || census.processes().is_empty().then_some(()));
        gone.unwrap_or_else(|| panic!("left behind:\n{}", census.left()));
        assert!(!written.exists(), "loss {attempt} of {LOSSES}: the program ran on");
    }
}

/// A program that stands before the line in which it writes the file, which it has done once.
fn about_to_write(session: Session) -> (Session, PathBuf) {
    about_to_write_with(session, json!({}))
}

fn about_to_write_with(mut session: Session, more: Value) -> (Session, PathBuf) {
    let function = session.adapter.names.add;
    let written = session.desk.sandbox.work().join("written");
    let breakpoints = session.line_breakpoint("add");
    session.launch_with(written.to_str(), more, breakpoints);
    let stop = session.stopped("breakpoint", function, Some("add"));
    assert!(!written.exists(), "it is written behind the breakpoint");
    session.resume(&stop);
    session.stopped("breakpoint", function, Some("add"));
    std::fs::remove_file(&written).expect("the program has written it");
    session.client.allow(&["exited", "terminated", "stopped", "continued"]);
    (session, written)
}

impl Session {
    fn signal_hub(&self, signal: Signal) {
        let hub = self.client.pid().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        rustix::process::kill_process(hub.expect("a private hub is the client's own"), signal).unwrap();
    }
}
