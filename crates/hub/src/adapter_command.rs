//! The command of an installed adapter, for a front end that has it started elsewhere.

use breakroom_engines::{Catalog, Context, EnvVar, Mode};
use serde_json::{Map, Value};

/// How an adapter is started by a program that is not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterCommand {
    /// Its name in the catalog.
    pub name: String,
    /// The program and its arguments. `{{port}}` stands for a port that whoever starts it chooses.
    pub args: Vec<String>,
    /// `stdio`, `tcp-connect` or `tcp-callback`.
    pub mode: &'static str,
    pub env: Vec<EnvVar>,
    /// What each launch of it has if it does not say otherwise.
    pub launch: Map<String, Value>,
}

/// The adapter that is installed for a type of launch, or why there is none and what to do.
pub fn adapter_command(kind: &str, context: &Context) -> Result<AdapterCommand, String> {
    let catalog = Catalog::load(context).map_err(|error| error.to_string())?;
    let (entry, found) = catalog.installed_for_type(kind, context).map_err(|error| error.to_string())?;
    let spec = entry.plain_spec(&found).map_err(|error| error.to_string())?;
    let mode = match spec.mode {
        Mode::Stdio => "stdio",
        Mode::TcpConnect => "tcp-connect",
        Mode::TcpCallback => "tcp-callback",
        Mode::Unix => return Err(format!("{} can be started by the hub only", spec.name)),
    };
    let mut launch = entry.launch.clone();
    launch.extend(entry.defaults_for(None, context));
    Ok(AdapterCommand { name: spec.name, args: spec.args, mode, env: spec.env, launch })
}
