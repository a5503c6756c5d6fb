//! `breakroom doctor`: which debuggers there are, and how to get the others. And `breakroom trust`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use breakroom_engines::{Catalog, CatalogError, Context, EditorFolder, Entry, Outdated};
use serde_json::{Value, json};

use breakroom_wire::{visible, visible_lines};

use crate::printing::print;

pub fn doctor(as_json: bool) -> Result<ExitCode> {
    let context = Context::of_this_process();
    let catalog = match Catalog::load(&context) {
        Ok(catalog) => catalog,
        Err(error) => {
            eprintln!("breakroom: {error}\nOnly the built-in debuggers are listed.");
            Catalog::built_in(&context)?
        }
    };
    let findings: Vec<_> = catalog.entries().iter().map(|entry| examine(entry, &context)).collect();
    let text = match as_json {
        true => format!("{:#}\n", Value::Array(findings.iter().map(Finding::to_json).collect())),
        false => findings.iter().filter(|finding| finding.is_for_people()).map(Finding::lines).collect(),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

struct Finding<'a> {
    entry: &'a Entry,
    outcome: Outcome,
}

enum Outcome {
    Found {
        path: String,
        version: Option<String>,
    },
    /// With the command that installs it, if that is what it lacks.
    Missing {
        reason: String,
        install: Option<String>,
        outdated: Option<Box<Outdated>>,
    },
}

fn examine<'a>(entry: &'a Entry, context: &Context) -> Finding<'a> {
    let outcome = match entry.find(context) {
        Ok(found) => {
            Outcome::Found { version: entry.version(&found, context), path: found.path.display().to_string() }
        }
        Err(error) => {
            let reason = error.to_string();
            let (install, outdated) = match error {
                CatalogError::NotInstalled { install, outdated, .. } => (Some(install), outdated),
                _ => (None, None),
            };
            Outcome::Missing { reason, install, outdated }
        }
    };
    Finding { entry, outcome }
}

impl Finding<'_> {
    fn to_json(&self) -> Value {
        let (path, version, reason, install) = match &self.outcome {
            Outcome::Found { path, version } => (Some(path), version.as_ref(), None, None),
            Outcome::Missing { reason, install, .. } => (None, None, Some(reason), install.as_ref()),
        };
        json!({
            "name": self.entry.name,
            "types": self.entry.types,
            "languages": self.entry.languages,
            "found": path.is_some(),
            "path": path,
            "version": version,
            "reason": reason,
            "install": install,
            "fix": install.filter(|_| !self.entry.fix.is_empty()).map(|_| format!("breakroom doctor --fix {}", self.entry.name)),
        })
    }

    /// What only starts others has no language of its own, and nobody could lack it.
    fn is_for_people(&self) -> bool {
        !self.entry.languages.is_empty()
    }

    fn lines(&self) -> String {
        // A project's catalog may call its debuggers anything.
        let name = &visible(&self.entry.name);
        let languages = format!("  ({})", visible(&self.entry.languages.join(", ")));
        match &self.outcome {
            Outcome::Found { path, version } => {
                let version = version.as_deref().unwrap_or("version unknown");
                let (version, path) = (visible(version), visible(path));
                format!("{} {name:<14} {version:<12} {path}{languages}\n", mark("ok", "32"))
            }
            Outcome::Missing { install: Some(install), outdated, .. } => {
                let problem =
                    outdated.as_ref().map_or("not found".to_owned(), |outdated| outdated.to_string());
                let ways = match self.entry.fix.is_empty() {
                    true => "   install it by hand:".to_owned(),
                    false => format!("   install it with: breakroom doctor --fix {name}\n   or by hand:"),
                };
                let (problem, install) = (visible(&problem), visible_lines(install));
                format!("{} {name:<14} {problem}{languages}\n{ways} {install}\n", mark("--", "33"))
            }
            Outcome::Missing { reason, install: None, .. } => {
                let reason = visible_lines(reason);
                format!("{} {name:<14} {reason}{languages}\n", mark("--", "33"))
            }
        }
    }
}

fn mark(text: &str, colour: &str) -> String {
    if std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\x1b[{colour}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

/// Trusts a project's own file and its editor's folder, or the one of them that is named.
pub fn trust(file: Option<PathBuf>) -> Result<ExitCode> {
    let context = Context::of_this_process();
    let named = file.is_some();
    let nearest = || Some(Catalog::load(&context).ok()?.project()?.path.clone());
    let is_editors = |path: &PathBuf| path.file_name().is_some_and(|name| name == ".vscode");
    let folder = match &file {
        Some(file) if is_editors(file) => context.cwd.join(file).parent().map(PathBuf::from),
        Some(_) => None,
        None => Some(context.cwd.clone()),
    };
    let editors = folder.map(|folder| EditorFolder::nearest(&folder, &context)).transpose()?.flatten();
    let own = file.filter(|file| !is_editors(file)).or_else(|| nearest().filter(|_| !named));
    let mut trusted = Vec::new();
    if let Some(own) = own {
        trusted.push(breakroom_engines::trust(&own, &context)?);
    }
    if let Some(editors) = editors {
        editors.trust(&context)?;
        trusted.push(editors.path);
    }
    if trusted.is_empty() {
        anyhow::bail!("there is no .breakroom.toml and no .vscode in this folder or above");
    }
    for path in trusted {
        println!("{} is trusted as it is now; a change has to be trusted again.", path.display());
    }
    Ok(ExitCode::SUCCESS)
}
