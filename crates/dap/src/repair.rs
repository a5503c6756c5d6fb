//! What adapters write where DAP has something else: `null` for a member that is optional, `0.0` for an integer.
//!
//! Found by a plain search, since nearly no message has any of it and none must be parsed for that.
//! Only members that DAP itself names are touched, and none that may be null or anything: `dataId`, `data`, `restart`.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use smallvec::SmallVec;

use crate::edit::Edit;
use crate::json::{Json, skip_space};

/// Integers of DAP.
const INTEGERS: [&str; 24] = [
    "column",
    "count",
    "declarationLocationReference",
    "endColumn",
    "endLine",
    "exitCode",
    "frameId",
    "id",
    "indexedVariables",
    "length",
    "line",
    "locationReference",
    "namedVariables",
    "offset",
    "pointerSize",
    "processId",
    "shellProcessId",
    "sourceReference",
    "start",
    "systemProcessId",
    "threadId",
    "totalFrames",
    "valueLocationReference",
    "variablesReference",
];

/// What else may be left out, and is never null.
const OPTIONAL: [&str; 30] = [
    "allThreadsContinued",
    "allThreadsStopped",
    "body",
    "breakpoints",
    "canRestart",
    "category",
    "checksums",
    "description",
    "error",
    "evaluateName",
    "group",
    "hitBreakpointIds",
    "instructionPointerReference",
    "instructionReference",
    "isLocalProcess",
    "memoryReference",
    "message",
    "mimeType",
    "moduleId",
    "name",
    "origin",
    "path",
    "presentationHint",
    "preserveFocusHint",
    "reason",
    "source",
    "sources",
    "startMethod",
    "text",
    "type",
];

/// The edits that make a message of an adapter what DAP says. None for nearly every message.
pub fn repairs(message: &[u8]) -> SmallVec<[Edit; 2]> {
    static NULL: LazyLock<Finder> = LazyLock::new(|| Finder::new(b"null"));
    static FRACTION: LazyLock<Finder> = LazyLock::new(|| Finder::new(b".0"));
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for at in NULL.find_iter(message) {
        if let Some((key, name)) = member_of(message, at)
            && (OPTIONAL.contains(&name) || INTEGERS.contains(&name))
        {
            cut(message, &mut cuts, key..at + b"null".len());
        }
    }
    let mut edits: SmallVec<[Edit; 2]> = cuts.into_iter().map(|cut| Edit::text(cut, "")).collect();
    for point in FRACTION.find_iter(message) {
        let digits = message[..point].iter().rev().take_while(|byte| is_digit(**byte)).count();
        let at = point - digits;
        let Some((_, name)) = member_of(message, at).filter(|_| digits > 0) else { continue };
        let value = Json::at(message, at);
        if let (true, Some(span), Some(number)) = (INTEGERS.contains(&name), value.span(), value.as_i64()) {
            edits.push(Edit::int(span, number));
        }
    }
    edits
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'-'
}

/// Where the member begins whose value starts at `value`, and its name. `None` if no plain key stands before it, as in
/// a list or inside a string.
fn member_of(message: &[u8], value: usize) -> Option<(usize, &str)> {
    let colon = last_before(message, value).filter(|at| message[*at] == b':')?;
    let end = last_before(message, colon).filter(|at| message[*at] == b'"')?;
    let start = memchr::memrchr(b'"', &message[..end])?;
    let name = std::str::from_utf8(&message[start + 1..end]).ok()?;
    // A backslash before either quote means that all of this is inside a string.
    let escaped = name.contains('\\') || (start > 0 && message[start - 1] == b'\\');
    // A key comes behind a brace or a comma; the text of a string may end in anything.
    let opens = last_before(message, start).is_some_and(|at| matches!(message[at], b'{' | b','));
    (!escaped && opens).then_some((start, name))
}

fn last_before(message: &[u8], at: usize) -> Option<usize> {
    message[..at].iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// Notes that a member is to be cut, with the one comma that goes with it. The last member takes the comma before it,
/// which may have been cut already with the member before.
fn cut(message: &[u8], cuts: &mut Vec<Range<usize>>, member: Range<usize>) {
    let after = skip_space(message, member.end);
    if message.get(after) == Some(&b',') {
        return cuts.push(member.start..skip_space(message, after + 1));
    }
    let Range { mut start, end } = member;
    while let Some(before) = last_before(message, start).filter(|at| message[*at] == b',') {
        start = before;
        match cuts.pop_if(|cut| cut.end > before) {
            Some(cut) => start = cut.start,
            None => break,
        }
    }
    cuts.push(start..end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    fn repaired(body: &str) -> String {
        let text = format!(r#"{{"type":"event","event":"x","vendor":{body}}}"#);
        let message = Message::from_engine(text.clone().into_bytes().into()).unwrap();
        let edits = repairs(text.as_bytes());
        let edited = message.edited(edits).unwrap();
        let whole = String::from_utf8(edited.bytes().to_vec()).unwrap();
        serde_json::from_str::<serde_json::Value>(&whole).unwrap();
        whole
            .strip_prefix(r#"{"type":"event","event":"x","vendor":"#)
            .unwrap()
            .strip_suffix('}')
            .unwrap()
            .into()
    }

    #[test]
    fn a_null_where_dap_has_none_is_left_out_and_the_rest_stays_as_it_is() {
        for (said, told) in [
            (r#"{"line":3,"message":null}"#, r#"{"line":3}"#),
            (r#"{"message" : null , "line":3}"#, r#"{"line":3}"#),
            (r#"{"message":null}"#, r#"{}"#),
            (r#"{"message":null,"line":null}"#, r#"{}"#),
            (r#"{"x":1,"message":null, "line":null}"#, r#"{"x":1}"#),
            (r#"{"x":1,"message":null,"line":null,"path":null}"#, r#"{"x":1}"#),
            (r#"{"x":1,"message":null,"y":2,"line":null,"path":null}"#, r#"{"x":1,"y":2}"#),
            (r#"[{"path":null},{"path":null}]"#, r#"[{},{}]"#),
            (
                r#"{"source":{"path":"p","sourceReference":null},"message":null}"#,
                r#"{"source":{"path":"p"}}"#,
            ),
        ] {
            assert_eq!(repaired(said), told, "{said}");
        }
    }

    #[test]
    fn what_dap_lets_be_null_and_what_is_not_daps_stays() {
        for said in [
            r#"{"dataId":null,"description":"d"}"#,
            r#"{"restart":null,"data":null,"vendor":null,"list":[null]}"#,
            r#"{"value":"\"message\":null","text":"{\"line\":null}","x":"message: null"}"#,
            r#"{"value":"a,\"line\": 3.0"}"#,
            r#"{"percentage":3.0,"line":3,"version":"3.0","x":"line\":3.0"}"#,
        ] {
            assert_eq!(repaired(said), said);
        }
    }

    #[test]
    fn an_integer_is_written_as_one() {
        let said = r#"{"variablesReference":0.0,"line": 12.00 ,"column":-1.0,"id":1.05,"seconds":2.0}"#;
        let told = r#"{"variablesReference":0,"line": 12 ,"column":-1,"id":1.05,"seconds":2.0}"#;
        assert_eq!(repaired(said), told);
    }
}
