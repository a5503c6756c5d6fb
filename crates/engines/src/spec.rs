//! How one adapter is started: the record that a launch may bring along, and that the catalog makes of an entry.
//!
//! It says nothing about where the program is; that is looked up in the launcher's context at the start.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::catalog::entry::InputSource;
use crate::catalog::from_launch;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Record")]
pub struct AdapterSpec {
    /// For messages; by default the file name of the program.
    pub name: String,
    /// The name in the catalog of the adapter that it reaches, if the record says so.
    pub kind: Option<String>,
    pub args: Vec<String>,
    /// The folder to start it in, if that is not the launcher's.
    pub cwd: Option<PathBuf>,
    pub mode: Mode,
    pub env: Vec<EnvVar>,
    pub connection_timeout: Duration,
    /// Whether the debuggee writes to the adapter's own stdout and stderr (delve 1.20, rdbg).
    pub debuggee_stdio: bool,
    /// What the debuggee reads. Only a pipe of ours makes a difference to the start.
    pub input: InputSource,
    pub banner: Banner,
    /// What it says on its stderr when it may be connected to, if that is later than it listens.
    pub ready: Option<String>,
    /// How the names of files and folders begin that it leaves in the temporary folder, with `{{pid}}` for its number.
    pub litter: Vec<String>,
    /// The same of files that are its own only if it has them open when it is ended.
    pub held_litter: Option<String>,
}

/// What the adapter itself says where its debuggee writes too: how each line begins, which it says once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Banner {
    #[serde(default)]
    pub stdout: Vec<String>,
    #[serde(default)]
    pub stderr: Vec<String>,
}

/// How the hub and the adapter find each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    #[default]
    Stdio,
    /// The adapter listens on `{{port}}`.
    TcpConnect,
    /// The adapter dials `{{port}}`, where we listen.
    TcpCallback,
    /// The adapter listens on the unix socket `{{socket}}`.
    Unix,
}

impl Mode {
    /// What stands in the arguments for the place to meet.
    pub fn placeholder(self) -> Option<&'static str> {
        match self {
            Mode::Stdio => None,
            Mode::TcpConnect | Mode::TcpCallback => Some("{{port}}"),
            Mode::Unix => Some("{{socket}}"),
        }
    }
}

/// What stands for the path of the pipe from which the program reads.
pub const INPUT: &str = "{{input}}";

/// A variable to set, or to unset if it has no value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EnvVar {
    pub name: String,
    #[serde(default)]
    pub value: Option<String>,
}

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// No timeout is longer: beyond it the clock's arithmetic could overflow.
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

pub(crate) fn default_timeout() -> u64 {
    DEFAULT_TIMEOUT.as_secs()
}

/// Zero for what is not a time to wait, which `check` refuses.
fn timeout(seconds: f64) -> Duration {
    match seconds > 0.0 {
        true => Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_TIMEOUT).min(LONGEST_TIMEOUT),
        false => Duration::ZERO,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    #[serde(default)]
    name: Option<String>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    args: Vec<String>,
    // Clients may write null where they have nothing to say.
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    env: Option<Vec<EnvVar>>,
    #[serde(default)]
    connection_timeout_seconds: Option<f64>,
    #[serde(default)]
    debuggee_stdio: bool,
    #[serde(default)]
    banner: Banner,
    #[serde(default)]
    ready: Option<String>,
}

impl TryFrom<Record> for AdapterSpec {
    type Error = String;

    fn try_from(record: Record) -> Result<Self, String> {
        let program = record.args.first().map(String::as_str).unwrap_or_default();
        let file_name = Path::new(program).file_name().map(|name| name.to_string_lossy().into_owned());
        let name = record.name.or_else(|| record.kind.clone()).or(file_name).unwrap_or_default();
        let spec = AdapterSpec {
            kind: record.kind,
            env: record.env.unwrap_or_default(),
            connection_timeout: record.connection_timeout_seconds.map_or(DEFAULT_TIMEOUT, timeout),
            debuggee_stdio: record.debuggee_stdio,
            banner: record.banner,
            ready: record.ready,
            ..AdapterSpec::plain(name, record.mode.unwrap_or_default(), record.args)
        };
        spec.check().map(|()| spec)
    }
}

impl AdapterSpec {
    /// One with nothing special about it.
    pub fn plain(name: impl Into<String>, mode: Mode, args: Vec<String>) -> Self {
        AdapterSpec {
            name: name.into(),
            kind: None,
            args,
            cwd: None,
            mode,
            env: Vec::new(),
            connection_timeout: DEFAULT_TIMEOUT,
            debuggee_stdio: false,
            input: InputSource::ItsOwn,
            banner: Banner::default(),
            ready: None,
            litter: Vec::new(),
            held_litter: None,
        }
    }

    /// Puts what is launched in the place of its placeholders in the arguments.
    pub fn fill(&mut self, launch: Option<&Map<String, Value>>) -> Result<(), String> {
        if self.args.iter().any(|arg| from_launch::depends_on_launch(arg)) {
            let nothing = Map::new();
            self.args = from_launch::filled(&self.args, launch.unwrap_or(&nothing))?;
        }
        Ok(())
    }

    /// What makes a start pointless. Told before anything is spawned, since the adapter could only fail obscurely.
    pub fn check(&self) -> Result<(), String> {
        if self.args.first().is_none_or(String::is_empty) {
            return Err("\"args\" is empty: its first element is the program to start".into());
        }
        if self.connection_timeout.is_zero() {
            return Err("\"connectionTimeoutSeconds\" must be more than 0; leave it out for 10".into());
        }
        if let Some(bad) =
            self.env.iter().find(|variable| variable.name.is_empty() || variable.name.contains('='))
        {
            return Err(format!("\"{}\" cannot be the name of an environment variable", bad.name));
        }
        let strings =
            self.args.iter().chain(self.env.iter().flat_map(|v| std::iter::once(&v.name).chain(&v.value)));
        if strings.into_iter().any(|text| text.contains('\0')) {
            return Err("its arguments or environment hold a NUL character".into());
        }
        match self.mode.placeholder() {
            Some(placeholder) if !self.args.iter().any(|arg| arg.contains(placeholder)) => Err(format!(
                "no element of \"args\" holds {placeholder}, so it cannot learn where to meet the hub"
            )),
            _ => Ok(()),
        }
    }

    /// `input` is the path of what the program is to read, if that is ours.
    pub(crate) fn args_with(&self, place: &str, input: Option<&str>) -> Vec<String> {
        let filled = |arg: &String| {
            let arg =
                self.mode.placeholder().map_or(arg.clone(), |placeholder| arg.replace(placeholder, place));
            input.map_or(arg.clone(), |input| arg.replace(INPUT, input))
        };
        self.args.iter().map(filled).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<AdapterSpec, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_record_with_only_arguments_means_stdio_and_ten_seconds() {
        let spec = parse(r#"{"args": ["/opt/bin/some-adapter", "--x"]}"#).unwrap();
        assert_eq!((spec.name.as_str(), spec.mode), ("some-adapter", Mode::Stdio));
        assert_eq!(spec.connection_timeout, Duration::from_secs(10));
        let nulls =
            r#"{"args": ["a"], "mode": null, "env": null, "connectionTimeoutSeconds": null, "more": 1}"#;
        assert_eq!(parse(nulls).unwrap().mode, Mode::Stdio);
    }

    #[test]
    fn every_field_of_the_record_is_read() {
        let spec = parse(
            r#"{"name": "n", "args": ["a", "{{port}}"], "mode": "tcp-callback", "connectionTimeoutSeconds": 3,
                "env": [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "C", "value": null}]}"#,
        )
        .unwrap();
        assert_eq!((spec.mode, spec.connection_timeout.as_secs(), spec.env.len()), (Mode::TcpCallback, 3, 3));
        assert_eq!(spec.env[2].value, None);
    }

    #[test]
    fn a_record_that_cannot_work_is_refused_with_the_reason() {
        for (json, reason) in [
            (r#"{"args": []}"#, "\"args\" is empty"),
            (r#"{"args": [""]}"#, "\"args\" is empty"),
            (r#"{"args": ["a"], "connectionTimeoutSeconds": 0}"#, "more than 0"),
            (r#"{"args": ["a"], "connectionTimeoutSeconds": -1}"#, "more than 0"),
            (r#"{"args": ["a"], "mode": "carrier-pigeon"}"#, "tcp-callback"),
            (r#"{"args": ["a"], "mode": "tcp-connect"}"#, "{{port}}"),
            (r#"{"args": ["a"], "mode": "unix"}"#, "{{socket}}"),
            (r#"{"args": ["a\u0000b"]}"#, "NUL"),
            (r#"{"args": ["a"], "env": [{"name": "A=B", "value": ""}]}"#, "A=B"),
        ] {
            let error = parse(json).unwrap_err();
            assert!(error.contains(reason), "{json}: {error}");
        }
    }

    #[test]
    fn the_place_is_filled_in_wherever_it_is_named() {
        let spec = parse(r#"{"args": ["a", "{{port}}", "--at=h:{{port}}-{{port}}"], "mode": "tcp-connect"}"#)
            .unwrap();
        assert_eq!(spec.args_with("7", None), ["a", "7", "--at=h:7-7"]);
    }
}
