//! Writes the script of an entry's that the program's own runtime loads before the program.

use std::io;

use breakroom_habits::Preload;

use super::companion::written;
use crate::context::Context;
use crate::folders;

/// The same with the option for a script that is there.
pub fn preloaded(preload: &Preload, context: &Context) -> io::Result<Preload> {
    let folder = folders::preloads_dir(context).map_err(io::Error::other)?;
    let path = written(&folder, &preload.file, &preload.script)?;
    let quoted = serde_json::Value::from(path.to_string_lossy()).to_string();
    Ok(Preload { option: preload.option.replace("{{file}}", &quoted), ..preload.clone() })
}
