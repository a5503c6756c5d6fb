//! How places, source, variables and stacks look.
//!
//! Everything here makes text from data; nothing asks the debugger.

pub mod names;
mod screen;

use serde_json::Value;

use breakroom_client::model::{self, Frame, Source, Variable};

pub use screen::Screen;

/// Values are shown on one line, and no longer than this.
const SHOWN_VALUE: usize = 200;
/// Where a stack goes on with what led to it, this many frames are enough.
const SHOWN_FRAMES: usize = 20;

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
    let function = names::function(&frame.name);
    match &frame.source {
        // Of native methods JDI gives -1.
        Some(source) if frame.line < 1 => format!("{} in {function}", source.name),
        Some(source) => format!("{}:{} in {function}", source.name, frame.line),
        None => format!("an unknown source in {function}"),
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

/// Reasons that are all there is to say: what a debugger calls its breakpoint is nothing that anybody here knows it by.
const PLAIN: [&str; 2] = ["breakpoint", "function breakpoint"];

/// What a debugger adds to the name of what was thrown (debugpy): where the program stands is told anyway.
const ASIDES: [&str; 1] = ["(note: full exception trace is shown but execution is paused at: "];

/// What a stop says beyond its reason: `: ZeroDivisionError: division by zero`, `, set by Ann (resumed by Bob)`. What was
/// thrown, where the debugger had to be asked for it, is better than any description.
pub fn detail(stopped: &Value, thrown: Option<&str>) -> String {
    let said = |key: &str| as_one_line(stopped[key].as_str().unwrap_or_default());
    let is_plain = stopped["reason"].as_str().is_some_and(|reason| PLAIN.contains(&reason));
    let (text, description) = (if is_plain { String::new() } else { said("text") }, said("description"));
    let aside = ASIDES.iter().filter_map(|aside| text.find(aside)).min();
    let (text, description) = (text[..aside.unwrap_or(text.len())].trim_end(), description.as_str());
    let added = ADDED.iter().filter_map(|word| description.find(word)).min();
    let (own, rest) = description.split_at(added.unwrap_or(description.len()));
    if let Some(thrown) = thrown {
        return format!(": {}{}", value(thrown), value(rest));
    }
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

/// CMake's errors are several lines.
fn as_one_line(text: &str) -> String {
    match text.contains('\n') {
        true => text.split_whitespace().collect::<Vec<_>>().join(" "),
        false => text.to_owned(),
    }
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

/// How long a value is that is not shown in full.
pub fn length_if_cut(value: &str) -> Option<usize> {
    let length = whole_value(value).chars().count();
    (length > SHOWN_VALUE).then_some(length)
}

/// On one line, however long.
pub fn whole_value(value: &str) -> String {
    value.replace('\r', "").replace('\n', "\\n")
}

pub fn value(value: &str) -> String {
    let one_line = whole_value(value);
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
    let shown = frames_shown(frames, selected);
    let mut text: String = frames.iter().enumerate().take(shown).map(render).collect();
    if shown < frames.len() {
        text.push_str(&format!("   and those up to #{}; `frame N` looks at one\n", frames.len() - 1));
    }
    text
}

/// The stack itself, and of what led to it so much as makes this many: each timer of Node has the one before it as its cause,
/// back to the first.
fn frames_shown(frames: &[Frame], selected: usize) -> usize {
    match frames.iter().position(|frame| frame.is_label) {
        Some(own) => own.max(SHOWN_FRAMES).max(selected + 1).min(frames.len()),
        None => frames.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_client::model::{FrameId, Source};
    use serde_json::json;

    fn frame(name: &str, source: Option<&str>, line: i64) -> Frame {
        let source = source.map(|name| Source { name: name.to_owned(), path: None, reference: None });
        Frame {
            id: FrameId(1),
            name: name.to_owned(),
            line,
            column: 1,
            source,
            subtle: false,
            is_label: false,
        }
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
            (
                json!({"reason": "exception", "text": "ValueError       (note: full exception trace is shown but execution is paused at: main)", "description": "bad"}),
                ": ValueError: bad",
            ),
            (json!({"reason": "exception", "text": "Error at 3:\n  bad\n\n"}), ": Error at 3: bad"),
            (json!({"reason": "breakpoint", "description": "breakpoint 1.1"}), ""),
            (json!({"reason": "breakpoint", "text": " BP - Line", "description": " BP - Line"}), ""),
            (
                json!({"reason": "breakpoint", "text": " BP - Line", "description": " BP - Line, set by Ann"}),
                ", set by Ann",
            ),
            (
                json!({"reason": "breakpoint", "description": "breakpoint 1.1, set by Ann (resumed by Bob)"}),
                ", set by Ann (resumed by Bob)",
            ),
            (json!({"reason": "step", "description": "step (resumed by Bob)"}), " (resumed by Bob)"),
            (json!({"reason": "breakpoint", "text": " BP - Line  /a/t.rb:3 (line)"}), ""),
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
            assert_eq!(detail(&stopped, None), detail_text);
        }
        let stopped = json!({"reason": "exception", "description": "Paused on exception (resumed by Bob)"});
        assert_eq!(detail(&stopped, Some("Error: bad")), ": Error: bad (resumed by Bob)");
    }

    #[test]
    fn a_stack_is_shown_whole_and_what_led_to_it_only_as_far_as_it_helps() {
        let stack_of = |own: usize, before: usize, selected: usize| {
            let mut frames = vec![frame("f", Some("t.js"), 1); own];
            frames.push(Frame { is_label: true, subtle: true, ..frame("Timeout", None, 0) });
            frames.extend(vec![frame("g", Some("t.js"), 2); before]);
            stack(&frames, selected, Paint::Plain)
        };
        let last = |text: &str| text.lines().last().unwrap().to_owned();
        for (own, before, selected, lines, end) in [
            (3, 10, 0, 14, "   #13 t.js:2 in g"),
            (3, 90, 0, 21, "   and those up to #93; `frame N` looks at one"),
            (3, 90, 60, 62, "   and those up to #93; `frame N` looks at one"),
            (3, 90, 93, 94, "-> #93 t.js:2 in g"),
            (50, 40, 0, 51, "   and those up to #90; `frame N` looks at one"),
        ] {
            let text = stack_of(own, before, selected);
            assert_eq!(
                (text.lines().count(), last(&text).as_str()),
                (lines, end),
                "{own} {before} {selected}"
            );
        }
        let recursion = vec![frame("f", Some("t.js"), 1); 100];
        assert_eq!(last(&stack(&recursion, 0, Paint::Plain)), "   #99 t.js:1 in f");
    }

    #[test]
    fn colours_are_used_only_when_wanted() {
        let frames = [frame("add", Some("t.py"), 3), frame("main", None, 0)];
        let plain = stack(&frames, 0, Paint::Plain);
        assert_eq!(plain, "-> #0  t.py:3 in add\n   #1  an unknown source in main\n");
        assert_eq!(place(&frame("wait", Some("Object.java"), -1)), "Object.java in wait");
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
