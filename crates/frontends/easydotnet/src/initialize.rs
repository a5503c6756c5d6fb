//! `initialize`: who the client is, where its project is, and what this server can do.

use serde_json::{Value, json};

use crate::client::{Call, Project};
use crate::message::RpcError;
use crate::methods;
use crate::params::Params;

/// The version of the easy-dotnet protocol. Clients of another major version are refused.
const VERSION: &str = "3.4.9.0";
const MAJOR: &str = "3";
const NOTIFICATIONS: [&str; 2] = ["displayError", "runningProcesses/changed"];

pub fn initialize(call: &Call, params: &Params) -> Result<Value, RpcError> {
    let version = params.object("clientInfo")?.optional_string("version")?;
    if let Some(version) = version.filter(|version| version.split('.').next() != Some(MAJOR)) {
        return Err(RpcError::failed(format!(
            "the client has version {version}, and this server needs version {MAJOR}; update easy-dotnet.nvim"
        )));
    }
    let info = params.object("projectInfo")?;
    let root = info.optional_string("rootDir")?.map(std::path::PathBuf::from);
    if let Some(root) = root.as_ref().filter(|root| !root.is_dir()) {
        return Err(RpcError::failed(format!("the project root {} is not a folder", root.display())));
    }
    let solution = info.optional_string("solutionFile")?.map(Into::into);
    let debugger = params.object("options")?.object("debuggerOptions")?.optional_string("binaryPath")?;
    let debugger = debugger.filter(|path| !path.is_empty()).map(Into::into);
    *call.client.project() = Project { root, solution, debugger };
    Ok(json!({
        "serverInfo": {"name": "EasyDotnet", "version": VERSION},
        "capabilities": {
            "routes": methods::routes().collect::<Vec<_>>(),
            "serverSentNotifications": NOTIFICATIONS,
            "supportsSingleFileExecution": true,
        },
        "toolPaths": {},
    }))
}
