//! A program that somebody names as they would in a shell: in the project's environments, and then in PATH.
//!
//! What kind of program it is, and whether it can be debugged, is not decided here.

use std::path::PathBuf;

use breakroom_engines::{Context, folder_with, inside, is_executable};

use crate::python;

/// The program of this name for whoever is in the context's folder.
pub fn find(name: &str, context: &Context) -> Option<PathBuf> {
    // With a slash it is a path, and that is not there.
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let here = inside(&context.cwd);
    let of_python = || Some(python::environment_of(&here, &here, context)?.join("bin").join(name));
    let of_node = || {
        let place = format!("node_modules/.bin/{name}");
        folder_with(&here, &place, context).map(|folder| folder.join(place))
    };
    let runs = |path: &PathBuf| is_executable(path);
    of_python().filter(runs).or_else(|| of_node().filter(runs)).or_else(|| context.which(name))
}
