//! Adapters of native programs, all with one program in C++.

use serde_json::json;

use super::adapter::{
    Adapter, Broken, Exception, Failure, Lack, Names, Numbers, Paging, Stdin, Stdout, Stops, launch,
};
use super::program::{Build, Program};

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
    names: Names { add: "add(int, int)", ..Names::USUAL },
    stdout: Stdout::Exact,
    stops: Stops::USUAL,
    numbers: Numbers { variable: "numbers", hundredth: "[100]", paging: Paging::Honoured },
    exception: Exception { filters: &["cpp_throw"], reason: "exception", said: "throw" },
    stdin: Stdin::RequestOrTerminal(|| json!({"runInTerminal": true})),
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
    // An exception is a breakpoint in the C++ library to it, and it does not say whose.
    exception: Exception { said: "C++ exception", ..LLDB.exception },
    missing: Failure::Refused("missing"),
    bad_arguments: Failure::Refused("invalid"),
    // Its helper that opens a terminal is not in the package.
    stdin: Stdin::Request,
    ..LLDB
};

pub const GDB: Adapter = Adapter {
    name: "gdb",
    launch,
    names: Names { add: "add", ..LLDB.names },
    stops: Stops { verified_at_once: false, ..LLDB.stops },
    numbers: Numbers { hundredth: "100", ..LLDB.numbers },
    exception: Exception { filters: &["throw"], ..CODELLDB.exception },
    bad_arguments: Failure::Refused("not"),
    stdin: Stdin::Request,
    ..LLDB
};

pub const CDT_GDB: Adapter = Adapter {
    name: "cdt-gdb",
    needs: &["g++", "gdb"],
    launch: |debuggee, word| json!({"program": debuggee.program, "arguments": word.unwrap_or_default()}),
    names: Names { locals: &["Local"], unknown_is_a_value: true, ..GDB.names },
    stdout: Stdout::Among,
    stops: LLDB.stops,
    numbers: Numbers { hundredth: "[100]", paging: Paging::Everything, ..GDB.numbers },
    lacks: &[
        Lack::not_offered(
            "log breakpoint",
            "it says the text as it is, without the values",
            "supportsLogPoints",
        ),
        Lack::not_offered("exceptions", "it has no filters", "exceptionBreakpointFilters"),
    ],
    ..GDB
};
