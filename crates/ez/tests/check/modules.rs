//! Names of other modules.

use crate::tell;

const SHAPES: &str = "module shapes\n\
    const Box struct { width int }\n\
    const Kind enum { FLAT DEEP }\n\
    const MOST int = 9\n\
    temp made int = 0\n\
    do area(b Box) -> int { return b.width }\n\
    private do secret() { }\n\
    private const HIDDEN int = 1\n";

const OTHER: &str = "module other\ndo area(n int) -> int { return n }\ndo only() { }\n";

#[test]
fn modules_give_what_is_not_private_for_reading() {
    for (body, expected) in [
        ("temp b = shapes.Box{width: 2}\n std.println(shapes.area(b), shapes.MOST, shapes.Kind.DEEP)", ""),
        ("temp b shapes.Box\n std.println(b)", ""),
        ("std.println(shapes.made)", ""),
        ("shapes.made = 1", "E3026@5"),
        ("shapes.made++", "E3026@5"),
        ("shapes.secret()", "E4011@5"),
        ("std.println(shapes.HIDDEN)", "E4011@5"),
        ("shapes.nothing()", "E4007@5"),
        ("std.println(area(1))", "E4001@5"),
        ("temp b Box", "E3008@5"),
        ("using shapes\n temp b Box = Box{width: 1}\n std.println(area(b), made)", ""),
        ("using shapes, other\n only()\n std.println(MOST)", ""),
        ("using shapes, other\n std.println(area(1))", "E4008@6"),
        ("using shapes, other\n std.println(other.area(1))", ""),
        ("using nowhere", "E4006@5"),
        ("using shapes\n secret()", "E4001@6"),
        ("nowhere.f()", "E4001@5"),
        ("temp b nowhere.Thing", "E4006@5"),
    ] {
        let main = format!(
            "#suppress(W1001, W1002)\nimport @std\nimport \"./shapes\", \"./other\"\ndo main() {{\n {body}\n}}\n"
        );
        let (found, told) = tell(&[("main.ez", &main), ("shapes.ez", SHAPES), ("other.ez", OTHER)], 0);
        assert_eq!(found, expected, "{main}\n{told}");
    }
}

#[test]
fn an_import_can_be_used_at_once_or_under_another_name() {
    for (main, expected) in [
        ("import & use \"./shapes\"\ndo main() {\n temp _ = area(Box{width: MOST})\n}", ""),
        ("import s\"./shapes\"\ndo main() {\n temp _ = s.area(s.Box{})\n}", ""),
        ("import s\"./shapes\"\ndo main() {\n temp _ = shapes.area(s.Box{})\n}", "E4001@3"),
        ("import t@strings\ndo main() {\n temp _ = t.upper(\"a\")\n}", ""),
        ("import \"./shapes\"\nusing shapes\ndo main() {\n temp _ = area(Box{})\n}", ""),
        ("import \"./shapes\"\ndo main() { }", "W1002@1"),
        ("import & use @math, @arrays\ndo main() {\n temp _ = max(1, 2)\n}", "E4008@3"),
    ] {
        let (found, told) = tell(&[("main.ez", main), ("shapes.ez", SHAPES)], 0);
        assert_eq!(found, expected, "{main}\n{told}");
    }
}

#[test]
fn the_files_of_a_folder_are_one_module_and_mistakes_are_told_where_they_are() {
    let main = "import \"./lib\"\ndo main() {\n temp _ = lib.one()\n}";
    let one = "module lib\ndo one() -> int { return two() }";
    let two = "module lib\nprivate do two() -> int { return 2 }";
    let files = [("main.ez", main), ("lib/one.ez", one), ("lib/two.ez", two)];
    assert_eq!(tell(&files, 0).0, "");
    let wrong = "module lib\nprivate do two() -> int { return \"x\" }\ndo one() { }";
    let files = [("main.ez", main), ("lib/one.ez", one), ("lib/two.ez", wrong)];
    assert_eq!(tell(&files, 0).0, "E3001@two.ez:2 E4002@two.ez:3");
}

#[test]
fn modules_that_import_each_other_are_fine() {
    let main = "import \"./a\"\ndo main() {\n temp _ = a.f(1)\n}";
    let a = "module a\nimport \"./b\"\nconst N = b.M\ndo f(n int) -> int { return b.g(n) + N }";
    let b = "module b\nimport \"./a\"\nconst M = 2\ndo g(n int) -> int {\n if n > 9 { return n }\n return a.f(n + 1)\n}";
    assert_eq!(tell(&[("main.ez", main), ("a.ez", a), ("b.ez", b)], 0).0, "");
}
