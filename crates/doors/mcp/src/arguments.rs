//! The arguments of a call, read as they are meant: models send numbers as strings, a list as its only member, and names in
//! camel case.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::session::stops::Thread;

#[derive(Debug, Clone, Default)]
pub struct Arguments(Map<String, Value>);

/// What models call an argument that has another name here.
const ALIASES: [(&str, &str); 26] = [
    ("action", "kind"),
    ("command", "program"),
    ("direction", "kind"),
    ("environment", "env"),
    ("expr", "expression"),
    ("file_path", "file"),
    ("filename", "file"),
    ("frame", "frame_id"),
    ("frame_index", "frame_id"),
    ("hit_condition", "hit_count"),
    ("log", "log_message"),
    ("module", "program"),
    ("path", "file"),
    ("process_id", "pid"),
    ("script", "program"),
    ("session", "session_id"),
    ("source", "file"),
    ("stdin", "text"),
    ("step_type", "kind"),
    ("thread", "thread_id"),
    ("timeout_ms", "wait_ms"),
    ("to_line", "line"),
    ("type", "kind"),
    ("type", "language"),
    ("variable", "name"),
    ("working_directory", "cwd"),
];

impl Arguments {
    pub fn new(given: Map<String, Value>) -> Self {
        Self(
            given
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (snake(&key), value))
                .collect(),
        )
    }

    /// Gives what was called otherwise the name that it has here, if that is one of those that are taken.
    pub fn adopt(&mut self, is_taken: impl Fn(&str) -> bool) {
        for (said, meant) in ALIASES {
            if is_taken(meant)
                && !is_taken(said)
                && !self.has(meant)
                && let Some(value) = self.0.remove(said)
            {
                self.put(meant, value);
            }
        }
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// For what one call hands to another.
    pub fn put(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A text that is not empty; a number counts as one.
    pub fn text(&self, key: &str) -> Result<Option<String>, Failure> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(Value::Bool(flag)) => Ok(Some(flag.to_string())),
            Some(other) => Err(wrong(key, "a text", other)),
        }
    }

    /// As it is, also if it is empty or white.
    pub fn raw_text(&self, key: &str) -> Result<Option<String>, Failure> {
        match self.0.get(key) {
            Some(Value::String(text)) => Ok(Some(text.clone())),
            _ => self.text(key),
        }
    }

    pub fn needed(&self, key: &str) -> Result<String, Failure> {
        self.text(key)?.ok_or_else(|| Failure::new(format!("`{key}` is missing")))
    }

    pub fn integer(&self, key: &str) -> Result<Option<i64>, Failure> {
        let Some(value) = self.0.get(key) else { return Ok(None) };
        let read = match value {
            Value::Number(number) => whole(&number.to_string()),
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => whole(text),
            _ => None,
        };
        read.map(Some).ok_or_else(|| wrong(key, "a whole number", value))
    }

    /// The thread that a call is about, if it names one.
    pub fn thread(&self) -> Result<Option<Thread>, Failure> {
        Ok(self.integer("thread_id")?.map(Thread::from))
    }

    /// A number that is not negative; what is above `most` is `most`.
    pub fn count(&self, key: &str, default: u64, most: u64) -> Result<u64, Failure> {
        match self.integer(key)? {
            None => Ok(default),
            Some(number) => match u64::try_from(number) {
                Ok(number) => Ok(number.min(most)),
                Err(_) => Err(Failure::new(format!("`{key}` is {number}, which is below 0"))),
            },
        }
    }

    /// A line of a file, from 1 on.
    pub fn line(&self, key: &str) -> Result<Option<i64>, Failure> {
        match self.integer(key)? {
            Some(line) if line < 1 => {
                Err(Failure::new(format!("`{key}` is {line}; the first line of a file is 1")))
            }
            line => Ok(line),
        }
    }

    pub fn flag(&self, key: &str) -> Result<bool, Failure> {
        Ok(self.choice(key)?.unwrap_or(false))
    }

    pub fn choice(&self, key: &str) -> Result<Option<bool>, Failure> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::Number(number)) => Ok(Some(number.as_f64() != Some(0.0))),
            Some(Value::String(text)) => match text.to_lowercase().as_str() {
                "true" | "yes" | "1" | "on" => Ok(Some(true)),
                "false" | "no" | "0" | "off" | "" => Ok(Some(false)),
                _ => Err(wrong(key, "true or false", &Value::String(text.clone()))),
            },
            Some(other) => Err(wrong(key, "true or false", other)),
        }
    }

    /// A list; one member may stand for itself, and the whole may be a text of JSON.
    pub fn list(&self, key: &str) -> Result<Vec<Value>, Failure> {
        match self.0.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items.clone()),
            Some(Value::String(text)) if text.trim_start().starts_with('[') => {
                let read = serde_json::from_str(text);
                read.map_err(|error| Failure::new(format!("`{key}` is no list: {error}")))
            }
            Some(one) => Ok(vec![one.clone()]),
        }
    }

    /// A list of texts. What only begins like one, as `[x for x in items]` does, is a text of its own.
    pub fn texts(&self, key: &str) -> Result<Vec<String>, Failure> {
        let read = |value: &Value| match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
            other => Err(wrong(key, "a list of texts", other)),
        };
        let read = |items: Vec<Value>| items.iter().map(read).collect::<Result<Vec<String>, Failure>>();
        match self.0.get(key) {
            Some(Value::String(text)) => {
                Ok(self.list(key).and_then(read).unwrap_or_else(|_| vec![text.clone()]))
            }
            _ => read(self.list(key)?),
        }
    }

    pub fn object(&self, key: &str) -> Result<Map<String, Value>, Failure> {
        match self.0.get(key) {
            None => Ok(Map::new()),
            Some(Value::Object(members)) => Ok(members.clone()),
            Some(Value::String(text)) if text.trim_start().starts_with('{') => {
                let read = serde_json::from_str(text);
                read.map_err(|error| Failure::new(format!("`{key}` is no object: {error}")))
            }
            Some(other) => Err(wrong(key, "an object", other)),
        }
    }
}

/// A whole number, also as `12.0`.
pub fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let of_float = |float: f64| (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64);
    text.parse().ok().or_else(|| text.parse().ok().and_then(of_float))
}

fn wrong(key: &str, wanted: &str, given: &Value) -> Failure {
    let mut shown = given.to_string();
    if let Some((at, _)) = shown.char_indices().nth(60) {
        shown.truncate(at);
        shown.push_str("...");
    }
    Failure::new(format!("`{key}` must be {wanted}, not {shown}"))
}

/// `stopOnEntry` is `stop_on_entry`, and `sessionID` is `session_id`.
fn snake(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    // As if a word had ended there.
    let mut before = '_';
    for letter in key.chars() {
        let letter = if letter == '-' { '_' } else { letter };
        if letter.is_ascii_uppercase() && before != '_' && !before.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
        before = letter;
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Arguments {
        let Value::Object(members) = value else { unreachable!() };
        Arguments::new(members)
    }

    #[test]
    fn numbers_are_read_from_texts_and_floats() {
        let given =
            arguments(json!({"a": "12", "b": 12.0, "c": " 7 ", "d": "x", "e": null, "f": "3.0", "g": ""}));
        let read = |key| given.integer(key);
        assert_eq!((read("a"), read("b"), read("c")), (Ok(Some(12)), Ok(Some(12)), Ok(Some(7))));
        assert_eq!((read("e"), read("f"), read("g")), (Ok(None), Ok(Some(3)), Ok(None)));
        assert_eq!(
            read("d").map_err(|failure| failure.what),
            Err("`d` must be a whole number, not \"x\"".to_owned())
        );
        assert!(arguments(json!({"line": 0})).line("line").is_err());
        assert_eq!(arguments(json!({"n": "99999"})).count("n", 1, 45), Ok(45));
    }

    #[test]
    fn names_in_camel_case_are_understood() {
        let given = arguments(json!({"stopOnEntry": "true", "sessionId": "k7f2", "wait-ms": 3}));
        assert_eq!(given.flag("stop_on_entry"), Ok(true));
        assert_eq!(given.text("session_id"), Ok(Some("k7f2".to_owned())));
        assert!(given.has("wait_ms"));
        for (key, meant) in [
            ("sessionID", "session_id"),
            ("threadID", "thread_id"),
            ("PID", "pid"),
            ("max_Tokens", "max_tokens"),
            ("Stop-On-Entry", "stop_on_entry"),
            ("line2To", "line2_to"),
        ] {
            assert_eq!(snake(key), meant);
        }
    }

    #[test]
    fn what_only_begins_like_a_list_is_a_text() {
        for text in ["[x for x in items]", "[[1, 2], [3]]", "[", "[a][0]"] {
            let given = arguments(json!({"a": text}));
            assert_eq!(given.texts("a"), Ok(vec![text.to_owned()]), "{text}");
        }
        let broken = arguments(json!({"a": "[{\"line\": 3]"}));
        assert!(broken.list("a").is_err(), "of what is no text, the mistake is told");
    }

    #[test]
    fn an_argument_by_another_name_is_adopted_where_it_is_taken() {
        let mut given =
            arguments(json!({"path": "t.py", "to_line": 9, "type": "out", "text": "x", "stdin": "y"}));
        given.adopt(|name| ["file", "line", "kind", "text"].contains(&name));
        assert_eq!(given.text("file"), Ok(Some("t.py".to_owned())));
        assert_eq!((given.line("line"), given.text("kind")), (Ok(Some(9)), Ok(Some("out".to_owned()))));
        assert_eq!(given.text("text"), Ok(Some("x".to_owned())), "what has its own name stays");
        assert!(given.has("stdin") && !given.has("language"));
    }

    #[test]
    fn one_member_stands_for_a_list_and_json_for_itself() {
        let given =
            arguments(json!({"a": "x", "b": "[1, 2]", "c": ["x", 3], "d": {"y": 1}, "e": "{\"z\": 1}"}));
        assert_eq!(given.texts("a"), Ok(vec!["x".to_owned()]));
        assert_eq!(given.list("b"), Ok(vec![json!(1), json!(2)]));
        assert_eq!(given.texts("c"), Ok(vec!["x".to_owned(), "3".to_owned()]));
        assert!(given.texts("d").is_err());
        assert_eq!(given.object("e").map(|read| read.len()), Ok(1));
    }
}
