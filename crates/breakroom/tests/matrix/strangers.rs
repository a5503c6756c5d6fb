//! A client that nobody here wrote: the one that VS Code's own adapters are tested with.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use breakroom_testkit::{adapters, wait};
use serde_json::json;

use super::adapter::Adapter;
use super::session::DONE;
use crate::editor::{Desk, Hub};

/// A breakpoint, the stack, scopes and variables, a step and the end, over TCP through the shared hub.
pub fn vscode(adapter: &'static Adapter) {
    if adapters::skipped("vscode-client") {
        return;
    }
    let desk = Desk::new();
    let mut door = desk.door(Hub::Shared, &["--listen", "127.0.0.1:0"]);
    let mut door = door.stdout(Stdio::piped()).spawn().expect("the built binary can be started");
    let mut line = String::new();
    BufReader::new(door.stdout.as_mut().expect("it was asked for"))
        .read_line(&mut line)
        .expect("it says where");
    let port = line.trim_end().rsplit(':').next().unwrap_or_default().to_owned();
    let debuggee = adapter.program.debuggee(desk.sandbox.work());
    let wanted = json!({
        "type": adapter.name, "launch": (adapter.launch)(&debuggee, None), "path": debuggee.source,
        "line": adapter.program.line("call"), "verified": adapter.stops.verified_at_once, "printed": DONE.trim_end(),
    });
    let mut node = desk.sandbox.program("node");
    node.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/vscode.js"))
        .arg(adapters::folder().join("vscode-client"))
        .args([port, wanted.to_string()]);
    // Over a socket that client waits for ever.
    let said = desk.sandbox.work().join("said");
    let file = File::create(&said).expect("the work folder is writable");
    node.stdin(Stdio::null()).stderr(file.try_clone().expect("a file can be shared")).stdout(file);
    let mut client = node.spawn().expect("node is there");
    let status = wait::for_exit(&mut client, wait::DEADLINE);
    let _ = client.kill();
    let text = std::fs::read_to_string(&said).expect("it was just written");
    let well = status.is_some_and(|status| status.success()) && text.contains("done");
    assert!(well, "it ended with {status:?} and said this: {text}");
    assert!(text.lines().any(|line| line.starts_with("variables ") && line.len() > 10), "{text}");
    door.kill().expect("it is ours");
    door.wait().expect("it is ours");
    desk.leave(Hub::Shared);
}
