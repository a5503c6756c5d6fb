//! The references that were given out since the program stopped, and what each leads to.
//!
//! A reference is a way and not a value: what was listed before a variable was changed shows the change afterwards.

use breakroom_ez::debug::{Children, Debuggee, Shown};
use serde_json::Value;

/// Cleared whenever the program goes on: what it shows then is something else.
#[derive(Default)]
pub struct Handles(Vec<Handle>);

#[derive(Clone)]
pub enum Handle {
    /// The variables of one scope of one frame.
    Scope { frame: usize, scope: usize },
    /// What is inside of the part with this number of what another reference leads to.
    Part { of: usize, number: usize },
    /// What is inside of a value that was computed.
    Result { frame: usize, shown: Box<Shown> },
}

/// What a reference leads to now.
pub struct Contents {
    pub frame: usize,
    /// Where names have to be looked up from.
    pub scope: usize,
    parts: Parts,
}

enum Parts {
    Listed(Vec<Shown>),
    Inside(Box<Shown>),
}

impl Handles {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn give(&mut self, handle: Handle) -> usize {
        self.0.push(handle);
        self.0.len()
    }

    pub fn contents(&self, debuggee: &Debuggee, reference: &Value) -> Result<(usize, Contents), String> {
        let number = reference.as_u64().and_then(|reference| usize::try_from(reference).ok());
        let found = number.and_then(|number| Some((number, self.lookup(debuggee, number)?)));
        found.ok_or_else(|| format!("there is no variablesReference {reference} at this stop"))
    }

    /// A part always comes after what it is a part of, so this ends.
    fn lookup(&self, debuggee: &Debuggee, reference: usize) -> Option<Contents> {
        match self.0.get(reference.checked_sub(1)?)? {
            Handle::Scope { frame, scope } => {
                let listed = debuggee.scopes(*frame).into_iter().nth(*scope)?.variables;
                Some(Contents { frame: *frame, scope: *scope, parts: Parts::Listed(listed) })
            }
            Handle::Part { of, number } => {
                let whole = self.lookup(debuggee, *of)?;
                let part = whole.part(debuggee, *number)?;
                Some(Contents { parts: Parts::Inside(Box::new(part)), ..whole })
            }
            Handle::Result { frame, shown } => {
                Some(Contents { frame: *frame, scope: 0, parts: Parts::Inside(shown.clone()) })
            }
        }
    }
}

impl Contents {
    pub fn count(&self, debuggee: &Debuggee) -> Children {
        match &self.parts {
            Parts::Listed(variables) => Children::Named(variables.len()),
            Parts::Inside(shown) => debuggee.children(shown),
        }
    }

    pub fn part(&self, debuggee: &Debuggee, number: usize) -> Option<Shown> {
        match (&self.parts, self.count(debuggee)) {
            (Parts::Listed(variables), _) => variables.get(number).cloned(),
            (Parts::Inside(shown), Children::Named(count) | Children::Indexed(count)) => {
                (number < count).then(|| debuggee.child(shown, number))
            }
            (Parts::Inside(_), Children::None) => None,
        }
    }

    pub fn number_of(&self, debuggee: &Debuggee, name: &str) -> Option<usize> {
        match &self.parts {
            Parts::Listed(variables) => variables.iter().position(|variable| variable.name == name),
            Parts::Inside(shown) => debuggee.child_number(shown, name),
        }
    }

    /// Whether these are variables, and not parts of one.
    pub fn is_scope(&self) -> bool {
        matches!(self.parts, Parts::Listed(_))
    }
}
