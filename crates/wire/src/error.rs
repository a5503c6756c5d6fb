//! What can be wrong with a stream's framing.
//!
//! Each sentence says what came, and what the peer has to do.
//! It does not decide what happens next: every error here means that the position in the stream is lost.

/// Framing is lost; the connection it came from cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("a header block has no Content-Length; begin each message with `Content-Length: N`")]
    MissingLength,
    #[error(
        "Content-Length is `{value}`, which is not a plain decimal number; send the body's length in bytes"
    )]
    BadLength { value: String },
    #[error("one message has two lengths, {first} and {second}; send Content-Length once")]
    ConflictingLengths { first: u64, second: u64 },
    #[error(
        "a message of {length} bytes is over the limit of {limit}; send smaller messages or raise the limit"
    )]
    TooLarge { length: String, limit: usize },
    #[error("a header block is over {limit} bytes, it begins with `{text}`; send only Content-Length")]
    HeaderTooLong { limit: usize, text: String },
    #[error("a header block has over {limit} lines, it begins with `{text}`; send only Content-Length")]
    TooManyHeaders { limit: usize, text: String },
    #[error("`{line}` stands where a header was expected; begin each message with `Content-Length: N`")]
    NotAHeader { line: String },
    #[error("`{line}` is an HTTP request, and this is not an HTTP port; connect with a debug client")]
    HttpRequest { line: String },
    #[error(
        "the header `{line}` is one that browsers send, and browsers are not welcome here; connect with a debug client"
    )]
    Browser { line: String },
    #[error(
        "a line is longer than the limit of {limit} bytes, it begins with `{text}`; send shorter lines or raise the limit"
    )]
    LineTooLong { limit: usize, text: String },
    #[error(
        "the stream ended inside a header, after `{text}`; the peer probably died, look at its own output"
    )]
    HeaderCutShort { text: String },
    #[error(
        "the stream ended after {received} of a message's {length} bytes; the peer probably died, look at its own output"
    )]
    CutShort { received: usize, length: usize },
    #[error("there is no memory for a message of {length} bytes; send smaller messages or lower the limit")]
    NoMemory { length: usize },
}

const SHOWN_CHARACTERS: usize = 80;
/// Escapes and lossy decoding never make one shown character out of more bytes than this.
const BYTES_LOOKED_AT: usize = SHOWN_CHARACTERS * 4;

/// The offending text, fit for one line of a log: at most 80 characters, control characters escaped.
pub(crate) fn shorten(text: &[u8]) -> String {
    let head = &text[..text.len().min(BYTES_LOOKED_AT)];
    let decoded = String::from_utf8_lossy(head);
    let mut escaped = decoded.trim_end_matches(['\r', '\n']).chars().flat_map(|c| {
        let plain = (!c.is_control()).then_some(c);
        plain.into_iter().chain(c.escape_default().filter(move |_| c.is_control()))
    });
    let mut shown: String = escaped.by_ref().take(SHOWN_CHARACTERS).collect();
    if escaped.next().is_some() || head.len() < text.len() {
        // The mark counts as one of the 80.
        if shown.chars().count() == SHOWN_CHARACTERS {
            shown.pop();
        }
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn a_long_text_is_shortened_to_eighty_characters() {
        assert_eq!(shorten(&[b'x'; 500]).chars().count(), 80);
        assert_eq!(shorten("ä".repeat(81).as_bytes()).chars().count(), 80);
        assert_eq!(shorten(&[b'x'; 80]), "x".repeat(80));
    }

    #[test]
    fn control_characters_and_bad_utf8_do_not_reach_a_log() {
        assert_eq!(shorten(b"a\x1b[31m\r\n"), "a\\u{1b}[31m");
        assert_eq!(shorten(b"\xff"), "\u{fffd}");
    }
}
