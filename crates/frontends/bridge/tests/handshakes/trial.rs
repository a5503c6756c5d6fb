//! What holds for every sequence of bytes that a client may send as its handshake.
//!
//! Whether a session admits a handshake is not tried here.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use breakroom_frontend_bridge::handshake::{MAX_MESSAGE, ReadError, Request, read};
use serde_json::Value;

/// As many writes fit into a socket before they are read.
const WRITES: usize = 64;

/// The first byte says in how many pieces the others arrive, which must make no difference.
pub fn receive(bytes: &[u8]) {
    let Some((pieces, stream)) = bytes.split_first() else { return };
    let (request, rest) = received(stream, usize::from(*pieces) % WRITES + 1);
    let (whole, _) = received(stream, 1);
    assert_eq!(described(&request), described(&whole), "the pieces make a difference");
    let body = body(stream);
    match &request {
        Err(ReadError::Lost(_)) => assert!(body.is_none(), "a whole handshake was lost"),
        Err(ReadError::Invalid(text)) => {
            assert!(text.starts_with("the handshake ") && text.len() < 100, "{text:?} repeats the input");
            let is_read = body.map_or(stream.len(), |body| 4 + body.len());
            // A length that is out of bounds is refused before anything that follows it is read.
            let left = [stream.len() - is_read, stream.len().saturating_sub(4)];
            assert!(left.contains(&rest.len()), "{} bytes are left", rest.len());
        }
        Ok(request) => {
            let body = body.expect("there is a handshake");
            assert_eq!(rest, stream[4 + body.len()..], "DAP after the handshake was lost");
            check(request, &serde_json::from_slice(body).expect("only JSON is accepted"));
        }
    }
}

/// The handshake in a stream, if it is whole and its length within bounds.
fn body(stream: &[u8]) -> Option<&[u8]> {
    let (prefix, rest) = stream.split_first_chunk()?;
    let length = u32::from_be_bytes(*prefix) as usize;
    (1..=MAX_MESSAGE).contains(&length).then(|| rest.get(..length)).flatten()
}

/// What comes of a stream, and what of it is still unread.
fn received(stream: &[u8], pieces: usize) -> (Result<Request, ReadError>, Vec<u8>) {
    let (mut client, mut bridge) = UnixStream::pair().expect("there are sockets");
    for piece in stream.chunks(stream.len().div_ceil(pieces).max(1)) {
        client.write_all(piece).expect("it fits into the socket");
    }
    client.shutdown(Shutdown::Write).expect("the bridge holds its end");
    let request = read(&bridge, Instant::now() + Duration::from_secs(20));
    let mut rest = Vec::new();
    bridge.read_to_end(&mut rest).expect("the client has closed its end");
    (request, rest)
}

fn described(request: &Result<Request, ReadError>) -> String {
    match request {
        Ok(request) => request.session_id.clone(),
        Err(error) => error.to_string(),
    }
}

fn check(request: &Request, sent: &Value) {
    assert!(sent.is_object() || sent.is_null(), "only an object is a handshake");
    let text = |name: &str| sent[name].as_str().unwrap_or_default();
    assert_eq!((&*request.token, &*request.session_id), (text("token"), text("session_id")));
    let config = &sent["debug_adapter_config"];
    assert_eq!(request.debug_adapter_config.is_some(), !config.is_null());
    let Some(Ok(record)) = request.debug_adapter_config.as_ref().map(|config| config.record()) else {
        return;
    };
    assert_eq!(record["args"], config["args"]);
    assert!(record["args"][0].as_str().is_some_and(|program| !program.is_empty()));
    let seconds = &record["connectionTimeoutSeconds"];
    match record["mode"].as_str() {
        Some("stdio") => assert!(seconds.is_null()),
        Some("tcp-callback" | "tcp-connect") => {
            let seconds = seconds.as_f64().expect("there is always a timeout");
            assert!(Duration::try_from_secs_f64(seconds).is_ok_and(|timeout| !timeout.is_zero()));
        }
        other => panic!("the mode is {other:?}"),
    }
}
