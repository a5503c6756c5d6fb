//! `os`: the program's arguments, environment and folder, and the machine it runs on.
//!
//! Other programs cannot be started: their output would bypass the world, and nobody could end the wait for them.

use std::path::PathBuf;
use std::rc::Rc;

use super::given::{self, bad, done, good, whole};
use super::{Answer, Native, Outside};
use crate::value::{Key, Value};

pub const TABLE: &[Native] = &[
    Native::worldly("args", "-> [string]", args),
    Native::worldly("get_env", "string -> (string, error)", get_env),
    Native::worldly("set_env", "string, string -> (bool, error)", set_env),
    Native::worldly("unset_env", "string -> (bool, error)", unset_env),
    Native::worldly("env", "-> map[string:string]", env),
    Native::worldly("cwd", "-> (string, error)", cwd),
    Native::worldly("chdir", "string -> (bool, error)", chdir),
    Native::worldly("hostname", "-> (string, error)", hostname),
    Native::worldly("username", "-> (string, error)", |outside, _| named(outside, &["USER", "LOGNAME"])),
    Native::worldly("home_dir", "-> (string, error)", |outside, _| named(outside, &["HOME"])),
    Native::worldly("temp_dir", "-> string", temp_dir),
    Native::plain("pid", "-> int", |_| Ok(Value::Int(::std::process::id().into()))),
    Native::plain("ppid", "-> int", |_| Ok(Value::Int(::std::os::unix::process::parent_id().into()))),
    Native::plain("platform", "-> string", |_| Ok(Value::text(platform()))),
    Native::plain("arch", "-> string", |_| Ok(Value::text(arch()))),
    Native::plain("is_windows", "-> bool", |_| Ok(Value::Bool(platform() == "windows"))),
    Native::plain("is_linux", "-> bool", |_| Ok(Value::Bool(platform() == "linux"))),
    Native::plain("is_macos", "-> bool", |_| Ok(Value::Bool(platform() == "darwin"))),
    Native::plain("num_cpu", "-> int", |_| {
        Ok(whole(::std::thread::available_parallelism().map_or(1, usize::from)))
    }),
    Native::plain("line_separator", "-> string", |_| Ok(Value::text("\n"))),
    Native::plain("path_separator", "-> string", |_| Ok(Value::text("/"))),
    Native::plain("dev_null", "-> string", |_| Ok(Value::text("/dev/null"))),
];

/// Where Linux keeps the machine's name; elsewhere the environment may know it.
const HOSTNAME: &str = "/proc/sys/kernel/hostname";

fn platform() -> &'static str {
    match ::std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

fn arch() -> &'static str {
    match ::std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}

fn args(outside: &mut Outside<'_>, _: &[Value]) -> Answer {
    Ok(Value::array(
        outside.world.surroundings().arguments.iter().map(|text| Value::text(text.as_str())).collect(),
    ))
}

fn get_env(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    named(outside, &[given::text(arguments, 0)?])
}

/// The first of the variables that is set.
fn named(outside: &mut Outside<'_>, names: &[&str]) -> Answer {
    match names.iter().find_map(|name| outside.world.surroundings().environment.get(*name).cloned()) {
        Some(value) => good(Value::text(value)),
        None => bad(
            outside.types,
            Value::text(""),
            format!("the environment has no variable {}", names.join(" or ")),
        ),
    }
}

/// Names that no environment can hold.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

fn set_env(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let (name, value) = (given::text(arguments, 0)?, given::text(arguments, 1)?);
    if !is_name(name) || value.contains('\0') {
        return bad(outside.types, Value::Bool(false), format!("{name:?} cannot be set to {value:?}"));
    }
    outside.world.surroundings_mut().environment.insert(name.to_owned(), value.to_owned());
    good(Value::Bool(true))
}

fn unset_env(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let name = given::text(arguments, 0)?;
    if !is_name(name) {
        return bad(outside.types, Value::Bool(false), format!("{name:?} is no name of a variable"));
    }
    outside.world.surroundings_mut().environment.remove(name);
    good(Value::Bool(true))
}

fn env(outside: &mut Outside<'_>, _: &[Value]) -> Answer {
    let environment = &outside.world.surroundings().environment;
    let entries = environment
        .iter()
        .map(|(name, value)| (Key(Value::text(name.as_str())), Value::text(value.as_str())));
    Ok(Value::Map(Rc::new(entries.collect())))
}

fn cwd(outside: &mut Outside<'_>, _: &[Value]) -> Answer {
    good(Value::text(outside.world.surroundings().folder.to_string_lossy()))
}

fn chdir(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let name = given::text(arguments, 0)?;
    let folder = outside.world.surroundings().folder.join(name);
    let changed = match ::std::fs::metadata(&folder) {
        Ok(kind) if kind.is_dir() => {
            let clean = super::io::clean(&folder.to_string_lossy());
            outside.world.surroundings_mut().folder = PathBuf::from(clean);
            Ok(())
        }
        Ok(_) => Err(::std::io::ErrorKind::NotADirectory.into()),
        Err(why) => Err(why),
    };
    done(outside, &format!("go to `{name}`"), changed)
}

fn hostname(outside: &mut Outside<'_>, _: &[Value]) -> Answer {
    match ::std::fs::read_to_string(HOSTNAME) {
        Ok(name) => good(Value::text(name.trim())),
        Err(_) => named(outside, &["HOSTNAME"]),
    }
}

fn temp_dir(outside: &mut Outside<'_>, _: &[Value]) -> Answer {
    Ok(Value::text(
        outside.world.surroundings().environment.get("TMPDIR").cloned().unwrap_or_else(|| "/tmp".to_owned()),
    ))
}

#[cfg(test)]
mod tests {
    use crate::library::testing::Desk;
    use crate::value::Value;

    #[test]
    fn the_environment_is_the_worlds() {
        let mut desk = Desk::default();
        desk.world.surroundings.environment =
            [("B".into(), "2".into()), ("HOME".into(), "/home/me".into())].into();
        assert_eq!(desk.shown("os", "get_env", &[Value::text("B")]), r#"("2", nil)"#);
        assert_eq!(desk.shown("os", "set_env", &[Value::text("A"), Value::text("1")]), "(true, nil)");
        assert_eq!(desk.shown("os", "env", &[]), r#"{"A": "1", "B": "2", "HOME": "/home/me"}"#);
        assert_eq!(desk.shown("os", "unset_env", &[Value::text("B")]), "(true, nil)");
        let expected = r#"("", {message: "the environment has no variable B", code: 0})"#;
        assert_eq!(desk.shown("os", "get_env", &[Value::text("B")]), expected);
        assert_eq!(desk.shown("os", "home_dir", &[]), r#"("/home/me", nil)"#);
        assert!(desk.shown("os", "username", &[]).contains("no variable USER or LOGNAME"));
        assert!(
            desk.shown("os", "set_env", &[Value::text("a=b"), Value::text("1")]).starts_with("(false, {")
        );
        assert!(desk.shown("os", "unset_env", &[Value::text("")]).starts_with("(false, {"));
        assert_eq!(desk.shown("os", "temp_dir", &[]), r#""/tmp""#);
    }

    #[test]
    fn the_folder_is_the_worlds_and_changes_only_to_one_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        let mut desk = Desk::default();
        desk.world.surroundings.folder = folder.path().to_owned();
        assert_eq!(desk.shown("os", "chdir", &[Value::text("in/.")]), "(true, nil)");
        assert_eq!(desk.world.surroundings.folder, folder.path().join("in"));
        assert_eq!(desk.shown("os", "chdir", &[Value::text("..")]), "(true, nil)");
        assert_eq!(desk.world.surroundings.folder, folder.path());
        assert!(desk.shown("os", "chdir", &[Value::text("nowhere")]).starts_with("(false, {"));
        let expected = format!("({:?}, nil)", folder.path());
        assert_eq!(desk.shown("os", "cwd", &[]), expected);
    }

    #[test]
    fn a_program_sees_its_arguments_and_its_machine() {
        let mut desk = Desk::default();
        desk.world.surroundings.arguments = vec!["one".into(), "two words".into()];
        assert_eq!(desk.shown("os", "args", &[]), r#"{"one", "two words"}"#);
        let platforms = ["is_windows", "is_linux", "is_macos"].map(|name| desk.shown("os", name, &[]));
        assert_eq!(platforms.iter().filter(|yes| *yes == "true").count(), 1);
        for name in ["pid", "ppid", "num_cpu"] {
            assert!(matches!(desk.call("os", name, &[]), Ok(Value::Int(1..))), "{name}");
        }
        for name in ["platform", "arch", "line_separator", "path_separator", "dev_null", "hostname"] {
            assert!(desk.shown("os", name, &[]).len() > 2, "{name}");
        }
    }
}
