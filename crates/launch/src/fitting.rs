//! What an editor's extension would make of a configuration before the debugger sees it.
//!
//! Each type has a row. Only what the debugger itself does not understand is changed.

use std::path::{Path, PathBuf};

use breakroom_engines::{folder_with, inside};
use serde_json::{Map, Value};

use crate::build::{Arguments, NODE, knows};
use crate::variables::Surroundings;

type Fit = fn(&mut Arguments, &Surroundings);

const ROWS: &[(&[&str], Fit)] = &[
    (&["go", "delve", "dlv"], go),
    (&["cppdbg"], cppdbg),
    (NODE, node),
    (NODE, in_one_place),
    (&["chrome", "pwa-chrome", "msedge", "pwa-msedge"], node),
    (&["java", "jdi"], java),
    (&["python", "debugpy", "lldb", "codelldb", "ruby", "rdbg", "perl", "ez"], in_workspace),
];

/// Debuggers that begin without looking for their script, and what its name may leave out.
const SCRIPTS: &[(&[&str], &[&str])] =
    &[(NODE, &["", ".js", ".json", ".node"]), (&["python", "debugpy"], &[""])];

/// Where the sources of Java are, below a workspace.
const JAVA_SOURCES: [&str; 4] = ["", "src", "src/main/java", "app/src/main/java"];

/// The script of a launch, if it is not there.
pub fn missing(arguments: &Arguments, workspace: &Path) -> Option<PathBuf> {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let (_, endings) =
        SCRIPTS.iter().find(|(kinds, _)| text("type").is_some_and(|kind| knows(kinds, kind)))?;
    // Another runtime may take anything, and so may this one by its options; another machine has files of its own.
    let takes_more = ["runtimeExecutable", "runtimeArgs"].iter().any(|key| arguments.contains_key(*key));
    let own = arguments.get("breakroom").unwrap_or(&Value::Null);
    let is_elsewhere = ["adapter", "pathMap"].iter().any(|key| !own[*key].is_null());
    if !is_launch(arguments) || takes_more || is_elsewhere {
        return None;
    }
    let script = workspace.join(text("cwd").unwrap_or_default()).join(text("program")?);
    let named = script.to_string_lossy();
    let is_there = endings.iter().any(|ending| Path::new(&format!("{named}{ending}")).exists());
    (!is_there).then(|| script.clone())
}

pub fn fit(arguments: &mut Arguments, around: &Surroundings) {
    let Some(kind) = arguments.get("type").and_then(Value::as_str).map(str::to_owned) else { return };
    let rows = ROWS.iter().filter(|(kinds, _)| knows(kinds, &kind));
    rows.for_each(|(_, fit)| fit(arguments, around));
}

/// Programs start in the workspace's folder unless something else is said.
fn in_workspace(arguments: &mut Arguments, around: &Surroundings) {
    if is_launch(arguments) {
        arguments.entry("cwd").or_insert_with(|| text(around.workspace));
    }
}

fn is_launch(arguments: &Arguments) -> bool {
    arguments.get("request").is_none_or(|request| request == "launch")
}

fn text(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

/// js-debug looks for source maps only below the workspace that it is told.
fn node(arguments: &mut Arguments, around: &Surroundings) {
    arguments.entry("__workspaceFolder").or_insert_with(|| text(around.workspace));
    in_workspace(arguments, around);
}

/// js-debug tells only what goes through `console` unless it is asked for the rest, such as what tests print.
fn in_one_place(arguments: &mut Arguments, _: &Surroundings) {
    let has_terminal = arguments.get("console").is_some_and(|console| console != "internalConsole");
    if is_launch(arguments) && !has_terminal {
        arguments.entry("outputCapture").or_insert_with(|| "std".into());
    }
}

/// Delve knows no `auto`, and builds only from within the module. In the folder of a test that is looked at, its tests are meant.
fn go(arguments: &mut Arguments, around: &Surroundings) {
    if !is_launch(arguments) {
        return;
    }
    let context = around.context;
    let program = arguments.get("program").and_then(Value::as_str).map(|program| context.cwd.join(program));
    let looked_at = around.file.as_ref().filter(|file| file.parent() == program.as_deref());
    let is_test = [program.as_ref(), looked_at]
        .into_iter()
        .flatten()
        .any(|path| path.to_string_lossy().ends_with("_test.go"));
    let mode = arguments.get("mode").and_then(Value::as_str).unwrap_or("auto");
    let mode = if mode == "auto" { if is_test { "test" } else { "debug" } } else { mode }.to_owned();
    arguments.insert("mode".to_owned(), mode.as_str().into());
    if !["debug", "test"].contains(&&*mode) {
        return;
    }
    let program = program.unwrap_or_else(|| around.workspace.to_path_buf());
    let is_file = program.extension().is_some_and(|extension| extension == "go");
    // The folder itself counts: it may be the module's.
    let module = folder_with(&inside(&program), "go.mod", context)
        .or_else(|| folder_with(&program, "go.mod", context));
    let folder = if is_file { program.parent().unwrap_or(&program) } else { &program };
    arguments.insert("program".to_owned(), text(if is_file && module.is_none() { &program } else { folder }));
    arguments.entry("dlvCwd").or_insert_with(|| text(module.as_deref().unwrap_or(folder)));
}

/// An editor's extension knows where the classes of its projects are. Here the source is compiled, if nobody says where.
fn java(arguments: &mut Arguments, around: &Surroundings) {
    let said = ["program", "classpath", "classPaths", "modulePaths"];
    if !is_launch(arguments) || said.iter().any(|key| arguments.contains_key(*key)) {
        return;
    }
    let Some(main) = arguments.get("mainClass").and_then(Value::as_str) else { return };
    let source = match main.ends_with(".java") {
        true => Some(around.workspace.join(main)),
        false => {
            // What is before a slash is the module's name.
            let class = main.rsplit('/').next().unwrap_or(main).replace('.', "/");
            let mut sources = JAVA_SOURCES.iter().map(|folder| around.workspace.join(folder));
            sources
                .find_map(|folder| Some(folder.join(format!("{class}.java"))).filter(|file| file.is_file()))
        }
    };
    if let Some(source) = source {
        arguments.remove("mainClass");
        arguments.insert("program".to_owned(), text(&source));
    }
}

/// Microsoft's C++ debugger spells these in its own way.
fn cppdbg(arguments: &mut Arguments, _: &Surroundings) {
    if let Some(Value::Array(variables)) = arguments.remove("environment") {
        let pair =
            |variable: &Value| Some((variable["name"].as_str()?.to_owned(), variable["value"].clone()));
        let env: Map<String, Value> = variables.iter().filter_map(pair).collect();
        arguments.entry("env").or_insert(Value::Object(env));
    }
    if let Some(stop) = arguments.remove("stopAtEntry") {
        arguments.entry("stopOnEntry").or_insert(stop);
    }
    for key in ["MIMode", "miDebuggerPath", "externalConsole", "setupCommands"] {
        arguments.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_engines::Context;
    use serde_json::json;

    fn fitted(mut arguments: Value, folder: &Path) -> Value {
        let context = Context { cwd: folder.into(), env: vec![], umask: 0o022 };
        let around = Surroundings {
            context: &context,
            workspace: folder,
            file: None,
            settings: Value::Null,
            inputs: Value::Null,
            user: String::new(),
        };
        fit(arguments.as_object_mut().unwrap(), &around);
        arguments
    }

    #[test]
    fn a_go_configuration_says_what_delve_knows() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| json!(folder.path().join(path));
        std::fs::create_dir_all(folder.path().join("m/cmd")).unwrap();
        std::fs::write(folder.path().join("m/go.mod"), "module m").unwrap();
        let file =
            fitted(json!({"type": "go", "mode": "auto", "program": at("m/cmd/main.go")}), folder.path());
        assert_eq!(file, json!({"type": "go", "mode": "debug", "program": at("m/cmd"), "dlvCwd": at("m")}));
        let test = fitted(json!({"type": "go", "program": at("m/cmd/x_test.go")}), folder.path());
        assert_eq!(test["mode"], "test");
        let root = fitted(json!({"type": "go", "mode": "debug", "program": at("m")}), folder.path());
        assert_eq!((&root["program"], &root["dlvCwd"]), (&at("m"), &at("m")));
        let lone = fitted(json!({"type": "go", "program": at("x.go")}), folder.path());
        assert_eq!(lone["program"], at("x.go"));
        let core = json!({"type": "go", "mode": "core", "program": "x"});
        assert_eq!(fitted(core.clone(), folder.path()), core);
    }

    #[test]
    fn a_cpp_configuration_is_spelt_as_others_do() {
        let arguments = json!({"type": "cppdbg", "MIMode": "gdb", "stopAtEntry": true, "externalConsole": false,
            "environment": [{"name": "A", "value": "1"}]});
        let expected = json!({"type": "cppdbg", "stopOnEntry": true, "env": {"A": "1"}});
        assert_eq!(fitted(arguments, Path::new("/")), expected);
    }
}
