//! What adapters write where DAP has something else: `null` for a member that is optional, `0.0` for an integer.
//!
//! A plain search says whether there is any of it at all: nearly no message has, and none must be parsed for that. Then
//! the message is walked, and only where DAP says what a member means: what lies in `data`, `adapterData`, `restart` or
//! in a vendor's own member is the vendor's, and has to come back to it as it was.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use smallvec::SmallVec;

use crate::edit::Edit;
use crate::json::{Json, Key, skip_space};

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

/// The members in which DAP goes on. `innerException` may stand in itself.
const CONTAINERS: [&str; 23] = [
    "additionalModuleColumns",
    "body",
    "breakpoint",
    "breakpointModes",
    "breakpoints",
    "capabilities",
    "checksums",
    "details",
    "error",
    "exceptionBreakpointFilters",
    "innerException",
    "instructions",
    "location",
    "module",
    "modules",
    "presentationHint",
    "scopes",
    "source",
    "sources",
    "stackFrames",
    "targets",
    "threads",
    "variables",
];

/// As deep as any message goes, so that none can exhaust the stack.
const DEPTH: usize = 32;

type Edits = SmallVec<[Edit; 2]>;

/// The edits that make a message of an adapter what DAP says. None for nearly every message.
pub fn repairs(message: &[u8]) -> Edits {
    if !is_suspect(message) {
        return Edits::new();
    }
    let mut found = Found { message, cuts: Vec::new(), integers: Edits::new() };
    if let Some(whole) = Json::first(message) {
        found.walk(whole, DEPTH);
    }
    found.cuts.into_iter().map(|cut| Edit::text(cut, "")).chain(found.integers).collect()
}

/// Whether some member with a name of DAP's is null, or a whole number with a fraction.
fn is_suspect(message: &[u8]) -> bool {
    static NULL: LazyLock<Finder> = LazyLock::new(|| Finder::new(b"null"));
    static FRACTION: LazyLock<Finder> = LazyLock::new(|| Finder::new(b".0"));
    let is_null = |at| member_of(message, at).is_some_and(may_be_left_out);
    let is_fraction = |point: usize| {
        let digits = message[..point].iter().rev().take_while(|byte| is_digit(**byte)).count();
        digits > 0 && member_of(message, point - digits).is_some_and(|name| INTEGERS.contains(&name))
    };
    NULL.find_iter(message).any(is_null) || FRACTION.find_iter(message).any(is_fraction)
}

fn may_be_left_out(name: &str) -> bool {
    OPTIONAL.contains(&name) || INTEGERS.contains(&name)
}

struct Found<'a> {
    message: &'a [u8],
    cuts: Vec<Range<usize>>,
    integers: Edits,
}

impl Found<'_> {
    fn walk(&mut self, part: Json, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for element in part.elements() {
            self.walk(element, depth);
        }
        for (key, value) in part.members() {
            let (name, first) = (&*key.text(), self.message.get(value.start()));
            match first {
                Some(b'n') if may_be_left_out(name) => self.leave_out(key, value),
                Some(b'{' | b'[') if CONTAINERS.contains(&name) => self.walk(value, depth),
                Some(b'-' | b'0'..=b'9') if INTEGERS.contains(&name) => self.write_whole(value),
                _ => {}
            }
        }
    }

    /// With the one comma that goes with it. The last member takes the comma before it, which may have been cut already
    /// with the member before.
    fn leave_out(&mut self, key: Key, value: Json) {
        let Some(Range { end, .. }) = value.span() else { return };
        let after = skip_space(self.message, end);
        if self.message.get(after) == Some(&b',') {
            return self.cuts.push(key.start..skip_space(self.message, after + 1));
        }
        let mut start = key.start;
        while let Some(before) = last_before(self.message, start).filter(|at| self.message[*at] == b',') {
            start = before;
            match self.cuts.pop_if(|cut| cut.end > before) {
                Some(cut) => start = cut.start,
                None => break,
            }
        }
        self.cuts.push(start..end);
    }

    fn write_whole(&mut self, value: Json) {
        if let (Some(span), Some(raw), Some(number)) = (value.span(), value.raw(), value.as_i64())
            && raw.contains(&b'.')
        {
            self.integers.push(Edit::int(span, number));
        }
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'-'
}

/// The name of the member whose value starts at `value`. `None` if no plain key stands before it, as in a list or inside
/// a string.
fn member_of(message: &[u8], value: usize) -> Option<&str> {
    let colon = last_before(message, value).filter(|at| message[*at] == b':')?;
    let end = last_before(message, colon).filter(|at| message[*at] == b'"')?;
    let start = memchr::memrchr(b'"', &message[..end])?;
    let name = std::str::from_utf8(&message[start + 1..end]).ok()?;
    // A backslash before either quote means that all of this is inside a string.
    let escaped = name.contains('\\') || (start > 0 && message[start - 1] == b'\\');
    // A key comes behind a brace or a comma; the text of a string may end in anything.
    let opens = last_before(message, start).is_some_and(|at| matches!(message[at], b'{' | b','));
    (!escaped && opens).then_some(name)
}

fn last_before(message: &[u8], at: usize) -> Option<usize> {
    message[..at].iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    fn repaired(body: &str) -> String {
        let text = format!(r#"{{"type":"event","event":"x","body":{body}}}"#);
        let message = Message::from_engine(text.clone().into_bytes().into()).unwrap();
        let edits = repairs(text.as_bytes());
        let edited = message.edited(edits).unwrap();
        let whole = String::from_utf8(edited.bytes().to_vec()).unwrap();
        serde_json::from_str::<serde_json::Value>(&whole).unwrap();
        whole
            .strip_prefix(r#"{"type":"event","event":"x","body":"#)
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
    fn what_a_vendor_put_into_a_message_of_dap_comes_through_as_it_was() {
        for said in [
            r#"{"output":"x","data":{"name":null,"id":3.0}}"#,
            r#"{"source":{"path":"p","adapterData":{"id":null,"line":2.0,"source":{"path":null}}}}"#,
            r#"{"restart":[{"line":1.0}],"__restart":{"name":null},"$vendor":{"body":{"id":null}}}"#,
        ] {
            assert_eq!(repaired(said), said);
        }
        let both = r#"{"source":{"path":null,"adapterData":{"path":null}},"line":1.0}"#;
        assert_eq!(repaired(both), r#"{"source":{"adapterData":{"path":null}},"line":1}"#);
    }

    #[test]
    fn an_integer_is_written_as_one() {
        let said = r#"{"variablesReference":0.0,"line": 12.00 ,"column":-1.0,"id":1.05,"seconds":2.0}"#;
        let told = r#"{"variablesReference":0,"line": 12 ,"column":-1,"id":1.05,"seconds":2.0}"#;
        assert_eq!(repaired(said), told);
    }
}
