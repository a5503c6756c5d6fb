//! Start, ready, stop and what comes before, between and after them.

use serde_json::json;

use crate::PROGRAM;
use crate::support::visual_studio::Server;

#[test]
fn s039_session_stops_at_a_breakpoint_and_runs_to_its_end() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.begin("g.ez", &[11]);
    assert_eq!(vs.stopped("breakpoint"), 11);
    let variables = vs.variables(1);
    assert_eq!(variables["x"]["value"], "1");
    vs.call("continue", json!({"threadId": 1}));
    assert_eq!(vs.event("continued")["threadId"], 1);
    assert_eq!(vs.output("stdout", "y is 2"), "y is 2\n");
    assert_eq!(vs.event("program_exited")["exitCode"], 0);
    vs.stop();
    server.end();
}
