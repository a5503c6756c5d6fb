//! Breakpoints by file and line, as Visual Studio sets and removes them. No such request is answered: what fails is written
//! to the output window, what succeeds is an event.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use breakroom_debug_client::breakpoints::{BreakpointSet, Place, Terms, Transition};
use breakroom_debug_client::complete;
use breakroom_remote_runtime::{Breakpoint, ChangeType, Event, has_parent_steps, resolve};

use crate::debugger::Failure;
use crate::server::Server;
use crate::session::Phase;

#[derive(Default)]
pub struct Breakpoints {
    /// With each, the file as Visual Studio spells it.
    pub set: BreakpointSet<String>,
    /// How Visual Studio spells files, by the paths of this machine.
    spellings: HashMap<String, String>,
}

impl Breakpoints {
    /// A file as Visual Studio spells it, if it has named it.
    pub fn spelling(&self, path: &str) -> String {
        self.spellings.get(path).map_or(path, |spelled| spelled).to_owned()
    }

    pub fn clear(&mut self) {
        *self = Breakpoints::default();
    }
}

impl Server {
    pub fn set_breakpoint(&mut self, wanted: &Breakpoint) {
        if let Err(why) = self.try_to_set(wanted) {
            self.complain("error", &format!("set_breakpoint failed: {why}"));
        }
    }

    fn try_to_set(&mut self, wanted: &Breakpoint) -> Result<(), String> {
        let Breakpoint { file, line, enabled, .. } = wanted;
        let condition = wanted.condition()?.map(str::to_owned);
        let path = self.find(file)?;
        let lines = std::fs::read(&path).map_err(|error| format!("cannot read {file}: {error}"))?;
        let count = lines.split(|byte| *byte == b'\n').count();
        if !usize::try_from(*line).is_ok_and(|line| (1..=count).contains(&line)) {
            return Err(format!("{file} has no line {line}; it has {count}, counted from 1"));
        }
        let path = path.to_string_lossy().into_owned();
        self.breakpoints.spellings.insert(path.clone(), file.clone());
        let place = Place::Line { path, line: *line };
        let before = self.breakpoints.set.clone();
        let is_known = before.all().iter().any(|one| one.place == place);
        let options = Terms { condition, ..Terms::default() };
        let number = self.breakpoints.set.set(place.clone(), options, *enabled, file.clone());
        if matches!(self.phase, Phase::Live { .. }) {
            let sent = complete(self.breakpoints.set.send(&place.group(), &mut self.debugger));
            let transitions = sent.map_err(|failure| {
                self.breakpoints.set = before;
                format!("{file}:{line}: {failure}")
            })?;
            let (own, others): (Vec<_>, Vec<_>) =
                transitions.into_iter().partition(|transition| transition.breakpoint.number == number);
            self.report(&others);
            if let Some(why) = own.into_iter().find_map(|transition| transition.refused) {
                self.breakpoints.set.remove(|one| one.number == number);
                return Err(format!("{file}:{line}: {why}"));
            }
        }
        let change_type = if is_known { ChangeType::Changed } else { ChangeType::Added };
        self.emit(Event::BreakpointChanged {
            change_type,
            file: file.clone(),
            line: *line,
            enabled: *enabled,
        });
        Ok(())
    }

    pub fn remove_breakpoint(&mut self, file: &str, line: i64) {
        if let Err(why) = self.try_to_remove(file, line) {
            self.complain("warn", &format!("remove_breakpoint failed: {why}"));
        }
    }

    fn try_to_remove(&mut self, file: &str, line: i64) -> Result<(), String> {
        let not_found = || format!("not found ({file}:{line})");
        let path = self.find(file).map_err(|_| not_found())?.to_string_lossy().into_owned();
        let place = Place::Line { path, line };
        let removed = self.breakpoints.set.remove(|one| one.place == place);
        if removed.is_empty() {
            return Err(not_found());
        }
        if matches!(self.phase, Phase::Live { .. }) {
            let sent = complete(self.breakpoints.set.send(&place.group(), &mut self.debugger));
            let transitions = sent.map_err(|failure| format!("{file}:{line}: {failure}"))?;
            self.report(&transitions);
        }
        let change_type = ChangeType::Removed;
        self.emit(Event::BreakpointChanged { change_type, file: file.to_owned(), line, enabled: false });
        Ok(())
    }

    /// The file of this machine that Visual Studio means.
    fn find(&self, file: &str) -> Result<PathBuf, String> {
        if has_parent_steps(file) {
            return Err(format!("a path must not have `..` in it: {file}"));
        }
        let found = resolve(file, &self.setup.folder, &names).filter(|path| path.is_file());
        found.ok_or_else(|| format!("file not found: {file}"))
    }

    pub fn send_all_breakpoints(&mut self) -> Result<(), Failure> {
        let transitions = complete(self.breakpoints.set.send_all(&mut self.debugger))?;
        for refused in transitions.iter().filter(|transition| transition.refused.is_some()) {
            self.breakpoints.set.remove(|one| one.number == refused.breakpoint.number);
        }
        self.report(&transitions);
        Ok(())
    }

    /// The debugger found out more about a breakpoint.
    pub fn on_breakpoint(&mut self, body: &serde_json::Value) {
        if let Some(transition) = self.breakpoints.set.on_event(body) {
            self.report(&[transition]);
        }
    }

    /// What the debugger refuses is shown. That it moved one is not: a stop names it by the line where it was set.
    fn report(&mut self, transitions: &[Transition<String>]) {
        for Transition { breakpoint, refused } in transitions {
            if let (Some(why), Place::Line { line, .. }) = (refused, &breakpoint.place) {
                self.complain("error", &format!("set_breakpoint failed: {}:{line}: {why}", breakpoint.extra));
            }
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
