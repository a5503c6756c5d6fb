//! Blanks the numbers that the hub may change, so that what is left can be compared byte for byte.

use serde_json::Value;

/// Keys whose numbers are the hub's business, wherever they stand.
const KEYS: [&str; 9] = [
    "seq",
    "request_seq",
    "requestId",
    "frameId",
    "targetId",
    "variablesReference",
    "locationReference",
    "declarationLocationReference",
    "valueLocationReference",
];

/// The bytes of a message with `#` in place of each number that the hub may change. The text is cut with a plain
/// search on purpose: it shares nothing with the code under test.
pub fn without_numbers(bytes: &[u8]) -> Vec<u8> {
    let json: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let lists_ids = matches!(json["command"].as_str(), Some("stackTrace" | "gotoTargets" | "stepInTargets"));
    let mut text = bytes.to_vec();
    for key in KEYS.iter().copied().chain(lists_ids.then_some("id")) {
        text = blank(&text, key.as_bytes());
    }
    text
}

fn blank(text: &[u8], key: &[u8]) -> Vec<u8> {
    let quoted = [b"\"", key, b"\""].concat();
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        out.push(text[at]);
        at += 1;
        if !out.ends_with(&quoted) {
            continue;
        }
        let space = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let colon = at + space(at);
        if text.get(colon) != Some(&b':') {
            continue;
        }
        let start = colon + 1 + space(colon + 1);
        let is_number = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let length = text[start..].iter().take_while(is_number).count();
        out.extend_from_slice(&text[at..start]);
        out.extend(std::iter::repeat_n(b'#', usize::from(length > 0)));
        at = start + length;
    }
    out
}

#[test]
fn only_the_hubs_numbers_are_blanked() {
    let text = br#"{"seq" : 12,"type":"event","body":{"variablesReference":0.0,"id":3,"line":4,"s":"\"seq\":1"}}"#;
    let left = br##"{"seq" : #,"type":"event","body":{"variablesReference":#,"id":3,"line":4,"s":"\"seq\":1"}}"##;
    assert_eq!(String::from_utf8(without_numbers(text)).unwrap(), String::from_utf8(left.to_vec()).unwrap());
}
