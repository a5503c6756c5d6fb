//! Tables of byte streams: what is tolerated, what is refused, what is junk.
//!
//! Each stream is fed in pieces of several sizes, so a row that depends on the chunking fails.

use super::*;
use crate::buffer::SMALL_BODY;
use crate::properties::{LIMIT, feed, join_junk};

fn message(text: &str) -> Frame {
    Frame::Message(text.to_owned().into())
}

fn junk(text: &str) -> Frame {
    Frame::Junk(text.to_owned().into())
}

/// What a whole stream gives: its frames with adjoining junk joined, the error, and the counted quirks.
fn decode(peer: Peer, text: &[u8]) -> (Vec<Frame>, Option<FrameError>, Quirks) {
    let mut answers = [1, 3, 7, usize::MAX].map(|piece| {
        let mut decoder = ContentLength::new(peer, LIMIT);
        let (frames, error) = feed(&mut decoder, text, &[piece]);
        (join_junk(frames), error, decoder.quirks().clone())
    });
    let [first, others @ ..] = &mut answers;
    for other in others {
        assert_eq!((&first.0, &first.2), (&other.0, &other.2), "{}", String::from_utf8_lossy(text));
        assert_eq!(
            first.1.as_ref().map(std::mem::discriminant),
            other.1.as_ref().map(std::mem::discriminant)
        );
    }
    let [.., whole] = answers;
    whole
}

#[test]
fn what_real_peers_send_is_understood_and_counted() {
    let none = Quirks::default();
    let rows: &[(&str, &[&str], Quirks)] = &[
        ("", &[], none.clone()),
        ("Content-Length: 2\r\n\r\n{}", &["{}"], none.clone()),
        ("Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]", &["{}", "[1]"], none.clone()),
        ("Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1", &["", "1"], none.clone()),
        ("Content-Length:2\r\n\r\n{}", &["{}"], none.clone()),
        ("Content-Length: \t 0002 \r\n\r\n{}", &["{}"], none.clone()),
        ("Content-Length: 2\r\nContent-Length: 02\r\n\r\n{}", &["{}"], none.clone()),
        ("content-length: 2\r\n\r\n{}", &["{}"], Quirks { odd_case: 1, ..none.clone() }),
        ("CONTENT-LENGTH: 2\n\n{}", &["{}"], Quirks { odd_case: 1, bare_newline: 1, ..none.clone() }),
        (
            "Content-Type: application/json\r\nContent-Length: 2\r\nContent-X: y\r\n\r\n{}",
            &["{}"],
            Quirks { other_headers: 2, ..none.clone() },
        ),
        ("Content-Length: 2\n\n{}", &["{}"], Quirks { bare_newline: 1, ..none.clone() }),
        (
            "\r\nContent-Length: 2\r\n\r\n{}\r\n\n\r\nContent-Length: 1\r\n\r\n1\n\r",
            &["{}", "1"],
            Quirks { blank_lines: 5, ..none.clone() },
        ),
        ("\u{feff}Content-Length: 2\r\n\r\n{}", &["{}"], Quirks { byte_order_mark: 1, ..none }),
    ];
    for (text, messages, quirks) in rows {
        for peer in [Peer::Client, Peer::Adapter] {
            let expected = messages.iter().map(|text| message(text)).collect();
            assert_eq!(decode(peer, text.as_bytes()), (expected, None, quirks.clone()), "{text:?}");
        }
    }
}

#[test]
fn a_length_that_cannot_be_trusted_is_refused_from_both_sides() {
    for value in ["", "-5", "+5", "0x5", "5.0", "5 5", "1e3", "five", "5,5", "٥"] {
        let text = format!("Content-Length: {value}\r\n\r\n12345");
        for peer in [Peer::Client, Peer::Adapter] {
            let expected = FrameError::BadLength { value: value.to_owned() };
            assert_eq!(decode(peer, text.as_bytes()).1, Some(expected), "{text:?}");
        }
    }
    for value in ["1000001", "18446744073709551615", "18446744073709551616", &"9".repeat(70)] {
        let text = format!("Content-Length: {value}\r\n\r\n12345");
        for peer in [Peer::Client, Peer::Adapter] {
            let expected = FrameError::TooLarge { length: value.to_owned(), limit: LIMIT };
            assert_eq!(decode(peer, text.as_bytes()).1, Some(expected), "{text:?}");
        }
    }
    let two = b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n123456";
    for peer in [Peer::Client, Peer::Adapter] {
        assert_eq!(decode(peer, two).1, Some(FrameError::ConflictingLengths { first: 5, second: 6 }));
    }
}

#[test]
fn a_client_that_sends_anything_but_headers_is_refused() {
    let not_a_header = |line: &str| FrameError::NotAHeader { line: line.to_owned() };
    let browser = |line: &str| FrameError::Browser { line: line.to_owned() };
    let rows = [
        ("Content-Type: x\r\n\r\n{}", FrameError::MissingLength),
        ("Content-Length 5\r\n\r\n", not_a_header("Content-Length 5")),
        ("Content-Length : 5\r\n\r\n", not_a_header("Content-Length : 5")),
        ("hello world\r\n", not_a_header("hello world")),
        ("{\"seq\":1}", not_a_header("{\"seq\":1}")),
        (": 5\r\n\r\n", not_a_header(": 5")),
        ("Content-Length: 2\r\n\r\n{}{}\n", not_a_header("{}\\n")),
        ("Content-Length: 2\r\nOrigin: http://a\r\n\r\n{}", browser("Origin: http://a")),
        ("host: a\r\nContent-Length: 2\r\n\r\n{}", browser("host: a")),
        ("GET / HTTP/1.1\r\n", FrameError::HttpRequest { line: "GET / HTTP/1.1".to_owned() }),
        (
            "POST http://a/ HTTP/1.0\r\n",
            FrameError::HttpRequest { line: "POST http://a/ HTTP/1.0".to_owned() },
        ),
    ];
    for (text, expected) in rows {
        let error = decode(Peer::Client, text.as_bytes()).1;
        match expected {
            // How much of the line is shown depends on how much came when the first byte gave it away.
            FrameError::NotAHeader { .. } => {
                assert!(matches!(error, Some(FrameError::NotAHeader { .. })), "{text:?}: {error:?}");
            }
            _ => assert_eq!(error, Some(expected), "{text:?}"),
        }
    }
}

#[test]
fn a_header_block_has_bounds() {
    let long = format!("X: {}\r\nContent-Length: 2\r\n\r\n{{}}", "y".repeat(8 * 1024));
    let endless = "X".repeat(9 * 1024);
    for text in [long, endless] {
        assert!(matches!(decode(Peer::Client, text.as_bytes()).1, Some(FrameError::HeaderTooLong { .. })));
    }
    let many = |count| format!("Content-Length: 2\r\n{}\r\n{{}}", "X: y\r\n".repeat(count));
    assert_eq!(decode(Peer::Client, many(31).as_bytes()).1, None);
    for peer in [Peer::Client, Peer::Adapter] {
        assert!(matches!(decode(peer, many(32).as_bytes()).1, Some(FrameError::TooManyHeaders { .. })));
    }
}

#[test]
fn what_an_adapter_prints_between_messages_is_junk() {
    let two = "Content-Length: 2\r\n\r\n{}";
    let rows: Vec<(String, Vec<Frame>)> = vec![
        (format!("hello\n{two}"), vec![junk("hello\n"), message("{}")]),
        (format!("hello{two}"), vec![junk("hello"), message("{}")]),
        (format!("{two}\nhello\n\n{two}"), vec![message("{}"), junk("hello\n\n"), message("{}")]),
        (format!("ccccontent-Length: 2\n\n{{}}{two}"), vec![junk("ccc"), message("{}"), message("{}")]),
        ("xContent-Length: 2 \x0c\r\n\r\n{}".to_owned(), vec![junk("x"), message("{}")]),
        (
            format!("DAP server listening at: 1\n{two}"),
            vec![junk("DAP server listening at: 1\n"), message("{}")],
        ),
        (
            format!("got Content-Length: 20 of it\n{two}"),
            vec![junk("got Content-Length: 20 of it\n"), message("{}")],
        ),
        (format!("x Content-Length: 0x20\n{two}"), vec![junk("x Content-Length: 0x20\n"), message("{}")]),
        (
            "xContent-Length: Content-Length: 2\r\n\r\n{}".to_owned(),
            vec![junk("xContent-Length: "), message("{}")],
        ),
        (
            format!("Content-Length: 7\nof text\n{two}"),
            vec![junk("Content-Length: 7\nof text\n"), message("{}")],
        ),
        (format!("Content-Type: x\n\n{two}"), vec![junk("Content-Type: x\n\n"), message("{}")]),
        (format!("Contentious: x\n{two}"), vec![junk("Contentious: x\n"), message("{}")]),
        (format!("Host: x\n{two}"), vec![junk("Host: x\n"), message("{}")]),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), vec![junk("GET / HTTP/1.1\r\n\r\n")]),
        (format!("{two}Conte"), vec![message("{}"), junk("Conte")]),
        (format!("{two}Content-Type: x\n"), vec![message("{}"), junk("Content-Type: x\n")]),
        (format!("{}{two}", "cC".repeat(40_000)), vec![junk(&"cC".repeat(40_000)), message("{}")]),
    ];
    for (text, frames) in rows {
        let (decoded, error, quirks) = decode(Peer::Adapter, text.as_bytes());
        assert_eq!((decoded, error), (frames, None), "{text:?}");
        assert_eq!(quirks.junk, 1, "{text:?}");
    }
}

#[test]
fn an_adapters_text_is_delivered_before_more_arrives() {
    let mut decoder = ContentLength::new(Peer::Adapter, LIMIT);
    for (piece, text) in [
        ("listening on 1\n", "listening on 1\n"),
        ("Password:", "Password:"),
        ("\n", "\n"),
        ("Content is king", "Content is king"),
        (" Content-Length: 4 or", " Content-Length: 4 or"),
        (" more\nContent-", " more\n"),
    ] {
        decoder.spare().extend_from_slice(piece.as_bytes());
        let mut frames = Vec::new();
        while let Some(frame) = decoder.next().unwrap() {
            frames.push(frame);
        }
        assert_eq!(join_junk(frames), [junk(text)], "{piece:?}");
    }
}

#[test]
fn a_stream_that_ends_inside_a_message_is_an_error_and_delivers_no_part() {
    for peer in [Peer::Client, Peer::Adapter] {
        let (frames, error, _) = decode(peer, b"Content-Length: 5\r\n\r\n123");
        assert_eq!((frames, error), (vec![], Some(FrameError::CutShort { received: 3, length: 5 })));
        let (frames, error, _) = decode(peer, b"Content-Length: 5\r\nX: y");
        assert!(frames.is_empty());
        assert!(matches!(error, Some(FrameError::HeaderCutShort { .. })), "{error:?}");
        let text = format!("Content-Length: {}\r\n\r\n123", SMALL_BODY + 1);
        let expected = FrameError::CutShort { received: 3, length: SMALL_BODY + 1 };
        assert_eq!(decode(peer, text.as_bytes()).1, Some(expected));
    }
    assert!(matches!(decode(Peer::Client, b"Cont").1, Some(FrameError::HeaderCutShort { .. })));
}

#[test]
fn small_and_large_bodies_follow_each_other() {
    let sizes = [1, SMALL_BODY, SMALL_BODY + 1, 5, 900_000, 0, 70_000];
    let mut stream = Vec::new();
    for (index, size) in sizes.iter().enumerate() {
        crate::header::write_content_length(&mut stream, *size);
        stream.extend(std::iter::repeat_n(b'a' + index as u8, *size));
    }
    for peer in [Peer::Client, Peer::Adapter] {
        let mut decoder = ContentLength::new(peer, LIMIT);
        let (frames, error) = feed(&mut decoder, &stream, &[65_536, 10, 1]);
        assert_eq!(error, None);
        assert_eq!(frames.len(), sizes.len());
        for (index, (frame, size)) in frames.iter().zip(sizes).enumerate() {
            let Frame::Message(body) = frame else { panic!("junk") };
            assert_eq!(body.len(), size);
            assert!(body.iter().all(|byte| *byte == b'a' + index as u8));
        }
    }
}

#[test]
fn after_an_error_the_same_error_is_repeated_and_no_memory_is_taken() {
    let mut decoder = ContentLength::new(Peer::Client, LIMIT);
    decoder.spare().extend_from_slice(b"Content-Length: -1\r\n\r\n");
    let error = decoder.next().unwrap_err();
    for _ in 0..100 {
        decoder.spare().extend_from_slice(&[b'x'; 10_000]);
        assert_eq!(decoder.next(), Err(error.clone()));
    }
    assert!(decoder.spare().capacity() < 100_000);
    assert_eq!(decoder.finish(), Err(error));
}
