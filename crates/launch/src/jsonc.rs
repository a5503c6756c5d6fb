//! JSON as editors keep it: with comments and commas behind the last element.
//!
//! What is not JSON is blanked out, so that a mistake is told with the line and column that it has in the file.

use serde_json::Value;

pub fn parse(text: &str) -> Result<Value, serde_json::Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_slice(&plain(text.as_bytes()))
}

fn plain(text: &[u8]) -> Vec<u8> {
    let mut plain = text.to_vec();
    let mut comma = None;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match (byte, text.get(at + 1)) {
            (b'"', _) => {
                at = end_of_string(text, at);
                comma = None;
                continue;
            }
            (b'/', Some(b'/')) => {
                let end =
                    text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| at + end);
                at = blank(&mut plain, at, end);
                continue;
            }
            (b'/', Some(b'*')) => {
                let close = text[at + 2..].windows(2).position(|pair| pair == b"*/");
                at = blank(&mut plain, at, close.map_or(text.len(), |close| at + close + 4));
                continue;
            }
            (b',', _) => comma = Some(at),
            (b']' | b'}', _) => {
                if let Some(comma) = comma.take() {
                    plain[comma] = b' ';
                }
            }
            (byte, _) if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    plain
}

fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Lines stay lines.
fn blank(text: &mut [u8], from: usize, to: usize) -> usize {
    for byte in text[from..to].iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_last_commas_are_no_mistakes() {
        let text = "\u{feff}// first\n{ \"a\": [1, 2, /* three, */ ], // end\n \"b\": \"/* no */ // comment, ]\", \"c\\\"\": {\"d\": 1,},\n}\n";
        assert_eq!(
            parse(text).unwrap(),
            json!({"a": [1, 2], "b": "/* no */ // comment, ]", "c\"": {"d": 1}})
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let error = parse("{\n  // comment\n  \"a\" 1\n}").unwrap_err();
        assert_eq!((error.line(), error.column()), (3, 7));
        for text in ["", "{", "/*", "\"a", "[1,,2]", "\"\\"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
