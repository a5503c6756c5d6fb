//! What the tools take, as JSON Schema that every client and every model's provider reads.

use serde_json::{Map, Value, json};

use super::Kind::{
    self, Breakpoints, Count, Flag, Line, Number, Object, OneOf, Steps, Text, TextOrTexts, Texts, Usually,
};
use super::{OF_A_BREAKPOINT, OF_A_STEP, Takes, Tool};

/// What every answer has as data, if it is about a session.
pub fn output_schema() -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "properties": {"state": {"type": "string"}, "epoch": {"type": "integer"}},
    });
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

impl Tool {
    pub fn input_schema(&self) -> Map<String, Value> {
        let properties = properties(self.takes);
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        if !self.needs.is_empty() {
            schema.insert("required".to_owned(), self.needs.into());
        }
        schema
    }
}

impl Kind {
    fn schema(self) -> Value {
        match self {
            // Others are taken, too, but clients warn of a property with two types, and providers refuse it.
            Text | TextOrTexts => json!({"type": "string"}),
            Number | Count | Line => json!({"type": "integer"}),
            Flag => json!({"type": "boolean"}),
            Texts => json!({"type": "array", "items": {"type": "string"}}),
            Object(members) => object(members),
            Breakpoints => objects(OF_A_BREAKPOINT),
            Steps => objects(OF_A_STEP),
            OneOf(words) | Usually(words) => json!({"type": "string", "enum": words}),
        }
    }
}

fn objects(members: &[Takes]) -> Value {
    json!({"type": "array", "items": object(members)})
}

fn object(members: &[Takes]) -> Value {
    json!({"type": "object", "properties": properties(members)})
}

fn properties(takes: &[Takes]) -> Map<String, Value> {
    let property = |(name, kind, about): &Takes| {
        let mut schema = kind.schema();
        if !about.is_empty() {
            schema["description"] = (*about).into();
        }
        ((*name).to_owned(), schema)
    };
    takes.iter().map(property).collect()
}

#[cfg(test)]
mod tests {
    use super::super::TOOLS;
    use super::*;

    #[test]
    fn the_tools_together_take_a_model_fewer_than_2500_tokens() {
        let text = serde_json::to_string(&crate::protocol::server::listed(
            crate::telling::budget::Forms::TextAndData,
        ))
        .unwrap();
        // Some clients write a blank behind every comma and colon.
        let tokens = text.replace(":", ": ").replace(",", ", ").len() / 4;
        assert!(tokens < 2_500, "{tokens} tokens");
    }

    /// What no client warns of and no model's provider refuses: one type each, arrays with items, objects with members, and
    /// nothing but these words of JSON Schema.
    fn is_plain(schema: &Value) -> bool {
        let words = ["type", "description", "properties", "required", "items", "enum"];
        let Some(members) = schema.as_object() else { return false };
        let is_typed = schema["type"].is_string();
        let has_items = schema["type"] != "array" || is_plain(&schema["items"]);
        let has_members =
            schema["type"] != "object" || schema["properties"].as_object().is_some_and(|all| !all.is_empty());
        let inner = schema["properties"].as_object().into_iter().flatten();
        members.keys().all(|word| words.contains(&word.as_str()))
            && is_typed
            && has_items
            && has_members
            && inner.into_iter().all(|(_, schema)| is_plain(schema))
    }

    #[test]
    fn the_schemas_are_plain() {
        for tool in TOOLS {
            let schema = Value::Object(tool.input_schema());
            assert!(is_plain(&schema), "{}: {schema}", tool.name);
        }
        assert!(is_plain(&Value::Object(output_schema())));
        assert!(!is_plain(&json!({"type": ["integer", "string"]})) && !is_plain(&json!({"type": "array"})));
        assert!(!is_plain(&json!({"type": "object"})));
        assert!(!is_plain(&json!({"type": "object", "properties": {}})));
    }
}
