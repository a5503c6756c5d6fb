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
use tokio::sync::mpsc::error::SendTimeoutError;
use tokio::sync::{mpsc, oneshot};

use crate::Farewell;
use crate::failure::Failure;
use crate::secrets::Secrets;
use crate::session::stops::process;

/// How long an answer is awaited, if nothing else is said.
pub const PATIENCE: Duration = Duration::from_secs(40);
/// Replies with whole files in them are large; beyond this something is broken.
const MAX_MESSAGE: usize = 256 * 1024 * 1024;
/// Why a connection ended comes by another way, and soon.
pub const LAST_WORD: Duration = Duration::from_secs(20);
/// Of more requests than these, the next waits until one is written; for so long, since a hub that reads nothing answers
/// nothing either.
const MOST_QUEUED: usize = 64;
const FOR_ROOM: Duration = Duration::from_secs(10);

/// What the other side says unasked.
pub enum News {
    Event {
        name: String,
        body: Value,
    },
    /// Nothing comes any more, and why, if that was not to be expected.
    Closed(Option<String>),
}

/// What came of it, or why it was refused.
pub type Answer = Result<Value, String>;
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

    /// What is answered, whenever that is; nothing at the end of the connection.
    pub async fn settled(self) -> Option<Answer> {
        self.answer.await.ok()
    }

    pub async fn answer(self, patience: Duration) -> Result<Value, Failure> {
        match tokio::time::timeout(patience, self.answer).await {
            Err(_) => Err(Failure::silent(self.command, patience)),
            Ok(Err(_)) => Err(Failure::over()),
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
        secrets: Secrets,
        listen: impl Fn(News) + Send + Sync + 'static,
    ) -> std::io::Result<Link> {
        stream.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(stream)?.into_split();
        let open = Open(Arc::new(Mutex::new(Some(HashMap::new()))));
        let writes = open.clone();
        let (queue, queued) = mpsc::channel(MOST_QUEUED);
        let (is_read, is_over) = oneshot::channel::<()>();
        tokio::spawn(async move {
            read_all(reader, &open, &secrets, &listen).await;
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
        let sent = self.queue.send_timeout(Outgoing { command, arguments, answer: sender }, FOR_ROOM).await;
        match sent {
            Ok(()) => Ok(Sent { command, answer }),
            Err(SendTimeoutError::Closed(_)) => Err(Failure::over()),
            Err(SendTimeoutError::Timeout(_)) => Err(Failure::silent(command, FOR_ROOM)),
        }
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

async fn read_all(
    mut reader: OwnedReadHalf,
    open: &Open,
    secrets: &Secrets,
    listen: &(impl Fn(News) + Sync),
) {
    let mut decoder = ContentLength::new(Peer::Adapter, MAX_MESSAGE);
    loop {
        match reader.read_buf(decoder.spare()).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        loop {
            match decoder.next() {
                Ok(Some(Frame::Message(body))) => {
                    if let Ok(mut message) = serde_json::from_slice(&body) {
                        hide(&mut message, secrets);
                        sort(message, open, secrets, listen);
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

/// What is shown of a message, and may be cut for that. Paths and names are left alone: they are worked with.
const SHOWN: [&str; 11] = [
    "content",
    "description",
    "engineEnded",
    "exceptionId",
    "expression",
    "label",
    "message",
    "result",
    "text",
    "title",
    "value",
];

/// Before anything is cut: half a secret is not known as one. What a program prints is cut already, anywhere, and whoever
/// keeps it looks for them where the pieces are together again.
fn hide(message: &mut Value, secrets: &Secrets) {
    match message {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(text) if SHOWN.contains(&key.as_str()) => {
                        let process = text.split_off(text.len() - process_behind(key, text));
                        *text = secrets.redact(std::mem::take(text)) + &process;
                    }
                    member => hide(member, secrets),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// How much at the end of a description names a process. That is compared with what threads have in their names, and must
/// not become another one; whoever shows it hides it.
fn process_behind(key: &str, text: &str) -> usize {
    let process = process(text).filter(|_| key == "description");
    process.map_or(0, |process| process.len() + "[]".len())
}

fn sort(mut message: Value, open: &Open, secrets: &Secrets, listen: &impl Fn(News)) {
    match message["type"].as_str() {
        Some("response") => {
            let seq = model::integer(&message["request_seq"]).unwrap_or_default();
            let waiting = open.requests().as_mut().and_then(|requests| requests.remove(&seq));
            let answer = match message["success"] == Value::Bool(true) {
                true => Ok(message["body"].take()),
                // A refusal may be put together of several members.
                false => Err(secrets.redact(model::failure(&message))),
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
    use crate::session::pausing::Pausing;
    use crate::session::stops::Stop;

    #[test]
    fn what_is_shown_has_no_secret_and_paths_are_left_alone() {
        let secrets = Secrets::of([("POSTGRES_PASSWORD", "postgres")]);
        let mut message = json!({"event": "stopped", "body": {
            "text": "postgres", "frames": [{"path": "/src/postgres-app/a.py", "value": "postgres!"}],
        }});
        hide(&mut message, &secrets);
        let hidden = "[POSTGRES_PASSWORD redacted]";
        assert_eq!(
            message,
            json!({"event": "stopped", "body": {
                "text": hidden, "frames": [{"path": "/src/postgres-app/a.py", "value": format!("{hidden}!")}],
            }})
        );
    }

    #[test]
    fn a_process_is_told_by_its_name_although_that_is_a_secret_elsewhere() {
        let secrets = Secrets::of([("POSTGRES_PASSWORD", "postgres")]);
        let described = |words: &str| {
            let mut message = json!({"event": "stopped", "body": {"description": words}});
            hide(&mut message, &secrets);
            message["body"]["description"].as_str().unwrap().to_owned()
        };
        let hidden = "[POSTGRES_PASSWORD redacted]";
        assert_eq!(described("breakpoint [postgres]"), "breakpoint [postgres]");
        assert_eq!(described("no postgres [b-postgres]"), format!("no {hidden} [b-postgres]"));
        assert_eq!(described("postgres"), hidden);
        let mut pausing = Pausing::default();
        pausing.ask(1.into(), "MainThread [postgres]");
        let stop = |words: &str| Stop { description: described(words), ..Stop::default() };
        assert!(pausing.has(&stop("pause [postgres]")) && !pausing.has(&stop("pause [b-postgres]")));
    }

    #[tokio::test]
    async fn a_refusal_that_is_put_together_shows_no_secret() {
        let (sender, answer) = oneshot::channel();
        let open = Open(Arc::new(Mutex::new(Some(HashMap::from([(1, sender)])))));
        let error = json!({"format": "no {it}", "variables": {"it": "postgres"}});
        let refusal =
            json!({"type": "response", "request_seq": 1, "success": false, "body": {"error": error}});
        sort(refusal, &open, &Secrets::of([("POSTGRES_PASSWORD", "postgres")]), &|_| {});
        assert_eq!(answer.await, Ok(Err("no [POSTGRES_PASSWORD redacted]".to_owned())));
    }

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
