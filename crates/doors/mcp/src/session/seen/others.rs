//! Breakpoints of others', where ours capture: whether one of them is why the program stands.

use std::collections::HashMap;

use breakroom_client::model;
use serde_json::Value;

/// How often each had been hit, by its owner's name and its number.
#[derive(Default)]
pub struct Others(HashMap<(String, i64), i64>);

impl Others {
    /// Whether this one, where the program stands, is why it does: the hub counts its hits.
    pub fn want(&mut self, other: &Value) -> bool {
        let has = |key: &str| other[key].as_str().is_some_and(|term| !term.is_empty());
        if has("logMessage") {
            return false;
        }
        let (id, hits) = counted(other);
        let before = self.0.insert(id, hits).unwrap_or_default();
        hits > before || !has("condition") && !has("hitCondition")
    }

    /// How often it was hit, if that is not known from a stop beside it.
    pub fn know(&mut self, other: &Value) {
        let (id, hits) = counted(other);
        self.0.entry(id).or_insert(hits);
    }
}

/// Whose breakpoint it is, by its name and number, and how often it was hit.
fn counted(other: &Value) -> ((String, i64), i64) {
    let number = |key: &str| model::integer(&other[key]).unwrap_or_default();
    ((model::text(&other["owner"]), number("id")), number("hits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_conditional_breakpoint_of_anothers_wants_a_stop_only_when_it_was_hit() {
        let mut others = Others::default();
        let other = |hits: i64, more: Value| {
            let mut other = json!({"owner": "Editor", "id": 1, "hits": hits});
            if let (Value::Object(other), Value::Object(more)) = (&mut other, more) {
                other.extend(more);
            }
            other
        };
        let condition = || json!({"condition": "i == 2"});
        assert!(!others.want(&other(0, condition())));
        assert!(others.want(&other(1, condition())));
        assert!(!others.want(&other(1, condition())));
        assert!(others.want(&other(1, json!({}))));
        assert!(!others.want(&other(2, json!({"logMessage": "here"}))));
    }
}
