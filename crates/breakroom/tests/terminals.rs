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
