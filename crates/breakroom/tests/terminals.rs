//! Two people at two terminals on one live session: `breakroom run` and `breakroom attach` on ptys of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod pty;
    pub mod scenario;
}

use breakroom_testkit::adapters;
use breakroom_testkit::fixtures::Program;
use serde_json::json;
use support::company::{listed, nothing_is_listed, only_session, run};
use support::editor::{Desk, Hub};
use support::pty::{PROMPT, Person};

/// The first one at its breakpoint in `add`. `None` without debugpy.
fn first_at_its_stop(more: &[&str]) -> Option<(Desk, Person, String)> {
    if adapters::skipped("debugpy") {
        return None;
    }
    let desk = Desk::new();
    let place = Program::Python.line("add").to_string();
    let source = Program::Python.source();
    let mut arguments = vec!["run", "--break", &place];
    arguments.extend(more);
    arguments.push(source.to_str().unwrap());
    let mut first = Person::sits_down(&desk, &arguments);
    first.sees("others join it with `breakroom attach ");
    first.sees("stopped: breakpoint at t.py:");
    first.sees(PROMPT);
    let id = only_session(&desk);
    Some((desk, first, id))
}

#[test]
fn two_terminals_see_at_once_what_the_other_does() {
    let Some((desk, mut first, id)) = first_at_its_stop(&["--as", "Ann", "--name", "morning"]) else {
        return;
    };
    let mut second = Person::sits_down(&desk, &["attach", "morning", "--as", "Bob"]);
    second.sees(&format!("joined {id} (morning), with Ann"));
    second.sees("stopped: breakpoint at t.py:");
    second.sees("a = 40");
    second.sees(PROMPT);
    assert_eq!(listed(&desk)[0]["clients"], json!(["Ann", "Bob"]));

    // Nobody touches the first terminal, and it tells all the same, with the values of now.
    second.types("c");
    first.sees("the program runs again: Bob resumed it");
    first.sees("hello 42 none");
    first.sees("stopped: breakpoint at t.py:");
    first.sees("(resumed by Bob)");
    first.sees("a = 41");
    first.sees(PROMPT);
    second.sees("stopped: breakpoint at t.py:");
    second.sees("set by Ann");
    second.sees(PROMPT);

    first.types("set a = 50");
    second.sees("Ann set a variable: a = 50");
    second.sees(PROMPT);

    // Ctrl-C at a prompt only makes a new one.
    second.interrupts();
    second.sees(PROMPT);
    second.types("p a + 1");
    second.sees("a + 1 = 51");
    second.sees(PROMPT);

    // Whoever started it may go, and the other may end it.
    first.types("q");
    first.sees(&format!("1 other is still here; the session goes on as {id}"));
    first.leaves();
    assert_eq!(listed(&desk)[0]["clients"], json!(["Bob"]));
    second.types("q");
    second.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn a_terminal_is_known_by_its_name_and_kill_ends_the_program_for_all() {
    let Some((desk, mut first, id)) = first_at_its_stop(&[]) else { return };
    let name = format!("terminal on {}", first.terminal);
    assert_eq!(listed(&desk)[0]["clients"], json!([name]));
    let mut second = Person::sits_down(&desk, &["attach", &id, "--observe"]);
    second.sees(&format!("watching {id} (t.py), with {name}"));
    second.sees("stopped: breakpoint");
    second.sees(PROMPT);
    second.types("c");
    second.sees("error: continue is not for observers; attach without --observe");
    second.types("kill");
    second.sees("error: kill is not for observers");
    first.types("kill");
    first.sees("the program was ended for everybody");
    first.leaves();
    second.sees(&format!("{name} terminated"));
    second.sees("the program ended");
    second.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

/// Those who only look on keep nothing alive, and are told whose doing the end is.
#[test]
fn leaving_beside_somebody_who_only_observes_ends_the_program_and_says_so() {
    let Some((desk, mut first, id)) = first_at_its_stop(&["--as", "Ann"]) else { return };
    let mut owl = Person::sits_down(&desk, &["attach", &id, "--observe", "--as", "Owl"]);
    owl.sees("stopped: breakpoint");
    owl.sees(PROMPT);
    let session = &listed(&desk)[0];
    assert_eq!((&session["clients"], &session["observers"]), (&json!(["Ann", "Owl"]), &json!(["Owl"])));
    let shown = run(&desk, &["ls"], "");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("(Ann, Owl observes)"), "{shown}");
    first.types("q");
    first.sees("only 1 observer was still here, so the session has ended");
    let said = first.leaves();
    assert!(!said.contains("goes on"), "{said}");
    owl.sees("Ann ended the session");
    owl.sees("the program ended");
    owl.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn a_session_that_is_ended_from_a_shell_says_by_whom_and_once() {
    let Some((desk, first, id)) = first_at_its_stop(&["--as", "Ann"]) else { return };
    let mut second = Person::sits_down(&desk, &["attach", &id, "--as", "Bob"]);
    second.sees(PROMPT);
    let killed = run(&desk, &["kill", &id, "--as", "Cid"], "");
    assert!(killed.status.success(), "{killed:?}");
    for person in [first, second] {
        let said = person.gives_up();
        assert_eq!(said.matches("the session was ended by `breakroom kill` (Cid)").count(), 1, "{said}");
    }
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn a_terminal_that_crashed_comes_back_to_its_breakpoints_by_attaching() {
    let Some((desk, first, id)) = first_at_its_stop(&["--as", "Ann"]) else { return };
    let line = Program::Python.line("add");
    first.crashes();
    let mut back = Person::sits_down(&desk, &["attach", &id, "--as", "Ann"]);
    back.sees(&format!("breakpoint 1 at t.py:{line}"));
    back.sees(PROMPT);
    back.types("c");
    back.sees(&format!("stopped: breakpoint at t.py:{line} in add"));
    back.sees("a = 41");
    back.sees(PROMPT);
    back.types("d 1");
    back.sees("deleted breakpoint 1");
    back.sees(PROMPT);
    back.types("restart");
    // There is no breakpoint any more, and the program was not asked to stop at its entry.
    back.sees("done 31");
    back.sees("the program ended");
    back.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn two_quick_interrupts_leave_and_claim_nothing_about_the_program() {
    if adapters::skipped("debugpy") {
        return;
    }
    let desk = Desk::new();
    let source = Program::Python.source();
    let mut first = Person::sits_down(&desk, &["run", source.to_str().unwrap(), "spin"]);
    first.sees(PROMPT);
    first.types("c");
    first.sees("spinning");
    let mut second = Person::sits_down(&desk, &["attach"]);
    second.sees("joined ");
    second.sees(PROMPT);
    second.interrupts();
    second.interrupts();
    first.sees(" paused");
    first.sees("stopped: ");
    first.sees(PROMPT);
    // The program may have stopped between the two, and then the second only made a new prompt.
    second.types("q");
    let said = second.leaves();
    assert!(!said.contains("ended"), "{said}");
    assert_eq!(listed(&desk).len(), 1, "the session goes on");
    first.types("kill");
    first.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn commands_that_are_piped_in_are_taken_in_order_and_need_no_terminal() {
    let Some((desk, mut first, id)) = first_at_its_stop(&[]) else { return };
    let output = run(&desk, &["attach", &id], "p a\nc\np a\nq\n");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    let at = |part: &str| said.find(part).unwrap_or_else(|| panic!("no {part:?} in {said}"));
    assert!(at("a = 40\n") < at("a = 41\n"), "{said}");
    first.sees("the program runs again: terminal ");
    first.sees("a = 41");
    first.sees(PROMPT);
    first.types("q");
    first.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn the_end_of_a_programs_input_is_not_the_end_of_the_commands() {
    let desk = Desk::new();
    let text = "import @std\nusing std\n\ndo main() {\n    println(\"who?\")\n    temp name = input()\n    \
                println(\"hello\", name)\n}\n";
    std::fs::write(desk.sandbox.work().join("ask.ez"), text).unwrap();
    let mut person = Person::sits_down(&desk, &["run", "--break", "7", "ask.ez"]);
    person.sees("who?");
    person.ends_typing();
    person.sees("the program's input has ended");
    person.sees("stopped: breakpoint at ask.ez:7 in main");
    person.sees(PROMPT);
    person.types("p name");
    person.sees("name = \"\"");
    person.sees(PROMPT);
    person.types("back");
    person.sees("in main, in the past");
    person.sees(PROMPT);
    person.types("c");
    person.sees("stopped: breakpoint at ask.ez:7 in main");
    person.sees(PROMPT);
    // At a prompt it means to leave, as ever.
    person.ends_typing();
    person.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

/// The last line of a terminal that can move its cursor is drawn anew with each key, so only what follows from it is looked at.
#[test]
fn a_line_can_be_edited_and_typed_again_and_what_comes_meanwhile_is_above_it() {
    let desk = Desk::new();
    let text = "import @std\nusing std\n\ndo main() {\n    temp x int = 1\n    println(\"who?\")\n    temp name = input()\n    \
                println(\"hello\", name)\n    println(x)\n}\n";
    std::fs::write(desk.sandbox.work().join("edit.ez"), text).unwrap();
    let mut command = desk.sandbox.command(["run", "--as", "Ann", "--break", "6", "edit.ez"]);
    command.env("TERM", "xterm");
    let mut person = Person::sits_down_with_keys(&desk, command);
    person.sees("stopped: breakpoint at edit.ez:6");
    person.sees(PROMPT);
    // Ctrl-A goes to the beginning, and the arrow up brings the line back.
    person.presses("x + 41\x01p \r");
    person.sees("x + 41 = 42");
    person.sees(PROMPT);
    person.presses("\x1b[A0\r");
    person.sees("x + 410 = 411");
    person.sees(PROMPT);
    // Ctrl-R finds it again, and Ctrl-U throws away what is typed.
    person.presses("nonsense\x15");
    person.presses("\x12+ 41\r");
    person.sees("x + 410 = 411");
    person.sees(PROMPT);
    // Ctrl-Z, and back again.
    person.is_read_key_by_key();
    person.comes_back_from_the_shell();
    person.is_read_key_by_key();
    // Half of a command, completed.
    person.presses("\x15glo\t\r");
    person.sees("there are no globals here");
    person.sees(PROMPT);
    // What somebody else does while a line is half typed is shown above it, and the line stays.
    person.presses("p x + ");
    let other = run(&desk, &["attach", "--as", "Bob"], "set x = 7\nq\n");
    assert!(other.status.success(), "{other:?}");
    person.sees("Bob set a variable: x = 7");
    person.presses("100\r");
    person.sees("x + 100 = 107");
    person.sees(PROMPT);
    // While it runs the terminal is as ever, and what is typed is for the program.
    person.presses("c\r");
    person.sees("who?");
    person.types("Eve");
    person.sees("to the program");
    person.sees("hello Eve");
    person.sees("the program ended with exit code 0");
    person.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

/// Who has begun a line sees the stop that it is for; whatever others do before it is sent is another one.
#[test]
fn a_resume_that_was_begun_before_the_stop_of_another_was_shown_resumes_nothing() {
    let desk = Desk::new();
    let text = "import @std\nusing std\n\ndo main() {\n    println(1)\n    println(2)\n    println(3)\n}\n";
    std::fs::write(desk.sandbox.work().join("two.ez"), text).unwrap();
    let mut command = desk.sandbox.command(["run", "--as", "Ann", "--break", "5", "two.ez"]);
    command.env("TERM", "xterm");
    let mut ann = Person::sits_down_with_keys(&desk, command);
    ann.sees("stopped: breakpoint at two.ez:5");
    ann.sees(PROMPT);
    ann.is_read_key_by_key();
    ann.presses("c");
    ann.sees("(breakroom) c");
    let bob = run(&desk, &["attach", "--as", "Bob"], "n\nq\n");
    assert!(bob.status.success(), "{bob:?}");
    ann.sees("the program runs again: Bob resumed it\n");
    ann.sees("stopped: step at two.ez:6 in main (resumed by Bob)\n");
    ann.sees("(breakroom) c");
    ann.presses("\r");
    ann.sees("error: the program has moved on: Bob resumed it; see where it is and type it again\n");
    ann.sees(PROMPT);
    // It stands where Bob left it, and a line that is begun now is for that.
    ann.presses("n\r");
    ann.sees("stopped: step at two.ez:7 in main");
    ann.sees(PROMPT);
    ann.presses("q\r");
    ann.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}
