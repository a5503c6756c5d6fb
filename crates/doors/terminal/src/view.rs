//! How places, source, variables and stacks look.
//!
//! Everything here makes text from data; nothing asks the debugger.

mod screen;

use serde_json::Value;

use breakroom_client::model::{self, Frame, Source, Variable};

pub use screen::Screen;

/// Values are shown on one line, and no longer than this.
const SHOWN_VALUE: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Plain,
    Colour,
}

impl Paint {
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub fn mark(self, text: &str) -> String {
        self.with("32", text)
    }

    pub fn alarm(self, text: &str) -> String {
        self.with("31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

/// `t.py:3 in add`.
pub fn place(frame: &Frame) -> String {
    match &frame.source {
        Some(source) => format!("{}:{} in {}", source.name, frame.line, frame.name),
        None => format!("an unknown source in {}", frame.name),
    }
}

/// `t.ez:3:5: `, of what a debugger says about a place; nothing if it names none.
pub fn origin(output: &Value) -> String {
    let Some((source, line)) = Source::read(&output["source"]).zip(model::integer(&output["line"])) else {
        return String::new();
    };
    match model::integer(&output["column"]) {
        Some(column) => format!("{}:{line}:{column}: ", source.name),
        None => format!("{}:{line}: ", source.name),
    }
}

/// How the hub begins what it adds to a debugger's description: whose breakpoint it is, who resumed, what was in doubt.
const ADDED: [&str; 3] = [", set by ", " (resumed by ", "; "];

/// What a debugger's own description says beyond the reason: the program stands where it has been before.
const PAST: [&str; 2] = ["in the past", "the beginning of what is remembered"];

/// What a stop says beyond its reason: `: ZeroDivisionError: division by zero`, `, set by Ann (resumed by Bob)`.
pub fn detail(stopped: &Value) -> String {
    let text = stopped["text"].as_str().unwrap_or_default();
    let description = stopped["description"].as_str().unwrap_or_default();
    let added = ADDED.iter().filter_map(|word| description.find(word)).min();
    let (own, rest) = description.split_at(added.unwrap_or(description.len()));
    if PAST.contains(&own) {
        let text = if text.is_empty() { String::new() } else { format!(": {}", value(text)) };
        return format!("{text}, {own}{}", value(rest));
    }
    // Elsewhere a debugger's own description only repeats the reason.
    let description = match (stopped["reason"].as_str(), added) {
        (Some("exception"), _) => description,
        (_, Some(added)) if text.is_empty() => return value(&description[added..]),
        (_, Some(added)) => return format!(": {}{}", value(text), value(&description[added..])),
        (_, None) => "",
    };
    let both = match description.contains(text) {
        true => description.to_owned(),
        false if description.is_empty() => text.to_owned(),
        false => format!("{text}: {description}"),
    };
    if both.is_empty() { both } else { format!(": {}", value(&both)) }
}

/// The lines around `line`, with an arrow at `arrow`.
pub fn source(lines: &[String], line: i64, around: i64, arrow: i64, paint: Paint) -> String {
    let shown = (line - around)..=(line + around);
    let numbered = (1i64..).zip(lines).filter(|(number, _)| shown.contains(number));
    let render = |(number, text): (i64, &String)| {
        let text = format!("{number:>4}  {}", text.replace('\t', "    "));
        match number == arrow {
            true => format!("{}\n", paint.mark(&format!("-> {text}"))),
            false => format!("   {text}\n"),
        }
    };
    numbered.map(render).collect()
}

/// One line a variable.
pub fn variables(variables: &[Variable], most: usize, indent: &str) -> String {
    let mut text: String = variables
        .iter()
        .take(most)
        .map(|variable| format!("{indent}{} = {}\n", variable.name, value(&variable.value)))
        .collect();
    if variables.len() > most {
        text.push_str(&format!("{indent}and {} more\n", variables.len() - most));
    }
    text
}

pub fn value(value: &str) -> String {
    let one_line = value.replace('\r', "").replace('\n', "\\n");
    match one_line.char_indices().nth(SHOWN_VALUE) {
        Some((end, _)) => format!("{}…", &one_line[..end]),
        None => one_line,
    }
}

pub fn stack(frames: &[Frame], selected: usize, paint: Paint) -> String {
    let render = |(index, frame): (usize, &Frame)| {
        let text = format!("#{index:<2} {}", place(frame));
        match index == selected {
            true => format!("{}\n", paint.mark(&format!("-> {text}"))),
            false => format!("   {text}\n"),
        }
    };
    frames.iter().enumerate().map(render).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_client::model::{FrameId, Source};
    use serde_json::json;

    fn frame(name: &str, source: Option<&str>, line: i64) -> Frame {
        let source = source.map(|name| Source { name: name.to_owned(), path: None, reference: None });
        Frame { id: FrameId(1), name: name.to_owned(), line, column: 1, source }
    }

    fn variable(name: &str, value: &str) -> Variable {
        Variable { name: name.to_owned(), value: value.to_owned(), kind: String::new() }
    }

    #[test]
    fn the_source_has_an_arrow_at_the_line_and_stays_inside_the_file() {
        let lines: Vec<String> = ["def add(a, b):", "\tc = a + b", "\treturn c"].map(str::to_owned).to_vec();
        let text = source(&lines, 3, 2, 3, Paint::Plain);
        assert_eq!(text, "      1  def add(a, b):\n      2      c = a + b\n->    3      return c\n");
        assert_eq!(source(&lines, 1, 0, 3, Paint::Plain), "      1  def add(a, b):\n");
        assert_eq!(source(&lines, 90, 2, 90, Paint::Plain), "");
        assert_eq!(source(&lines, i64::from(i32::MIN), 2, 0, Paint::Plain), "");
    }

    #[test]
    fn a_stop_tells_which_exception_it_was_and_whose_doing() {
        for (stopped, detail_text) in [
            (json!({"reason": "exception", "text": "ValueError", "description": "bad"}), ": ValueError: bad"),
            (
                json!({"reason": "exception", "text": "bad", "description": "ValueError: bad"}),
                ": ValueError: bad",
            ),
            (json!({"reason": "exception", "text": "ValueError"}), ": ValueError"),
            (json!({"reason": "breakpoint", "description": "breakpoint 1.1"}), ""),
            (
                json!({"reason": "breakpoint", "description": "breakpoint 1.1, set by Ann (resumed by Bob)"}),
                ", set by Ann (resumed by Bob)",
            ),
            (json!({"reason": "step", "description": "step (resumed by Bob)"}), " (resumed by Bob)"),
            (json!({"reason": "step", "description": "in the past"}), ", in the past"),
            (
                json!({"reason": "data breakpoint", "text": "a was 1", "description": "in the past (resumed by Bob)"}),
                ": a was 1, in the past (resumed by Bob)",
            ),
            (
                json!({"reason": "exception", "text": "bad", "description": "exception (resumed by Bob)"}),
                ": bad: exception (resumed by Bob)",
            ),
        ] {
            assert_eq!(detail(&stopped), detail_text);
        }
    }

    #[test]
    fn colours_are_used_only_when_wanted() {
        let frames = [frame("add", Some("t.py"), 3), frame("main", None, 0)];
        let plain = stack(&frames, 0, Paint::Plain);
        assert_eq!(plain, "-> #0  t.py:3 in add\n   #1  an unknown source in main\n");
        assert!(stack(&frames, 0, Paint::Colour).starts_with("\x1b[32m-> #0"));
    }

    #[test]
    fn many_variables_and_long_values_are_shortened() {
        let all = [variable("a", "1\n2"), variable("b", &"x".repeat(500)), variable("c", "3")];
        let text = variables(&all, 2, "  ");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "  a = 1\\n2");
        assert_eq!(lines[1].chars().count(), "  b = ".len() + SHOWN_VALUE + 1);
        assert_eq!(lines[2], "  and 1 more");
    }
}
