//! Whatever the text is, parsing ends, does not panic, and speaks of places inside of the text.

use proptest::prelude::*;

use super::{Diagnostics, FILE, parse_file, parse_fragment, shape};
use crate::source::Span;
use crate::syntax::lexer::tokens;
use crate::syntax::token::{MARKS, TokenKind, WORDS};

const PROGRAM: &str = r#"module main
import @std, arr@arrays
import & use "./geometry"
#suppress(W1001)
using std
const LIMIT int = 1_000
private const Point struct { x, y int `json:"p"` names map[string:[int]] }
#flags
const Mode enum : int { A B = 0x10 C }
do area(p Point, &log [string], scale float = 1.5e3) -> (float, error) {
    ensure close(log)
    temp q, _ = parse("${p.x} and ${m["k"]} \"${names(\"n\")}\"")
    if p.x == 'a' && !done { return 0.0, nil } or p in {1, 2} {} otherwise { x++ }
    #strict when p { is Mode.A, range(3, 9) {} default { break } }
    for (i u8 in range(0, 10)) { a[i].b += Point{x: 1, y: -2}.x }
    for_each c in `raw` { continue }
    as_long_as a !in b { loop { a, _ = f({:}, {"k": {}}, cast(x, [u8, 3]), new(Point), ref(y)) } }
    return
}
"#;

/// Panics if something is wrong with the answer.
fn parse(text: &str) {
    let mut diagnostics = Diagnostics::default();
    let tree = parse_file(FILE, text, &mut diagnostics);
    shape::file(&tree, text);
    let told = diagnostics.all.len();
    let fragment = parse_fragment(FILE, text, &mut diagnostics);
    if let Some(statement) = fragment {
        shape::statement(&statement, Span { file: FILE, start: 0, end: text.len() as u32 });
    } else {
        assert!(diagnostics.all.len() > told, "nothing was told about {text:?}");
    }
    for diagnostic in &diagnostics.all {
        let span = diagnostic.span.unwrap();
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?} in {text:?}");
    }
}

fn token() -> impl Strategy<Value = String> {
    let fixed: Vec<&str> =
        WORDS.iter().map(|(text, _)| *text).chain(MARKS.iter().map(|(text, _)| *text)).collect();
    let others = [
        "a", "B", "ref", "map", "else", "while", "let", "and", "1", "1.5", "'x'", "\"s\"", "\"${a}\"",
        "\"${", "`r`", "\n", "\n", "$",
    ];
    prop_oneof![prop::sample::select(fixed), prop::sample::select(others.to_vec())].prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parsed_to_something(text in "\\PC*") {
        parse(&text);
    }

    #[test]
    fn any_text_of_the_language_s_characters_is_parsed_to_something(text in "[\\x00-\\x7fé漢😀]{0,200}") {
        parse(&text);
    }

    #[test]
    fn any_tokens_are_parsed_to_something(all in prop::collection::vec(token(), 0..60)) {
        let text = all.join(" ");
        parse(&text);
        parse(&format!("do f() {{ {text} }}"));
    }

    #[test]
    fn a_program_with_something_cut_out_is_parsed_to_something(from in 0..PROGRAM.len(), length in 0usize..40) {
        let to = (from + length).min(PROGRAM.len());
        parse(&format!("{}{}", &PROGRAM[..from], &PROGRAM[to..]));
    }

    #[test]
    fn a_program_with_something_put_in_is_parsed_to_something(at in 0..PROGRAM.len(), what in token()) {
        parse(&format!("{}{what}{}", &PROGRAM[..at], &PROGRAM[at..]));
    }

    #[test]
    fn tokens_follow_each_other_and_cover_all_but_spaces_and_comments(text in "[\\x00-\\x7fé漢]{0,100}") {
        let all = tokens(FILE, &text, &mut Diagnostics::default());
        let mut end = 0;
        for token in &all {
            prop_assert!(token.span.start >= end && token.span.end <= text.len() as u32);
            let between = &text[end as usize..token.span.start as usize];
            prop_assert!(between.starts_with(|first: char| " \t\r\n/".contains(first)) || between.is_empty(), "{between:?}");
            end = token.span.end;
        }
        prop_assert_eq!(&all.last().unwrap().kind, &TokenKind::End);
    }
}

#[test]
fn the_program_that_is_changed_has_no_mistakes() {
    super::shape_of(PROGRAM);
}
