//! What a core file says about the program that left it: its name, and the files that were mapped into it.
//!
//! Only its notes are read, which are small, and only those of 64-bit systems. What cannot be read says nothing: whether a
//! core file can be looked at is the debugger's business.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use breakroom_engines::opened;

const MAGIC: &[u8] = b"\x7fELF\x02\x01";
const NOTES: u64 = 4;
const PROCESS: u64 = 3;
const MAPPED_FILES: u64 = 0x4649_4c45;
/// Where the name is in what is told of the process, cut to this many letters.
const NAME: std::ops::Range<usize> = 40..56;
const MOST_LETTERS: usize = 15;
/// A process may have many files mapped; more than this nobody reads through, in however many parts.
const MOST: u64 = 16 << 20;

/// Who left a core file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Origin {
    name: Option<String>,
    files: Vec<PathBuf>,
}

impl Origin {
    pub fn of(core: &Path) -> Origin {
        let file = opened(core).ok().flatten();
        file.and_then(|file| read(&mut Reader { file, left: MOST })).unwrap_or_default()
    }

    /// What left it, if it cannot have been this program.
    pub fn other_than(&self, program: &Path) -> Option<String> {
        let wanted = program.file_name()?;
        let is_it = |file: &PathBuf| file.file_name() == Some(wanted) || is_same(file, program);
        if self.files.iter().any(is_it) {
            return None;
        }
        let name = self.name.as_ref()?;
        let wanted = wanted.as_bytes();
        // A script goes by its own name, and is mapped by none.
        if wanted.get(..MOST_LETTERS).unwrap_or(wanted) == name.as_bytes() {
            return None;
        }
        let begins = |file: &&PathBuf| {
            file.file_name().is_some_and(|file| file.as_bytes().starts_with(name.as_bytes()))
        };
        let mapped = self.files.iter().find(begins).map(|file| file.display().to_string());
        Some(mapped.unwrap_or_else(|| name.clone()))
    }
}

fn is_same(file: &Path, program: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(file).is_some_and(|file| Some(file) == real(program))
}

struct Reader {
    file: File,
    /// How much may still be read.
    left: u64,
}

impl Reader {
    fn bytes(&mut self, at: u64, size: u64) -> Option<Vec<u8>> {
        let size = size.min(self.left);
        self.left -= size;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        self.file.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    }
}

fn read(file: &mut Reader) -> Option<Origin> {
    let header = file.bytes(0, 64)?;
    if !header.starts_with(MAGIC) {
        return None;
    }
    let (table, size, count) =
        (number(&header, 0x20, 8)?, number(&header, 0x36, 2)?, number(&header, 0x38, 2)?);
    let mut origin = Origin::default();
    for row in 0..count {
        // Beyond what is read through, what was found so far counts.
        let Some(row) = file.bytes(table.checked_add(row * size)?, 56).filter(|row| row.len() == 56) else {
            break;
        };
        if number(&row, 0, 4)? == NOTES {
            note(&file.bytes(number(&row, 8, 8)?, number(&row, 32, 8)?)?, &mut origin);
        }
    }
    Some(origin)
}

/// Takes in what is known of one segment of notes.
fn note(mut notes: &[u8], origin: &mut Origin) -> Option<()> {
    loop {
        let padded = |at| Some(usize::try_from(number(notes, at, 4)?).ok()?.next_multiple_of(4));
        let (name, size, kind) = (padded(0)?, padded(4)?, number(notes, 8, 4)?);
        let content = notes.get(12 + name..)?.get(..size)?;
        match kind {
            PROCESS if origin.name.is_none() => {
                origin.name =
                    content.get(NAME).map(|name| String::from_utf8_lossy(until_zero(name)).into_owned());
            }
            MAPPED_FILES => origin.files.extend(mapped(content).unwrap_or_default()),
            _ => {}
        }
        notes = notes.get(12 + name + size..)?;
    }
}

/// The names behind a table of three numbers for each file.
fn mapped(content: &[u8]) -> Option<Vec<PathBuf>> {
    let count = usize::try_from(number(content, 0, 8)?).ok()?;
    let names = content.get(count.checked_mul(24)?.checked_add(16)?..)?;
    let each = names.split(|byte| *byte == 0).take(count);
    let mut files: Vec<_> = each.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
    files.dedup();
    Some(files)
}

fn until_zero(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_note(kind: u64, content: &[u8]) -> Vec<u8> {
        let numbers = [5, content.len() as u64, kind].map(|number| (number as u32).to_le_bytes());
        let mut note = [numbers.concat(), b"CORE\0\0\0\0".to_vec(), content.to_vec()].concat();
        note.resize(note.len().next_multiple_of(4), 0);
        note
    }

    /// A core file with notes only.
    fn core(name: &str, files: &[&str]) -> Vec<u8> {
        let mut process = vec![0; 136];
        process[40..40 + name.len()].copy_from_slice(name.as_bytes());
        let mut table = [(files.len() as u64).to_le_bytes(), 4096u64.to_le_bytes()].concat();
        table.resize(16 + 24 * files.len(), 0);
        files.iter().for_each(|file| table.extend([file.as_bytes(), b"\0"].concat()));
        let notes = [a_note(PROCESS, &process), a_note(MAPPED_FILES, &table)].concat();
        let mut header = [MAGIC.to_vec(), vec![0; 58]].concat();
        (header[0x20], header[0x36], header[0x38]) = (64, 56, 1);
        let mut row = vec![0; 56];
        (row[0], row[8]) = (4, 120);
        row[32..40].copy_from_slice(&(notes.len() as u64).to_le_bytes());
        [header, row, notes].concat()
    }

    #[test]
    fn a_core_file_names_the_program_that_left_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("core");
        for (name, files, program, other) in [
            ("beans", &["/usr/bin/beans", "/lib/libc.so"][..], "/usr/bin/beans", None),
            ("beans", &["/usr/bin/beans", "/lib/libc.so"], "/here/beans", None),
            ("beans", &["/usr/bin/beans", "/lib/libc.so"], "/here/peas", Some("/usr/bin/beans")),
            ("beans", &[], "/here/peas", Some("beans")),
            ("a-name-that-is-", &[], "/here/a-name-that-is-long", None),
            ("python3", &["/usr/bin/python3.11"], "/usr/bin/python3.11", None),
        ] {
            std::fs::write(&file, core(name, files)).unwrap();
            let found = Origin::of(&file).other_than(Path::new(program));
            assert_eq!(found.as_deref(), other, "{name} {files:?} {program}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("core");
        let whole = core("beans", &["/usr/bin/beans"]);
        for length in [0, 20, 63, 100, 130, whole.len() - 30] {
            std::fs::write(&file, &whole[..length]).unwrap();
            assert_eq!(Origin::of(&file).other_than(Path::new("/here/peas")), None, "{length}");
        }
        assert_eq!(Origin::of(&folder.path().join("none")), Origin::default());
    }
    /// Both would go on for hours.
    #[test]
    fn a_pipe_and_a_table_that_names_the_same_notes_again_and_again_are_soon_done_with() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, many) = (folder.path().join("pipe"), folder.path().join("many"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut header = core("beans", &[])[..120].to_vec();
        (header[0x36], header[0x38], header[0x39]) = (0, 0xff, 0xff);
        header[64 + 32..64 + 40].copy_from_slice(&(MOST - 1024).to_le_bytes());
        std::fs::write(&many, header).unwrap();
        File::options().write(true).open(&many).unwrap().set_len(MOST).unwrap();
        for file in [pipe, many] {
            let (done, is_done) = std::sync::mpsc::channel();
            let asked = file.clone();
            std::thread::spawn(move || {
                let known = crate::attach::check_core(&asked).is_ok();
                done.send((known, Origin::of(&asked)))
            });
            let (known, origin) = is_done
                .recv_timeout(std::time::Duration::from_secs(30))
                .unwrap_or_else(|_| panic!("{} is still read", file.display()));
            assert_eq!(origin, Origin::default());
            assert_eq!(known, file.ends_with("many"), "{}", file.display());
        }
    }
}
