//! What debuggers leave unsaid and an agent would have to guess: children that they do not follow, programs without debug
//! symbols, messages that Java finds only when it is asked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use std::path::{Path, PathBuf};
use std::process::Command;

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::{Mcp, wait};
use serde_json::{Value, json};
use support::agents::{desk, leave, patiently, says, start, write};
use support::editor::Desk;

const UNFOLLOWED: &str = "does not follow child processes";
const NO_SYMBOLS: &str = "no debug symbols in";

/// It ends with its parent, which has the other end of what it reads.
const CHILD: &str = "#include <unistd.h>\nint main(void) {\n    char letter;\n    while (read(0, &letter, 1) > 0) {}\n    return 0;\n}\n";

const PARENT: &str = r#"#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    int ends[2];
    if (count < 2 || pipe(ends)) return 1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[0], 0);
        close(ends[0]);
        close(ends[1]);
        execl(words[1], words[1], (char *)0);
        _exit(1);
    }
    waitpid(child, 0, 0);
    return 0;
}
"#;

const NULL_JAVA: &str = "public class Null {\n    static String name;\n    public static void main(String[] args) {\n        System.out.println(name.length());\n    }\n}\n";

fn compiled(source: &Path, flags: &[&str]) -> PathBuf {
    let program = source.with_extension(format!("built{}", flags.concat()));
    let built = Command::new("cc").args(flags).arg("-o").arg(&program).arg(source).status().unwrap();
    assert!(built.success());
    program
}

/// Waits for nothing, again and again, until the answer names a child of this name. Before it is that program, it is still
/// its parent's.
fn until_named(agent: &Mcp, name: &str) -> Reply {
    let asks = || {
        let reply = agent.ok("debugger_wait", json!({"wait_ms": 500}));
        assert_eq!(reply.state(), "running", "{}", reply.text);
        (named_in(&reply)? == name).then_some(reply)
    };
    wait::until(wait::DEADLINE, asks).unwrap_or_else(|| panic!("{name} is never named"))
}

/// The process that an answer names, as the kernel calls it.
fn named_in(reply: &Reply) -> Option<String> {
    let said = reply.text.split("has started ").nth(1)?;
    let pid: u32 = said.split(' ').next()?.parse().ok()?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

fn a_child_is_named(debugger: &str, language: &str) {
    let Some((desk, agent)) = desk(&[debugger, "gcc"]) else { return };
    let source = write(&desk, "child.c", CHILD);
    let child = compiled(&source, &["-g"]);
    let parent = compiled(&write(&desk, "parent.c", PARENT), &["-g"]);
    let breakpoints = json!([{"file": source, "line": 4}]);
    let arguments =
        json!({"program": parent, "args": [child], "language": language, "breakpoints": breakpoints});
    agent.ok("debugger_start", arguments);
    let begins = || {
        let reply = agent.ok("debugger_wait", json!({"wait_ms": 500}));
        (reply.state() != "starting").then_some(())
    };
    wait::until(wait::DEADLINE, begins).expect("it begins");
    let told = until_named(&agent, "child.built-g");
    says(&told, &[UNFOLLOWED, "debugger_attach with the pid"]);
    // Whoever sets one there is told at once.
    let set = agent.ok("debugger_set_breakpoint", json!({"file": source, "line": 5}));
    says(&set, &[UNFOLLOWED]);
    // Whoever waits for nothing that a child may have is not.
    agent.ok("debugger_breakpoints", json!({"remove": ["all"]}));
    let told = agent.ok("debugger_wait", json!({"wait_ms": 0}));
    assert!(!told.text.contains(UNFOLLOWED), "{}", told.text);
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}

#[test]
fn a_child_that_lldb_does_not_follow_is_named() {
    a_child_is_named("lldb", "lldb-dap");
}

#[test]
fn a_child_that_gdb_does_not_follow_is_named() {
    a_child_is_named("gdb", "cppdbg");
}

#[test]
fn a_child_that_codelldb_does_not_follow_is_named() {
    a_child_is_named("codelldb", "lldb");
}

fn a_child_is_supposed(
    needs: &[&str],
    other: (&str, &str),
    program: impl Fn(&Desk) -> PathBuf,
    mut more: Value,
) {
    let Some((desk, agent)) = desk(needs) else { return };
    let source = write(&desk, other.0, other.1);
    more["program"] = json!(program(&desk));
    more["breakpoints"] = json!([{"file": source, "line": 4}]);
    let ended = start(&agent, more);
    assert_eq!(ended.state(), "ended", "{}", ended.text);
    says(&ended, &["nothing that it loaded has that line", UNFOLLOWED]);
    leave(desk, agent);
}

#[test]
fn a_breakpoint_in_nothing_that_lldb_knows_may_be_a_childs() {
    let program = |desk: &Desk| compiled(&write(desk, "short.c", "int main(void) { return 0; }\n"), &["-g"]);
    a_child_is_supposed(&["lldb", "gcc"], ("child.c", CHILD), program, json!({"language": "lldb-dap"}));
}

#[test]
fn a_breakpoint_in_nothing_that_delve_knows_may_be_a_childs() {
    let program = |desk: &Desk| write(desk, "main.go", "package main\n\nfunc main() {\n}\n");
    a_child_is_supposed(&["delve"], ("child.c", CHILD), program, json!({}));
}

#[test]
fn a_breakpoint_in_nothing_that_java_loaded_may_be_a_childs() {
    let short = "public class Short {\n    public static void main(String[] args) {}\n}\n";
    a_child_is_supposed(
        &["jdi"],
        ("Null.java", NULL_JAVA),
        |desk| write(desk, "Short.java", short),
        json!({}),
    );
}

fn symbols_are_missed(debugger: &str, language: &str) {
    let Some((desk, agent)) = desk(&[debugger, "gcc"]) else { return };
    let source = write(&desk, "plain.c", "int main(void) {\n    return 0;\n}\n");
    for (flags, is_told) in [(&["-O0"][..], true), (&["-g", "-s"], true), (&["-g"], false)] {
        let program = compiled(&source, flags);
        let breakpoints = json!([{"file": source, "line": 2}]);
        let arguments = json!({"program": program, "language": language, "breakpoints": breakpoints});
        let first = start(&agent, arguments);
        let state = if is_told { "ended" } else { "paused" };
        assert_eq!(first.state(), state, "{}", first.text);
        assert_eq!(first.text.matches(NO_SYMBOLS).count(), usize::from(is_told), "{}", first.text);
        agent.ok("debugger_stop", json!({"session_id": first.session()}));
    }
    leave(desk, agent);
}

#[test]
fn symbols_that_lldb_does_not_find_are_missed_aloud() {
    symbols_are_missed("lldb", "lldb-dap");
}

#[test]
fn symbols_that_gdb_does_not_find_are_missed_aloud() {
    symbols_are_missed("gdb", "cppdbg");
}

#[test]
fn symbols_that_codelldb_does_not_find_are_missed_aloud() {
    symbols_are_missed("codelldb", "lldb");
}

#[test]
fn java_says_which_null_it_was() {
    let Some((desk, agent)) = desk(&["jdi"]) else { return };
    let program = write(&desk, "Null.java", NULL_JAVA);
    let stop = start(&agent, json!({"program": program}));
    assert_eq!(stop.data["reason"], "exception", "{}", stop.text);
    says(
        &stop,
        &["java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"Null.name\" is null"],
    );
    // What was looked at for it stands where it stood.
    let again = patiently(&agent, "debugger_inspect", json!({"what": "stop"}));
    assert_eq!(again.data["line"], 4, "{}", again.text);
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}

#[test]
fn java_is_asked_which_null_it_was_past_a_breakpoint_in_the_answer() {
    let Some((desk, agent)) = desk(&["jdi"]) else { return };
    let program = write(&desk, "Null.java", NULL_JAVA);
    let answer = "java.lang.NullPointerException.getMessage";
    let stop = start(&agent, json!({"program": program, "breakpoints": [{"function": answer}]}));
    assert_eq!(stop.data["reason"], "exception", "{}", stop.text);
    says(&stop, &["because \"Null.name\" is null"]);
    // The program itself prints it, and stops there.
    let stop = patiently(&agent, "debugger_continue", json!({}));
    assert_eq!(stop.state(), "paused", "{}", stop.text);
    says(&stop, &["NullPointerException.getMessage"]);
    agent.ok("debugger_stop", json!({}));
    leave(desk, agent);
}
