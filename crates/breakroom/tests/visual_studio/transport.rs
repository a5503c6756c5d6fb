//! Lines, numbers and envelopes: what is legal on the wire, and what is survived.

use serde_json::{Value, json};

use crate::support::visual_studio::Server;
use crate::{LOOP, PROGRAM};

#[test]
fn s001_s003_s005_s012_s014_s019_s021_s098_s114_whole_session_keeps_to_the_schemas() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.begin("g.ez", &[11, 12]);
    vs.stopped("breakpoint");
    let x = vs.variables(1)["x"].clone();
    vs.evaluate(1, "x + 1");
    let fields = json!({
        "threadId": 1, "frameId": 1, "addr": x["addr"], "typeId": x["typeId"], "value": "3",
    });
    vs.call("set_variable", fields);
    vs.expand(1, &x, 0, 0);
    vs.refused("get_evaluation", json!({"threadId": 1, "frameId": 1, "expression": "nothing_here"}));
    vs.step(1, "STEP_INTO");
    vs.call("pause", json!({}));
    vs.stopped("pause");
    vs.call("continue", json!({"threadId": 1}));
    assert_eq!(vs.stopped("breakpoint"), 12);
    vs.call("continue", json!({"threadId": 1}));
    vs.output("stdout", "y is 6");
    vs.event("program_exited");
    // The emulator has judged each line; no number was answered twice, and none is open.
    let answers = vs.received.iter().filter(|message| message["type"] == "response").count();
    assert_eq!(answers, 12, "{:#?}", vs.received);
    vs.stop();
    server.end();
}

#[test]
fn s002_text_of_all_languages_passes_and_invalid_utf8_is_survived() {
    let text =
        "import @std\nusing std\n\ndo main() {\n    temp wort = \"grüße 日本\"\n    println(wort) // 6\n}\n";
    let server = Server::over("größe.ez", text);
    let mut vs = server.connect();
    vs.call("start", json!({}));
    vs.write(b"{\"type\": \"request\", \"seq\": 77, \"command\": \"\xff\xfe\"}\n");
    vs.breakpoint("größe.ez", 6);
    vs.tell("ready", json!({}));
    vs.output("error", "a line was ignored");
    let stopped = vs.event("stopped");
    assert_eq!(stopped["file"], "größe.ez");
    assert!(vs.variables(1)["wort"]["value"].as_str().unwrap().contains("grüße 日本"));
    vs.call("continue", json!({"threadId": 1}));
    vs.output("stdout", "grüße 日本");
    vs.event("program_exited");
    vs.stop();
    server.end();
}

#[test]
fn s004_lines_may_end_in_a_carriage_return_too() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    for command in ["start", "get_threads"] {
        let (seq, line) = vs.compose(command, json!({}));
        vs.write(line.replace('\n', "\r\n").as_bytes());
        assert_eq!(vs.response(seq)["success"], true);
    }
    vs.write(b"\r\n\n  \r\n");
    vs.tell("ready", json!({}));
    vs.event("program_exited");
    vs.stop();
    server.end();
}

#[test]
fn s006_long_values_and_output_are_cut_into_lines_below_one_megabyte() {
    let text = "import @std, @strings\nusing std\n\ndo main() {\n    temp long = strings.repeat(\"a\\\"ü\", 1000000)\n    println(long) // 6\n}\n";
    let server = Server::over("l.ez", text);
    let mut vs = server.connect();
    vs.begin("l.ez", &[6]);
    vs.stopped("breakpoint");
    let long = vs.variables(1)["long"]["value"].as_str().unwrap().to_owned();
    assert!(long.len() > 1000, "{}", long.len());
    vs.evaluate(1, "long + long");
    vs.call("continue", json!({"threadId": 1}));
    vs.event("program_exited");
    let printed = vs.received.iter().filter(|message| message["category"] == "stdout");
    let printed: usize = printed.map(|message| message["output"].as_str().unwrap().len()).sum();
    assert_eq!(printed, 4_000_001);
    vs.stop();
    server.end();
}

#[test]
fn s007_messages_without_a_proper_type_are_survived() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.call("start", json!({}));
    vs.tell("ready", json!({}));
    let lines: [&[u8]; 12] = [
        b"{}",
        b"[]",
        b"7",
        b"null",
        b"\"x\"",
        b"{\"type\": 5, \"seq\": 1, \"command\": \"start\"}",
        b"{\"type\": \"response\", \"requestSeq\": 1, \"command\": \"start\", \"success\": true}",
        b"{\"type\": \"event\", \"event\": \"stopped\"}",
        b"{\"seq\": 9, \"command\": \"start\"}",
        b"{\"type\": \"request\", \"command\": \"start\"}",
        b"{\"type\": \"request\", \"seq\": 9}",
        b"{\"type\": \"request\", \"seq\": 9, \"command\": \"start\"",
    ];
    for line in lines {
        vs.write(&[line, b"\n"].concat());
        vs.output("error", "a line was ignored");
        vs.call("get_threads", json!({}));
    }
    vs.stop();
    server.end();
}

#[test]
fn line_that_is_too_long_ends_only_its_connection() {
    let server = Server::over("loop.ez", LOOP);
    let mut vs = server.connect();
    vs.begin("loop.ez", &[]);
    vs.output("stdout", "looping");
    let mut line = vec![b'x'; 3 << 20];
    line.push(b'\n');
    vs.write(&line);
    vs.vanish();
    let mut vs = server.connect();
    vs.begin("loop.ez", &[]);
    vs.call("pause", json!({}));
    vs.stopped("pause");
    vs.stop();
    server.end();
}

#[test]
fn s011_number_that_is_in_flight_is_refused() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    // Both in one write; the first starts a debugger, which takes its time.
    let line = "{\"type\": \"request\", \"seq\": 1, \"command\": \"start\"}\n";
    vs.compose("start", json!({}));
    vs.write([line, line].concat().as_bytes());
    let first = vs.duplicates(1, "start");
    assert_eq!(first.len(), 2);
    let refusals: Vec<&Value> = first.iter().filter(|response| response["success"] == false).collect();
    assert_eq!(refusals.len(), 1, "{first:?}");
    assert!(refusals[0]["message"].as_str().unwrap().contains("in flight"));
    // Once it is answered, the number may come again.
    vs.call("get_threads", json!({}));
    vs.stop();
    server.end();
}

#[test]
fn s017_unknown_fields_are_ignored_in_each_request() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    let more = json!({"extra": {"deep": [1, null]}, "version": "9.9"});
    let with = |mut fields: Value| {
        crate::support::editor::extend(&mut fields, more.clone());
        fields
    };
    vs.call("start", with(json!({})));
    vs.set("g.ez", 11, more.clone());
    vs.tell("ready", with(json!({})));
    assert_eq!(vs.stopped("breakpoint"), 11);
    vs.call("get_threads", with(json!({})));
    vs.call("get_stack", with(json!({"threadId": 1})));
    let scope = vs.call("get_scope", with(json!({"threadId": 1, "frameId": 1})));
    let x = scope["variables"][0].clone();
    let fields = crate::support::visual_studio::property(1, &x, 0, 0);
    vs.call("get_property", with(fields));
    vs.call("get_evaluation", with(json!({"threadId": 1, "frameId": 1, "expression": "x"})));
    let fields = json!({"threadId": 1, "frameId": 1, "addr": x["addr"], "typeId": x["typeId"], "value": "2"});
    vs.call("set_variable", with(fields));
    vs.call("step", with(json!({"threadId": 1, "stepKind": "STEP_OVER", "stepUnit": "STEP_LINE"})));
    vs.stopped("step");
    vs.call("pause", with(json!({})));
    vs.stopped("pause");
    vs.tell("remove_breakpoint", with(json!({"file": "g.ez", "line": 11})));
    vs.call("continue", with(json!({"threadId": 1})));
    vs.event("program_exited");
    vs.stop();
    server.end();
}

#[test]
fn s110_s013_s020_unknown_command_is_refused_by_its_name() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    let why = vs.refused("teleport", json!({}));
    assert!(why.contains("unsupported") && why.contains("teleport"), "{why}");
    // Older names of commands.
    for command in ["get_scopes", "evaluate", "START"] {
        vs.refused(command, json!({"threadId": 1}));
    }
    vs.call("start", json!({}));
    vs.stop();
    server.end();
}

#[test]
fn burst_of_requests_in_one_write_is_answered_in_order() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    vs.begin("g.ez", &[11]);
    vs.stopped("breakpoint");
    let fields = json!({"threadId": 1, "frameId": 1});
    let (seqs, lines): (Vec<i64>, Vec<String>) =
        (0..400).map(|at| vs.compose(["get_stack", "get_scope"][at % 2], fields.clone())).unzip();
    vs.write(lines.concat().as_bytes());
    for seq in &seqs {
        assert_eq!(vs.response(*seq)["success"], true);
    }
    let answered: Vec<i64> =
        vs.received.iter().filter_map(|message| message["requestSeq"].as_i64()).collect();
    assert!(answered.ends_with(&seqs), "{answered:?}");
    vs.stop();
    server.end();
}

#[test]
fn requests_in_small_pieces_are_put_together() {
    let server = Server::over("g.ez", PROGRAM);
    let mut vs = server.connect();
    let (seq, line) = vs.compose("start", json!({}));
    for piece in line.as_bytes().chunks(3) {
        vs.write(piece);
    }
    assert_eq!(vs.response(seq)["success"], true);
    // Half a request at the end of a connection is none.
    vs.write(b"{\"seq\": 9, \"type\": \"request\", \"comm");
    vs.vanish();
    let mut vs = server.connect();
    vs.begin("g.ez", &[]);
    vs.event("program_exited");
    vs.stop();
    server.end();
}
