//! The certificate of one IDE endpoint: made at its start, self-signed, and the client's only root.
//!
//! The key stays in memory.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, SanType, date_time_ymd,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{self, ServerConfig, crypto::ring};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Some clients refuse a certificate that is valid for more than 825 days.
const LIFETIME: Duration = Duration::from_secs(365 * 24 * 3600);

#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("cannot make a certificate: {0}")]
    Make(#[from] rcgen::Error),
    #[error("cannot use the certificate for TLS: {0}")]
    Use(#[from] rustls::Error),
}

#[derive(Debug)]
pub struct Certificate {
    der: CertificateDer<'static>,
    key: KeyPair,
}

impl Certificate {
    /// A new certificate for `localhost` and 127.0.0.1.
    ///
    /// It is no certificate authority, because clients that have it as their root would refuse one as a server's.
    pub fn new() -> Result<Certificate, CertificateError> {
        let mut params = CertificateParams::default();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let epoch = date_time_ymd(1970, 1, 1);
        // A day earlier, because the clock may be set back.
        params.not_before = epoch + now.saturating_sub(DAY);
        params.not_after = epoch + now + LIFETIME;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "localhost");
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        params.subject_alt_names =
            vec![SanType::DnsName("localhost".try_into()?), SanType::IpAddress(address)];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let der = params.self_signed(&key)?.der().clone();
        Ok(Certificate { der, key })
    }

    /// What clients read from their environment.
    pub fn base64_der(&self) -> String {
        STANDARD.encode(&self.der)
    }

    pub fn acceptor(&self) -> Result<TlsAcceptor, CertificateError> {
        let key = PrivatePkcs8KeyDer::from(self.key.serialize_der());
        // TLS 1.2 too, because .NET on macOS has no other.
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![self.der.clone()], key.into())?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
