//! Each mistake with its code, the text it points at and a word of its help.

use super::{Diagnostics, FILE, parse_file};
use crate::diagnostic::Diagnostic;

fn told(text: &str) -> Vec<Diagnostic> {
    let mut diagnostics = Diagnostics::default();
    parse_file(FILE, text, &mut diagnostics);
    diagnostics.all
}

fn codes(text: &str) -> Vec<&'static str> {
    told(text).iter().map(|diagnostic| diagnostic.code).collect()
}

/// One mistake each: code, what it points at, a part of its help.
fn check(rows: &[(&str, &str, &str, &str)], around: (&str, &str)) {
    for (part, code, place, help) in rows {
        let text = format!("{}{part}{}", around.0, around.1);
        let told = told(&text);
        let [only] = &told[..] else { panic!("{part}: {told:#?}") };
        let span = only.span.unwrap();
        let found = (only.code, &text[span.start as usize..span.end as usize]);
        assert_eq!(found, (*code, *place), "{part}: {}", only.message);
        let said = only.help.as_deref().unwrap_or_default();
        assert!(said.contains(help), "{part}: {said}");
    }
}

#[test]
fn mistakes_in_statements_are_told_once_and_help() {
    let rows = [
        ("x = [1, 2]", "E2002", "[", "{1, 2, 3}"),
        ("x = 1 +", "E2002", "", ""),
        ("x = &y", "E2002", "&", "parameter"),
        ("++x", "E2002", "++", "x++"),
        ("f(1, , 2)", "E2002", ",", ""),
        ("f(1,)", "E2014", ",", "last"),
        ("x = {1, 2,}", "E2014", ",", "last"),
        ("f(1 2)", "E2005", "2", ""),
        ("f(1\n2)", "E2005", "", ""),
        ("f(\n1,\n,\n2\n)\nx = 1", "E2002", "", ""),
        ("if x = 5 {}", "E2009", "=", "=="),
        ("if (x = 5) {}", "E2001", "=", "=="),
        ("if x == 5 and y {}", "E2001", "and", "&&"),
        ("if x or y {}", "E2001", "or", "||"),
        ("x = a and b", "E2008", "and", "&&"),
        ("if {}", "E2021", "{", "if x < 5"),
        ("as_long_as {}", "E2021", "{", "loop"),
        ("if x\n  f()", "E2001", "", "braces"),
        ("while x {}", "E2008", "while", "as_long_as"),
        ("while (x) {}", "E2008", "while", "as_long_as"),
        ("if x {} else {}", "E2008", "else", "otherwise"),
        ("if x {} else if y {}", "E2008", "else", "`or`"),
        ("if x {} elif y {}", "E2008", "elif", "`or`"),
        ("if x {} otherwise if y {}", "E2008", "otherwise", "`or`"),
        ("let x = 5", "E2008", "let", "temp"),
        ("var x int", "E2008", "var", "temp"),
        ("switch x { default {} }", "E2008", "switch", "when"),
        ("when x { case 1 {} }", "E2008", "case", "`is`"),
        ("foreach x in y {}", "E2008", "foreach", "for_each"),
        ("defer f()", "E2008", "defer", "ensure"),
        ("int x = 5", "E2001", "x", "temp"),
        ("x := 5", "E2001", ":", "temp x"),
        ("print \"a\"", "E2001", "\"a\"", "println("),
        ("x = 5; y = 6;", "E2007", ";", "every"),
        ("temp x", "E2013", "temp x", "temp name"),
        ("const x int", "E2012", "const x int", "= 5"),
        ("temp x: int = 5", "E2001", ":", "temp name int"),
        ("temp from = 1", "E2004", "from", "another"),
        ("temp 5 = 1", "E2003", "5", ""),
        ("temp x []int = {}", "E2001", "]", "[int]"),
        ("temp x map[string,int]", "E2001", ",", "map[string:int]"),
        ("for i = 0 {}", "E2001", "=", "in range"),
        ("for (i = 0; i < 5; i++) {}", "E2001", "=", "in range"),
        ("for temp i in range(3) {}", "E2001", "temp", "in range"),
        ("for i in items {}", "E2020", "items", "for_each"),
        ("for_each i, x in items {}", "E2001", ",", "for_each x"),
        ("{ x = 1 }", "E2019", "{", "blocks belong"),
        ("or x {}", "E2022", "or", "right behind"),
        ("is 1 {}", "E2022", "is", "when"),
        ("when x { 1 {} }", "E2001", "1", "is 1"),
        ("when x { default {} default {} }", "E2023", "default", "one of them"),
        ("when { }", "E2021", "{", "when x"),
        ("range()", "E2018", "range()", "range(end)"),
        ("x = range(1, 2, 3, 4)", "E2018", "range(1, 2, 3, 4)", "range(end)"),
        ("x = cast(y)", "E2001", ")", "cast(value, type)"),
        ("a, b = 1, 2", "E2001", ",", "one after the other"),
        ("x = \"${}\"", "E2028", "}", "expression"),
        ("x = \"${a b}\"", "E2001", "b", ""),
        ("do g() { x = 1 }", "E2011", "do", "move"),
        ("const P struct { a int }", "E2011", "const", "move"),
        ("import @std", "E2011", "import", "move"),
        ("struct P { a int }", "E2010", "struct", "const P struct"),
        ("using @std", "E2024", "@", "without"),
        ("#flags when x {}", "E2017", "#flags", "#strict"),
        ("#strict if x {}", "E2017", "if", ""),
        ("x = )", "E2002", ")", ""),
        ("_", "E2001", "", ""),
        ("temp p = P{1, 2}", "E2029", "1", "P{x: 1, y: 2}"),
        ("f(m.P{a})", "E2029", "a", "P{x: 1"),
        ("temp c, d = 1, 2", "E2001", ",", "one after the other"),
        ("temp c int = 1, 2", "E2001", ",", "one after the other"),
        ("temp t, = 5", "E2003", "=", "leave out the `,`"),
        ("temp x int == 5", "E2001", "==", "write `=`"),
        ("const x == 5", "E2001", "==", "write `=`"),
        ("x = x & 1", "E2002", "&", "no operators on bits"),
        ("if x & 1 == 0 {}", "E2001", "&", "no operators on bits"),
        ("f(x & 1)", "E2005", "&", "no operators on bits"),
        ("fn g() { x = 1 }", "E2011", "fn", "move"),
        ("f(\"a ${b\")", "E1004", "${", "}"),
        ("f(\"a ${b ${c}\")", "E1001", "$", "only inside of strings"),
        ("f(\"a)", "E1004", "\"", "close"),
        ("x = \"${a // b}\"", "E1003", "//", "/* */"),
        ("x = \"${a /* b}\"", "E1003", "/*", "/* */"),
    ];
    check(&rows, ("do f() {\n    ", "\n}\n"));
}

#[test]
fn mistakes_at_the_level_of_the_file_are_told_once_and_help() {
    let rows = [
        ("import std", "E2024", "std", "@std"),
        ("import &", "E2024", "", "& use"),
        ("x = 1\ny = 2", "E2010", "x", "do main()"),
        ("println(\"a\")", "E2010", "println", "do main()"),
        ("struct P { a int }", "E2010", "struct", "const P struct"),
        ("func f() {}", "E2008", "func", "do"),
        ("def f() {}", "E2008", "def", "do"),
        ("var x = 5", "E2008", "var", "temp"),
        ("}", "E2006", "}", ""),
        ("do f( {}", "E2003", "{", ""),
        ("do f(a) {}", "E2026", "a", "a int"),
        ("do f(a [&int]) {}", "E2003", "&", "before the name"),
        ("do f(a int = 1, b int) {}", "E2016", "b", "last"),
        ("do f(&a int = 1) {}", "E2016", "a", "variable"),
        ("do f() int {}", "E2001", "int", "->"),
        ("do f(): int {}", "E2001", ":", "->"),
        ("do f() -> {}", "E2003", "{", ""),
        ("do if() {}", "E2004", "if", ""),
        ("do f()\n", "E2001", "", "braces"),
        ("do f() {", "E2005", "{", "missing"),
        ("do f() { if x {\n}", "E2005", "{", "missing"),
        ("const P struct { a: int }", "E2001", ":", "without"),
        ("const P struct { a int", "E2003", "", ""),
        ("private import @std", "E2001", "import", ""),
        ("import @std\nmodule a", "E2024", "module", "top"),
        ("#strict\ndo f() {}", "E2017", "#strict", "#suppress"),
        ("#flags\ndo f() {}", "E2017", "#flags", "enum"),
        ("temp a int\n#suppress(W1)\nimport @std", "E2017", "#suppress", "top"),
        ("#enum(int)\nconst E enum : int { A }", "E2017", "int", "#enum"),
    ];
    check(&rows, ("", ""));
}

#[test]
fn one_run_tells_the_mistakes_of_several_statements() {
    let text = "do f() {\n  x = )\n  if y { z = ] }\n  f(,)\n  ok()\n}\ndo g() {\n  x = +\n}\nx\ndo h( {}\n";
    assert_eq!(codes(text), ["E2002", "E2002", "E2002", "E2002", "E2010", "E2003"]);
}

#[test]
fn a_missing_brace_costs_one_error_and_no_function() {
    let text = "do f() {\n  if x {\n    y = 1\n}\n\ndo g() {\n  y = )\n}\n";
    assert_eq!(codes(text), ["E2005", "E2002"]);
    let mut diagnostics = Diagnostics::default();
    assert_eq!(parse_file(FILE, text, &mut diagnostics).items.len(), 2);
}

#[test]
fn each_item_that_is_inside_of_a_function_is_told_of() {
    let text = "do f() {\n  do g() {}\n  const P struct { x int }\n  import @math\n  private do h() {}\n  x = )\n}\n";
    assert_eq!(codes(text), ["E2011", "E2011", "E2011", "E2011", "E2002"]);
}

#[test]
fn mistakes_are_told_in_the_order_of_their_places() {
    assert_eq!(codes("do f() {\n  x = )\n  y = ?\n  z = )\n}"), ["E2002", "E1001", "E2002"]);
}

#[test]
fn names_that_are_words_elsewhere_can_be_used() {
    let text = "do f() {\n  match = 1\n  let(2)\n  case.x = 3\n  print(match)\n  while, var = g()\n  and = not + 1\n}";
    assert_eq!(codes(text), [""; 0]);
}

#[test]
fn what_is_too_deep_is_told_and_does_not_overflow_the_stack() {
    let many = 10_000;
    let rows = [
        format!("x = {}", "(".repeat(many)),
        format!("x = {}1", "!".repeat(many)),
        format!("x = {}1", "- ".repeat(many)),
        format!("x = {}", "{".repeat(many)),
        format!("x = {}", "f(".repeat(many)),
        format!("x = {}", "a[".repeat(many)),
        format!("x = {}", "a || b && c == d < e in f + g * (".repeat(many)),
        format!("x = 1{}", " + 1".repeat(many)),
        format!("x = a{}", ".b".repeat(many)),
        format!("x = a{}", "(1)".repeat(many)),
        format!("x = a{}", "[0]".repeat(many)),
        format!("x = ({}", "1 + (1) * (".repeat(many)),
        format!("temp x {}", "[".repeat(many)),
        format!("temp x {}", "map[".repeat(many)),
        "if x {".repeat(many),
        "when x { is 1 {".repeat(many),
        "do f() {".repeat(many),
        "#strict when x { default { ".repeat(many),
        format!("x = {}", "\"${".repeat(many)),
        "private ".repeat(many),
        "while(".repeat(many),
    ];
    for text in rows {
        for text in [text.clone(), format!("do f() {{ {text} }}")] {
            assert!(!codes(&text).is_empty(), "{}", &text[..20]);
        }
    }
}

#[test]
fn a_tree_within_the_limits_is_not_refused() {
    let text =
        format!("do f() {{ x = {}1{} + {} }}", "(".repeat(90), ")".repeat(90), vec!["1"; 200].join(" + "));
    assert_eq!(codes(&text), [""; 0]);
}

#[test]
fn only_so_many_mistakes_of_a_file_are_told() {
    assert_eq!(codes(&format!("do f() {{ {} }}", "x = )\n".repeat(1000))).len(), 50);
    assert_eq!(codes(&format!("do f() {{ {} }}", "x = $\n".repeat(1000))).len(), 50);
}
