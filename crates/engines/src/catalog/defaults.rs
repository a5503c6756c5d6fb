//! Launch arguments that an adapter cannot do without, filled in for one launch.
//!
//! `{{cwd}}` is the launcher's folder, `{{workspace}}` the project that the program belongs to: the nearest folder above it
//! with a sign of one. Nothing is searched downwards, and neither the home folder nor the root is ever a project, since
//! adapters look through all of it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::entry::Entry;
use crate::context::Context;

const CWD: &str = "{{cwd}}";
const WORKSPACE: &str = "{{workspace}}";

/// Files and folders that stand at the top of a project.
const SIGNS: [&str; 4] = [".vscode", "package.json", "tsconfig.json", ".git"];
/// Where packages of Node.js are, each with signs of its own.
const PACKAGES: &str = "node_modules";

impl Entry {
    pub fn defaults_for(&self, launch: Option<&Map<String, Value>>, context: &Context) -> Map<String, Value> {
        let mut defaults = self.defaults.clone();
        for text in defaults.values_mut() {
            match text.as_str() {
                Some(CWD) => *text = context.cwd.to_string_lossy().into(),
                Some(WORKSPACE) => *text = workspace(launch, context).to_string_lossy().into(),
                _ => {}
            }
        }
        defaults
    }

    pub(super) fn defaults_need_launch(&self) -> bool {
        self.defaults.values().any(|value| value == WORKSPACE)
    }
}

fn workspace(launch: Option<&Map<String, Value>>, context: &Context) -> PathBuf {
    let said = |key: &str| launch?.get(key)?.as_str().map(|path| context.cwd.join(path));
    let here = || said("cwd").unwrap_or_else(|| context.cwd.clone());
    let program = said("program").and_then(|program| program.parent().map(Path::to_path_buf));
    let folder = match program {
        Some(folder) if is_of_tools(&folder, context) => here(),
        Some(folder) => folder,
        None => said("webRoot").unwrap_or_else(here),
    };
    let project = |folder: &&Path| {
        folder.parent().is_some()
            && Some(*folder) != context.home()
            && SIGNS.iter().any(|sign| folder.join(sign).exists())
    };
    folder.ancestors().find(project).map_or(folder.clone(), Path::to_path_buf)
}

/// Whether programs of a folder are run on what is elsewhere: their own project, if they have one, is nobody's who runs them.
fn is_of_tools(folder: &Path, context: &Context) -> bool {
    let in_path =
        || context.var("PATH").is_some_and(|path| std::env::split_paths(path).any(|one| one == folder));
    folder.components().any(|part| part.as_os_str() == PACKAGES) || in_path()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use serde_json::json;

    #[test]
    fn the_workspace_is_the_project_of_the_program_and_never_the_home_folder() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("work/shop");
        std::fs::create_dir_all(project.join("src/deep")).unwrap();
        std::fs::write(home.path().join("package.json"), "{}").unwrap();
        let context = Context {
            cwd: home.path().join("work"),
            env: vec![("HOME".into(), home.path().into()), ("PATH".into(), "/no/bin:/no/tools".into())],
            umask: 0o022,
        };
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("node").unwrap();
        assert!(entry.starts_with_launch());
        let told = |launch: Value| {
            let defaults = entry.defaults_for(launch.as_object(), &context);
            assert_eq!(defaults["cwd"], context.cwd.to_str().unwrap());
            PathBuf::from(defaults["__workspaceFolder"].as_str().unwrap())
        };
        let program = json!({"program": "shop/src/deep/a.ts"});
        assert_eq!(told(program.clone()), project.join("src/deep"), "there is no sign of a project");
        std::fs::write(project.join("package.json"), "{}").unwrap();
        assert_eq!(told(program), project);
        assert_eq!(told(json!({"url": "http://localhost", "webRoot": "shop/src"})), project);
        assert_eq!(told(json!({})), context.cwd);
        let package = project.join("node_modules/runner");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("package.json"), "{}").unwrap();
        for tool in ["shop/node_modules/runner/run.js", "/no/tools/runner"] {
            assert_eq!(told(json!({"program": tool, "cwd": "shop/src"})), project, "{tool}");
        }
    }
}
