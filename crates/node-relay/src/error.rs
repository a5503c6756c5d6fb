//! Why there is nothing to carry.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    #[error("NODE_INSPECTOR_INFO does not say whom to serve: {0}")]
    Info(serde_json::Error),
    #[error("{} does not let us in: {source}", address.display())]
    Server { address: PathBuf, source: std::io::Error },
    #[error("{address} cannot be reached: {source}")]
    Far { address: String, source: std::io::Error },
    #[error("the inspector at {0} is not one: its address is no ws://HOST:PORT/NAME")]
    Address(String),
    #[error("stdout cannot be used: {0}")]
    Stream(std::io::Error),
}
