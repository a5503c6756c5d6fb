//! Events as the IDE reads them: compact JSON in the order of the protocol's document, one line each.
//!
//! The IDE keeps no half lines and dies on null, so a line fits into one atomic write to a pipe and nothing here can be
//! null. What does not fit is split where the protocol allows it, and shortened where it does not.

/// As much as a pipe takes in one piece, the end of the line included.
pub const LONGEST: usize = 4096;

const ELLIPSIS: &str = "…";

/// A value whose members keep their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    Text(String),
    Number(i64),
    Object(Members),
    List(Vec<Json>),
}

pub type Members = Vec<(&'static str, Json)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    name: &'static str,
    data: Members,
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.to_owned())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Json::Number(number)
    }
}

impl Event {
    pub fn new(name: &'static str) -> Self {
        Event { name, data: Vec::new() }
    }

    pub fn with(mut self, key: &'static str, value: impl Into<Json>) -> Self {
        self.data.push((key, value.into()));
        self
    }

    pub fn object(self, key: &'static str, members: Members) -> Self {
        self.with(key, Json::Object(members))
    }

    /// A command that cannot be carried out.
    pub fn refusal(message: &str, command: Option<&str>) -> Self {
        let event = Event::new("error").with("message", message);
        match command {
            Some(command) => event.with("command", command),
            None => event,
        }
    }

    /// The lines that say it, each with its end.
    pub fn lines(mut self) -> Vec<String> {
        if self.line().len() <= LONGEST {
            return vec![self.line()];
        }
        if let Some(at) = self.data.iter().position(|(_, value)| matches!(value, Json::List(_))) {
            return self.split_list(at);
        }
        if self.name == "output"
            && let Some(at) = self.data.iter().position(|(key, _)| *key == "text")
        {
            return self.split_text(at);
        }
        self.shorten();
        vec![self.line()]
    }

    fn line(&self) -> String {
        let mut line = String::from("{\"type\":\"event\",\"event\":");
        write_text(&mut line, self.name);
        line.push_str(",\"data\":");
        write_members(&mut line, &self.data);
        line.push_str("}\n");
        line
    }

    /// As many elements in each line as fit; the other members are said in each.
    fn split_list(mut self, at: usize) -> Vec<String> {
        let Json::List(elements) = std::mem::replace(&mut self.data[at].1, Json::List(Vec::new())) else {
            return Vec::new();
        };
        let empty = self.line().len();
        let mut lines = Vec::new();
        let mut waiting: Vec<Json> = Vec::new();
        let mut length = empty;
        for element in elements {
            let mut text = String::new();
            write(&mut text, &element);
            if length + text.len() + 1 > LONGEST && !waiting.is_empty() {
                lines.push(self.fitting(at, std::mem::take(&mut waiting)));
                length = empty;
            }
            length += text.len() + 1;
            waiting.push(element);
        }
        lines.push(self.fitting(at, waiting));
        lines
    }

    fn fitting(&mut self, at: usize, elements: Vec<Json>) -> String {
        let mut part = self.clone();
        part.data[at].1 = Json::List(elements);
        part.shorten();
        part.line()
    }

    fn split_text(mut self, at: usize) -> Vec<String> {
        let Json::Text(text) = std::mem::replace(&mut self.data[at].1, Json::from("")) else {
            return Vec::new();
        };
        let room = LONGEST.saturating_sub(self.line().len());
        let mut lines = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (part, after) = rest.split_at(fitting_length(rest, room));
            self.data[at].1 = Json::from(part);
            lines.push(self.line());
            rest = after;
        }
        lines
    }

    /// Cuts the longest texts until it fits into a line.
    fn shorten(&mut self) {
        loop {
            let too_much = self.line().len().saturating_sub(LONGEST);
            if too_much == 0 {
                return;
            }
            let mut texts = Vec::new();
            for (_, value) in &mut self.data {
                texts_of(value, &mut texts);
            }
            let Some(longest) = texts.into_iter().max_by_key(|text| encoded_length(text)) else { return };
            if longest == ELLIPSIS {
                return;
            }
            let room = encoded_length(longest).saturating_sub(too_much + ELLIPSIS.len());
            longest.truncate(fitting_length(longest, room));
            longest.push_str(ELLIPSIS);
        }
    }
}

fn texts_of<'a>(value: &'a mut Json, texts: &mut Vec<&'a mut String>) {
    match value {
        Json::Text(text) => texts.push(text),
        Json::Number(_) => {}
        Json::Object(members) => members.iter_mut().for_each(|(_, value)| texts_of(value, texts)),
        Json::List(elements) => elements.iter_mut().for_each(|value| texts_of(value, texts)),
    }
}

/// How many bytes of a text, at least one character of it, take no more than this room when they are encoded.
fn fitting_length(text: &str, room: usize) -> usize {
    let mut used = 0;
    for (at, letter) in text.char_indices() {
        used += encoded(letter);
        if used > room && at > 0 {
            return at;
        }
    }
    text.len()
}

fn encoded_length(text: &str) -> usize {
    text.chars().map(encoded).sum()
}

/// How many bytes a character takes inside a JSON string.
fn encoded(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => letter.len_utf8(),
    }
}

fn write(line: &mut String, value: &Json) {
    match value {
        Json::Text(text) => write_text(line, text),
        Json::Number(number) => line.push_str(&number.to_string()),
        Json::Object(members) => write_members(line, members),
        Json::List(elements) => {
            line.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    line.push(',');
                }
                write(line, element);
            }
            line.push(']');
        }
    }
}

fn write_members(line: &mut String, members: &[(&'static str, Json)]) {
    line.push('{');
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        write_text(line, key);
        line.push(':');
        write(line, value);
    }
    line.push('}');
}

fn write_text(line: &mut String, text: &str) {
    line.push('"');
    for letter in text.chars() {
        match letter {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            '\u{8}' => line.push_str("\\b"),
            '\u{c}' => line.push_str("\\f"),
            '\0'..='\u{1f}' => line.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => line.push(letter),
        }
    }
    line.push('"');
}

#[cfg(test)]
mod tests;
