//! The adapters of the built-in catalog, as they are installed: found, asked for their version, started, answering.

use std::time::Duration;

use breakroom_engines::{Catalog, Context, Stop, start};

use crate::support::{guard, read_until, within, write};

async fn answers(kind: &str) {
    let context = Context::of_this_process();
    let catalog = Catalog::load(&context).unwrap();
    let entry = catalog.by_type(kind).unwrap();
    let found = entry.find(&context).unwrap();
    let version = entry.version(&found, &context);
    assert!(version.as_ref().is_some_and(|version| version.contains('.')), "{kind}: {version:?}");
    let mut spec = entry.spec(&found, None).unwrap();
    spec.connection_timeout_seconds = 60;
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
