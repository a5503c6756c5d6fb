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
use breakroom_admission::{Stranger, Strangers};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

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
/// After one that could not be let in.
const BREATH: Duration = Duration::from_millis(100);
/// Whoever says nothing for this long is forgotten, and has to shake hands again. People go to lunch while their agent
/// waits, and not every client knows what to do then.
const LONGEST_SILENCE: Duration = Duration::from_secs(4 * 3600);

#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error(
        "{0} is not a loopback address. Whoever reaches a debugger can run any code as you; listen on 127.0.0.1 and use `ssh -L` from elsewhere"
    )]
    NotLoopback(SocketAddr),
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

/// Whether this is the token.
pub type Admits = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Serves agents at this address until the process is told to end. `listening` is told where.
pub async fn serve(
    setup: Setup,
    address: SocketAddr,
    admits: Admits,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), HttpError> {
    if !address.ip().is_loopback() {
        return Err(HttpError::NotLoopback(address));
    }
    let io = |what: String| move |source| HttpError::Io { what, source };
    let listener =
        TcpListener::bind(address).await.map_err(io(format!("{address} cannot be listened at")))?;
    let address = listener.local_addr().map_err(io("the address is not known".to_owned()))?;
    let ended = told_to_end().map_err(io("no signals can be heard".to_owned()))?;
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
        () = attend(listener, router, is_closing) => {}
        // Somebody never finishes a request.
        () = too_long => {}
    }
    door.leave().await;
    Ok(())
}

/// Hears whoever connects, until the door is closed and all that was asked is answered.
async fn attend(listener: TcpListener, router: Router, closing: CancellationToken) {
    let strangers = Arc::new(Strangers::default());
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            () = closing.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let visitor = Visitor { stranger: strangers.comes(), strangers: strangers.clone() };
                    connections.spawn(hear(stream, router.clone(), visitor, closing.clone()));
                }
                // It may be about one connection, or about descriptors, which come back.
                Err(error) => {
                    tracing::warn!("nobody could be let in: {error}");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
    }
    while connections.join_next().await.is_some() {}
}

/// One connection, from its beginning to its end.
async fn hear(stream: TcpStream, router: Router, visitor: Visitor, closing: CancellationToken) {
    let Visitor { strangers, stranger } = visitor.clone();
    // An event would wait for the next one otherwise. Where that cannot be had, it is only slower.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router.layer(Extension(visitor)));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    // How it ended, its client knows.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stranger.is_sent_away() => {}
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    strangers.goes(&stranger);
}

/// Whose request it is.
#[derive(Clone)]
struct Visitor {
    strangers: Arc<Strangers>,
    stranger: Arc<Stranger>,
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
    // Taken out, so that nothing behind this can log it.
    let given = request.headers_mut().remove(header::AUTHORIZATION);
    let given = given.as_ref().and_then(|value| value.to_str().ok()).and_then(|value| value.split_once(' '));
    let token =
        given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    match token.is_some_and(|token| admits(token)) {
        true => {
            visitor.strangers.knows(&visitor.stranger);
            next.run(request).await
        }
        false => {
            let text = "the token is missing or wrong: send `Authorization: Bearer TOKEN`; `breakroom mcp --print-config --http HOST:PORT` says where it is\n";
            (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], text).into_response()
        }
    }
}
