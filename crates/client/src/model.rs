//! The few parts of debug messages that people are shown, read leniently.
//!
//! Debuggers leave out fields, send null for absent ones and floats for integers; nothing here fails for that.

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(pub i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameId(pub i64);

/// What the children of a scope or value are asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariablesReference(pub i64);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub id: FrameId,
    pub name: String,
    pub line: i64,
    /// Never below 1, because debuggers that know no columns say 0.
    pub column: i64,
    pub source: Option<Source>,
    /// The debugger plays it down: it is a label, or of a runtime.
    pub subtle: bool,
    /// It is none: those behind it are of before, and began what runs now.
    pub is_label: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub path: Option<String>,
    /// The debugger has the text under this number, and no file does.
    pub reference: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub reference: VariablesReference,
    pub name: String,
    pub hint: String,
    pub expensive: bool,
    pub arguments: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub value: String,
    /// Its type as the debugger names it; empty if it does not.
    pub kind: String,
}

pub fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().map(|float| float as i64))
}

/// Why a request failed, in the debugger's words.
pub fn failure(response: &Value) -> String {
    let error = &response["body"]["error"];
    let detailed = error["format"].as_str().map(|format| fill_in(format, &error["variables"]));
    let short = response["message"].as_str().filter(|text| !text.is_empty());
    detailed
        .filter(|text| !text.is_empty())
        .or_else(|| short.map(str::to_owned))
        .unwrap_or_else(|| "the debugger gave no reason".to_owned())
}

fn fill_in(format: &str, variables: &Value) -> String {
    let Value::Object(variables) = variables else {
        return format.to_owned();
    };
    variables.iter().fold(format.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default())
    })
}

pub fn list<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    value.as_array().map(|items| items.iter().filter_map(read).collect()).unwrap_or_default()
}

impl ThreadId {
    /// The thread that an event is about.
    pub fn read(body: &Value) -> Option<Self> {
        integer(&body["threadId"]).map(Self)
    }
}

impl Frame {
    pub fn read(value: &Value) -> Option<Self> {
        Some(Self {
            id: FrameId(integer(&value["id"])?),
            name: text(&value["name"]),
            line: integer(&value["line"]).unwrap_or(0),
            column: integer(&value["column"]).unwrap_or(1).max(1),
            source: Source::read(&value["source"]),
            subtle: ["subtle", "label"].map(Value::from).contains(&value["presentationHint"])
                || value["source"]["presentationHint"] == "deemphasize",
            is_label: value["presentationHint"] == "label",
        })
    }
}

impl Source {
    pub fn read(value: &Value) -> Option<Self> {
        let path = value["path"].as_str().filter(|path| !path.is_empty()).map(str::to_owned);
        let reference = integer(&value["sourceReference"]).filter(|reference| *reference > 0);
        let file_name = path.as_deref().map(file_name);
        let name = file_name.or_else(|| value["name"].as_str().filter(|name| !name.is_empty()))?.to_owned();
        Some(Self { name, path, reference })
    }
}

impl Scope {
    pub fn read(value: &Value) -> Option<Self> {
        let hint = value["presentationHint"].as_str().unwrap_or_default();
        Some(Self {
            reference: VariablesReference(integer(&value["variablesReference"])?),
            name: text(&value["name"]),
            hint: hint.to_owned(),
            expensive: value["expensive"] == Value::Bool(true),
            arguments: hint == "arguments" || value["name"] == "Arguments",
        })
    }
}

impl Variable {
    pub fn read(value: &Value) -> Option<Self> {
        Some(Self { name: text(&value["name"]), value: text(&value["value"]), kind: text(&value["type"]) })
    }

    /// Whether it only groups others, as debugpy's `special variables` does.
    pub fn is_group(value: &Value) -> bool {
        value["value"].as_str().is_some_and(str::is_empty)
            && value["name"].as_str().is_some_and(|n| n.contains(' '))
    }
}

pub fn children(value: &Value) -> Option<VariablesReference> {
    integer(&value["variablesReference"]).filter(|reference| *reference > 0).map(VariablesReference)
}

/// Whether an `output` says that the program waits for input.
pub fn waits_for_input(output: &Value) -> bool {
    output["data"]["waitsForInput"] == Value::Bool(true)
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn floats_and_nulls_are_read_as_debuggers_mean_them() {
        assert_eq!(integer(&json!(3.0)), Some(3));
        assert_eq!(integer(&json!(null)), None);
        assert_eq!(children(&json!({"variablesReference": 0.0})), None);
        let frame =
            Frame::read(&json!({"id": 0, "name": "main", "line": 2, "source": {"sourceReference": null}}));
        assert_eq!(
            frame,
            Some(Frame {
                id: FrameId(0),
                name: "main".to_owned(),
                line: 2,
                column: 1,
                source: None,
                subtle: false,
                is_label: false
            })
        );
    }

    #[test]
    fn a_failure_is_told_in_the_debuggers_fullest_words() {
        let detailed = json!({"message": "x", "body": {"error": {"format": "no {what}", "variables": {"what": "file"}}}});
        assert_eq!(failure(&detailed), "no file");
        assert_eq!(failure(&json!({"message": "cancelled"})), "cancelled");
        assert_eq!(failure(&json!({"message": null})), "the debugger gave no reason");
    }

    #[test]
    fn a_source_is_named_by_the_last_part_of_its_path() {
        let source = Source::read(&json!({"path": "/a/b/t.py", "name": "other"})).unwrap();
        assert_eq!(source.name, "t.py");
        assert_eq!(file_name("C:\\a\\t.cs"), "t.cs");
    }
}
