//! What each type of launch configuration means to a debug adapter.
//!
//! The members of a configuration are the orchestrator's, those of a launch are the adapter's. Which adapter is installed is
//! not looked up here.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use breakroom_ide_protocol::{LaunchConfiguration, Mode, RunSession};
use serde_json::{Map, Value, json};

/// One type of launch configuration.
#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    /// The type of the launch, by which the adapter is found.
    pub launch: &'static str,
    /// The members that may name the program; the first that is there counts.
    program: &'static [&'static str],
    /// The member that names a module in the place of a program.
    module: Option<&'static str>,
    /// The member that names the interpreter, and the launch's.
    interpreter: Option<(&'static str, &'static str)>,
    /// The member that names the folder to run in. Without it, that is the program's.
    folder: Option<&'static str>,
    built: Built,
    /// Whether its adapter reports the process.
    pub reports_process: bool,
}

/// Whether the program is a project, from which the program to run is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Built {
    No,
    ByDotnet,
}

pub const KINDS: [Kind; 3] = [
    Kind {
        name: "python",
        launch: "python",
        program: &["program_path", "project_path"],
        module: Some("module"),
        interpreter: Some(("interpreter_path", "python")),
        folder: Some("working_directory"),
        built: Built::No,
        reports_process: true,
    },
    Kind {
        name: "node",
        launch: "pwa-node",
        program: &["script_path"],
        module: None,
        interpreter: Some(("runtime_executable", "runtimeExecutable")),
        folder: Some("working_directory"),
        built: Built::No,
        reports_process: false,
    },
    Kind {
        name: "project",
        launch: "coreclr",
        program: &["project_path"],
        module: None,
        interpreter: None,
        folder: Some("working_directory"),
        built: Built::ByDotnet,
        reports_process: true,
    },
];

/// A launch for an adapter.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// What people call the service.
    pub name: String,
    pub arguments: Map<String, Value>,
    pub reports_process: bool,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    #[error("the launch configuration of type {kind:?} names no program; set {members}")]
    NoProgram { kind: &'static str, members: String },
    #[error("{} is not built: {pattern} does not exist; run `dotnet build` first", project.display())]
    NotBuilt { project: PathBuf, pattern: String },
}

impl Kind {
    pub fn named(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// The launch for the first configuration of a request, which has this type.
    pub fn launch(
        &self,
        configuration: &LaunchConfiguration,
        request: &RunSession,
    ) -> Result<Launch, ConfigurationError> {
        let mut arguments = Map::new();
        let mut set = |member: &str, value: Value| arguments.insert(member.to_owned(), value);
        let module = self.module.and_then(|member| configuration.text(member));
        let program = self.program.iter().find_map(|member| configuration.text(member));
        let (name, own_folder) = match (module, program) {
            (Some(module), _) => {
                set("module", module.into());
                (module.to_owned(), None)
            }
            (None, Some(program)) => {
                let program = self.runnable(Path::new(program))?;
                set("program", program.to_string_lossy().into());
                let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
                let folder = program.parent().filter(|folder| folder.is_absolute());
                (name.into_owned(), folder.map(Path::to_path_buf))
            }
            (None, None) => return Err(self.no_program()),
        };
        let folder = self.folder.and_then(|member| configuration.text(member)).map(PathBuf::from);
        if let Some(folder) = folder.or(own_folder) {
            set("cwd", folder.to_string_lossy().into());
        }
        if let Some((member, argument)) = self.interpreter
            && let Some(interpreter) = configuration.text(member)
        {
            set(argument, interpreter.into());
        }
        let env = request.env.iter().flatten();
        let env: Map<_, _> = env.map(|one| (one.name.clone(), one.value.clone().into())).collect();
        set("type", self.launch.into());
        set("request", "launch".into());
        set("name", name.clone().into());
        set("args", json!(request.args.clone().unwrap_or_default()));
        set("env", env.into());
        set("console", "internalConsole".into());
        if configuration.mode() == Mode::NoDebug {
            set("noDebug", true.into());
        }
        Ok(Launch { name, arguments, reports_process: self.reports_process })
    }

    fn no_program(&self) -> ConfigurationError {
        let members = self.program.iter().chain(self.module.iter()).map(|member| format!("\"{member}\""));
        ConfigurationError::NoProgram { kind: self.name, members: members.collect::<Vec<_>>().join(" or ") }
    }

    /// What is started for a program: of a project, what was built last of it.
    fn runnable(&self, program: &Path) -> Result<PathBuf, ConfigurationError> {
        let is_built = program.extension().is_some_and(|extension| extension == "dll");
        if self.built == Built::No || is_built {
            return Ok(program.to_path_buf());
        }
        let name = format!("{}.dll", program.file_stem().unwrap_or_default().to_string_lossy());
        let builds = program.parent().unwrap_or(Path::new("")).join("bin/Debug");
        let folders = std::fs::read_dir(&builds).into_iter().flatten().flatten();
        let outputs = folders.map(|folder| folder.path().join(&name)).filter(|output| output.is_file());
        let changed = |output: &PathBuf| {
            output.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
        };
        outputs.max_by_key(changed).ok_or_else(|| ConfigurationError::NotBuilt {
            project: program.to_path_buf(),
            pattern: builds.join("*").join(&name).to_string_lossy().into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(text: &str) -> Result<Launch, ConfigurationError> {
        let request: RunSession = serde_json::from_str(text).unwrap();
        let configuration = request.configuration().unwrap();
        Kind::named(configuration.kind()).unwrap().launch(configuration, &request)
    }

    fn arguments(text: &str) -> Value {
        Value::Object(launch(text).unwrap().arguments)
    }

    #[test]
    fn row_04_27_python_script_runs_in_its_folder_with_the_environment_of_the_request() {
        let arguments = arguments(
            r#"{"launch_configurations": [{"type": "python", "program_path": "/a/b/app.py",
                "interpreter_path": "/venv/bin/python", "extra": 1}],
                "env": [{"name": "A"}, {"name": "B", "value": "1"}], "args": ["--port", "1"]}"#,
        );
        let expected = json!({
            "type": "python", "request": "launch", "name": "app.py", "program": "/a/b/app.py", "cwd": "/a/b",
            "python": "/venv/bin/python", "args": ["--port", "1"], "env": {"A": "", "B": "1"},
            "console": "internalConsole",
        });
        assert_eq!(arguments, expected);
    }

    #[test]
    fn python_module_needs_no_program_and_project_path_is_the_older_name_of_one() {
        let module = arguments(r#"{"launch_configurations": [{"type": "python", "module": "uvicorn"}]}"#);
        assert_eq!(
            (&module["module"], &module["program"], &module["cwd"]),
            (&json!("uvicorn"), &Value::Null, &Value::Null)
        );
        let older =
            arguments(r#"{"launch_configurations": [{"type": "python", "project_path": "/a/app.py"}]}"#);
        assert_eq!(older["program"], "/a/app.py");
    }

    #[test]
    fn node_script_runs_in_its_working_directory_and_undebugged_on_request() {
        let arguments = arguments(
            r#"{"launch_configurations": [{"type": "node", "script_path": "/a/app.js", "mode": "NoDebug",
                "runtime_executable": "/n/node", "working_directory": "/w"}]}"#,
        );
        assert_eq!((&arguments["type"], &arguments["cwd"]), (&json!("pwa-node"), &json!("/w")));
        assert_eq!(
            (&arguments["runtimeExecutable"], &arguments["noDebug"]),
            (&json!("/n/node"), &json!(true))
        );
    }

    #[test]
    fn configuration_without_a_program_is_refused_with_the_members_that_name_one() {
        let error = launch(r#"{"launch_configurations": [{"type": "python"}]}"#).unwrap_err().to_string();
        assert!(error.contains(r#""program_path" or "project_path" or "module""#), "{error}");
    }

    #[test]
    fn row_04_28_project_runs_what_was_built_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("Shop.csproj");
        let request = |path: &Path| {
            format!(r#"{{"launch_configurations": [{{"type": "project", "project_path": {path:?}}}]}}"#)
        };
        let error = launch(&request(&project)).unwrap_err().to_string();
        assert!(error.contains("Shop.csproj") && error.contains("dotnet build"), "{error}");
        let output = folder.path().join("bin/Debug/net8.0");
        std::fs::create_dir_all(&output).unwrap();
        std::fs::write(output.join("Shop.dll"), "").unwrap();
        let built = arguments(&request(&project));
        assert_eq!(built["program"], *output.join("Shop.dll").to_string_lossy());
    }
}
