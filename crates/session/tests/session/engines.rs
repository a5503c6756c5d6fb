//! What the catalog says about the adapters that were recorded, as far as it changes what the session does.

use breakroom_session::{BareHits, Console, EngineFacts, EntryStop, ExitWord, Hover, Unset};

/// The facts about a recorded adapter, by the name of its recording.
pub fn facts_of(recording: &str) -> EngineFacts {
    let named = EngineFacts { name: recording.to_owned(), ..EngineFacts::default() };
    let kind = recording.split(['-', '.']).next().unwrap().trim_end_matches(char::is_numeric);
    match kind {
        "cdt" => EngineFacts {
            exit: ExitWord::InOutput(vec!["exited with code {octal}]".into(), "exited normally]".into()]),
            entry: EntryStop::Function("main".into()),
            ..named
        },
        "js" => EngineFacts { exit: ExitWord::InOutput(vec!["Process exited with code {}".into()]), ..named },
        "cmake" => EngineFacts { entry: EntryStop::Pause, ..named },
        "codelldb" => EngineFacts { console: Console::Commands, ..named },
        "gdb" => EngineFacts {
            console: Console::Commands,
            entry: EntryStop::Key("stopAtBeginningOfMainSubprogram".into()),
            bare_hits: BareHits::After,
            ..named
        },
        "lldb" => EngineFacts { hover: Hover::Names, ..named },
        "dlv" => EngineFacts {
            entry: EntryStop::Function("main.main".into()),
            exit: ExitWord::AtDisconnect(vec!["has exited with status {}".into()]),
            ..named
        },
        "rdbg" => EngineFacts {
            entry: EntryStop::ByAttach,
            hover: Hover::Names,
            exit: ExitWord::OwnEnd,
            unset: Unset::Stays,
            ..named
        },
        "debugpy" | "jdi" | "netcoredbg" | "perl" | "starlark" => named,
        other => panic!("nothing is known about {other}"),
    }
}
