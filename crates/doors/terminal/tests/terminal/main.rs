//! The terminal door against a scripted debugger: what is asked, in which order, and what is shown.

// The lints let tests unwrap, but do not count a test's helpers as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod company;
mod input;
mod looking;
mod running;
mod stage;
mod threads;
mod unread;
mod values;

use std::io::{Cursor, Write};

use breakroom_door_terminal::{Client, Ending, Error, Errors, Outcome, Request, Setup, run, run_with};
use breakroom_testkit::scripted::{self as peer, Say, output, program, stopped};
use serde_json::{Value, json};

const SOURCE: &str = "def add(a, b):\n    return a + b\n\nprint(add(40, 2))\n";

struct Played {
    result: Result<Outcome, Error>,
    shown: String,
    asked: Vec<(String, Value)>,
}

impl Played {
    fn commands(&self) -> Vec<&str> {
        self.asked.iter().map(|(command, _)| command.as_str()).collect()
    }

    fn arguments(&self, command: &str) -> &Value {
        let found = self.asked.iter().rev().find(|(asked, _)| asked == command);
        found.map(|(_, arguments)| arguments).unwrap_or(&Value::Null)
    }
}

fn setup(path: &str) -> Setup {
    Setup {
        launch: json!({"type": "python", "program": path}),
        request: Request::Launch,
        breakpoints: vec!["2".parse().unwrap()],
        stop_at_entry: false,
        catch: Vec::new(),
        colour: false,
        interactive: false,
        errors: Errors::Apart,
        input: None,
        name: "Ann".to_owned(),
        session: None,
        quick_step: breakroom_door_terminal::QUICK_STEP,
    }
}

/// Plays the commands against a debugger whose script may differ from the usual one where `differ` says so.
fn play(
    commands: &str,
    change: impl FnOnce(&mut Setup),
    mut differ: impl FnMut(&str, &Value) -> Option<Vec<Say>> + Send + 'static,
) -> Played {
    let mut file = tempfile::Builder::new().suffix(".py").tempfile().unwrap();
    file.write_all(SOURCE.as_bytes()).unwrap();
    let path = file.path().to_string_lossy().into_owned();
    let mut usual = program(path.clone());
    let (stream, debugger) = peer::start(move |command, arguments| {
        differ(command, arguments).unwrap_or_else(|| usual(command, arguments))
    });
    let mut setup = setup(&path);
    change(&mut setup);
    let mut shown = Vec::new();
    let result =
        run(stream.try_clone().unwrap(), stream, setup, Cursor::new(commands.to_owned()), &mut shown);
    let name = file.path().file_name().unwrap().to_string_lossy().into_owned();
    let shown = String::from_utf8(shown).unwrap().replace(&name, "t.py");
    Played { result, shown, asked: debugger.join().unwrap() }
}

fn as_usual(_: &str, _: &Value) -> Option<Vec<Say>> {
    None
}

const FIRST_STOP: &str = "\
breakpoint 1 at t.py:2
stopped: breakpoint at t.py:2 in add
      1  def add(a, b):
->    2      return a + b
      3  
      4  print(add(40, 2))
  a = 40
  b = 2
";

#[test]
fn a_session_from_piped_commands_shows_each_step() {
    let played = play("bt\np a + b\nset a = 41\nup\nlocals\nthreads\nc\n", |_| {}, as_usual);
    let expected = format!(
        "{FIRST_STOP}\
-> #0  t.py:2 in add
   #1  t.py:4 in main
a + b = 42
a = 41
frame 1: t.py:4 in main
      2      return a + b
      3  
->    4  print(add(40, 2))
  total = 0
-> 1 Main   stopped: breakpoint at t.py:2 in add
   2 Other  stopped at t.py:2 in add
sum: 42
the program ended with exit code 7
"
    );
    assert_eq!(played.shown, expected);
    let Outcome { ending, exit_code, .. } = played.result.as_ref().unwrap();
    assert_eq!((*ending, *exit_code), (Ending::Ended, Some(7)));
    assert_eq!(
        played.commands()[..5],
        ["initialize", "launch", "setBreakpoints", "setExceptionBreakpoints", "configurationDone"]
    );
    assert_eq!(played.arguments("setExceptionBreakpoints"), &json!({"filters": ["uncaught"]}));
    assert_eq!(played.arguments("setVariable")["variablesReference"], 100);
    assert_eq!(
        played.arguments("evaluate"),
        &json!({"expression": "a + b", "frameId": 10, "context": "watch"})
    );
    assert_eq!(played.arguments("launch").get("stopOnEntry"), None);
}

#[test]
fn the_order_in_which_a_debugger_starts_does_not_matter() {
    let done = |later: Vec<Say>| Some(std::iter::once(Say::Answer(Value::Null)).chain(later).collect());
    let early_launch = play(
        "c\n",
        |_| {},
        move |command, _| match command {
            "launch" => Some(vec![Say::Answer(Value::Null), Say::Event("initialized", json!({}))]),
            "configurationDone" => done(vec![stopped("breakpoint")]),
            _ => None,
        },
    );
    let early_initialized = play(
        "c\n",
        |_| {},
        move |command, _| match command {
            "initialize" => Some(vec![
                Say::Event("initialized", json!({})),
                Say::Answer(json!({})),
                // What the debugger can do may come as an event.
                Say::Event(
                    "capabilities",
                    json!({"capabilities": {"supportsConfigurationDoneRequest": true}}),
                ),
            ]),
            "launch" => Some(vec![]),
            "configurationDone" => Some(vec![
                Say::AnswerTo("launch", Value::Null),
                Say::Answer(Value::Null),
                stopped("breakpoint"),
            ]),
            _ => None,
        },
    );
    for played in [early_launch, early_initialized] {
        assert!(played.shown.starts_with(FIRST_STOP), "{}", played.shown);
        assert_eq!(played.result.unwrap().exit_code, Some(7));
    }
}

#[test]
fn a_failed_launch_is_an_error_with_the_debuggers_words_and_no_configuration() {
    let played = play(
        "c\n",
        |_| {},
        |command, _| match command {
            "launch" => Some(vec![output("stderr", "t.py: not found\n"), Say::Fail("cannot launch t.py")]),
            _ => None,
        },
    );
    assert_eq!(played.shown, "t.py: not found\n");
    assert_eq!(played.result.unwrap_err().to_string(), "launch failed: cannot launch t.py");
    assert_eq!(
        played.asked.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["initialize", "launch", "disconnect"]
    );
}

#[test]
fn what_a_failed_build_has_said_is_not_said_again() {
    let play_beside = |errors: Errors, category: &'static str, told: &'static str| {
        play(
            "c\n",
            |setup| setup.errors = errors,
            move |command, _| match command {
                "launch" => Some(vec![
                    output(category, "cc -o t t.c\n"),
                    output(category, "t.c:1: error: no x\nt.c:2: error: no y\n"),
                    Say::Fail(told),
                ]),
                _ => None,
            },
        )
    };
    let play_with = |told: &'static str| play_beside(Errors::Beside, "console", told);
    let played = play_with("cc failed (exit code 1):\nt.c:1: error: no x\nt.c:2: error: no y");
    assert_eq!(played.shown, "| cc -o t t.c\n| t.c:1: error: no x\n| t.c:2: error: no y\n");
    assert_eq!(played.result.unwrap_err().to_string(), "launch failed: cc failed (exit code 1)");
    let played = play_with("cc failed (exit code 1):\nt.c:9: error: no z");
    assert_eq!(
        played.result.unwrap_err().to_string(),
        "launch failed: cc failed (exit code 1):\nt.c:9: error: no z",
        "what was not said before is"
    );
    // Delve builds by itself, tells it as the program's output, and begins with it where it should say what it is about.
    let told = "no: cc -o t t.c\nt.c:1: error: no x\nt.c:2: error: no y";
    let played = play_beside(Errors::Beside, "stderr", told);
    assert_eq!(played.shown, "cc -o t t.c\nt.c:1: error: no x\nt.c:2: error: no y\n");
    assert_eq!(played.result.unwrap_err().to_string(), "launch failed: no");
    let played = play_beside(Errors::Apart, "stderr", told);
    assert_eq!(played.result.unwrap_err().to_string(), format!("launch failed: {told}"));
}

#[test]
fn the_end_of_the_commands_at_a_stop_ends_a_launched_program_and_leaves_an_attached_one() {
    let launched = play("n\n", |_| {}, as_usual);
    assert_eq!(launched.result.as_ref().unwrap().ending, Ending::Quit);
    assert_eq!(launched.arguments("disconnect")["terminateDebuggee"], true);
    let attached = play(
        "n\nq\n",
        |setup| setup.request = Request::Attach,
        |command, _| match command {
            "configurationDone" => Some(vec![
                Say::Answer(Value::Null),
                Say::AnswerTo("attach", Value::Null),
                stopped("breakpoint"),
            ]),
            _ => None,
        },
    );
    assert_eq!(attached.arguments("disconnect")["terminateDebuggee"], false);
}

#[test]
fn without_a_breakpoint_the_program_stops_at_its_entry() {
    let launched = play("", |setup| setup.breakpoints.clear(), as_usual);
    assert_eq!(launched.arguments("launch")["stopOnEntry"], true);
    let attach = |setup: &mut Setup| {
        setup.breakpoints.clear();
        setup.request = Request::Attach;
    };
    let attached = play("", attach, |command, _| match command {
        "configurationDone" => Some(vec![Say::Answer(Value::Null), Say::AnswerTo("attach", Value::Null)]),
        "pause" => Some(vec![Say::Answer(Value::Null), stopped("pause")]),
        _ => None,
    });
    assert!(attached.shown.starts_with("stopped: pause at t.py:2 in add\n"), "{}", attached.shown);
}

#[test]
fn a_pause_that_is_lost_behind_an_attach_is_asked_for_again() {
    let attach = |setup: &mut Setup| {
        setup.breakpoints.clear();
        setup.request = Request::Attach;
    };
    let mut lost = false;
    let attached = play("q\n", attach, move |command, _| match command {
        "configurationDone" => Some(vec![Say::Answer(Value::Null), Say::AnswerTo("attach", Value::Null)]),
        "pause" if !std::mem::replace(&mut lost, true) => Some(vec![Say::Answer(Value::Null)]),
        "pause" => Some(vec![Say::Answer(Value::Null), stopped("pause")]),
        _ => None,
    });
    assert!(attached.shown.starts_with("stopped: pause at t.py:2 in add\n"), "{}", attached.shown);
}

#[test]
fn output_is_shown_as_what_it_is() {
    let played = play(
        "c\n",
        |_| {},
        |command, _| match command {
            "continue" => Some(vec![
                output("stdout", "one "),
                Say::Answer(Value::Null),
                output("stderr", "two"),
                output("telemetry", "secret"),
                output(
                    "console",
                    "from the debugger\n\n  \nDetaching\nProcess 12 exited with status = 3 (0x03) \n",
                ),
                Say::Raw("printed by the adapter\n"),
                Say::Event("terminated", json!({})),
            ]),
            // Perl's debugger says the exit code after the end.
            "disconnect" => {
                Some(vec![Say::Event("exited", json!({"exitCode": 3})), Say::Answer(Value::Null), Say::Close])
            }
            _ => None,
        },
    );
    let rest = played.shown.strip_prefix(FIRST_STOP).unwrap();
    assert_eq!(
        rest,
        "one two\n| from the debugger\n| printed by the adapter\nthe program ended with exit code 3\n"
    );
}

#[test]
fn a_debugger_that_just_closes_its_stream_has_ended_the_program() {
    let played = play(
        "c\n",
        |_| {},
        |command, _| match command {
            "continue" => Some(vec![Say::Answer(Value::Null), Say::Close]),
            _ => None,
        },
    );
    assert!(played.shown.ends_with("the program ended\n"), "{}", played.shown);
    let Outcome { ending, exit_code, .. } = played.result.unwrap();
    assert_eq!((ending, exit_code), (Ending::Ended, None));
}

#[test]
fn a_refused_command_is_shown_and_the_next_one_works() {
    let mut refused = false;
    let played = play(
        "nxt\nc\nframe 9\np x\nc\n",
        |_| {},
        move |command, _| match command {
            "continue" if !std::mem::replace(&mut refused, true) => Some(vec![Say::Fail("not now")]),
            "evaluate" => Some(vec![Say::Fail("there is no x")]),
            _ => None,
        },
    );
    let rest = played.shown.strip_prefix(FIRST_STOP).unwrap();
    assert_eq!(
        rest,
        "error: there is no command `nxt`; did you mean `next`?\n\
         error: cannot continue: not now\n\
         error: there is no such frame; the stack has 2, counted from 0\n\
         error: cannot evaluate: there is no x\n\
         sum: 42\nthe program ended with exit code 7\n"
    );
}

#[test]
fn breakpoints_are_sent_as_the_whole_list_of_their_file() {
    let played = play("b 4 if a > 1\nb\nd 1\nd 5\nd\nb add\nq\n", |_| {}, as_usual);
    let rest = played.shown.strip_prefix(FIRST_STOP).unwrap();
    assert_eq!(
        rest,
        "breakpoint 2 at t.py:4 if a > 1\n\
         breakpoint 1 at t.py:2\nbreakpoint 2 at t.py:4 if a > 1\n\
         deleted breakpoint 1\n\
         error: there is no breakpoint 5; `break` lists those there are\n\
         deleted breakpoint 2\n\
         error: there is no function breakpoint in this debugger; give the line instead\n"
    );
    let sent: Vec<&Value> = played
        .asked
        .iter()
        .filter(|(command, _)| command == "setBreakpoints")
        .map(|(_, arguments)| &arguments["breakpoints"])
        .collect();
    let second = json!({"line": 4, "condition": "a > 1"});
    assert_eq!(sent, [&json!([{"line": 2}]), &json!([{"line": 2}, second]), &json!([second]), &json!([])]);
}

#[test]
fn an_empty_line_repeats_the_last_step_of_a_person() {
    let typed = play("n\n\n\np 1\n\nq\n", |setup| setup.interactive = true, as_usual);
    assert_eq!(typed.commands().iter().filter(|command| **command == "next").count(), 4);
    assert!(typed.shown.contains("(breakroom) "));
    let piped = play("n\n\n\nq\n", |_| {}, as_usual);
    assert_eq!(piped.commands().iter().filter(|command| **command == "next").count(), 1);
}

#[test]
fn a_stop_of_another_thread_is_shown_when_the_first_goes_on_alone() {
    let other = || Say::Event("stopped", json!({"reason": "exception", "threadId": 2, "text": "oops"}));
    let mut continued = false;
    let played = play(
        "p 1\nc\nc\n",
        |_| {},
        move |command, _| match command {
            "evaluate" => Some(vec![other(), Say::Answer(json!({"result": "1"}))]),
            "continue" if !std::mem::replace(&mut continued, true) => {
                Some(vec![Say::Answer(json!({"allThreadsContinued": false}))])
            }
            _ => None,
        },
    );
    assert!(played.shown.contains("thread 2 stopped too: exception at t.py:2 in add\n"), "{}", played.shown);
    assert!(
        played.shown.contains("stopped: exception at t.py:2 in add, thread Other: oops\n"),
        "{}",
        played.shown
    );
    assert_eq!(played.arguments("continue")["threadId"], 2);
    assert_eq!(played.result.unwrap().exit_code, Some(7));
}

#[test]
fn an_interrupt_pauses_the_running_program() {
    let (stream, debugger) = peer::start({
        let mut usual = program("t.py".to_owned());
        move |command, arguments| match command {
            "continue" => vec![Say::Answer(Value::Null), output("stdout", "running\n")],
            "pause" => vec![Say::Answer(Value::Null), stopped("pause")],
            _ => usual(command, arguments),
        }
    });
    let client = Client::new(stream.try_clone().unwrap(), stream);
    let interrupter = client.interrupter();
    let mut output =
        OnText { text: Vec::new(), wanted: "running", action: Some(move || interrupter.interrupt()) };
    let outcome = run_with(client, setup("t.py"), "c\nq\n".as_bytes(), &mut output).unwrap();
    assert_eq!(outcome.ending, Ending::Quit);
    assert!(String::from_utf8_lossy(&output.text).contains("stopped: pause at t.py:2 in add"));
    assert!(debugger.join().unwrap().iter().any(|(command, _)| command == "pause"));
}

/// Does something once a text has been shown.
struct OnText<F> {
    text: Vec<u8>,
    wanted: &'static str,
    action: Option<F>,
}

impl<F: FnOnce()> Write for OnText<F> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.text.extend_from_slice(bytes);
        if String::from_utf8_lossy(&self.text).contains(self.wanted)
            && let Some(action) = self.action.take()
        {
            action();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What a debugger makes of a breakpoint, and whether the program is told to stop for the lack of it.
#[test]
fn a_program_none_of_whose_breakpoints_can_be_set_is_paused_instead_of_running_past() {
    let refused = json!({"id": 0, "verified": false, "message": "no such file", "reason": "failed"});
    let waits = json!({"id": 0, "verified": false, "message": "not loaded", "reason": "pending"});
    let set = json!({"id": 1, "verified": true});
    for (answers, pauses) in [
        (vec![refused.clone()], 1),
        (vec![refused.clone(), refused.clone()], 1),
        (vec![waits.clone()], 0),
        (vec![refused.clone(), waits], 0),
        (vec![refused, set], 0),
    ] {
        let wanted = answers.len();
        let script = move |command: &str, _: &Value| match command {
            "setBreakpoints" => Some(vec![Say::Answer(json!({"breakpoints": answers}))]),
            "configurationDone" => {
                let mut said = vec![Say::Answer(Value::Null), Say::AnswerTo("launch", Value::Null)];
                // Where it is not paused, it must come to its end for this one.
                if pauses == 0 {
                    said.push(Say::Event("terminated", json!({})));
                }
                Some(said)
            }
            "pause" => Some(vec![Say::Answer(Value::Null), stopped("pause")]),
            _ => None,
        };
        let place = |line: usize| line.to_string().parse().unwrap();
        let played = play("q\n", |setup| setup.breakpoints = (1..=wanted).map(place).collect(), script);
        let paused = played.commands().iter().filter(|command| **command == "pause").count();
        assert_eq!(paused, pauses, "{}", played.shown);
        let said = "none of the breakpoints can be set, so the program is paused\n";
        assert_eq!(played.shown.contains(said), pauses == 1, "{}", played.shown);
        assert_eq!(
            played.shown.contains("stopped: pause at t.py:2 in add\n"),
            pauses == 1,
            "{}",
            played.shown
        );
    }
}

#[test]
fn the_exceptions_to_stop_at_can_be_chosen_for_the_start() {
    for (filters, asked) in [(&["raised"][..], json!(["raised"])), (&["none"], json!([]))] {
        let filters = filters.iter().map(|filter| (*filter).to_owned()).collect();
        let played = play("catch\nq\n", |setup| setup.catch = filters, as_usual);
        assert_eq!(played.arguments("setExceptionBreakpoints"), &json!({"filters": asked}));
        let count = played.commands().iter().filter(|command| **command == "setExceptionBreakpoints").count();
        assert_eq!(count, 1, "{}", played.shown);
        assert_eq!(played.shown.contains("-> raised"), asked != json!([]), "{}", played.shown);
    }
    let played = play("q\n", |setup| setup.catch = vec!["rased".to_owned()], as_usual);
    let refusal = played.result.unwrap_err().to_string();
    assert_eq!(refusal, "there is no filter `rased`; this debugger has raised, uncaught");
    assert!(played.asked.iter().all(|(command, _)| command != "configurationDone"), "{:?}", played.asked);
}
