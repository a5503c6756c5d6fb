//! HTTP/1 on a port of this machine, for clients that show a bearer token.
//!
//! It accepts connections, limits those that have not shown the token, and reads the token out of a request. It compares no
//! token and answers no request: that is the business of the router that it is given.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Extension;
use axum::http::{HeaderMap, header};
use breakroom_admission::{Stranger, Strangers};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The pause after a connection that could not be accepted.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Whether this is the token.
pub type Admits = Arc<dyn Fn(&str) -> bool + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error(
        "{0} is not a loopback address. Whoever reaches a debugger can run any code as you; listen on 127.0.0.1 and use `ssh -L` from elsewhere"
    )]
    NotLoopback(SocketAddr),
    #[error("{address} cannot be listened at: {source}")]
    Bind { address: SocketAddr, source: std::io::Error },
}

/// Listens at a loopback address. Gives the address with its port, which the kernel chooses for port 0.
pub async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ListenError> {
    if !address.ip().is_loopback() {
        return Err(ListenError::NotLoopback(address));
    }
    let bind = |source| ListenError::Bind { address, source };
    let listener = TcpListener::bind(address).await.map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    Ok((listener, address))
}

/// What HTTP is spoken on.
pub trait Transport: Clone + Send + Sync + 'static {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Prepares a connection that was accepted, for example by a TLS handshake. It counts against the connection's deadline.
    fn prepare(&self, stream: TcpStream) -> impl Future<Output = std::io::Result<Self::Stream>> + Send;

    /// The router for the requests of one connection.
    fn route(&self, _stream: &TcpStream, router: Router) -> Router {
        router
    }
}

/// HTTP without TLS.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

impl Transport for Plain {
    type Stream = TcpStream;

    async fn prepare(&self, stream: TcpStream) -> std::io::Result<TcpStream> {
        Ok(stream)
    }
}

/// Serves every connection until `closing`, and then until all requests are answered.
///
/// Each request has the [`Visitor`] that it came from as an extension.
pub async fn serve(
    listener: TcpListener,
    transport: impl Transport,
    router: Router,
    closing: CancellationToken,
) {
    let strangers = Arc::new(Strangers::default());
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = closing.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let visitor = Visitor { stranger: strangers.comes(), strangers: strangers.clone() };
                    let (transport, router) = (transport.clone(), router.clone());
                    connections.spawn(serve_connection(stream, transport, router, visitor, closing.clone()));
                }
                // The cause may be one connection, or a lack of descriptors, which become free again.
                Err(error) => {
                    tracing::warn!("a connection could not be accepted: {error}");
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Serves one connection, from its beginning to its end.
async fn serve_connection(
    stream: TcpStream,
    transport: impl Transport,
    router: Router,
    visitor: Visitor,
    closing: CancellationToken,
) {
    let Visitor { strangers, stranger } = visitor.clone();
    // Otherwise an event would wait for the next one. Without it the connection is only slower.
    let _ = stream.set_nodelay(true);
    let router = transport.route(&stream, router.layer(Extension(visitor)));
    let serving = async {
        let prepared = tokio::select! {
            prepared = transport.prepare(stream) => prepared,
            () = closing.cancelled() => return,
        };
        let stream = match prepared {
            Ok(stream) => stream,
            Err(error) => return tracing::debug!("a connection failed before its first request: {error}"),
        };
        let service = TowerToHyperService::new(router);
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let connection = connection.with_upgrades();
        tokio::pin!(connection);
        // The client knows how the connection ended.
        tokio::select! {
            _ = connection.as_mut() => {}
            () = closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    };
    tokio::select! {
        () = serving => {}
        _ = stranger.is_sent_away() => {}
    }
    strangers.goes(&stranger);
}

/// The connection that a request came from.
#[derive(Debug, Clone)]
pub struct Visitor {
    strangers: Arc<Strangers>,
    stranger: Arc<Stranger>,
}

impl Visitor {
    /// Lifts the limits of the connection, because a request has shown the token.
    pub fn admit(&self) {
        self.strangers.knows(&self.stranger);
    }
}

/// Why a request shows no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoBearer {
    #[error("the header Authorization is missing")]
    Missing,
    #[error("the header Authorization does not have the form `Bearer TOKEN`")]
    Malformed,
}

/// Takes the bearer token out of the headers, so that no later layer can log it.
pub fn take_bearer(headers: &mut HeaderMap) -> Result<String, NoBearer> {
    let given = headers.remove(header::AUTHORIZATION).ok_or(NoBearer::Missing)?;
    let given = given.to_str().ok().and_then(|value| value.split_once(' '));
    let token = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token.map(|(_, token)| token.trim().to_owned()).ok_or(NoBearer::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(value: Option<&str>) -> Result<String, NoBearer> {
        let mut headers = HeaderMap::new();
        headers.extend(value.map(|value| (header::AUTHORIZATION, value.parse().unwrap())));
        let taken = take_bearer(&mut headers);
        assert!(headers.is_empty());
        taken
    }

    #[test]
    fn bearer_token_is_taken_out_of_the_headers_and_no_other_is_one() {
        for value in ["Bearer abc", "bearer abc", "BEARER  abc "] {
            assert_eq!(taken(Some(value)).unwrap(), "abc");
        }
        for value in ["abc", "Basic abc", "Bearer", ""] {
            assert_eq!(taken(Some(value)), Err(NoBearer::Malformed));
        }
        assert_eq!(taken(None), Err(NoBearer::Missing));
    }

    #[tokio::test]
    async fn address_that_others_can_reach_is_refused() {
        let refused = listen(([0, 0, 0, 0], 0).into()).await;
        assert!(matches!(refused, Err(ListenError::NotLoopback(_))));
    }
}
