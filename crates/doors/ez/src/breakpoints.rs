//! The IDE's breakpoints in its own words: which it sets and clears, and what the debugger makes of them.
//!
//! What is kept of them, and how a debugger is sent them, is in `breakroom-debug-client`.

use breakroom_client::model;
use breakroom_debug_client::breakpoints::{Breakpoint, BreakpointSet, Group, Place, Terms, Transition};
use breakroom_debug_client::{complete, values};
use serde_json::json;

use crate::command::Spot;
use crate::event::Event;
use crate::failure::{Failure, cannot};
use crate::files::location;
use crate::link::Link;
use crate::live::Live;
use crate::starting::Plan;

/// With each, the file as the IDE spells it.
pub type Breakpoints = BreakpointSet<String>;

impl Plan {
    pub fn set_breakpoint(
        &mut self,
        link: &mut Link,
        spot: Spot,
        terms: Terms,
        is_live: bool,
    ) -> Result<(), Failure> {
        let place = self.place(&spot);
        let before = self.breakpoints.clone();
        let spelled = match spot {
            Spot::Line { file, .. } => file,
            Spot::Function(_) => String::new(),
        };
        let id = self.breakpoints.set(place.clone(), terms, true, spelled);
        let mut transitions = Vec::new();
        if is_live {
            let sent = complete(self.breakpoints.send(&place.group(), link));
            transitions = sent.inspect_err(|_| self.breakpoints = before)?;
        }
        // One that was refused has not been set. Others of the file that moved are told all the same.
        let is_refused = transitions.iter().any(|one| one.breakpoint.number == id && one.refused.is_some());
        if let Some(breakpoint) = self.breakpoints.get(id).filter(|_| !is_refused) {
            link.say(set_event(breakpoint, None))?;
        }
        transitions.iter().try_for_each(|one| link.say(transition_event(one)))
    }

    /// One that is not there is as good as cleared.
    pub fn clear_breakpoint(&mut self, link: &mut Link, spot: &Spot, is_live: bool) -> Result<(), Failure> {
        let place = self.place(spot);
        // An IDE that was told of a move knows it by its new line, where there may be several.
        let removed = self.breakpoints.remove(|one| one.place.is(&place) || is_now_at(one, &place));
        if is_live && !removed.is_empty() {
            complete(self.breakpoints.send(&place.group(), link))?;
        }
        Ok(())
    }

    fn place(&mut self, spot: &Spot) -> Place {
        match spot {
            Spot::Line { file, line } => Place::Line { path: self.files.name(file), line: *line },
            Spot::Function(name) => Place::Function(name.clone()),
        }
    }

    /// Tells the debugger about every breakpoint; what it thinks of them.
    pub fn send_breakpoints(&mut self, link: &mut Link) -> Result<Vec<Event>, Failure> {
        let transitions = complete(self.breakpoints.send_all(link))?;
        Ok(transitions.iter().map(transition_event).collect())
    }
}

impl Live {
    pub fn set_data_breakpoint(
        &mut self,
        link: &mut Link,
        name: &str,
        frame: usize,
        access: Option<&str>,
    ) -> Result<(), Failure> {
        if !link.client.can("supportsDataBreakpoints") {
            return Err(cannot("stop at changes of data"));
        }
        let frame = self.frame(link, frame, None)?;
        // A name alone would be taken for an expression, and its value for an address.
        let question = match complete(values::holder_of(link, frame.id, name))? {
            Some(holder) => json!({"variablesReference": holder.0, "name": name}),
            None => json!({"name": name, "frameId": frame.id.0}),
        };
        let info = link.ask("dataBreakpointInfo", question)?;
        let Some(data) = info["dataId"].as_str() else {
            let why = model::text(&info["description"]);
            let why = if why.is_empty() { format!("there is no data for {name}") } else { why };
            return Err(Failure::Refused(why));
        };
        let breakpoints = &mut self.plan.breakpoints;
        let access = access.map(str::to_owned);
        let place = Place::Data { name: name.to_owned(), data: data.to_owned(), access };
        let before = breakpoints.clone();
        let id = breakpoints.set(place, Terms::default(), true, String::new());
        let sent = complete(breakpoints.send(&Group::Data, link));
        let transitions = sent.inspect_err(|_| *breakpoints = before)?;
        if transitions.iter().all(|one| one.breakpoint.number != id) {
            link.say(Event::new("dataBreakpointSet").with("name", name).with("id", id))?;
        }
        transitions.iter().try_for_each(|one| link.say(transition_event(one)))
    }

    pub fn clear_data_breakpoint(&mut self, link: &mut Link, name: &str) -> Result<(), Failure> {
        let is_it =
            |one: &Breakpoint<String>| matches!(&one.place, Place::Data { name: own, .. } if own == name);
        if !self.plan.breakpoints.remove(is_it).is_empty() {
            complete(self.plan.breakpoints.send(&Group::Data, link))?;
        }
        Ok(())
    }
}

fn is_now_at(breakpoint: &Breakpoint<String>, place: &Place) -> bool {
    match (&breakpoint.place, place) {
        (Place::Line { path, .. }, Place::Line { path: other, line }) => {
            path == other && breakpoint.moved_to == Some(*line)
        }
        _ => false,
    }
}

/// What the debugger thinks of a breakpoint.
pub fn transition_event(transition: &Transition<String>) -> Event {
    let Transition { breakpoint, refused } = transition;
    match refused {
        Some(why) => refusal(breakpoint, why),
        None => set_event(breakpoint, breakpoint.moved_to),
    }
}

/// As it was set, or at the line where it is now.
fn set_event(breakpoint: &Breakpoint<String>, now: Option<i64>) -> Event {
    let event = Event::new("breakpointSet");
    let event = match &breakpoint.place {
        Place::Line { line, .. } => event.with("file", &*breakpoint.extra).with("line", now.unwrap_or(*line)),
        Place::Function(name) => event.with("function", &**name),
        Place::Data { name, .. } => event.with("name", &**name),
    };
    event.with("id", breakpoint.number)
}

fn refusal(breakpoint: &Breakpoint<String>, why: &str) -> Event {
    let refuse = |place: &str, command| {
        Event::refusal(&format!("Cannot set breakpoint at {place}: {why}"), Some(command))
    };
    match &breakpoint.place {
        Place::Line { line, .. } => refuse(&format!("{}:{line}", breakpoint.extra), "setBreakpoint")
            .object("location", location(&breakpoint.extra, *line, 1)),
        Place::Function(name) => refuse(name, "setBreakpoint"),
        Place::Data { name, .. } => refuse(name, "setDataBreakpoint"),
    }
}
