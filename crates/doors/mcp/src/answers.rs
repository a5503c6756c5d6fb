//! What calls answer where a session is full of long names, or arguments are filled in with nothing: whole calls, in a hub
//! that is made up.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::door::Door;
use crate::made_up::{Engine, MadeUp, call};
use crate::seen::Seen;

/// What a stopped program is asked again and again.
struct Standing {
    frames: Value,
    scopes: Value,
    variables: Value,
}

impl Standing {
    fn at(frame: Value) -> Standing {
        Standing { frames: json!([frame]), scopes: json!([]), variables: json!([]) }
    }
}

impl Engine {
    /// Stands in one place, to the end.
    fn stands(mut self, standing: &Standing) {
        self.begin(&[json!({"threadId": 7, "reason": "breakpoint"})]);
        while let Some(request) = self.next() {
            let body = match request["command"].as_str().unwrap() {
                "stackTrace" => json!({"stackFrames": standing.frames, "totalFrames": 1}),
                "scopes" => json!({"scopes": standing.scopes}),
                "variables" => json!({"variables": standing.variables}),
                "disconnect" => return self.answer(&request),
                _ => {
                    self.answer(&request);
                    continue;
                }
            };
            self.answer_with(&request, body);
        }
    }
}

fn start() -> Value {
    json!({"program": "/bin/made-up", "wait_ms": 45_000})
}

#[tokio::test]
async fn the_long_name_of_a_function_leaves_room_for_its_variables() {
    let name = format!("fold<{}>", "std::vector<std::string>, ".repeat(200));
    let variables = json!([{"name": "total", "value": "42", "type": "int", "variablesReference": 0}]);
    let standing = Standing {
        scopes: json!([{"name": "Locals", "variablesReference": 9, "expensive": false}]),
        variables,
        ..Standing::at(json!({"id": 1, "name": name, "line": 1, "column": 1}))
    };
    let door = MadeUp::default().with(Some("a"), move |engine| engine.stands(&standing)).door();
    let told = call(&door, "debugger_start", start()).await;
    assert!(told.text.contains("total: int = 42") && told.text.contains("fold<std::"), "{told:?}");
    assert_eq!(told.data["locals"][0]["name"], "total", "{told:?}");
    assert_eq!(told.data.get("left_out"), None, "{told:?}");
    let function = told.data["function"].as_str().unwrap();
    assert!(function.starts_with("fold<std::") && function.len() < 200, "{told:?}");
}

/// A program that runs, and stops nowhere.
fn running(cwd: &Path, program: &Path, breakpoints: Value) -> (Arc<Door>, Value) {
    let hub = MadeUp::default().with(Some("a"), |mut engine| {
        engine.begin(&[]);
        engine.event("output", json!({"category": "stdout", "output": "tick\n"}));
        engine.rest();
    });
    let start = json!({"program": program, "cwd": cwd, "breakpoints": breakpoints, "wait_ms": 0});
    (hub.door(), start)
}

async fn until(door: &Door, is_so: impl Fn(&Seen) -> bool) {
    let session = door.find("a").unwrap();
    let found = |seen: &mut Seen| is_so(seen).then_some(());
    session.watched.wait_for(Instant::now() + Duration::from_secs(60), found).await.unwrap();
}

/// Files of this content, below a folder of their own.
fn files<const COUNT: usize>(names: [&str; COUNT]) -> (tempfile::TempDir, [PathBuf; COUNT]) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let files = names.map(|name| {
        let file = root.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, format!("told = '{name}'\n")).unwrap();
        file
    });
    (folder, files)
}

#[tokio::test]
async fn breakpoints_are_listed_by_their_file_and_removed_by_any_number_that_is_theirs() {
    let (folder, files) = files(["a.py", "b.py"]);
    let wanted = json!([{"file": files[0], "line": 1}, {"file": files[1], "line": 1}]);
    let (door, start) = running(folder.path(), &files[0], wanted);
    call(&door, "debugger_start", start).await;
    until(&door, |seen| seen.life.has_begun()).await;
    for (arguments, left) in [
        (json!({"remove": [], "file": "", "session_id": ""}), json!([1, 2])),
        (json!({"remove": ""}), json!([1, 2])),
        (json!({"file": "b.py"}), json!([2])),
        (json!({"file": "none.py"}), json!([])),
        (json!({"remove": [1.0]}), json!([2])),
    ] {
        let told = call(&door, "debugger_breakpoints", arguments.clone()).await;
        let listed = told.data["breakpoints"].as_array().unwrap();
        let ids: Vec<&Value> = listed.iter().map(|one| &one["id"]).collect();
        assert!(!told.is_error && json!(ids) == left, "{arguments}: {told:?}");
    }
    let watch = json!({"watch": "x", "condition": "", "hit_count": "", "capture": false});
    let told = call(&door, "debugger_set_breakpoint", watch).await;
    assert!(
        told.text.contains("watches no variables"),
        "only the debugger has something against it: {told:?}"
    );
    let watch = json!({"watch": "x", "condition": "x > 3"});
    let told = call(&door, "debugger_set_breakpoint", watch).await;
    assert!(told.text.contains("`condition` has no effect"), "{told:?}");
}

#[tokio::test]
async fn a_relative_file_means_the_same_in_every_call() {
    let (folder, [program, beside, in_cwd]) = files(["beside/main.py", "beside/b.py", "work/c.py"]);
    let of_door = folder.path().canonicalize().unwrap().join("work");
    let (door, start) = running(&of_door, &program, json!([]));
    call(&door, "debugger_start", start).await;
    until(&door, |seen| seen.life.has_begun()).await;
    // The door of these tests is in the root.
    let from_root = beside.strip_prefix("/").unwrap().to_str().unwrap();
    for (name, meant) in [("b.py", &beside), ("c.py", &in_cwd), (from_root, &beside)] {
        let set = call(&door, "debugger_set_breakpoint", json!({"file": name, "line": 1})).await;
        assert_eq!(set.data["file"], json!(meant), "{set:?}");
        let shown = call(&door, "debugger_inspect", json!({"what": "source", "file": name})).await;
        assert_eq!(shown.data["file"], json!(meant), "{shown:?}");
        let run_to = json!({"file": name, "line": 9, "wait_ms": 0});
        let run_to = call(&door, "debugger_continue", run_to).await;
        assert!(run_to.text.contains(&format!("{} has 1 lines", meant.display())), "{run_to:?}");
        let listed = call(&door, "debugger_breakpoints", json!({"file": name})).await;
        assert_eq!(listed.data["breakpoints"][0]["file"], json!(meant), "{listed:?}");
    }
}

#[tokio::test]
async fn while_a_program_runs_its_own_source_is_shown_and_its_output_by_the_number_of_a_place() {
    let (folder, [program]) = files(["main.py"]);
    let (door, start) = running(folder.path(), &program, json!([]));
    call(&door, "debugger_start", start).await;
    until(&door, |seen| seen.journal.output.end() == 5).await;
    let shown = call(&door, "debugger_inspect", json!({"what": "source"})).await;
    assert!(!shown.is_error && shown.text.contains("told = 'main.py'"), "{shown:?}");
    for arguments in [json!({"cursor": 2}), json!({"cursor": "2"}), json!({"cursor": 2, "what": "rest"})] {
        let told = call(&door, "debugger_inspect", arguments.clone()).await;
        assert_eq!(told.data.get("output"), Some(&json!("ck\n")), "{arguments}: {told:?}");
    }
    let gone = call(&door, "debugger_inspect", json!({"cursor": "r9"})).await;
    assert!(gone.text.contains("nothing is kept under the cursor r9"), "{gone:?}");
}

/// It would be set in what has no lines, and wait for ever.
#[tokio::test]
async fn a_line_without_a_file_is_refused_where_the_program_is_no_source() {
    let (folder, [program]) = files(["app.py"]);
    let executable = folder.path().join("a.out");
    std::fs::write(&executable, b"\x7fELF\0\0\0").unwrap();
    for named in [executable.as_path(), folder.path()] {
        for breakpoint in [json!({"line": 1}), json!({"text": "told"}), json!(1)] {
            let start = json!({"program": named, "args": [program], "breakpoints": [breakpoint]});
            let told = call(&MadeUp::default().door(), "debugger_start", start).await;
            assert!(told.is_error && told.text.contains("is no source\nNext: Name the `file`"), "{told:?}");
        }
    }
}
