//! The server: its port, its life, and what all of its requests share.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use breakroom_ide_protocol::Info;
use breakroom_loopback_http::{ListenError, listen};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::certificate::{Certificate, CertificateError};
use crate::command::signalled;
use crate::environment::Environment;
use crate::notifications::Instances;
use crate::runs::Runs;
use crate::tls::Tls;
use crate::{Runner, Token, requests};

/// The time that run sessions have to end, when the server does.
const END_TIMEOUT: Duration = Duration::from_secs(20);
/// The time that the last notifications and answers have.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
pub enum IdeError {
    #[error("{0}")]
    Listen(#[from] ListenError),
    #[error("{0}")]
    Certificate(#[from] CertificateError),
}

/// A server that listens on 127.0.0.1, and does not answer before it is served.
pub struct Ide {
    listener: TcpListener,
    tls: Tls,
    served: Arc<Served>,
    environment: Environment,
}

/// What requests share.
pub struct Served {
    pub token: Token,
    pub port: u16,
    /// The answer at `/info`.
    pub info: String,
    pub runner: Arc<dyn Runner>,
    pub runs: Arc<Runs>,
    pub instances: Instances,
    /// Cancelled when no more run sessions are started.
    pub ending: CancellationToken,
    /// Cancelled when connections are closed.
    pub closing: CancellationToken,
}

impl Served {
    pub fn is_own_origin(&self, origin: &[u8]) -> bool {
        let own = |host: &str| format!("https://{host}:{}", self.port).into_bytes();
        ["localhost", "127.0.0.1"].into_iter().any(|host| origin.eq_ignore_ascii_case(&own(host)))
    }
}

impl Ide {
    /// Listens on a free port.
    pub async fn listen(token: Token, runner: Arc<dyn Runner>) -> Result<Ide, IdeError> {
        let (listener, address) = listen((Ipv4Addr::LOCALHOST, 0).into()).await?;
        let certificate = Certificate::new()?;
        let tls = Tls(certificate.acceptor()?);
        let info = serde_json::to_string(&Info::new(runner.types())).unwrap_or_default();
        let environment = Environment::new(address.port(), &token, certificate.base64_der(), info.clone());
        let served = Served {
            token,
            port: address.port(),
            info,
            runner,
            runs: Arc::default(),
            instances: Instances::default(),
            ending: CancellationToken::new(),
            closing: CancellationToken::new(),
        };
        Ok(Ide { listener, tls, served: Arc::new(served), environment })
    }

    /// The variables by which an orchestrator finds this server.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Serves until `ended`, then ends the run sessions, sends the last notifications and closes. A signal that comes while they
    /// end stops the waiting for them.
    ///
    /// The runtime must have one thread.
    pub async fn serve<T>(self, ended: impl Future<Output = T>) -> T {
        let Ide { listener, tls, served, .. } = self;
        let router = requests::router(&served);
        let serving = breakroom_loopback_http::serve(listener, tls, router, served.closing.clone());
        tokio::pin!(serving);
        let ending = async {
            let result = ended.await;
            served.ending.cancel();
            served.runs.stop_all();
            let further_signal = async {
                match signalled() {
                    Ok(signal) => drop(signal.await),
                    Err(_) => std::future::pending().await,
                }
            };
            tokio::select! {
                () = served.runs.all_ended() => {}
                () = tokio::time::sleep(END_TIMEOUT) => {
                    tracing::warn!("not all run sessions have ended in time");
                }
                // The user does not want to wait.
                () = further_signal => {}
            }
            result
        };
        let result = tokio::select! {
            result = ending => result,
            // It ends only after `closing`.
            () = serving.as_mut() => std::future::pending().await,
        };
        served.closing.cancel();
        let closed = async {
            serving.await;
            for instance in served.instances.all() {
                drop(instance.turn().await);
            }
        };
        // A client that reads nothing is not waited for.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, closed).await;
        result
    }
}
