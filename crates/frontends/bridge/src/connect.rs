//! The IDE's side of a debug bridge: a debug adapter on stdin and stdout that is reached through the bridge's socket.
//!
//! The handshake comes first, and not one byte before it was accepted. Then the bytes of both directions are copied as they
//! are. Which adapter the bridge is to start is for the caller to say.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use breakroom_wire::header;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::handshake::{self, DEADLINE, MAX_MESSAGE};
use crate::socket;

/// What a handshake asks of a bridge.
pub struct Target {
    pub socket: PathBuf,
    pub token: String,
    /// The id of the session, or of a child session that the bridge announced.
    pub session: String,
    pub run: Option<String>,
    /// How the adapter is started. A child session has that of its parent.
    pub adapter: Option<Value>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the debug bridge at {path} cannot be reached: {source}")]
    NotReached { path: String, source: io::Error },
    /// In the words of the bridge.
    #[error("the debug bridge refused the session: {0}")]
    Refused(String),
    #[error("the debug bridge closed the connection instead of answering the handshake")]
    Closed,
    #[error("the debug bridge did not answer the handshake within {} s", DEADLINE.as_secs())]
    Silent,
    #[error("the handshake cannot be sent: {0}")]
    NotSent(io::Error),
    #[error(
        "the handshake has {0} bytes, and at most {MAX_MESSAGE} are allowed; shorten the arguments or the environment"
    )]
    TooLarge(usize),
    #[error("the answer of the debug bridge cannot be read: {0}")]
    Unreadable(String),
}

#[derive(Deserialize)]
struct Answer {
    success: bool,
    error: Option<String>,
}

/// Connects to a bridge and waits until it accepts the handshake.
pub fn connect(target: &Target) -> Result<UnixStream, ConnectError> {
    connect_by(target, Instant::now() + DEADLINE)
}

fn connect_by(target: &Target, by: Instant) -> Result<UnixStream, ConnectError> {
    let reach = || {
        let stream = UnixStream::connect(&target.socket)?;
        socket::check_peer(&stream).map(|()| stream)
    };
    let stream = reach().map_err(|source| {
        let path = target.socket.display().to_string();
        ConnectError::NotReached { path, source }
    })?;
    send(&stream, &request(target), by)?;
    let answer = receive(&stream, by)?;
    match answer.success {
        true => Ok(stream),
        false => Err(ConnectError::Refused(answer.error.unwrap_or_else(|| "no reason was given".to_owned()))),
    }
}

fn request(target: &Target) -> Value {
    let mut request = json!({"token": target.token, "session_id": target.session});
    if let Some(run) = &target.run {
        request["run_id"] = json!(run);
    }
    if let Some(adapter) = &target.adapter {
        request["debug_adapter_config"] = adapter.clone();
    }
    request
}

fn send(mut stream: &UnixStream, request: &Value, by: Instant) -> Result<(), ConnectError> {
    let body = request.to_string();
    if body.len() > MAX_MESSAGE {
        return Err(ConnectError::TooLarge(body.len()));
    }
    let mut write = || {
        let prefix = header::length_prefix(body.len()).map_err(io::Error::other)?;
        stream.set_write_timeout(Some(handshake::remaining(by)?))?;
        stream.write_all(&[&prefix[..], body.as_bytes()].concat())?;
        stream.set_write_timeout(None)
    };
    write().map_err(ConnectError::NotSent)
}

/// Reads the answer and not a byte more, because DAP may follow in the same write.
fn receive(stream: &UnixStream, by: Instant) -> Result<Answer, ConnectError> {
    let mut prefix = [0; 4];
    handshake::read_exact(stream, &mut prefix, by).map_err(unanswered)?;
    let length = u32::from_be_bytes(prefix) as usize;
    if length == 0 || length > MAX_MESSAGE {
        let text = format!("it has {length} bytes, and 1 to {MAX_MESSAGE} are allowed");
        return Err(ConnectError::Unreadable(text));
    }
    let mut body = vec![0; length];
    handshake::read_exact(stream, &mut body, by).map_err(unanswered)?;
    serde_json::from_slice(&body).map_err(|error| ConnectError::Unreadable(error.to_string()))
}

fn unanswered(error: io::Error) -> ConnectError {
    match error.kind() {
        io::ErrorKind::TimedOut => ConnectError::Silent,
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => ConnectError::Closed,
        _ => ConnectError::Unreadable(error.to_string()),
    }
}

/// Copies stdin to the bridge and what the bridge sends to stdout, until the bridge closes the connection.
///
/// The end of stdin closes our direction; the bridge ends the session then. If the bridge closes first, that is an error:
/// whoever reads stdout knows whether the session had ended.
pub fn relay(stream: UnixStream) -> io::Result<()> {
    let to_bridge = stream.try_clone()?;
    let input_ended = Arc::new(AtomicBool::new(false));
    let ended = input_ended.clone();
    std::thread::Builder::new().name("to-bridge".to_owned()).spawn(move || {
        // A bridge that is gone is noticed by the other direction.
        if copy(&mut io::stdin().lock(), &mut &to_bridge).is_ok() {
            ended.store(true, Ordering::SeqCst);
        }
        let _ = to_bridge.shutdown(Shutdown::Write);
    })?;
    copy(&mut &stream, &mut io::stdout().lock())?;
    match input_ended.load(Ordering::SeqCst) {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the bridge closed it")),
    }
}

/// Each piece is passed on before the next is awaited.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                to.write_all(&buffer[..read])?;
                to.flush()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A bridge that ends at once resets what was still on its way to it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Connects to a bridge that reads the handshake and then does `answer`.
    fn connect_to(
        answer: impl FnOnce(UnixStream) + Send + 'static,
        by: Duration,
    ) -> (Result<UnixStream, ConnectError>, Value) {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let (sender, received) = channel();
        let bridge = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut prefix = [0; 4];
            stream.read_exact(&mut prefix).unwrap();
            let mut body = vec![0; u32::from_be_bytes(prefix) as usize];
            stream.read_exact(&mut body).unwrap();
            sender.send(serde_json::from_slice::<Value>(&body).unwrap()).unwrap();
            answer(stream);
        });
        let target = Target {
            socket,
            token: "secret".to_owned(),
            session: "web".to_owned(),
            run: Some("run-1".to_owned()),
            adapter: Some(json!({"args": ["adapter"]})),
        };
        let connected = connect_by(&target, Instant::now() + by);
        bridge.join().unwrap();
        (connected, received.recv().unwrap())
    }

    fn framed(body: &str) -> Vec<u8> {
        [&header::length_prefix(body.len()).unwrap()[..], body.as_bytes()].concat()
    }

    fn failure(bytes: Vec<u8>) -> String {
        let (connected, _) = connect_to(move |mut stream| stream.write_all(&bytes).unwrap(), DEADLINE);
        connected.unwrap_err().to_string()
    }

    #[test]
    fn row_04_19_handshake_names_token_session_run_and_adapter() {
        let (connected, request) =
            connect_to(|mut stream| stream.write_all(&framed(r#"{"success":true}"#)).unwrap(), DEADLINE);
        assert!(connected.is_ok());
        let expected = json!({
            "token": "secret", "session_id": "web", "run_id": "run-1",
            "debug_adapter_config": {"args": ["adapter"]},
        });
        assert_eq!(request, expected);
    }

    #[test]
    fn row_04_22_answer_is_read_byte_by_byte_and_what_follows_it_stays_in_the_stream() {
        let bytes =
            [framed(r#"{"success":true,"more":1}"#), b"Content-Length: 2\r\n\r\n{}".to_vec()].concat();
        let slowly = move |mut stream: UnixStream| {
            bytes.iter().for_each(|byte| stream.write_all(std::slice::from_ref(byte)).unwrap());
        };
        let (connected, _) = connect_to(slowly, DEADLINE);
        let mut rest = String::new();
        connected.unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "Content-Length: 2\r\n\r\n{}");
    }

    #[test]
    fn row_04_24_refusal_is_told_in_the_words_of_the_bridge() {
        let error = failure(framed(r#"{"success":false,"error":"invalid session token"}"#));
        assert_eq!(error, "the debug bridge refused the session: invalid session token");
        assert!(failure(framed(r#"{"success":false}"#)).contains("no reason was given"));
    }

    #[test]
    fn row_04_25_answer_that_is_too_large_or_empty_or_no_answer_is_a_failure() {
        assert!(failure(65_537_u32.to_be_bytes().to_vec()).contains("65537 bytes"));
        assert!(failure(0_u32.to_be_bytes().to_vec()).contains("0 bytes"));
        assert!(failure(framed("{}")).contains("cannot be read"));
        assert!(failure(framed("[true]")).contains("cannot be read"));
        assert!(failure(Vec::new()).contains("closed the connection"));
        assert!(failure(vec![0, 0]).contains("closed the connection"));
        let largest = format!(r#"{{"success":true,"x":"{}"}}"#, "x".repeat(MAX_MESSAGE - 23));
        assert_eq!(largest.len(), MAX_MESSAGE);
        let (connected, _) =
            connect_to(move |mut stream| stream.write_all(&framed(&largest)).unwrap(), DEADLINE);
        assert!(connected.is_ok());
    }

    #[test]
    fn handshake_that_is_too_large_is_not_sent() {
        let (stream, mut theirs) = UnixStream::pair().unwrap();
        let error = send(&stream, &json!({"token": "x".repeat(MAX_MESSAGE)}), Instant::now() + DEADLINE);
        assert!(matches!(error, Err(ConnectError::TooLarge(_))));
        drop(stream);
        let mut sent = Vec::new();
        theirs.read_to_end(&mut sent).unwrap();
        assert!(sent.is_empty());
    }

    #[test]
    fn bridge_that_does_not_answer_is_not_awaited_for_ever() {
        let (release, held) = channel::<()>();
        let silent = move |stream: UnixStream| {
            let _ = held.recv();
            drop(stream);
        };
        let waiting = thread::spawn(|| connect_to(silent, Duration::from_millis(300)));
        // The bridge is let go by the time this has a chance to be read: only after the deadline.
        thread::spawn(move || {
            thread::park_timeout(Duration::from_secs(2));
            drop(release);
        });
        let (connected, _) = waiting.join().unwrap();
        assert!(matches!(connected, Err(ConnectError::Silent)));
    }

    #[test]
    fn socket_where_no_bridge_listens_is_named() {
        let target = Target {
            socket: "/no/such/socket".into(),
            token: String::new(),
            session: String::new(),
            run: None,
            adapter: None,
        };
        let error = connect(&target).unwrap_err().to_string();
        assert!(error.contains("/no/such/socket"), "{error}");
    }
}
