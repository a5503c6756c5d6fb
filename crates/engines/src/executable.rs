//! What an executable says about how it was made, from the two small sections in which compilers leave their names.
//!
//! Nothing else of it is read, however large it is. Debug information, symbols and other formats than this machine's are
//! not looked at.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Compilers write their versions into the first. Rust's did not before 1.74, but names its printers in the second.
const SECTIONS: [&[u8]; 2] = [b".comment", b".debug_gdb_scripts"];

const MAGIC: &[u8] = b"\x7fELF\x02\x01";
const HEADER: usize = 64;
const ROW: usize = 64;
/// Tables and sections beyond it are nobody's names.
const MOST: u64 = 4 << 20;

/// Who made an executable, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// This compiler, or together with it.
    It,
    Others,
    Unknown,
}

impl Maker {
    /// Whether a compiler that goes by this name had a part in the file.
    pub fn of(file: &Path, name: &str) -> Maker {
        match says(file, name.as_bytes()) {
            Ok(Some(true)) => Maker::It,
            Ok(Some(false)) => Maker::Others,
            Ok(None) | Err(_) => Maker::Unknown,
        }
    }
}

/// None if nobody has left a name.
fn says(file: &Path, name: &[u8]) -> io::Result<Option<bool>> {
    let Some(file) = opened(file)? else {
        return Ok(None);
    };
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0)?;
    if !header.starts_with(MAGIC) {
        return Ok(None);
    }
    let (rows, names) = (short(&header, 0x3c), short(&header, 0x3e));
    let table = read(&file, long(&header, 0x28), rows * ROW as u64)?;
    let sections: Vec<&[u8]> = table.chunks_exact(ROW).collect();
    let Some(names) = usize::try_from(names).ok().and_then(|names| sections.get(names)) else {
        return Ok(None);
    };
    let names = content(&file, names)?;
    let titled = |section: &&[u8]| {
        let title = names.get(word(section, 0)..).unwrap_or_default();
        SECTIONS.contains(&title.split(|byte| *byte == 0).next().unwrap_or_default())
    };
    let mut said = None;
    // An executable has one of each. Whoever waits for us does not wait for thousands.
    for section in sections.into_iter().filter(titled).take(SECTIONS.len()) {
        let found = content(&file, section)?.windows(name.len()).any(|part| part == name);
        said = Some(said.unwrap_or(false) || found);
    }
    Ok(said)
}

/// None if it is no file: to open a pipe would be to wait for who writes to it, and to open a device may do something.
pub fn opened(path: &Path) -> io::Result<Option<File>> {
    if !std::fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    // Another may have come into its place by now.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    Ok(file.metadata()?.is_file().then_some(file))
}

fn content(file: &File, section: &[u8]) -> io::Result<Vec<u8>> {
    read(file, long(section, 0x18), long(section, 0x20))
}

fn read(file: &File, at: u64, size: u64) -> io::Result<Vec<u8>> {
    let size = usize::try_from(size.min(MOST)).map_err(io::Error::other)?;
    let mut bytes = vec![0; size];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

fn short(bytes: &[u8], at: usize) -> u64 {
    u64::from(bytes[at]) | u64::from(bytes[at + 1]) << 8
}

fn word(bytes: &[u8], at: usize) -> usize {
    usize::try_from(short(bytes, at) | short(bytes, at + 2) << 16).unwrap_or(usize::MAX)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    (0..4).rev().fold(0, |value, part| value << 16 | short(bytes, at + 2 * part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::FileType;

    #[test]
    fn this_program_is_made_by_rust_and_not_by_another() {
        assert_eq!(Maker::of(&std::env::current_exe().unwrap(), "rust"), Maker::It);
        assert_eq!(Maker::of(&std::env::current_exe().unwrap(), "no such compiler"), Maker::Others);
    }

    #[test]
    fn what_cannot_be_read_is_not_judged() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        assert_eq!(Maker::of(&file, "rust"), Maker::Unknown, "there is none");
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for bytes in [&b"#!/bin/sh\n"[..], &whole[..32], &whole[..64], &whole[..4096]] {
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(Maker::of(&file, "rust"), Maker::Unknown);
        }
        // Its names are beyond its end, or it has none.
        for (at, byte) in [(0x2e, 0xff), (0x3f, 0xff), (0x3d, 0xff)] {
            let mut broken = whole.clone();
            broken[at] = byte;
            std::fs::write(&file, broken).unwrap();
            assert_eq!(Maker::of(&file, "rust"), Maker::Unknown, "{at:#x}");
        }
    }
    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for other in [pipe, link, "/dev/zero".into(), folder.path().to_owned()] {
            let (done, judged) = std::sync::mpsc::channel();
            let path = other.clone();
            std::thread::spawn(move || done.send(Maker::of(&path, "rust")));
            let judged = judged.recv_timeout(std::time::Duration::from_secs(30));
            assert_eq!(judged, Ok(Maker::Unknown), "{}", other.display());
        }
    }

    #[test]
    fn of_many_sections_only_the_first_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (rows, size) = (60_000_u64, 4_u64 << 20);
        let table = HEADER as u64 + 4096;
        let mut header = [0; HEADER];
        header[..MAGIC.len()].copy_from_slice(MAGIC);
        header[0x28..0x30].copy_from_slice(&table.to_le_bytes());
        header[0x3c..0x3e].copy_from_slice(&u16::try_from(rows).unwrap().to_le_bytes());
        // All have the same content, which begins with their title.
        let mut row = [0; ROW];
        row[0x18..0x20].copy_from_slice(&(HEADER as u64).to_le_bytes());
        row[0x20..0x28].copy_from_slice(&size.to_le_bytes());
        let file = file.as_file();
        file.write_all_at(&header, 0).unwrap();
        file.write_all_at(b".comment\0", HEADER as u64).unwrap();
        file.write_all_at(&row.repeat(60_000), table).unwrap();
        file.set_len(table + size * 4).unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
        let (done, judged) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(Maker::of(Path::new(&path), "rust")));
        assert_eq!(judged.recv_timeout(std::time::Duration::from_secs(60)), Ok(Maker::Others));
    }
}
