//! Breakpoints in the words of the protocol: which of them go together in one request, and on which terms they stop.
//!
//! Which breakpoints there are, and what the debugger made of them, is kept by the doors, each in its own way.

use serde_json::{Value, json};

use crate::model;

/// What one request covers. A debugger takes all breakpoints of a file at once, so each change sends a whole group again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    File(String),
    Functions,
    Data,
}

impl Group {
    /// The command that puts these in the place of all that the group had, and its arguments.
    pub fn request(&self, breakpoints: Vec<Value>) -> (&'static str, Value) {
        match self {
            Group::File(path) => {
                let source = json!({"name": model::file_name(path), "path": path});
                ("setBreakpoints", json!({"source": source, "breakpoints": breakpoints}))
            }
            Group::Functions => ("setFunctionBreakpoints", json!({"breakpoints": breakpoints})),
            Group::Data => ("setDataBreakpoints", json!({"breakpoints": breakpoints})),
        }
    }
}

/// When a breakpoint counts, and what it says instead of stopping.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    pub condition: Option<String>,
    /// A number, or an operator and a number: `3`, `>= 3`, `% 2`.
    pub hits: Option<String>,
    /// What is printed instead of stopping.
    pub log: Option<String>,
}

/// What they are called in requests and lists: condition, hits, log.
const KEYS: [&str; 3] = ["condition", "hitCondition", "logMessage"];

impl Terms {
    /// As the hub lists them.
    pub fn of(listed: &Value) -> Terms {
        let [condition, hits, log] = KEYS.map(|key| listed[key].as_str().map(str::to_owned));
        Terms { condition, hits, log }
    }

    /// Adds them to one breakpoint of a request.
    pub fn add_to(&self, breakpoint: &mut Value) {
        let Terms { condition, hits, log } = self;
        for (key, term) in KEYS.into_iter().zip([condition, hits, log]) {
            if let Some(term) = term {
                breakpoint[key] = term.as_str().into();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_sent_as_a_whole_with_the_terms_of_each() {
        let mut breakpoint = json!({"line": 3});
        let terms = Terms { condition: Some("n > 1".to_owned()), ..Terms::default() };
        terms.add_to(&mut breakpoint);
        assert_eq!(breakpoint, json!({"line": 3, "condition": "n > 1"}));
        assert_eq!(Terms::of(&breakpoint), terms);
        let (command, arguments) = Group::File("/a/t.py".to_owned()).request(vec![breakpoint.clone()]);
        let source = json!({"name": "t.py", "path": "/a/t.py"});
        assert_eq!(command, "setBreakpoints");
        assert_eq!(arguments, json!({"source": source, "breakpoints": [breakpoint]}));
        assert_eq!(Group::Data.request(Vec::new()), ("setDataBreakpoints", json!({"breakpoints": []})));
    }
}
