//! A runtime with the habits of the author's own one: refused start, empty messages, texts between messages, forward slashes.

use serde_json::{Value, json};

use crate::support::editor::{Desk, Hub, introduction};
use crate::support::script_runtime::{Listening, SCRIPT, ScriptRuntime};

/// Answers as that runtime does: with spaces at the colons, escaped slashes and an empty message.
fn answer(runtime: &mut ScriptRuntime, request: &Value, fields: &str) {
    runtime.write("test connection\n");
    let (seq, command) = (&request["seq"], &request["command"]);
    let fields = fields.replace('/', "\\/");
    runtime.write(&format!(
        "{{ \"type\" : \"response\", \"command\" : {command}, \"requestSeq\" : {seq}, \"success\" : true, \"message\" : \"\"{fields} }}\r\n"
    ));
}

#[test]
fn s122_reference_runtime_is_debugged_in_spite_of_its_habits() {
    let (desk, listening) = (Desk::new(), Listening::new());
    let script = desk.sandbox.work().join(SCRIPT);
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    std::fs::write(&script, "void main() {\n}\n").unwrap();
    let mut client = desk.editor(Hub::Private, &["--type", "remote-runtime"]);
    client.allow(&["capabilities", "output", "continued"]);
    client.call("initialize", introduction(json!({})));
    let attach = client.request(
        "attach",
        json!({"type": "remote-runtime", "port": listening.port(), "cwd": desk.sandbox.work()}),
    );
    let mut runtime = listening.accept();
    let start = runtime.expect("start");
    runtime.refuse(&start, "No script engine available");
    let threads = runtime.expect("get_threads");
    answer(&mut runtime, &threads, ", \"threads\" : []");
    client.response(attach);
    client.event("initialized");
    client.output_containing("No script engine available");
    let breakpoints = json!([{"line": 12, "condition": "i > 10"}]);
    client.call("setBreakpoints", json!({"source": {"path": script}, "breakpoints": breakpoints}));
    client.call("configurationDone", Value::Null);
    let set = runtime.expect("set_breakpoint");
    // It drops a request in which a field is missing, and takes backslashes apart.
    for field in [
        "file",
        "line",
        "function",
        "functionLineOffset",
        "enabled",
        "conditionType",
        "condition",
        "seq",
        "type",
    ] {
        assert!(!set[field].is_null(), "{field}: {set}");
    }
    assert_eq!((&set["file"], &set["condition"]), (&json!(SCRIPT), &json!("i > 10")));
    runtime.expect("ready");
    runtime.write("{ \"type\" : \"event\", \"event\" : \"output\", \"output\" : \"echo\" }\n");
    runtime.stopped("breakpoint", 17_342, SCRIPT, 12);
    let stopped = client.event("stopped");
    assert_eq!(stopped["body"]["reason"], "breakpoint");
    assert!(stopped["body"]["hitBreakpointIds"].is_array(), "{stopped}");
    let thread = &stopped["body"]["threadId"];
    let asked = client.request("stackTrace", json!({"threadId": thread}));
    let request = runtime.expect("get_stack");
    let frames = format!(
        ", \"threadId\" : 17342, \"frames\" : [ {{ \"id\" : 0, \"name\" : \"void main()\", \"file\" : \"{SCRIPT}\", \"line\" : 12 }} ]"
    );
    answer(&mut runtime, &request, &frames);
    let stack = client.response(asked);
    let frame = &stack["body"]["stackFrames"][0];
    assert_eq!(frame["source"]["path"], script.to_string_lossy().as_ref());
    let stepped = client.request("next", json!({"threadId": thread}));
    let step = runtime.expect("step");
    // It resumes before it answers.
    runtime.stopped("step", 17_342, SCRIPT, 13);
    answer(&mut runtime, &step, "");
    client.response(stepped);
    client.event("stopped");
    let paused = client.request("pause", json!({"threadId": thread}));
    let request = runtime.expect("pause");
    runtime.refuse(&request, "unsupported");
    client.failure(paused);
    let left = client.request("disconnect", Value::Null);
    while runtime.next().is_some_and(|request| request["command"] != "stop") {}
    client.response(left);
    client.allow(&["terminated"]);
    client.finish();
    desk.leave(Hub::Private);
}
