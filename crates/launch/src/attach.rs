//! What is debugged without being launched: a process, a server that listens, the core file of a program that is gone.
//!
//! Each adapter has its own words for these; they are a table, with the values put in where their names stand.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use breakroom_engines::{executable_of, opened};
use serde_json::{Value, json};

use crate::failure::Failure;

/// What is to be debugged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Object {
    Process(u32),
    Address { host: String, port: u16 },
    Core { core: PathBuf, program: Option<PathBuf> },
}

/// Refuses a file that is no core file, which debuggers say nothing useful of. One whose kind is not known is left to them.
pub fn check_core(core: &Path) -> Result<(), Failure> {
    let mut head = [0; 18];
    let file = opened(core);
    let read = file.and_then(|file| file.map(|file| file.take(18).read(&mut head)).transpose());
    let count =
        read.map_err(|error| Failure::said(format!("{} cannot be read: {error}.", core.display())))?;
    let is = match head.get(..count.unwrap_or_default()).unwrap_or_default() {
        _ if count.is_none() => "a folder, a pipe or a device",
        [0x7f, b'E', b'L', b'F', _, order, .., first, second] if count == Some(head.len()) => {
            let kind = if *order == 2 { [*second, *first] } else { [*first, *second] };
            match u16::from_le_bytes(kind) {
                2 | 3 => "a program or a library",
                1 => "an object file",
                _ => return Ok(()),
            }
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..]
        | [0x04, 0x22, 0x4d, 0x18, ..]
        | [0x1f, 0x8b, ..]
        | [0xfd, b'7', b'z', ..] => "compressed, and has to be unpacked first",
        [] => "empty",
        // Windows' and those of macOS.
        [b'M', b'D', b'M', b'P', ..] | [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] => return Ok(()),
        _ => "something else",
    };
    Err(Failure::said(format!(
        "{} is no core file: it is {is}. Expected is what the system wrote when the program crashed, or what `gcore` makes of a running one.",
        core.display()
    )))
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
    /// How a program is started so that it can be debugged at an address, where it cannot be by its number.
    listening: Option<&'static str>,
}

/// The request, and its arguments with `{name}` for each value, or `{'name'}` for one in a command of lldb's. A member whose
/// value is not there is left out.
type Words = (&'static str, &'static str);

const ROWS: &[Row] = &[
    Row {
        adapter: "debugpy",
        process: Some(("attach", r#"{"processId": "{pid}"}"#)),
        // Through an adapter of its own it would wait for ever.
        address: Some((("attach", "{}"), Way::Server)),
        core: None,
        listening: None,
    },
    Row {
        adapter: "lldb",
        process: Some(("attach", r#"{"pid": "{pid}"}"#)),
        address: Some((("attach", r#"{"attachCommands": ["gdb-remote {host}:{port}"]}"#), Way::Engine)),
        core: Some(("attach", r#"{"coreFile": "{core}", "program": "{program}"}"#)),
        listening: None,
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
            r#"{"targetCreateCommands": ["target create --core {'core'} {'program'}"], "processCreateCommands": []}"#,
        )),
        listening: None,
    },
    Row {
        adapter: "gdb",
        process: Some(("attach", r#"{"pid": "{pid}"}"#)),
        address: Some((("attach", r#"{"target": "{host}:{port}"}"#), Way::Engine)),
        core: Some(("attach", r#"{"coreFile": "{core}", "program": "{program}"}"#)),
        listening: None,
    },
    Row {
        adapter: "cdt-gdb",
        process: Some(("attach", r#"{"processId": "{pid}"}"#)),
        address: None,
        core: None,
        listening: None,
    },
    Row {
        adapter: "delve",
        process: Some(("attach", r#"{"mode": "local", "processId": "{pid}"}"#)),
        address: Some((("attach", r#"{"mode": "remote"}"#), Way::Server)),
        core: Some(("launch", r#"{"mode": "core", "coreFilePath": "{core}", "program": "{program}"}"#)),
        listening: None,
    },
    Row {
        adapter: "js-debug",
        process: Some(("attach", r#"{"processId": "{pid}"}"#)),
        address: Some((("attach", r#"{"address": "{host}", "port": "{port}"}"#), Way::Engine)),
        core: None,
        listening: None,
    },
    Row {
        adapter: "rdbg",
        process: None,
        address: Some((("attach", "{}"), Way::Server)),
        core: None,
        listening: Some("rdbg --open --nonstop --host 127.0.0.1 --port 12345 FILE.rb"),
    },
    Row {
        adapter: "netcoredbg",
        process: Some(("attach", r#"{"processId": "{pid}"}"#)),
        address: None,
        core: None,
        listening: None,
    },
    Row {
        adapter: "jdi",
        process: None,
        address: Some((("attach", r#"{"host": "{host}", "port": "{port}"}"#), Way::Engine)),
        core: None,
        listening: Some(
            "java -agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:12345 CLASS",
        ),
    },
    Row {
        adapter: "remote-runtime",
        process: None,
        address: Some((("attach", r#"{"host": "{host}", "port": "{port}"}"#), Way::Engine)),
        core: None,
        listening: Some("a program with a debug server for scripts"),
    },
    Row { adapter: "perl", process: None, address: None, core: None, listening: None },
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
            let rest = match (object, row) {
                (Object::Process(_), Some(Row { listening: Some(how), .. })) => {
                    Some(format!("only one that listens: start it as `{how}` and attach to that address."))
                }
                (_, Some(Row { process: None, address: None, core: None, .. })) => {
                    Some("only what it starts itself.".to_owned())
                }
                _ => None,
            };
            if let Some(rest) = rest {
                return Failure::said(format!("{adapter} cannot debug {what}, {rest}"));
            }
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
            let (core, program) = (path(core), program.as_deref().map(path));
            let quoted = program.as_deref().map(in_command).unwrap_or_default();
            let text = text.replace("{'core'}", &in_command(&core)).replace("{'program'}", &quoted);
            text.replace("{core}", &core)
                .replace("{program}", &program.unwrap_or_default())
                .trim_end()
                .to_owned()
        }
    }
}

/// One word of a command as lldb reads it.
fn in_command(word: &str) -> String {
    let escaped = word.chars().flat_map(|letter| {
        let escape = ['"', '\\', '`'].contains(&letter).then_some('\\');
        escape.into_iter().chain([letter])
    });
    format!("\"{}\"", escaped.collect::<String>())
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
    let bare = executable_of(pid).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::said(format!("there is no process {pid}.")),
        _ => Failure::said(format!("what process {pid} executes cannot be seen: {error}.")),
    })?;
    match INTERPRETERS.iter().find(|(known, _)| *known == bare) {
        Some((_, kind)) => Ok(Kind::Type(kind)),
        // Through the link, which leads to what is executed even if it has no name any more.
        None if is_go(&link) => Ok(Kind::Type("go")),
        None => Ok(Kind::Executable(link)),
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

    #[test]
    fn what_is_no_core_file_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let elf = |kind: u8| [b"\x7fELF\x02\x01\x01".to_vec(), vec![0; 9], vec![kind, 0]].concat();
        for (content, said) in [
            (elf(4), None),
            (elf(3), Some("a program")),
            (elf(1), Some("an object file")),
            (b"int main(void) {}\n".to_vec(), Some("something else")),
            (b"\x28\xb5\x2f\xfd".to_vec(), Some("compressed")),
            (Vec::new(), Some("empty")),
        ] {
            let core = folder.path().join("core");
            std::fs::write(&core, content).unwrap();
            let refusal = check_core(&core).err().map(|failure| failure.to_string());
            assert_eq!(refusal.is_some(), said.is_some(), "{refusal:?}");
            let words =
                said.is_none_or(|said| refusal.as_ref().is_some_and(|refusal| refusal.contains(said)));
            assert!(words, "{refusal:?}");
        }
        assert!(check_core(&folder.path().join("none")).is_err());
    }

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
            (
                "codelldb",
                &Object::Core { core: "/a b/c".into(), program: Some("/p`\"q".into()) },
                "attach",
                json!({"targetCreateCommands": [r#"target create --core "/a b/c" "/p\`\"q""#], "processCreateCommands": []}),
            ),
            (
                "codelldb",
                &core(None),
                "attach",
                json!({"targetCreateCommands": [r#"target create --core "/c""#], "processCreateCommands": []}),
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
        let folder = tempfile::tempdir().unwrap();
        let kind_of_deleted = |name: &str| {
            let path = folder.path().join(name);
            breakroom_testkit::copy_program(Path::new("/bin/sleep"), &path);
            let mut process = std::process::Command::new(&path).arg("60").spawn().unwrap();
            std::fs::remove_file(&path).unwrap();
            let kind = kind_of_process(process.id());
            let readable = matches!(&kind, Ok(Kind::Executable(path)) if path.exists());
            process.kill().unwrap();
            process.wait().unwrap();
            (kind.unwrap(), readable)
        };
        assert_eq!(kind_of_deleted("python3.11").0, Kind::Type("python"));
        assert!(kind_of_deleted("program").1, "what it executes can still be looked at");
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
