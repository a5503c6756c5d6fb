//! What the fake `ez` writes: events, and the program's output as events or raw.

use std::io::Write;

use serde_json::{Value, json};

use super::Habits;

/// The longest line of a server that splits its answers.
const LONGEST_LINE: usize = 4096;

#[derive(Debug)]
pub(super) struct Talk {
    pub habits: Habits,
}

impl Talk {
    pub fn new(habits: Habits) -> Talk {
        Talk { habits }
    }

    pub fn event(&self, name: &str, data: Value) {
        self.write(&self.line(name, &data));
    }

    /// An event with a list in it, in as many parts as it takes.
    pub fn list(&self, name: &str, data: Value, key: &str) {
        let whole = self.line(name, &data);
        let items = data[key].as_array().cloned().unwrap_or_default();
        if !self.habits.split || whole.len() <= LONGEST_LINE {
            return self.write(&whole);
        }
        let mut part = data;
        part[key] = json!([]);
        for item in items {
            let mut more = part.clone();
            if let Some(list) = more[key].as_array_mut() {
                list.push(item.clone());
            }
            if self.line(name, &more).len() > LONGEST_LINE {
                self.event(name, part.clone());
                more[key] = json!([item]);
            }
            part = more;
        }
        self.event(name, part);
    }

    fn line(&self, name: &str, data: &Value) -> String {
        match self.habits.real {
            // Keys in the order of the alphabet.
            true => format!("{}\n", json!({"type": "event", "event": name, "data": data})),
            false => format!("{{\"type\":\"event\",\"event\":\"{name}\",\"data\":{data}}}\n"),
        }
    }

    pub fn print(&self, category: &str, text: &str) {
        match (self.habits.real, category) {
            (false, _) => self.event("output", json!({"category": category, "text": text})),
            (true, "stderr") => eprint!("{text}"),
            (true, _) => self.write(text),
        }
    }

    pub fn problem(&self, command: &str, message: &str) {
        match self.habits.real {
            true => self.event("error", json!({"message": message})),
            false => self.event("error", json!({"message": message, "command": command})),
        }
    }

    fn write(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        // Nobody listens any more: then nobody misses it.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}
