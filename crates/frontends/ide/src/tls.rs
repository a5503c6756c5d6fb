//! TLS for the connections of the server, and whether a connection has input that was not read.

use std::sync::Arc;

use axum::Router;
use axum::extract::Extension;
use breakroom_loopback_http::Transport;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

#[derive(Clone)]
pub struct Tls(pub TlsAcceptor);

impl Transport for Tls {
    type Stream = TlsStream<TcpStream>;

    async fn prepare(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }

    fn route(&self, stream: &TcpStream, router: Router) -> Router {
        let wire = Wire(stream.as_fd().try_clone_to_owned().ok().map(Arc::new));
        router.layer(Extension(wire))
    }
}

/// The TCP connection below TLS.
#[derive(Debug, Clone)]
pub struct Wire(Option<Arc<OwnedFd>>);

impl Wire {
    /// Whether bytes, or the end of the connection, wait to be read.
    ///
    /// A client that is gone has this, even before the runtime says so. What is sent to it would be lost.
    pub fn has_input(&self) -> bool {
        let Some(socket) = &self.0 else { return false };
        let mut byte = [0; 1];
        let peeked = recv(socket, &mut byte[..], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        !matches!(peeked, Err(Errno::AGAIN | Errno::INTR))
    }
}
