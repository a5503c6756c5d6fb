//! Programs of this machine, as somebody sees them who only names a file: where they begin, how their values read, what a
//! crash left.

use std::process::Command;

use breakroom_testkit::adapters;
use serde_json::json;

use crate::support::editor::Hub;
use crate::{Place, Told, begin, needs};

const C: &str = "int boom(int *where) {\n    return *where;\n}\n\nint main(void) {\n    int number = 3;\n    return boom(number ? 0 : \
                 &number);\n}\n";

/// What a `String` has no room for is where it would be read, if it were taken for one.
const RUST_VALUES: &str = r#"use std::collections::{BTreeMap, BTreeSet, HashMap};
struct Point { x: i32, name: String }
fn look(list: &Vec<i32>, point: &Point) -> usize {
    list.len() + point.name.len()
}
fn main() {
    let list = vec![1, 2, 3, 4, 5];
    let names = vec![String::from("a"), String::from("b")];
    let none: Option<String> = None;
    let empty = Some(String::new());
    let wrong: Result<i32, String> = Err("bad".to_owned());
    let map = HashMap::from([(String::from("one"), 1)]);
    let point = Point { x: 1, name: String::from("p") };
    let bytes = [65u8; 20].to_vec();
    let tree = BTreeMap::from([(1, vec!["a"]), (2, vec!["b"])]);
    let set: BTreeSet<usize> = (0..40).collect();
    println!("{}", look(&list, &point));
    println!("{list:?} {names:?} {none:?} {empty:?} {wrong:?} {map:?} {bytes:?} {tree:?} {set:?} {}", point.x);
}
"#;

const READS: &str = "#include <stdio.h>\nint main(void) {\n    char line[80] = \"\";\n    fgets(line, 80, stdin);\n    printf(\"got %s\", \
                     line);\n    return 0;\n}\n";

const RUST: &str = "fn main() {\n    let text = String::from(\"hello\");\n    let slice: &str = \"world\";\n    let list = vec![1, 2, \
                    3];\n    let some = Some(5);\n    println!(\"{text} {slice} {list:?} {some:?}\");\n}\n";

/// Every debugger of native programs that is here.
const DEBUGGERS: [&str; 4] = ["lldb", "codelldb", "gdb", "cdt-gdb"];

pub(super) fn debuggers() -> impl Iterator<Item = &'static str> {
    DEBUGGERS.into_iter().filter(|name| !adapters::skipped(name))
}

#[test]
fn a_program_begins_in_its_own_main() {
    let place = Place::new();
    place.write("c.c", C);
    place.write("my-tool.rs", RUST);
    let made = Command::new(needs("rustc")).args(["-g", "my-tool.rs"]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
    for debugger in debuggers() {
        let told = place.run(".", &["--type", debugger, "c.c"], "quit\n");
        told.shows(&["stopped: entry at c.c:6 in main"]);
        // It knows no `main` but that of C.
        if debugger == "cdt-gdb" {
            continue;
        }
        let told = place.run(".", &["--type", debugger, "my-tool"], "next\nbt\nquit\n");
        told.shows(&["stopped: entry at my-tool.rs:2 in my_tool::main", "my-tool.rs:3"]);
        assert!(!told.out.contains("breakpoint"), "nobody set one: {told:?}");
    }
    place.leave(Hub::Private);
}

#[test]
fn a_breakpoint_of_ones_own_at_the_entry_is_hit_there() {
    let place = Place::new();
    place.write("c.c", C);
    for debugger in debuggers() {
        let told = place.run(".", &["--type", debugger, "--break", "6", "c.c"], "next\nrestart\nbt\nquit\n");
        told.shows(&["c.c:6 in main", "c.c:7"]);
    }
    place.leave(Hub::Private);
}

#[test]
fn the_values_of_a_rust_program_read_well() {
    let place = Place::new();
    place.write("t.rs", RUST);
    let made = Command::new(needs("rustc")).args(["-g", "t.rs"]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
    for debugger in debuggers().filter(|name| name.ends_with("lldb")) {
        let told = place.run(".", &["--type", debugger, "--break", "t.rs:6", "t"], "locals\ncontinue\n");
        told.shows(&["text = \"hello\"", "slice = \"world\"", "list = [1, 2, 3]", "some = Some(5)"]);
        assert!(!told.out.contains("error:") && !told.errors.contains("error:"), "{told:?}");
    }
    place.leave(Hub::Private);
}

#[test]
fn what_is_in_the_values_of_a_rust_program_is_told_at_the_stop() {
    let place = Place::new();
    place.write("values.rs", RUST_VALUES);
    for debugger in debuggers().filter(|name| name.ends_with("lldb")) {
        let arguments = ["--type", debugger, "--break", "17", "--break", "4", "values.rs"];
        let told = place.run(".", &arguments, "print list\ncontinue\nbt\nprint list\ncontinue\n");
        told.shows(&[
            "breakpoint at values.rs:17 in values::main\n",
            "breakpoint at values.rs:4 in values::look\n",
        ]);
        told.shows(&["  list = [1, 2, 3, 4, 5]\n", "  names = [\"a\", \"b\"]\n", "  none = None\n"]);
        told.shows(&["  empty = Some(\"\")\n", "  wrong = Err(\"bad\")\n", "  map = {\"one\": 1}\n"]);
        told.shows(&["  point = Point {x: 1, name: \"p\"}\n"]);
        told.shows(&["  bytes = [65, 65, 65, 65, 65, 65, 65, 65, 65, 65, …]\n", "list = [1, 2, 3, 4, 5]\n"]);
        told.shows(&["  tree = {1: [\"a\"], 2: [\"b\"]}\n", "  set = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …}\n"]);
        told.shows(&[" in values::look\n", " in values::main\n"]);
        assert!(!told.out.contains("Traceback") && !told.errors.contains("Traceback"), "{told:?}");
    }
    place.leave(Hub::Private);
}

/// Another's file in the launcher's folder would say which compiler that is, and one that is missing is fetched first.
#[test]
fn the_compiler_that_is_asked_is_not_the_folders_and_holds_nobody_up() {
    let place = Place::new();
    place.write("t.rs", RUST);
    let made = Command::new(needs("rustc")).args(["-g", "t.rs"]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
    let asked = place.path("asked");
    place.write_program("bin/rustc", &format!("#!/bin/sh\npwd >> {}\nexec sleep 600\n", asked.display()));
    for debugger in debuggers().filter(|name| name.ends_with("lldb")) {
        let _ = std::fs::remove_file(&asked);
        let told = place.run(".", &["--type", debugger, "--break", "t.rs:6", "t"], "quit\n");
        told.shows(&["stopped: breakpoint at t.rs:6"]);
        assert!(!told.out.contains("Traceback") && !told.errors.contains("Traceback"), "{told:?}");
        assert_eq!(std::fs::read_to_string(&asked).unwrap(), "/\n", "{debugger}");
    }
    place.leave(Hub::Private);
}

/// It says nothing then, and a path that is made of nothing is one in the launcher's folder.
#[test]
fn a_compiler_that_fails_does_not_make_a_script_of_the_folder_run() {
    let place = Place::new();
    place.write("t.rs", RUST);
    let made = Command::new(needs("rustc")).args(["-g", "t.rs"]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
    let ran = place.path("ran");
    place.write_program("bin/rustc", "#!/bin/sh\nexit 1\n");
    place.write("lib/rustlib/etc/lldb_lookup.py", &format!("open({ran:?}, 'w').write('it ran')\n"));
    place.write("lib/rustlib/etc/lldb_commands", "");
    for debugger in debuggers().filter(|name| name.ends_with("lldb")) {
        let told = place.run(".", &["--type", debugger, "--break", "t.rs:6", "t"], "quit\n");
        told.shows(&["stopped: breakpoint at t.rs:6"]);
        assert!(!ran.exists(), "{debugger} ran it");
    }
    place.leave(Hub::Private);
}

#[test]
fn input_that_a_programs_arguments_redirect_is_left_so() {
    if adapters::skipped("cdt-gdb") {
        return;
    }
    let place = Place::new();
    place.write("reads.c", READS);
    let from = place.write("in.txt", "from the file\n");
    let redirected = format!("arguments=\"< {}\"", from.display());
    let told = place.run(".", &["--type", "cdt-gdb", "--launch", &redirected, "reads.c"], "continue\n");
    told.shows(&["got from the file", "the program ended with exit code 0"]);
    let told = place.run(".", &["--type", "cdt-gdb", "reads.c"], "continue\ninput from here\n");
    told.shows(&["got from here", "the program ended with exit code 0"]);
    place.leave(Hub::Private);
}

#[test]
fn an_lldb_without_python_stops_on_entry_all_the_same() {
    if adapters::skipped("lldb") {
        return;
    }
    let place = Place::new();
    let file = place.write("c.c", C);
    let made = Command::new(needs("cc")).arg("-g").arg("-o").arg(place.path("c")).arg(file).status();
    assert!(made.unwrap().success());
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "capabilities", "process", "module", "thread", "breakpoint", "continued"]);
    let without = json!({"type": "lldb-dap", "program": place.text("c"), "stopOnEntry": true, "initCommands": ["settings set script-lang none"]});
    begin(&mut client, "launch", without);
    let stop = client.event("stopped")["body"].clone();
    assert_eq!(stop["reason"], "entry", "{stop}");
    let stack = client.call("stackTrace", json!({"threadId": stop["threadId"]}));
    assert_eq!(stack["body"]["stackFrames"][0]["line"], 6, "not where it crashes\n{}", client.timeline());
    client.allow(&["exited", "terminated"]);
    client.call("disconnect", json!({"terminateDebuggee": true}));
    client.finish();
    place.leave(Hub::Private);
}

#[test]
fn a_core_file_is_looked_at_and_does_not_run() {
    let place = Place::new();
    let file = place.write("c.c", C);
    let made = Command::new(needs("cc")).arg("-g").arg("-o").arg(place.path("c")).arg(file).status();
    assert!(made.unwrap().success());
    let script = "run\ngenerate-core-file left\n";
    place.write("script", script);
    let mut gdb = Command::new(needs("gdb"));
    let left =
        gdb.args(["-nx", "-batch", "-x", "script", "./c"]).current_dir(place.path(".")).output().unwrap();
    assert!(place.path("left").exists(), "{left:?}");
    for debugger in debuggers().filter(|name| *name != "cdt-gdb") {
        let commands = "bt\ncontinue\nnext\nprint number\nup\nset number = 4\nprint number\nquit\n";
        let told: Told = place.run(".", &["--type", debugger, "--core", "left", "c"], commands);
        told.shows(&["c.c:2 in boom", "c.c:7 in main", "number = 3"]);
        let said = format!("{}{}", told.out, told.errors);
        assert_eq!(said.matches("this is a core file").count(), 3, "{told:?}");
        assert!(said.contains("nothing of it can be changed") && !said.contains("was left by"), "{told:?}");
    }
    std::fs::copy(place.path("c"), place.path("other")).unwrap();
    let told: Told = place.run(".", &["--core", "left", "other"], "quit\n");
    let left_by = format!("left was left by {}, not by {}", place.text("c"), place.text("other"));
    assert!(told.errors.contains(&left_by), "{told:?}");
    place.run(".", &["--core", "c.c", "c"], "").fails_with(&[
        "c.c is no core file",
        "something else",
        "gcore",
    ]);
    place.leave(Hub::Private);
}

const ENDS: &str = r#"#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct point { int x; double y; };
static void lives_on(int number) { (void)number; }
int main(int argc, char **argv) {
    struct point corner = {3, 1.5};
    const char *how = argc > 1 ? argv[1] : "";
    if (corner.x == 3 && !strcmp(how, "code")) return 11;
    if (!strcmp(how, "segfault")) raise(SIGSEGV);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "killed")) raise(SIGKILL);
    if (!strcmp(how, "interrupted")) return raise(SIGINT) + 2;
    signal(SIGUSR1, lives_on);
    if (!strcmp(how, "handled")) return raise(SIGUSR1) + SIGUSR1;
    if (!strcmp(how, "it's two words")) exit(7);
    return 0;
}
"#;

/// What each end of a program is told as, and what `breakroom run` ends with: 128 and its number if it was a signal.
#[test]
fn a_program_ends_with_the_code_that_a_shell_has_for_it() {
    let place = Place::new();
    place.write("ends.c", ENDS);
    for debugger in debuggers() {
        for (how, code) in [
            ("", 0),
            ("code", 11),
            ("it's two words", 7),
            ("segfault", 139),
            ("abort", 134),
            ("killed", 137),
            ("interrupted", 2),
            ("handled", 10),
        ] {
            // To lldb it is the same as an exit with the bare number.
            if how == "killed" && debugger.ends_with("lldb") {
                continue;
            }
            let told = place.run(".", &["--type", debugger, "ends.c", how], "continue\ncontinue\n");
            let end = format!("the program ended with exit code {code}\n");
            assert!(told.out.contains(&end), "{debugger} {how}\n{told:?}");
            assert_eq!(told.code, Some(code), "{debugger} {how}\n{told:?}");
            if debugger == "gdb" {
                told.shows(&["  corner = {x: "]);
            }
            let signal = match how {
                "segfault" => "SIGSEGV",
                "abort" => "SIGABRT",
                "interrupted" => "SIGINT",
                _ => continue,
            };
            let stop = told.out.lines().find(|line| line.starts_with("stopped: ") && line.contains(signal));
            assert!(stop.is_some(), "{debugger} {how}\n{told:?}");
        }
        let told = place.run(".", &["--type", debugger, "ends.c"], "kill\n");
        assert_eq!(told.code, Some(0), "{debugger}\n{told:?}");
    }
    place.leave(Hub::Private);
}

#[test]
fn what_a_program_wrote_last_is_told_before_its_end() {
    if adapters::skipped("gdb") {
        return;
    }
    let place = Place::new();
    let talks = "#include <stdio.h>\nint main(void) {\n    for (int at = 0; at < 500; at++) printf(\"line %d\\n\", at);\n    printf(\"last words\");\n    return 5;\n}\n";
    place.write("talks.c", talks);
    // What is read beside the end is late now and then only.
    for _ in 0..5 {
        let told = place.run(".", &["--type", "gdb", "talks.c"], "continue\n");
        let (last, end) = (told.out.find("last words"), told.out.find("the program ended with exit code 5"));
        assert!(last.is_some() && last < end, "{told:?}");
        assert_eq!(told.out.matches("\nline ").count(), 500, "{told:?}");
    }
    place.leave(Hub::Private);
}

const CPP_VALUES: &str = r#"#include <map>
#include <string>
#include <vector>
int main() {
    std::vector<int> list{1, 2, 3};
    std::vector<int> empty;
    std::vector<int> many(40, 7);
    std::vector<std::string> names{"a", "b"};
    std::vector<std::vector<int>> nested{{1, 2}, {3}};
    std::map<std::string, int> map{{"one", 1}};
    const std::vector<int> &same = list;
    int number = 3;
    return same.size() + list.size() + empty.size() + many.size() + names.size() + nested.size() + map.size() + number - 50;
}
"#;

#[test]
fn what_is_in_the_lists_of_a_cpp_program_is_told_at_the_stop() {
    let place = Place::new();
    place.write("values.cpp", CPP_VALUES);
    // Of what is read by a script cdt-gdb shows only that there is something.
    for debugger in debuggers().filter(|name| *name != "cdt-gdb") {
        let commands = "print list\nlocals\nset number = 4\nprint number\nquit\n";
        let told = place.run(".", &["--type", debugger, "--break", "13", "values.cpp"], commands);
        told.shows(&["  list = [1, 2, 3]\n", "\nlist = [1, 2, 3]\n", "  names = [\"a\", \"b\"]\n"]);
        told.shows(&[
            "  many = [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, …]\n",
            "  nested = [[1, 2], [3]]\n",
            "number = 4\n",
        ]);
        let same = told.out.lines().find(|line| line.starts_with("  same = "));
        assert!(same.is_some_and(|line| line.ends_with("[1, 2, 3]")), "{told:?}");
        told.shows(&["  empty = []\n"]);
        match debugger {
            "gdb" => told.shows(&["  map = std::map with 1 element"]),
            _ => told.shows(&["  map = [", "\"one\""]),
        }
        assert!(!told.out.contains("size=3") && !told.out.contains("size=1"), "{told:?}");
    }
    place.leave(Hub::Private);
}
