//! What an executable says about how it was made: by whom, from the small sections in which compilers leave their names and
//! libraries theirs, and whether with anything for debuggers, from what its sections are called.
//!
//! Nothing else of it is read, however large it is. What is in debug information and symbols, and other formats than this
//! machine's, is not looked at.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Compilers write their versions into the first. Rust's did not before 1.74, but names its printers in the second.
const OF_COMPILERS: &[&[u8]] = &[b".comment", b".debug_gdb_scripts"];
/// The libraries that are to be loaded, among what is wanted of them. No compiler is looked for there: what a program of C
/// wants of a library may be called by any word.
const OF_LIBRARIES: &[&[u8]] = &[b".dynstr"];
/// Where it is written who cleans up or catches when something is thrown. A program of C has it only together with others; one
/// of C++ that has it may have its library inside of itself.
const THROWN: &[u8] = b".gcc_except_table";

/// Where compilers write which line became which code, and what a file that has that elsewhere names it in.
const LINES: [&[u8]; 4] = [b".debug_line", b".zdebug_line", b".gnu_debuglink", b".gnu_debugaltlink"];
/// A number by which what was taken out of a program is found.
const BUILD_ID: &[u8] = b".note.gnu.build-id";
/// Where that is installed.
const TAKEN_OUT: &str = "/usr/lib/debug/.build-id";

const MAGIC: &[u8] = b"\x7fELF\x02\x01";
const HEADER: usize = 64;
const ROW: usize = 64;
/// Tables and sections beyond it are nobody's names.
const MOST: u64 = 4 << 20;

/// What may have a part in an executable, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ingredient {
    Compiler(String),
    Library(String),
}

/// Who made an executable, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// This one, or together with others.
    It,
    Others,
    Unknown,
}

impl Maker {
    /// Whether this has a part in the file.
    pub fn of(file: &Path, ingredient: &Ingredient) -> Maker {
        match has(file, ingredient) {
            Ok(Some(true)) => Maker::It,
            Ok(Some(false)) => Maker::Others,
            Ok(None) | Err(_) => Maker::Unknown,
        }
    }
}

/// Whether a debugger can know the lines of an executable. False only of one that is certain to have none.
pub fn may_have_lines(file: &Path) -> bool {
    has_lines(file).unwrap_or(true)
}

fn has_lines(file: &Path) -> io::Result<bool> {
    let Some(sections) = Sections::of(file)? else { return Ok(true) };
    if sections.called(&LINES).next().is_some() {
        return Ok(true);
    }
    let Some(id) = sections.called(&[BUILD_ID]).next() else { return Ok(false) };
    let id = content(&sections.file, id)?;
    // Behind its own header and the name of who gives it.
    let id: Vec<String> = id.iter().skip(16).map(|byte| format!("{byte:02x}")).collect();
    let Some((first, rest)) = id.split_first() else { return Ok(false) };
    Ok(Path::new(TAKEN_OUT).join(first).join(rest.concat() + ".debug").exists())
}

/// None if that is not said.
fn has(file: &Path, ingredient: &Ingredient) -> io::Result<Option<bool>> {
    let Some(sections) = Sections::of(file)? else { return Ok(None) };
    match ingredient {
        Ingredient::Compiler(name) => sections.say(OF_COMPILERS, name),
        Ingredient::Library(name) => {
            let said = sections.say(OF_LIBRARIES, name)?;
            let may_be_inside = sections.called(&[THROWN]).next().is_some();
            Ok(said.filter(|is_loaded| *is_loaded || !may_be_inside))
        }
    }
}

struct Sections {
    file: File,
    table: Vec<u8>,
    names: Vec<u8>,
}

impl Sections {
    /// None of what is no executable of this machine, or does not say what its sections are called.
    fn of(file: &Path) -> io::Result<Option<Sections>> {
        let Some(file) = opened(file)? else { return Ok(None) };
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0)?;
        if !header.starts_with(MAGIC) {
            return Ok(None);
        }
        let (rows, names) = (short(&header, 0x3c), short(&header, 0x3e));
        let table = read(&file, long(&header, 0x28), rows * ROW as u64)?;
        let names = usize::try_from(names).ok().and_then(|names| table.chunks_exact(ROW).nth(names));
        let Some(names) = names.map(|names| content(&file, names)).transpose()? else { return Ok(None) };
        Ok(Some(Sections { file, table, names }))
    }

    /// Whether the name is in one of these, of which an executable has one each. None if it has none.
    fn say(&self, titles: &[&[u8]], name: &str) -> io::Result<Option<bool>> {
        let mut said = None;
        // Whoever waits for us does not wait for thousands.
        for section in self.called(titles).take(titles.len()) {
            let found = content(&self.file, section)?.windows(name.len()).any(|part| part == name.as_bytes());
            said = Some(said.unwrap_or(false) || found);
        }
        Ok(said)
    }

    fn called(&self, titles: &[&[u8]]) -> impl Iterator<Item = &[u8]> {
        let is_one = move |section: &&[u8]| {
            let title = self.names.get(word(section, 0)..).unwrap_or_default();
            titles.contains(&title.split(|byte| *byte == 0).next().unwrap_or_default())
        };
        self.table.chunks_exact(ROW).filter(is_one)
    }
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

    fn made_by(file: &Path, name: &str) -> Maker {
        Maker::of(file, &Ingredient::Compiler(name.to_owned()))
    }

    fn links(file: &Path, name: &str) -> Maker {
        Maker::of(file, &Ingredient::Library(name.to_owned()))
    }

    fn run(tool: &str, words: &[&str], files: &[&Path]) {
        assert!(std::process::Command::new(tool).args(words).args(files).status().unwrap().success());
    }

    #[test]
    fn this_program_is_made_by_rust_and_not_by_another() {
        assert_eq!(made_by(&std::env::current_exe().unwrap(), "rust"), Maker::It);
        assert_eq!(made_by(&std::env::current_exe().unwrap(), "no such compiler"), Maker::Others);
    }

    #[test]
    fn what_a_program_wants_of_libraries_names_no_compiler() {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("a.c"), folder.path().join("program"));
        std::fs::write(&source, "int X509_trust(void) { return 0; }\nint main(void) { return 0; }\n")
            .unwrap();
        run("cc", &["-rdynamic", "-o"], &[&program, &source]);
        assert_eq!((links(&program, "trust"), made_by(&program, "rust")), (Maker::It, Maker::Others));
        run("objcopy", &["--remove-section=.comment"], &[&program]);
        assert_eq!(made_by(&program, "rust"), Maker::Unknown, "it does not name any");
    }

    #[test]
    #[cfg(target_env = "gnu")]
    fn a_library_is_known_to_be_loaded_or_may_be_inside() {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("a.cpp"), folder.path().join("program"));
        std::fs::write(
            &source,
            "#include <string>\nint main() { return std::string(99, 'a').size() - 99; }\n",
        )
        .unwrap();
        for (words, is_known) in [
            (&["-o"][..], Maker::It),
            (&["-static-libstdc++", "-o"], Maker::Unknown),
            (&["-static", "-o"], Maker::Unknown),
        ] {
            run("c++", words, &[&program, &source]);
            assert_eq!(links(&program, "libstdc++"), is_known, "{words:?}");
        }
        let source = folder.path().join("a.c");
        std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        run("cc", &["-o"], &[&program, &source]);
        assert_eq!((links(&program, "libc.so"), links(&program, "libstdc++")), (Maker::It, Maker::Others));
    }

    #[test]
    fn a_program_without_lines_is_one_that_names_none_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.c");
        std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        for (flags, may_have) in
            [(&["-g"][..], true), (&["-g", "-gz"], true), (&[], false), (&["-g", "-s"], false)]
        {
            let program = folder.path().join("program");
            let built =
                std::process::Command::new("cc").args(flags).arg("-o").arg(&program).arg(&source).status();
            assert!(built.unwrap().success());
            assert_eq!(may_have_lines(&program), may_have, "{flags:?}");
        }
        assert!(may_have_lines(&source) && may_have_lines(&folder.path().join("none")));
        // What was taken out of it may be anywhere that a debugger looks.
        let apart = folder.path().join("program");
        let linked = format!("--add-gnu-debuglink={}", source.display());
        run("objcopy", &[&linked], &[&apart]);
        assert!(may_have_lines(&apart));
    }

    #[test]
    fn what_cannot_be_read_is_not_judged() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        assert_eq!(made_by(&file, "rust"), Maker::Unknown, "there is none");
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for bytes in [&b"#!/bin/sh\n"[..], &whole[..32], &whole[..64], &whole[..4096]] {
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(made_by(&file, "rust"), Maker::Unknown);
        }
        // Its names are beyond its end, or it has none.
        for (at, byte) in [(0x2e, 0xff), (0x3f, 0xff), (0x3d, 0xff)] {
            let mut broken = whole.clone();
            broken[at] = byte;
            std::fs::write(&file, broken).unwrap();
            assert_eq!(made_by(&file, "rust"), Maker::Unknown, "{at:#x}");
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
            std::thread::spawn(move || done.send(made_by(&path, "rust")));
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
        std::thread::spawn(move || done.send(made_by(Path::new(&path), "rust")));
        assert_eq!(judged.recv_timeout(std::time::Duration::from_secs(60)), Ok(Maker::Others));
    }
}
