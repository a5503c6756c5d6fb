//! What could be run from a folder: the configurations of its editor files and the programs of its projects, each with the
//! words to type; or else the files in it.
//!
//! Only files are read: nobody has said yet that anything of this folder may run, not even its build tool.

use std::path::Path;

use breakroom_engines::{Catalog, Context};

use crate::build::Arguments;
use crate::choice::Choice;
use crate::editor::{Editor, Found};
use crate::failure::Failure;
use crate::project::{self, Seen};

/// More files than this say nothing about which one is meant.
const MOST_FILES: usize = 20;

/// One thing that could be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runnable {
    /// What is typed behind `breakroom run`.
    pub words: Vec<String>,
    pub what: String,
}

/// All of a folder.
pub struct Listing {
    pub all: Vec<Runnable>,
    /// Why its configurations are not among them.
    pub unread: Option<Failure>,
}

pub fn runnable(folder: &Path, context: &Context) -> Result<Listing, Failure> {
    let mut all = Vec::new();
    // Configurations that are not in order still let everything else be run.
    let (editor, unread) = match Editor::load(folder, context) {
        Ok(editor) => (editor, None),
        Err(failure) => (None, Some(failure)),
    };
    if let Some(editor) = editor {
        let words = |name: String| vec!["-c".to_owned(), name];
        all.extend(
            editor.names().into_iter().map(|named| Runnable { words: words(named.name), what: named.what }),
        );
    }
    // A project that is not in order still lets its configurations be seen.
    let seen = match project::seen(folder, context) {
        Err(failure) if all.is_empty() => return Err(failure),
        seen => seen.unwrap_or_default(),
    };
    let several = seen.len() > 1;
    for one in seen {
        let folder = ".".to_owned();
        let (words, what) = match one {
            Seen::Program(Choice { name, what }) if several => {
                (vec!["--target".to_owned(), name, folder], what)
            }
            Seen::Program(Choice { what, .. }) => (vec![folder], what),
            Seen::Project(what) => (vec![folder], what.to_owned()),
        };
        all.push(Runnable { words, what });
    }
    if all.is_empty() {
        all = files(folder, context);
    }
    match unread {
        Some(failure) if all.is_empty() => Err(failure),
        unread => Ok(Listing { all, unread }),
    }
}

/// The types of debuggers that a configuration, or the members of a compound, are for.
pub fn types_of(name: &str, context: &Context) -> Result<Vec<String>, Failure> {
    let Some(editor) = Editor::load(&context.cwd, context)? else { return Ok(Vec::new()) };
    let members = match editor.find(name)? {
        Found::One(configuration) => vec![configuration],
        Found::Compound { members, .. } => members,
    };
    let kind = |member: &Arguments| member.get("type").and_then(serde_json::Value::as_str).map(str::to_owned);
    Ok(members.iter().filter_map(kind).collect())
}

/// The files of a folder that somebody debugs. Nothing is searched below it.
fn files(folder: &Path, context: &Context) -> Vec<Runnable> {
    let (Ok(catalog), Ok(entries)) = (Catalog::load(context), std::fs::read_dir(folder)) else {
        return Vec::new();
    };
    let names = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    let runnable = |name: String| {
        let path = folder.join(&name);
        let debugger = catalog.by_file(&path).ok().or_else(|| catalog.by_source(&path))?;
        Some(Runnable { what: debugger.languages.join(", "), words: vec![name] })
    };
    names.into_iter().filter_map(runnable).take(MOST_FILES).collect()
}

/// The request that a configuration is for: `launch` or `attach`.
pub fn request_of(name: &str, context: &Context) -> Result<String, Failure> {
    let Some(editor) = Editor::load(&context.cwd, context)? else { return Ok("launch".to_owned()) };
    Ok(match editor.find(name)? {
        Found::One(configuration) => {
            configuration.get("request").and_then(serde_json::Value::as_str).unwrap_or("launch").to_owned()
        }
        Found::Compound { .. } => "launch".to_owned(),
    })
}
