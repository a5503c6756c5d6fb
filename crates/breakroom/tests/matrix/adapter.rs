//! What is known of one adapter: how it is launched, what it calls things, what it cannot do and why.
//!
//! It drives nothing; the rows do.

use breakroom_testkit::adapters;
use serde_json::{Value, json};

use super::program::{Debuggee, Program};

/// One behaviour, checked with an adapter that has it.
pub struct Row {
    pub name: &'static str,
    pub run: fn(&'static Adapter),
}

pub struct Adapter {
    /// Its name in the catalog, and for `--skip`.
    pub name: &'static str,
    /// What else the machine must have, by the names of `--skip`.
    pub needs: &'static [&'static str],
    pub program: Program,
    /// The launch arguments; the word, if any, is the program's only argument.
    pub launch: fn(&Debuggee, Option<&str>) -> Value,
    /// Events that may come at any time besides those a row waits for.
    pub events: &'static [&'static str],
    pub names: Names,
    pub stdout: Stdout,
    pub stops: Stops,
    pub numbers: Numbers,
    pub exception: Exception,
    pub stdin: Stdin,
    pub missing: Failure,
    pub broken: Broken,
    pub bad_arguments: Failure,
    pub lacks: &'static [Lack],
}

/// The launch of a program as most adapters take it.
pub fn launch(debuggee: &Debuggee, word: Option<&str>) -> Value {
    json!({"program": debuggee.program, "args": word.into_iter().collect::<Vec<_>>()})
}

/// What the debugger and the language call the places and values of the program.
pub struct Names {
    pub main: &'static str,
    pub add: &'static str,
    /// What a function breakpoint on `add` is set on.
    pub add_function: &'static str,
    /// The scope with the local variables, and the variables below it that lead to them.
    pub locals: &'static [&'static str],
    /// What a loop without end is in.
    pub spin: &'static str,
    /// The first parameter of `add`, the sum of both and the variable that holds it, as expressions.
    pub first: &'static str,
    pub sum: &'static str,
    pub total: &'static str,
    /// Whether evaluating a name that there is not succeeds, with a text about it.
    pub unknown_is_a_value: bool,
}

impl Names {
    /// Most languages have them so; an adapter says what differs.
    pub const USUAL: Names = Names {
        main: "main",
        add: "add",
        add_function: "add",
        locals: &["Locals"],
        spin: "spin",
        first: "a",
        sum: "a + b",
        total: "total",
        unknown_is_a_value: false,
    };
}

/// How the program's own output is told from the debugger's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdout {
    /// The category `stdout` holds it and nothing else.
    Exact,
    /// The debugger talks in the same category; the program's lines are found among its lines.
    Among,
    /// The same, and each line of the program begins so.
    Marked(&'static str),
}

/// How stops are told.
pub struct Stops {
    /// The mark of the stop on entry, where a function stands before what runs first.
    pub first: Option<&'static str>,
    /// Whether a breakpoint is known to be good before the program runs.
    pub verified_at_once: bool,
    /// The reason of a stop by `pause`.
    pub pause: &'static str,
    /// The reason of a stop after a step.
    pub step: &'static str,
    /// How many lines a step into `add` stops at before the one with the sum.
    pub lines_before_sum: usize,
    /// How many steps out of `add` lead to `main`: some stop at the end of the function first.
    pub steps_out: usize,
    /// A worker beside the main thread is there while it works.
    pub worker: Worker,
}

impl Stops {
    /// Most adapters tell them so; an adapter says what differs.
    pub const USUAL: Stops = Stops {
        first: None,
        verified_at_once: true,
        pause: "pause",
        step: "step",
        lines_before_sum: 0,
        steps_out: 1,
        worker: Worker::Thread,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// Two or more threads, one of which is at the mark `work`.
    Thread,
    /// The language has no threads: there is one.
    None,
}

/// The list of 120 numbers in `main`.
pub struct Numbers {
    pub variable: &'static str,
    /// The name of the element with index 100.
    pub hundredth: &'static str,
    pub paging: Paging,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paging {
    /// A part that is asked for is what comes.
    Honoured,
    /// All elements come, whichever are asked for.
    Everything,
    /// The first hundred come, whichever are asked for, and the others below a variable of this name.
    Behind(&'static str),
    /// A list is one text, with this between its elements.
    Text(&'static str),
}

/// How an error of the program stops it.
pub struct Exception {
    /// The filters that are set for it.
    pub filters: &'static [&'static str],
    pub reason: &'static str,
    /// What the stop, or `exceptionInfo`, says about it.
    pub said: &'static str,
}

/// How the program gets its input.
pub enum Stdin {
    /// In a terminal of the client's, with these launch arguments besides.
    Terminal(fn() -> Value),
    /// By the hub's own request.
    Request,
    /// Either way.
    RequestOrTerminal(fn() -> Value),
}

/// How a launch that cannot work fails.
pub enum Failure {
    /// `launch` fails with a text that holds this, and the session is over.
    Refused(&'static str),
    /// The same before anything was started, so that the client may try again.
    NotStarted(&'static str),
    /// The launch succeeds, what runs the program says this and the session ends with an exit code.
    Ran { said: &'static str, code: i64 },
}

/// A program that its language refuses.
pub struct Broken {
    /// The name and the text of a file that takes the program's place.
    pub file: &'static str,
    pub text: &'static str,
    pub failure: Failure,
}

/// A row that this adapter cannot do.
pub struct Lack {
    pub row: &'static str,
    pub why: &'static str,
    pub shown: Shown,
}

/// How a client finds out.
pub enum Shown {
    /// The capability is absent, false or empty, and nobody raises it later.
    NotOffered(&'static str),
    /// A request at a stop in `add` fails with a text that holds this.
    Refused { command: &'static str, arguments: fn(&Value) -> Value, said: &'static str },
}

impl Lack {
    pub const fn not_offered(row: &'static str, why: &'static str, capability: &'static str) -> Lack {
        Lack { row, why, shown: Shown::NotOffered(capability) }
    }

    /// There is no way for input to the program, and whoever tries is told.
    pub const fn of_input(why: &'static str) -> Lack {
        let arguments = |_: &Value| serde_json::json!({"text": "Ann\n"});
        Lack {
            row: "stdin",
            why,
            shown: Shown::Refused { command: "breakroom/input", arguments, said: "input" },
        }
    }
}

impl Adapter {
    pub fn skipped(&self) -> bool {
        adapters::skipped(self.name) || self.needs.iter().any(|need| adapters::skipped(need))
    }

    pub fn lack(&self, row: &str) -> Option<&'static Lack> {
        self.lacks.iter().find(|lack| lack.row == row)
    }

    /// A misspelt row would leave the real one to fail, or a removed one unnoticed.
    pub fn has_only_known_rows(&self, rows: &[Row]) {
        for lack in self.lacks {
            let known = rows.iter().any(|row| row.name == lack.row);
            assert!(known && !lack.why.is_empty(), "{} lacks `{}`, which is no row", self.name, lack.row);
        }
    }
}
