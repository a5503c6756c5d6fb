//! An orchestrator that runs one service through an IDE, and gives the IDE a bridge to debug it by.
//!
//! The IDE decides how the service is started and debugged. From the protocol version 2026-02-01 on, its debug adapter is
//! started by a bridge of this process; with an older IDE, no bridge is opened.

mod body;
mod endpoint;
mod notifications;
mod outcome;
mod own_bridge;
mod requests;
mod settings;
mod signals;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use breakroom_ide_protocol::{Change, Notification, Version};
use tokio::io::{AsyncWriteExt, Stdout, stdout};
use tokio::time::timeout;

use crate::{BridgeError, Options, StateChange};
use endpoint::{Endpoint, EndpointError};
use notifications::{Notifications, NotificationsError};
use outcome::Progress;
use own_bridge::OwnBridge;
use requests::RequestError;
use signals::Signals;

pub use body::{Body, BodyError};
pub use outcome::Outcome;
pub use settings::{Settings, SettingsError};

/// How long the IDE may take to report the end of a run session that was stopped, or whose bridge session has ended.
const STOPPING: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum OrchestratorError {
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Notifications(#[from] NotificationsError),
    #[error(transparent)]
    Bridge(#[from] BridgeError),
    #[error(
        "the IDE speaks no version of the protocol that is known here; it offers {offered}, known are {known}"
    )]
    NoCommonVersion { offered: String, known: String },
    #[error("no random numbers for the id of the session: {0}")]
    Random(io::Error),
    #[error("signals or the network cannot be used: {0}")]
    Runtime(#[from] io::Error),
}

/// Runs one service until its run session ends, and prints each notification about it as a line of JSON on stdout.
///
/// Without options for a bridge, the IDE starts the debug adapter itself.
pub fn run(body: Body, settings: Settings, options: Option<Options>) -> Result<Outcome, OrchestratorError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(orchestrate(body, settings, options));
    // A thread may still be writing to a stdout that is not read.
    runtime.shutdown_background();
    outcome
}

async fn orchestrate(
    body: Body,
    settings: Settings,
    options: Option<Options>,
) -> Result<Outcome, OrchestratorError> {
    let mut signals = Signals::watch()?;
    let endpoint = Arc::new(Endpoint::new(settings)?);
    let (version, notifications) = tokio::select! {
        connected = connect(&endpoint) => connected?,
        signal = signals.next() => return Ok(Outcome::Stopped(signal)),
    };
    let options = options.filter(|_| version.has_bridge());
    let mut bridge = options.map(|options| OwnBridge::open(options, &endpoint.settings.token)).transpose()?;
    let body = {
        let place = bridge.as_ref().map(OwnBridge::place);
        body.with_bridge(place.as_ref().map(|(socket, session)| (&**socket, *session)))
    };
    let mut service = Service { endpoint: &endpoint, version, notifications, output: Some(stdout()) };
    let outcome = service.run(body, bridge.as_mut(), &mut signals).await;
    let is_stopped = matches!(outcome, Ok(Outcome::Stopped(_)));
    let closing = async {
        let mut bridge = bridge?;
        if is_stopped {
            bridge.end().await;
        }
        bridge.close(matches!(outcome, Ok(Outcome::Failed(_)))).await
    };
    let (failure, ()) = tokio::join!(closing, service.notifications.close());
    Ok(outcome?.with_failure_of_bridge(failure))
}

/// The WebSocket is open before the first run session is asked for, so that no notification is missed.
async fn connect(endpoint: &Arc<Endpoint>) -> Result<(Version, Notifications), OrchestratorError> {
    let info = requests::info(endpoint).await?;
    let version = info.common_version().ok_or_else(|| OrchestratorError::NoCommonVersion {
        offered: listed(&info.protocols_supported),
        known: listed(&Version::KNOWN.map(|version| version.to_string())),
    })?;
    tracing::debug!("the IDE and this process speak version {version}");
    Ok((version, Notifications::open(endpoint.clone(), version).await?))
}

fn listed(versions: &[String]) -> String {
    match versions {
        [] => "none".to_owned(),
        versions => versions.join(", "),
    }
}

/// The run session, as seen from here.
struct Service<'a> {
    endpoint: &'a Endpoint,
    version: Version,
    notifications: Notifications,
    /// Nothing after the reader of stdout has gone. The service goes on without it.
    output: Option<Stdout>,
}

impl Service<'_> {
    async fn run(
        &mut self,
        body: String,
        bridge: Option<&mut OwnBridge>,
        signals: &mut Signals,
    ) -> Result<Outcome, OrchestratorError> {
        let (id, mut stopped_by) = match self.create(body, signals).await? {
            Created::Running { id, stopped_by } => (id, stopped_by),
            Created::Abandoned(signal) => return Ok(Outcome::Stopped(signal)),
        };
        let (endpoint, version) = (self.endpoint, self.version);
        let mut following = std::pin::pin!(self.follow(&id));
        if stopped_by.is_none() {
            let bridge_end = async {
                match bridge {
                    Some(bridge) => bridge.ended().await,
                    None => std::future::pending().await,
                }
            };
            let bridge_end = tokio::select! {
                outcome = &mut following => return outcome,
                signal = signals.next() => {
                    stopped_by = Some(signal);
                    None
                }
                end = bridge_end => Some(end),
            };
            if let Some(end) = bridge_end {
                tokio::select! {
                    outcome = timeout(STOPPING, &mut following) => {
                        return outcome.unwrap_or_else(|_| Ok(without_ide(end)));
                    }
                    signal = signals.next() => stopped_by = Some(signal),
                }
            }
        }
        let Some(signal) = stopped_by else { return Ok(Outcome::Ended) };
        let stopping = async {
            let deleting = async {
                if let Err(error) = requests::delete(endpoint, version, &id).await {
                    tracing::warn!("the run session cannot be stopped: {error}");
                }
            };
            tokio::join!(&mut following, deleting).0
        };
        tokio::select! {
            outcome = timeout(STOPPING, stopping) => match outcome {
                Ok(Ok(Outcome::Exited(code))) => Ok(Outcome::Exited(code)),
                Ok(_) => Ok(Outcome::Stopped(signal)),
                Err(_) => {
                    tracing::warn!("the IDE has not reported the end of the run session within {} s", STOPPING.as_secs());
                    Ok(Outcome::Stopped(signal))
                }
            },
            second = signals.next() => Ok(Outcome::Stopped(second)),
        }
    }

    /// Starts the run session. A signal does not cancel this at once, because the id is needed to stop the run session.
    async fn create(&self, body: String, signals: &mut Signals) -> Result<Created, RequestError> {
        let mut creating = std::pin::pin!(requests::create(self.endpoint, self.version, body));
        let signal = tokio::select! {
            id = &mut creating => return Ok(Created::Running { id: id?, stopped_by: None }),
            signal = signals.next() => signal,
        };
        tokio::select! {
            id = timeout(STOPPING, creating) => match id {
                Ok(id) => Ok(Created::Running { id: id?, stopped_by: Some(signal) }),
                Err(_) => Ok(Created::Abandoned(signal)),
            },
            second = signals.next() => Ok(Created::Abandoned(second)),
        }
    }

    /// Prints the notifications about a run session until the last.
    async fn follow(&mut self, id: &str) -> Result<Outcome, OrchestratorError> {
        let mut progress = Progress::default();
        while let Some(received) = self.notifications.next().await {
            let notification = received?;
            if notification.session_id != id || notification.change == Change::Unknown {
                tracing::debug!("ignored: {notification:?}");
                continue;
            }
            self.print(&notification).await;
            if let Some(outcome) = progress.note(&notification.change) {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Failed("no more notifications can come".to_owned()))
    }

    async fn print(&mut self, notification: &Notification) {
        let Some(output) = &mut self.output else { return };
        let mut line = serde_json::to_string(notification).unwrap_or_default();
        line.push('\n');
        let printed = async {
            output.write_all(line.as_bytes()).await?;
            output.flush().await
        };
        if let Err(error) = printed.await {
            tracing::debug!("stdout is not read: {error}");
            self.output = None;
        }
    }
}

/// What became of the request for a run session.
enum Created {
    Running {
        id: String,
        /// The signal that came meanwhile.
        stopped_by: Option<u8>,
    },
    /// The IDE has not answered since this signal.
    Abandoned(u8),
}

/// The outcome of a session whose end the IDE does not report.
fn without_ide(end: StateChange) -> Outcome {
    let code = end.exit_code.and_then(|code| i32::try_from(code).ok());
    match (code, end.error) {
        (Some(code), _) => Outcome::Exited(code),
        (None, Some(error)) => Outcome::Failed(error),
        (None, None) => {
            Outcome::Failed("the bridge session ended, and the IDE has not reported how".to_owned())
        }
    }
}
