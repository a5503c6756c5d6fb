//! Which file a name means in a call, and whether it has the line that was said.

use std::path::{Path, PathBuf};

use crate::breakpoints::Place;
use crate::door::Door;
use crate::failure::Failure;
use crate::session::{Session, is_text};
use crate::telling::source::{line_of, read};

/// Before there is a session, there is nobody to ask for a file.
const READ_IT: &str = "Read the file";
const ASK_FOR_IT: &str = "debugger_inspect with what=source and `file` shows it";

/// Where files are looked for that are named by less than their whole path.
pub struct Files<'a> {
    /// What is in none of them would be in the first.
    folders: [&'a Path; 2],
    /// The program's file, which is meant where none is named, and in whose folder others may be.
    own: Option<PathBuf>,
    /// How an agent comes to see one.
    seen_by: &'static str,
}

impl<'a> Files<'a> {
    /// Those of a session that is only to begin.
    pub fn to_come(folders: [&'a Path; 2], own: Option<PathBuf>) -> Files<'a> {
        Files { folders, own, seen_by: READ_IT }
    }

    pub fn of(door: &'a Door, session: &'a Session) -> Files<'a> {
        Files { folders: [&session.cwd, &door.setup.cwd], own: session.program(), seen_by: ASK_FOR_IT }
    }

    /// Where another file is meant if none is named.
    #[must_use]
    pub fn with_own(self, own: PathBuf) -> Files<'a> {
        Files { own: Some(own), ..self }
    }

    /// The file that a name means: in one of the folders, or beside the program. Where there is none, in the first folder.
    pub fn named(&self, name: &str) -> PathBuf {
        let beside = self.own.as_deref().and_then(Path::parent);
        let mut places = self.folders.into_iter().chain(beside).map(|folder| folder.join(name));
        canonical(places.find(|place| place.exists()).unwrap_or_else(|| self.folders[0].join(name)))
    }

    /// The file of a line whose file is not named.
    pub fn unnamed(&self) -> Result<PathBuf, Failure> {
        let own = self.own.clone();
        let own =
            own.ok_or_else(|| Failure::new("`file` is missing").next("Name the file of the breakpoint."))?;
        // One that is not there is refused by its name. A line of an executable or a folder would be set, and wait for ever.
        match own.exists() && !is_text(&own) {
            true => Err(Failure::new(format!("in which file? {} itself is no source", own.display()))
                .next("Name the `file` of the line, or a `function`.")),
            false => Ok(canonical(own)),
        }
    }

    /// The line that has a text in it.
    pub fn line(&self, file: &Path, text: &str, near: Option<i64>) -> Result<i64, Failure> {
        line_of(file, text, near).map_err(|failure| failure.or_next(|| format!("{}.", self.seen_by)))
    }

    /// A file that is not there, or a line behind its end, can have no breakpoint; a debugger would only say that it is
    /// pending.
    pub fn check(&self, place: &Place) -> Result<(), Failure> {
        let Place::Line { file, line } = place else { return Ok(()) };
        if !file.exists() {
            let said = format!("there is no file {}{}", file.display(), self.tried_elsewhere(file));
            return Err(Failure::new(said).next("Name `file` by its whole path."));
        }
        if file.is_dir() {
            return Err(Failure::new(format!("{} is a folder", file.display())).next("Name a `file` in it."));
        }
        let lines =
            read(file).map_or(i64::MAX, |text| i64::try_from(text.lines().count()).unwrap_or(i64::MAX));
        match *line > lines {
            true => Err(Failure::new(format!("{} has {lines} lines, and no line {line}", file.display()))
                .next(format!("{}; `text` finds a line by what is in it.", self.seen_by))),
            false => Ok(()),
        }
    }

    /// Where else a file was looked for that is not in the first folder.
    fn tried_elsewhere(&self, file: &Path) -> String {
        let [first, others @ ..] = self.folders;
        let Ok(name) = file.strip_prefix(canonical(first.to_path_buf())) else { return String::new() };
        let is_none = |folder: &&Path| *folder != first && !folder.join(name).exists();
        let others = others.into_iter().filter(is_none);
        others.map(|folder| format!(", and none of that name in {}", folder.display())).collect()
    }
}

/// One spelling for each file, since its breakpoints are told together.
fn canonical(file: PathBuf) -> PathBuf {
    std::fs::canonicalize(&file).or_else(|_| std::path::absolute(&file)).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two folders to work in, and a third that the program is in.
    fn folders() -> (tempfile::TempDir, [PathBuf; 3]) {
        let all = tempfile::tempdir().expect("a folder");
        let root = all.path().canonicalize().expect("a folder");
        let folders = ["project", "here", "beside"].map(|name| root.join(name));
        folders.iter().for_each(|folder| std::fs::create_dir(folder).expect("made"));
        (all, folders)
    }

    #[test]
    fn a_name_means_the_first_that_is_there_and_else_one_in_the_first_folder() {
        let (_all, [project, here, beside]) = folders();
        let files = Files::to_come([&project, &here], Some(beside.join("main.py")));
        assert_eq!(files.named("a.py"), project.join("a.py"));
        for folder in [&beside, &here, &project] {
            std::fs::write(folder.join("a.py"), "a = 1\n").expect("written");
            assert_eq!(files.named("a.py"), folder.join("a.py"));
        }
    }

    #[test]
    fn a_line_without_a_file_is_in_no_executable_and_in_no_folder() {
        let (_all, [project, ..]) = folders();
        let write = |name: &str, content: &[u8]| {
            std::fs::write(project.join(name), content).expect("written");
            project.join(name)
        };
        let own = |own: Option<PathBuf>| Files::to_come([&project, &project], own).unnamed();
        let source = write("a.py", b"a = 1\n");
        assert_eq!(own(Some(source.clone())), Ok(source));
        for other in [write("a.out", b"\x7fELF\0\0"), project.clone()] {
            let failure = own(Some(other)).expect_err("it has no lines");
            assert!(failure.what.contains("is no source"), "{failure:?}");
            assert!(failure.next.is_some_and(|next| next.contains("`file`")));
        }
        assert!(own(None).is_err());
        let gone = project.join("gone.py");
        assert_eq!(own(Some(gone.clone())), Ok(gone), "whoever looks for it says that it is not there");
    }

    #[test]
    fn before_there_is_a_session_nothing_is_named_that_only_a_session_can_do() {
        let (_all, [project, ..]) = folders();
        let file = project.join("a.py");
        std::fs::write(&file, "a = 1\n").expect("written");
        let files = Files::to_come([&project, &project], None);
        let behind = files.check(&Place::Line { file: file.clone(), line: 9 });
        for failure in [behind.expect_err("no line"), files.line(&file, "b", None).expect_err("no text")] {
            let next = failure.next.expect("a next step");
            assert!(next.contains("Read the file") && !next.contains("debugger_"), "{next}");
        }
    }
}
