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
    /// What others are told that a client did who sent it. An observer may do none of these.
    pub deed: Option<&'static str>,
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

const COMMANDS: [Known; 44] = [
    known("continue", Kind::Resumes(Pace::Free)).deed("resumed"),
    known("reverseContinue", Kind::Resumes(Pace::Free)).deed("resumed").needs("supportsStepBack"),
    known("next", Kind::Resumes(Pace::Step)).deed("stepped"),
    known("stepIn", Kind::Resumes(Pace::Step)).deed("stepped"),
    known("stepOut", Kind::Resumes(Pace::Step)).deed("stepped"),
    known("stepBack", Kind::Resumes(Pace::Step)).deed("stepped").needs("supportsStepBack"),
    known("goto", Kind::Resumes(Pace::Step)).deed("moved").needs("supportsGotoTargetsRequest"),
    known("restartFrame", Kind::Resumes(Pace::Step)).deed("restarted a frame").needs("supportsRestartFrame"),
    known("threads", Kind::Reads),
    known("stackTrace", Kind::Reads).with_places(),
    known("scopes", Kind::Reads).with_places(),
    known("variables", Kind::Reads),
    known("exceptionInfo", Kind::Reads).with_places().needs("supportsExceptionInfoRequest"),
    known("setBreakpoints", Kind::Sets).with_places(),
    known("setFunctionBreakpoints", Kind::Sets).with_places(),
    known("setExceptionBreakpoints", Kind::Sets).with_places(),
    known("setInstructionBreakpoints", Kind::Sets).with_places(),
    known("setDataBreakpoints", Kind::Sets),
    known("evaluate", Kind::Evaluates).deed("evaluated").with_places(),
    known("setVariable", Kind::Changes).deed("set a variable").needs("supportsSetVariable"),
    known("setExpression", Kind::Changes).deed("set a variable").needs("supportsSetExpression"),
    known("writeMemory", Kind::Changes).deed("wrote memory").needs("supportsWriteMemoryRequest"),
    known("source", Kind::Harmless).with_places(),
    known("modules", Kind::Harmless).needs("supportsModulesRequest"),
    known("loadedSources", Kind::Harmless).with_places().needs("supportsLoadedSourcesRequest"),
    known("breakpointLocations", Kind::Harmless).with_places().needs("supportsBreakpointLocationsRequest"),
    known("completions", Kind::Harmless).with_places().needs("supportsCompletionsRequest"),
    known("dataBreakpointInfo", Kind::Harmless).needs("supportsDataBreakpoints"),
    known("disassemble", Kind::Harmless).with_places().needs("supportsDisassembleRequest"),
    known("gotoTargets", Kind::Harmless).with_places().needs("supportsGotoTargetsRequest"),
    known("stepInTargets", Kind::Harmless).with_places().needs("supportsStepInTargetsRequest"),
    known("locations", Kind::Harmless).with_places(),
    known("readMemory", Kind::Harmless).needs("supportsReadMemoryRequest"),
    known("configurationDone", Kind::Harmless),
    known("launch", Kind::Harmless),
    known("attach", Kind::Harmless),
    known("restart", Kind::Harmless).deed("restarted"),
    known("terminateThreads", Kind::Harmless)
        .deed("terminated threads")
        .needs("supportsTerminateThreadsRequest"),
    known("breakroom/kill", Kind::Harmless).deed("ended a session"),
    known("breakroom/input", Kind::Harmless).deed("gave input"),
    known("pause", Kind::Harmless).deed("paused").urgent(),
    known("cancel", Kind::Harmless).urgent(),
    known("disconnect", Kind::Harmless).urgent(),
    known("terminate", Kind::Harmless).deed("terminated").urgent(),
];

const fn known(name: &'static str, kind: Kind) -> Known {
    Known { name, kind, lane: Lane::Normal, deed: None, places: false, needs: None }
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
}
