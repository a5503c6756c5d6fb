//! The places that `--break` names: which of the files that were named they are in.
//!
//! What the debugger makes of them, and files that it names itself, are the terminal door's business.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use breakroom_door_terminal::{Place, Spot};
use breakroom_engines::{Catalog, Context};
use breakroom_launch::is_python;

use crate::cli::RunArgs;

/// What pytest puts between a file and a test in it.
const IN_FILE: &str = "::";

/// The places to break at, each with its file where that is known.
pub fn places(args: &RunArgs, context: &Context) -> Result<Vec<Place>> {
    if args.breakpoints.is_empty() {
        return Ok(Vec::new());
    }
    let named = Named::of(args, context)?;
    let settled = |place: &Place| {
        let Spot::Line { file, line } = &place.spot else { return Ok(place.clone()) };
        let found = match file {
            Some(name) if context.cwd.join(name).exists() => None,
            Some(name) => named.all().find(|file| file.ends_with(name)),
            None => named.meant(),
        };
        let file = match (found, file) {
            (Some(found), _) => Some(found.to_string_lossy().into_owned()),
            (None, None) if named.program.is_none() => return in_which_file(*line),
            (None, file) => file.clone(),
        };
        Ok(Place { spot: Spot::Line { file, line: *line }, terms: place.terms.clone() })
    };
    args.breakpoints.iter().map(settled).collect()
}

/// The files of a command line.
struct Named {
    /// What is debugged, or an editor is looking at. A tool that only runs other files is none.
    program: Option<PathBuf>,
    /// Those among the program's arguments.
    others: Vec<PathBuf>,
}

impl Named {
    fn of(args: &RunArgs, context: &Context) -> Result<Named> {
        let catalog = Catalog::load(context)?;
        let absolute = |path: &Path| {
            let path = context.cwd.join(path);
            std::path::absolute(&path).unwrap_or(path)
        };
        let file = |word: &str| {
            let path = absolute(Path::new(word.split(IN_FILE).next().unwrap_or(word)));
            // What is there to set the tool up has no lines to stop at.
            (path.is_file() && catalog.knows_source(&path)).then_some(path)
        };
        let program = args.file.as_deref().map(|file| {
            let named = file.to_string_lossy();
            absolute(Path::new(named.split(IN_FILE).next().unwrap_or(&named)))
        });
        let program = program.filter(|path| path.is_file() && !is_python(path));
        let words = args.args.iter().chain(args.module.iter().flatten());
        Ok(Named { program, others: words.filter_map(|word| file(word)).collect() })
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.program.iter().chain(&self.others)
    }

    /// The one that a bare line is in.
    fn meant(&self) -> Option<&PathBuf> {
        match (&self.program, self.others.as_slice()) {
            (Some(program), _) => Some(program),
            (None, [other]) => Some(other),
            (None, _) => None,
        }
    }
}

/// A bare line means the program's own file, and here is none.
pub fn refuse_bare_lines(args: &RunArgs) -> Result<()> {
    let bare = |place: &&Place| matches!(place.spot, Spot::Line { file: None, .. });
    match args.breakpoints.iter().find(bare) {
        Some(Place { spot: Spot::Line { line, .. }, .. }) => in_which_file(*line),
        _ => Ok(()),
    }
}

fn in_which_file<T>(line: i64) -> Result<T> {
    bail!("--break {line}: in which file? Write --break FILE:{line}, or the name of a function")
}
