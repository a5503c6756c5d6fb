//! Whole programs: items, main, what is not used, globals.

use crate::programs;

#[test]
fn a_program_has_one_main_that_takes_and_gives_nothing() {
    programs(&[
        ("do main() { }", ""),
        ("do start() { }\nconst main_ int = 1", "E4009@1"),
        ("do main(n int) { }", "E4010@1"),
        ("do main() -> int { return 1 }", "E4010@1"),
        ("const main int = 1", "E4009@1"),
    ]);
}

#[test]
fn names_of_items_are_there_once_and_are_not_the_languages() {
    programs(&[
        ("do a() { }\ndo b() { }", ""),
        ("do a() { }\ndo a() { }", "E4002@2"),
        ("do a() { }\nconst a struct { x int }", "E4002@2"),
        ("temp a int\ntemp a int", "E4002@2"),
        ("do len() { }", "E4003@1"),
        ("const int struct { x int }", "E4003@1"),
        ("do println() { }", "E4003@1"),
        ("import @strings\ndo strings() { }", "E4004@2"),
        ("do f(a int, b int) { }", ""),
        ("do f(a int, a int) { }", "E4002@1"),
        ("do f(string int) { }", "E4003@1"),
        ("const P struct { x int  y int }", ""),
        ("const P struct { x int  x int }", "E4002@1"),
    ]);
}

#[test]
fn types_that_are_named_exist() {
    programs(&[
        ("const P struct { a Q }\nconst Q struct { b P  c [P]  d map[string:Q] }", ""),
        ("const P struct { a Qx }", "E3008@1"),
        ("do f(a strin) { }", "E3008@1"),
        ("do f() -> any { return 1 }", "E3008@1"),
        ("do f() -> f { return 1 }", "E3008@1"),
        ("temp m map[string:[int]]", ""),
        ("temp m map[bool:int]\ntemp n map[char:int]\ntemp o map[byte:int]", ""),
        ("temp m map[float:int]", "E3009@1"),
        ("temp m map[[int]:int]", "E3009@1"),
        ("const E enum { A B }\ntemp m map[E:int]", ""),
        ("const E enum { A = 1.5 }\ntemp m map[E:int]", "E3009@2"),
    ]);
}

#[test]
fn lengths_of_fixed_arrays_are_known() {
    programs(&[
        ("const N int = 3\nconst A [int, N] = {1, 2, 3}", ""),
        ("const A [int, N] = {1, 2, 3}\nconst N int = 3", ""),
        ("temp n int = 3\ntemp a [int, n] = {1, 2, 3}", "E3039@2"),
        ("temp a [int, 0] = {}", "E3037@1"),
        ("temp a [int, 99999999999] = {}", "E3037@1"),
        ("const N string = \"x\"\ntemp a [int, N] = {}", "E3001@2"),
        ("temp a [int, 3] = {1, 2, 3}", ""),
        ("temp a [int, 3] = {1, 2}", "W3003@1"),
        ("temp a [int, 1000000] = {}", ""),
        ("temp a [int, 3] = {1, 2, 3, 4}", "E3037@1"),
        ("temp a [int, 3]", "E3038@1"),
        ("const a [int] = {1, 2}", "E2032@1"),
        ("const a = {1, 2}", "E2032@1"),
    ]);
}

#[test]
fn enums_have_members_of_one_type_with_values_of_their_own() {
    programs(&[
        ("const E enum { A B = 5 C }", ""),
        ("#flags\nconst E enum { A B C }", ""),
        ("#enum(string)\nconst E enum { A = \"a\" B = \"b\" }", ""),
        ("const E enum : float { A = 1.5 B = 2.5 }", ""),
        ("const N int = 7\nconst E enum { A = N B }", ""),
        ("const E enum { A B A }", "E4002@1"),
        ("const E enum { A = 1 B = 1 }", "E3028@1"),
        ("const E enum { A B = 0 }", "E3028@1"),
        ("const E enum { A = \"x\" B = \"x\" }", "E3028@1"),
        ("const E enum { A = 1.5 B = 1.5 C = 2.5 }", "E3028@1"),
        ("const E enum { A = 1 B = \"b\" }", "E3001@1"),
        ("const E enum : string { A = \"a\" B }", "E3027@1"),
        ("const E enum : bool { A = true }", "E3027@1"),
        ("#flags\nconst E enum : string { A = \"a\" }", "E3027@2"),
        ("do f() -> int { return 1 }\nconst E enum { A = f() }", "E3039@2"),
        (
            "const E enum { A = F.B }\nconst F enum { B = N }\nconst N int = P{x: 3}.x\nconst P struct { x int }",
            "E3039@2",
        ),
        ("const E enum { A = F.B }\nconst F enum { B = N }\nconst N = 4", ""),
    ]);
}

#[test]
fn globals_are_set_in_order_and_may_use_functions_and_each_other() {
    programs(&[
        ("const A int = B + 1\nconst B int = 2", ""),
        ("temp a = b\ntemp b = c\ntemp c = 1.5\ntemp d float = a", "W2004@1 W2004@2"),
        ("temp a = f()\ndo f() -> string { return \"x\" }\ntemp b string = a", ""),
        ("temp a = a", "E4012@1"),
        ("temp a = b\ntemp b = a", "E4012@2"),
        ("temp a = nil", "E3010@1"),
        ("temp a = {}", "E3010@1"),
        ("temp a int = \"x\"", "E3001@1"),
        ("temp x, y = f()\ndo f() -> (int, string) { return 1, \"a\" }\ntemp z string = y", ""),
        ("temp x, y = f()\ndo f() -> (int, string) { return 1, \"a\" }\ntemp z string = x", "E3001@3"),
        ("temp a int\ntemp r = ref(a)", "E3034@2"),
    ]);
}

#[test]
fn no_global_depends_on_itself() {
    programs(&[
        ("temp a int = a", "E4012@1"),
        ("temp a int = a + 1", "E4012@1"),
        ("const B int = C\nconst C int = B", "E4012@2"),
        ("const A int = B + 1\nconst B int = C\nconst C int = A", "E4012@3"),
        ("temp x, y int = f(y)\ndo f(n int) -> (int, int) { return n, n }", "E4012@1"),
    ]);
}

#[test]
fn a_global_that_is_used_before_its_turn_is_a_warning() {
    let later = "do f() -> int { return g() }\ndo g() -> int { return later }";
    let rows = [
        (format!("temp a = f()\ntemp later = 5\n{later}"), "W2004@1"),
        (format!("temp later = 5\ntemp a = f()\n{later}"), ""),
        // A constant that is known is written into the code.
        (format!("temp a = f()\nconst later = 5\n{later}"), ""),
        (format!("temp later = f()\n{later}"), "W2004@1"),
        (format!("#suppress(W2004)\ntemp a = f()\ntemp later = 5\n{later}"), ""),
        ("temp a = f()\ndo f(n int = b) -> int { return n }\ntemp b = 2".to_owned(), "W2004@1"),
        ("temp a = b\ntemp b = 2".to_owned(), "W2004@1"),
    ];
    for (text, expected) in rows {
        let text = format!("{text}\ndo main() {{ }}\n");
        let (found, told) = crate::tell(&[("main.ez", &text)], 0);
        assert_eq!(found, expected, "{text}{told}");
    }
    let imports = "import \"./other\"\ntemp a = other.b\ndo main() { }\n";
    let (found, told) = crate::tell(&[("main.ez", imports), ("other.ez", "module other\ntemp b = 2\n")], 0);
    assert_eq!(found, "", "{told}");
}

#[test]
fn what_is_not_used_is_not_worth_a_word_while_there_are_errors() {
    programs(&[
        ("import @std\ndo main() {\n temp x int = 1\n temp y int = \"a\"\n}", "E3001@4"),
        ("import @std\ndo main() {\n temp x int = 1\n}", "W1002@1 W1001@3"),
    ]);
}

#[test]
fn of_many_errors_the_first_are_told_and_the_others_counted() {
    let text = format!("do main() {{\n{}}}\n", "    nowhere()\n".repeat(70));
    let (found, told) = crate::tell(&[("main.ez", &text)], 0);
    assert_eq!(found.split(' ').count(), 50);
    assert!(found.starts_with("E4001@2 ") && found.ends_with(" E4001@51"), "{found}");
    assert!(told.ends_with("20 more errors: mend these first\n\nsummary: generated 70 errors\n"), "{told}");
}

#[test]
fn a_type_that_does_not_exist_is_told_once_for_each_statement() {
    programs(&[
        ("do main() {\n temp a Foo = Foo{x: 1}\n temp b [Foo] = {}\n}", "E3008@2 E3008@3"),
        ("do f(a Foo) -> Foo { return a }", "E3008@1"),
        ("temp a Foo = Foo{x: 1}\ntemp b Foo", "E3008@1 E3008@2"),
    ]);
}

#[test]
fn a_strict_when_over_thousands_of_members_does_not_take_long() {
    let members: Vec<String> = (0..20_000).map(|number| format!("M{number}")).collect();
    let cases: Vec<String> = members.iter().map(|name| format!("is E.{name} {{ }}")).collect();
    let (members, cases) = (members.join(" "), cases.join("\n"));
    let whole = format!(
        "const E enum {{ {members} }}\ndo main() {{\n temp e = E.M1\n#strict\nwhen e {{\n{cases}\n}}\n}}\n"
    );
    let begun = std::time::Instant::now();
    let (found, told) = crate::tell(&[("main.ez", &whole)], 0);
    assert_eq!(found, "", "{told}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{:?}", begun.elapsed());
    let none = format!(
        "const E enum {{ {members} }}\ndo main() {{\n temp e = E.M1\n#strict\nwhen e {{ is E.M0 {{ }} }}\n}}\n"
    );
    let (found, told) = crate::tell(&[("main.ez", &none)], 0);
    assert_eq!(found, "E3018@4");
    assert!(told.contains("E.M10 and 19989 more") && told.len() < 1000, "{told}");
}

#[test]
fn what_is_not_used_is_a_warning_that_can_be_suppressed() {
    programs(&[
        ("do main() {\n temp x int = 1\n}", "W1001@2"),
        ("do main() {\n temp _x int = 1\n}", ""),
        ("do main() {\n temp x int = 1\n x = 2\n}", "W1001@2"),
        ("import @std\ndo main() {\n temp x int = 1\n std.println(x)\n}", ""),
        ("do main() {\n temp x int = 1\n temp r = ref(x)\n r = 2\n}", ""),
        ("#suppress(W1001)\ndo main() {\n temp x int = 1\n}", ""),
        ("do f() {\n temp y int\n}\n#suppress(W1001)\ndo main() {\n temp x int = 1\n}", "W1001@2"),
        ("import @std, @strings\nusing std\ndo main() {\n println(1)\n}", "W1002@1"),
        ("import @std\nusing std\ndo main() { }", "W1002@1"),
        ("#suppress(W1002)\nimport @std\ndo main() { }", ""),
        ("#suppress(E3001)\ndo main() { }", "E4013@1"),
    ]);
}

#[test]
fn defaults_fit_and_know_no_locals() {
    programs(&[
        ("do f(a int, b string = \"x\") { }\ndo main() {\n f(1)\n f(1, \"y\")\n}", ""),
        ("do f(a int = \"x\") { }", "E3001@1"),
        ("const N int = 4\ndo f(a int = N) { }", ""),
        ("do f(a int, b int = a) { }", "E4001@1"),
        ("do f(a int = g()) { }\ndo g() -> int { return 1 }\ndo main() {\n f()\n}", ""),
    ]);
}
