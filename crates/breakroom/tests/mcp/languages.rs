//! FizzBuzz in every language of the catalog, as an agent debugs it: started with a breakpoint, looked at, changed, stepped and
//! run to its end, with a breakpoint that captures on the way.
//!
//! The programs are in the fixtures' folder `fizz`; `fizz.py` says what they do.

use std::path::{Path, PathBuf};

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::{Mcp, adapters, fixtures};
use serde_json::{Value, json};

use super::place::Place;

/// Building and starting on a loaded machine; a call may not wait longer.
pub const PATIENTLY: u64 = 45_000;

pub struct Fizz {
    /// In the folder of the fixtures.
    pub file: &'static str,
    /// What it is called in the call, where the file alone does not say it.
    pub language: Option<&'static str>,
    /// What has to be there, by the names that a person leaves out.
    pub needs: &'static [&'static str],
    /// As the debugger shows it, or the end of it.
    function: &'static str,
    caller: &'static str,
    /// What is evaluated, and the value that it has.
    expression: (&'static str, &'static str),
    /// The name of the variable that is set to 15. None: this debugger can change nothing.
    number: Option<&'static str>,
    /// The name of the variable that counts, as the caller has it.
    pub counter: &'static str,
    /// In front of each line that is printed.
    mark: &'static str,
}

pub const PYTHON: Fizz = Fizz {
    file: "fizz.py",
    language: None,
    needs: &["debugpy"],
    function: "fizz",
    caller: "main",
    expression: ("number * 5", "15"),
    number: Some("number"),
    counter: "number",
    mark: "",
};

pub const NATIVE: Fizz = Fizz { needs: &["gcc"], ..PYTHON };

const CDT_GDB: Fizz = Fizz { language: Some("cdt-gdb"), ..NATIVE };

pub const CDT_GDB_C: Fizz = Fizz { file: "fizz.c", needs: &["gcc", "cdt-gdb"], ..CDT_GDB };

pub const JAVA: Fizz = Fizz { file: "Fizz.java", needs: &["jdi"], ..PYTHON };

pub const PERL: Fizz = Fizz {
    file: "fizz.pl",
    needs: &["perl"],
    expression: ("$number * 5", "15"),
    number: Some("$number"),
    counter: "$number",
    ..PYTHON
};

pub const RUBY: Fizz = Fizz { file: "fizz.rb", needs: &["rdbg"], ..PYTHON };

pub const JAVASCRIPT: Fizz =
    Fizz { file: "fizz.js", language: Some("nodejs"), needs: &["js-debug"], ..PYTHON };

pub const GO: Fizz = Fizz { file: "go/main.go", needs: &["delve", "go"], ..PYTHON };

pub const EZ: Fizz = Fizz { file: "fizz.ez", needs: &[], ..PYTHON };

/// Of C, by each debugger that speaks the protocol.
pub const LLDB_C: Fizz = Fizz { file: "fizz.c", language: Some("lldb"), needs: &["gcc", "lldb"], ..NATIVE };

pub const CODELLDB_C: Fizz =
    Fizz { file: "fizz.c", language: Some("codelldb"), needs: &["gcc", "codelldb"], ..NATIVE };

pub const GDB_C: Fizz = Fizz { file: "fizz.c", language: Some("gdb"), needs: &["gcc", "gdb"], ..NATIVE };

impl Fizz {
    fn fixture(&self) -> PathBuf {
        fizz().join(self.file)
    }

    /// Its copy in a folder that belongs to no project.
    pub fn program(&self, place: &Place) -> PathBuf {
        let program = place.work().join(self.file);
        let folder = program.parent().unwrap();
        std::fs::create_dir_all(folder).unwrap();
        for file in std::fs::read_dir(self.fixture().parent().unwrap()).unwrap() {
            let file = file.unwrap().path();
            if file.is_file() {
                std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
            }
        }
        program
    }

    pub fn line(&self, mark: &str) -> u64 {
        fixtures::marked(&self.fixture(), mark)
    }

    /// What a session says that its language is.
    fn word(&self) -> &str {
        let ending = self.file.rsplit('.').next().unwrap();
        WORDS.iter().find(|(known, _)| *known == ending).map_or(ending, |(_, word)| word)
    }
}

/// Endings of files that are not the word for the language.
const WORDS: [(&str, &str); 7] = [
    ("cs", "csharp"),
    ("js", "nodejs"),
    ("pl", "perl"),
    ("py", "python"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("ts", "nodejs"),
];

fn fizz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/fixtures/fizz")
}

/// Waits on where building and starting took longer than one call may.
pub fn patiently(agent: &Mcp, mut reply: Reply) -> Reply {
    let end = std::time::Instant::now() + 4 * breakroom_testkit::wait::DEADLINE;
    while ["running", "starting"].contains(&reply.state()) && std::time::Instant::now() < end {
        let more = json!({"session_id": reply.session(), "wait_ms": PATIENTLY});
        reply = agent.ok("debugger_wait", more).behind(&reply);
    }
    reply
}

pub fn stands_at(reply: &Reply, line: u64) {
    assert_eq!((reply.state(), reply.data["line"].as_u64()), ("paused", Some(line)), "{reply:#?}");
}

fn plays(fizz: &Fizz) {
    if fizz.needs.iter().any(|need| adapters::skipped(need)) {
        return;
    }
    let place = Place::new();
    let agent = place.agent();
    let program = fizz.program(&place);
    let breakpoints = json!([{"line": fizz.line("fizz")}]);
    let mut start = json!({"program": program, "breakpoints": breakpoints, "wait_ms": PATIENTLY});
    if let Some(language) = fizz.language {
        start["language"] = language.into();
    }
    let stop = agent.ok("debugger_start", start);
    let stop = patiently(&agent, stop);
    stands_at(&stop, fizz.line("fizz"));
    assert_eq!(stop.data["reason"], "breakpoint", "{stop:#?}");
    let file = stop.data["file"].as_str().unwrap();
    assert_eq!(Path::new(file).canonicalize().unwrap(), program.canonicalize().unwrap(), "{stop:#?}");
    assert!(stop.text.contains("mark: fizz"), "the source is shown: {}", stop.text);
    assert!(!stop.text.contains("exception"), "nothing was thrown: {}", stop.text);
    assert!(stop.text.contains("number"), "the variables are shown: {}", stop.text);

    let session = agent.ok("debugger_get_session", json!({}));
    assert_eq!(session.data["language"], fizz.word(), "{session:#?}");

    let listed = agent.ok("debugger_breakpoints", json!({}));
    let breakpoint = &listed.data["breakpoints"][0];
    assert_eq!(breakpoint["state"], "verified", "{listed:#?}");
    assert_eq!(breakpoint["hits"], 1, "{listed:#?}");

    looks(fizz, &agent);
    let word = changes(fizz, &agent);

    let stop = agent.ok("debugger_step", json!({"wait_ms": PATIENTLY}));
    stands_at(&stop, fizz.line("behind"));

    let left = agent.ok("debugger_breakpoints", json!({"remove": ["1"]}));
    assert_eq!(left.data["breakpoints"], json!([]), "{left:#?}");
    let capture = json!({"line": fizz.line("call"), "capture": [fizz.counter]});
    agent.ok("debugger_set_breakpoint", capture);
    let end = agent.ok("debugger_continue", json!({"wait_ms": PATIENTLY}));
    let end = patiently(&agent, end);
    assert_eq!((end.state(), &end.data["exit_code"]), ("ended", &5.into()), "{end:#?}");
    let captured: Vec<&Value> =
        end.data["captured"].as_array().unwrap().iter().map(|row| &row["values"][fizz.counter]).collect();
    assert_eq!(captured, ["4", "5"], "{end:#?}");
    let listed = agent.ok("debugger_breakpoints", json!({}));
    assert_eq!(listed.data["breakpoints"][0]["hits"], 2, "{listed:#?}");
    let printed = agent.ok("debugger_inspect", json!({"what": "output", "cursor": 0}));
    let printed = printed.data["output"].as_str().unwrap().replace('\r', "");
    let words = ["1", "2", word, "4", "Buzz"].map(|word| format!("{}{word}", fizz.mark));
    let mut lines = printed.lines();
    let all = words.iter().all(|word| lines.any(|line| line == word));
    assert!(all, "no {words:?} in order in:\n{printed}");

    agent.ok("debugger_stop", json!({}));
    let known = agent.ok("debugger_get_session", json!({"session_id": end.session()}));
    assert_eq!((known.state(), &known.data["language"]), ("terminated", &fizz.word().into()), "{known:#?}");
    assert!(known.data["output"].as_str().is_some_and(|output| output.contains("Buzz")), "{known:#?}");
    place.leave(agent);
}

/// The stack, by itself and a frame above; an expression in it.
fn looks(fizz: &Fizz, agent: &Mcp) {
    let stack = agent.ok("debugger_inspect", json!({"what": "stack"}));
    let frames = stack.data["stack"].as_array().unwrap();
    let name = |at: usize| frames[at]["function"].as_str().unwrap_or_default();
    assert!(name(0).contains(fizz.function), "{stack:#?}");
    let calls = |frame: &&Value| frame["line"].as_u64() == Some(fizz.line("call"));
    let caller = frames.iter().find(calls).unwrap_or_else(|| panic!("nobody calls: {stack:#?}"));
    assert!(caller["function"].as_str().unwrap().contains(fizz.caller), "{stack:#?}");

    let (expression, value) = fizz.expression;
    let result = agent.ok("debugger_evaluate", json!({"expression": expression}));
    assert_eq!(result.data["result"], value, "{result:#?}");
    let several = agent.ok("debugger_evaluate", json!({"expressions": [expression, expression]}));
    assert_eq!(several.data["results"][1]["result"], value, "{several:#?}");
}

/// Makes 15 of the 3, if the debugger can do that. Returns the word that will be printed for it.
fn changes(fizz: &Fizz, agent: &Mcp) -> &'static str {
    let Some(number) = fizz.number else {
        let refused = agent.failed("debugger_set_variable", json!({"name": "number", "value": "15"}));
        assert!(refused.text.starts_with("this debugger sets no variables"), "{refused:#?}");
        return "Fizz";
    };
    let set = agent.ok("debugger_set_variable", json!({"name": number, "value": "15"}));
    assert_eq!(set.data["value"], "15", "{set:#?}");
    let read = agent.ok("debugger_evaluate", json!({"expression": number}));
    assert_eq!(read.data["result"], "15", "{read:#?}");
    "FizzBuzz"
}

#[test]
fn python() {
    plays(&PYTHON);
}

#[test]
fn javascript() {
    plays(&JAVASCRIPT);
}

#[test]
fn typescript() {
    let needs = &["js-debug", "typescript"];
    plays(&Fizz { file: "fizz.ts", language: Some("typescript"), needs, ..PYTHON });
}

#[test]
fn ruby() {
    plays(&RUBY);
}

#[test]
fn go() {
    plays(&GO);
}

#[test]
fn java() {
    plays(&JAVA);
}

#[test]
fn perl() {
    plays(&PERL);
}

#[test]
fn cmake() {
    // A frame is called like the command in it, and an expression is the name of a variable.
    let lacks =
        Fizz { function: "string", caller: "fizz", expression: ("number", "3"), number: None, ..PYTHON };
    plays(&Fizz { file: "fizz.cmake", needs: &["cmake"], mark: "-- ", ..lacks });
}

#[test]
fn ez() {
    plays(&EZ);
}

/// With whatever debugger is chosen.
#[test]
fn c() {
    plays(&Fizz { file: "fizz.c", language: Some("c"), needs: &["gcc", "lldb"], ..NATIVE });
}

#[test]
fn cpp() {
    plays(&Fizz { file: "fizz.cpp", language: Some("cpp"), needs: &["g++", "lldb"], ..NATIVE });
}

#[test]
fn rust() {
    plays(&Fizz { file: "fizz.rs", language: Some("rust"), needs: &["lldb"], ..NATIVE });
}

#[test]
fn c_with_lldb() {
    plays(&LLDB_C);
}

#[test]
fn c_with_codelldb() {
    plays(&CODELLDB_C);
}

#[test]
fn c_with_a_gdb_that_speaks_the_protocol() {
    plays(&GDB_C);
}

#[test]
fn c_with_an_older_gdb_and_cdt() {
    plays(&CDT_GDB_C);
}

#[test]
fn cpp_with_lldb() {
    plays(&Fizz { file: "fizz.cpp", language: Some("lldb"), needs: &["g++", "lldb"], ..NATIVE });
}

#[test]
fn cpp_with_codelldb() {
    plays(&Fizz { file: "fizz.cpp", language: Some("codelldb"), needs: &["g++", "codelldb"], ..NATIVE });
}

#[test]
fn cpp_with_a_gdb_that_speaks_the_protocol() {
    plays(&Fizz { file: "fizz.cpp", language: Some("gdb"), needs: &["g++", "gdb"], ..NATIVE });
}

#[test]
fn cpp_with_an_older_gdb_and_cdt() {
    plays(&Fizz { file: "fizz.cpp", needs: &["g++", "cdt-gdb"], ..CDT_GDB });
}

#[test]
fn rust_with_lldb() {
    plays(&Fizz { file: "fizz.rs", language: Some("lldb"), needs: &["lldb"], ..NATIVE });
}

#[test]
fn rust_with_codelldb() {
    plays(&Fizz { file: "fizz.rs", language: Some("codelldb"), needs: &["codelldb"], ..NATIVE });
}

#[test]
fn rust_with_a_gdb_that_speaks_the_protocol() {
    plays(&Fizz { file: "fizz.rs", language: Some("gdb"), needs: &["gdb"], ..NATIVE });
}

#[test]
fn rust_with_an_older_gdb_and_cdt() {
    plays(&Fizz { file: "fizz.rs", needs: &["cdt-gdb"], ..CDT_GDB });
}
