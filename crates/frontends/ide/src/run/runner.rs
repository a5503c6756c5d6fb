//! Runs services in sessions of the hub.

use std::path::PathBuf;
use std::sync::Arc;

use breakroom_hub::{AdapterCommand, Context, FixedAdapter, adapter_command};
use breakroom_ide_protocol::{Bridge, ErrorBody, LaunchConfiguration, RunSession};
use serde_json::{Value, json};

use super::configurations::{KINDS, Kind, Launch};
use super::service::{Service, start};
use crate::run::{Notify, Plan, Run, RunId, Runner, unsupported_type};

/// Variables of an orchestrator, which are not passed on to what it has the IDE run.
const CREDENTIALS: [&str; 2] = ["DEBUG_SESSION", "DCP_"];
/// The argument of a child session's launch that holds the id for its handshake.
const CHILD: &str = "{{launch.__dcp_child_session_id=}}";

/// How services are run.
pub struct Options {
    /// The program to be started as the hub: `breakroom` itself.
    pub executable: PathBuf,
    /// The token of debug bridges.
    pub token: String,
    pub start: StartWhen,
    /// Told how to join each session.
    pub announce: Box<dyn Fn(&str) + Send + Sync>,
}

/// When a service begins to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartWhen {
    AtOnce,
    /// When a client has joined its session and configured itself.
    Configured,
}

/// A service that can be run.
struct ServicePlan {
    launch: Launch,
    adapter: Adapter,
    options: Arc<Options>,
    context: Context,
}

/// Who starts the debug adapter.
#[derive(Debug)]
enum Adapter {
    Hub { kind: &'static str },
    Bridge { bridge: Bridge, command: AdapterCommand },
}

pub struct HubRunner {
    options: Arc<Options>,
    context: Context,
}

impl HubRunner {
    pub fn new(options: Options) -> HubRunner {
        let mut context = Context::of_this_process();
        let is_credential = |name: &str| CREDENTIALS.iter().any(|prefix| name.starts_with(prefix));
        context.env.retain(|(name, _)| !is_credential(&name.to_string_lossy()));
        HubRunner { options: Arc::new(options), context }
    }

    fn types(&self) -> Vec<String> {
        let installed = KINDS.iter().filter(|kind| adapter_command(kind.launch, &self.context).is_ok());
        installed.map(|kind| kind.name.to_owned()).collect()
    }

    fn plan_for(
        &self,
        kind: &'static Kind,
        configuration: &LaunchConfiguration,
        request: &RunSession,
        bridge: Option<Bridge>,
    ) -> Result<ServicePlan, ErrorBody> {
        let missing = |error: String| ErrorBody::new("UnsupportedLaunchConfiguration", error);
        let command = adapter_command(kind.launch, &self.context).map_err(missing)?;
        let invalid = |error| ErrorBody::new("InvalidLaunchConfiguration", format!("{error}"));
        let mut launch = kind.launch(configuration, request).map_err(invalid)?;
        for (member, value) in &command.launch {
            launch.arguments.entry(member).or_insert_with(|| value.clone());
        }
        let adapter = match bridge {
            Some(bridge) => Adapter::Bridge { bridge, command },
            None => Adapter::Hub { kind: kind.launch },
        };
        Ok(ServicePlan { launch, adapter, options: self.options.clone(), context: self.context.clone() })
    }
}

impl Runner for HubRunner {
    fn types(&self) -> Vec<String> {
        HubRunner::types(self)
    }

    fn plan(&self, request: RunSession) -> Result<Box<dyn Plan>, ErrorBody> {
        let invalid = |error| ErrorBody::new("InvalidRunSession", format!("{error}"));
        let configuration = request.configuration().map_err(invalid)?;
        let bridge = request.bridge().map_err(invalid)?;
        let Some(kind) = Kind::named(configuration.kind()) else {
            return Err(unsupported_type(configuration.kind(), &self.types()));
        };
        Ok(Box::new(self.plan_for(kind, configuration, &request, bridge)?))
    }
}

impl Plan for ServicePlan {
    fn start(self: Box<Self>, id: RunId, notify: Notify) -> Box<dyn Run> {
        let ServicePlan { launch, adapter, options, context } = *self;
        let logs = matches!(adapter, Adapter::Hub { .. });
        let adapter = fixed_adapter(&id, &adapter, &options);
        start(Service { id, launch, adapter, logs, context, options, notify })
    }
}

/// The adapter of the hub's session. That of a bridge is reached by a process that shakes hands with the bridge.
fn fixed_adapter(id: &RunId, adapter: &Adapter, options: &Options) -> FixedAdapter {
    let (bridge, command) = match adapter {
        Adapter::Hub { kind } => return FixedAdapter::Type((*kind).to_owned()),
        Adapter::Bridge { bridge, command } => (bridge, command),
    };
    let executable = options.executable.to_string_lossy();
    let connect = ["bridge", "connect", "--socket", &bridge.socket, "--session", &bridge.session_id];
    let args: Vec<&str> =
        [&*executable].into_iter().chain(connect).chain(["--run", &id.0, "--child", CHILD]).collect();
    FixedAdapter::Record(json!({
        "type": command.name,
        "args": args,
        "env": [
            {"name": "DEBUG_SESSION_TOKEN", "value": options.token},
            {"name": "DEBUG_ADAPTER_CONFIG", "value": configuration(command).to_string()},
        ],
    }))
}

/// The member `debug_adapter_config` of a handshake.
fn configuration(command: &AdapterCommand) -> Value {
    let env =
        command.env.iter().filter_map(|one| Some(json!({"name": one.name, "value": one.value.as_ref()?})));
    json!({"args": command.args, "mode": command.mode, "env": env.collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn options() -> Options {
        Options {
            executable: "/bin/breakroom".into(),
            token: "secret".to_owned(),
            start: StartWhen::AtOnce,
            announce: Box::new(|_| {}),
        }
    }

    #[test]
    fn row_04_29_adapter_behind_a_bridge_is_reached_by_a_handshake_that_no_command_line_shows() {
        let command = AdapterCommand {
            name: "js-debug".to_owned(),
            args: ["node", "server.js", "{{port}}"].map(str::to_owned).to_vec(),
            mode: "tcp-connect",
            env: Vec::new(),
            launch: Map::new(),
        };
        let bridge = Bridge { socket: "/run/s".to_owned(), session_id: "web".to_owned() };
        let adapter =
            fixed_adapter(&RunId("run-1".to_owned()), &Adapter::Bridge { bridge, command }, &options());
        let FixedAdapter::Record(record) = adapter else { panic!("{adapter:?}") };
        let args = record["args"].to_string();
        assert!(args.contains(r#""--socket","/run/s","--session","web","--run","run-1""#), "{args}");
        assert!(!args.contains("secret") && !args.contains("server.js"), "{args}");
        let expected = r#"{"args":["node","server.js","{{port}}"],"env":[],"mode":"tcp-connect"}"#;
        assert_eq!((&record["type"], &record["env"][1]["value"]), (&json!("js-debug"), &json!(expected)));
    }

    #[test]
    fn unknown_type_is_refused_with_those_that_are_served() {
        let runner = HubRunner::new(options());
        let request = r#"{"launch_configurations": [{"type": "cobol"}]}"#;
        let refusal = runner.plan(serde_json::from_str(request).unwrap()).err().unwrap();
        assert_eq!(refusal.error.code, "UnsupportedLaunchConfiguration");
        assert!(refusal.error.message.contains("cobol"), "{}", refusal.error.message);
    }
}
