//! What the catalog says about the adapters that were recorded, as far as it changes what the session does.

use breakroom_session::EngineFacts;
use breakroom_session::habits::{BareHits, Console, EntryStop, ExitWord, Hover, Term, Unset};

/// The facts about a recorded adapter, by the name of its recording.
pub fn facts_of(recording: &str) -> EngineFacts {
    let named = EngineFacts { name: recording.to_owned(), ..EngineFacts::default() };
    let kind = recording.split(['-', '.']).next().unwrap().trim_end_matches(char::is_numeric);
    match kind {
        "cdt" => changed(named, |facts| {
            facts.ending.exit = ExitWord::InOutput(vec![
                "exited with code {octal}]".into(),
                "exited normally]".into(),
                "Program terminated with signal {signal},".into(),
            ]);
            facts.starting.entry = EntryStop::Function("main".into());
        }),
        "js" => changed(named, |facts| {
            facts.ending.exit = ExitWord::InOutput(vec!["Process exited with code {}".into()])
        }),
        "cmake" => changed(named, |facts| facts.starting.entry = EntryStop::Pause),
        "codelldb" => changed(named, |facts| facts.expressions.console = Console::Commands),
        "gdb" => changed(named, |facts| {
            facts.expressions.console = Console::Commands;
            facts.starting.entry = EntryStop::Key("stopAtBeginningOfMainSubprogram".into());
            facts.breakpoints.bare_hits = BareHits::After;
        }),
        "lldb" => changed(named, |facts| facts.expressions.hover = Hover::Names),
        "dlv" => changed(named, |facts| {
            facts.starting.entry = EntryStop::Function("main.main".into());
            facts.ending.exit = ExitWord::AtDisconnect(vec!["has exited with status {}".into()]);
            facts.ending.unknown = Some(-1);
        }),
        "rdbg" => changed(named, |facts| {
            facts.starting.entry = EntryStop::ByAttach;
            facts.expressions.hover = Hover::Names;
            facts.ending.exit = ExitWord::OwnEnd;
            facts.breakpoints.unset = Unset::Stays;
            facts.breakpoints.judged = vec![Term::Condition, Term::HitCondition, Term::LogMessage];
        }),
        "debugpy" | "jdi" | "netcoredbg" | "perl" | "starlark" => named,
        other => panic!("nothing is known about {other}"),
    }
}

/// An engine of which only this is special.
pub fn facts_with(set: impl FnOnce(&mut EngineFacts)) -> EngineFacts {
    changed(EngineFacts::default(), set)
}

/// One that is otherwise like another.
pub fn changed(mut facts: EngineFacts, set: impl FnOnce(&mut EngineFacts)) -> EngineFacts {
    set(&mut facts);
    facts
}
