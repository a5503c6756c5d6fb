//! An EZ program at a terminal: what is typed while it runs is for the program, and time goes both ways.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod pty;
}

use support::editor::{Desk, Hub};
use support::pty::{PROMPT, Person};

const ASK: &str = r#"import @std
using std

do greet(name string, age int) {
    println("${name} is ${age}")
}

do main() {
    printf("Name? ")
    temp name = input()
    printf("Age? ")
    temp age = int(input())
    greet(name, age)
}
"#;

#[test]
fn what_is_typed_while_the_program_runs_is_its_input() {
    let desk = Desk::new();
    let file = desk.sandbox.work().join("ask.ez");
    std::fs::write(&file, ASK).unwrap();
    let mut person =
        Person::sits_down(&desk, &["run", "--private", "--break", "greet", file.to_str().unwrap()]);
    person.sees("Name? ");
    person.types("Bob");
    person.sees("Age? ");
    person.types("41");
    person.sees("stopped: breakpoint at ask.ez:5 in greet");
    person.sees("age = 41");
    person.sees(PROMPT);
    person.types("back");
    person.sees("stopped: step at ask.ez:13 in main");
    person.sees(PROMPT);
    person.types("p name");
    person.sees("\"Bob\"");
    person.sees(PROMPT);
    // Forwards again it asks for nothing twice.
    person.types("c");
    person.sees("stopped: breakpoint at ask.ez:5");
    person.sees(PROMPT);
    person.types("c");
    person.sees("Bob is 41");
    person.sees("exit code 0");
    person.leaves();
    desk.leave(Hub::Private);
}
