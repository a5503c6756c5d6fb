//! Names in functions: what they mean, and which may be declared.

use crate::{bodies, tell};

#[test]
fn names_that_mean_nothing_are_told() {
    bodies(&[
        ("println(counter)", ""),
        ("println(countr)", "E4001@1"),
        ("x = 1", "E4001@1"),
        ("temp x = x", "E4001@1"),
        ("nowhere(1, alsonowhere)", "E4001@1 E4001@1"),
        ("if true {\n temp x = 1\n}\nprintln(x)", "E4001@4"),
        ("for i in range(3) { }\nprintln(i)", "E4001@2"),
        ("println(strings.upper(\"a\"))", ""),
        ("println(strings.uper(\"a\"))", "E4007@1"),
        ("println(Color.RED)", ""),
        ("println(Color.PINK)", "E4007@1"),
        ("temp p Pont", "E3008@1"),
    ]);
}

#[test]
fn things_that_are_no_values_are_told_apart() {
    bodies(&[
        ("println(give)", "E3033@1"),
        ("println(len)", "E3033@1"),
        ("println(Point)", "E3033@1"),
        ("println(Color)", "E3033@1"),
        ("println(strings)", "E3033@1"),
        ("println(int)", "E3033@1"),
        ("println(math.PI)", ""),
        ("println(math.PI())", "E3032@1"),
        ("counter()", "E3032@1"),
        ("temp p = Point(1, 2)", "E3032@1"),
        ("temp s = \"a\"\nprintln(s.upper())", "E3032@2"),
    ]);
}

#[test]
fn declarations_have_their_rules_about_names() {
    bodies(&[
        ("temp x = 1\nif true {\n temp x = \"a\"\n println(x)\n}\nprintln(x)", ""),
        ("temp x = 1\ntemp x = 2", "E4002@2"),
        ("temp len = 1", "E4003@1"),
        ("temp string = 1", "E4003@1"),
        ("temp give = 1", "E4004@1"),
        ("temp Point = 1", "E4004@1"),
        ("temp math = 1", "E4004@1"),
        ("temp counter = 1", "W2002@1"),
        ("for i in range(2) {\n for j in range(2) { }\n}", ""),
        ("for i in range(2) {\n for i in range(2) { }\n}", "E4005@2"),
        ("for i in range(2) { }\nfor i in range(2) { }", ""),
        ("for i in range(2) {\n temp i = 1\n}", "E4002@2"),
        ("for_each c in \"ab\" {\n for_each c in \"cd\" { }\n}", "E4005@2"),
        ("for _ in range(2) {\n for _ in range(2) { }\n}", ""),
    ]);
}

#[test]
fn help_says_what_was_meant() {
    for (body, help) in [
        ("temp total = 1\nstd.println(totla)", "did you mean `total`?"),
        ("std.prinltn(1)", "did you mean `std.println`?"),
        ("println(1)", "write std.println, or add: using std"),
        ("upper(\"a\")", "it is in @strings: write import @strings and strings.upper"),
        ("strings.upper(\"a\")", "write import @strings at the top of the file"),
        ("print(1)", "did you mean `println`?"),
        ("temp a = null", "did you mean `nil`?"),
        ("temp a Strng", "did you mean `string`?"),
        ("temp a [int] = {}\nstd.println(a.length)", "its length is len(...)"),
        ("temp a float = 5", "write 5.0"),
        ("temp a string = 5", "convert it: string(...)"),
    ] {
        let text = format!("import @std\ndo main() {{\n{body}\n}}\n");
        let (_, told) = tell(&[("main.ez", &text)], 0);
        assert!(told.contains(help), "{body}: no {help:?} in\n{told}");
    }
}
