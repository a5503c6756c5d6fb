//! Breakpoints: DAP sends all of a file at once, the runtime takes each by itself and says nothing.
//!
//! A file below the client's folder is named relative to it with forward slashes, because runtimes name their scripts so.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use breakroom_adapter::Request;
use breakroom_remote_runtime::{Breakpoint, Command, has_parent_steps, resolve, same_file};
use serde_json::{Value, json};

use crate::adapter::Adapter;

#[derive(Debug, Default)]
pub struct Breakpoints {
    /// What relative paths of the runtime are relative to.
    pub folder: Option<PathBuf>,
    /// By the path that the client uses.
    by_path: BTreeMap<String, Vec<Known>>,
    last_id: i64,
}

#[derive(Debug, Clone, PartialEq)]
struct Known {
    id: i64,
    sent: Breakpoint,
}

impl<W: Write> Adapter<W> {
    pub fn set_breakpoints(&mut self, request: &Request) -> std::io::Result<()> {
        let path = request.arguments["source"]["path"].as_str().unwrap_or_default().to_owned();
        if path.is_empty() {
            return self.client.fail(request, "the source has no path");
        }
        let asked = request.arguments["breakpoints"].as_array().cloned().unwrap_or_default();
        let (commands, answers) = self.breakpoints.change(&path, &asked);
        for command in &commands {
            self.notify(command);
        }
        self.client.respond(request, json!({"breakpoints": answers}))
    }
}

impl Breakpoints {
    /// What the runtime is to be told, and what the client is answered.
    fn change(&mut self, path: &str, asked: &[Value]) -> (Vec<Command>, Vec<Value>) {
        let before = self.by_path.remove(path).unwrap_or_default();
        let file = self.runtime_path(path);
        let (mut now, mut commands, mut answers): (Vec<Known>, _, _) = (Vec::new(), Vec::new(), Vec::new());
        for asked in asked {
            let line = asked["line"].as_i64().unwrap_or(0);
            if line < 1 {
                answers.push(json!({"verified": false, "message": "lines are counted from 1"}));
                continue;
            }
            let sent = breakpoint(&file, line, asked["condition"].as_str().unwrap_or_default());
            let known = before.iter().find(|known| known.sent.line == line);
            let id = known.map_or_else(
                || {
                    self.last_id += 1;
                    self.last_id
                },
                |known| known.id,
            );
            if known.is_none_or(|known| known.sent != sent) {
                commands.push(Command::SetBreakpoint(sent.clone()));
            }
            answers.push(json!({"id": id, "verified": true, "line": line}));
            now.push(Known { id, sent });
        }
        let gone = before.iter().filter(|known| now.iter().all(|now| now.sent.line != known.sent.line));
        let gone = gone
            .map(|known| Command::RemoveBreakpoint { file: known.sent.file.clone(), line: known.sent.line });
        commands.splice(0..0, gone.collect::<Vec<_>>());
        if !now.is_empty() {
            self.by_path.insert(path.to_owned(), now);
        }
        (commands, answers)
    }

    /// The ids of the breakpoints at this place.
    pub fn at(&self, file: &str, line: i64) -> Vec<i64> {
        let path = self.client_path(file);
        let all = self.by_path.iter().flat_map(|(client, known)| known.iter().map(move |one| (client, one)));
        let here = all.filter(|(client, known)| {
            known.sent.line == line && (same_file(&known.sent.file, file) || **client == path)
        });
        here.map(|(_, known)| known.id).collect()
    }

    fn runtime_path(&self, path: &str) -> String {
        // The protocol allows no `..`.
        let resolved = has_parent_steps(path).then(|| Path::new(path).canonicalize().ok()).flatten();
        let path = resolved.unwrap_or_else(|| PathBuf::from(path));
        let relative = self.folder.as_ref().and_then(|folder| path.strip_prefix(folder).ok());
        relative.unwrap_or(&path).to_string_lossy().into_owned()
    }

    /// The path that a client can open. One that names no file here stays as the runtime has it.
    pub fn client_path(&self, file: &str) -> String {
        // As the client spells it, if it has set a breakpoint there.
        let set =
            self.by_path.iter().find(|(_, known)| known.iter().any(|one| same_file(&one.sent.file, file)));
        if let Some((path, _)) = set {
            return path.clone();
        }
        let folder = self.folder.as_deref().unwrap_or(Path::new("/"));
        let found = resolve(file, folder, &names);
        found.map_or_else(|| file.to_owned(), |path| path.to_string_lossy().into_owned())
    }
}

fn breakpoint(file: &str, line: i64, condition: &str) -> Breakpoint {
    let kind = if condition.is_empty() { Breakpoint::NO_CONDITION } else { Breakpoint::EXPRESSION };
    Breakpoint {
        file: file.to_owned(),
        line,
        function: String::new(),
        function_line_offset: 0,
        enabled: true,
        condition_type: kind.to_owned(),
        condition: condition.to_owned(),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_sent() {
        let mut breakpoints = Breakpoints { folder: Some("/game".into()), ..Breakpoints::default() };
        let sent = |commands: Vec<Command>| -> Vec<String> {
            commands
                .into_iter()
                .map(|command| match command {
                    Command::SetBreakpoint(one) => format!("set {}:{} {}", one.file, one.line, one.condition),
                    Command::RemoveBreakpoint { file, line } => format!("remove {file}:{line}"),
                    other => other.name(),
                })
                .collect()
        };
        let path = "/game/Script/new.as";
        let (commands, answers) = breakpoints.change(path, &[json!({"line": 3}), json!({"line": 5})]);
        assert_eq!(sent(commands), ["set Script/new.as:3 ", "set Script/new.as:5 "]);
        assert_eq!(answers[1], json!({"id": 2, "verified": true, "line": 5}));
        let (commands, answers) =
            breakpoints.change(path, &[json!({"line": 5, "condition": "n > 1"}), json!({"line": 0})]);
        assert_eq!(sent(commands), ["remove Script/new.as:3", "set Script/new.as:5 n > 1"]);
        assert_eq!((&answers[0]["id"], &answers[1]["verified"]), (&json!(2), &json!(false)));
        assert_eq!(breakpoints.at("SCRIPT\\NEW.AS", 5), [2]);
        assert_eq!(breakpoints.client_path("script/new.as"), path);
        let (commands, _) = breakpoints.change(path, &[]);
        assert_eq!(sent(commands), ["remove Script/new.as:5"]);
        assert!(breakpoints.at(path, 5).is_empty());
    }
}
