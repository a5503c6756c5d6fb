//! What an agent reads of the values of C++ and Rust, and where a function begins, with every debugger of native programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use std::path::Path;
use std::process::Command;

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::{Mcp, wait};
use serde_json::json;
use support::agents::{desk, ended, go_on, leave, says, start, write};

const CPP: &str = r#"#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
int main() {
    std::unordered_map<std::string, int> ages{{"ann", 30}};
    std::unordered_set<int> odd{3};
    std::unordered_map<int, int> none;
    std::tuple<int, std::string, double> triple{7, "seven", 7.5};
    std::pair<int, std::string> couple{4, "four"};
    std::vector<std::pair<int, int>> pairs{{1, 2}, {3, 4}};
    std::array<int, 3> three{1, 2, 3};
    std::string_view view = "view";
    return ages.size() + odd.size() + none.size() + pairs.size() + three.size() + view.size() - 11;
}
"#;

/// The line of a variable at the stop, without its type.
fn told<'a>(stop: &'a Reply, name: &str) -> &'a str {
    let beginning = format!("{name}: ");
    let line = stop.text.lines().map(str::trim).find(|line| line.starts_with(&beginning));
    line.and_then(|line| line.split_once(" = ")).unwrap_or_else(|| panic!("no {name} in {}", stop.text)).1
}

/// What is inside of it.
fn inside(agent: &Mcp, name: &str) -> String {
    agent.ok("debugger_inspect", json!({"variable": name})).text
}

/// An lldb goes by a name of its own in a launch.
fn language(debugger: &str) -> &str {
    if debugger == "lldb-dap" { "lldb" } else { debugger }
}

fn build(compiler: &mut Command, sources: &[&Path], program: &Path) {
    let built = compiler.args(sources).arg("-o").arg(program).status();
    assert!(built.expect("there is a compiler").success());
}

fn stop_at(agent: &Mcp, program: &Path, debugger: &str, line: u64) -> Reply {
    let breakpoints = json!([{"file": program, "line": line}]);
    let language = language(debugger);
    // All of them fit in.
    let more =
        json!({"program": program, "language": language, "breakpoints": breakpoints, "max_tokens": 8000});
    let stop = start(agent, more);
    says(&stop, &[&format!("> {line}")]);
    stop
}

#[test]
fn tables_tuples_and_pairs_of_cpp_tell_what_is_in_them() {
    for debugger in ["codelldb", "lldb-dap", "gdb"] {
        let Some((desk, agent)) = desk(&[debugger]) else { continue };
        let program = write(&desk, "values.cpp", CPP);
        let stop = stop_at(&agent, &program, debugger, 18);
        let is_gdb = debugger == "gdb";
        let shown = |name: &str, lldb: &str, gdb: &str| {
            let expected = if is_gdb { gdb } else { lldb };
            assert_eq!(told(&stop, name), expected, "{debugger}: {}", stop.text);
        };
        shown("ages", "size=1", r#"std::unordered_map with 1 element = {["ann"] = 30}"#);
        shown("odd", "size=1", "std::unordered_set with 1 element = {[0] = 3}");
        shown("none", "size=0", "std::unordered_map with 0 elements");
        shown(
            "triple",
            r#"(7, "seven", 7.5)"#,
            r#"std::tuple containing = {[1] = 7, [2] = "seven", [3] = 7.5}"#,
        );
        shown("couple", r#"(4, "four")"#, r#"{first = 4, second = "four"}"#);
        let pairs =
            "std::vector of length 2, capacity 2 = {{first = 1, second = 2}, {first = 3, second = 4}}";
        shown("pairs", "size=2", pairs);
        assert_eq!(told(&stop, "view"), "\"view\"", "{debugger}: {}", stop.text);
        let part = |name: &str, words: &[&str]| {
            let text = inside(&agent, name);
            words.iter().for_each(|word| assert!(text.contains(word), "{debugger}: no {word} in {text}"));
        };
        if is_gdb {
            part("couple", &["first: int = 4", "= \"four\""]);
        } else {
            part("ages", &["[0]: ", "= (\"ann\", 30)"]);
            part("odd", &["[0]: int = 3"]);
            part("triple", &["[0]: int = 7", "= \"seven\"", "[2]: double = 7.5"]);
            part("pairs", &["= (1, 2)", "= (3, 4)"]);
            part("three", &["[0]: int = 1", "[2]: int = 3"]);
        }
        ended(&go_on(&agent), 0);
        leave(desk, agent);
    }
}

const TEXTS: &str = r#"#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>
int main() {
    std::string_view quoted("a\"b\nc\0d", 7);
    std::unordered_map<int, int> broken{{5, 6}};
    auto words = reinterpret_cast<std::size_t *>(&broken);
    std::vector<std::pair<int, std::string>> texts(10, {1, std::string(5000, 'x')});
    // There are not as many as it says.
    words[3] = 4;
    int here = quoted.size();
    words[3] = 1;
    return here + texts.size() - 17;
}
"#;

#[test]
fn texts_and_tables_that_are_not_as_usual_are_read_all_the_same() {
    for debugger in ["codelldb", "lldb-dap"] {
        let Some((desk, agent)) = desk(&[debugger]) else { continue };
        let program = write(&desk, "texts.cpp", TEXTS);
        let stop = stop_at(&agent, &program, debugger, 14);
        assert_eq!(told(&stop, "quoted"), r#""a\"b\nc\u0000d""#, "{debugger}: {}", stop.text);
        let text = inside(&agent, "broken");
        assert!(text.contains("= (5, 6)") && !text.contains("[1]"), "{debugger}: {text}");
        ended(&go_on(&agent), 0);
        leave(desk, agent);
    }
}

#[test]
fn of_texts_in_a_container_gdb_tells_their_beginnings() {
    let Some((desk, agent)) = desk(&["gdb"]) else { return };
    let program = write(&desk, "texts.cpp", TEXTS);
    stop_at(&agent, &program, "gdb", 14);
    let text = inside(&agent, "texts");
    assert!(text.contains("[9]: ") && text.contains("second = 'x' <repeats 100 times>..."), "{text}");
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

/// A library that is inside of the program is not among those that it names.
#[test]
fn a_program_of_cpp_that_loads_no_library_is_read_too() {
    for words in [&["-static-libstdc++"][..], &["-static"]] {
        let Some((desk, agent)) = desk(&["lldb-dap"]) else { continue };
        let source = write(&desk, "values.cpp", CPP);
        let program = desk.sandbox.work().join("values");
        build(Command::new("c++").args(["-g", "-std=c++20"]).args(words), &[&source], &program);
        let breakpoints = json!([{"file": source, "line": 18}]);
        let more =
            json!({"program": program, "language": "lldb", "breakpoints": breakpoints, "max_tokens": 8000});
        let stop = start(&agent, more);
        assert_eq!(told(&stop, "triple"), r#"(7, "seven", 7.5)"#, "{words:?}: {}", stop.text);
        assert_eq!(told(&stop, "view"), "\"view\"", "{words:?}: {}", stop.text);
        ended(&go_on(&agent), 0);
        leave(desk, agent);
    }
}

/// A table that is not there yet has any number of elements, and nobody waits for them.
#[test]
fn what_is_not_there_yet_is_not_taken_for_much() {
    for debugger in ["codelldb", "lldb-dap"] {
        let Some((desk, agent)) = desk(&[debugger]) else { continue };
        let program = write(&desk, "values.cpp", CPP);
        let stop = stop_at(&agent, &program, debugger, 10);
        assert_eq!(told(&stop, "none"), "size=0", "{debugger}: {}", stop.text);
        ended(&go_on(&agent), 0);
        leave(desk, agent);
    }
}

const RUST: &str = r#"use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
trait Speak {
    fn say(&self) -> u32;
}
struct Dog {
    age: u32,
}
impl Speak for Dog {
    fn say(&self) -> u32 {
        self.age
    }
}
#[derive(Debug)]
enum Shape {
    Circle(f64),
    Rect { w: u32, h: u32 },
    Unit,
}
fn main() {
    let arc = Arc::new(5);
    let twin = arc.clone();
    let rc = Rc::new(String::from("rc"));
    let weak = Rc::downgrade(&rc);
    let shared: Arc<str> = Arc::from("shared");
    let slice: Arc<[i32]> = Arc::from(vec![1, 2]);
    let locked = Arc::new(Mutex::new(vec![1, 2]));
    let lent = RefCell::new(3);
    let some = Some(arc.clone());
    let map = HashMap::from([("a", 1)]);
    let set = HashSet::from([4]);
    let shapes = [Shape::Circle(1.5), Shape::Rect { w: 2, h: 3 }, Shape::Unit];
    let dynamic: Box<dyn Speak> = Box::new(Dog { age: 3 });
    let part: &[i32] = &slice[1..];
    let boxed: Box<[i32]> = Box::new([7, 8]);
    let bytes = [1u8, 2, 3];
    let said = dynamic.say();
    println!("{arc} {twin} {rc} {weak:?} {shared} {slice:?} {locked:?} {lent:?} {some:?} {map:?} {set:?}");
    println!("{shapes:?} {part:?} {boxed:?} {bytes:?} {said}");
}
"#;

#[test]
fn what_is_shared_lent_or_dynamic_in_rust_tells_what_it_is() {
    for debugger in ["codelldb", "lldb-dap"] {
        let Some((desk, agent)) = desk(&[debugger]) else { continue };
        let program = write(&desk, "values.rs", RUST);
        let stop = stop_at(&agent, &program, debugger, 39);
        for (name, expected) in [
            ("arc", "5 (strong=3, weak=0)"),
            ("rc", r#""rc" (strong=1, weak=1)"#),
            ("shared", r#""shared" (strong=1, weak=0)"#),
            ("slice", "[1, 2] (strong=1, weak=0)"),
            ("locked", "Mutex {data: [1, 2]} (strong=1, weak=0)"),
            ("lent", "3 (borrow=0)"),
            ("some", "Some(5)"),
            ("map", r#"{"a": 1}"#),
            ("set", "{4}"),
            ("shapes", "[Circle(1.5), Rect{w: 2, h: 3}, Unit]"),
            ("dynamic", "Dog {age: 3}"),
            ("part", "[2]"),
            ("boxed", "[7, 8]"),
            ("bytes", "[1, 2, 3]"),
        ] {
            assert_eq!(told(&stop, name), expected, "{debugger}: {}", stop.text);
        }
        assert!(!stop.text.contains("Traceback"), "{}", stop.text);
        ended(&go_on(&agent), 0);
        leave(desk, agent);
    }
}

const NOTHING: &str = r#"use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
struct Word {
    text: String,
    count: usize,
    next: Option<Box<Word>>,
}
fn word(next: Option<Box<Word>>) -> Word {
    Word { text: "a".into(), count: 1, next }
}
fn main() {
    let last = word(None);
    let first = word(Some(Box::new(word(None))));
    let boxed: Option<Box<String>> = None;
    let counted: Option<Rc<Word>> = None;
    let shared: Option<Arc<Word>> = None;
    let lent: Option<&Word> = None;
    let pointer: Option<NonNull<Word>> = None;
    let slice: Option<Box<[String]>> = None;
    let text: Option<String> = None;
    let empty = Some(String::new());
    let list: Option<Vec<String>> = None;
    let empty_list: Option<Vec<String>> = Some(Vec::new());
    let outer: Option<Option<Box<Word>>> = None;
    let inner: Option<Option<Box<Word>>> = Some(None);
    let outer_text: Option<Option<String>> = None;
    let inner_text: Option<Option<String>> = Some(None);
    let words = vec![None, Some(Box::new(word(None)))];
    let pair: [Option<Box<String>>; 2] = [None, Some(Box::new("b".into()))];
    let behind: Option<(u32, String)> = None;
    let behind_too = vec![Some((7u32, String::new())), None];
    let far: Option<(u8, [u64; 7], Box<String>)> = None;
    let failed: Result<Box<Word>, ()> = Err(());
    let flag: Option<(u64, bool)> = None;
    let flagged = Some((4u64, true));
    let tree = BTreeMap::from([(1, Some(String::new())), (2, None)]);
    let sum = last.count + first.text.len() + usize::from(first.next.is_some());
    assert!(sum == 3);
    assert!(boxed.is_none() && counted.is_none() && shared.is_none() && lent.is_none() && pointer.is_none());
    assert!(slice.is_none() && text.is_none() && empty.is_some() && list.is_none() && empty_list.is_some());
    assert!(outer.is_none() && inner.is_some() && outer_text.is_none() && inner_text.is_some());
    assert!(words.len() == 2 && pair.len() == 2 && behind.is_none() && behind_too.len() == 2);
    assert!(far.is_none() && failed.is_err() && flag.is_none() && flagged.is_some() && tree.len() == 2);
}
"#;

/// The compiler has room for what is none in what a pointer, a capacity or a flag cannot be, wherever that is in the value.
#[test]
fn what_is_none_in_rust_is_told_as_none_wherever_that_is_written() {
    for debugger in ["codelldb", "lldb-dap"] {
        let Some((desk, agent)) = desk(&[debugger]) else { continue };
        let program = write(&desk, "nothing.rs", NOTHING);
        let stop = stop_at(&agent, &program, debugger, 40);
        for (name, expected) in [
            ("last", r#"Word {text: "a", count: 1, next: None}"#),
            ("first", r#"Word {text: "a", count: 1, next: Some(Word {text: "a", count: 1, next: None})}"#),
            ("boxed", "None"),
            ("counted", "None"),
            ("shared", "None"),
            ("lent", "None"),
            ("pointer", "None"),
            ("slice", "None"),
            ("text", "None"),
            ("empty", r#"Some("")"#),
            ("list", "None"),
            ("empty_list", "Some([])"),
            ("outer", "None"),
            ("inner", "Some(None)"),
            ("outer_text", "None"),
            ("inner_text", "Some(None)"),
            ("words", r#"[None, Some(Word {text: "a", count: 1, next: None})]"#),
            ("pair", r#"[None, Some("b")]"#),
            ("behind", "None"),
            ("behind_too", r#"[Some((7, "")), None]"#),
            ("far", "None"),
            ("failed", "Err(())"),
            ("flag", "None"),
            ("flagged", "Some((4, true))"),
            ("tree", r#"{1: Some(""), 2: None}"#),
        ] {
            assert_eq!(told(&stop, name), expected, "{debugger}: {}", stop.text);
        }
        let next = agent.ok("debugger_evaluate", json!({"expression": "last.next"}));
        assert!(next.text.contains("None") && !next.text.contains("0x0"), "{debugger}: {next:?}");
        ended(&go_on(&agent), 0);
        leave(desk, agent);
    }
}

/// So many types that no small part of them has the one that is meant.
#[test]
fn of_a_trait_with_many_types_each_is_known() {
    let types: String = (0..150)
        .map(|at| {
            format!(
                "struct T{at} {{ age: u32 }} impl Speak for T{at} {{ fn say(&self) -> u32 {{ self.age }} }}\n"
            )
        })
        .collect();
    let boxes: String = (0..150).map(|at| format!("Box::new(T{at} {{ age: {at} }}), ")).collect();
    let text = format!(
        "trait Speak {{ fn say(&self) -> u32; }}\n{types}fn main() {{\n\
         let all: Vec<Box<dyn Speak>> = vec![{boxes}];\nlet (first, last) = (&*all[0], &*all[149]);\n\
         let sum = first.say() + last.say();\nassert_eq!(sum, 149);\n}}\n"
    );
    for debugger in ["codelldb", "lldb-dap"] {
        let Some((desk, agent)) = desk(&[debugger]) else { continue };
        let program = write(&desk, "many.rs", &text);
        let stop = stop_at(&agent, &program, debugger, 155);
        assert_eq!(told(&stop, "last"), "T149 {age: 149}", "{debugger}: {}", stop.text);
        let all =
            agent.ok("debugger_inspect", json!({"variable": "all", "count": 150, "max_tokens": 20_000}));
        for at in 0..150 {
            says(&all, &[&format!("= T{at} {{age: {at}}}")]);
        }
        ended(&go_on(&agent), 0);
        leave(desk, agent);
    }
}

/// What is C's in a program of Rust is read as in one of C.
#[test]
fn a_text_of_c_in_a_program_of_rust_is_a_text() {
    const C: &str = "\
int length(void) {
    char text[8] = \"hello\";
    char list[2][4] = {\"one\", \"two\"};
    unsigned char bytes[2] = {7, 8};
    return text[5] + list[0][3] + bytes[0];
}
";
    const MAIN: &str = "\
extern \"C\" {
    fn length() -> i32;
}
fn main() {
    std::process::exit(unsafe { length() } - 7);
}
";
    for debugger in ["codelldb", "lldb-dap"] {
        let Some((desk, agent)) = desk(&[debugger]) else { continue };
        let (source, main) = (write(&desk, "length.c", C), write(&desk, "main.rs", MAIN));
        let (object, program) = (desk.sandbox.work().join("length.o"), desk.sandbox.work().join("main"));
        build(Command::new("cc").args(["-g", "-c"]), &[&source], &object);
        let link = format!("link-arg={}", object.display());
        build(Command::new("rustc").args(["-g", "-C", &link]), &[&main], &program);
        let breakpoints = json!([{"file": source, "line": 5}]);
        let more = json!({"program": program, "language": language(debugger), "breakpoints": breakpoints});
        let stop = start(&agent, more);
        assert!(told(&stop, "text").starts_with("\"hello"), "{debugger}: {}", stop.text);
        assert_eq!(told(&stop, "bytes"), "[7, 8]", "{debugger}: {}", stop.text);
        assert!(told(&stop, "list").contains("\"one"), "{debugger}: {}", stop.text);
        ended(&go_on(&agent), 0);
        leave(desk, agent);
    }
}

const ONE_LINE: &str = "\
#include <stdio.h>
int add(int a, int b) { return a + b; }
int twice(int n) {
    return n * 2;
}
int main(void) {
    int sum = add(20, 3);
    printf(\"%d %d\\n\", sum, twice(4));
    return 0;
}
";

/// gcc does not say where a function has taken its arguments, and lldb's guess is wrong where it has one line.
#[test]
fn arguments_are_right_or_said_to_be_not_there_yet() {
    for debugger in ["codelldb", "lldb-dap", "gdb"] {
        let Some((desk, agent)) = desk(&[debugger]) else { continue };
        let program = write(&desk, "one.c", ONE_LINE);
        let breakpoints = json!([{"function": "add"}, {"function": "twice"}]);
        let more = json!({"program": program, "language": language(debugger), "breakpoints": breakpoints});
        let is_warned = |stop: &Reply| stop.text.contains("has not taken its arguments yet");
        let mut stop = start(&agent, more);
        says(&stop, &["> 2"]);
        let is_right = (told(&stop, "a"), told(&stop, "b")) == ("20", "3");
        // It is looked into for a while only.
        let looks = || {
            if !is_right && !is_warned(&stop) {
                stop = agent.ok("debugger_inspect", json!({"what": "stop"}));
            }
            (is_right != is_warned(&stop)).then_some(())
        };
        let is_said = wait::until(wait::DEADLINE, looks).is_some();
        assert!(is_said, "{debugger}: {}", stop.text);
        assert!(is_right || debugger != "gdb", "{}", stop.text);
        let stop = go_on(&agent);
        assert!(told(&stop, "n") == "4" && !is_warned(&stop), "{debugger}: {}", stop.text);
        ended(&go_on(&agent), 0);
        leave(desk, agent);
    }
}
