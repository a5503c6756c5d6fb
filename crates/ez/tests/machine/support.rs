//! Programs from text, a world that remembers what was printed, and pictures of a machine's state to compare.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use breakroom_ez::check::{self, Checked};
use breakroom_ez::code::Program;
use breakroom_ez::diagnostic::Colour;
use breakroom_ez::library::{Library, NOT_OFFERED};
use breakroom_ez::machine::{Attention, Flow, Halt, Machine, Tracer};
use breakroom_ez::modules::{self, Entry, LibraryNames, Loaded};
use breakroom_ez::value::{Value, format};
use breakroom_ez::world::{Stream, Surroundings, Waited, World};
use breakroom_ez::{Diagnostics, compile};

const FILE: &str = "/program/main.ez";

pub struct Text {
    pub program: Rc<Program>,
    pub library: Rc<Library>,
    pub checked: Checked,
    pub loaded: Loaded,
}

/// A program of which `body` is all but the imports.
pub fn text(body: &str) -> Text {
    let source = format!("import @std, @arrays, @maps, @strings\nusing std\n{}", indented(body));
    let library = Rc::new(Library::new());
    let offered: Vec<&str> = library.modules().collect();
    let names = LibraryNames { offered: &offered, not_offered: NOT_OFFERED };
    let read = move |path: &Path| match path == Path::new(FILE) {
        true => Ok(Entry::File(source.clone())),
        false => Err(std::io::ErrorKind::NotFound.into()),
    };
    let mut diagnostics = Diagnostics::default();
    let loaded = modules::load(Path::new(FILE), &names, &read, &mut diagnostics);
    let checked = check::check(&loaded, &library, &mut diagnostics);
    let told = diagnostics.render(&loaded.sources, Colour::Never);
    assert!(!diagnostics.has_errors(), "{body}\n{told}");
    let checked = checked.unwrap_or_else(|| panic!("{body}\n{told}"));
    let program = Rc::new(compile::compile(&checked.program, &library).expect("it is not too large"));
    Text { program, library, checked, loaded }
}

/// What is inside of braces begins behind the first column, where the parser expects declarations.
fn indented(body: &str) -> String {
    let mut depth = 0;
    let mut lines = Vec::new();
    for line in body.lines() {
        let closes = line.trim_start().starts_with('}');
        let inside = depth - i32::from(closes) > 0;
        lines.push(format!("{}{line}", if inside { " " } else { "" }));
        depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
    }
    lines.join("\n")
}

impl Text {
    pub fn machine(&self) -> (Machine, Printed) {
        let printed = Printed::default();
        let world = Recording {
            printed: printed.clone(),
            surroundings: Surroundings { folder: "/program".into(), ..Surroundings::default() },
        };
        (Machine::new(Rc::clone(&self.program), Box::new(world)), printed)
    }

    /// The line where the innermost frame stands, counted without the imports.
    pub fn line(&self, machine: &Machine) -> u32 {
        let frame = machine.frame(0).expect("there is a frame");
        let statement = frame.statement.expect("it stands at a statement");
        self.loaded.sources.position(statement.span).line - 2
    }
}

/// What a program printed, and how often its sleep is to be interrupted.
#[derive(Clone, Default)]
pub struct Printed {
    pub text: Rc<RefCell<String>>,
    pub interruptions: Rc<Cell<u32>>,
}

impl Printed {
    pub fn take(&self) -> String {
        self.text.take()
    }
}

struct Recording {
    printed: Printed,
    surroundings: Surroundings,
}

impl World for Recording {
    fn print(&mut self, _: Stream, text: &str) {
        self.printed.text.borrow_mut().push_str(text);
    }

    fn read_line(&mut self) -> Waited<Option<String>> {
        Waited::Done(None)
    }

    fn sleep(&mut self, _: Duration) -> Waited<()> {
        match self.printed.interruptions.get() {
            0 => Waited::Done(()),
            more => {
                self.printed.interruptions.set(more - 1);
                Waited::Interrupted
            }
        }
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn surroundings_mut(&mut self) -> &mut Surroundings {
        &mut self.surroundings
    }
}

/// Runs a program and gives what it printed and how it stopped first.
pub fn run(body: &str) -> (String, Halt) {
    let (mut machine, printed) = text(body).machine();
    let halt = machine.run();
    (printed.take(), halt)
}

pub fn prints(body: &str, expected: &str) {
    let (printed, halt) = run(body);
    assert_eq!(printed.trim_end(), expected.trim_end(), "{body}");
    assert_eq!(halt, Halt::Exited(0), "{body}");
}

/// The same, of statements in `main`.
pub fn main_prints(statements: &str, expected: &str) {
    prints(&format!("do main() {{\n{statements}\n}}"), expected);
}

/// The code of the fault that ends a program.
pub fn fault(body: &str) -> &'static str {
    match run(body).1 {
        Halt::Fault(fault) => fault.code,
        other => panic!("{other:?}: {body}"),
    }
}

pub fn main_fault(statements: &str) -> &'static str {
    fault(&format!("do main() {{\n{statements}\n}}"))
}

/// Everything that a debugger sees, as text.
pub fn picture(machine: &Machine) -> String {
    let show = |value: &Value| match machine.deref(value) {
        Ok(value) => format::inside(value),
        Err(fault) => fault.code.to_owned(),
    };
    let mut lines = Vec::new();
    for (number, frame) in machine.frames().enumerate() {
        lines.push(format!("{} {:?}", frame.function.name, frame.statement.map(|statement| statement.span)));
        for (local, place) in machine.visible(number) {
            lines.push(format!("  {} = {}", local.name, show(machine.read(place))));
        }
    }
    for place in machine.globals() {
        lines.push(show(machine.read(place)));
    }
    lines.join("\n")
}

/// Halts at every statement.
pub struct Every;

impl Tracer for Every {
    fn at(&mut self, _: &Machine) -> Flow {
        Flow::Halt
    }
}

/// Counts statements and halts at none.
#[derive(Default)]
pub struct Count(pub usize);

impl Tracer for Count {
    fn at(&mut self, _: &Machine) -> Flow {
        self.0 += 1;
        Flow::Go
    }
}

/// Asks for attention at the statement with this number.
pub struct AskAt {
    pub left: usize,
    pub attention: Attention,
}

impl Tracer for AskAt {
    fn at(&mut self, _: &Machine) -> Flow {
        match self.left {
            0 => self.attention.ask(),
            _ => self.left -= 1,
        }
        Flow::Go
    }
}
