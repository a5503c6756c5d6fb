//! What a call answers: a text for the model, the same as data for programs, and whether it failed.

use serde_json::{Map, Value};

use crate::budget::{Rests, Room, cut, cut_as_data, fit_data};
use crate::failure::Failure;
use crate::secrets::Secrets;

/// Room for the words about what was left out.
const FOR_THE_CURSOR: usize = 80;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    pub text: String,
    pub data: Map<String, Value>,
    pub is_error: bool,
}

impl Reply {
    pub fn new(text: impl Into<String>, data: Value) -> Reply {
        let data = match data {
            Value::Object(data) => data,
            _ => Map::new(),
        };
        Reply { text: text.into(), data, is_error: false }
    }

    pub fn failed(failure: &Failure) -> Reply {
        let mut data = Map::new();
        data.insert("error".to_owned(), failure.what.clone().into());
        if let Some(next) = &failure.next {
            data.insert("next".to_owned(), next.clone().into());
        }
        Reply { text: failure.text(), data, is_error: true }
    }

    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.data.insert(key.to_owned(), value.into());
    }

    /// Another line of the text.
    pub fn add(&mut self, line: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }

    /// Cuts it to its room; the rest of the text can be had by a cursor.
    #[must_use]
    pub fn fit(mut self, room: Room, rests: Option<&mut Rests>) -> Reply {
        if self.text.len() > room.0 {
            let (kept, rest) = cut(std::mem::take(&mut self.text), room.0.saturating_sub(FOR_THE_CURSOR));
            self.text = kept;
            match (rest, rests) {
                (Some(rest), Some(rests)) => {
                    let size = rest.len();
                    let cursor = rests.keep(rest);
                    self.add(&format!(
                        "... {size} more characters: debugger_inspect with cursor=\"{cursor}\""
                    ));
                    self.put("cursor", cursor);
                }
                // There is no session that would keep it.
                (Some(rest), None) => {
                    self.add(&format!(
                        "... {} more characters: call again with a larger max_tokens",
                        rest.len()
                    ));
                }
                (None, _) => {}
            }
        }
        // The beginning of a long sentence says more than none.
        for key in ["error", "next"] {
            if let Some(Value::String(sentence)) = self.data.get_mut(key) {
                *sentence = cut_as_data(std::mem::take(sentence), room.percent(40)).0;
            }
        }
        fit_data(&mut self.data, room.0);
        self
    }

    /// Without what nobody may see.
    #[must_use]
    pub fn redacted(mut self, secrets: &Secrets) -> Reply {
        self.text = secrets.redact(self.text);
        self.data.values_mut().for_each(|value| redact(value, secrets));
        self
    }
}

fn redact(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => *text = secrets.redact(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, secrets)),
        Value::Object(members) => members.values_mut().for_each(|member| redact(member, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_always_said() {
        let long = || Reply::new("word\n".repeat(1_000), Value::Null);
        let mut rests = Rests::default();
        let kept = long().fit(Room(400), Some(&mut rests));
        assert!(kept.text.len() <= 400 && kept.text.contains("cursor="), "{kept:?}");
        let gone = long().fit(Room(400), None);
        assert!(gone.text.len() <= 400 && gone.text.contains("more characters"), "{gone:?}");
    }
}
