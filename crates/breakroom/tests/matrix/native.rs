//! Adapters of native programs, all with one program in C++.

use serde_json::{Value, json};

use super::adapter::{
    Adapter, Broken, Exception, Failure, Lack, Names, Numbers, Paging, Stdin, Stdout, Stops, Worker,
};
use super::program::{Build, Debuggee, Program};

fn launch(debuggee: &Debuggee, word: Option<&str>) -> Value {
    json!({"program": debuggee.program, "args": word.into_iter().collect::<Vec<_>>()})
}

pub const LLDB: Adapter = Adapter {
    name: "lldb",
    needs: &["g++"],
    program: Program { file: "m.cpp", build: Build::Compiler(&["g++", "-g", "-O0", "-pthread"]) },
    launch: |debuggee, word| {
        let mut arguments = launch(debuggee, word);
        // Where it may not be changed, in a container, lldb refuses to launch at all.
        arguments["disableASLR"] = false.into();
        arguments
    },
    events: &["output", "process", "thread", "module", "continued", "breakpoint"],
    names: Names {
        main: "main",
        add: "add(int, int)",
        add_function: "add",
        locals: &["Locals"],
        spin: "spin",
        first: "a",
        sum: "a + b",
        total: "total",
        unknown_is_a_value: false,
    },
    stdout: Stdout::Exact,
    stops: Stops {
        verified_at_once: true,
        pause: "exception",
        step: "step",
        lines_before_sum: 0,
        steps_out: 1,
        runs_on_at_end: false,
        worker: Worker::Thread,
    },
    numbers: Numbers { variable: "numbers", hundredth: "[100]", paging: Paging::Honoured },
    exception: Exception { filters: &["cpp_throw"], reason: "exception", said: "throw" },
    stdin: Stdin::Terminal(|| json!({"runInTerminal": true})),
    missing: Failure::Refused("missing"),
    broken: Broken { file: "broken", text: "this is no program\n", failure: Failure::Refused("broken") },
    bad_arguments: Failure::Refused("does not exist"),
    lacks: &[],
};

pub const CODELLDB: Adapter = Adapter {
    name: "codelldb",
    launch,
    names: Names { locals: &["Local"], ..LLDB.names },
    stops: Stops { verified_at_once: false, ..LLDB.stops },
    numbers: Numbers { paging: Paging::Everything, ..LLDB.numbers },
    // An exception is a breakpoint in the C++ library, and it does not say whose.
    exception: Exception { reason: "breakpoint", said: "breakpoint", ..LLDB.exception },
    missing: Failure::Refused("missing"),
    bad_arguments: Failure::Refused("invalid"),
    lacks: &[Lack::of_input("its helper that opens a terminal is not in the package")],
    ..LLDB
};

pub const GDB: Adapter = Adapter {
    name: "gdb",
    launch,
    names: Names { add: "add", ..LLDB.names },
    stdout: Stdout::Among,
    stops: Stops { verified_at_once: false, pause: "pause", ..LLDB.stops },
    numbers: Numbers { hundredth: "100", ..LLDB.numbers },
    exception: Exception { filters: &["throw"], ..CODELLDB.exception },
    bad_arguments: Failure::Refused("not"),
    lacks: &[Lack::of_input("the program has no terminal, and gdb's own stdin is the protocol")],
    ..LLDB
};

pub const CDT_GDB: Adapter = Adapter {
    name: "cdt-gdb",
    needs: &["g++", "gdb"],
    launch: |debuggee, word| json!({"program": debuggee.program, "arguments": word.unwrap_or_default()}),
    names: Names { locals: &["Local"], unknown_is_a_value: true, ..GDB.names },
    stops: Stops { pause: "SIGINT", ..LLDB.stops },
    numbers: Numbers { hundredth: "[100]", paging: Paging::Everything, ..GDB.numbers },
    lacks: &[
        Lack::not_offered(
            "log breakpoint",
            "it says the text as it is, without the values",
            "supportsLogPoints",
        ),
        Lack::not_offered("exceptions", "it has no filters", "exceptionBreakpointFilters"),
        Lack::of_input("the program has no terminal, and gdb's own stdin is its machine interface"),
    ],
    ..GDB
};
