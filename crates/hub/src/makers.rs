//! Which compilers and libraries have a part in the programs that a session launches, where an engine needs other words for
//! them, and which of them have nothing for a debugger.
//!
//! To know it a file is read, and that is done while nobody else is kept waiting: as a part of preparing a launch, or of
//! choosing its adapter. The session's own thread only asks what was found.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use breakroom_engines::{DefaultsWhen, Entry, Ingredient, Maker, may_have_lines};
use breakroom_session::habits::Symbols;
use serde_json::{Map, Value};

#[derive(Clone, Default)]
pub(crate) struct Makers {
    /// What matters to engines of some types.
    matter: Arc<[(Vec<String>, Vec<Ingredient>)]>,
    found: Arc<Mutex<HashMap<(PathBuf, Ingredient), Maker>>>,
    /// Programs whose lines no debugger knows.
    without_lines: Arc<Mutex<HashSet<PathBuf>>>,
    /// Those of which that was said.
    remarked: Arc<Mutex<HashSet<PathBuf>>>,
}

impl Makers {
    pub fn that_matter(entries: &[Entry]) -> Self {
        let looks = |entry: &&Entry| entry.starting.symbols == Symbols::MissedSilently;
        let judging = entries.iter().filter(|entry| looks(entry) || !entry.defaults_when.is_empty());
        let names = |entry: &Entry| entry.types.iter().chain([&entry.name]).cloned().collect();
        let matter = judging.map(|entry| (names(entry), ingredients(entry))).collect();
        Makers { matter, ..Makers::default() }
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
            self.of_type(kind).for_each(|ingredients| self.look(arguments, ingredients, folder));
        }
    }

    /// The same for one engine.
    pub fn look_for(&self, entry: &Entry, arguments: &Map<String, Value>, folder: &Path) {
        self.look(arguments, &ingredients(entry), folder);
    }

    /// What was found. Nothing is read.
    pub fn of(&self, program: &Path, ingredient: &Ingredient) -> Maker {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(&(program.to_owned(), ingredient.clone())).copied().unwrap_or(Maker::Unknown)
    }

    /// The same of whether no debugger knows its lines. It is said once: a program that is restarted is still the same.
    pub fn newly_without_lines(&self, program: &Path) -> bool {
        let is_without = self.without_lines.lock().unwrap_or_else(PoisonError::into_inner).contains(program);
        let mut remarked = self.remarked.lock().unwrap_or_else(PoisonError::into_inner);
        is_without && remarked.insert(program.to_owned())
    }

    fn look(&self, arguments: &Map<String, Value>, ingredients: &[Ingredient], folder: &Path) {
        let Some(program) = arguments.get("program").and_then(Value::as_str) else { return };
        let program = folder.join(program);
        let may_have_lines = may_have_lines(&program);
        let mut without_lines = self.without_lines.lock().unwrap_or_else(PoisonError::into_inner);
        match may_have_lines {
            true => without_lines.remove(&program),
            false => without_lines.insert(program.clone()),
        };
        drop(without_lines);
        for ingredient in ingredients {
            let maker = Maker::of(&program, ingredient);
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.insert((program.clone(), ingredient.clone()), maker);
        }
    }

    fn of_type(&self, kind: &str) -> impl Iterator<Item = &Vec<Ingredient>> {
        let goes_by = move |names: &[String]| names.iter().any(|name| name.eq_ignore_ascii_case(kind));
        self.matter.iter().filter(move |(names, _)| goes_by(names)).map(|(_, ingredients)| ingredients)
    }
}

fn ingredients(entry: &Entry) -> Vec<Ingredient> {
    entry.defaults_when.iter().flat_map(DefaultsWhen::ingredients).collect()
}
