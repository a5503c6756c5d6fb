//! Paths as text. Nothing here looks at files.

use super::path;
use crate::library::given::{self, good};
use crate::library::{Answer, Native, Outside};
use crate::value::Value;

pub const TABLE: &[Native] = &[
    Native::plain("path_join", "string... -> string", join),
    Native::plain("path_base", "string -> string", base),
    Native::plain("path_dir", "string -> string", folder),
    Native::plain("path_ext", "string -> string", extension),
    Native::plain("path_clean", "string -> string", cleaned),
    Native::plain("path_is_abs", "string -> bool", is_absolute),
    Native::worldly("path_abs", "string -> (string, error)", absolute),
    Native::plain("path_separator", "-> string", separator),
];

/// The shortest path that means the same, without looking whether a part is a link.
pub fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(&last)) if last != ".." => {
                parts.pop();
            }
            ("..", None) if rooted => {}
            (part, _) => parts.push(part),
        }
    }
    match (rooted, parts.join("/")) {
        (true, path) => format!("/{path}"),
        (false, path) if path.is_empty() => ".".to_owned(),
        (false, path) => path,
    }
}

fn join(arguments: &[Value]) -> Answer {
    let mut parts = Vec::new();
    for index in 0..arguments.len() {
        parts.push(given::text(arguments, index)?);
    }
    parts.retain(|part| !part.is_empty());
    match parts.is_empty() {
        true => Ok(Value::text("")),
        false => Ok(Value::text(clean(&parts.join("/")))),
    }
}

fn base(arguments: &[Value]) -> Answer {
    let path = given::text(arguments, 0)?;
    let name = match (path, path.trim_end_matches('/')) {
        ("", _) => ".",
        (_, "") => "/",
        (_, path) => path.rsplit('/').next().unwrap_or(path),
    };
    Ok(Value::text(name))
}

fn folder(arguments: &[Value]) -> Answer {
    let path = given::text(arguments, 0)?;
    Ok(Value::text(clean(path.rfind('/').map_or("", |at| &path[..=at]))))
}

/// With its dot; empty if there is none.
fn extension(arguments: &[Value]) -> Answer {
    let path = given::text(arguments, 0)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    Ok(Value::text(name.rfind('.').map_or("", |at| &name[at..])))
}

fn cleaned(arguments: &[Value]) -> Answer {
    Ok(Value::text(clean(given::text(arguments, 0)?)))
}

fn is_absolute(arguments: &[Value]) -> Answer {
    Ok(Value::Bool(given::text(arguments, 0)?.starts_with('/')))
}

fn absolute(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    good(Value::text(clean(&path(outside, arguments, 0)?.to_string_lossy())))
}

fn separator(_: &[Value]) -> Answer {
    Ok(Value::text("/"))
}
