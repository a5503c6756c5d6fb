//! An orchestrator's connections: HTTPS with the given certificate as the only root, and the WebSocket.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use breakroom_ide_protocol::{ErrorBody, INSTANCE_ID, Notification};
use futures_util::{SinkExt, StreamExt};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::server::Server;

pub const VERSION: &str = "api-version=2026-02-01";
pub const INSTANCE: &str = "breakroom-abcdefghijkl";

/// One request. It has everything that the protocol asks for, unless a test takes it away.
#[derive(Clone)]
pub struct Call {
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: hyper::HeaderMap,
    pub body: String,
}

impl Reply {
    /// The status and the code of an error.
    pub fn error(&self) -> (u16, String) {
        assert_eq!(self.headers["content-type"], "application/json", "{self:?}");
        let body: ErrorBody = serde_json::from_str(&self.body).unwrap();
        assert!(!body.error.message.is_empty() && !body.error.code.is_empty(), "{self:?}");
        (self.status.as_u16(), body.error.code)
    }

    pub fn location(&self) -> &str {
        self.headers["location"].to_str().unwrap()
    }

    /// The id in the `Location` of a run session.
    pub fn run(&self) -> String {
        assert_eq!(self.status, StatusCode::CREATED, "{self:?}");
        self.location().rsplit('/').next().unwrap().to_owned()
    }
}

impl Call {
    pub fn new(server: &Server, method: &str, path: &str) -> Call {
        let headers = [
            ("host", format!("localhost:{}", server.port)),
            ("authorization", format!("Bearer {}", server.token)),
            (&INSTANCE_ID.to_ascii_lowercase(), INSTANCE.to_owned()),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Call { method: method.parse().unwrap(), path: path.to_owned(), headers, body: Vec::new() }
    }

    pub fn put(server: &Server, body: &str) -> Call {
        Call::new(server, "PUT", &format!("/run_session?{VERSION}")).body(body)
    }

    pub fn delete(server: &Server, run: &str) -> Call {
        Call::new(server, "DELETE", &format!("/run_session/{run}?{VERSION}"))
    }

    pub fn path(mut self, path: &str) -> Call {
        self.path = path.to_owned();
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Call {
        self.body = body.into();
        self
    }

    pub fn without(mut self, header: &str) -> Call {
        self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case(header));
        self
    }

    pub fn with(self, header: &str, value: &str) -> Call {
        let mut call = self.without(header);
        call.headers.push((header.to_owned(), value.to_owned()));
        call
    }

    pub async fn send(self, server: &Server) -> Reply {
        self.send_on(&mut connect(server).await).await
    }

    pub async fn send_on(self, connection: &mut SendRequest<Body>) -> Reply {
        let mut request = Request::builder().method(self.method).uri(self.path);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let response = connection.send_request(request.body(Body::from(self.body)).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(Body::new(body), usize::MAX).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        Reply { status: parts.status, headers: parts.headers, body }
    }
}

/// A connection for any number of requests.
pub async fn connect(server: &Server) -> SendRequest<Body> {
    let (sender, connection) = handshake(TokioIo::new(tls(server).await)).await.unwrap();
    tokio::spawn(connection);
    sender
}

pub async fn tls(server: &Server) -> TlsStream<TcpStream> {
    tls_as(server, "localhost").await.unwrap()
}

/// A TLS connection to the server by this name, which trusts nothing but the server's certificate.
pub async fn tls_as(server: &Server, name: &'static str) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(STANDARD.decode(&server.certificate).unwrap())).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(name).unwrap(), stream).await
}

/// The WebSocket for notifications.
pub struct Socket(WebSocketStream<TlsStream<TcpStream>>);

impl Socket {
    pub async fn open(server: &Server) -> Socket {
        Socket::open_as(server, INSTANCE).await
    }

    pub async fn open_as(server: &Server, instance: &str) -> Socket {
        Socket::try_open(server, &[(INSTANCE_ID, instance)]).await.unwrap()
    }

    /// Opens it with the token and these headers.
    pub async fn try_open(server: &Server, headers: &[(&'static str, &str)]) -> Result<Socket, Box<Error>> {
        let url = format!("wss://localhost:{}/run_session/notify?{VERSION}", server.port);
        let mut request = url.into_client_request().unwrap();
        let token = format!("Bearer {}", server.token);
        request.headers_mut().insert("authorization", token.parse().unwrap());
        for (name, value) in headers {
            request.headers_mut().insert(
                hyper::header::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                value.parse().unwrap(),
            );
        }
        let opened = tokio_tungstenite::client_async(request, tls(server).await).await;
        opened.map(|(socket, _)| Socket(socket)).map_err(Box::new)
    }

    /// The next notification.
    pub async fn next(&mut self) -> Notification {
        let text = self.next_text().await;
        Notification::parse(&text).unwrap()
    }

    pub async fn next_text(&mut self) -> String {
        match self.0.next().await.unwrap().unwrap() {
            Message::Text(text) => text.as_str().to_owned(),
            other => panic!("{other:?} is no text frame"),
        }
    }

    /// Sends a ping and expects nothing but its pong: what was to come is there.
    pub async fn expect_silence(&mut self) {
        self.0.send(Message::Ping("still".into())).await.unwrap();
        let answer = self.0.next().await.unwrap().unwrap();
        assert_eq!(answer, Message::Pong("still".into()));
    }

    /// The frame by which the server closes it. Nothing else may come.
    pub async fn closed(&mut self) -> CloseFrame {
        let frame = match self.0.next().await.unwrap().unwrap() {
            Message::Close(Some(frame)) => frame,
            other => panic!("{other:?} is no Close frame"),
        };
        assert!(self.0.next().await.is_none_or(|end| end.is_err()));
        frame
    }

    pub async fn close(mut self) {
        self.0.close(None).await.unwrap();
        while let Some(Ok(_)) = self.0.next().await {}
    }
}
