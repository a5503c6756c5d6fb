//! What must hold for any text, whatever it says: the bodies of the fuzz targets, which the test of mutations shares.
//!
//! Each panics if something does not hold. Nothing outside is touched: of the standard modules, those that reach files or
//! differ from run to run are not offered to a program that is run.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use breakroom_ez::check;
use breakroom_ez::code::Program;
use breakroom_ez::compile;
use breakroom_ez::diagnostic::Colour;
use breakroom_ez::library::{self, Library};
use breakroom_ez::machine::{Halt, Machine};
use breakroom_ez::modules::{self, Entry, LibraryNames, Loaded};
use breakroom_ez::source::FileId;
use breakroom_ez::syntax::parser::{parse_file, parse_fragment};
use breakroom_ez::value::Root;
use breakroom_ez::value::format::debug_text;
use breakroom_ez::world::{Stream, Surroundings, Waited};
use breakroom_ez::{Diagnostics, Sources, Type, World};

/// A program that is run must be the same in each run, and must leave the machine as it was.
const NOT_RUN: [&str; 3] = ["io", "os", "random"];

/// How often a program is asked to stop before it is left alone: at each call and each round of a loop.
const POLLS: usize = 300;

/// Some programs run out of it.
const HISTORY: usize = 1 << 18;

/// How many calls, and how much of each value, is compared.
const DEEPEST: usize = 4;
const LONGEST: usize = 200;

thread_local! {
    /// Made once: that takes longer than a small program does.
    static LIBRARY: Rc<Library> = Rc::new(Library::new());
}

/// Any text is parsed, and what is told about it is told about places in it. One without mistakes can be compiled.
pub fn understand(text: &str) {
    let mut sources = Sources::default();
    let file = sources.add(PathBuf::from("fuzzed.ez"), text);
    let mut told = Diagnostics::default();
    parse_file(file, text, &mut told);
    inside(&told, &sources);
    let mut told = Diagnostics::default();
    let fragment = parse_fragment(file, text, &mut told);
    assert!(
        fragment.is_some() || told.has_errors(),
        "nothing was told about a fragment that was not understood"
    );
    inside(&told, &sources);
    compiled(text, &[]);
}

/// Whether it is a program. One does the same with and without history, and a journey into the past changes nothing.
pub fn run(text: &str) -> bool {
    let Some(code) = compiled(text, &NOT_RUN) else { return false };
    let code = Rc::new(code);
    let plain = story(&code, Past::Lost);
    let travelled = story(&code, Past::Visited);
    assert_eq!(travelled, plain, "what a program does depends on its history");
    true
}

fn compiled(text: &str, without: &[&str]) -> Option<Program> {
    let library = LIBRARY.with(Rc::clone);
    let offered: Vec<&str> = library.modules().filter(|module| !without.contains(module)).collect();
    let names = LibraryNames { offered: &offered, not_offered: library::NOT_OFFERED };
    let main = Path::new("/fuzzed.ez");
    let read = |path: &Path| match path == main {
        true => Ok(Entry::File(text.to_owned())),
        false => Err(io::ErrorKind::NotFound.into()),
    };
    let mut told = Diagnostics::default();
    let loaded: Loaded = modules::load(main, &names, &read, &mut told);
    let checked = match told.has_errors() {
        true => None,
        false => check::check(&loaded, &library, &mut told),
    };
    inside(&told, &loaded.sources);
    let Some(checked) = checked else {
        assert!(told.has_errors(), "nothing was told about a program that was refused");
        return None;
    };
    // A function may be too large; nothing else can be wrong by now.
    compile::compile(&checked.program, &library).ok()
}

/// Whatever is told can be shown.
fn inside(told: &Diagnostics, sources: &Sources) {
    for one in &told.all {
        if let Some(span) = one.span {
            assert_eq!(span.file, FileId(0), "{one:?} is in no file");
            let text = &sources.get(span.file).text;
            assert!(
                text.get(span.start as usize..span.end as usize).is_some(),
                "{one:?} is outside of the text"
            );
        }
    }
    told.render(sources, Colour::Never);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Past {
    Lost,
    Visited,
}

/// What there was to see of a program.
#[derive(Debug, PartialEq)]
struct Story {
    faults: Vec<String>,
    exit: i32,
    printed: String,
}

/// `None` if it does not end soon.
fn story(code: &Rc<Program>, past: Past) -> Option<Story> {
    let printed = Rc::new(RefCell::new(String::new()));
    let world = Nowhere {
        printed: Rc::clone(&printed),
        slept: Duration::ZERO,
        surroundings: Surroundings::default(),
    };
    let mut machine = Machine::new(Rc::clone(code), Box::new(world));
    if past == Past::Visited {
        machine.keep_history(HISTORY);
    }
    let mut faults = Vec::new();
    for poll in 1..=POLLS {
        machine.attention().ask();
        let halt = machine.run();
        let is_end = !matches!(halt, Halt::Attention | Halt::Statement);
        if past == Past::Visited && (is_end || poll.is_power_of_two()) {
            travel(&mut machine);
        }
        match halt {
            Halt::Fault(fault) => faults.push(format!("{} {}", fault.code, fault.message)),
            Halt::Exited(exit) => return Some(Story { faults, exit, printed: printed.take() }),
            Halt::Attention | Halt::Statement => {}
        }
    }
    None
}

/// To the beginning of what is known and back: every statement looks the same from both sides.
fn travel(machine: &mut Machine) {
    let present = picture(machine);
    let mut seen = Vec::new();
    while machine.back() {
        seen.push(picture(machine));
    }
    seen.pop();
    for expected in seen.iter().rev() {
        assert!(machine.forward(), "there is less to come than there was");
        assert_eq!(
            &picture(machine),
            expected,
            "a statement looks different when it is come to from its past"
        );
    }
    while machine.forward() {}
    assert!(!machine.in_past(), "there is no way back to the present");
    assert_eq!(picture(machine), present, "the present is another one after a journey");
}

/// What a debugger could show, as far as the innermost calls go.
fn picture(machine: &Machine) -> String {
    let types = &machine.program().types;
    let mut all = format!("{} calls\n", machine.depth());
    let line = |name: &str, kind: &Type, place: Root| {
        let text = match machine.deref(machine.read(place)) {
            Ok(value) => debug_text(value, kind, types, LONGEST),
            Err(fault) => fault.message.into_owned(),
        };
        format!("{name} = {text}\n")
    };
    for (global, place) in machine.program().globals.iter().zip(machine.globals()) {
        all += &line(&global.name, &global.kind, place);
    }
    for (number, frame) in machine.frames().enumerate().take(DEEPEST) {
        all += &format!("{} at {}\n", frame.function.name, frame.pc);
        for (local, place) in machine.visible(number) {
            all += &line(&local.name, &local.kind, place);
        }
    }
    all
}

/// How much of the output is compared.
const MOST: usize = 1 << 16;

/// A world in which nothing is, and where time passes only while one sleeps.
struct Nowhere {
    printed: Rc<RefCell<String>>,
    slept: Duration,
    surroundings: Surroundings,
}

impl World for Nowhere {
    fn print(&mut self, _: Stream, text: &str) {
        let mut printed = self.printed.borrow_mut();
        let room = MOST.saturating_sub(printed.len());
        printed.extend(text.chars().take(room));
    }

    fn read_line(&mut self) -> Waited<Option<String>> {
        Waited::Done(None)
    }

    fn sleep(&mut self, time: Duration) -> Waited<()> {
        self.slept = self.slept.saturating_add(time);
        Waited::Done(())
    }

    fn now(&self) -> SystemTime {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        start.checked_add(self.slept).unwrap_or(start)
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn surroundings_mut(&mut self) -> &mut Surroundings {
        &mut self.surroundings
    }
}
