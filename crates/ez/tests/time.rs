//! The past of every program in `programs/`: going back through it shows what was seen on the way there.
//!
//! Programs are gone through statement by statement, back and forth again; what shows is compared as text. Nothing that
//! a program prints may come twice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use breakroom_ez::debug::{Children, Debuggee, Goal, HISTORY, Host, Spot, Stop, Terms, Wish};
use breakroom_ez::unit::Unit;
use breakroom_ez::world::{Stream, Surroundings, Waited, World};

/// Longer programs are looked at as far as this.
const MOST: usize = 400;

/// A world without a clock or a terminal.
struct Still {
    printed: Rc<RefCell<String>>,
    /// The last one is read first.
    lines: Vec<String>,
    surroundings: Surroundings,
}

impl World for Still {
    fn print(&mut self, _: Stream, text: &str) {
        self.printed.borrow_mut().push_str(text);
    }

    fn read_line(&mut self) -> Waited<Option<String>> {
        Waited::Done(self.lines.pop())
    }

    fn sleep(&mut self, _: Duration) -> Waited<()> {
        Waited::Done(())
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn surroundings_mut(&mut self) -> &mut Surroundings {
        &mut self.surroundings
    }
}

struct Nobody;

impl Host for Nobody {
    fn log(&mut self, message: &str) {
        panic!("nobody asked for {message}");
    }

    fn is_urgent(&mut self) -> bool {
        false
    }
}

/// Where it stands and what shows there, in all frames.
fn state(debuggee: &Debuggee) -> String {
    let sources = &debuggee.unit().sources;
    let mut state = String::new();
    for (number, frame) in debuggee.frames().iter().enumerate() {
        state += &format!("{} {}\n", frame.name, sources.position(frame.span).line);
        for shown in debuggee.scopes(number).into_iter().flat_map(|scope| scope.variables) {
            state += &format!("  {} = {}\n", shown.name, debuggee.text(&shown, 500));
        }
    }
    state
}

fn go(debuggee: &mut Debuggee, goal: Goal) -> Stop {
    debuggee.resume(goal);
    run(debuggee)
}

/// To the first statement there is, be it a global's.
fn begin(debuggee: &mut Debuggee) -> Stop {
    debuggee.begin(Goal::StepIn);
    run(debuggee)
}

fn run(debuggee: &mut Debuggee) -> Stop {
    loop {
        match debuggee.run(&mut Nobody) {
            Stop::Interrupted => {}
            stop => return stop,
        }
    }
}

/// `None` if it is one of those that cannot run.
fn launched(program: &Path, folder: &Path) -> Option<(Debuggee, Rc<RefCell<String>>)> {
    let unit = Unit::load(program).ok()?;
    let printed = Rc::new(RefCell::new(String::new()));
    let input = std::fs::read_to_string(program.with_extension("in")).unwrap_or_default();
    let world = Still {
        printed: Rc::clone(&printed),
        lines: input.lines().rev().map(str::to_owned).collect(),
        surroundings: Surroundings { folder: folder.to_owned(), ..Surroundings::default() },
    };
    let mut debuggee = Debuggee::new(unit, Box::new(world), Some(HISTORY));
    debuggee.stop_at_faults(true);
    Some((debuggee, printed))
}

/// At each statement, so that going back misses none.
fn break_everywhere(debuggee: &mut Debuggee) {
    let files: Vec<PathBuf> = debuggee.unit().sources.iter().map(|(_, file)| file.path.clone()).collect();
    for file in files {
        let spots = debuggee.spots(&file, 0, u64::MAX);
        let wish =
            |spot: &Spot| Wish { line: spot.line, column: Some(spot.column), terms: Ok(Terms::default()) };
        debuggee.break_at_lines(&file, spots.iter().map(wish).collect());
    }
}

/// Lets it go, without breakpoints, to its end.
fn run_out(debuggee: &mut Debuggee) {
    let files: Vec<PathBuf> = debuggee.unit().sources.iter().map(|(_, file)| file.path.clone()).collect();
    for file in files {
        debuggee.break_at_lines(&file, Vec::new());
    }
    debuggee.stop_at_faults(false);
    assert!(matches!(go(debuggee, Goal::Continue), Stop::Exited(_)));
}

/// Every program that can run; folders are programs of several files.
fn programs() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => pending.push(path),
                false if path.extension().is_some_and(|extension| extension == "ez") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_program_shows_the_same_from_both_sides_of_time() {
    let mut statements = 0;
    for program in programs() {
        let folder = tempfile::tempdir().unwrap();
        let Some((mut debuggee, undisturbed)) = launched(&program, folder.path()) else { continue };
        if begin(&mut debuggee) != Stop::Step {
            continue;
        }
        let mut steps = 0;
        while steps < MOST && go(&mut debuggee, Goal::StepIn) == Stop::Step {
            steps += 1;
        }
        run_out(&mut debuggee);
        // Where it has ended nothing shows, so this time it goes only as far as its last statement.
        let folder = tempfile::tempdir().unwrap();
        let Some((mut debuggee, printed)) = launched(&program, folder.path()) else { continue };
        let shown = program.display();
        begin(&mut debuggee);
        let mut states = vec![state(&debuggee)];
        for _ in 0..steps {
            assert_eq!(go(&mut debuggee, Goal::StepIn), Stop::Step, "{shown}");
            states.push(state(&debuggee));
        }
        let told = printed.borrow().len();
        break_everywhere(&mut debuggee);
        for number in (0..steps).rev() {
            let stop = go(&mut debuggee, Goal::ReverseContinue);
            assert!(matches!(stop, Stop::Breakpoint { .. }), "{shown}: {stop:?} on the way back to {number}");
            assert_eq!(state(&debuggee), states[number], "{shown}: back to {number}");
        }
        for (number, expected) in states.iter().enumerate().skip(1) {
            let stop = go(&mut debuggee, Goal::Continue);
            assert!(matches!(stop, Stop::Breakpoint { .. }), "{shown}: {stop:?} on the way to {number}");
            assert_eq!(&state(&debuggee), expected, "{shown}: forward to {number}");
        }
        assert_eq!(printed.borrow().len(), told, "{shown} printed twice");
        run_out(&mut debuggee);
        let source = std::fs::read_to_string(&program).unwrap();
        if !["@random", "@time"].iter().any(|module| source.contains(module)) {
            assert_eq!(printed.borrow().as_str(), undisturbed.borrow().as_str(), "{shown}");
        }
        statements += steps;
    }
    assert!(statements > 3000, "{statements}");
}

/// A program from text, that stops at errors.
fn of(source: &str) -> (Debuggee, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("main.ez");
    std::fs::write(&program, source).unwrap();
    let (debuggee, _) = launched(&program, folder.path()).expect("it can run");
    (debuggee, folder)
}

fn line(debuggee: &Debuggee) -> u32 {
    debuggee.unit().sources.position(debuggee.frames()[0].span).line
}

#[test]
fn on_the_way_back_to_an_error_its_statement_is_stopped_at() {
    let (mut debuggee, _folder) =
        of("import @std\nusing std\ndo main() {\n    temp a = {1}\n    temp i = 7\n    println(a[i])\n}\n");
    begin(&mut debuggee);
    assert!(matches!(go(&mut debuggee, Goal::Continue), Stop::Fault(_)));
    break_everywhere(&mut debuggee);
    for _ in 0..2 {
        assert!(matches!(go(&mut debuggee, Goal::StepBack), Stop::Breakpoint { .. }));
        assert_eq!(line(&debuggee), 5);
        assert!(matches!(go(&mut debuggee, Goal::Continue), Stop::Breakpoint { .. }));
        assert_eq!(line(&debuggee), 6);
        assert!(matches!(go(&mut debuggee, Goal::Continue), Stop::Fault(_)));
        assert_eq!(line(&debuggee), 6);
    }
    run_out(&mut debuggee);
}

#[test]
fn a_step_back_takes_back_what_was_written_by_hand_too() {
    let (mut debuggee, _folder) =
        of("import @std\nusing std\ndo main() {\n    temp n = 1\n    n = 2\n    println(n)\n}\n");
    begin(&mut debuggee);
    for _ in 0..2 {
        assert_eq!(go(&mut debuggee, Goal::StepOver), Stop::Step);
    }
    let n = |debuggee: &mut Debuggee| {
        let shown = debuggee.evaluate(0, "n", &mut || true).unwrap().unwrap();
        (line(debuggee), debuggee.text(&shown, 99))
    };
    debuggee.assign(0, 0, "n", "50", &mut || true).unwrap();
    assert_eq!(n(&mut debuggee), (6, "50".to_owned()));
    assert_eq!(go(&mut debuggee, Goal::StepBack), Stop::Step);
    assert_eq!(n(&mut debuggee), (5, "1".to_owned()));
    assert_eq!(go(&mut debuggee, Goal::StepOver), Stop::Step);
    assert_eq!(n(&mut debuggee), (6, "50".to_owned()));
    assert_eq!(go(&mut debuggee, Goal::StepBack), Stop::Step);
    assert_eq!(n(&mut debuggee), (5, "1".to_owned()));
    run_out(&mut debuggee);
}

/// What is listed a page at a time must not be copied or gone through for each page, let alone for each element.
#[test]
fn the_parts_of_a_million_elements_show_in_no_time() {
    let (mut debuggee, _folder) = of(
        "import @std, @arrays, @maps\nusing std\ndo main() {\n    temp all = arrays.repeat(5, 1000000)\n    temp by map[int:int] = {}\n    for i in range(50000) { by[i] = i }\n    for i in range(20000) { maps.remove(by, i * 2) }\n    println(len(all), len(by))\n}\n",
    );
    let file: Vec<PathBuf> = debuggee.unit().sources.iter().map(|(_, file)| file.path.clone()).collect();
    let wish = Wish { line: 8, column: None, terms: Ok(Terms::default()) };
    debuggee.break_at_lines(&file[0], vec![wish]);
    debuggee.begin(Goal::Continue);
    assert!(matches!(run(&mut debuggee), Stop::Breakpoint { .. }));
    let scopes = debuggee.scopes(0);
    let find = |name: &str| scopes.iter().flat_map(|scope| &scope.variables).find(|shown| shown.name == name);
    let (all, by) = (find("all").unwrap(), find("by").unwrap());
    assert_eq!(debuggee.children(all), Children::Indexed(1_000_000));
    assert_eq!(debuggee.children(by), Children::Named(30_000));
    for number in 0..300_000 {
        assert_eq!(debuggee.text(&debuggee.child(all, number), 9), "5");
    }
    for number in 0..30_000 {
        let key = if number < 20_000 { number * 2 + 1 } else { number + 20_000 };
        assert_eq!(debuggee.child(by, number).name, key.to_string());
    }
    for _ in 0..10_000 {
        assert_eq!(debuggee.text(all, 50).chars().last(), Some('…'));
        assert_eq!(debuggee.scopes(0).len(), scopes.len());
    }
}
