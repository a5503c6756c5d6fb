//! The WebSocket by which the IDE notifies of its run sessions, kept open over losses of the connection.
//!
//! What a notification means is not decided here. A notification of a type that is not known is passed on as such.

use std::sync::Arc;
use std::time::Duration;

use breakroom_ide_protocol::{NOTIFY_PATH, Notification, Version};
use futures_util::{SinkExt, StreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::endpoint::{ConnectError, Endpoint, Stream};
use super::requests::{reason, with_version};

/// Notifications that wait to be printed. The IDE waits when there are more.
const QUEUE: usize = 1024;
/// The pauses between two attempts to connect: the first, and the longest.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// How long an IDE that does not answer is waited for after a loss.
const GIVE_UP: Duration = Duration::from_secs(120);
/// The same if nothing listens at its port: it has ended, or is restarted with the same port.
const GONE: Duration = Duration::from_secs(10);
/// How long the IDE may take to close the WebSocket with us.
const CLOSING: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<Box<dyn Stream>>;

#[derive(Debug, thiserror::Error)]
pub enum NotificationsError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("the IDE refused the WebSocket for notifications with {status}{text}")]
    Refused { status: tungstenite::http::StatusCode, text: String },
    #[error("the WebSocket for notifications cannot be opened: {0}")]
    Failed(String),
    #[error("the IDE did not open the WebSocket for notifications within {} s", .0.as_secs())]
    TimedOut(Duration),
}

/// Open until it is closed. A dropped one closes without waiting for the IDE.
pub struct Notifications {
    received: mpsc::Receiver<Result<Notification, NotificationsError>>,
    reader: JoinHandle<()>,
}

/// Why a WebSocket is not read any more.
enum End {
    Closed,
    Lost(String),
}

impl Notifications {
    /// Returns when the WebSocket is open.
    pub async fn open(
        endpoint: Arc<Endpoint>,
        version: Version,
    ) -> Result<Notifications, NotificationsError> {
        let patience = endpoint.settings.notification_timeout;
        let socket = connect(&endpoint, version, patience).await?;
        let (sender, received) = mpsc::channel(QUEUE);
        let reader = tokio::spawn(keep_reading(endpoint, version, socket, sender));
        Ok(Notifications { received, reader })
    }

    /// The next notification. `None` never comes after an error.
    pub async fn next(&mut self) -> Option<Result<Notification, NotificationsError>> {
        self.received.recv().await
    }

    pub async fn close(mut self) {
        self.received.close();
        let _ = timeout(CLOSING * 2, &mut self.reader).await;
    }
}

async fn keep_reading(
    endpoint: Arc<Endpoint>,
    version: Version,
    mut socket: Socket,
    sender: mpsc::Sender<Result<Notification, NotificationsError>>,
) {
    loop {
        let end = read(&endpoint, version, &mut socket, &sender).await;
        close(&mut socket).await;
        match end {
            End::Closed => return,
            End::Lost(why) => tracing::warn!("the WebSocket of the IDE is lost ({why}); connecting again"),
        }
        let connecting = async {
            sleep(BACK_OFF.0).await;
            connect(&endpoint, version, GIVE_UP).await
        };
        socket = tokio::select! {
            connected = connecting => match connected {
                Ok(socket) => socket,
                Err(error) => {
                    // The receiver may be gone.
                    let _ = sender.send(Err(error)).await;
                    return;
                }
            },
            () = sender.closed() => return,
        };
    }
}

/// Tries again until the patience is over or the IDE refuses.
async fn connect(
    endpoint: &Endpoint,
    version: Version,
    patience: Duration,
) -> Result<Socket, NotificationsError> {
    let start = Instant::now();
    let mut pause = BACK_OFF.0;
    loop {
        let attempt = endpoint.settings.notification_timeout;
        let opened = timeout(attempt, open_once(endpoint, version)).await;
        let error = match opened.unwrap_or(Err(NotificationsError::TimedOut(attempt))) {
            Ok(socket) => return Ok(socket),
            Err(error) => error,
        };
        if start.elapsed() + pause >= error.patience(patience) {
            return Err(error);
        }
        sleep(pause).await;
        pause = (pause * 2).min(BACK_OFF.1);
    }
}

impl NotificationsError {
    /// How long it makes sense to try again, at most this long.
    fn patience(&self, most: Duration) -> Duration {
        match self {
            NotificationsError::Refused { status, .. } if status.is_client_error() => Duration::ZERO,
            NotificationsError::Connect(error) if error.is_refused() => most.min(GONE),
            _ => most,
        }
    }
}

async fn open_once(endpoint: &Endpoint, version: Version) -> Result<Socket, NotificationsError> {
    let failed = |error: tungstenite::Error| NotificationsError::Failed(error.to_string());
    let url = endpoint.web_socket_url(&with_version(NOTIFY_PATH, version));
    let mut request = url.into_client_request().map_err(failed)?;
    request.headers_mut().extend(endpoint.headers());
    let stream = endpoint.connect().await?;
    match client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::Error::Http(response)) => {
            let text = reason(response.body().as_deref().unwrap_or_default());
            Err(NotificationsError::Refused { status: response.status(), text })
        }
        Err(error) => Err(failed(error)),
    }
}

/// Reads one WebSocket to its end.
async fn read(
    endpoint: &Endpoint,
    version: Version,
    socket: &mut Socket,
    sender: &mpsc::Sender<Result<Notification, NotificationsError>>,
) -> End {
    let silence = endpoint.settings.notification_timeout;
    // The first version does not ask the IDE to answer pings.
    let keepalive = endpoint.settings.keepalive.filter(|_| version >= Version::V2024_04_23);
    let mut pings = interval(keepalive.unwrap_or(silence.max(Duration::from_secs(1))));
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard = Instant::now();
    loop {
        let frame = tokio::select! {
            frame = socket.next() => frame,
            () = sender.closed() => return End::Closed,
            _ = pings.tick() => {
                if keepalive.is_none() {
                    continue;
                }
                if heard.elapsed() >= silence {
                    return End::Lost(format!("it was silent for {} s", silence.as_secs()));
                }
                match timeout(silence, socket.send(Message::Ping(Default::default()))).await {
                    Ok(Ok(())) => continue,
                    Ok(Err(error)) => return End::Lost(error.to_string()),
                    Err(_) => return End::Lost("the IDE does not read".to_owned()),
                }
            }
        };
        let text = match frame {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Close(frame))) => return End::Lost(closed_by_ide(frame)),
            Some(Ok(_)) => {
                heard = Instant::now();
                continue;
            }
            Some(Err(error)) => return End::Lost(error.to_string()),
            None => return End::Lost("it was closed".to_owned()),
        };
        match Notification::parse(&text) {
            // The receiver may be slow, which is not the silence of the IDE.
            Ok(notification) => {
                if sender.send(Ok(notification)).await.is_err() {
                    return End::Closed;
                }
            }
            Err(error) => return End::Lost(error.to_string()),
        }
        heard = Instant::now();
    }
}

fn closed_by_ide(frame: Option<CloseFrame>) -> String {
    match frame {
        Some(frame) => format!("the IDE closed it: {} {}", frame.code, frame.reason),
        None => "the IDE closed it".to_owned(),
    }
}

/// Closes the WebSocket or answers its closing, and waits a short time for the IDE to do the same.
async fn close(socket: &mut Socket) {
    let closing = async {
        let frame = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        // It is refused when the IDE was first. The answer to the IDE is sent by the next read.
        let _ = socket.close(Some(frame)).await;
        while let Some(Ok(_)) = socket.next().await {}
    };
    let _ = timeout(CLOSING, closing).await;
}
