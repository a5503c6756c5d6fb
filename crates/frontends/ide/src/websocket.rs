//! The WebSocket of one instance: takes notifications from its queue and writes each as a text frame.
//!
//! What the client sends is read for its end and for pings, and otherwise ignored.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use tokio_util::sync::CancellationToken;

use crate::notifications::{Instance, Turn};
use crate::tls::Wire;

/// The largest message that is read.
pub const MAX_MESSAGE: usize = 64 << 10;
/// A client that takes no Close frame within this time is disconnected without one.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves a WebSocket until it ends, a newer one replaces it, or the server closes.
pub async fn serve(mut socket: WebSocket, wire: Wire, instance: Arc<Instance>, closing: CancellationToken) {
    let replaced = instance.replace();
    let turn = tokio::select! {
        biased;
        () = replaced.cancelled() => return close(socket, REPLACED).await,
        turn = instance.turn() => turn,
    };
    let end = tokio::select! {
        biased;
        () = replaced.cancelled() => Some(REPLACED),
        () = notify(&mut socket, &wire, &turn, &closing) => {
            closing.is_cancelled().then_some((close_code::AWAY, "The IDE ends."))
        }
    };
    // When the server closes, it waits for this turn.
    let held = closing.is_cancelled().then_some(turn);
    if let Some(end) = end {
        close(socket, end).await;
    }
    drop(held);
}

const REPLACED: (u16, &str) = (close_code::NORMAL, "Replaced by a newer connection of this instance.");

/// Sends notifications until the WebSocket ends, or the server closes and everything is sent.
async fn notify(socket: &mut WebSocket, wire: &Wire, turn: &Turn, closing: &CancellationToken) {
    loop {
        let must_read = wire.has_input();
        let is_done = closing.is_cancelled() && turn.is_empty();
        let went = tokio::select! {
            biased;
            received = socket.recv() => match received {
                None | Some(Err(_) | Ok(Message::Close(_))) => ControlFlow::Break(()),
                Some(Ok(_)) => ControlFlow::Continue(()),
            },
            () = std::future::ready(()), if is_done => ControlFlow::Break(()),
            () = closing.cancelled(), if !closing.is_cancelled() => ControlFlow::Continue(()),
            () = turn.is_filled(), if !must_read => match wire.has_input() {
                true => ControlFlow::Continue(()),
                false => send_next(socket, turn).await,
            },
        };
        if went.is_break() {
            return;
        }
    }
}

/// Sends one notification. If it is interrupted, the notification is the next one of the queue again.
async fn send_next(socket: &mut WebSocket, turn: &Turn) -> ControlFlow<()> {
    let Some(taken) = turn.take() else { return ControlFlow::Continue(()) };
    let text = match serde_json::to_string(&taken.notification()) {
        Ok(text) => text,
        Err(error) => {
            tracing::warn!("a notification could not be written: {error}");
            taken.sent();
            return ControlFlow::Continue(());
        }
    };
    match socket.send(Message::text(text)).await {
        Ok(()) => {
            taken.sent();
            ControlFlow::Continue(())
        }
        Err(_) => ControlFlow::Break(()),
    }
}

/// Closes a WebSocket, and waits until the client has agreed.
async fn close(mut socket: WebSocket, (code, reason): (u16, &'static str)) {
    let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
    let closed = async {
        socket.send(Message::Close(Some(frame))).await?;
        while let Some(Ok(_)) = socket.recv().await {}
        Ok::<_, axum::Error>(())
    };
    // A client that does not answer is disconnected all the same.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, closed).await;
}
