//! Adapters of languages whose programs are run from their source.

use serde_json::json;

use super::adapter::{
    Adapter, Broken, Exception, Failure, Lack, Names, Numbers, Paging, Stdin, Stdout, Stops, Worker, launch,
};
use super::program::{Build, Program};

pub const DEBUGPY: Adapter = Adapter {
    name: "debugpy",
    needs: &[],
    program: Program { file: "m.py", build: Build::Nothing },
    launch: |debuggee, word| json!({"program": debuggee.program, "args": word.into_iter().collect::<Vec<_>>(), "console": "internalConsole"}),
    events: &["output", "process", "thread", "module", "continued", "debugpySockets"],
    names: Names::USUAL,
    stdout: Stdout::Exact,
    stops: Stops::USUAL,
    numbers: Numbers { variable: "numbers", hundredth: "100", paging: Paging::Behind("more") },
    exception: Exception { filters: &["uncaught"], reason: "exception", said: "thrown" },
    stdin: Stdin::Terminal(|| json!({"console": "integratedTerminal"})),
    missing: Failure::Ran { said: "No such file or directory", code: 1 },
    broken: Broken {
        file: "broken.py",
        text: "def broken(:\n",
        failure: Failure::Ran { said: "SyntaxError", code: 1 },
    },
    bad_arguments: Failure::Refused("must be"),
    lacks: &[],
};

/// The same with debugpy's own adapter in the place of ours.
pub const DEBUGPY_STOCK: Adapter = Adapter { name: "debugpy-stock", needs: &["debugpy"], ..DEBUGPY };

pub const JS_DEBUG: Adapter = Adapter {
    name: "js-debug",
    needs: &["node"],
    program: Program { file: "m.js", build: Build::Nothing },
    launch: |debuggee, word| json!({"type": "pwa-node", "program": debuggee.program, "args": word.into_iter().collect::<Vec<_>>()}),
    events: &["output", "process", "thread", "module", "continued", "loadedSource", "breakpoint"],
    names: Names { main: "rest", locals: &["Local"], ..Names::USUAL },
    numbers: Numbers { paging: Paging::Honoured, ..DEBUGPY.numbers },
    stops: Stops { first: Some("first"), verified_at_once: false, lines_before_sum: 1, ..Stops::USUAL },
    stdin: Stdin::RequestOrTerminal(|| json!({"console": "integratedTerminal"})),
    bad_arguments: Failure::Refused("js-debug ended"),
    missing: Failure::Ran { said: "Cannot find module", code: 1 },
    lacks: &[Lack::not_offered("function breakpoint", "it has none", "supportsFunctionBreakpoints")],
    broken: Broken {
        file: "broken.js",
        text: "function broken( {\n",
        failure: Failure::Ran { said: "SyntaxError", code: 1 },
    },
    ..DEBUGPY
};

pub const RDBG: Adapter = Adapter {
    name: "rdbg",
    needs: &["ruby"],
    program: Program { file: "m.rb", build: Build::Nothing },
    launch,
    events: &["output", "process", "thread", "module", "continued"],
    names: Names { locals: &["Local"], ..Names::USUAL },
    stops: Stops { steps_out: 2, ..Stops::USUAL },
    numbers: Numbers { hundredth: "100", paging: Paging::Honoured, ..DEBUGPY.numbers },
    exception: Exception { filters: &["any"], reason: "exception", said: "thrown" },
    stdin: Stdin::Request,
    missing: Failure::NotStarted("No such file"),
    broken: Broken { file: "broken.rb", text: "def broken(\n", failure: Failure::NotStarted("syntax error") },
    bad_arguments: Failure::NotStarted("`program` is neither a text"),
    lacks: &[
        Lack::not_offered(
            "function breakpoint",
            "it acknowledges them and never stops",
            "supportsFunctionBreakpoints",
        ),
        Lack::not_offered("set variable", "1.4 has no such request", "supportsSetVariable"),
    ],
    ..DEBUGPY
};

pub const PERL: Adapter = Adapter {
    name: "perl",
    needs: &[],
    program: Program { file: "m.pl", build: Build::Nothing },
    launch,
    events: &["output", "process", "thread", "module", "continued", "loadedSource"],
    names: Names {
        add_function: "main::add",
        locals: &["Local"],
        first: "$first",
        sum: "$first + $second",
        total: "$total",
        unknown_is_a_value: true,
        ..Names::USUAL
    },
    stops: Stops { lines_before_sum: 1, worker: Worker::None, ..Stops::USUAL },
    numbers: Numbers { variable: "@numbers", hundredth: "100", paging: Paging::Everything },
    exception: Exception { filters: &["die"], reason: "exception", said: "thrown" },
    stdin: Stdin::Request,
    missing: Failure::Ran { said: "No such file", code: 2 },
    broken: Broken {
        file: "broken.pl",
        text: "sub broken( {\n",
        failure: Failure::Ran { said: "Prototype not terminated", code: 255 },
    },
    bad_arguments: Failure::Refused("does not pass the type constraint"),
    lacks: &[Lack::not_offered("function breakpoint", "it has none", "supportsFunctionBreakpoints")],
    ..DEBUGPY
};

pub const CMAKE: Adapter = Adapter {
    name: "cmake",
    needs: &[],
    program: Program { file: "m.cmake", build: Build::Nothing },
    launch,
    events: &["output", "process", "thread", "module", "continued", "breakpoint"],
    // A frame is called like the command in it, and an expression is the name of a variable.
    names: Names { main: "", add: "", locals: &["Locals", "Locals"], spin: "", sum: "total", ..Names::USUAL },
    stdout: Stdout::Marked("-- "),
    numbers: Numbers { paging: Paging::Text(";"), ..DEBUGPY.numbers },
    stops: Stops { verified_at_once: false, worker: Worker::None, ..Stops::USUAL },
    exception: Exception { filters: &["FATAL_ERROR"], reason: "exception", said: "thrown" },
    missing: Failure::Ran { said: "missing.cmake", code: 1 },
    broken: Broken {
        file: "broken.cmake",
        text: "broken(\n",
        failure: Failure::Ran { said: "Parse error", code: 1 },
    },
    bad_arguments: Failure::NotStarted("`program` is neither a text"),
    lacks: &[
        Lack::not_offered("conditional breakpoint", "it has none", "supportsConditionalBreakpoints"),
        Lack::not_offered("function breakpoint", "it has none", "supportsFunctionBreakpoints"),
        Lack::not_offered("set variable", "it has no such request", "supportsSetVariable"),
        Lack::of_input("the language reads no input"),
    ],
    ..DEBUGPY
};

pub const EZ: Adapter = Adapter {
    name: "ez",
    needs: &[],
    program: Program { file: "m.ez", build: Build::Nothing },
    launch,
    events: &["output", "process"],
    names: Names::USUAL,
    stdout: Stdout::Exact,
    stops: Stops { worker: Worker::None, ..Stops::USUAL },
    numbers: Numbers { variable: "numbers", hundredth: "[100]", paging: Paging::Honoured },
    exception: Exception { filters: &["errors"], reason: "exception", said: "500" },
    stdin: Stdin::Request,
    missing: Failure::Refused("missing"),
    broken: Broken { file: "broken.ez", text: "do main( {\n", failure: Failure::Refused("broken.ez") },
    bad_arguments: Failure::Refused("expected a sequence"),
    lacks: &[],
};
