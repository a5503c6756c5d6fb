//! What calls answer where a session is full of long names, or arguments are filled in with nothing: whole calls, in a hub
//! that is made up.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::hub::{Engine, MadeUp, call};
use crate::door::Door;
use crate::session::seen::Seen;

/// What a stopped program is asked again and again.
struct Standing {
    stop: Value,
    frame: Value,
    /// What is in a scope or a value, by its reference. The locals are 9.
    variables: Value,
    /// How often its stack was asked for.
    looks: Arc<AtomicUsize>,
}

impl Standing {
    fn with(variables: Value) -> Standing {
        Standing {
            stop: json!({"threadId": 7, "reason": "breakpoint"}),
            frame: json!({"id": 1, "name": "main", "line": 1, "column": 1}),
            variables,
            looks: Arc::default(),
        }
    }

    fn door(self) -> Arc<Door> {
        MadeUp::default().with(Some("a"), move |engine| engine.stands(&self)).door()
    }
}

impl Engine {
    /// Stands in one place, to the end. It evaluates nothing.
    fn stands(mut self, standing: &Standing) {
        self.begin(std::slice::from_ref(&standing.stop));
        while let Some(request) = self.next() {
            let body = match request["command"].as_str().unwrap() {
                "stackTrace" => {
                    standing.looks.fetch_add(1, Ordering::Relaxed);
                    json!({"stackFrames": [standing.frame], "totalFrames": 1})
                }
                "scopes" => {
                    json!({"scopes": [{"name": "Locals", "variablesReference": 9, "expensive": false}]})
                }
                "variables" => {
                    let reference = request["arguments"]["variablesReference"].to_string();
                    json!({"variables": standing.variables[reference]})
                }
                "evaluate" => {
                    self.refuse(&request, "there is no such name");
                    continue;
                }
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
    let total = json!({"name": "total", "value": "42", "type": "int", "variablesReference": 0});
    let frame = json!({"id": 1, "name": name, "line": 1, "column": 1});
    let door = Standing { frame, ..Standing::with(json!({"9": [total]})) }.door();
    let told = call(&door, "debugger_start", start()).await;
    assert!(told.text.contains("total: int = 42") && told.text.contains("fold<std::"), "{told:?}");
    assert_eq!(told.data["locals"][0]["name"], "total", "{told:?}");
    assert_eq!(told.data.get("left_out"), None, "{told:?}");
    let function = told.data["function"].as_str().unwrap();
    assert!(function.starts_with("fold<std::") && function.len() < 200, "{told:?}");
}

#[tokio::test]
async fn several_expressions_that_all_fail_are_a_failure_with_a_next_step() {
    let door = Standing::with(json!({"9": []})).door();
    call(&door, "debugger_start", start()).await;
    for (expressions, next) in [
        (json!(["a", "b"]), "Next: debugger_inspect with what=variables"),
        (json!(["a", "b = 2"]), "Next: debugger_set_variable assigns"),
    ] {
        let told = call(&door, "debugger_evaluate", json!({"expressions": expressions})).await;
        assert!(told.is_error && told.text.contains(next), "{told:?}");
        assert!(told.text.contains("a = <there is no such name>"), "{told:?}");
        assert!(told.data["error"].as_str().unwrap().contains("none of 2"), "{told:?}");
    }
}

#[tokio::test]
async fn behind_the_last_element_there_are_none() {
    let many = json!({"name": "many", "value": "[...]", "indexedVariables": 2_000, "variablesReference": 10});
    let few = json!({"name": "few", "value": "[...]", "indexedVariables": 1, "variablesReference": 10});
    // Asked for none, a debugger gives all.
    let all = json!([{"name": "0", "value": "'first'", "variablesReference": 0}]);
    let door = Standing::with(json!({"9": [many, few], "10": all})).door();
    call(&door, "debugger_start", start()).await;
    for (variable, says) in
        [("many", "it has 2000, and none from start=5000"), ("few", "it has 1, and none from start=5000")]
    {
        let told = call(&door, "debugger_inspect", json!({"variable": variable, "start": 5_000})).await;
        assert!(!told.is_error && told.text.contains(says), "{told:?}");
        assert_eq!(told.data["variables"], json!([]), "{told:?}");
    }
}

#[tokio::test]
async fn of_many_objects_those_are_looked_into_that_were_asked_for() {
    let object =
        |at: usize| json!({"name": format!("order{at}"), "value": "0x55d0", "variablesReference": 10});
    let objects: Vec<Value> = (0..9).map(object).collect();
    let fields = json!([{"name": "id", "value": "3", "variablesReference": 0}]);
    let door = Standing::with(json!({"9": objects, "10": fields})).door();
    call(&door, "debugger_start", start()).await;
    let filtered = json!({"what": "variables", "filter": "ORDER8"});
    let told = call(&door, "debugger_inspect", filtered).await;
    assert!(told.text.contains("order8 = 0x55d0 {id: 3}"), "{told:?}");
}

#[tokio::test]
async fn a_stop_of_another_breakpoint_is_not_looked_at_for_the_sake_of_conditions() {
    for (hit, looks) in [(99, 1), (1, 2)] {
        let stop = json!({"threadId": 7, "reason": "breakpoint", "hitBreakpointIds": [hit]});
        let standing = Standing { stop, ..Standing::with(json!({"9": []})) };
        let looked = standing.looks.clone();
        let hub = MadeUp::default().with(Some("a"), move |mut engine| {
            let set = engine.until("setFunctionBreakpoints");
            engine.answer_with(&set, json!({"breakpoints": [{"id": 1}, {"id": 2}, {"id": 3}]}));
            engine.stands(&standing);
        });
        let breakpoint = |function: &str| json!({"function": function, "condition": "n > 1"});
        let breakpoints = ["f", "g", "h"].map(breakpoint);
        let start = json!({"program": "/bin/made-up", "breakpoints": breakpoints, "wait_ms": 45_000});
        let told = call(&hub.door(), "debugger_start", start).await;
        assert_eq!(told.text.contains("breakpoint 1 stops each time"), hit == 1, "{told:?}");
        assert_eq!(looked.load(Ordering::Relaxed), looks, "{told:?}");
    }
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
    let shown = call(&door, "debugger_inspect", json!({"what": "source", "start": 0, "count": 0})).await;
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
