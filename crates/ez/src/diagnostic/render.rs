//! How a diagnostic looks in a terminal: code and message, place, source line, caret, help.
//!
//! What a source line holds is shown as it is, but for control characters, which could do anything to a terminal.

use super::{Colour, Diagnostic, Diagnostics, Severity};
use crate::fault::Fault;
use crate::source::{Source, Sources, Span};

/// Every one in its frame, and the summary; empty if there is nothing.
pub fn all(diagnostics: &Diagnostics, sources: &Sources, colour: Colour) -> String {
    if diagnostics.all.is_empty() {
        return String::new();
    }
    let paint = Paint(colour);
    let mut text = String::new();
    for diagnostic in &diagnostics.all {
        frame(&mut text, diagnostic, sources, paint);
        text.push('\n');
    }
    if let Some(more) = counted(diagnostics.left_out, "more error") {
        text.push_str(&format!("{more}: mend these first\n\n"));
    }
    let errors = counted(diagnostics.errors().count() + diagnostics.left_out, "error");
    let warnings = counted(diagnostics.warnings().count(), "warning");
    let counts: Vec<String> = [errors, warnings].into_iter().flatten().collect();
    text.push_str(&format!("{}: generated {}\n", paint.with(BOLD, "summary"), counts.join(", ")));
    text
}

/// What ended a running program, in the same frame.
pub fn one(fault: &Fault, span: Span, sources: &Sources, colour: Colour) -> String {
    let mut diagnostic =
        Diagnostic::error(fault.code, span, fault.message.clone()).label("error occurred here");
    diagnostic.help = fault.help.as_deref().map(str::to_owned);
    let mut text = String::new();
    frame(&mut text, &diagnostic, sources, Paint(colour));
    text
}

fn counted(count: usize, noun: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        _ => Some(format!("{count} {noun}s")),
    }
}

fn frame(text: &mut String, diagnostic: &Diagnostic, sources: &Sources, paint: Paint) {
    let (word, colour) = match diagnostic.severity {
        Severity::Error => ("error", RED),
        Severity::Warning => ("warning", YELLOW),
    };
    let head = paint.with(colour, &format!("{word}[{}]", diagnostic.code));
    text.push_str(&format!("{head}: {}\n", paint.with(BOLD, &diagnostic.message)));
    let mut gutter = "  ".to_owned();
    if let Some(span) = diagnostic.span {
        let source = sources.get(span.file);
        let position = source.position(span.start);
        let number = position.line.to_string();
        gutter = " ".repeat(number.len() + 1);
        let bar = paint.with(BLUE, "|");
        let arrow = paint.with(BLUE, "-->");
        text.push_str(&format!("{gutter}{arrow} {}:{}:{}\n", source.shown, position.line, position.column));
        let excerpt = Excerpt::new(source, span);
        let label =
            if diagnostic.label.is_empty() { String::new() } else { format!(" {}", diagnostic.label) };
        let caret = paint.with(colour, &format!("{}{label}", excerpt.carets));
        text.push_str(&format!("{gutter} {bar}\n"));
        text.push_str(&format!(" {} {bar} {}\n", paint.with(BLUE, &number), excerpt.line));
        text.push_str(&format!("{gutter} {bar} {}{}\n", excerpt.indent, caret));
        text.push_str(&format!("{gutter} {bar}\n"));
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("{gutter} {} {}: {help}\n", paint.with(BLUE, "="), paint.with(CYAN, "help")));
    }
}

/// A source line and what stands below it.
struct Excerpt {
    line: String,
    /// As wide as what is before the carets; tabs stay tabs, whose width only the terminal knows.
    indent: String,
    carets: String,
}

/// Longer lines are cut, in characters around the place.
const BEFORE: usize = 100;
const AFTER: usize = 100;
const CUT: char = '…';

impl Excerpt {
    fn new(source: &Source, span: Span) -> Self {
        let position = source.position(span.start);
        let whole = source.line(position.line);
        let start = floor(whole, position.column as usize - 1);
        let length = (span.end.saturating_sub(span.start)) as usize;
        let end = floor(whole, start + length).max(start);
        let (before, marked, after) = (&whole[..start], &whole[start..end], &whole[end..]);

        let mut line = String::new();
        let mut indent = String::new();
        let left_out = before.chars().count().saturating_sub(BEFORE);
        if left_out > 0 {
            line.push(CUT);
            indent.push(' ');
        }
        for character in before.chars().skip(left_out) {
            line.push(visible(character));
            match character {
                '\t' => indent.push('\t'),
                _ => indent.extend(std::iter::repeat_n(' ', width(visible(character)))),
            }
        }
        let mut rest = marked.chars().chain(after.chars());
        line.extend(rest.by_ref().take(AFTER).map(visible));
        if rest.next().is_some() {
            line.push(CUT);
        }
        let wide: usize = marked.chars().take(AFTER).map(|character| width(visible(character))).sum();
        Self { line, indent, carets: "^".repeat(wide.max(1)) }
    }
}

/// The nearest place between two characters that is not behind `index`.
fn floor(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    (0..=index).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

fn visible(character: char) -> char {
    let harmful =
        character.is_control() && character != '\t' || ('\u{202a}'..='\u{202e}').contains(&character);
    if harmful { '\u{fffd}' } else { character }
}

/// How many columns a character takes, for those that programs are likely to hold.
fn width(character: char) -> usize {
    let within = |ranges: &[(u32, u32)]| {
        ranges.iter().any(|(first, last)| (*first..=*last).contains(&(character as u32)))
    };
    if within(ZERO_WIDTH) {
        0
    } else if within(DOUBLE_WIDTH) {
        2
    } else {
        1
    }
}

/// Accents that join the character before them, joiners, variation selectors.
const ZERO_WIDTH: &[(u32, u32)] = &[
    (0x0300, 0x036f),
    (0x1ab0, 0x1aff),
    (0x1dc0, 0x1dff),
    (0x200b, 0x200f),
    (0x20d0, 0x20ff),
    (0xfe00, 0xfe0f),
    (0xfe20, 0xfe2f),
];

/// East Asian scripts and pictures.
const DOUBLE_WIDTH: &[(u32, u32)] = &[
    (0x1100, 0x115f),
    (0x2e80, 0x303e),
    (0x3041, 0xa4cf),
    (0xac00, 0xd7a3),
    (0xf900, 0xfaff),
    (0xfe30, 0xfe6f),
    (0xff00, 0xff60),
    (0xffe0, 0xffe6),
    (0x1f300, 0x1f64f),
    (0x1f680, 0x1f6ff),
    (0x1f900, 0x1f9ff),
    (0x20000, 0x3fffd),
];

const BOLD: &str = "1";
const RED: &str = "1;31";
const YELLOW: &str = "1;33";
const BLUE: &str = "1;34";
const CYAN: &str = "36";

#[derive(Clone, Copy)]
struct Paint(Colour);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        match self.0 {
            Colour::Always if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn rendered(text: &str, start: u32, end: u32, label: &'static str) -> String {
        let mut sources = Sources::default();
        let file = sources.add("main.ez".into(), text);
        let mut diagnostics = Diagnostics::default();
        let span = Span { file, start, end };
        diagnostics
            .push(Diagnostic::error("E5001", span, "division by zero").label(label).help("check it first"));
        all(&diagnostics, &sources, Colour::Never)
    }

    #[test]
    fn an_error_has_code_place_line_caret_and_help() {
        let expected = "\
error[E5001]: division by zero
  --> main.ez:2:10
   |
 2 | temp x = a / b
   |          ^^^^^ this is zero
   |
   = help: check it first

summary: generated 1 error
";
        let text = "do f()\ntemp x = a / b\n";
        assert_eq!(rendered(text, 16, 21, "this is zero"), expected);
    }

    #[test]
    fn the_gutter_grows_with_the_line_number() {
        let text = rendered(&format!("{}x", "\n".repeat(99)), 99, 100, "");
        assert!(
            text.contains("\n    --> main.ez:100:1\n     |\n 100 | x\n     | ^\n     |\n     = help"),
            "{text}"
        );
    }

    #[test]
    fn the_caret_stands_under_its_place_whatever_is_before_it() {
        let rows = [
            ("\t\tx", 2, "\t\t^"),
            ("\"é\" + x", 7, "      ^"),
            ("\"漢字\" + x", 11, "         ^"),
            ("\"e\u{301}\" + x", 8, "      ^"),
        ];
        for (text, start, expected) in rows {
            let rendered = rendered(text, start, start + 1, "");
            let caret = rendered.lines().nth(4).unwrap();
            assert_eq!(caret, format!("   | {expected}"), "{text}");
        }
    }

    #[test]
    fn a_place_at_the_end_or_inside_of_a_character_still_has_a_caret() {
        for (text, start, end) in
            [("x", 1, 1), ("", 0, 0), ("x\n", 2, 2), ("é", 1, 1), ("a\nb", 0, 3), ("x", 1, 900)]
        {
            assert!(rendered(text, start, end, "").contains('^'), "{text:?}");
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let text = rendered("\u{1b}[2J x", 5, 6, "");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_place() {
        let line = format!("{}!{}", "a".repeat(100_000), "b".repeat(100_000));
        let text = rendered(&line, 100_000, 100_001, "here");
        assert!(text.len() < 1000, "{}", text.len());
        let lines: Vec<&str> = text.lines().collect();
        let place = lines[3].chars().position(|character| character == '!');
        assert_eq!(place, lines[4].chars().position(|character| character == '^'));
    }

    #[test]
    fn colours_are_only_there_if_wanted() {
        let sources = Sources::default();
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic { span: None, ..Diagnostic::error("E6001", nowhere(), "no file") });
        diagnostics.push(Diagnostic { span: None, ..Diagnostic::warning("W1001", nowhere(), "odd") });
        diagnostics.push(Diagnostic { span: None, ..Diagnostic::warning("W1001", nowhere(), "odd") });
        let plain = all(&diagnostics, &sources, Colour::Never);
        let expected = "error[E6001]: no file\n\nwarning[W1001]: odd\n\nwarning[W1001]: odd\n\nsummary: generated 1 error, 2 warnings\n";
        assert_eq!(plain, expected);
        let painted = all(&diagnostics, &sources, Colour::Always);
        assert!(painted.starts_with("\u{1b}[1;31merror[E6001]\u{1b}[0m: "), "{painted:?}");
    }

    #[test]
    fn nothing_is_said_about_nothing() {
        assert_eq!(all(&Diagnostics::default(), &Sources::default(), Colour::Always), "");
    }

    #[test]
    fn a_runtime_error_says_where_it_occurred() {
        let mut sources = Sources::default();
        let file = sources.add("main.ez".into(), "x = 1 / 0");
        let fault = Fault::new("E5001", "division by zero").help("check it first");
        let text = one(&fault, Span { file, start: 4, end: 9 }, &sources, Colour::Never);
        assert!(
            text.contains("   |     ^^^^^ error occurred here\n   |\n   = help: check it first\n"),
            "{text}"
        );
    }

    fn nowhere() -> Span {
        Span { file: FileId(0), start: 0, end: 0 }
    }
}
