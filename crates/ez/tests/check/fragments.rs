//! What a debugger evaluates in the middle of a program.

use std::rc::Rc;

use breakroom_ez::Diagnostics;
use breakroom_ez::hir::{StatementKind, Variable, VariableAccess};
use breakroom_ez::library::Library;
use breakroom_ez::source::FileId;
use breakroom_ez::syntax::parser::parse_fragment;

use crate::program;

/// What the file below may not touch, a debugger may.
const OTHER: &str = "module other\nprivate temp hidden int = 1\ntemp open int = 2\n";

const PROGRAM: &str = "import @std, @strings\n\
    import \"./other\"\n\
    const LIMIT int = 3\n\
    temp total int = 0\n\
    do twice(n int) -> int { return n * 2 }\n\
    do pair() -> (int, string) { return 1, \"a\" }\n\
    do work(n int, &a [int]) {\n\
      using std\n\
      const c = 1\n\
      temp x = \"outer\"\n\
      if n > 0 {\n\
        temp x = 1.5\n\
        println(x, c, a, strings.upper(\"x\"))\n\
      }\n\
      println(x)\n\
    }\n\
    do main() {\n\
      temp a [int] = {1}\n\
      work(1, a)\n\
      total = LIMIT + other.open\n\
    }\n";

#[test]
fn expressions_and_assignments_are_checked_where_the_program_stands() {
    for (text, expected) in [
        ("n + 1", "int"),
        ("5", "int"),
        ("x", "float"),
        ("x * 2", "float"),
        ("a[0]", "int"),
        ("a", "[int]"),
        ("nil", "nil"),
        ("total", "int"),
        ("twice(n)", "int"),
        ("pair()", "(int, string)"),
        ("n = 5", "nothing"),
        ("total += 2", "nothing"),
        ("a[0] = 7", "nothing"),
        ("n++", "int"),
        ("println(n)", "nothing"),
        ("\"${n}\"", "string"),
        ("len(a) > 1 && true", "bool"),
        ("c + 1", "int"),
        ("other.hidden", "int"),
        ("other.open = 3", "nothing"),
        ("c = 2", "E3024"),
        ("LIMIT = 2", "E3024"),
        ("n = \"x\"", "E3001"),
        ("nowhere", "E4001"),
        ("temp y = 1", "E3042"),
        ("loop { }", "E3042"),
        ("return", "E3042"),
        ("range(3)", "E3011"),
    ] {
        let mut diagnostics = Diagnostics::default();
        let (loaded, checked) = program(&[("main.ez", PROGRAM), ("other.ez", OTHER)], &mut diagnostics);
        let checked = checked.unwrap_or_else(|| panic!("{:?}", diagnostics.all));
        let work = checked.program.functions.iter().find(|function| &*function.name == "work").unwrap();
        let library = Library::new();
        let statement =
            parse_fragment(FileId(99), text, &mut diagnostics).unwrap_or_else(|| panic!("{text}"));
        let fragment = checked.fragment(&statement, &library, work.span.file, &work.locals, &mut diagnostics);
        let found = match &fragment {
            Some(fragment) => checked.program.types.name(&fragment.result).to_string(),
            None => diagnostics.errors().map(|told| told.code).collect::<Vec<_>>().join(" "),
        };
        assert_eq!(found, expected, "{text}: {:?}", diagnostics.all);
        assert_eq!(loaded.sources.iter().count(), 2);
        let Some(fragment) = fragment else { continue };
        assert_eq!(fragment.function.parameters as usize, work.locals.len());
        assert_eq!(fragment.function.locals.len(), work.locals.len());
        let references = |variable: &Variable| {
            matches!(variable.access, VariableAccess::Reference | VariableAccess::ConstantReference)
        };
        assert!(fragment.function.locals.iter().all(references));
        let gives = matches!(fragment.function.body[0].kind, StatementKind::Return(_));
        assert_eq!(gives, expected != "nothing", "{text}");
    }
}

#[test]
fn the_inner_of_two_variables_is_meant_in_whatever_order_they_come() {
    let mut diagnostics = Diagnostics::default();
    let (_, checked) = program(&[("main.ez", PROGRAM), ("other.ez", OTHER)], &mut diagnostics);
    let checked = checked.unwrap();
    let work = checked.program.functions.iter().find(|function| &*function.name == "work").unwrap();
    let mut reversed = work.locals.clone();
    reversed.reverse();
    for visible in [&work.locals, &reversed] {
        let statement = parse_fragment(FileId(99), "x", &mut diagnostics).unwrap();
        let fragment =
            checked.fragment(&statement, &Library::new(), work.span.file, visible, &mut diagnostics).unwrap();
        assert_eq!(checked.program.types.name(&fragment.result).to_string(), "float");
        let StatementKind::Return(values) = &fragment.function.body[0].kind else { panic!() };
        let breakroom_ez::hir::ExprKind::Local(id) = values[0].kind else { panic!() };
        assert_eq!(visible[id.0 as usize].name, Rc::from("x"));
    }
}
