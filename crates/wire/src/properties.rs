//! Properties that hold for every framing and every input.
//!
//! Any chunking of a stream yields the same frames, no input panics, and memory is bounded by what came and the limit.

use std::mem::discriminant;

use proptest::prelude::*;

use crate::{ContentLength, Decode, Frame, FrameError, JsonLines, LengthPrefix, Peer, header};

pub(crate) const LIMIT: usize = 1_000_000;
/// What the read buffer may have beyond what it must hold.
const SLACK: usize = 160 * 1024;

/// Feeds `stream` in pieces of the given sizes, in turn, and takes every frame and the error that ended it.
pub(crate) fn feed(
    decoder: &mut dyn Decode,
    stream: &[u8],
    pieces: &[usize],
) -> (Vec<Frame>, Option<FrameError>) {
    let mut frames = Vec::new();
    let mut rest = stream;
    let mut sizes = pieces.iter().cycle();
    while !rest.is_empty() {
        let spare = decoder.spare();
        assert!(spare.capacity() > spare.len(), "there is no room to read into");
        let received = stream.len() - rest.len();
        assert!(spare.capacity() <= 2 * received + LIMIT + SLACK, "too much memory was taken");
        let room = spare.capacity() - spare.len();
        let wanted = sizes.next().copied().unwrap_or(1).max(1);
        let (piece, later) = rest.split_at(wanted.min(room).min(rest.len()));
        spare.extend_from_slice(piece);
        rest = later;
        loop {
            match decoder.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    loop {
        match decoder.finish() {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, None),
            Err(error) => return (frames, Some(error)),
        }
    }
}

/// Junk comes in as many pieces as it arrived in; only the text counts.
pub(crate) fn join_junk(frames: Vec<Frame>) -> Vec<Frame> {
    let mut joined: Vec<Frame> = Vec::new();
    for frame in frames {
        match (joined.last_mut(), frame) {
            (Some(Frame::Junk(before)), Frame::Junk(after)) => {
                *before = [&before[..], &after[..]].concat().into()
            }
            (_, frame) => joined.push(frame),
        }
    }
    joined
}

fn decoders() -> Vec<Box<dyn Decode>> {
    vec![
        Box::new(ContentLength::new(Peer::Client, LIMIT)),
        Box::new(ContentLength::new(Peer::Adapter, LIMIT)),
        Box::new(JsonLines::new(LIMIT)),
        Box::new(LengthPrefix::new(LIMIT)),
    ]
}

fn chunking_does_not_matter(stream: &[u8], pieces: &[usize]) -> Result<(), TestCaseError> {
    for (mut whole, mut chunked) in decoders().into_iter().zip(decoders()) {
        let (expected, expected_error) = feed(&mut *whole, stream, &[usize::MAX]);
        let (frames, error) = feed(&mut *chunked, stream, pieces);
        prop_assert_eq!(join_junk(frames), join_junk(expected));
        prop_assert_eq!(error.as_ref().map(discriminant), expected_error.as_ref().map(discriminant));
        // The error is final.
        if error.is_some() {
            prop_assert_eq!(chunked.next().err(), error);
        }
    }
    Ok(())
}

/// Pieces of streams as peers write them, right and wrong, so that streams made of them get deep into the decoders.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let texts: &[&[u8]] = &[
        b"Content-Length: ",
        b"content-length:",
        b"Content-Type: a\r\n",
        b"Content-",
        b"X: y\n",
        b"Host: z\r\n",
        b"5",
        b"70000",
        b"-",
        b"\r",
        b"\n",
        b"\r\n",
        b"\r\n\r\n",
        b"\n\n",
        b"{}",
        b"warning c",
        b"\xef\xbb\xbf",
        b"\xef",
        b"\0\0\0\x05",
        b"Content-Length: 3\r\n\r\nabc",
        b"Content-Length: 0\r\n\r\n",
    ];
    prop_oneof![
        8 => proptest::sample::select(texts).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
        1 => (any::<u8>(), 0..9_000usize).prop_map(|(byte, count)| vec![byte; count]),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(fragment(), 0..30).prop_map(|parts| parts.concat())
}

fn pieces() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(prop_oneof![3 => 1..8usize, 1 => 1..5_000usize], 1..20)
}

/// Messages of all sizes, those around the border between small and large more often.
fn bodies() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let size = prop_oneof![6 => 0..200usize, 1 => 65_530..65_545usize, 1 => 0..200_000usize];
    proptest::collection::vec((size, b'a'..=b'z').prop_map(|(size, byte)| vec![byte; size]), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_chunking_of_any_stream_yields_the_same_frames(stream in stream(), pieces in pieces()) {
        chunking_does_not_matter(&stream, &pieces)?;
    }

    #[test]
    fn no_bytes_at_all_make_a_decoder_panic(stream in proptest::collection::vec(any::<u8>(), 0..3_000), pieces in pieces()) {
        chunking_does_not_matter(&stream, &pieces)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back_in_every_framing(bodies in bodies(), pieces in proptest::collection::vec(1..100_000usize, 1..8)) {
        let mut streams = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for body in &bodies {
            for (index, stream) in streams.iter_mut().enumerate() {
                match index {
                    0 | 1 => header::write_content_length(stream, body.len()),
                    2 => {}
                    _ => stream.extend(header::length_prefix(body.len()).unwrap()),
                }
                stream.extend_from_slice(body);
                if index == 2 {
                    stream.push(b'\n');
                }
            }
        }
        for (index, (mut decoder, stream)) in decoders().into_iter().zip(streams).enumerate() {
            let (frames, error) = feed(&mut *decoder, &stream, &pieces);
            prop_assert_eq!(error, None);
            let skips_blanks = index == 2;
            let expected: Vec<Frame> = bodies
                .iter()
                .filter(|body| !(skips_blanks && body.is_empty()))
                .map(|body| Frame::Message(body.clone().into()))
                .collect();
            prop_assert!(frames == expected);
        }
    }
}
