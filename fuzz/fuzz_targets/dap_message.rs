//! Any bytes as a stream of DAP messages: framing and scanning never panic, and an edited message is still one.
//!
//! The first byte says how many bytes come at once, which must make no difference.
#![no_main]

use breakroom_dap::{Message, references};
use breakroom_wire::{ContentLength, Decode, Frame, FrameError, Peer};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Some((pieces, stream)) = bytes.split_first() else { return };
    for peer in [Peer::Client, Peer::Adapter] {
        let (messages, error) = decoded(peer, stream, usize::from(*pieces).max(1));
        let whole = decoded(peer, stream, stream.len().max(1));
        assert_eq!(
            (&messages, error.is_some()),
            (&whole.0, whole.1.is_some()),
            "the pieces make a difference"
        );
        for message in messages {
            if let Ok(message) = Message::from_client(message.clone()) {
                let again = Message::from_client(scan(&message));
                assert_eq!(again.ok().and_then(|again| again.seq()), Some(7), "it has another number");
            }
            if let Ok(message) = Message::from_engine(message) {
                scan(&message);
            }
        }
    }
});

fn decoded(peer: Peer, stream: &[u8], piece: usize) -> (Vec<Bytes>, Option<FrameError>) {
    let mut decoder = ContentLength::new(peer, LIMIT);
    let mut messages = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let spare = decoder.spare();
        let room = spare.capacity() - spare.len();
        let (now, later) = rest.split_at(piece.min(room).min(rest.len()));
        spare.extend_from_slice(now);
        rest = later;
        if let Err(error) = take(|| decoder.next(), &mut messages) {
            return (messages, Some(error));
        }
    }
    let end = take(|| decoder.finish(), &mut messages);
    (messages, end.err())
}

fn take(
    mut next: impl FnMut() -> Result<Option<Frame>, FrameError>,
    messages: &mut Vec<Bytes>,
) -> Result<(), FrameError> {
    while let Some(frame) = next()? {
        if let Frame::Message(message) = frame {
            messages.push(message);
        }
    }
    Ok(())
}

/// Looks at everything in it. The message under the number 7.
fn scan(message: &Message) -> Bytes {
    let whole: &[u8] = message.bytes();
    let inside = |reference: &references::Reference| whole.get(reference.at.clone()).is_some();
    if let Some(payload) = message.payload() {
        assert!(references::in_request(payload).all(|found| inside(&found)));
        let command = message.command().unwrap_or_default();
        assert!(references::in_response(command, whole, payload).iter().all(inside));
        references::lazy(whole, payload);
    }
    assert!(references::by_name(whole).iter().all(inside));
    message.failure_text();
    let renumbered = message.renumbered(7, message.answering(8).into_iter().collect());
    let bytes = renumbered.to_bytes();
    assert_eq!(bytes.len(), renumbered.len(), "its length is told wrong");
    bytes
}
