//! Which compilers made the programs that a session launches, where an engine needs other words for them.
//!
//! To know it a file is read, and that is done while nobody else is kept waiting: as a part of preparing a launch, or of
//! choosing its adapter. The session's own thread only asks what was found.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use breakroom_engines::{Entry, Maker};
use serde_json::{Map, Value};

#[derive(Clone, Default)]
pub(crate) struct Makers {
    /// The compilers that matter to engines of some types.
    matter: Arc<[(Vec<String>, Vec<String>)]>,
    found: Arc<Mutex<HashMap<(PathBuf, String), Maker>>>,
}

impl Makers {
    pub fn that_matter(entries: &[Entry]) -> Self {
        let judging = entries.iter().filter(|entry| !entry.defaults_when.is_empty());
        let names = |entry: &Entry| entry.types.iter().chain([&entry.name]).cloned().collect();
        let matter = judging.map(|entry| (names(entry), compilers(entry))).collect();
        Makers { matter, found: Arc::default() }
    }

    /// Whether something has to be looked at before this can be launched. An engine that is chosen by the launch is not
    /// there yet, and looks itself.
    pub fn are_wanted_for(&self, arguments: &Value) -> bool {
        let kind = arguments["type"].as_str();
        arguments["program"].is_string() && kind.is_some_and(|kind| self.of_type(kind).next().is_some())
    }

    /// Looks at the program of a launch for the engines of its type.
    pub fn look_for_type(&self, arguments: &Value, folder: &Path) {
        let Some(arguments) = arguments.as_object() else { return };
        if let Some(kind) = arguments.get("type").and_then(Value::as_str) {
            self.of_type(kind).for_each(|compilers| self.look(arguments, compilers, folder));
        }
    }

    /// The same for one engine.
    pub fn look_for(&self, entry: &Entry, arguments: &Map<String, Value>, folder: &Path) {
        self.look(arguments, &compilers(entry), folder);
    }

    /// What was found. Nothing is read.
    pub fn of(&self, program: &Path, compiler: &str) -> Maker {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(&(program.to_owned(), compiler.to_owned())).copied().unwrap_or(Maker::Unknown)
    }

    fn look(&self, arguments: &Map<String, Value>, compilers: &[String], folder: &Path) {
        let Some(program) = arguments.get("program").and_then(Value::as_str) else { return };
        let program = folder.join(program);
        for compiler in compilers {
            let maker = Maker::of(&program, compiler);
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.insert((program.clone(), compiler.clone()), maker);
        }
    }

    fn of_type(&self, kind: &str) -> impl Iterator<Item = &Vec<String>> {
        let goes_by = move |names: &[String]| names.iter().any(|name| name.eq_ignore_ascii_case(kind));
        self.matter.iter().filter(move |(names, _)| goes_by(names)).map(|(_, compilers)| compilers)
    }
}

fn compilers(entry: &Entry) -> Vec<String> {
    entry.defaults_when.iter().map(|when| when.made_by.clone()).collect()
}
