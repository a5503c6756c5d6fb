//! Blanks the numbers that the hub may change, so that what is left can be compared byte for byte.

use serde_json::Value;

/// Keys whose numbers are the hub's business, wherever they stand.
const KEYS: [&str; 10] = [
    "seq",
    "hitBreakpointIds",
    "request_seq",
    "requestId",
    "frameId",
    "targetId",
    "variablesReference",
    "locationReference",
    "declarationLocationReference",
    "valueLocationReference",
];

/// What answers these with objects that have an `id` of the hub's.
const LISTS: [&str; 7] = [
    "stackTrace",
    "gotoTargets",
    "stepInTargets",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setInstructionBreakpoints",
    "setDataBreakpoints",
];

/// The bytes of a message with `#` in place of each number that the hub may change. The text is cut with a plain
/// search on purpose: it shares nothing with the code under test.
pub fn without_numbers(bytes: &[u8]) -> Vec<u8> {
    let json: Value = serde_json::from_slice(bytes).unwrap_or_default();
    without_numbers_of(&json, bytes)
}

/// The same for a message that was read already, or for what was made of it.
pub fn without_numbers_of(json: &Value, bytes: &[u8]) -> Vec<u8> {
    let command = json["command"].as_str().unwrap_or_default();
    let lists_ids = LISTS.contains(&command) || json["event"] == "breakpoint";
    let is_ours = |key: &[u8]| KEYS.iter().any(|ours| ours.as_bytes() == key) || (lists_ids && key == b"id");
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let found = if bytes[at] == b'"' { number_behind(bytes, at, &is_ours) } else { None };
        match found {
            Some((start, end)) => {
                out.extend_from_slice(&bytes[at..start]);
                out.push(b'#');
                at = end;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

/// Where the number of the key whose opening quote is at `quote` stands, if that is a key of ours with a number.
fn number_behind(text: &[u8], quote: usize, is_ours: &impl Fn(&[u8]) -> bool) -> Option<(usize, usize)> {
    let length = text[quote + 1..].iter().take(32).position(|byte| *byte == b'"')?;
    let end = quote + 1 + length;
    if !is_ours(&text[quote + 1..end]) {
        return None;
    }
    let space = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let colon = end + 1 + space(end + 1);
    if text.get(colon) != Some(&b':') {
        return None;
    }
    let start = colon + 1 + space(colon + 1);
    if text.get(start) == Some(&b'[') {
        return Some((start, start + text[start..].iter().position(|byte| *byte == b']')? + 1));
    }
    // netcoredbg writes its numbers as strings.
    let is_number = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE\"".contains(byte);
    let length = text[start..].iter().take_while(is_number).count();
    (length > 0).then_some((start, start + length))
}

#[test]
fn only_the_hubs_numbers_are_blanked() {
    let text =
        br#"{"seq" : 12,"type":"event","body":{"variablesReference":0.0,"id":3,"line":4,"s":"\"seq\":1"}}"#;
    let left =
        br##"{"seq" : #,"type":"event","body":{"variablesReference":#,"id":3,"line":4,"s":"\"seq\":1"}}"##;
    assert_eq!(String::from_utf8(without_numbers(text)).unwrap(), String::from_utf8(left.to_vec()).unwrap());
}
