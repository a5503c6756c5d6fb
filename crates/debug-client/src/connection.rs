//! A connection to a session, as the command line opens it for a front end.

use std::io::{Read, Write};
use std::path::Path;

use breakroom_client::Request;
use serde_json::Value;

/// Connects to a session that debugs this program, in this working folder.
pub type Open = dyn FnMut(&Path, &Path) -> Result<Connection, String>;

/// A connection to a session: a new one, or one that others are in.
pub struct Connection {
    pub reader: Box<dyn Read + Send>,
    pub writer: Box<dyn Write + Send>,
    /// Which debugger it is, as `initialize` names it.
    pub adapter: String,
    /// Whether the program is launched or a live session joined.
    pub request: Request,
    /// The arguments of that request.
    pub launch: Value,
    /// Waits a moment until the session has let go of this client; why it ended, if that was not in order.
    pub close: Box<dyn FnOnce() -> Option<String>>,
}
