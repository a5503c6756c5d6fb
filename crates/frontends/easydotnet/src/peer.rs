//! The connection to one JSON-RPC client: messages out, requests to the client with a timeout, calls that can be cancelled.
//!
//! It knows no method. What reads the connection is in `client`.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::message::{self, RpcError};

/// A client that does not read for so long loses its connection.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a request to the client has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallError {
    #[error("the client is gone")]
    Gone,
    #[error("the client did not answer `{method}` within {} s", .after.as_secs_f64())]
    Silent { method: String, after: Duration },
    #[error("the client refused `{method}`: {error}")]
    Refused { method: String, error: RpcError },
}

type Answer = Result<Value, RpcError>;

pub struct Peer {
    writer: Mutex<UnixStream>,
    /// Requests to the client without an answer. None once the connection has ended.
    waiting: Mutex<Option<HashMap<i64, Sender<Answer>>>>,
    last_id: AtomicI64,
    /// Calls of the client that are carried out, by their ids.
    calls: Mutex<HashMap<String, watch::Sender<bool>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Peer {
    pub fn new(stream: UnixStream) -> io::Result<Peer> {
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Peer {
            writer: Mutex::new(stream),
            waiting: Mutex::new(Some(HashMap::new())),
            last_id: AtomicI64::new(0),
            calls: Mutex::new(HashMap::new()),
        })
    }

    pub fn send(&self, message: &Value) {
        let writer = lock(&self.writer);
        if let Err(error) = (&*writer).write_all(&message::framed(message)) {
            tracing::debug!("the client does not read: {error}");
            // What is written after half a message could not be read, so the connection ends.
            let _ = writer.shutdown(Shutdown::Both);
        }
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.send(&message::notification(method, params));
    }

    /// Shows an error to the user.
    pub fn display_error(&self, text: &str) {
        self.notify("displayError", json!({"message": text}));
    }

    /// Sends a request to the client and waits for its result.
    pub fn call(&self, method: &str, params: Value, timeout: Duration) -> Result<Value, CallError> {
        let id = self.last_id.fetch_add(1, Ordering::SeqCst) + 1;
        let (sender, answer) = channel();
        match lock(&self.waiting).as_mut() {
            Some(waiting) => waiting.insert(id, sender),
            None => return Err(CallError::Gone),
        };
        self.send(&message::request(id, method, params));
        let method = || method.to_owned();
        let answered = answer.recv_timeout(timeout);
        if let Some(waiting) = lock(&self.waiting).as_mut() {
            waiting.remove(&id);
        }
        match answered {
            Ok(answer) => answer.map_err(|error| CallError::Refused { method: method(), error }),
            Err(RecvTimeoutError::Timeout) => Err(CallError::Silent { method: method(), after: timeout }),
            Err(RecvTimeoutError::Disconnected) => Err(CallError::Gone),
        }
    }

    /// The client has answered a request.
    pub fn answered(&self, id: &Value, answer: Answer) {
        let sender = id.as_i64().and_then(|id| lock(&self.waiting).as_mut()?.remove(&id));
        match sender {
            // The call may have given up at this moment.
            Some(sender) => drop(sender.send(answer)),
            None => tracing::debug!("the client answered {id}, which is not open"),
        }
    }

    /// Begins a call of the client. It is cancelled when the receiver says true.
    pub fn begin(&self, id: &Value) -> watch::Receiver<bool> {
        let (sender, cancelled) = watch::channel(false);
        lock(&self.calls).insert(id.to_string(), sender);
        cancelled
    }

    pub fn finish(&self, id: &Value) {
        lock(&self.calls).remove(&id.to_string());
    }

    pub fn cancel(&self, id: &Value) {
        if let Some(call) = lock(&self.calls).get(&id.to_string()) {
            call.send_replace(true);
        }
    }

    /// The connection has ended: requests to the client fail, and its calls are cancelled.
    pub fn close(&self) {
        lock(&self.waiting).take();
        for call in lock(&self.calls).values() {
            call.send_replace(true);
        }
        // It may have ended already.
        let _ = lock(&self.writer).shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Arc;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn request_to_the_client_ends_with_its_answer_a_timeout_or_the_connection() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let peer = Arc::new(Peer::new(ours).unwrap());
        let calling = peer.clone();
        let call = std::thread::spawn(move || calling.call("ask", json!({"n": 1}), LONG));
        let mut bytes = [0; 200];
        let read = theirs.read(&mut bytes).unwrap();
        assert!(String::from_utf8_lossy(&bytes[..read]).contains(r#""id":1"#));
        peer.answered(&json!("1"), Ok(json!(false)));
        peer.answered(&json!(1), Ok(json!(true)));
        assert_eq!(call.join().unwrap(), Ok(json!(true)));
        let silent = peer.call("ask", json!({}), Duration::from_millis(1)).unwrap_err();
        assert_eq!(silent.to_string(), "the client did not answer `ask` within 0.001 s");
        let calling = peer.clone();
        let call = std::thread::spawn(move || calling.call("ask", json!({}), LONG));
        theirs.read_exact(&mut bytes[..1]).unwrap();
        peer.close();
        assert_eq!(call.join().unwrap(), Err(CallError::Gone));
        assert_eq!(peer.call("ask", json!({}), LONG), Err(CallError::Gone));
    }

    #[test]
    fn call_of_the_client_is_cancelled_by_its_id() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let peer = Peer::new(ours).unwrap();
        let (text, number) = (peer.begin(&json!("7")), peer.begin(&json!(7)));
        peer.cancel(&json!("7"));
        assert!(*text.borrow() && !*number.borrow());
        peer.close();
        assert!(*number.borrow());
    }
}
