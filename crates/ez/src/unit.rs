//! A program from its file: loaded, checked and compiled, or what is wrong with it.

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use crate::check::{self, Checked};
use crate::code::Program;
use crate::compile;
use crate::diagnostic::{Colour, Diagnostic, Diagnostics, render};
use crate::fault::Fault;
use crate::library::{self, Library};
use crate::modules::{self, LibraryNames};
use crate::source::{Sources, Span};

/// A program that can run.
pub struct Unit {
    pub sources: Sources,
    pub code: Rc<Program>,
    /// What a debugger needs to understand an expression.
    pub checked: Checked,
    /// Warnings only.
    pub diagnostics: Diagnostics,
}

/// A program that cannot, and why.
#[derive(Debug)]
pub struct Broken {
    pub sources: Sources,
    pub diagnostics: Diagnostics,
}

impl Unit {
    pub fn load(main: &Path) -> Result<Unit, Broken> {
        let library = Rc::new(Library::new());
        let mut diagnostics = Diagnostics::default();
        let offered: Vec<&str> = library.modules().collect();
        let names = LibraryNames { offered: &offered, not_offered: library::NOT_OFFERED };
        let loaded = modules::load(main, &names, &modules::from_disk, &mut diagnostics);
        // What was misread would only be misunderstood.
        let checked = match diagnostics.has_errors() {
            true => None,
            false => check::check(&loaded, &library, &mut diagnostics),
        };
        let sources = loaded.sources;
        let Some(checked) = checked else { return Err(Broken { sources, diagnostics }) };
        match compile::compile(&checked.program, &library) {
            Ok(code) => Ok(Unit { sources, code: Rc::new(code), checked, diagnostics }),
            Err((fault, span)) => {
                let mut told = Diagnostic::error(fault.code, span, fault.message).label("too large");
                told.help = fault.help.map(Cow::into_owned);
                diagnostics.push(told);
                Err(Broken { sources, diagnostics })
            }
        }
    }

    /// A runtime error in its frame, as [`Diagnostics::render`] writes static ones.
    pub fn explain(&self, fault: &Fault, span: Option<Span>, colour: Colour) -> String {
        match span {
            Some(span) => render::one(fault, span, &self.sources, colour),
            None => format!("ERROR: {}\n", fault.message),
        }
    }
}
