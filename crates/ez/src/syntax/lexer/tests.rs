//! Literals and their mistakes, as tables.

use num_bigint::BigInt;

use super::*;
use crate::syntax::token::Word;

const FILE: FileId = FileId(0);

/// All tokens but the end.
fn lexed(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut diagnostics = Diagnostics::default();
    let mut all = tokens(FILE, text, &mut diagnostics);
    assert_eq!(all.pop().unwrap().kind, TokenKind::End);
    (all, diagnostics.all)
}

fn kinds(text: &str) -> Vec<TokenKind> {
    let (all, told) = lexed(text);
    assert!(told.is_empty(), "{text}: {told:?}");
    all.into_iter().map(|token| token.kind).collect()
}

fn name(text: &str) -> TokenKind {
    TokenKind::Name(Rc::from(text))
}

#[test]
fn integers_are_read_in_every_base() {
    let rows = [
        ("0", "0"),
        ("42", "42"),
        ("1_000_000", "1000000"),
        ("0xFf", "255"),
        ("0Xdead_beef", "3735928559"),
        ("0b1010", "10"),
        ("017", "15"),
        (
            "115792089237316195423570985008687907853269984665640564039457584007913129639936",
            "115792089237316195423570985008687907853269984665640564039457584007913129639936",
        ),
    ];
    for (text, expected) in rows {
        let expected: BigInt = expected.parse().unwrap();
        assert_eq!(kinds(text), [TokenKind::Int(expected)], "{text}");
    }
}

#[test]
fn floats_need_digits_on_both_sides() {
    for (text, expected) in
        [("1.5", 1.5), ("1e10", 1e10), ("1.5e-3", 0.0015), ("2E+2", 200.0), ("1_0.2_5", 10.25), ("0.5", 0.5)]
    {
        assert_eq!(kinds(text), [TokenKind::Float(expected)], "{text}");
    }
    assert_eq!(kinds("1.abs"), [TokenKind::Int(BigInt::from(1)), TokenKind::Mark(Mark::Dot), name("abs")]);
}

#[test]
fn strings_have_escapes_and_raw_ones_have_none() {
    let rows = [
        (r#""""#, ""),
        (r#""a\n\t\r\\\"\'\0b""#, "a\n\t\r\\\"'\0b"),
        (r#""ünï 漢""#, "ünï 漢"),
        (r#""'""#, "'"),
        (r#""$ {x} $x""#, "$ {x} $x"),
        (r#""// no comment""#, "// no comment"),
    ];
    for (text, expected) in rows {
        assert_eq!(kinds(text), [TokenKind::Text(Rc::from(expected))], "{text}");
    }
    assert_eq!(kinds("`a\\n${x}\n\"`"), [TokenKind::Raw(Rc::from("a\\n${x}\n\""))]);
}

#[test]
fn characters_are_one_code_point() {
    for (text, expected) in
        [("'a'", 'a'), (r"'\n'", '\n'), (r"'\''", '\''), ("'\"'", '"'), (r"'\0'", '\0'), ("'é'", 'é')]
    {
        assert_eq!(kinds(text), [TokenKind::Char(expected)], "{text}");
    }
}

#[test]
fn the_longest_mark_wins() {
    let marks = |text: &str| -> Vec<&'static str> {
        let mark = |kind| if let TokenKind::Mark(mark) = kind { mark.text() } else { "?" };
        kinds(text).into_iter().map(mark).collect()
    };
    assert_eq!(marks("+++=->--==="), ["++", "+=", "->", "--", "==", "="]);
    assert_eq!(marks("!in !=!&&&"), ["!in", "!=", "!", "&&", "&"]);
    assert_eq!(
        kinds("!in_x !into"),
        [TokenKind::Mark(Mark::Bang), name("in_x"), TokenKind::Mark(Mark::Bang), name("into")]
    );
}

#[test]
fn words_are_whole() {
    let expected = [
        TokenKind::Word(Word::For),
        TokenKind::Word(Word::ForEach),
        name("for_"),
        name("_x"),
        TokenKind::Word(Word::Underscore),
    ];
    assert_eq!(kinds("for for_each for_ _x _"), expected);
}

#[test]
fn the_first_token_of_a_line_knows_it() {
    let (all, _) = lexed("a b\n  c /* x */ d /* \n */ e // f\n\n\"g\nh\"");
    let first: Vec<bool> = all.iter().map(|token| token.begins_line).collect();
    assert_eq!(first, [true, false, true, false, true, true, true, false]);
}

#[test]
fn each_wrong_literal_is_told_once_with_its_code_and_place() {
    let rows = [
        ("a ß b", "E1001", "ß"),
        ("größe", "E1001", "öße"),
        ("^", "E1001", "^"),
        ("\u{0}", "E1001", "\u{0}"),
        ("a | b", "E1002", "|"),
        ("/* a", "E1003", "/*"),
        ("/*/", "E1003", "/*"),
        ("\"abc\nx", "E1004", "\""),
        ("\"abc\\", "E1004", "\""),
        ("\"abc\\\nx", "E1004", "\""),
        ("\"a ${b\nx", "E1004", "${"),
        ("\"a ${b \"c\nx", "E1004", "${"),
        ("'a", "E1005", "'a"),
        ("'", "E1005", "'"),
        ("'\n'x'", "E1005", "'"),
        (r#""\q""#, "E1006", r"\q"),
        (r#""\${a}""#, "E1006", r"\$"),
        (r"'\q'", "E1007", r"\q"),
        ("''", "E1008", "''"),
        ("'ab'", "E1009", "'ab'"),
        ("'hello world'", "E1009", "'hello world'"),
        ("1x", "E1010", "1x"),
        ("0x", "E1010", "0x"),
        ("0xfg", "E1010", "0xfg"),
        ("0b12", "E1010", "0b12"),
        ("089", "E1010", "089"),
        ("1e", "E1010", "1e"),
        ("1__0", "E1011", "1__0"),
        ("0x_f", "E1012", "0x_f"),
        ("1_", "E1013", "1_"),
        ("1_.5", "E1014", "1_.5"),
        ("1._5", "E1015", "1._5"),
        ("1.", "E1016", "1."),
        ("1. + 2", "E1016", "1."),
        ("`abc\nx", "E1017", "`"),
        ("1e999", "E1018", "1e999"),
    ];
    for (text, code, place) in rows {
        let (_, told) = lexed(text);
        let [only] = &told[..] else { panic!("{text:?}: {told:#?}") };
        let span = only.span.unwrap();
        assert_eq!((only.code, &text[span.start as usize..span.end as usize]), (code, place), "{text:?}");
    }
    let (_, told) = lexed(&"9".repeat(300));
    assert_eq!(told[0].code, "E1018");
    let (_, told) = lexed(&format!("{} x", "\"${".repeat(100)));
    assert_eq!(told.iter().map(|it| it.code).collect::<Vec<_>>(), ["E1019"]);
}

#[test]
fn what_follows_a_wrong_literal_is_read_as_usual() {
    let rows = [
        ("\"abc\nx", "x"),
        ("'ab' x", "x"),
        ("1__0 x", "x"),
        ("`a\nx", "x"),
        ("a | x", "x"),
        ("\"${a\nx", "x"),
    ];
    for (text, last) in rows {
        let (all, _) = lexed(text);
        assert_eq!(all.last().unwrap().kind, name(last), "{text:?}");
    }
}

#[test]
fn reading_takes_time_in_proportion_to_the_text() {
    // Each of these took the square of its length if something looked ahead for each token: minutes, not a moment.
    for part in ["'ab' ", "'a ", "\"${a}\" ", "\"${\"x\"}\" ", "/* */", "`", "/*", "1_", "$", "\"${ ", "'"] {
        lexed(&part.repeat(400_000 / part.len()));
    }
}
