//! What engines say of a breakpoint that waits for its code to be loaded, as against one that they will not have.

use breakroom_dap::Json;

/// Words in the messages of those that wait.
const WAITS: [&str; 6] = [
    // JDI, netcoredbg, lldb
    "pending",
    // js-debug
    "provisional",
    "Unbound",
    // CodeLLDB
    "Resolved locations: 0",
    "not yet",
    "not loaded",
];

/// Why an engine will not have a breakpoint. None if it stands, or may yet.
pub(super) fn rejection(breakpoint: Json) -> Option<String> {
    let message = breakpoint.str("message")?;
    let waits = match breakpoint.str("reason").as_deref() {
        Some("pending") => true,
        Some("failed") => false,
        _ => WAITS.iter().any(|words| message.contains(words)),
    };
    (!waits && !message.is_empty()).then(|| message.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_its_code_is_not_rejected() {
        for (text, rejected) in [
            (r#"{"verified":false,"message":"Class not yet loaded, breakpoint pending"}"#, false),
            (r#"{"verified":false,"message":"breakpoint.provisionalBreakpoint"}"#, false),
            (r#"{"verified":false,"reason":"pending","message":"No symbol table"}"#, false),
            (r#"{"verified":false,"reason":"failed","message":"pending"}"#, true),
            (r#"{"verified":false,"message":"Breakpoint in file that does not exist."}"#, true),
            (r#"{"verified":false}"#, false),
        ] {
            assert_eq!(rejection(Json::first(text.as_bytes()).unwrap()).is_some(), rejected, "{text}");
        }
    }
}
