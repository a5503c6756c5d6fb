//! The adapters of the built-in catalog, as they are installed: found, asked for their version, started, answering.

use std::time::Duration;

use breakroom_engines::{Catalog, Context, Mode, Stop, start};

use crate::support::{guard, launch, read_until, within, write};

async fn answers(kind: &str) {
    let context = Context::of_this_process();
    let catalog = Catalog::load(&context).unwrap();
    let entry = catalog.by_type(kind).unwrap();
    let found = entry.find(&context).unwrap();
    let version = entry.version(&found, &context);
    assert!(version.as_ref().is_some_and(|version| version.contains('.')), "{kind}: {version:?}");
    let mut spec = entry.spec(&found, None).unwrap();
    spec.connection_timeout = Duration::from_secs(60);
    let mut engine = start(&spec, &context, guard()).await.unwrap();
    let body = r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x","pathFormat":"path"}}"#;
    write(&engine.writer, &format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    let answered = |text: &str| text.contains("\"supportsConfigurationDoneRequest\"");
    assert!(answered(&read_until(&engine.reader, answered).await), "{kind}");
    engine.process.stop(Stop::End { grace: Duration::ZERO });
    within("the guard's end", engine.process.gone()).await;
}

#[tokio::test]
async fn debugpy_is_found_started_and_answers() {
    answers("debugpy-stock").await;
}

#[tokio::test]
async fn lldb_is_found_started_and_answers() {
    answers("lldb").await;
}

#[tokio::test]
async fn delve_is_found_started_and_answers() {
    answers("go").await;
}

/// A server as js-debug is one: which breakpoint it has set it knows a turn behind the answer.
const LEARNS_LATE: &str = r#"
let known = false;
require("net").createServer((connection) => {
  let heard = "";
  connection.on("data", (bytes) => {
    const messages = (heard + bytes).split("\0");
    heard = messages.pop();
    for (const message of messages) {
      if (message === "set") Promise.resolve().then(() => (known = true));
      connection.write(message + (known ? " known" : "") + "\n");
      if (message.includes("paused")) known = false;
    }
  });
}).listen(process.argv[2]);
"#;

#[tokio::test]
async fn js_debug_is_told_of_a_pause_a_turn_behind_what_it_needs_to_know_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = folder.path().join("server.cjs");
    std::fs::write(&server, LEARNS_LATE).unwrap();
    let context = Context::of_this_process();
    let catalog = Catalog::built_in(&context).unwrap();
    let script = catalog.by_type("pwa-node").unwrap().script.as_deref().unwrap();
    let arguments = ["node", "-e", script, server.to_str().unwrap(), "{{socket}}", "", ""];
    let engine = launch(Mode::Unix, &arguments).await.unwrap();
    let paused = r#"{"method":"Debugger.paused"}"#;
    // All of it in one breath: also two pauses, what comes behind them, and words that have an end only later.
    write(&engine.writer, &format!("set\0{paused}\0next\0set\0of a worker: {paused}\0{paused}\0la"));
    write(&engine.writer, "st\0");
    let heard = read_until(&engine.reader, |text| text.contains("last")).await;
    let told = format!("set\n{paused} known\nnext\nset\nof a worker: {paused} known\n{paused}\nlast\n");
    assert_eq!(heard, told);
}
