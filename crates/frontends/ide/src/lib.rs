//! The IDE endpoint: the server by which an orchestrator has an IDE run and debug its services.
//!
//! It speaks the IDE's side of the protocol in `breakroom-ide-protocol` over HTTPS and one WebSocket, on 127.0.0.1 only. How
//! a service is run and debugged is decided by the [`Runner`] that it is given.

mod answers;
mod certificate;
mod checks;
mod command;
mod environment;
mod notifications;
mod requests;
mod run;
mod runs;
mod server;
mod tls;
mod token;
mod websocket;

pub use certificate::CertificateError;
pub use command::{CommandError, run_command, signalled};
pub use environment::Environment;
pub use run::{HubRunner, Notify, Options, Plan, Run, RunId, Runner, StartWhen, unsupported_type};
pub use server::{Ide, IdeError};
pub use token::Token;
