//! A session whose engine is an external `ez debugserver`: a stand-in for it, in the PATH of an editor's door.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::path::PathBuf;

use breakroom_testkit::{Request, Strict, fake_ez};
use serde_json::{Value, json};

use super::editor::{Desk, Hub, extend, introduction};

/// Where a program of the stand-in's toy language stops, and what it is.
pub struct Ez {
    pub desk: Desk,
    pub client: Strict,
    pub program: PathBuf,
    habits: &'static str,
}

impl Ez {
    /// An editor that is about to debug this program with a server of these habits.
    pub fn open(habits: &'static str, program: &str) -> Ez {
        let desk = Desk::new();
        let file = desk.sandbox.work().join("program.ez");
        std::fs::write(&file, program).expect("the work folder is writable");
        let mut door = desk.door(Hub::Private, &["--type", "ez-debugserver"]);
        door.env("PATH", path_with_ez(&desk));
        let mut client = Strict::spawn(door);
        client.allow(&["capabilities"]);
        client.call("initialize", introduction(json!({})));
        Ez { desk, client, program: file, habits }
    }

    pub fn request_launch(&mut self, more: Value) -> Request {
        let mut arguments =
            json!({"program": self.program, "env": {(fake_ez::HABITS_VARIABLE): self.habits}});
        extend(&mut arguments, more);
        self.client.request("launch", arguments)
    }

    /// Launches with breakpoints on these lines, and returns what the server made of them.
    pub fn launch(&mut self, lines: &[i64], more: Value) -> Vec<Value> {
        let launch = self.request_launch(more);
        self.client.event("initialized");
        let set = self.set_breakpoints(lines);
        self.client.call("configurationDone", Value::Null);
        self.client.response(launch);
        set
    }

    pub fn set_breakpoints(&mut self, lines: &[i64]) -> Vec<Value> {
        let breakpoints: Vec<Value> = lines.iter().map(|line| json!({"line": line})).collect();
        let arguments = json!({"source": {"path": self.program}, "breakpoints": breakpoints});
        let set = self.client.call("setBreakpoints", arguments);
        set["body"]["breakpoints"].as_array().cloned().expect("a list is answered")
    }

    /// Waits for a stop of this reason whose frames are these, innermost first; returns the frames' ids.
    pub fn stopped(&mut self, reason: &str, frames: &[(&str, i64)]) -> Vec<Value> {
        let stopped = self.client.event("stopped");
        assert_eq!(stopped["body"]["reason"], reason, "{stopped}");
        self.stack(frames)
    }

    pub fn stack(&mut self, frames: &[(&str, i64)]) -> Vec<Value> {
        let answer = self.client.call("stackTrace", json!({"threadId": 1}));
        let stack = answer["body"]["stackFrames"].as_array().cloned().unwrap_or_default();
        let told: Vec<(&str, i64)> = stack
            .iter()
            .map(|frame| (frame["name"].as_str().unwrap_or_default(), frame["line"].as_i64().unwrap_or(-1)))
            .collect();
        assert_eq!(told, frames, "{answer}");
        let here = |frame: &Value| frame["source"]["path"] == self.program.to_string_lossy().as_ref();
        assert!(stack.iter().all(here), "{answer}");
        stack.iter().map(|frame| frame["id"].clone()).collect()
    }

    pub fn go(&mut self, command: &str) {
        self.client.call(command, json!({"threadId": 1}));
    }

    /// `name type value` of each variable of a frame.
    pub fn variables(&mut self, frame: &Value) -> Vec<String> {
        let scopes = self.client.call("scopes", json!({"frameId": frame}));
        let scopes = scopes["body"]["scopes"].as_array().cloned().unwrap_or_default();
        assert_eq!(scopes.len(), 1, "{scopes:?}");
        assert_eq!(scopes[0]["name"], "Locals");
        let reference = &scopes[0]["variablesReference"];
        let answer = self.client.call("variables", json!({"variablesReference": reference}));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let variables = answer["body"]["variables"].as_array().cloned().unwrap_or_default();
        let shown =
            |one: &Value| format!("{} {} {}", text(&one["name"]), text(&one["type"]), text(&one["value"]));
        variables.iter().map(shown).collect()
    }

    /// The program's end with this code, and all that it printed by then.
    pub fn ended(mut self, code: i64, stdout: &str, stderr: &str) {
        assert_eq!(self.client.event("exited")["body"]["exitCode"], code);
        self.client.event("terminated");
        self.left(stdout, stderr);
    }

    /// Lets go of the session; all that was printed must have come, and nothing may be left behind.
    pub fn left(mut self, stdout: &str, stderr: &str) {
        self.client.allow(&["output", "terminated"]);
        self.client.call("disconnect", Value::Null);
        let ended = self.client.finish();
        let printed = |category: &str| -> String {
            let outputs = ended.timeline.events("output").filter(|body| body["category"] == category);
            outputs.filter_map(|body| body["output"].as_str()).collect()
        };
        assert_eq!((printed("stdout").as_str(), printed("stderr").as_str()), (stdout, stderr));
        self.desk.leave(Hub::Private);
    }
}

/// PATH with a folder in front of it in which the stand-in is called `ez`.
pub fn path_with_ez(desk: &Desk) -> std::ffi::OsString {
    let folder = desk.sandbox.work().join("bin");
    std::fs::create_dir_all(&folder).expect("the work folder is writable");
    let link = folder.join("ez");
    if !link.exists() {
        std::os::unix::fs::symlink(fake_ez::server_path(), &link).expect("the work folder is writable");
    }
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder].into_iter().chain(std::env::split_paths(&others));
    std::env::join_paths(folders).expect("the folders of a PATH have no colons")
}
