//! What is debugged without being launched: a process, a server that listens, the core file of a program that is gone.
//!
//! Each adapter has its own words for these; they are a table, with the values put in where their names stand.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::failure::Failure;

/// What is to be debugged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Object {
    Process(u32),
    Address { host: String, port: u16 },
    Core { core: PathBuf, program: Option<PathBuf> },
}

/// How an engine is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Telling {
    pub request: &'static str,
    pub arguments: Value,
    pub way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By the engine that the catalog has.
    Engine,
    /// What listens there speaks the protocol itself.
    Server,
}

struct Row {
    adapter: &'static str,
    process: Option<Words>,
    address: Option<(Words, Way)>,
    core: Option<Words>,
}

/// The request, and its arguments with `{name}` for each value. A member whose value is not there is left out.
type Words = (&'static str, &'static str);

const ROWS: &[Row] = &[
    Row {
        adapter: "debugpy",
        process: Some(("attach", r#"{"processId": "{pid}"}"#)),
        // Through an adapter of its own it would wait for ever.
        address: Some((("attach", "{}"), Way::Server)),
        core: None,
    },
    Row {
        adapter: "lldb",
        process: Some(("attach", r#"{"pid": "{pid}"}"#)),
        address: Some((("attach", r#"{"attachCommands": ["gdb-remote {host}:{port}"]}"#), Way::Engine)),
        core: Some(("attach", r#"{"coreFile": "{core}", "program": "{program}"}"#)),
    },
    Row {
        adapter: "codelldb",
        process: Some(("attach", r#"{"pid": "{pid}"}"#)),
        address: Some((
            ("attach", r#"{"processCreateCommands": ["gdb-remote {host}:{port}"]}"#),
            Way::Engine,
        )),
        core: Some((
            "attach",
            r#"{"targetCreateCommands": ["target create --core {core} {program}"], "processCreateCommands": []}"#,
        )),
    },
    Row {
        adapter: "gdb",
        process: Some(("attach", r#"{"pid": "{pid}"}"#)),
        address: Some((("attach", r#"{"target": "{host}:{port}"}"#), Way::Engine)),
        core: Some(("attach", r#"{"coreFile": "{core}", "program": "{program}"}"#)),
    },
    Row {
        adapter: "cdt-gdb",
        process: Some(("attach", r#"{"processId": "{pid}"}"#)),
        address: None,
        core: None,
    },
    Row {
        adapter: "delve",
        process: Some(("attach", r#"{"mode": "local", "processId": "{pid}"}"#)),
        address: Some((("attach", r#"{"mode": "remote"}"#), Way::Server)),
        core: Some(("launch", r#"{"mode": "core", "coreFilePath": "{core}", "program": "{program}"}"#)),
    },
    Row {
        adapter: "js-debug",
        process: Some(("attach", r#"{"processId": "{pid}"}"#)),
        address: Some((("attach", r#"{"address": "{host}", "port": "{port}"}"#), Way::Engine)),
        core: None,
    },
    Row { adapter: "rdbg", process: None, address: Some((("attach", "{}"), Way::Server)), core: None },
    Row {
        adapter: "netcoredbg",
        process: Some(("attach", r#"{"processId": "{pid}"}"#)),
        address: None,
        core: None,
    },
    Row {
        adapter: "jdi",
        process: None,
        address: Some((("attach", r#"{"host": "{host}", "port": "{port}"}"#), Way::Engine)),
        core: None,
    },
];

/// The words of an adapter of the catalog for what is to be debugged.
pub fn telling(adapter: &str, object: &Object) -> Result<Telling, Failure> {
    let row = ROWS.iter().find(|row| row.adapter == adapter);
    let words = |what: &str, words: Option<(Words, Way)>| {
        let able = |row: &&Row| match object {
            Object::Process(_) => row.process.is_some(),
            Object::Address { .. } => row.address.is_some(),
            Object::Core { .. } => row.core.is_some(),
        };
        words.ok_or_else(|| {
            let able: Vec<_> = ROWS.iter().filter(able).map(|row| row.adapter).collect();
            Failure::said(format!(
                "{adapter} cannot debug {what}; these can: {}. Choose one by --type.",
                able.join(", ")
            ))
        })
    };
    let ((request, template), way) = match object {
        Object::Process(_) => {
            words("a process that runs already", row.and_then(|row| Some((row.process?, Way::Engine))))?
        }
        Object::Address { .. } => words("what listens at an address", row.and_then(|row| row.address))?,
        Object::Core { .. } => words("a core file", row.and_then(|row| Some((row.core?, Way::Engine))))?,
    };
    let mut arguments: Value = serde_json::from_str(template).unwrap_or_default();
    put_in(&mut arguments, object);
    if let Value::Object(members) = &mut arguments {
        members.retain(|_, value| !value.is_null());
    }
    Ok(Telling { request, arguments, way })
}

fn put_in(value: &mut Value, object: &Object) {
    match value {
        // A number that stands alone stays one.
        Value::String(text) => {
            *value = match (text.as_str(), object) {
                ("{pid}", Object::Process(pid)) => json!(pid),
                ("{port}", Object::Address { port, .. }) => json!(port),
                ("{program}", Object::Core { program: None, .. }) => Value::Null,
                (text, object) => json!(filled(text, object)),
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| put_in(element, object)),
        Value::Object(members) => members.values_mut().for_each(|member| put_in(member, object)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn filled(text: &str, object: &Object) -> String {
    match object {
        Object::Process(pid) => text.replace("{pid}", &pid.to_string()),
        Object::Address { host, port } => text.replace("{host}", host).replace("{port}", &port.to_string()),
        Object::Core { core, program } => {
            let path = |path: &Path| path.to_string_lossy().into_owned();
            let program = program.as_deref().map(path).unwrap_or_default();
            text.replace("{core}", &path(core)).replace("{program}", &program).trim_end().to_owned()
        }
    }
}

/// What the executable of a process says about its language. Anything else is an executable of this machine.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "python"),
    ("pypy", "python"),
    ("node", "pwa-node"),
    ("nodejs", "pwa-node"),
    ("ruby", "ruby"),
    ("perl", "perl"),
    ("java", "java"),
    ("dotnet", "coreclr"),
];

/// The type of debugger for a process, by what it executes.
pub fn kind_of_process(pid: u32) -> Result<Kind, Failure> {
    let link = PathBuf::from(format!("/proc/{pid}/exe"));
    let executable = std::fs::read_link(&link).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::said(format!("there is no process {pid}.")),
        _ => Failure::said(format!("what process {pid} executes cannot be seen: {error}.")),
    })?;
    let name = executable.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    match INTERPRETERS.iter().find(|(known, _)| *known == bare) {
        Some((_, kind)) => Ok(Kind::Type(kind)),
        // Through the link: the file may have been replaced meanwhile.
        None if is_go(&link) => Ok(Kind::Type("go")),
        None => Ok(Kind::Executable(executable)),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Type(&'static str),
    Executable(PathBuf),
}

/// Every program of Go has this section.
pub fn is_go(executable: &Path) -> bool {
    section_names(executable).is_some_and(|names| names.windows(GO.len()).any(|window| window == GO))
}

const GO: &[u8] = b".go.buildinfo\0";
/// No program has more names of sections than this.
const MOST_NAMES: u64 = 1 << 20;

/// The names of an executable's sections, as 64-bit little-endian ELF has them.
fn section_names(executable: &Path) -> Option<Vec<u8>> {
    let mut file = std::fs::File::open(executable).ok()?;
    let header = read_at(&mut file, 0, 64)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = u64::from_le_bytes(header.get(0x28..0x30)?.try_into().ok()?);
    let number = |at: usize| Some(u64::from(u16::from_le_bytes(header.get(at..at + 2)?.try_into().ok()?)));
    let (size, names) = (number(0x3a)?, number(0x3e)?);
    let section = read_at(&mut file, table.checked_add(size * names)?, 64)?;
    let place = |at: usize| Some(u64::from_le_bytes(section.get(at..at + 8)?.try_into().ok()?));
    read_at(&mut file, place(0x18)?, place(0x20)?.min(MOST_NAMES))
}

fn read_at(file: &mut std::fs::File, at: u64, length: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(adapter: &str, object: &Object) -> Result<(&'static str, Value), String> {
        let telling = telling(adapter, object).map_err(|failure| failure.to_string())?;
        Ok((telling.request, telling.arguments))
    }

    #[test]
    fn every_adapter_is_told_in_its_own_words() {
        let pid = Object::Process(7);
        let address = Object::Address { host: "127.0.0.1".into(), port: 80 };
        let core =
            |program: Option<&str>| Object::Core { core: "/c".into(), program: program.map(PathBuf::from) };
        for (adapter, object, request, arguments) in [
            ("debugpy", &pid, "attach", json!({"processId": 7})),
            ("lldb", &pid, "attach", json!({"pid": 7})),
            ("lldb", &address, "attach", json!({"attachCommands": ["gdb-remote 127.0.0.1:80"]})),
            ("lldb", &core(Some("/p")), "attach", json!({"coreFile": "/c", "program": "/p"})),
            ("lldb", &core(None), "attach", json!({"coreFile": "/c"})),
            (
                "delve",
                &core(Some("/p")),
                "launch",
                json!({"mode": "core", "coreFilePath": "/c", "program": "/p"}),
            ),
            ("delve", &pid, "attach", json!({"mode": "local", "processId": 7})),
            ("js-debug", &address, "attach", json!({"address": "127.0.0.1", "port": 80})),
        ] {
            assert_eq!(told(adapter, object), Ok((request, arguments)), "{adapter}");
        }
        assert_eq!(telling("debugpy", &address).unwrap().way, Way::Server);
        let refusal = told("debugpy", &core(None)).unwrap_err();
        assert!(
            refusal.contains("cannot debug a core file; these can: lldb, codelldb, gdb, delve"),
            "{refusal}"
        );
        assert!(told("mine", &pid).unwrap_err().starts_with("mine cannot debug"));
    }

    #[test]
    fn a_process_is_known_by_what_it_executes() {
        let own = kind_of_process(std::process::id()).unwrap();
        assert!(matches!(own, Kind::Executable(_)), "{own:?}");
        assert!(kind_of_process(u32::MAX).unwrap_err().to_string().contains("no process"));
    }

    #[test]
    fn only_a_program_of_go_is_taken_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let mut bytes = vec![0; 128];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        // One section, which is that of the names, and behind it the names.
        bytes[0x28] = 64;
        bytes[0x3a] = 64;
        bytes[64 + 0x18] = 128;
        bytes[64 + 0x20] = 32;
        for (names, go) in [(&b"\0.text\0.go.buildinfo\0"[..], true), (b"\0.text\0", false)] {
            std::fs::write(&path, [&bytes, names].concat()).unwrap();
            assert_eq!(is_go(&path), go);
        }
        std::fs::write(&path, b"\x7fELF .go.buildinfo\0").unwrap();
        assert!(!is_go(&path));
    }
}
