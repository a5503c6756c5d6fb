//! The routes of the protocol. What a run session consists of is the runner's business.

use std::sync::Arc;

use axum::Router;
use axum::body::{Bytes, HttpBody};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{DefaultBodyLimit, Extension, FromRequest, Path, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, put};
use breakroom_ide_protocol::{INFO_PATH, NOTIFY_PATH, RUN_SESSION_PATH, RunSession};

use crate::answers::Refusal;
use crate::checks::{Orchestrator, check_access};
use crate::server::Served;
use crate::tls::Wire;
use crate::{Notify, RunId, websocket};

/// The largest body of a request.
const MAX_BODY: usize = 1 << 20;

pub fn router(served: &Arc<Served>) -> Router {
    let run_session = format!("{RUN_SESSION_PATH}/{{id}}");
    Router::new()
        .route(INFO_PATH, get(info))
        .route(RUN_SESSION_PATH, put(create))
        .route(&run_session, delete(end))
        .route(NOTIFY_PATH, get(notify))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(served.clone(), check_access))
        .with_state(served.clone())
}

async fn info(State(served): State<Arc<Served>>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], served.info.clone()).into_response()
}

async fn create(
    State(served): State<Arc<Served>>,
    orchestrator: Orchestrator,
    Content(body): Content,
) -> Result<Response, Refusal> {
    let request = read(&body, &orchestrator)?;
    let runner = served.runner.clone();
    let plan = tokio::task::spawn_blocking(move || runner.plan(request)).await;
    let plan =
        plan.map_err(|error| Refusal::internal(format!("the request could not be read: {error}")))??;
    // After the last wait, because everything that is started before the end is stopped by it.
    if served.ending.is_cancelled() {
        let message = "the IDE ends and starts no more run sessions";
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "Ending", message));
    }
    let id = RunId::random().map_err(|error| Refusal::internal(format!("no id: {error}")))?;
    let location = format!("https://localhost:{}{RUN_SESSION_PATH}/{id}", served.port);
    let location = HeaderValue::try_from(location).map_err(|error| Refusal::internal(error.to_string()))?;
    let instance = served.instances.get(&orchestrator.instance);
    let notify = Notify::new(id.clone(), instance, Arc::downgrade(&served.runs));
    served.runs.insert(id.clone());
    // There is one thread, and this answer is written before it runs another task.
    tokio::spawn(async move {
        let run = plan.start(id.clone(), notify);
        served.runs.started(&id, run);
    });
    Ok((StatusCode::CREATED, [(header::LOCATION, location)]).into_response())
}

/// The body of a request.
struct Content(Bytes);

impl<S: Send + Sync> FromRequest<S> for Content {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let too_large = || {
            let message = format!("the body is larger than {MAX_BODY} bytes");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "BodyTooLarge", message)
        };
        // A length that is announced is refused before the body is sent.
        let announced = request.body().size_hint().lower();
        if announced > MAX_BODY as u64 {
            return Err(too_large());
        }
        let read = Bytes::from_request(request, state).await;
        read.map(Content).map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(),
            status => Refusal::new(status, "InvalidRequest", rejection.body_text()),
        })
    }
}

/// Reads the body of a request by its version.
fn read(body: &[u8], orchestrator: &Orchestrator) -> Result<RunSession, Refusal> {
    let mut request: RunSession = serde_json::from_slice(body).map_err(|error| {
        Refusal::bad_request("InvalidRequest", format!("the body is no run session: {error}"))
    })?;
    if !orchestrator.version.has_bridge() {
        // These versions do not know these members.
        (request.debug_bridge_socket_path, request.debug_session_id) = (None, None);
    }
    let kind = request.configuration().map(|configuration| configuration.kind().to_owned());
    let invalid = |error: &dyn std::error::Error| Refusal::bad_request("InvalidRequest", error.to_string());
    if kind.map_err(|error| invalid(&error))?.is_empty() {
        let message = "the launch configuration has no \"type\"";
        return Err(Refusal::bad_request("UnsupportedLaunchConfiguration", message));
    }
    request.bridge().map_err(|error| invalid(&error))?;
    Ok(request)
}

async fn end(State(served): State<Arc<Served>>, _: Orchestrator, Path(id): Path<String>) -> StatusCode {
    match served.runs.stop(&RunId(id)) {
        true => StatusCode::OK,
        false => StatusCode::NO_CONTENT,
    }
}

async fn notify(
    State(served): State<Arc<Served>>,
    Extension(wire): Extension<Wire>,
    orchestrator: Orchestrator,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    let upgrade = upgrade.map_err(|rejection| {
        let status = rejection.into_response().status();
        Refusal::new(status, "NotAWebSocket", format!("{NOTIFY_PATH} is only served as a WebSocket"))
    })?;
    let instance = served.instances.get(&orchestrator.instance);
    let closing = served.closing.clone();
    let upgrade = upgrade.max_message_size(websocket::MAX_MESSAGE);
    Ok(upgrade.on_upgrade(|socket| websocket::serve(socket, wire, instance, closing)))
}

async fn not_found(uri: Uri) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "NotFound", format!("there is nothing at {}", uri.path()))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Refusal {
    let message = format!("{method} is not served at {}", uri.path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
}
