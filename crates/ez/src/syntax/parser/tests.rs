//! Tables of texts and the trees or mistakes they are; and whatever the text, an answer with places inside of it.

mod mistakes;
mod shape;
mod soup;

use super::{parse_file, parse_fragment};
use crate::diagnostic::Diagnostics;
use crate::source::{FileId, Span};

const FILE: FileId = FileId(0);

/// The shape of a text without mistakes.
fn shape_of(text: &str) -> String {
    let mut diagnostics = Diagnostics::default();
    let tree = parse_file(FILE, text, &mut diagnostics);
    assert!(diagnostics.all.is_empty(), "{text}\n{:#?}", diagnostics.all);
    shape::file(&tree, text)
}

fn statement_shape(text: &str) -> String {
    let whole = shape_of(&format!("do f() {{\n{text}\n}}"));
    let body = whole.strip_prefix("do f() -> () {").and_then(|body| body.strip_suffix('}'));
    body.unwrap().to_owned()
}

fn expression_shape(text: &str) -> String {
    let mut diagnostics = Diagnostics::default();
    let statement = parse_fragment(FILE, text, &mut diagnostics);
    assert!(diagnostics.all.is_empty(), "{text}\n{:#?}", diagnostics.all);
    shape::statement(&statement.unwrap(), Span { file: FILE, start: 0, end: text.len() as u32 })
}

#[test]
fn operators_bind_by_their_precedence_and_from_the_left() {
    let rows = [
        ("a || b && c || d", "((a || (b && c)) || d)"),
        ("a == b != c", "((a == b) != c)"),
        ("a && b == c < d in e + f * g", "(a && (b == (c < (d in (e + (f * g))))))"),
        ("a * b + c in d < e == f && g", "((((((a * b) + c) in d) < e) == f) && g)"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b % c * d", "(((a / b) % c) * d)"),
        ("a not_in b", "(a not_in b)"),
        ("a !in b", "(a not_in b)"),
        ("!inside", "(! inside)"),
        ("!in_it && a", "((! in_it) && a)"),
        ("-a * -b", "((- a) * (- b))"),
        ("!!a", "(! (! a))"),
        ("-a.b[c](d)", "(- a.b[c](d))"),
        ("a - -b", "(a - (- b))"),
        ("(a + b) * c", "((a + b) * c)"),
        ("a <= b >= c", "((a <= b) >= c)"),
        ("x++ + 1", "((x++) + 1)"),
    ];
    for (text, expected) in rows {
        assert_eq!(expression_shape(text), expected, "{text}");
    }
}

#[test]
fn every_kind_of_expression_has_its_shape() {
    let rows = [
        ("42", "42"),
        ("0xff", "255"),
        ("1.5e3", "1500.0"),
        ("'x'", "'x'"),
        ("nil", "nil"),
        ("true", "true"),
        ("\"a\\n\"", "\"a\\n\""),
        ("`a\\n`", "\"a\\\\n\""),
        ("{}", "{}"),
        ("{:}", "map()"),
        ("{1, {2}}", "array(1, array(2))"),
        ("{\"a\": 1, b: {2}}", "map(\"a\": 1, b: array(2))"),
        ("range(1, n, -1)", "range(1, n, (- 1))"),
        ("cast(a, [u8])", "cast(a, [u8])"),
        ("new(geo.Point)", "new(geo.Point)"),
        ("ref(a[1])", "ref(a[1])"),
        ("f(a, b)(c)", "f(a, b)(c)"),
        ("Point{x: 1, y: f()}", "Point{x: 1, y: f()}"),
        ("Point{}", "Point{}"),
        ("geo.Point{x: 1}", "geo.Point{x: 1}"),
        ("random.int(1)", "random.int(1)"),
        ("a.range", "a.range"),
        ("a\n.b\n.c", "a.b.c"),
        ("a +\nb\n* c", "(a + (b * c))"),
        ("(a\n[0]\n(b)\n.c)", "a[0](b).c"),
        ("f(a\n[0], b\n(c))", "f(a[0], b(c))"),
        ("a[b\n[c]]", "a[b[c]]"),
    ];
    for (text, expected) in rows {
        assert_eq!(expression_shape(text), expected, "{text}");
    }
}

#[test]
fn templates_hold_expressions_of_any_kind() {
    let rows = [
        (r#""${a}""#, "template(a)"),
        (r#""a ${b} c""#, r#"template("a ", b, " c")"#),
        (r#""${f("x")}""#, r#"template(f("x"))"#),
        (r#""${f(\"x\")}""#, r#"template(f("x"))"#),
        (r#""${f("}")}!""#, r#"template(f("}"), "!")"#),
        (r#""${P{a: {1}}}""#, "template(P{a: array(1)})"),
        (r#""${"${"${x}"}"}""#, "template(template(template(x)))"),
        (r#""$a {b} $""#, r#""$a {b} $""#),
        (r#""http://${host}/""#, r#"template("http://", host, "/")"#),
        (r#""${'"'}""#, "template('\"')"),
        (r#""${a /* "b} */ + c}""#, "template((a + c))"),
    ];
    for (text, expected) in rows {
        assert_eq!(expression_shape(text), expected, "{text}");
    }
}

#[test]
fn every_kind_of_statement_has_its_shape() {
    let rows = [
        ("temp a int", "temp a int"),
        ("temp a = 1", "temp a = 1"),
        ("const A [int, 2] = {1, 2}", "const A [int, 2] = array(1, 2)"),
        ("temp a, _ = f()", "temp a, _ = f()"),
        ("temp a int, b map[string:[int]] = f()", "temp a int, b map[string:[int]] = f()"),
        ("a = 1", "a = 1"),
        ("a[i].b %= 2", "a[i].b %= 2"),
        ("a, _, c.d = f()", "a, _, c.d = f()"),
        ("_ = f()", "_ = f()"),
        ("x++", "(x++)"),
        ("x--", "(x--)"),
        ("f(1)", "f(1)"),
        ("if a {} or b { f() } otherwise {}", "if a {} or b {f()} otherwise {}"),
        (
            "when x { is 1, 2 {} is range(3, 9) {} default {} }",
            "when x is 1, 2 {} is range(3, 9) {} default {}",
        ),
        ("#strict when c { is Color.RED {} }", "#strict when c is Color.RED {}"),
        ("for i in range(3) {}", "for i in range(3) {}"),
        ("for (i u8 in range(3)) {}", "for i u8 in range(3) {}"),
        ("for _ in range(3) {}", "for _ in range(3) {}"),
        ("for_each c in \"abc\" {}", "for_each c in \"abc\" {}"),
        ("for_each (c in {1}) {}", "for_each c in array(1) {}"),
        ("as_long_as (a) { break }", "as_long_as a {break}"),
        ("loop { continue }", "loop {continue}"),
        ("ensure close(f)", "ensure close(f)"),
        ("using std, arrays", "using std, arrays"),
        ("return", "return "),
        ("return a, b", "return a, b"),
    ];
    for (text, expected) in rows {
        assert_eq!(statement_shape(text), expected, "{text}");
    }
}

#[test]
fn a_statement_ends_where_its_expression_cannot_go_on() {
    let rows = [
        ("a = b c = d", "a = b; c = d"),
        ("a = b\n(c)", "a = b; c"),
        ("a = b\n- c", "a = (b - c)"),
        ("return\nf()", "return ; f()"),
        ("return {1}", "return array(1)"),
        ("temp a int\nb = c", "temp a int; b = c"),
        ("temp a int temp b int", "temp a int; temp b int"),
        ("a = b // c\n+ d", "a = (b + d)"),
        ("a = b /* c\n */ (d)", "a = b; d"),
        ("break continue", "break; continue"),
    ];
    for (text, expected) in rows {
        assert_eq!(statement_shape(text), expected, "{text}");
    }
}

#[test]
fn the_body_of_a_statement_is_never_taken_for_a_struct() {
    let rows = [
        ("if a == MAX {}", "if (a == MAX) {}"),
        ("if a == (P{}) {}", "if (a == P{}) {}"),
        ("if a == P{x: 1} {}", "if (a == P{x: 1}) {}"),
        ("if f(P{}) {}", "if f(P{}) {}"),
        ("if geo.MAX {}", "if geo.MAX {}"),
        ("when X { is A {} default {} }", "when X is A {} default {}"),
        ("for_each x in ALL { f() }", "for_each x in ALL {f()}"),
        ("as_long_as A {} x = P{}", "as_long_as A {}; x = P{}"),
        ("if a in {1} {}", "if (a in array(1)) {}"),
    ];
    for (text, expected) in rows {
        assert_eq!(statement_shape(text), expected, "{text}");
    }
}

#[test]
fn files_hold_imports_and_declarations() {
    let rows = [
        ("", ""),
        ("module a\nimport @std, arr@arrays", "module a; import @std; import arr = @arrays"),
        ("import \"./a\", b\"../b\"", "import \"./a\"; import b = \"../b\""),
        ("import & use @std, @math", "import & use @std; import & use @math"),
        ("using std, math", "using std; using math"),
        ("#suppress(W1001, W2002)\nimport @std", "suppress W1001; suppress W2002; import @std"),
        ("#suppress(W1001)\nprivate do f() {}", "private #W1001 do f() -> () {}"),
        (
            "do f(a, &b int, c string = \"x\") -> map[string:int] {}",
            "do f(a int, &b int, c string = \"x\") -> (map[string:int]) {}",
        ),
        ("do f() -> (int, [a.B]) {}", "do f() -> (int, [a.B]) {}"),
        ("private temp a int = 1", "private temp a int = 1"),
        (
            "const P struct { a, b int c [[int, N]] `json:\"c\"` }",
            "struct P {a int, b int, c [[int, N]] `json:\"c\"`}",
        ),
        ("const P struct { a int, b int }", "struct P {a int, b int}"),
        ("const E enum { A B = 5 C }", "enum E {A, B = 5, C}"),
        ("const E enum : string { A = \"a\" }", "enum E : string {A = \"a\"}"),
        ("#enum(float)\nconst E enum { A = 1.5 }", "enum E : float {A = 1.5}"),
        ("#flags\nprivate const E enum { A, B }", "private #flags enum E {A, B}"),
        ("\u{feff}temp a int\r\n", "temp a int"),
    ];
    for (text, expected) in rows {
        assert_eq!(shape_of(text), expected, "{text}");
    }
}

#[test]
fn a_statement_begins_at_its_first_token() {
    let text = "do f() {\n    a.b(\n  c)\n    /* x */ if a {}\n}";
    let tree = parse_file(FILE, text, &mut Diagnostics::default());
    let super::ast::ItemKind::Function(function) = &tree.items[0].kind else { panic!("{tree:?}") };
    let texts: Vec<&str> = function
        .body
        .statements
        .iter()
        .map(|it| &text[it.span.start as usize..it.span.end as usize])
        .collect();
    assert_eq!(texts, ["a.b(\n  c)", "if a {}"]);
}

#[test]
fn a_fragment_is_one_statement_and_nothing_else() {
    for (text, expected) in
        [("a + 1", "(a + 1)"), ("a = 2", "a = 2"), ("{1, 2}", "array(1, 2)"), (" \"x\" ", "\"x\"")]
    {
        assert_eq!(expression_shape(text), expected);
    }
    for text in ["", "a +", "a b", "a; b", "a\nb", "a)", "\"", "$", "{1"] {
        let mut diagnostics = Diagnostics::default();
        assert!(parse_fragment(FILE, text, &mut diagnostics).is_none(), "{text}");
        assert!(diagnostics.has_errors(), "{text}");
    }
}
