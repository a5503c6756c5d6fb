//! A process that is attached to by the port at which it lets debuggers in: the number of the process becomes that port.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use breakroom_engines::{Catalog, Context, ProcessByPort};
use serde_json::{Value, json};

use crate::build::Arguments;
use crate::failure::Failure;
use crate::workshop::Workshop;

/// What an attach says about a process, if its debugger has to be told a port.
pub(crate) fn wanted(kind: &str, arguments: &Arguments, context: &Context) -> Option<(u32, ProcessByPort)> {
    // Nearly no attach names a process, and the catalog is read from files.
    let any = |value: &Value| number(value).is_some();
    if !arguments.values().any(any) {
        return None;
    }
    let words = Catalog::load(context).ok()?.by_type(kind)?.process_by_port.clone()?;
    let process = arguments.get(&words.process).and_then(number)?;
    // Who says both knows the port.
    (!arguments.contains_key(&words.port)).then_some((process, words))
}

/// Editors' pickers give a text.
fn number(value: &Value) -> Option<u32> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| *number > 0)
}

/// What people call a process: the first file that its command line names, if there is one.
pub(crate) fn name(process: u32) -> String {
    let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).skip(1).map(|word| PathBuf::from(OsStr::from_bytes(word)));
    let folder = PathBuf::from(format!("/proc/{process}/cwd"));
    let file = words.into_iter().find(|word| folder.join(word).is_file());
    match file.as_deref().and_then(Path::file_name) {
        Some(file) => format!("{} [{process}]", file.to_string_lossy()),
        None => format!("process {process}"),
    }
}

/// What changes in the arguments. The number of the process is left out.
pub(crate) async fn changes(
    process: u32,
    words: &ProcessByPort,
    workshop: &Workshop<'_>,
) -> Result<Arguments, Failure> {
    let address = workshop.open_inspector(process, &words.programs).await?;
    let mut changes = Arguments::new();
    changes.insert(words.address.clone(), json!(address.ip().to_string()));
    changes.insert(words.port.clone(), json!(address.port()));
    changes.insert(words.process.clone(), Value::Null);
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    #[test]
    fn a_process_is_called_by_its_program_and_its_number() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.sh"), "echo up; read line\n").unwrap();
        for (words, called) in
            [(&["-u", "x.sh", "a"][..], "x.sh ["), (&["-c", "echo up; read line; true"], "process ")]
        {
            let mut process = std::process::Command::new("/bin/sh")
                .args(words)
                .current_dir(folder.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            // Before it has begun it has no command line.
            let mut said = BufReader::new(process.stdout.take().unwrap());
            said.read_line(&mut String::new()).unwrap();
            let name = name(process.id());
            process.kill().unwrap();
            process.wait().unwrap();
            assert!(name.starts_with(called) && name.contains(&process.id().to_string()), "{name}");
        }
    }
}
