//! The door over HTTP: one address of this machine, for agents that are no children of ours.
//!
//! Whoever reaches it can run any code as this user. So it listens on loopback only, every request brings the token, and
//! what a browser sends on behalf of a page is refused: by `Host`, which a page cannot forge for a name of its own, and by
//! `Origin`, which no agent has.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use breakroom_loopback_http::{Admits, ListenError, Plain, Visitor, listen, take_bearer};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::signal::unix::{SignalKind, signal};

use crate::Setup;
use crate::door::Door;
use crate::protocol::server::Server;
use crate::protocol::visits::Visits;

/// Where it is below the address.
pub const PATH: &str = "/mcp";
/// No call is longer.
const LARGEST_REQUEST: usize = 4 * 1024 * 1024;

/// The header by which a client that has shaken hands is known again.
const VISIT: &str = "mcp-session-id";
/// What is being answered when the process is told to end has this long.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// A stream would begin with an event without data, which says when to come again. Gemini CLI, and every client with an older
/// library, takes that for a broken message and hangs up.
const NO_EMPTY_EVENTS: Option<Duration> = None;
/// Whoever says nothing for this long is forgotten, and has to shake hands again. People go to lunch while their agent
/// waits, and not every client knows what to do then.
const LONGEST_SILENCE: Duration = Duration::from_secs(4 * 3600);

#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("{0}")]
    Listen(#[from] ListenError),
    #[error("no signals can be heard: {0}")]
    Signals(std::io::Error),
}

/// Serves agents at this address until the process is told to end. `listening` is told where.
pub async fn serve(
    setup: Setup,
    address: SocketAddr,
    admits: Admits,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), HttpError> {
    let (listener, address) = listen(address).await?;
    let ended = told_to_end().map_err(HttpError::Signals)?;
    let door = Door::new(setup);
    let hosts = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned(), "::1".to_owned()];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_sse_retry(NO_EMPTY_EVENTS)
        .with_max_request_body_bytes(LARGEST_REQUEST);
    let closing = config.cancellation_token.clone();
    let of_door = door.clone();
    let handshakes = Arc::new(handshakes());
    let service =
        StreamableHttpService::new(move || Ok(Server::new(of_door.clone())), handshakes.clone(), config);
    let reception = Arc::new(Reception { handshakes, visits: Visits::default() });
    let router = Router::new()
        .nest_service(PATH, service)
        .layer(from_fn_with_state(reception, receive))
        .layer(from_fn_with_state(admits, only_with_token));
    listening(address);
    let is_closing = closing.clone();
    let too_long = async {
        ended.await;
        // Streams that are open would be waited for.
        closing.cancel();
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        () = breakroom_loopback_http::serve(listener, Plain, router, is_closing) => {}
        // Somebody never finishes a request.
        () = too_long => {}
    }
    door.leave().await;
    Ok(())
}

fn handshakes() -> LocalSessionManager {
    let mut handshakes = LocalSessionManager::default();
    handshakes.session_config.keep_alive = Some(LONGEST_SILENCE);
    handshakes.session_config.sse_retry = NO_EMPTY_EVENTS;
    handshakes
}

/// Those who have shaken hands.
struct Reception {
    handshakes: Arc<LocalSessionManager>,
    visits: Visits,
}

async fn receive(State(reception): State<Arc<Reception>>, request: Request, next: Next) -> Response {
    let visit =
        |headers: &HeaderMap| headers.get(VISIT).and_then(|id| id.to_str().ok()).map(Arc::<str>::from);
    let known = visit(request.headers());
    if let Some(known) = &known {
        reception.visits.speaks(known);
    }
    let is_goodbye = request.method() == Method::DELETE;
    let response = next.run(request).await;
    match &known {
        Some(known) if is_goodbye => reception.visits.goes(known),
        // Whoever has waited for its answer was not silent.
        Some(known) => reception.visits.speaks(known),
        None => {}
    }
    let new = visit(response.headers()).filter(|_| known.is_none());
    if let Some(gone) = new.and_then(|new| reception.visits.comes(new)) {
        // Otherwise it is gone already.
        let _ = reception.handshakes.close_session(&gone).await;
    }
    response
}

/// Comes when the process is told to end.
pub fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

async fn only_with_token(
    State(admits): State<Admits>,
    Extension(visitor): Extension<Visitor>,
    mut request: Request,
    next: Next,
) -> Response {
    match take_bearer(request.headers_mut()).is_ok_and(|token| admits(&token)) {
        true => {
            visitor.admit();
            next.run(request).await
        }
        false => {
            let text = "the token is missing or wrong: send `Authorization: Bearer TOKEN`; `breakroom mcp --print-config --http HOST:PORT` says where it is\n";
            (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], text).into_response()
        }
    }
}
