//! Rows about ends: exit codes, restart, terminate, disconnect.

use serde_json::{Value, json};

use super::adapter::Adapter;
use super::session::{DONE, SUMS, Session};

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
    if adapter.stops.runs_on_at_end {
        session.client.output_containing("sum 10");
        return session.ended_but(0, "", |_| true);
    }
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
