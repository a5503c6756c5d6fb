//! Connections to the IDE: TCP to localhost, and TLS with the IDE's certificate as the only root.
//!
//! What is sent over a connection is not decided here.

use std::io;
use std::sync::Arc;

use breakroom_ide_protocol::{CERTIFICATE, INSTANCE_ID, INSTANCE_ID_PREFIX, TOKEN};
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use super::settings::Settings;

const HOST: &str = "localhost";

/// The IDE, as each request and the WebSocket reach it.
pub struct Endpoint {
    pub settings: Settings,
    headers: HeaderMap,
    tls: Option<TlsConnector>,
}

#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("{CERTIFICATE} holds no certificate that can be used: {0}")]
    Certificate(rustls::Error),
    #[error("{0} cannot be sent in a header; it must be printable ASCII")]
    Header(&'static str),
}

#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("no IDE can be reached at {address}: {source}")]
    Tcp { address: String, source: io::Error },
    #[error("no TLS connection to the IDE at {address} with the certificate in {CERTIFICATE}: {source}")]
    Tls { address: String, source: io::Error },
}

impl ConnectError {
    /// Whether nothing listens there.
    pub fn is_refused(&self) -> bool {
        matches!(self, ConnectError::Tcp { source, .. } if source.kind() == io::ErrorKind::ConnectionRefused)
    }
}

/// A connection, with TLS or without.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Endpoint {
    pub fn new(settings: Settings) -> Result<Endpoint, EndpointError> {
        let value = |name, text: &str| {
            HeaderValue::from_str(text).map_err(|_| EndpointError::Header(name)).map(|mut value| {
                value.set_sensitive(true);
                value
            })
        };
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value(TOKEN, &format!("Bearer {}", settings.token))?);
        headers.insert(INSTANCE_ID, value(INSTANCE_ID_PREFIX, &settings.instance_id)?);
        let certificate = settings.certificate.clone().map(CertificateDer::from);
        let tls = certificate.map(connector).transpose().map_err(EndpointError::Certificate)?;
        Ok(Endpoint { settings, headers, tls })
    }

    /// `localhost:PORT`
    pub fn address(&self) -> String {
        self.settings.port.to_string()
    }

    /// The URL of the WebSocket at this path.
    pub fn web_socket_url(&self, path: &str) -> String {
        let scheme = if self.tls.is_some() { "wss" } else { "ws" };
        format!("{scheme}://{}{path}", self.address())
    }

    /// What every request carries.
    pub fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    pub async fn connect(&self) -> Result<Box<dyn Stream>, ConnectError> {
        let address = self.address();
        let connected = TcpStream::connect((HOST, self.settings.port.0)).await;
        let stream = connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        let stream = stream.map_err(|source| ConnectError::Tcp { address: address.clone(), source })?;
        let Some(tls) = &self.tls else { return Ok(Box::new(stream)) };
        let host = ServerName::try_from(HOST).map_err(io::Error::other);
        let secured = match host {
            Ok(host) => tls.connect(host, stream).await,
            Err(error) => Err(error),
        };
        let stream = secured.map_err(|source| ConnectError::Tls { address, source })?;
        Ok(Box::new(stream))
    }
}

fn connector(certificate: CertificateDer<'static>) -> Result<TlsConnector, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
