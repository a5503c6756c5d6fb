//! What every request must bring before it is read: a host of this machine, no foreign origin, the token, and for the
//! protocol itself the id of the instance and the version.

use std::sync::Arc;

use axum::extract::{Extension, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use breakroom_ide_protocol::{API_VERSION, INSTANCE_ID, Version};
use breakroom_loopback_http::{NoBearer, Visitor, take_bearer};

use crate::answers::Refusal;
use crate::server::Served;

/// The names under which a client may reach this server. A page of a browser that comes by a name of its own has another.
const HOSTS: [&str; 2] = ["localhost", "127.0.0.1"];
/// The longest id of an instance.
const MAX_INSTANCE_ID: usize = 256;

/// Lets requests with the token through.
pub async fn check_access(
    State(served): State<Arc<Served>>,
    Extension(visitor): Extension<Visitor>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(refusal) = check(&served, request.headers_mut()) {
        return refusal.into_response();
    }
    visitor.admit();
    next.run(request).await
}

fn check(served: &Served, headers: &mut HeaderMap) -> Result<(), Refusal> {
    let forbidden = |code, message| Err(Refusal::new(StatusCode::FORBIDDEN, code, message));
    let unauthorized = |code, message: String| Err(Refusal::new(StatusCode::UNAUTHORIZED, code, message));
    let host = headers.get(header::HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    if !host.is_some_and(|host| HOSTS.iter().any(|name| host.host().eq_ignore_ascii_case(name))) {
        return forbidden("InvalidHost", "the header Host must name localhost".to_owned());
    }
    if headers.get(header::ORIGIN).is_some_and(|origin| !served.is_own_origin(origin.as_bytes())) {
        return forbidden("InvalidOrigin", "requests of web pages are not served".to_owned());
    }
    match take_bearer(headers) {
        Ok(token) if served.token.matches(&token) => Ok(()),
        Ok(_) => unauthorized("InvalidToken", "the token is wrong".to_owned()),
        Err(error @ NoBearer::Missing) => unauthorized("MissingHeaders", error.to_string()),
        Err(error @ NoBearer::Malformed) => unauthorized("InvalidAuthHeader", error.to_string()),
    }
}

/// Who sends a request of the protocol, and in which version.
#[derive(Debug)]
pub struct Orchestrator {
    pub instance: String,
    pub version: Version,
}

impl<S: Sync> FromRequestParts<S> for Orchestrator {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let instance = parts.headers.get(INSTANCE_ID).and_then(|id| id.to_str().ok()).map(str::trim);
        let instance = instance.filter(|id| !id.is_empty()).ok_or_else(|| {
            Refusal::bad_request("MissingHeaders", format!("the header {INSTANCE_ID} is missing"))
        })?;
        if instance.len() > MAX_INSTANCE_ID {
            let message = format!("the header {INSTANCE_ID} is longer than {MAX_INSTANCE_ID} bytes");
            return Err(Refusal::bad_request("InvalidHeaders", message));
        }
        let pairs = parts.uri.query().unwrap_or_default().split('&');
        let mut given =
            pairs.filter_map(|pair| pair.split_once('=')).filter(|(name, _)| *name == API_VERSION);
        let (_, given) = given.next().ok_or_else(|| {
            let message = format!("the query parameter {API_VERSION} is missing");
            Refusal::bad_request("MissingApiVersion", message)
        })?;
        let version = Version::for_request(given)
            .map_err(|error| Refusal::bad_request("UnsupportedApiVersion", error.to_string()))?;
        Ok(Orchestrator { instance: instance.to_owned(), version })
    }
}
