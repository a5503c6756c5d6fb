//! A debug client's end of a connection, for many callers at once: each waits for its own answer, and none for another's.
//!
//! What happens is told to one listener, in order, by the task that reads. The listener must not wait: while it does,
//! no answer is read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use breakroom_client::model;
use breakroom_wire::{ContentLength, Decode, Frame, Peer, header};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

use crate::Farewell;
use crate::failure::Failure;

/// How long an answer is awaited, if nothing else is said.
pub const PATIENCE: Duration = Duration::from_secs(40);
/// Replies with whole files in them are large; beyond this something is broken.
const MAX_MESSAGE: usize = 256 * 1024 * 1024;
/// Why a connection ended comes by another way, and soon.
const LAST_WORD: Duration = Duration::from_secs(20);
/// Of more requests than these, the next waits until one is written.
const MOST_QUEUED: usize = 64;

/// What the other side says unasked.
pub enum News {
    Event {
        name: String,
        body: Value,
    },
    /// Nothing comes any more, and why, if that was not to be expected.
    Closed(Option<String>),
}

type Answer = Result<Value, String>;
type Waiting = HashMap<i64, oneshot::Sender<Answer>>;

/// Dropping it closes the connection.
pub struct Link {
    queue: mpsc::Sender<Outgoing>,
}

struct Outgoing {
    command: &'static str,
    arguments: Value,
    answer: oneshot::Sender<Answer>,
}

/// Whose answers are still to come; nothing any more at the end.
#[derive(Clone)]
struct Open(Arc<Mutex<Option<Waiting>>>);

impl Open {
    fn requests(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that was sent.
pub struct Sent {
    command: &'static str,
    answer: oneshot::Receiver<Answer>,
}

impl Sent {
    /// Why it was refused. One that is not answered was not: what was asked for may well have been done.
    pub async fn refusal(self, patience: Duration) -> Option<Failure> {
        let answer = tokio::time::timeout(patience, self.answer).await.ok()?.ok()?;
        answer.err().map(Failure::new)
    }

    pub async fn answer(self, patience: Duration) -> Result<Value, Failure> {
        match tokio::time::timeout(patience, self.answer).await {
            Err(_) => Err(Failure::silent(self.command, patience)),
            Ok(Err(_)) => Err(Failure::new("the session is over")),
            Ok(Ok(Err(reason))) => Err(Failure::new(reason)),
            Ok(Ok(Ok(body))) => Ok(body),
        }
    }
}

impl Link {
    /// `listen` hears everything that is no answer, up to the end.
    pub fn new(
        stream: std::os::unix::net::UnixStream,
        farewell: Farewell,
        listen: impl Fn(News) + Send + Sync + 'static,
    ) -> std::io::Result<Link> {
        stream.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(stream)?.into_split();
        let open = Open(Arc::new(Mutex::new(Some(HashMap::new()))));
        let writes = open.clone();
        let (queue, queued) = mpsc::channel(MOST_QUEUED);
        let (is_read, is_over) = oneshot::channel::<()>();
        tokio::spawn(async move {
            read_all(reader, &open, &listen).await;
            // Whoever still waits learns it by the dropped sender.
            *open.requests() = None;
            let reason = tokio::time::timeout(LAST_WORD, farewell).await;
            listen(News::Closed(reason.ok().and_then(Result::ok).flatten()));
            // Whoever keeps a session that is over keeps no connection.
            drop(is_read);
        });
        tokio::spawn(async move {
            tokio::select! {
                () = write_all(writer, writes, queued) => {}
                _ = is_over => {}
            }
        });
        Ok(Link { queue })
    }

    pub async fn request(&self, command: &'static str, arguments: Value) -> Result<Value, Failure> {
        self.send(command, arguments).await?.answer(PATIENCE).await
    }

    pub async fn send(&self, command: &'static str, arguments: Value) -> Result<Sent, Failure> {
        let (sender, answer) = oneshot::channel();
        let sent = self.queue.send(Outgoing { command, arguments, answer: sender }).await;
        sent.map_err(|_| Failure::new("the session is over"))?;
        Ok(Sent { command, answer })
    }
}

/// A task of its own, since a call may be given up at any moment and half a message would be the end of the connection.
async fn write_all(mut writer: OwnedWriteHalf, open: Open, mut queued: mpsc::Receiver<Outgoing>) {
    let mut seq = 0;
    while let Some(Outgoing { command, arguments, answer }) = queued.recv().await {
        seq += 1;
        match open.requests().as_mut() {
            Some(requests) => drop(requests.insert(seq, answer)),
            None => return,
        }
        let message = json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
        let body = message.to_string();
        let mut bytes = Vec::with_capacity(body.len() + 32);
        header::write_content_length(&mut bytes, body.len());
        bytes.extend_from_slice(body.as_bytes());
        if writer.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn read_all(mut reader: OwnedReadHalf, open: &Open, listen: &(impl Fn(News) + Sync)) {
    let mut decoder = ContentLength::new(Peer::Adapter, MAX_MESSAGE);
    loop {
        match reader.read_buf(decoder.spare()).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        loop {
            match decoder.next() {
                Ok(Some(Frame::Message(body))) => {
                    if let Ok(message) = serde_json::from_slice(&body) {
                        sort(message, open, listen);
                    }
                }
                Ok(Some(Frame::Junk(_))) => {}
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!("the hub's stream cannot be read: {error}");
                    return;
                }
            }
        }
    }
}

fn sort(mut message: Value, open: &Open, listen: &impl Fn(News)) {
    match message["type"].as_str() {
        Some("response") => {
            let seq = model::integer(&message["request_seq"]).unwrap_or_default();
            let waiting = open.requests().as_mut().and_then(|requests| requests.remove(&seq));
            let answer = match message["success"] == Value::Bool(true) {
                true => Ok(message["body"].take()),
                false => Err(model::failure(&message)),
            };
            // Whoever asked may have gone.
            let _ = waiting.map(|waiting| waiting.send(answer));
        }
        Some("event") => {
            let name = model::text(&message["event"]);
            listen(News::Event { name, body: message["body"].take() });
        }
        // The hub asks this client for nothing, since it declared nothing that could be asked for.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_what_is_refused_is_refused() {
        let sent = || {
            let (sender, answer) = oneshot::channel();
            (sender, Sent { command: "configurationDone", answer })
        };
        let (_silent, unanswered) = sent();
        assert_eq!(unanswered.refusal(Duration::from_millis(1)).await, None);
        let (sender, refused) = sent();
        sender.send(Err("no".to_owned())).unwrap();
        assert_eq!(refused.refusal(PATIENCE).await, Some(Failure::new("no")));
    }
}
