//! What a configuration runs its program with: an interpreter out of the project is run only if the project is trusted.
//!
//! The program itself is what the user asks for by the configuration's name. Tasks and adapters are judged elsewhere.

use std::path::{Path, PathBuf};

use breakroom_engines::{Context, Trust, inside};
use serde_json::Value;

use crate::build::Arguments;
use crate::editor::Editor;
use crate::failure::Failure;
use crate::python;

/// Members that name an interpreter, for a program that another member names.
const MEMBERS: [&str; 4] = ["python", "pythonPath", "debugLauncherPython", "runtimeExecutable"];
/// Tools that a package manager has put into the project. They are found there without being named, too.
const TOOLS: &str = "node_modules/.bin";
/// What such paths lead to is not the same for every process.
const ELUSIVE: [&str; 2] = ["/proc", "/dev"];

/// Refuses an interpreter of a project that is not trusted.
pub fn check(
    user: &str,
    configuration: &Arguments,
    editor: &Editor,
    context: &Context,
) -> Result<(), Failure> {
    let has_program = ["program", "module", "code"].iter().any(|key| configuration.contains_key(*key));
    if editor.folder.trust == Trust::Trusted || !has_program {
        return Ok(());
    }
    let workspace = editor.folder.workspace();
    let named = MEMBERS.iter().filter_map(|key| Some((key, program(configuration.get(*key)?)?)));
    let mut ours = named.filter(|(_, program)| is_of_project(program, workspace, context));
    let Some((key, program)) = ours.next() else { return Ok(()) };
    let folder = editor.folder.path.display();
    Err(Failure::said(format!(
        "{user} runs its program with {program} (`{key}`), and {folder} is not trusted. Look at its launch.json and at that file, then: breakroom trust {folder}"
    )))
}

/// The first word, where a list has arguments of the interpreter as well.
fn program(said: &Value) -> Option<&str> {
    match said {
        Value::Array(words) => words.first()?.as_str(),
        said => said.as_str(),
    }
}

fn is_of_project(program: &str, workspace: &Path, context: &Context) -> bool {
    // A bare name is one in PATH.
    if !program.contains('/') {
        return false;
    }
    let path = Path::new(program);
    if path.is_relative() || ELUSIVE.iter().any(|elusive| path.starts_with(elusive)) {
        return true;
    }
    // Where the file is, and not where it leads if it is a link: the project has chosen that.
    let Some(folder) = path.parent().and_then(|folder| folder.canonicalize().ok()) else { return false };
    folder.starts_with(workspace) && !is_usual(&folder, workspace, context)
}

/// Whether programs of that folder are run also for a project that names none.
fn is_usual(folder: &Path, workspace: &Path, context: &Context) -> bool {
    let environment = || python::environment_of(&inside(workspace), workspace, context);
    let is_environments = |environment: PathBuf| {
        environment.join("bin").canonicalize().is_ok_and(|programs| programs == folder)
    };
    folder.ends_with(TOOLS) || environment().is_some_and(is_environments)
}
