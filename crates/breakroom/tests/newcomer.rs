//! What somebody who has just installed it tries first, and what is said where it does not work.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod pty;
    pub mod scenario;
}

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use breakroom_testkit::{adapters, wait};
use support::company::{listed, nothing_is_listed, run};
use support::editor::{Bystander, Desk, Hub};
use support::pty::{PROMPT, Person};

fn write(desk: &Desk, name: &str, text: &str) {
    let path = desk.sandbox.work().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// What it printed, and what it complained about.
fn said(desk: &Desk, words: &[&str]) -> (String, String) {
    let output = run(desk, words, "");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn the_doctor_lists_only_what_a_person_can_choose() {
    let desk = Desk::new();
    let (listed, _) = said(&desk, &["doctor"]);
    assert!(listed.contains(" ez ") && listed.contains(" debugpy "), "{listed}");
    assert!(!listed.contains(" group "), "{listed}");
    let (json, _) = said(&desk, &["doctor", "--json"]);
    assert!(json.contains("\"group\""), "{json}");
    desk.leave(Hub::Private);
}

#[test]
fn what_could_be_run_is_listed_with_what_is_built_first_and_beside_broken_configurations() {
    let desk = Desk::new();
    write(&desk, "one.c", "int main(void) { return 0; }\n");
    write(&desk, "two.py", "print(2)\n");
    write(&desk, ".vscode/launch.json", "{ \"configurations\": [");
    let (listed, complaint) = said(&desk, &["run"]);
    assert!(listed.contains("breakroom run one.c   C, C++, Rust\n"), "{listed}");
    assert!(listed.contains("breakroom run two.py  Python\n"), "{listed}");
    assert!(complaint.contains("launch.json cannot be read"), "{complaint}");
    desk.leave(Hub::Private);
}

#[test]
fn who_names_an_address_alone_is_told_every_debugger_that_can_be_met_there() {
    let desk = Desk::new();
    let (_, complaint) = said(&desk, &["run", "--attach", "localhost:5678"]);
    for kind in ["python", "go", "lldb", "java", "ruby", "node"] {
        assert!(complaint.contains(kind), "{kind}: {complaint}");
    }
    assert!(!complaint.contains("..."), "{complaint}");
    desk.leave(Hub::Private);
}

#[test]
fn a_session_that_has_ended_is_not_joined_but_can_be_read_of() {
    let desk = Desk::new();
    write(&desk, "waits.ez", "import @std\nusing std\n\ndo main() {\n    println(1)\n}\n");
    let ended = run(&desk, &["run", "--name", "mine", "waits.ez"], "quit\n");
    assert!(ended.status.success(), "{ended:?}");
    nothing_is_listed(&desk);
    let (_, complaint) = said(&desk, &["attach", "mine"]);
    assert!(complaint.contains("session `mine` has ended; `breakroom log mine` says how"), "{complaint}");
    let (_, complaint) = said(&desk, &["attach", "yours"]);
    assert!(complaint.starts_with("breakroom: there is no session `yours`"), "{complaint}");
    desk.leave(Hub::Shared);
}

#[test]
fn a_pause_inside_of_a_library_is_shown_where_the_program_called_it() {
    if adapters::skipped("lldb") {
        return;
    }
    let desk = Desk::new();
    let text = "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n    int cups = 3;\n    puts(\"naps\");\n    \
                fflush(stdout);\n    for (;;) sleep(600);\n}\n";
    write(&desk, "naps.c", text);
    let mut person = Person::sits_down(&desk, &["run", "naps.c"]);
    person.sees("stopped: entry at naps.c:");
    person.sees(PROMPT);
    person.types("c");
    person.sees("naps");
    // What it said was heard before it had come back from saying it.
    let naps = || {
        let processes = desk.sandbox.census().processes().into_iter();
        let states = processes.filter_map(|process| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).ok()?;
            let (_, behind) = stat.split_once("(naps) ")?;
            behind.chars().next()
        });
        (states.collect::<Vec<_>>() == ['S']).then_some(())
    };
    wait::until(wait::DEADLINE, naps).expect("it sleeps");
    person.interrupts();
    person.sees(" at naps.c:7 in main, inside ");
    person.sees("cups = 3");
    person.sees(PROMPT);
    person.types("p cups + 1");
    person.sees("cups + 1 = 4");
    person.sees(PROMPT);
    person.types("kill");
    person.leaves();
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn a_session_with_a_process_that_ran_already_is_called_by_its_program() {
    if adapters::skipped("lldb") {
        return;
    }
    let desk = Desk::new();
    let process = Bystander(desk.sandbox.program("sleep").arg("600").spawn().unwrap());
    let pid = process.0.id().to_string();
    let mut person = Person::sits_down(&desk, &["run", "--type", "lldb", "--attach", &pid]);
    person.sees("stopped: ");
    person.sees(PROMPT);
    assert_eq!(listed(&desk)[0]["name"], format!("sleep {pid}"));
    person.types("q");
    person.leaves();
    nothing_is_listed(&desk);
    drop(process);
    desk.leave(Hub::Shared);
}

/// To lldb, whose commands are told it, a name in backquotes is an expression, and `main` here is also the crate.
#[test]
fn a_file_of_rust_that_is_called_main_stops_in_its_own_main() {
    if adapters::skipped("lldb") {
        return;
    }
    let desk = Desk::new();
    write(&desk, "main.rs", "fn main() {\n    println!(\"hi\");\n}\n");
    let output = run(&desk, &["run", "main.rs"], "quit\n");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("stopped: entry at main.rs:2 in "), "{shown}");
    assert!(!shown.contains("preRunCommands"), "{shown}");
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn whoever_has_seen_enough_is_not_complained_to() {
    let desk = Desk::new();
    write(&desk, "one.py", "print(1)\n");
    for words in [&["doctor"][..], &["doctor", "--json"], &["ls"], &["run"], &["completions", "bash"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = desk.sandbox.command(words);
        let output = command.current_dir(desk.sandbox.work()).stdout(writer).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
    }
    desk.leave(Hub::Private);
}

/// What a program that ran before reads is nobody's here to give, so whoever types means us.
#[test]
fn what_is_typed_to_a_process_that_ran_already_is_a_command() {
    if adapters::skipped("debugpy") {
        return;
    }
    let desk = Desk::new();
    write(
        &desk,
        "serves.py",
        "import time\nprint('up', flush=True)\nx = 0\nwhile True:\n    time.sleep(0.05)\n    x += 1\n",
    );
    let mut command = desk.sandbox.program("python3");
    command.arg("serves.py").current_dir(desk.sandbox.work()).stdout(Stdio::piped());
    let mut process = Bystander(command.spawn().unwrap());
    // Nobody gets into an interpreter that has not begun yet.
    let mut line = String::new();
    let mut output = BufReader::new(process.0.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let pid = process.0.id().to_string();
    let mut ann = Person::sits_down(&desk, &["run", "--as", "Ann", "--type", "python", "--attach", &pid]);
    ann.sees("stopped: pause at serves.py:");
    ann.sees(PROMPT);
    let mut bob = Person::sits_down(&desk, &["attach", "--as", "Bob"]);
    bob.sees("stopped: pause at serves.py:");
    bob.sees(PROMPT);
    ann.types("c");
    ann.types("threads");
    ann.sees("MainThread");
    ann.sees("running");
    ann.types("pause");
    ann.sees("stopped: pause at serves.py:");
    ann.sees(PROMPT);
    bob.sees("the program runs again: Ann resumed it");
    bob.sees("stopped: pause at serves.py:");
    bob.sees(PROMPT);
    bob.types("c");
    bob.types("threads");
    bob.sees("MainThread");
    bob.sees("running");
    bob.types("q");
    bob.leaves();
    ann.types("q");
    ann.leaves();
    nothing_is_listed(&desk);
    drop(process);
    desk.leave(Hub::Shared);
}

#[test]
fn a_program_none_of_whose_breakpoints_can_be_set_does_not_run_for_ever() {
    if adapters::skipped("debugpy") {
        return;
    }
    let desk = Desk::new();
    write(&desk, "loops.py", "import time\nx = 0\nwhile True:\n    time.sleep(0.05)\n    x += 1\n");
    let output = run(&desk, &["run", "--break", "lops.py:5", "loops.py"], "q\n");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (said, stopped) = (
        "error: none of the breakpoints can be set, so the program is paused\n",
        "stopped: pause at loops.py",
    );
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in:\n{text}"));
    assert!(at("breakpoint 1 at lops.py:5 (not set: ") < at(said) && at(said) < at(stopped), "{text}");
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn the_exceptions_to_stop_at_are_chosen_for_the_start_by_the_debuggers_words() {
    if adapters::skipped("debugpy") {
        return;
    }
    let desk = Desk::new();
    write(&desk, "tries.py", "try:\n    int('x')\nexcept ValueError:\n    print('caught')\n");
    let output = run(&desk, &["run", "--break", "4", "--catch", "raised", "tries.py"], "c\nc\n");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("stopped: exception at tries.py:2 in <module>: ValueError: "), "{text}");
    let (_, refusal) = said(&desk, &["run", "--catch", "rased", "tries.py"]);
    assert!(
        refusal.contains("there is no filter `rased`; this debugger has raised, uncaught, "),
        "{refusal}"
    );
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}
