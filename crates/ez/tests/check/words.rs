//! What is said, where the words themselves matter.

use std::fmt::Write as _;

use breakroom_ez::diagnostic::Colour;
use breakroom_ez::unit::Unit;

use crate::tell;

#[test]
fn a_call_with_too_few_arguments_is_shown_how_the_function_is_declared() {
    let rows = [
        ("json.decode()", "it is decode(string) -> (T, error)"),
        ("len()", "-> int"),
        ("f()", "it is declared as f(a int, &b [int], c string = \"x\", d int = ...) -> (int, string)"),
        ("g(1)", "it is declared as g()\n"),
    ];
    for (call, expected) in rows {
        let text = format!(
            "import @json\ndo f(a int, &b [int], c string = \"x\", d int = len(\"a\") + 1) -> (int, string) {{ return a, c }}\n\
             do g() {{ }}\ndo main() {{\n {call}\n}}\n"
        );
        let (_, told) = tell(&[("main.ez", &text)], 0);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_dropped_error_is_shown_how_to_look_at_it() {
    let rows = [
        ("io.write_file(\"f\", \"x\")", "temp _, problem = ...", "temp _, _ = ..."),
        ("raise()", "temp problem = ...", "temp _ = ..."),
        ("give()", "use it", "temp _ = ..."),
    ];
    for (call, look, discard) in rows {
        let text = format!(
            "import @io\ndo raise() -> error {{ return nil }}\ndo give() -> int {{ return 1 }}\n\
             do main() {{\n {call}\n temp _ = io.exists(\"f\")\n}}\n"
        );
        let (_, told) = tell(&[("main.ez", &text)], 0);
        let drops =
            told.contains("problem") == told.contains("error[E3030]: the error of this call is dropped");
        assert!(drops && told.contains(look) && told.contains(discard), "{told}");
    }
}

#[test]
fn a_function_that_is_too_large_is_shown_where_it_stands_and_what_to_do() {
    let mut text = "do main() {\n}\n\ndo huge() {\n".to_owned();
    for number in 0..70_000 {
        writeln!(text, "temp _v{number} int").unwrap();
    }
    text.push_str("}\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.ez");
    std::fs::write(&path, text).unwrap();
    let Err(broken) = Unit::load(&path) else { panic!("it was compiled") };
    let told = broken.diagnostics.render(&broken.sources, Colour::Never);
    assert!(told.starts_with("error[E5020]: the function huge is too large"), "{told}");
    assert!(told.contains("main.ez:4:1\n") && told.contains("help: split it into smaller"), "{told}");
}
