//! Both sides against each other: a DAP client over the adapter, whose runtime is our own Visual Studio front end.

use serde_json::{Value, json};

use crate::support::editor::{Hub, introduction};
use crate::support::visual_studio::Server;

const PROGRAM: &str = "\
import @std
using std

const Point struct {
    x, y int
}

do main() {
    temp list = {10, 20, 30}
    temp point = Point{x: 1, y: 2}
    temp n = 5
    for i in range(0, 4) {
        n = n + i // 13
    }
    println(n, list[0], point.x)
    exit(4)
}
";

#[test]
fn program_is_debugged_through_both_sides_of_the_protocol() {
    let server = Server::over("p.ez", PROGRAM);
    let file = server.file("p.ez").to_string_lossy().into_owned();
    let mut client = server.desk.editor(Hub::Private, &["--type", "remote-runtime"]);
    client.allow(&["capabilities", "output", "continued", "thread", "breakpoint"]);
    client.call("initialize", introduction(json!({})));
    let arguments =
        json!({"type": "remote-runtime", "port": server.port(), "cwd": server.desk.sandbox.work()});
    let attach = client.request("attach", arguments);
    client.event("initialized");
    client.response(attach);
    // A condition goes to the runtime, a log message and a hit count are evaluated by the hub.
    let breakpoints = json!([{"line": 13, "condition": "i > 1"}]);
    let set = client.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": breakpoints}));
    assert_eq!(set["body"]["breakpoints"][0]["verified"], true, "{set}");
    client.call("configurationDone", Value::Null);
    let stopped = client.event("stopped");
    assert_eq!(stopped["body"]["reason"], "breakpoint", "{stopped}");
    let thread = &stopped["body"]["threadId"];
    let stack = client.call("stackTrace", json!({"threadId": thread}));
    let frame = &stack["body"]["stackFrames"][0];
    assert_eq!((&frame["line"], &frame["source"]["path"]), (&json!(13), &json!(file)));
    let value = |client: &mut breakroom_testkit::Strict, expression: &str| {
        let arguments = json!({"expression": expression, "frameId": frame["id"]});
        client.call("evaluate", arguments)["body"].clone()
    };
    assert_eq!(value(&mut client, "i")["result"], "2");
    let list = value(&mut client, "list");
    let reference = &list["variablesReference"];
    let part = client.call(
        "variables",
        json!({"variablesReference": reference, "filter": "indexed", "start": 1, "count": 1}),
    );
    assert_eq!(part["body"]["variables"][0]["value"], "20", "{part}");
    let scopes = client.call("scopes", json!({"frameId": frame["id"]}));
    let locals = &scopes["body"]["scopes"][0]["variablesReference"];
    client.call("variables", json!({"variablesReference": locals}));
    client.call("setVariable", json!({"variablesReference": locals, "name": "n", "value": "100"}));
    assert_eq!(value(&mut client, "n")["result"], "100");
    client.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": []}));
    client.call("next", json!({"threadId": thread}));
    assert_eq!(client.event("stopped")["body"]["reason"], "step");
    client.call("continue", json!({"threadId": thread}));
    client.output_containing("105 10 1");
    assert_eq!(client.event("exited")["body"]["exitCode"], 4);
    client.event("terminated");
    client.call("disconnect", Value::Null);
    client.finish();
    server.end();
}

#[test]
fn hit_counts_and_log_messages_are_the_hubs() {
    let server = Server::over("p.ez", PROGRAM);
    let file = server.file("p.ez");
    let mut client = server.desk.editor(Hub::Private, &["--type", "remote-runtime"]);
    client.allow(&["capabilities", "output", "continued", "thread", "breakpoint"]);
    client.call("initialize", introduction(json!({})));
    let attach = client.request("attach", json!({"type": "remote-runtime", "port": server.port()}));
    client.event("initialized");
    client.response(attach);
    let breakpoints = json!([{"line": 13, "hitCondition": "3"}, {"line": 15, "logMessage": "n is {n}"}]);
    client.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": breakpoints}));
    client.call("configurationDone", Value::Null);
    let thread = client.event("stopped")["body"]["threadId"].clone();
    let stack = client.call("stackTrace", json!({"threadId": thread}));
    let frame = &stack["body"]["stackFrames"][0]["id"];
    let hit = client.call("evaluate", json!({"expression": "i", "frameId": frame}));
    assert_eq!(hit["body"]["result"], "2");
    client.call("continue", json!({"threadId": thread}));
    client.output_containing("n is 11");
    client.event("exited");
    client.event("terminated");
    client.call("disconnect", Value::Null);
    client.finish();
    server.end();
}
