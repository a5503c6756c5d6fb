//! What an editor's extension would make of a configuration before the debugger sees it.
//!
//! Each type has a row. Only what the debugger itself does not understand is changed.

use std::path::Path;

use breakroom_engines::Context;
use serde_json::{Map, Value};

use crate::build::{Arguments, NODE, folder_with, knows};

type Fit = fn(&mut Arguments, &Path, &Context);

const ROWS: &[(&[&str], Fit)] = &[
    (&["go", "delve", "dlv"], go),
    (&["cppdbg"], cppdbg),
    (NODE, node),
    (&["chrome", "pwa-chrome", "msedge", "pwa-msedge"], node),
    (&["python", "debugpy", "lldb", "codelldb", "ruby", "rdbg", "perl", "ez"], in_workspace),
];

pub fn fit(arguments: &mut Arguments, workspace: &Path, context: &Context) {
    let Some(kind) = arguments.get("type").and_then(Value::as_str).map(str::to_owned) else { return };
    let rows = ROWS.iter().filter(|(kinds, _)| knows(kinds, &kind));
    rows.for_each(|(_, fit)| fit(arguments, workspace, context));
}

/// Programs start in the workspace's folder unless something else is said.
fn in_workspace(arguments: &mut Arguments, workspace: &Path, _: &Context) {
    if arguments.get("request").is_none_or(|request| request == "launch") {
        arguments.entry("cwd").or_insert_with(|| workspace.to_string_lossy().into_owned().into());
    }
}

/// js-debug looks for source maps only below the workspace that it is told.
fn node(arguments: &mut Arguments, workspace: &Path, context: &Context) {
    arguments.entry("__workspaceFolder").or_insert_with(|| workspace.to_string_lossy().into_owned().into());
    in_workspace(arguments, workspace, context);
}

/// Delve knows no `auto`, and builds only from within the module.
fn go(arguments: &mut Arguments, workspace: &Path, context: &Context) {
    if arguments.get("request").is_some_and(|request| request != "launch") {
        return;
    }
    let program = arguments.get("program").and_then(Value::as_str).map(|program| context.cwd.join(program));
    let is_test = program.as_ref().is_some_and(|program| program.to_string_lossy().ends_with("_test.go"));
    let mode = arguments.get("mode").and_then(Value::as_str).unwrap_or("auto");
    let mode = if mode == "auto" { if is_test { "test" } else { "debug" } } else { mode }.to_owned();
    arguments.insert("mode".to_owned(), mode.as_str().into());
    if !["debug", "test"].contains(&&*mode) {
        return;
    }
    let program = program.unwrap_or_else(|| workspace.to_path_buf());
    let is_file = program.extension().is_some_and(|extension| extension == "go");
    // The folder itself counts: it may be the module's.
    let module = folder_with(&program.join("."), "go.mod", context)
        .or_else(|| folder_with(&program, "go.mod", context));
    let folder = if is_file { program.parent().unwrap_or(&program) } else { &program };
    let text = |path: &Path| Value::from(path.to_string_lossy().into_owned());
    arguments.insert("program".to_owned(), text(if is_file && module.is_none() { &program } else { folder }));
    arguments.entry("dlvCwd").or_insert_with(|| text(module.as_deref().unwrap_or(folder)));
}

/// Microsoft's C++ debugger spells these in its own way.
fn cppdbg(arguments: &mut Arguments, _: &Path, _: &Context) {
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
    use serde_json::json;

    fn fitted(mut arguments: Value, folder: &Path) -> Value {
        let context = Context { cwd: folder.into(), env: vec![], umask: 0o022 };
        fit(arguments.as_object_mut().unwrap(), folder, &context);
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
