//! `breakroom run` as a person who debugs all day uses it: several processes, core files, signals, what was left behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod company;
    pub mod editor;
    pub mod pty;
    pub mod scenario;
}

use std::io::Write;
use std::process::Stdio;

use breakroom_testkit::{adapters, wait};
use rustix::process::Signal;
use support::company::{nothing_is_listed, run};
use support::editor::{Desk, Hub};
use support::pty::{PROMPT, Person};

fn write(desk: &Desk, name: &str, text: &str) -> String {
    let path = desk.sandbox.work().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

/// What a run with these commands showed, which ended well.
fn shown(desk: &Desk, arguments: &[&str], commands: &str) -> String {
    let mut words = vec!["run"];
    words.extend(arguments);
    let output = run(desk, &words, commands);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

const CHILD: &str = "import multiprocessing\n\n\ndef work(queue, count):\n    total = 0\n    queue.put('begun')\n    \
                     for number in range(count):\n        total += number\n        total += 1\n    return total\n\n\n\
                     if __name__ == '__main__':\n    queue = multiprocessing.Queue()\n    \
                     child = multiprocessing.Process(target=work, args=(queue, 3))\n    child.start()\n    \
                     print(queue.get())\n    child.join()\n";

#[test]
fn a_step_in_a_child_process_stays_in_the_thread_that_was_stepped() {
    if adapters::skipped("debugpy") {
        return;
    }
    let desk = Desk::new();
    write(&desk, "child.py", CHILD);
    let text = shown(&desk, &["--break", "8", "child.py"], "n\nn\nthreads\nq\n");
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in:\n{text}"));
    let first = at("stopped: breakpoint at child.py:8 in work\n");
    let second = at("stopped: step at child.py:9 in work\n");
    let third = at("stopped: step at child.py:7 in work\n");
    assert!(first < second && second < third, "{text}");
    // The threads of each process are below it, and the one that was stepped is marked.
    let list = &text[at("\nchild.py\n")..];
    assert!(list.contains("MainThread") && list.contains("running\nSubprocess "), "{text}");
    let marked = list.lines().find(|line| line.starts_with("-> ")).unwrap();
    assert!(
        marked.contains(" MainThread ") && marked.ends_with("stopped: step at child.py:7 in work"),
        "{text}"
    );
    assert!(list.contains("QueueFeederThread"), "{text}");
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

const WAITS: &str = "import @std\nusing std\n\ndo main() {\n    temp x int = 1\n    println(x)\n}\n";

#[test]
fn a_terminal_that_is_told_to_end_leaves_in_good_order_and_its_log_can_be_read() {
    let desk = Desk::new();
    write(&desk, "waits.ez", WAITS);
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut person = Person::sits_down(&desk, &["run", "--as", "Ann", "--break", "6", "waits.ez"]);
        person.sees("stopped: breakpoint at waits.ez:6");
        person.sees(PROMPT);
        person.is_told(signal);
        assert_eq!(person.ends(), Some(code));
        nothing_is_listed(&desk);
        // Nothing is live, so the one that ended last is meant.
        let log = run(&desk, &["log"], "");
        let log = String::from_utf8_lossy(&log.stdout).into_owned();
        assert!(log.contains("Ann left (drive)") && !log.contains("lost"), "{log}");
    }
    desk.leave(Hub::Shared);
}

#[test]
fn piped_commands_that_are_told_to_end_leave_in_good_order_too() {
    let desk = Desk::new();
    write(&desk, "waits.ez", WAITS);
    for signal in [Signal::TERM, Signal::INT] {
        let mut command = desk.sandbox.command(["run", "--as", "Ann", "waits.ez"]);
        command.current_dir(desk.sandbox.work()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut shown = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("stopped: ") {
            assert!(std::io::BufRead::read_line(&mut shown, &mut line).unwrap() > 0, "{line}");
        }
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        let ended = wait::for_exit(&mut child, wait::DEADLINE).expect("it ends");
        assert_eq!(ended.code(), Some(128 + signal.as_raw()));
        nothing_is_listed(&desk);
        let log = String::from_utf8_lossy(&run(&desk, &["log"], "").stdout).into_owned();
        assert!(log.contains("Ann left (drive)") && !log.contains("lost"), "{log}");
    }
    desk.leave(Hub::Shared);
}

/// Two signals that come together: `timeout` sends one to its child and one to the group of both.
#[test]
fn a_signal_and_its_echo_are_one_order_also_while_the_debugger_is_busy() {
    if adapters::skipped("debugpy") {
        return;
    }
    let desk = Desk::new();
    write(&desk, "busy.py", "import time\nx = 1\nprint(x)\n");
    let mut person = Person::sits_down(&desk, &["run", "--as", "Ann", "--break", "3", "busy.py"]);
    person.sees("stopped: breakpoint at busy.py:3");
    person.sees(PROMPT);
    person.types("p print('begun', flush=True) or time.sleep(600)");
    person.sees("begun");
    person.hears(Signal::TERM);
    person.is_told(Signal::TERM);
    assert_eq!(person.ends(), Some(143));
    nothing_is_listed(&desk);
    let log = String::from_utf8_lossy(&run(&desk, &["log"], "").stdout).into_owned();
    assert!(log.contains("Ann left (drive)") && !log.contains("lost"), "{log}");
    desk.leave(Hub::Shared);
}

#[test]
fn a_second_order_is_followed_at_once_and_leaves_in_good_order_too() {
    let desk = Desk::new();
    // More than a pipe holds, and less than the journal keeps: what happened last is still to be found there.
    let text = format!(
        "import @std\nusing std\n\ndo main() {{\n    for i in range(2000) {{\n        println(\"{}\")\n    }}\n    loop {{\n        temp x int = 1\n    }}\n}}\n",
        "more of it ".repeat(10)
    );
    write(&desk, "floods.ez", &text);
    let mut command =
        desk.sandbox.command(["run", "--as", "Ann", "--break", "9 hits 100000000", "floods.ez"]);
    command.current_dir(desk.sandbox.work()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Nobody reads what is shown, so that it soon waits to show more.
    let pid = rustix::process::Pid::from_child(&child);
    let shown = child.stdout.take().unwrap();
    let unread = || rustix::io::ioctl_fionread(&shown).ok().filter(|unread| *unread > 60_000);
    wait::until(wait::DEADLINE, unread).expect("the pipe is full");
    // What comes within a second of the first being heard is the same order, so one of these is the second.
    let ended = wait::until(wait::DEADLINE, || {
        rustix::process::kill_process(pid, Signal::TERM).unwrap();
        wait::for_exit(&mut child, std::time::Duration::from_millis(100))
    })
    .expect("it ends");
    assert_eq!(ended.code(), Some(143));
    nothing_is_listed(&desk);
    let log = String::from_utf8_lossy(&run(&desk, &["log"], "").stdout).into_owned();
    assert!(log.contains("Ann left (drive)") && !log.contains("lost"), "{log}");
    desk.leave(Hub::Shared);
}

#[test]
fn input_without_an_end_is_refused_and_not_read_to_it() {
    let desk = Desk::new();
    write(&desk, "waits.ez", WAITS);
    let output = run(&desk, &["run", "--input", "/dev/zero", "waits.ez"], "");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && told.contains("--input /dev/zero: it has more than"), "{told}");
}

const ASKS: &str =
    "import sys\nprint('who?', flush=True)\nname = sys.stdin.readline()\nprint('hello', repr(name))\n";

#[test]
fn piped_commands_never_leave_a_program_waiting_for_what_it_reads() {
    if adapters::skipped("debugpy") {
        return;
    }
    let desk = Desk::new();
    write(&desk, "asks.py", ASKS);
    write(&desk, "eve.txt", "Eve\n");
    for (more, commands, hello) in [
        (vec![], "c\nbt\n", "hello ''"),
        (vec![], "c\nbt\nquit\n", "hello ''"),
        (vec![], "c\nbt\ninput Ann\nc\n", "hello 'Ann\\n'"),
        (vec!["--input", "eve.txt"], "c\nbt\n", "hello 'Eve\\n'"),
    ] {
        let mut arguments = more;
        arguments.push("asks.py");
        let text = shown(&desk, &arguments, commands);
        assert!(text.contains(hello), "{commands:?}: {text}");
        assert!(text.ends_with("the program ended with exit code 0\n") && !text.contains("error"), "{text}");
    }
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn piped_commands_that_the_end_of_the_program_came_before_are_named_once() {
    let desk = Desk::new();
    write(&desk, "waits.ez", WAITS);
    let arguments = ["run", "--break", "6", "waits.ez"];
    let told = "breakroom: the program had ended, so this was not carried out: ";
    for (commands, undone) in [
        ("p x\nc\np x\n\n  bt \nq\n", "`p x`, `bt`\n"),
        ("c\nq\n", ""),
        ("c\nnonsense\nkill", "`nonsense`\n"),
        (
            "c\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
            "`1`, `2`, `3`, `4`, `5`, `6`, `7`, `8`, `9`, `10`, and 2 more\n",
        ),
        // Whatever is in the pipe, it changes no terminal and fills none. (More than a pipe holds would come in parts.)
        ("c\np \x1b[2J\tx\0\u{9b}1m\n", "`p \\u{1b}[2J\\tx\\0\\u{9b}1m`\n"),
        (&format!("c\n{}\n", "é".repeat(1000)), &format!("`{}…`\n", "é".repeat(60))),
        (&format!("c\n{}\n", "\0".repeat(1000)), &format!("`{}…`\n", "\\0".repeat(30))),
    ] {
        let output = run(&desk, &arguments, commands);
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = if undone.is_empty() { String::new() } else { format!("{told}{undone}") };
        assert_eq!(said, expected, "{commands:?}");
        assert_eq!(output.status.code(), Some(0), "{commands:?}");
    }
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn whoever_holds_the_pipe_of_the_commands_open_keeps_nobody_waiting() {
    let desk = Desk::new();
    write(&desk, "waits.ez", WAITS);
    let mut command = desk.sandbox.command(["run", "--break", "6", "waits.ez"]);
    command
        .current_dir(desk.sandbox.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut commands = child.stdin.take().unwrap();
    // The last of them is not whole.
    commands.write_all(b"c\np x\nq\np y").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(commands);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.ends_with("was not carried out: `p x`, `p y`\n"), "{said}");
    assert_eq!(output.status.code(), Some(0));
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}

#[test]
fn what_a_compiler_has_said_is_not_said_again_where_errors_go_the_same_way() {
    let desk = Desk::new();
    for (adapter, name, text, error) in [
        ("lldb", "wrong.c", "int main(void) { return nothing; }\n", "undeclared (first use"),
        ("jdi", "Wrong.java", "class Wrong { int x = nothing; }\n", "cannot find symbol"),
        ("delve", "wrong.go", "package main\n\nfunc main() { nothing() }\n", "undefined: nothing"),
    ] {
        if adapters::skipped(adapter) {
            continue;
        }
        write(&desk, name, text);
        for (streams, times) in [("2>&1", 1), ("2>errors; cat errors", 2)] {
            let mut shell = desk.sandbox.program("sh");
            shell.args(["-c", &format!("\"$0\" run \"$1\" </dev/null {streams}")]).arg(desk.sandbox.binary());
            let output = shell.arg(name).current_dir(desk.sandbox.work()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(said.matches(error).count(), times, "{name} {streams}: {said}");
            assert!(said.contains("breakroom: launch failed"), "{name} {streams}: {said}");
        }
    }
    nothing_is_listed(&desk);
    desk.leave(Hub::Shared);
}
