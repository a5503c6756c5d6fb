//! Whatever parses is checked without a panic: pieces of programs, put together and cut at random.

use breakroom_ez::Diagnostics;
use breakroom_ez::check::check;
use breakroom_ez::library::Library;
use breakroom_ez::modules::{Entry, LibraryNames, load};
use breakroom_ez::source::FileId;
use breakroom_ez::syntax::parser::parse_fragment;
use proptest::prelude::*;
use std::path::Path;

const PIECES: &[&str] = &[
    "temp",
    "const",
    "do",
    "return",
    "if",
    "or",
    "otherwise",
    "for",
    "for_each",
    "as_long_as",
    "loop",
    "break",
    "in",
    "range(",
    "struct",
    "enum",
    "nil",
    "new(",
    "true",
    "when",
    "is",
    "default",
    "cast(",
    "ensure",
    "ref(",
    "using std",
    "x",
    "y",
    "f",
    "P",
    "E",
    "E.A",
    "x.a",
    "x[0]",
    "f(",
    "len(",
    "int(",
    "arrays.append(",
    "strings",
    "int",
    "string",
    "u8",
    "[int]",
    "[int, 3]",
    "map[string:int]",
    "P{a: 1}",
    "{1, 2}",
    "{\"k\": 1}",
    "{}",
    "{:}",
    "1",
    "300",
    "-1",
    "1.5",
    "\"s\"",
    "\"${x}\"",
    "'c'",
    "=",
    "==",
    "+=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<",
    "&&",
    "||",
    "!",
    "++",
    "--",
    ",",
    ":",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "->",
    ".",
    "&",
    "_",
    "\n",
    "#strict",
    "99999999999999999999999999999999999999",
];

const WHOLE: &str = "import @std, @arrays\nusing std\nconst P struct { a int  b [P] }\nconst E enum { A B }\n\
    temp g = h\nconst h = 3\ndo f(a int, &b [int], c string = \"x\") -> (int, error) {\n temp x [int, 3] = {1, a}\n\
    for i in range(a) {\n when i { is 1 { b[i] += x[0] } default { arrays.append(b, i) } }\n }\n\
    return a * 2, nil\n}\ndo main() {\n temp b [int] = {}\n temp v, e = f(1, b)\n println(v, e, \"${P{a: 1}.a}\", E.A)\n}\n";

fn survive(text: &str) {
    let library = Library::new();
    let offered: Vec<&str> = library.modules().collect();
    let names = LibraryNames { offered: &offered, not_offered: &[] };
    let mut diagnostics = Diagnostics::default();
    let read = |path: &Path| match path.ends_with("main.ez") {
        true => Ok(Entry::File(text.to_owned())),
        false => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    // Also what does not parse whole: what could be read of it is a program too.
    let loaded = load(Path::new("/main.ez"), &names, &read, &mut diagnostics);
    check(&loaded, &library, &mut diagnostics);
    for told in &diagnostics.all {
        let Some(span) = told.span else { continue };
        assert!(span.start <= span.end && span.end as usize <= text.len(), "{told:?}");
    }
}

#[test]
fn the_program_that_is_cut_up_has_no_mistakes() {
    let (found, told) = crate::tell(&[("main.ez", WHOLE)], 0);
    assert_eq!(found, "W3003@8", "{told}");
}

#[test]
fn the_deepest_that_parses_fits_on_the_stack() {
    for depth in [50, 90, 100, 250, 1000] {
        let parentheses = format!("do main() {{ temp _x = {}1{} }}", "(".repeat(depth), ")".repeat(depth));
        let arrays = format!("do main() {{ temp _x = {}1{} }}", "{".repeat(depth), "}".repeat(depth));
        let sum = format!("do main() {{ temp _x = {}1 }}", "1 + ".repeat(depth));
        let calls = format!("do main() {{ temp _x = {}1{} }}", "int(".repeat(depth), ")".repeat(depth));
        let indexes = format!("do main() {{ temp x = {{1}}\n x{} = 1 }}", "[0]".repeat(depth));
        let blocks = format!("do main() {{ {} {} }}", "if true {".repeat(depth), "}".repeat(depth));
        let nots = format!("do main() {{ temp _x = {}true }}", "!".repeat(depth));
        let types = format!("do main() {{ temp _x {}int{} }}", "[".repeat(depth), "]".repeat(depth));
        for text in [parentheses, arrays, sum, calls, indexes, blocks, nots, types] {
            survive(&text);
        }
    }
    let deep =
        |number: usize| format!("temp g{number} = {}g{}{}\n", "1 + (".repeat(40), number + 1, ")".repeat(40));
    let chain: String = (0..80).map(deep).collect();
    let chain = format!("{chain}temp g80 = 1\ndo main() {{ }}");
    survive(&chain);
    assert!(crate::tell(&[("main.ez", &chain)], 0).0.contains("E3043"));
    let globals: String = (0..5000).map(|number| format!("temp g{number} = g{}\n", number + 1)).collect();
    survive(&format!("{globals}temp g5000 = 1\ndo main() {{ }}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_in_any_order_are_survived(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        survive(&format!("import @std, @arrays\nconst P struct {{ a int }}\nconst E enum {{ A B }}\n\
            do f(a int) -> int {{ return a }}\ndo main() {{\n temp x = 1\n temp y = {{1, 2}}\n {}\n}}\n", pieces.join(" ")));
    }

    #[test]
    fn pieces_evaluated_by_a_debugger_are_survived(pieces in prop::collection::vec(prop::sample::select(PIECES), 1..12)) {
        let mut diagnostics = Diagnostics::default();
        let (_, checked) = crate::program(&[("main.ez", WHOLE)], &mut diagnostics);
        let checked = checked.expect("it has no mistakes");
        let text = pieces.join(" ");
        if let Some(statement) = parse_fragment(FileId(9), &text, &mut diagnostics) {
            for function in &checked.program.functions {
                let file = function.span.file;
                let locals = &function.locals;
                checked.fragment(&statement, &Library::new(), file, locals, &mut diagnostics);
            }
        }
    }

    #[test]
    fn a_program_with_pieces_exchanged_is_survived(
        changes in prop::collection::vec((0..WHOLE.len(), 0..12usize, prop::sample::select(PIECES)), 1..6),
    ) {
        let mut text = WHOLE.to_owned();
        for (at, length, piece) in changes {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.replace_range(at..end, &format!(" {piece} "));
        }
        survive(&text);
    }
}
