//! What the hub knows about the requests of DAP, in one table.
//!
//! A request that is not in it is forwarded as it came, and may have changed anything.

use crate::node::Lane;

/// One request that the hub knows something about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    name: &'static str,
    pub kind: Kind,
    lane: Lane,
    /// What others are told that a client did who sent it.
    pub deed: Option<&'static str>,
    /// Whether an observer may send it: it changes neither the program nor where it stops, and runs no code of it.
    pub observers: bool,
    /// Whether `line`, `column` and `source` in it, or in its answer, mean places in a file.
    pub places: bool,
    /// What an engine claims that knows it. Without this every engine does.
    pub needs: Option<&'static str>,
}

/// What a request means to what others see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It lets a thread run.
    Resumes(Pace),
    /// It changes nothing, and its answer lasts as long as its stop: it serves whoever asks the same.
    Reads,
    /// What was read still holds, or the engine itself says what does not.
    Harmless,
    /// It sets breakpoints of its sender; an observer's are acknowledged and go no further.
    Sets,
    /// What others have read may not hold any more.
    Changes,
    /// The same, unless it says that it only looks.
    Evaluates,
}

/// How far a resume goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// To the next stop.
    Free,
    /// A little, and it stops by itself.
    Step,
}

const COMMANDS: [Known; 50] = [
    known("continue", Kind::Resumes(Pace::Free)).deed("resumed"),
    known("reverseContinue", Kind::Resumes(Pace::Free)).deed("resumed").needs("supportsStepBack"),
    known("next", Kind::Resumes(Pace::Step)).deed("stepped"),
    known("stepIn", Kind::Resumes(Pace::Step)).deed("stepped"),
    known("stepOut", Kind::Resumes(Pace::Step)).deed("stepped"),
    known("stepBack", Kind::Resumes(Pace::Step)).deed("stepped").needs("supportsStepBack"),
    known("goto", Kind::Resumes(Pace::Step)).deed("moved").needs("supportsGotoTargetsRequest"),
    known("restartFrame", Kind::Resumes(Pace::Step)).deed("restarted a frame").needs("supportsRestartFrame"),
    observing("threads", Kind::Reads),
    observing("stackTrace", Kind::Reads).with_places(),
    observing("scopes", Kind::Reads).with_places(),
    observing("variables", Kind::Reads),
    observing("exceptionInfo", Kind::Reads).with_places().needs("supportsExceptionInfoRequest"),
    known("setBreakpoints", Kind::Sets).with_places(),
    known("setFunctionBreakpoints", Kind::Sets).with_places().needs("supportsFunctionBreakpoints"),
    known("setExceptionBreakpoints", Kind::Sets).with_places(),
    known("setInstructionBreakpoints", Kind::Sets).with_places().needs("supportsInstructionBreakpoints"),
    known("setDataBreakpoints", Kind::Sets).needs("supportsDataBreakpoints"),
    known("evaluate", Kind::Evaluates).deed("evaluated").with_places(),
    known("setVariable", Kind::Changes).deed("set a variable").needs("supportsSetVariable"),
    known("setExpression", Kind::Changes).deed("set a variable").needs("supportsSetExpression"),
    known("writeMemory", Kind::Changes).deed("wrote memory").needs("supportsWriteMemoryRequest"),
    observing("source", Kind::Harmless).with_places(),
    observing("modules", Kind::Harmless).needs("supportsModulesRequest"),
    observing("loadedSources", Kind::Harmless).with_places().needs("supportsLoadedSourcesRequest"),
    observing("breakpointLocations", Kind::Harmless)
        .with_places()
        .needs("supportsBreakpointLocationsRequest"),
    known("completions", Kind::Harmless).with_places().needs("supportsCompletionsRequest"),
    known("dataBreakpointInfo", Kind::Harmless).needs("supportsDataBreakpoints"),
    observing("disassemble", Kind::Harmless).with_places().needs("supportsDisassembleRequest"),
    observing("gotoTargets", Kind::Harmless).with_places().needs("supportsGotoTargetsRequest"),
    observing("stepInTargets", Kind::Harmless).with_places().needs("supportsStepInTargetsRequest"),
    observing("locations", Kind::Harmless).with_places(),
    observing("readMemory", Kind::Harmless).needs("supportsReadMemoryRequest"),
    observing("initialize", Kind::Harmless),
    observing("configurationDone", Kind::Harmless),
    observing("launch", Kind::Harmless),
    observing("attach", Kind::Harmless),
    known("restart", Kind::Harmless).deed("restarted"),
    known("terminateThreads", Kind::Harmless)
        .deed("terminated threads")
        .needs("supportsTerminateThreadsRequest"),
    observing("breakroom/sessions", Kind::Harmless),
    observing("breakroom/session", Kind::Harmless),
    observing("breakroom/breakpoints", Kind::Harmless),
    observing("breakroom/environment", Kind::Harmless),
    observing("breakroom/focus", Kind::Harmless),
    known("breakroom/kill", Kind::Harmless).deed("ended a session"),
    known("breakroom/input", Kind::Harmless).deed("gave input"),
    known("pause", Kind::Harmless).deed("paused").urgent(),
    observing("cancel", Kind::Harmless).urgent(),
    observing("disconnect", Kind::Harmless).urgent(),
    known("terminate", Kind::Harmless).deed("terminated").urgent(),
];

const fn known(name: &'static str, kind: Kind) -> Known {
    Known { name, kind, lane: Lane::Normal, deed: None, observers: false, places: false, needs: None }
}

/// A request that an observer may send too.
const fn observing(name: &'static str, kind: Kind) -> Known {
    Known { observers: true, ..known(name, kind) }
}

impl Known {
    pub fn of(command: &str) -> Option<&'static Known> {
        COMMANDS.iter().find(|known| known.name == command)
    }

    pub fn lane(command: &str) -> Lane {
        Known::of(command).map_or(Lane::Normal, |known| known.lane)
    }

    const fn deed(self, deed: &'static str) -> Self {
        Known { deed: Some(deed), ..self }
    }

    const fn with_places(self) -> Self {
        Known { places: true, ..self }
    }

    const fn needs(self, capability: &'static str) -> Self {
        Known { needs: Some(capability), ..self }
    }

    /// It must get through however much else waits.
    const fn urgent(self) -> Self {
        Known { lane: Lane::Urgent, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_in_the_table_once() {
        for known in &COMMANDS {
            assert_eq!(COMMANDS.iter().filter(|other| other.name == known.name).count(), 1, "{}", known.name);
        }
        assert!(Known::of("vendor/thing").is_none());
    }

    /// What becomes of them `tests/session/roles.rs` plays.
    #[test]
    fn what_an_observer_may_send_is_documented() {
        let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sharing.md");
        let text = std::fs::read_to_string(document).unwrap();
        let rows = text.lines().skip_while(|line| !line.starts_with("| Request of an observer |"));
        let rows: Vec<_> = rows.take_while(|line| line.starts_with('|')).collect();
        for known in COMMANDS.iter().filter(|known| known.observers || known.kind == Kind::Sets) {
            let name = format!("`{}`", known.name);
            let row = rows.iter().find(|row| row.contains(&name));
            let is_refused = row.is_none_or(|row| row.contains("| refused"));
            assert!(!is_refused, "an observer may send {name}, and docs/sharing.md does not say so");
        }
    }
}
