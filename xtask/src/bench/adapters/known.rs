//! The adapters of the matrix, and how each is started and met without the hub.

use serde_json::{Value, json};

use super::program::{Debuggee, Program};

pub struct Known {
    /// Its name in the catalog, by which the hub starts it.
    pub name: &'static str,
    /// The catalog's name for what is started directly, if that is another.
    pub direct: &'static str,
    /// `{path}` is where it is installed, `{adapters}` the adapters folder, `{place}` a port or a socket, `{program}` what is
    /// debugged.
    pub command: &'static [&'static str],
    pub meeting: Meeting,
    pub children: Children,
    pub program: Program,
    pub launch: fn(&Debuggee) -> Value,
    /// How often it can be stepped from the program's loop before it leaves that.
    pub steps: usize,
}

/// How a client gets to it.
#[derive(Clone, Copy)]
pub enum Meeting {
    Stdio,
    Tcp(Ready),
    /// Its socket is dialled until it answers.
    Unix,
}

/// How a client knows that it listens.
#[derive(Clone, Copy)]
pub enum Ready {
    /// By these words on its stdout.
    Stdout(&'static str),
    Stderr(&'static str),
    /// Not at all: its port is dialled until it answers.
    Unsaid,
}

/// Who debugs the program.
#[derive(Clone, Copy)]
pub enum Children {
    /// The connection that launched it.
    None,
    /// Another connection, which the first one asks for.
    Debugs,
}

fn program(debuggee: &Debuggee) -> Value {
    json!({"program": debuggee.program, "args": [], "cwd": debuggee.work})
}

const DEBUGPY: Known = Known {
    name: "debugpy-stock",
    direct: "debugpy-stock",
    command: &["python3", "{path}"],
    meeting: Meeting::Stdio,
    children: Children::None,
    program: Program::Script("m.py"),
    launch: |debuggee| json!({"program": debuggee.program, "console": "internalConsole", "cwd": debuggee.work}),
    steps: 7,
};

const GDB: Known = Known {
    name: "gdb",
    direct: "gdb",
    command: &[
        "{adapters}/gdb/bin/python3",
        "{path}",
        "-nx",
        "-q",
        "-iex",
        "set debuginfod enabled off",
        "--interpreter=dap",
    ],
    meeting: Meeting::Stdio,
    children: Children::None,
    program: Program::Cpp,
    launch: program,
    steps: 7,
};

pub const KNOWN: [Known; 12] = [
    Known { name: "debugpy", ..DEBUGPY },
    DEBUGPY,
    Known {
        name: "js-debug",
        direct: "js-debug",
        command: &["node", "{path}", "{place}", "127.0.0.1"],
        meeting: Meeting::Tcp(Ready::Stdout("Debug server listening at")),
        children: Children::Debugs,
        program: Program::Script("m.js"),
        launch: |debuggee| {
            json!({
                "type": "pwa-node", "program": debuggee.program, "cwd": debuggee.work,
                "__workspaceFolder": debuggee.work, "console": "internalConsole", "outputCapture": "std",
            })
        },
        steps: 7,
    },
    Known {
        name: "rdbg",
        direct: "rdbg",
        command: &[
            "{path}",
            "--open",
            "--host",
            "127.0.0.1",
            "--port",
            "{place}",
            "-c",
            "--",
            "ruby",
            "{program}",
        ],
        meeting: Meeting::Tcp(Ready::Stderr("wait for debugger connection")),
        program: Program::Script("m.rb"),
        launch: |debuggee| json!({"program": debuggee.program, "localfs": true}),
        steps: 2,
        ..GDB
    },
    Known {
        name: "delve",
        direct: "delve",
        command: &["{path}", "dap", "--listen", "127.0.0.1:{place}"],
        meeting: Meeting::Tcp(Ready::Stdout("DAP server listening at")),
        program: Program::Go,
        launch: |debuggee| json!({"program": debuggee.program, "mode": "exec", "cwd": debuggee.work}),
        ..GDB
    },
    Known {
        name: "lldb",
        direct: "lldb",
        command: &["{path}"],
        // Where it may not be changed, in a container, lldb refuses to launch at all.
        launch: |debuggee| json!({"program": debuggee.program, "cwd": debuggee.work, "disableASLR": false}),
        ..GDB
    },
    Known {
        name: "codelldb",
        direct: "codelldb",
        command: &["{path}"],
        launch: |debuggee| json!({"program": debuggee.program, "cwd": debuggee.work, "terminal": "console"}),
        ..GDB
    },
    GDB,
    Known {
        name: "cdt-gdb",
        direct: "cdt-gdb",
        command: &["node", "{path}"],
        launch: |debuggee| json!({"program": debuggee.program, "cwd": debuggee.work, "gdbArguments": ["-q"]}),
        ..GDB
    },
    Known {
        name: "jdi",
        direct: "jdi",
        command: &["java", "-cp", "{adapters}/jdi", "JdiDapServer", "--port", "{place}"],
        meeting: Meeting::Tcp(Ready::Unsaid),
        program: Program::Java,
        launch: |debuggee| {
            let (class, folder) = (debuggee.program.file_stem(), debuggee.program.parent());
            let class = class.map(|name| name.to_string_lossy());
            json!({"mainClass": class, "classpath": folder, "cwd": debuggee.work, "stopOnEntry": false})
        },
        ..GDB
    },
    Known {
        name: "perl",
        direct: "perl",
        command: &[
            "{path}",
            "-MPerl::LanguageServer",
            "-e",
            "Perl::LanguageServer::run",
            "--",
            "--port",
            "{place}",
            "--log-level",
            "0",
            "--version",
            "2.6.0",
        ],
        meeting: Meeting::Tcp(Ready::Unsaid),
        program: Program::Script("m.pl"),
        launch: program,
        ..GDB
    },
    Known {
        name: "cmake",
        direct: "cmake",
        command: &["{path}", "--debugger", "--debugger-pipe={place}", "-P", "{program}"],
        meeting: Meeting::Unix,
        program: Program::Script("m.cmake"),
        launch: program,
        ..GDB
    },
];
