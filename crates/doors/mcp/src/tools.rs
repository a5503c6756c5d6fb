//! The tools: a static list in a fixed order, each with what it is for, what it takes, and the function that does it.
//!
//! Every word here is sent to a model in every turn, so there are few, and a test holds them to a limit.

mod answering;
mod attaching;
mod breaking;
mod checking;
mod evaluating;
mod files;
mod launching;
mod looking;
mod running;
mod schemas;
mod scripting;
mod sessions;
mod threads;
mod variables;
mod writing;

use std::pin::Pin;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::arguments::Arguments;
use crate::door::{Caller, Door};
use crate::failure::Failure;
use crate::session::Wait;
use crate::telling::reply::Reply;
use checking::check;
pub use schemas::output_schema;

type Answer<'a> = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send + 'a>>;

pub struct Tool {
    pub name: &'static str,
    pub about: &'static str,
    /// What it takes: name, kind, and a few words where the name says too little.
    takes: &'static [Takes],
    needs: &'static [&'static str],
    pub only_reads: bool,
    pub waits: Waits,
    pub effect: Effect,
    pub run: for<'a> fn(&'a Door, Arguments, Caller) -> Answer<'a>,
}

/// What a call waits for. Where it waits, what was captured meanwhile comes with its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    Never,
    /// What comes behind it in a script means that stop.
    ForStop,
    ForAnything,
}

/// What becomes of a session by a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    None,
    /// There is one behind it.
    Begins,
    BeginsAnew,
    /// What was captured is not there any more behind it.
    Forgets,
}

impl Effect {
    /// Whether there is something to debug behind it although there was nothing before.
    pub fn begins(self) -> bool {
        matches!(self, Effect::Begins | Effect::BeginsAnew)
    }

    pub fn forgets(self) -> bool {
        matches!(self, Effect::BeginsAnew | Effect::Forgets)
    }
}

type Takes = (&'static str, Kind, &'static str);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// A text; a list of them is taken, too.
    TextOrTexts,
    Number,
    /// A number that is not negative.
    Count,
    /// Of a file, from 1 on.
    Line,
    Flag,
    Texts,
    /// With any members; of these, some as an example.
    Object(&'static [Takes]),
    Breakpoints,
    Steps,
    OneOf(&'static [&'static str]),
    /// One of these, or another that the debugger may know.
    Usually(&'static [&'static str]),
}

use Kind::{Breakpoints, Count, Flag, Line, Number, Object, OneOf, Steps, Text, TextOrTexts, Texts, Usually};

const SESSION: Takes = ("session_id", Text, "");
const WAIT: Takes = ("wait_ms", Count, "");
const TOKENS: Takes = ("max_tokens", Count, "");
const THREAD: Takes = ("thread_id", Number, "");
const FRAME: Takes = ("frame_id", Number, "0 is the top");
const FILE: Takes = ("file", Text, "");
/// Where it may be left unread. Clients that fill in everything say 0, which only whoever reads it refuses.
const LINE: Takes = ("line", Number, "");
/// These every tool takes, whether it needs them or not.
const EVERYWHERE: [Takes; 3] = [SESSION, ("wait_ms", Number, ""), ("max_tokens", Number, "")];
// Among others, but some models' providers refuse objects without members.
const OF_A_BREAKPOINT: &[Takes] = &[FILE, LINE, ("text", Text, ""), ("capture", Texts, "")];
const OF_A_STEP: &[Takes] = &[("tool", Text, "")];
const OF_AN_ENVIRONMENT: &[Takes] = &[("NAME", Text, "")];
const OF_A_LAUNCH: &[Takes] = &[("mode", Text, "")];

const SET_BREAKPOINT: Tool = Tool {
    name: "debugger_set_breakpoint",
    about: "Set a breakpoint by line, by text on a line (near line), or by function. capture: expressions to record at each hit while the program goes on; [] records locals.",
    takes: &[
        SESSION,
        FILE,
        LINE,
        ("text", Text, ""),
        ("function", Text, ""),
        ("watch", Text, "variable that changes"),
        ("condition", Text, ""),
        ("hit_count", Text, "3, >=3 or %2"),
        ("log_message", Text, "{expression} is evaluated"),
        ("capture", Texts, ""),
    ],
    needs: &[],
    only_reads: false,
    waits: Waits::Never,
    effect: Effect::Forgets,
    run: |door, arguments, _| Box::pin(breaking::set(door, arguments)),
};

pub static TOOLS: &[Tool] = &[
    Tool {
        name: "debugger_start",
        about: "Start a script, source file, executable, project folder or command line (pytest t.py::test_x; go test ./p -run X) in the debugger; builds first if needed. Returns session_id and the first stop, or state=running after wait_ms.",
        takes: &[
            ("program", Text, ""),
            ("language", Text, "if not clear by the file: python, nodejs, go, rust, cpp, ..."),
            ("args", Texts, ""),
            ("cwd", Text, ""),
            ("env", Object(OF_AN_ENVIRONMENT), "values are strings"),
            ("breakpoints", Breakpoints, "as in debugger_set_breakpoint; set before anything runs"),
            ("stop_on_entry", Flag, ""),
            ("exceptions", Texts, "filters; default: uncaught"),
            ("configuration", Text, "of .vscode/launch.json"),
            ("launch", Object(OF_A_LAUNCH), "the debugger's own launch arguments"),
            WAIT,
            TOKENS,
        ],
        needs: &[],
        only_reads: false,
        waits: Waits::ForStop,
        effect: Effect::Begins,
        run: |door, arguments, caller| Box::pin(launching::start(door, arguments, caller)),
    },
    Tool {
        name: "debugger_attach",
        about: "Debug what runs already: a process (pid), a debug server (host:port in address), or a live session of a person's by session_id, which you then share.",
        takes: &[
            SESSION,
            ("pid", Number, ""),
            ("address", Text, ""),
            ("language", Text, ""),
            ("breakpoints", Breakpoints, ""),
            ("launch", Object(OF_A_LAUNCH), ""),
            WAIT,
            TOKENS,
        ],
        needs: &[],
        only_reads: false,
        waits: Waits::ForAnything,
        effect: Effect::Begins,
        run: |door, arguments, caller| Box::pin(attaching::attach(door, arguments, caller)),
    },
    SET_BREAKPOINT,
    Tool {
        name: "debugger_breakpoints",
        about: "List breakpoints with state and hits; remove them by id, file or all; or set exception filters.",
        takes: &[
            SESSION,
            ("remove", Texts, "ids, or all"),
            FILE,
            ("exceptions", Texts, "filters; [] for none"),
        ],
        needs: &[],
        only_reads: false,
        waits: Waits::Never,
        effect: Effect::Forgets,
        run: |door, arguments, _| Box::pin(breaking::breakpoints(door, arguments)),
    },
    Tool {
        name: "debugger_continue",
        about: "Go on to the next stop, or run to file and line. Waits also if it runs already.",
        takes: &[
            SESSION,
            FILE,
            ("line", Line, ""),
            THREAD,
            ("all", Flag, "all stopped threads"),
            WAIT,
            TOKENS,
        ],
        needs: &[],
        only_reads: false,
        waits: Waits::ForStop,
        effect: Effect::None,
        run: |door, arguments, caller| Box::pin(running::go_on(door, arguments, caller)),
    },
    Tool {
        name: "debugger_step",
        about: "Step and wait for the stop.",
        takes: &[
            SESSION,
            ("kind", OneOf(&["over", "in", "out", "back"]), ""),
            ("count", Count, ""),
            THREAD,
            WAIT,
            TOKENS,
        ],
        needs: &[],
        only_reads: false,
        waits: Waits::ForStop,
        effect: Effect::None,
        run: |door, arguments, caller| Box::pin(running::step(door, arguments, caller)),
    },
    Tool {
        name: "debugger_pause",
        about: "Stop a running program now.",
        takes: &[SESSION, THREAD, WAIT, TOKENS],
        needs: &[],
        only_reads: false,
        waits: Waits::ForStop,
        effect: Effect::None,
        run: |door, arguments, caller| Box::pin(running::pause(door, arguments, caller)),
    },
    Tool {
        name: "debugger_wait",
        about: "Wait for a stop or the end: one later than after_epoch, if given.",
        takes: &[SESSION, ("after_epoch", Number, ""), WAIT, TOKENS],
        needs: &[],
        only_reads: true,
        waits: Waits::ForStop,
        effect: Effect::None,
        run: |door, arguments, caller| Box::pin(running::wait(door, arguments, caller)),
    },
    Tool {
        name: "debugger_inspect",
        about: "Look: stack, variables (of a frame, or inside of one: user.items[3]), globals, threads, source, output; or the rest of an answer by cursor.",
        takes: &[
            SESSION,
            (
                "what",
                OneOf(&["stack", "variables", "globals", "threads", "source", "output", "stop", "rest"]),
                "",
            ),
            THREAD,
            FRAME,
            ("variable", Text, "what to expand"),
            ("filter", Text, "part of name or line"),
            ("start", Number, ""),
            ("count", Number, ""),
            FILE,
            LINE,
            ("cursor", Text, ""),
            TOKENS,
        ],
        needs: &[],
        only_reads: true,
        waits: Waits::Never,
        effect: Effect::None,
        run: |door, arguments, caller| Box::pin(looking::inspect(door, arguments, caller)),
    },
    Tool {
        name: "debugger_evaluate",
        about: "Evaluate an expression, or several, in a frame of the stopped program.",
        takes: &[
            SESSION,
            ("expression", TextOrTexts, ""),
            ("expressions", Texts, ""),
            FRAME,
            THREAD,
            ("context", Usually(&["watch", "repl", "hover"]), "repl: the debugger's console"),
            TOKENS,
        ],
        needs: &[],
        only_reads: false,
        waits: Waits::Never,
        effect: Effect::None,
        run: |door, arguments, caller| Box::pin(evaluating::evaluate(door, arguments, caller)),
    },
    Tool {
        name: "debugger_set_variable",
        about: "Change a variable of a frame.",
        takes: &[SESSION, ("name", Text, ""), ("value", Text, ""), FRAME, THREAD],
        needs: &["name", "value"],
        only_reads: false,
        waits: Waits::Never,
        effect: Effect::None,
        run: |door, arguments, _| Box::pin(writing::set_variable(door, arguments)),
    },
    Tool {
        name: "debugger_input",
        about: "Write to the program's stdin and wait until it says something, stops or ends.",
        takes: &[SESSION, ("text", Text, "with its newline"), ("end", Flag, ""), WAIT],
        needs: &[],
        only_reads: false,
        waits: Waits::ForAnything,
        effect: Effect::None,
        run: |door, arguments, caller| Box::pin(writing::input(door, arguments, caller)),
    },
    Tool {
        name: "debugger_get_session",
        about: "State, mode and children of a session; without session_id also lists all live ones, other people's too. thread_id chooses the active thread.",
        takes: &[SESSION, THREAD],
        needs: &[],
        only_reads: true,
        waits: Waits::Never,
        effect: Effect::None,
        run: |door, arguments, _| Box::pin(sessions::get(door, arguments)),
    },
    Tool {
        name: "debugger_restart",
        about: "Run the program again with the same breakpoints.",
        takes: &[SESSION, WAIT, TOKENS],
        needs: &[],
        only_reads: false,
        waits: Waits::ForStop,
        effect: Effect::BeginsAnew,
        run: |door, arguments, caller| Box::pin(launching::restart(door, arguments, caller)),
    },
    Tool {
        name: "debugger_stop",
        about: "End what you launched; leave what you joined or attached to.",
        takes: &[SESSION],
        needs: &[],
        only_reads: false,
        waits: Waits::Never,
        effect: Effect::Forgets,
        run: |door, arguments, _| Box::pin(sessions::stop(door, arguments)),
    },
    Tool {
        name: "debugger_script",
        about: "Run several calls as one and get a table. steps: [{\"tool\":\"set_breakpoint\",\"line\":7},{\"tool\":\"continue\"},{\"tool\":\"evaluate\",\"expressions\":[\"n\"]}]; from: first step to repeat.",
        takes: &[SESSION, ("steps", Steps, ""), ("repeat", Count, ""), ("from", Count, ""), WAIT, TOKENS],
        needs: &["steps"],
        only_reads: false,
        waits: Waits::ForAnything,
        effect: Effect::None,
        run: |door, arguments, caller| Box::pin(scripting::script(door, arguments, caller)),
    },
];

/// The arguments of a call to this tool. What it does not know, or of another kind, is refused before anything is done: the
/// rest without it may mean something else.
pub fn read(tool: &Tool, given: Map<String, Value>) -> Result<Arguments, Failure> {
    let (mut arguments, unknown) = known(tool.takes, given);
    let checked = match unknown {
        Some(unknown) => Err(Failure::new(format!("{} does not take {unknown}", tool.name))),
        None => check(tool.takes, &mut arguments),
    };
    let missing = tool.needs.iter().find(|key| !arguments.has(key));
    let missing = missing.map_or(Ok(()), |key| Err(Failure::new(format!("`{key}` is missing"))));
    checked.and(missing).map_err(|failure| advised(tool, failure))?;
    Ok(arguments)
}

/// What was given, and what of it nobody knows.
fn known(takes: &[Takes], given: Map<String, Value>) -> (Arguments, Option<String>) {
    // Some clients add words of their own: Cursor, and Gemini CLI.
    const THEIR_OWN: [&str; 2] = ["random_string", "wait_for_previous"];
    let is_taken = |key: &str| takes.iter().chain(&EVERYWHERE).any(|(name, ..)| *name == key);
    let mut arguments = Arguments::new(given);
    arguments.adopt(is_taken);
    let is_known = |key: &str| is_taken(key) || key.starts_with('_') || THEIR_OWN.contains(&key);
    let unknown: Vec<String> =
        arguments.keys().filter(|key| !is_known(key)).map(|key| format!("`{key}`")).collect();
    let unknown = (!unknown.is_empty()).then(|| unknown.join(", "));
    (arguments, unknown)
}

fn names(takes: &[Takes]) -> String {
    takes.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
}

/// One breakpoint of a start, which takes what the call for one takes.
fn breakpoint(given: Map<String, Value>) -> Result<Arguments, Failure> {
    let (mut arguments, unknown) = known(SET_BREAKPOINT.takes, given);
    match unknown {
        None => check(SET_BREAKPOINT.takes, &mut arguments).map(|()| arguments),
        Some(unknown) => Err(Failure::new(format!("one of `breakpoints` has {unknown}, which none takes"))
            .next(format!("Each takes {}.", names(SET_BREAKPOINT.takes)))),
    }
}

/// A failure that says nothing else about what to do says what the tool takes. A debugger that is not installed is not
/// helped by other arguments.
pub fn advised(tool: &Tool, failure: Failure) -> Failure {
    const INSTALLING: &str = "breakroom doctor --fix ";
    let command = failure.what.split('`').find(|part| part.starts_with(INSTALLING));
    let next = match command {
        Some(command) => {
            format!(
                "Run `{command}`, with --yes where nobody can be asked, and then call {} again.",
                tool.name
            )
        }
        None if failure.what.contains("Install it by hand") => {
            format!("Install it, and then call {} again.", tool.name)
        }
        None => format!("Call {} again; it takes {}.", tool.name, names(tool.takes)),
    };
    failure.or_next(|| next)
}

/// How long a call may wait: agents' clients give up after a minute. One that is a step of a script has all of its time.
pub fn wait(arguments: &Arguments, caller: &Caller) -> Result<Wait, Failure> {
    const DEFAULT: u64 = 10_000;
    const MOST: u64 = 45_000;
    let left = caller.until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.map(|left| u64::try_from(left.as_millis()).unwrap_or(0));
    let time = arguments.count("wait_ms", left.unwrap_or(DEFAULT), left.unwrap_or(MOST))?;
    let deadline = Instant::now() + Duration::from_millis(time);
    Ok(Wait { deadline, given_up: caller.given_up.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_debugger_is_missing_the_next_step_is_to_install_it() {
        let start = TOOLS.iter().find(|tool| tool.name == "debugger_start").unwrap();
        let next = |what: &str| advised(start, Failure::new(what)).next.unwrap();
        let said = next(
            "the adapter debugpy is not installed. Install it with `breakroom doctor --fix debugpy`, or by hand: pip",
        );
        assert!(said.starts_with("Run `breakroom doctor --fix debugpy`"), "{said}");
        assert!(said.ends_with("then call debugger_start again."), "{said}");
        let said = next("the adapter mine is not installed. Install it by hand: get-mine");
        assert_eq!(said, "Install it, and then call debugger_start again.");
        assert!(next("`program` is missing").starts_with("Call debugger_start again; it takes program"));
    }

    #[test]
    fn the_names_of_the_document_are_there() {
        for name in ["start", "set_breakpoint", "continue", "evaluate", "stop", "get_session"] {
            assert!(TOOLS.iter().any(|tool| tool.name == format!("debugger_{name}")), "{name}");
        }
    }
}
