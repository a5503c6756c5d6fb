//! `io`: whole files and folders. Relative paths begin at the program's own folder, which need not be the process's.
//!
//! Everything that can fail gives an error and is no fault. There are no handles, and nothing here waits for a pipe or a
//! terminal: only files that have an end are read.

mod paths;

pub use paths::clean;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::given::{self, Given, LONGEST_ARRAY, bad, done, good, whole};
use super::{Answer, Native, Outside};
use crate::value::Value;
use crate::value::format::LONGEST_TEXT;

pub const TABLES: &[&[Native]] = &[TABLE, paths::TABLE];

const TABLE: &[Native] = &[
    Native::worldly("read_file", "string -> (string, error)", read_file),
    Native::worldly("read_lines", "string -> ([string], error)", read_lines),
    Native::worldly("read_bytes", "string -> ([byte], error)", read_bytes),
    Native::worldly("write_file", "string, string -> (bool, error)", write_file),
    Native::worldly("write_bytes", "string, [byte] -> (bool, error)", write_bytes),
    Native::worldly("append_file", "string, string -> (bool, error)", append_file),
    Native::worldly("append_line", "string, string -> (bool, error)", append_line),
    Native::worldly("exists", "string -> bool", exists),
    Native::worldly("is_file", "string -> bool", is_file),
    Native::worldly("is_dir", "string -> bool", is_dir),
    Native::worldly("file_size", "string -> (int, error)", file_size),
    Native::worldly("file_mod_time", "string -> (int, error)", file_mod_time),
    Native::worldly("copy", "string, string -> (bool, error)", copy),
    Native::worldly("rename", "string, string -> (bool, error)", rename),
    Native::worldly("remove", "string -> (bool, error)", remove),
    Native::worldly("remove_dir", "string -> (bool, error)", remove_dir),
    Native::worldly("remove_all", "string -> (bool, error)", remove_all),
    Native::worldly("mkdir", "string -> (bool, error)", mkdir),
    Native::worldly("mkdir_all", "string -> (bool, error)", mkdir_all),
    Native::worldly("read_dir", "string -> ([string], error)", read_dir),
    Native::worldly("walk", "string -> ([string], error)", walk),
];

fn path(outside: &Outside<'_>, arguments: &[Value], index: usize) -> Given<PathBuf> {
    Ok(outside.world.surroundings().folder.join(given::text(arguments, index)?))
}

fn other(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(other("it is no regular file"));
    }
    let mut content = Vec::new();
    File::open(path)?.take(LONGEST_TEXT as u64 + 1).read_to_end(&mut content)?;
    match content.len() > LONGEST_TEXT {
        false => Ok(content),
        true => Err(other(format!("it has more than {} MiB", LONGEST_TEXT >> 20))),
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| other("it is no text in UTF-8"))
}

/// The value, or a zero and what the system said.
fn give(
    outside: &Outside<'_>,
    arguments: &[Value],
    verb: &str,
    zero: Value,
    result: io::Result<Value>,
) -> Answer {
    match result {
        Ok(value) => good(value),
        Err(why) => {
            let name = given::text(arguments, 0)?;
            bad(outside.types, zero, format!("cannot {verb} `{name}`: {}", given::said(&why)))
        }
    }
}

/// What a function says that only did something.
fn did(outside: &Outside<'_>, arguments: &[Value], verb: &str, result: io::Result<()>) -> Answer {
    done(outside, &format!("{verb} `{}`", given::text(arguments, 0)?), result)
}

fn read_file(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let content = read_text(&path(outside, arguments, 0)?).map(Value::text);
    give(outside, arguments, "read", Value::text(""), content)
}

fn read_lines(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let lines = read_text(&path(outside, arguments, 0)?).and_then(|text| {
        let lines: Vec<Value> = text.lines().take(LONGEST_ARRAY + 1).map(Value::text).collect();
        match lines.len() > LONGEST_ARRAY {
            false => Ok(Value::array(lines)),
            true => Err(other(format!("it has more than {LONGEST_ARRAY} lines"))),
        }
    });
    give(outside, arguments, "read", Value::array(Vec::new()), lines)
}

fn read_bytes(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let bytes = read(&path(outside, arguments, 0)?).and_then(|content| match content.len() > LONGEST_ARRAY {
        false => Ok(Value::array(content.into_iter().map(Value::Byte).collect())),
        true => Err(other(format!("it has more than {LONGEST_ARRAY} bytes"))),
    });
    give(outside, arguments, "read", Value::array(Vec::new()), bytes)
}

#[derive(Clone, Copy)]
enum Writing {
    Anew,
    AtTheEnd,
}

fn write(path: &Path, content: &[u8], writing: Writing) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    // Opening a pipe that nobody reads would wait for ever.
    if fs::metadata(path).is_ok_and(|kind| kind.file_type().is_fifo()) {
        return Err(other("it is a pipe"));
    }
    let mut options = OpenOptions::new();
    match writing {
        Writing::Anew => options.write(true).truncate(true),
        Writing::AtTheEnd => options.append(true),
    };
    options.create(true).open(path)?.write_all(content)
}

fn write_file(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let path = path(outside, arguments, 0)?;
    did(outside, arguments, "write", write(&path, given::text(arguments, 1)?.as_bytes(), Writing::Anew))
}

fn write_bytes(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let path = path(outside, arguments, 0)?;
    let bytes = given::array(arguments, 1)?.iter().filter_map(|value| match value {
        Value::Byte(byte) => Some(*byte),
        Value::Int(number) => u8::try_from(*number).ok(),
        _ => None,
    });
    did(outside, arguments, "write", write(&path, &bytes.collect::<Vec<u8>>(), Writing::Anew))
}

fn append_file(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let path = path(outside, arguments, 0)?;
    did(outside, arguments, "write", write(&path, given::text(arguments, 1)?.as_bytes(), Writing::AtTheEnd))
}

fn append_line(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let path = path(outside, arguments, 0)?;
    let line = format!("{}\n", given::text(arguments, 1)?);
    did(outside, arguments, "write", write(&path, line.as_bytes(), Writing::AtTheEnd))
}

fn exists(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    Ok(Value::Bool(path(outside, arguments, 0)?.exists()))
}

fn is_file(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    Ok(Value::Bool(path(outside, arguments, 0)?.is_file()))
}

fn is_dir(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    Ok(Value::Bool(path(outside, arguments, 0)?.is_dir()))
}

fn file_size(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let size = fs::metadata(path(outside, arguments, 0)?).map(|about| about.len());
    let size = size.map(|size| whole(usize::try_from(size).unwrap_or(usize::MAX)));
    give(outside, arguments, "look at", Value::Int(0), size)
}

fn file_mod_time(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let changed = fs::metadata(path(outside, arguments, 0)?).and_then(|about| about.modified()).map(|at| {
        let seconds = match at.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
        };
        Value::Int(seconds)
    });
    give(outside, arguments, "look at", Value::Int(0), changed)
}

fn copy(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let (from, to) = (path(outside, arguments, 0)?, path(outside, arguments, 1)?);
    let copied = match fs::metadata(&from) {
        Ok(kind) if !kind.is_file() => Err(other("it is no regular file")),
        // The file would be emptied before it is read.
        Ok(_) if fs::canonicalize(&from).ok() == fs::canonicalize(&to).ok() => {
            Err(other("it is the same file"))
        }
        Ok(_) => fs::copy(&from, &to).map(|_| ()),
        Err(why) => Err(why),
    };
    did(outside, arguments, "copy", copied)
}

fn rename(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let (from, to) = (path(outside, arguments, 0)?, path(outside, arguments, 1)?);
    did(outside, arguments, "rename", fs::rename(from, to))
}

/// A file, or a folder that is empty.
fn remove(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let path = path(outside, arguments, 0)?;
    let removed = match fs::symlink_metadata(&path) {
        Ok(kind) if kind.is_dir() => fs::remove_dir(&path),
        Ok(_) => fs::remove_file(&path),
        Err(why) => Err(why),
    };
    did(outside, arguments, "remove", removed)
}

fn remove_dir(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let path = path(outside, arguments, 0)?;
    did(outside, arguments, "remove", fs::remove_dir(path))
}

/// With everything in it. What is not there is removed already.
fn remove_all(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let path = path(outside, arguments, 0)?;
    let removed = match fs::symlink_metadata(&path) {
        // An empty text would mean the program's own folder.
        _ if given::text(arguments, 0)?.is_empty() => Err(other("the path is empty")),
        Ok(kind) if kind.is_dir() => fs::remove_dir_all(&path),
        Ok(_) => fs::remove_file(&path),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(why) => Err(why),
    };
    did(outside, arguments, "remove", removed)
}

fn mkdir(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let path = path(outside, arguments, 0)?;
    did(outside, arguments, "make", fs::create_dir(path))
}

fn mkdir_all(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let path = path(outside, arguments, 0)?;
    did(outside, arguments, "make", fs::create_dir_all(path))
}

/// The names of what is in a folder, in order.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let names: io::Result<Vec<String>> = fs::read_dir(folder)?
        .take(LONGEST_ARRAY)
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect();
    names.map(|mut names| {
        names.sort_unstable();
        names
    })
}

fn texts(texts: Vec<String>) -> Value {
    Value::array(texts.into_iter().map(Value::text).collect())
}

fn read_dir(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let names = names(&path(outside, arguments, 0)?).map(texts);
    give(outside, arguments, "read", Value::array(Vec::new()), names)
}

/// Everything below a folder, by paths that begin with it. Links are named and not followed.
fn walk(outside: &mut Outside<'_>, arguments: &[Value]) -> Answer {
    let (root, given) = (path(outside, arguments, 0)?, Path::new(given::text(arguments, 0)?));
    let walked = (|| {
        let mut found = Vec::new();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let mut inner = Vec::new();
            for name in names(&root.join(&folder))? {
                let below = folder.join(name);
                found.push(given.join(&below).to_string_lossy().into_owned());
                if fs::symlink_metadata(root.join(&below)).is_ok_and(|kind| kind.is_dir()) {
                    inner.push(below);
                }
            }
            open.extend(inner.into_iter().rev());
            if found.len() > LONGEST_ARRAY {
                return Err(other(format!("there are more than {LONGEST_ARRAY} files")));
            }
        }
        Ok(texts(found))
    })();
    give(outside, arguments, "read", Value::array(Vec::new()), walked)
}

#[cfg(test)]
mod tests;
