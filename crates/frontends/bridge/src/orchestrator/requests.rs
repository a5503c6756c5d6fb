//! The HTTP requests to the IDE: what it can do, the start of a run session, and its end.
//!
//! Each request has a connection of its own. Redirects are not followed.

use breakroom_ide_protocol::{API_VERSION, ErrorBody, INFO_PATH, Info, RUN_SESSION_PATH, Version};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, LOCATION};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;

use super::endpoint::{ConnectError, Endpoint};

/// The longest body that is read of an answer.
const MAX_ANSWER: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("{request} failed: {source}")]
    Failed { request: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the IDE did not answer {request} within {seconds} s")]
    TimedOut { request: String, seconds: u64 },
    #[error("the IDE answered {request} with {status}{text}")]
    Refused { request: String, status: StatusCode, text: String },
    #[error("the answer to {request} is not what the protocol says: {what}")]
    Invalid { request: String, what: String },
}

/// One request and its answer.
struct Exchange {
    /// For error messages.
    request: String,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// Asks what the IDE can do. This request has no version yet.
pub async fn info(endpoint: &Endpoint) -> Result<Info, RequestError> {
    let exchange = send(endpoint, Method::GET, INFO_PATH.to_owned(), None).await?;
    if exchange.status != StatusCode::OK {
        return Err(exchange.refused());
    }
    serde_json::from_slice(&exchange.body).map_err(|error| exchange.invalid(error.to_string()))
}

/// Starts a run session, and gives its id.
pub async fn create(endpoint: &Endpoint, version: Version, body: String) -> Result<String, RequestError> {
    let path = with_version(RUN_SESSION_PATH, version);
    let exchange = send(endpoint, Method::PUT, path, Some(body)).await?;
    if ![StatusCode::OK, StatusCode::CREATED].contains(&exchange.status) {
        return Err(exchange.refused());
    }
    let location = exchange.headers.get(LOCATION).and_then(|location| location.to_str().ok());
    let id = location.and_then(id_in);
    id.ok_or_else(|| exchange.invalid(format!("no run session in the header Location ({location:?})")))
}

/// Ends a run session.
pub async fn delete(endpoint: &Endpoint, version: Version, id: &str) -> Result<(), RequestError> {
    let path = with_version(&format!("{RUN_SESSION_PATH}/{id}"), version);
    let exchange = send(endpoint, Method::DELETE, path, None).await?;
    match exchange.status {
        // There is no run session with this id, so it has ended.
        StatusCode::OK | StatusCode::NO_CONTENT => Ok(()),
        _ => Err(exchange.refused()),
    }
}

pub fn with_version(path: &str, version: Version) -> String {
    format!("{path}?{API_VERSION}={version}")
}

/// The last segment of the path of a URL.
fn id_in(location: &str) -> Option<String> {
    let path = location.split(['?', '#']).next()?;
    let (_, id) = path.rsplit_once('/')?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// What the IDE says about a request that it refuses, below the line that names the request.
pub fn reason(body: &[u8]) -> String {
    let text = match serde_json::from_slice::<ErrorBody>(body) {
        Ok(body) => body.error.to_string(),
        Err(_) => String::from_utf8_lossy(body).trim().to_owned(),
    };
    if text.is_empty() { text } else { format!(":\n{text}") }
}

async fn send(
    endpoint: &Endpoint,
    method: Method,
    path: String,
    body: Option<String>,
) -> Result<Exchange, RequestError> {
    let name = format!("{method} {}", path.split('?').next().unwrap_or_default());
    let timeout = endpoint.settings.request_timeout;
    let exchange = exchange(endpoint, &name, method, path, body);
    match tokio::time::timeout(timeout, exchange).await {
        Ok(exchange) => exchange,
        Err(_) => Err(RequestError::TimedOut { request: name, seconds: timeout.as_secs() }),
    }
}

async fn exchange(
    endpoint: &Endpoint,
    name: &str,
    method: Method,
    path: String,
    body: Option<String>,
) -> Result<Exchange, RequestError> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| RequestError::Failed {
        request: name.to_owned(),
        source,
    };
    let stream = TokioIo::new(endpoint.connect().await?);
    let (mut sender, connection) = http1::handshake(stream).await.map_err(|error| failed(error.into()))?;
    // It ends with the sender. Its error is that of the request.
    tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path).header(HOST, endpoint.address());
    if body.is_some() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    let body = Full::new(Bytes::from(body.unwrap_or_default()));
    let mut request = request.body(body).map_err(|error| failed(error.into()))?;
    request.headers_mut().extend(endpoint.headers());
    let response = sender.send_request(request).await.map_err(|error| failed(error.into()))?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(failed)?.to_bytes();
    Ok(Exchange { request: name.to_owned(), status: parts.status, headers: parts.headers, body })
}

impl Exchange {
    fn refused(&self) -> RequestError {
        let (request, text) = (self.request.clone(), reason(&self.body));
        RequestError::Refused { request, status: self.status, text }
    }

    fn invalid(&self, what: String) -> RequestError {
        RequestError::Invalid { request: self.request.clone(), what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_the_last_segment_of_the_location() {
        for location in ["https://localhost:1/run_session/run-1", "/run_session/run-1", "/a/run-1?x=/y#z"] {
            assert_eq!(id_in(location).as_deref(), Some("run-1"), "{location}");
        }
        for location in ["", "run-1", "/run_session/"] {
            assert_eq!(id_in(location), None, "{location}");
        }
    }

    #[test]
    fn refusal_is_shown_as_code_and_message_or_as_it_is() {
        let body =
            br#"{"error": {"code": "A", "message": "one", "details": [{"code": "B", "message": "two"}]}}"#;
        assert_eq!(reason(body), ":\nA: one\n  B: two");
        assert_eq!(reason(b"plain\n"), ":\nplain");
        assert_eq!(reason(b""), "");
    }
}
