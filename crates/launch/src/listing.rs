//! What could be run from a folder: the configurations of its editor files and the programs of its projects, each with the
//! words to type.

use std::path::Path;

use crate::editor::{Editor, Found};
use crate::failure::Failure;
use crate::project;
use crate::workshop::Workshop;

/// One thing that could be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runnable {
    /// What is typed behind `breakroom run`.
    pub words: Vec<String>,
    pub what: String,
}

pub async fn runnable(folder: &Path, workshop: &Workshop<'_>) -> Result<Vec<Runnable>, Failure> {
    let mut all = Vec::new();
    if let Some(editor) = Editor::load(folder, workshop.context)? {
        let words = |name: String| vec!["-c".to_owned(), name];
        all.extend(
            editor.names().into_iter().map(|named| Runnable { words: words(named.name), what: named.what }),
        );
    }
    // A project that is not in order still lets its configurations be seen.
    let programs = match project::programs(folder, None, workshop).await {
        Err(failure) if all.is_empty() => return Err(failure),
        programs => programs.unwrap_or_default(),
    };
    let several = programs.len() > 1;
    for program in programs {
        let mut words = vec![".".to_owned()];
        if several {
            words.extend(["--target".to_owned(), program.choice.name]);
        }
        all.push(Runnable { words, what: program.choice.what });
    }
    Ok(all)
}

/// The request that a configuration is for: `launch` or `attach`.
pub fn request_of(name: &str, workshop: &Workshop<'_>) -> Result<String, Failure> {
    let context = workshop.context;
    let Some(editor) = Editor::load(&context.cwd, context)? else { return Ok("launch".to_owned()) };
    Ok(match editor.find(name)? {
        Found::One(configuration) => {
            configuration.get("request").and_then(serde_json::Value::as_str).unwrap_or("launch").to_owned()
        }
        Found::Compound { .. } => "launch".to_owned(),
    })
}
