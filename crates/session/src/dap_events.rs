//! The events that DAP has, and what each is about. Every other is a vendor's own, and means what the vendor says.

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// A program that lives, or its debugger while it does.
    Program,
    /// How a program ends.
    End,
    /// The console, which may be written to by anybody at any time.
    Console,
}

const EVENTS: [(&str, About); 17] = [
    ("initialized", About::Program),
    ("stopped", About::Program),
    ("continued", About::Program),
    ("exited", About::End),
    ("terminated", About::End),
    ("thread", About::Program),
    ("output", About::Console),
    ("breakpoint", About::Program),
    ("module", About::Program),
    ("loadedSource", About::Program),
    ("process", About::Program),
    ("capabilities", About::Program),
    ("progressStart", About::Program),
    ("progressUpdate", About::Program),
    ("progressEnd", About::Program),
    ("invalidated", About::Program),
    ("memory", About::Program),
];

/// `None` if it is none of DAP's.
pub(crate) fn about(event: &str) -> Option<About> {
    EVENTS.iter().find(|(name, _)| *name == event).map(|(_, about)| *about)
}
