//! How languages write the definition of a function, as far as their debuggers do not know functions by name.

use std::path::Path;

pub struct Language {
    extensions: &'static [&'static str],
    shapes: &'static [Shape],
    body: Body,
    /// What begins a line that says whose all functions below it are, and whose they are above all of these.
    package: Option<(&'static str, &'static str)>,
    /// How a line begins that has no code in it.
    comments: &'static [&'static str],
}

/// What is around the name in a definition.
enum Shape {
    /// This stands before it.
    Behind(&'static str),
    /// It is given a function: `name = (a) =>`, `name: function (a)`.
    Value,
    /// `name(a) {`, with such words before it at most.
    Method,
}

/// Where the code of a function begins.
enum Body {
    /// Behind a brace or an arrow.
    Braces,
    /// In the line behind the parameters.
    NextLine,
}

static LANGUAGES: [Language; 4] = [
    Language {
        extensions: &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"],
        shapes: &[Shape::Behind("function"), Shape::Behind("function*"), Shape::Value, Shape::Method],
        body: Body::Braces,
        package: None,
        comments: &["//", "/*", "*"],
    },
    Language {
        extensions: &["pl", "pm", "t"],
        shapes: &[Shape::Behind("sub")],
        body: Body::Braces,
        package: Some(("package ", "main")),
        comments: &["#"],
    },
    Language {
        extensions: &["rb"],
        shapes: &[Shape::Behind("def")],
        body: Body::NextLine,
        package: None,
        comments: &["#"],
    },
    Language {
        extensions: &["cmake", "txt"],
        shapes: &[Shape::Behind("function("), Shape::Behind("macro(")],
        body: Body::NextLine,
        package: None,
        comments: &["#"],
    },
];

/// Words that may stand before a method or a variable.
const MODIFIERS: [&str; 17] = [
    "abstract",
    "async",
    "const",
    "declare",
    "default",
    "export",
    "get",
    "let",
    "override",
    "private",
    "protected",
    "public",
    "readonly",
    "set",
    "static",
    "var",
    "*",
];

/// Names before the last one that are none of a class.
const RECEIVERS: [&str; 4] = ["exports", "prototype", "self", "this"];

/// A parameter list that is longer is none.
const LONGEST_HEAD: usize = 4_000;

impl Language {
    pub fn of(file: &Path) -> Option<&'static Language> {
        let extension = file.extension()?.to_str()?;
        LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
    }

    /// The first places inside of the functions of this name: lines from 1 on, and columns where they are needed.
    pub fn bodies(&self, text: &str, name: &str) -> Vec<(i64, Option<i64>)> {
        let mut parts = name.split(['.', ':', '#']).filter(|part| !part.is_empty()).rev();
        let Some(own) = parts.next() else { return Vec::new() };
        let class = parts.find(|part| !RECEIVERS.contains(part));
        let mut bodies = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            for (at, _) in line.match_indices(own).filter(|(at, _)| is_word(line, *at, own)) {
                let (before, receiver) = without_receiver(&line[..at]);
                // Whose it is takes a look at all that is above, which is too much for every word that is like its name.
                let is_of_class = || {
                    class.is_none_or(|class| {
                        receiver.split('.').any(|part| part == class)
                            || is_inside(&text[..start], line, class)
                            || self.package_at(&text[..start]) == Some(class)
                    })
                };
                let behind = start + at + own.len();
                if !self.is_comment(line) && self.is_definition(before, &text[behind..]) && is_of_class() {
                    bodies.extend(self.body(text, start, behind));
                }
            }
            start += line.len();
        }
        bodies.dedup();
        bodies
    }

    /// The last part of the package that is said last.
    fn package_at<'a>(&self, above: &'a str) -> Option<&'a str> {
        let (word, first) = self.package?;
        let name = above.lines().rev().find_map(|line| line.trim_start().strip_prefix(word));
        let name =
            name.map(|name| name.split(|letter| !is_of_word(letter) && letter != ':').next().unwrap_or(name));
        Some(name.and_then(|name| name.rsplit("::").next()).unwrap_or(first))
    }

    fn is_comment(&self, line: &str) -> bool {
        self.comments.iter().any(|mark| line.trim_start().starts_with(mark))
    }

    fn is_definition(&self, before: &str, behind: &str) -> bool {
        let is_bare = || before.split_whitespace().all(|word| MODIFIERS.contains(&word));
        self.shapes.iter().any(|shape| match shape {
            Shape::Behind(word) => {
                let before = before.trim_end();
                let rest = before.len().checked_sub(word.len()).and_then(|at| before.split_at_checked(at));
                rest.is_some_and(|(rest, last)| {
                    last.eq_ignore_ascii_case(word) && !rest.ends_with(is_of_word)
                })
            }
            Shape::Value => is_bare() && is_given_function(behind),
            Shape::Method => is_bare() && is_method(behind),
        })
    }

    /// Where the code begins of what is defined in the line from `start` on, and named up to `behind`.
    fn body(&self, text: &str, start: usize, behind: usize) -> Option<(i64, Option<i64>)> {
        let from = match self.body {
            Body::Braces => behind + brace_or_arrow(&text[behind..])?,
            Body::NextLine => match end_of_head(&text[start..]) {
                Some(length) => start + length,
                // All of it is in this line.
                None => return Some((line_at(text, start), None)),
            },
        };
        let first = line_at(text, start);
        let mut at = from;
        for line in text[from..].split_inclusive('\n') {
            let code = line.trim_start();
            if !code.is_empty() && !self.is_comment(line) {
                let at = at + line.len() - code.len();
                let line = line_at(text, at);
                let begins = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
                let column = i64::try_from(text[begins..at].chars().count()).ok()? + 1;
                return Some((line, (line == first).then_some(column)));
            }
            at += line.len();
        }
        None
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn is_word(line: &str, at: usize, name: &str) -> bool {
    !line[..at].ends_with(is_of_word) && !line[at + name.len()..].starts_with(is_of_word)
}

/// `Cart.prototype.` before a name is whose it is.
fn without_receiver(before: &str) -> (&str, &str) {
    match before.ends_with('.') {
        true => {
            let begins = before.trim_end_matches(|letter| is_of_word(letter) || letter == '.').len();
            before.split_at(begins)
        }
        false => (before, ""),
    }
}

/// Whether a line is below one that has this name in it, by how far they are indented.
fn is_inside(above: &str, line: &str, class: &str) -> bool {
    let indented = |line: &str| line.len() - line.trim_start().len();
    let mut depth = indented(line);
    for line in above.lines().rev().filter(|line| !line.trim().is_empty()) {
        // Nothing is around what is not indented.
        if depth == 0 {
            return false;
        }
        if indented(line) < depth {
            depth = indented(line);
            if line.match_indices(class).any(|(at, _)| is_word(line, at, class)) {
                return true;
            }
        }
    }
    false
}

/// What follows a bracket and all that is in it.
fn behind_bracket(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices().take(LONGEST_HEAD) {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[at + letter.len_utf8()..]);
        }
    }
    None
}

/// `= async (a, b) =>`, `: function (a)`.
fn is_given_function(behind: &str) -> bool {
    let Some(value) = behind.trim_start().strip_prefix(['=', ':']) else { return false };
    let value = value.trim_start();
    let value = value.strip_prefix("async").filter(|rest| !rest.starts_with(is_of_word)).unwrap_or(value);
    let value = value.trim_start();
    if let Some(rest) = value.strip_prefix("function") {
        return !rest.starts_with(is_of_word);
    }
    let rest = match value.starts_with('(') {
        true => behind_bracket(value),
        false => Some(value.trim_start_matches(is_of_word)).filter(|rest| rest.len() < value.len()),
    };
    // TypeScript may name a type before the arrow.
    let rest = rest.map(str::trim_start);
    rest.is_some_and(|rest| {
        let head = rest.lines().next().unwrap_or_default();
        rest.starts_with("=>") || value.starts_with('(') && rest.starts_with(':') && head.contains("=>")
    })
}

/// `(a, b) {`, or with a type before the brace.
fn is_method(behind: &str) -> bool {
    let behind = match behind.strip_prefix('<') {
        Some(generic) => generic.split_once('>').map_or("", |(_, rest)| rest),
        None => behind,
    };
    let rest = behind.trim_start().starts_with('(').then(|| behind_bracket(behind.trim_start())).flatten();
    let rest = rest.map(str::trim_start).unwrap_or_default();
    let head = rest.lines().next().unwrap_or_default();
    rest.starts_with('{') || rest.starts_with(':') && head.trim_end().ends_with('{')
}

/// Where the code begins behind the first brace or arrow outside of all brackets.
fn brace_or_arrow(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices().take(LONGEST_HEAD) {
        let rest = &text[at..];
        match letter {
            '{' if depth == 0 => return Some(at + 1),
            '=' if depth == 0 && rest.starts_with("=>") => {
                let code = rest[2..].trim_start();
                let at = at + rest.len() - code.len();
                return Some(if code.starts_with('{') { at + 1 } else { at });
            }
            // Only declared.
            ';' if depth == 0 => return None,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// How long the head of a definition is with its line's end. None if the code is in the same line.
fn end_of_head(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices().take(LONGEST_HEAD) {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '=' | ';' if depth == 0 => return None,
            '\n' if depth == 0 => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn line_at(text: &str, at: usize) -> i64 {
    i64::try_from(text[..at].matches('\n').count()).unwrap_or(i64::MAX - 1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(file: &str, text: &str, name: &str) -> Vec<(i64, Option<i64>)> {
        Language::of(Path::new(file)).expect("a language").bodies(text, name)
    }

    #[test]
    fn every_way_to_write_a_function_of_javascript_is_found() {
        for definition in [
            "function add(a, b) {",
            "async function add(a) {",
            "export default function add() {",
            "function* add() {",
            "const add = (a, b) => {",
            "export const add = async (a) => {",
            "let add = a => {",
            "var add = function (a) {",
            "exports.add = function named() {",
            "Cart.prototype.add = function () {",
            "  add(a, { b } = {}) {",
            "  static async add() {",
            "  add: function (a) {",
            "  add: async (a) => {",
            "function add<T>(a: T): T {",
            "  private add(a: number): string {",
            "const add = (a: number): string => {",
        ] {
            let text =
                format!("// function add() {{\nlet x = 1;\n{definition}\n\n  // nothing\n  return 1;\n}}\n");
            assert_eq!(bodies("t.ts", &text, "add"), [(6, None)], "{definition}");
        }
    }

    #[test]
    fn what_only_looks_like_a_definition_is_none() {
        for other in [
            "add(1, 2);",
            "add(1)",
            "const add = items.map((a) => a + 1);",
            "if (add(1)) {",
            "const more = add;",
            "function adder() {",
            "const x = { add };",
            "add == b => {",
            "declare function add(a: number): string;",
        ] {
            assert_eq!(bodies("t.ts", &format!("{other}\n  x;\n}}\n"), "add"), [], "{other}");
        }
    }

    #[test]
    fn a_function_in_one_line_is_found_by_its_column() {
        assert_eq!(bodies("t.js", "const add = (a) => a + 1;\n", "add"), [(1, Some(20))]);
        assert_eq!(bodies("t.js", "let x;\nfunction add(a) { return a; }\n", "add"), [(2, Some(19))]);
        assert_eq!(bodies("t.js", "function add(\n  a,\n  b,\n) {\n  return a;\n}\n", "add"), [(5, None)]);
    }

    #[test]
    fn methods_are_told_apart_by_their_class() {
        let text = "class Cart {\n  total() {\n    return 1;\n  }\n}\nclass Bill {\n  total() {\n    return 2;\n  }\n}\n";
        assert_eq!(bodies("t.js", text, "total"), [(3, None), (8, None)]);
        assert_eq!(bodies("t.js", text, "Bill.total"), [(8, None)]);
        assert_eq!(bodies("t.js", text, "Cart.prototype.total"), [(3, None)]);
        let text = "Cart.total = function () {\n  return 1;\n};\n";
        assert_eq!(
            (bodies("t.js", text, "Cart.total"), bodies("t.js", text, "Bill.total")),
            (vec![(2, None)], vec![])
        );
    }

    #[test]
    fn functions_of_other_languages_are_found() {
        let ruby = "class Cart\n  def total(a,\n            b)\n    # nothing\n    a + b\n  end\n  def self.empty? = true\nend\n";
        assert_eq!(bodies("t.rb", ruby, "Cart#total"), [(5, None)]);
        assert_eq!(bodies("t.rb", ruby, "empty?"), [(7, None)]);
        assert_eq!(bodies("t.rb", ruby, "Bill#total"), []);
        let perl = "sub add {\n    my ($n) = @_;\n}\npackage Shop::Cart;\nsub add {\n    1;\n}\nadd(1);\nsub later;\n";
        let lines =
            |name: &str| bodies("t.pl", perl, name).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!(
            (lines("add"), lines("main::add"), lines("Shop::Cart::add")),
            (vec![2, 6], vec![2], vec![6])
        );
        assert_eq!((lines("Bill::add"), lines("later")), (vec![], vec![]));
        let cmake = "FUNCTION(fizz number)\n  set(word \"\")\nendfunction()\nfizz(3)\n";
        assert_eq!(bodies("t.cmake", cmake, "fizz"), [(2, None)]);
    }
}
