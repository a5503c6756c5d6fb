//! The messages by which an orchestrator has an IDE run and debug its services.
//!
//! The IDE serves HTTP and one WebSocket, and the orchestrator is its client. Both sides take their types from here. No
//! connection is made and nothing is decided here but which version of the protocol two sides speak.

mod environment;
mod failure;
mod info;
mod notification;
mod run_session;
mod version;

pub use environment::{
    CERTIFICATE, INFO, INSTANCE_ID_PREFIX, PORT, Port, PortError, RUN_MODE, RUN_MODE_DEBUG, TOKEN,
};
pub use failure::{ErrorBody, ErrorDetail};
pub use info::Info;
pub use notification::{Change, MessageLevel, Notification, NotificationError};
pub use run_session::{Bridge, EnvVar, LaunchConfiguration, Mode, RunSession, RunSessionError};
pub use version::{UnsupportedVersion, Version};

/// The header that names the orchestrator's instance.
pub const INSTANCE_ID: &str = "Microsoft-Developer-DCP-Instance-ID";
/// The query parameter that names the version of the protocol.
pub const API_VERSION: &str = "api-version";
/// Where the IDE says what it can do.
pub const INFO_PATH: &str = "/info";
/// Where run sessions are created; each is at this path with its id behind.
pub const RUN_SESSION_PATH: &str = "/run_session";
/// Where the WebSocket for notifications is opened.
pub const NOTIFY_PATH: &str = "/run_session/notify";
