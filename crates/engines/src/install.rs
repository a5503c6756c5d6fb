//! Carrying out what installs an adapter: into a temporary folder first, which takes its place when it is complete.
//!
//! What a folder was filled with is written into it, so that a step that was done is not done again and one with another
//! version is. Nobody is asked here; whoever calls has said what will happen.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::catalog::entry::{Entry, Origin};
use crate::catalog::fix::Fix;
use crate::context::Context;
use crate::error::{CatalogError, Tail};
use crate::folders;
use crate::probe;
use crate::project::Trust;
use crate::words::typed;

/// The file in an installed folder that says what it was filled with.
const LABEL: &str = ".installed-by-breakroom";

/// So that no tool asks anything, or looks for news of itself.
const QUIET: [(&str, &str); 5] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_NO_INPUT", "1"),
    ("PIP_ROOT_USER_ACTION", "ignore"),
    ("npm_config_update_notifier", "false"),
];

/// Why an adapter could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("`{command}` failed: {reason}{tail}")]
    Command { command: String, reason: String, tail: Tail },
    #[error("packages of the system can only be installed by root. Run: sudo {command}")]
    NotRoot { command: String },
    #[error("cannot use {}: {source}. Check that you may write there and that there is room.", path.display())]
    Folder { path: PathBuf, source: io::Error },
}

/// One step that is still to be done.
#[derive(Debug, Clone)]
pub struct Step {
    fix: Fix,
    adapters: PathBuf,
}

/// What counts as installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installed {
    Anywhere,
    /// In our folder, in the version that we know.
    ByUs,
}

/// Carries steps out, one after the other.
#[derive(Debug)]
pub struct Installer<'a> {
    context: &'a Context,
    progress: Progress,
    /// Whether it is known what packages the system has: a fresh machine knows of none.
    packages_known: bool,
}

/// Where what the commands print goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// To our own stderr, as it comes.
    Shown,
    /// Nowhere, but the last lines are part of an error.
    Kept,
}

impl Entry {
    /// What is still to be done to install it.
    pub fn steps(&self, context: &Context, installed: Installed) -> Result<Vec<Step>, CatalogError> {
        if let Origin::Project { path, trust: Trust::Untrusted } = &self.origin {
            return Err(CatalogError::Untrusted { name: self.name.clone(), path: path.clone() });
        }
        let adapters = folders::adapters_dir(context)?;
        let found = self.find(context).ok();
        let ours = found.as_ref().is_some_and(|found| found.path.starts_with(&adapters));
        let there = match installed {
            Installed::ByUs if self.fix.iter().any(|fix| fix.folder().is_some()) => ours,
            Installed::ByUs | Installed::Anywhere => found.is_some(),
        };
        let steps = self.fix.iter().map(|fix| Step { fix: fix.clone(), adapters: adapters.clone() });
        let steps: Vec<Step> = steps.filter(|step| !step.is_done(there, context)).collect();
        // What only helps to install it is not needed for what is there.
        let is_needed = !there || steps.iter().any(|step| !step.needs_root());
        Ok(if is_needed { steps } else { Vec::new() })
    }
}

impl Step {
    fn is_done(&self, found: bool, context: &Context) -> bool {
        match &self.fix {
            Fix::Apt(apt) => match apt.unless.split_first() {
                Some((program, args)) => {
                    let program = context.which(program);
                    let answer = program.and_then(|program| probe::run(&program, args, context));
                    answer.is_some_and(|answer| answer.succeeded)
                }
                None => found,
            },
            fix => match (self.target(), found) {
                (Some(target), _) if label_of(&target).is_some_and(|label| label == wanted_label(fix)) => {
                    true
                }
                // Somebody put it there, or it is found elsewhere: it works, and is not ours to replace.
                (Some(target), true) => label_of(&target).is_none(),
                _ => false,
            },
        }
    }

    fn target(&self) -> Option<PathBuf> {
        self.fix.folder().map(|folder| self.adapters.join(folder))
    }

    /// What is run, as a person would type it.
    pub fn commands(&self) -> Vec<String> {
        let target = self.target().unwrap_or_default();
        self.fix.commands(&self.adapters, &target).iter().map(|command| typed(command)).collect()
    }

    /// Where it goes and how much room that takes; packages of the system go where they belong.
    pub fn place(&self) -> String {
        match (self.target(), self.fix.size()) {
            (Some(target), Some(size)) => {
                let files: Vec<&str> = self.fix.files().map(|(name, _)| name.as_str()).collect();
                let with = if files.is_empty() { "" } else { ", with files of our own: " };
                format!("into {}, about {size}{with}{}", target.display(), files.join(", "))
            }
            _ => "for the whole machine, as root".to_owned(),
        }
    }

    /// Whether only the machine's owner can do it.
    pub fn needs_root(&self) -> bool {
        matches!(self.fix, Fix::Apt(_))
    }
}

impl<'a> Installer<'a> {
    pub fn new(context: &'a Context, progress: Progress) -> Self {
        Installer { context, progress, packages_known: false }
    }

    pub fn carry_out(&mut self, step: &Step) -> Result<(), InstallError> {
        let Some(target) = step.target() else { return self.install_packages(step) };
        let beside = Beside::new(&step.adapters, &target)?;
        for (name, text) in step.fix.files() {
            let path = beside.path.join(name);
            std::fs::write(&path, text).map_err(|source| unusable(&path, source))?;
        }
        for command in step.fix.commands(&step.adapters, &beside.path) {
            run(&command, self.context, self.progress)?;
        }
        let label = beside.path.join(LABEL);
        std::fs::write(&label, wanted_label(&step.fix)).map_err(|source| unusable(&label, source))?;
        beside.take_place_of(&target)
    }

    fn install_packages(&mut self, step: &Step) -> Result<(), InstallError> {
        if !rustix::process::geteuid().is_root() {
            return Err(InstallError::NotRoot { command: step.commands().join(" && sudo ") });
        }
        if !self.packages_known {
            run(&["apt-get".to_owned(), "update".to_owned()], self.context, self.progress)?;
            self.packages_known = true;
        }
        let mut commands = step.fix.commands(&step.adapters, Path::new("")).into_iter();
        commands.try_for_each(|command| run(&command, self.context, self.progress))
    }
}

fn label_of(folder: &Path) -> Option<String> {
    std::fs::read_to_string(folder.join(LABEL)).ok()
}

/// The commands without the folders, which differ from machine to machine, and the files.
fn wanted_label(fix: &Fix) -> String {
    let commands = fix.commands(Path::new("ADAPTERS"), Path::new("FOLDER"));
    let commands = commands.iter().map(|command| typed(command) + "\n");
    commands.chain(fix.files().map(|(name, text)| format!("{name}:\n{text}"))).collect()
}

/// A folder that is being filled, beside the one whose place it will take. It is removed if that never happens.
struct Beside {
    path: PathBuf,
}

impl Beside {
    fn new(adapters: &Path, target: &Path) -> Result<Self, InstallError> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        std::fs::create_dir_all(adapters).map_err(|source| unusable(adapters, source))?;
        let path = adapters.join(format!(".{name}.{}", std::process::id()));
        remove_left_behind(adapters, &format!(".{name}."));
        std::fs::create_dir(&path).map_err(|source| unusable(&path, source))?;
        Ok(Beside { path })
    }

    /// Whoever looks finds the old folder or the new one, and never half of one.
    fn take_place_of(self, target: &Path) -> Result<(), InstallError> {
        let moved = match std::fs::symlink_metadata(target) {
            // The old one is then where this one was, and is removed with it.
            Ok(_) => renameat_with(CWD, &self.path, CWD, target, RenameFlags::EXCHANGE),
            Err(_) => rustix::fs::rename(&self.path, target),
        };
        moved.map_err(|error| unusable(target, error.into()))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// A link is removed, and what it leads to is not.
fn remove(path: &Path) {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => drop(std::fs::remove_dir_all(path)),
        Ok(_) => drop(std::fs::remove_file(path)),
        Err(_) => {}
    }
}

/// Folders of installations that were ended before they were done.
fn remove_left_behind(adapters: &Path, prefix: &str) {
    for file in std::fs::read_dir(adapters).into_iter().flatten().flatten() {
        let name = file.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(prefix)?.parse::<u32>().ok());
        let alive = |process: u32| Path::new("/proc").join(process.to_string()).exists();
        if process.is_some_and(|process| process == std::process::id() || !alive(process)) {
            remove(&file.path());
        }
    }
}

fn run(command: &[String], context: &Context, progress: Progress) -> Result<(), InstallError> {
    let Some((name, args)) = command.split_first() else { return Ok(()) };
    let failed = |reason: String, tail: Tail| InstallError::Command { command: typed(command), reason, tail };
    let program = context.which(name);
    let program = program.ok_or_else(|| failed(format!("there is no {name} in PATH"), Tail::default()))?;
    let mut process = Command::new(program);
    process.args(args).env_clear().envs(context.environment(&[])).envs(QUIET);
    process.current_dir(folders::NEUTRAL).stdin(Stdio::null());
    let (status, tail) = match progress {
        // What is printed on stdout may be read by a program.
        Progress::Shown => {
            let status = process.stdout(io::stderr()).status();
            (status, Tail::default())
        }
        Progress::Kept => match process.output() {
            Ok(output) => {
                let tail = Tail::of(&[output.stdout, output.stderr].concat());
                (Ok(output.status), tail)
            }
            Err(error) => (Err(error), Tail::default()),
        },
    };
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string(), tail)),
        Err(error) => Err(failed(error.to_string(), tail)),
    }
}

fn unusable(path: &Path, source: io::Error) -> InstallError {
    InstallError::Folder { path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    const ENTRY: &str = r#"
        [[adapter]]
        name = "mine"
        install = "true"
        [[adapter.find]]
        programs = ["{{adapters}}/mine/tool"]
        [[adapter.fix]]
        apt = { packages = ["never"], unless = ["true"] }
        [[adapter.fix]]
        run = { folder = "mine", size = "1 kB", commands = [COMMAND] }
    "#;

    fn prepare(home: &Path, command: &str) -> (Catalog, Context) {
        let config = home.join(".config/breakroom");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("catalog.toml"), ENTRY.replace("COMMAND", command)).unwrap();
        let context = Context {
            cwd: home.to_path_buf(),
            env: vec![("HOME".into(), home.into()), ("PATH".into(), "/usr/bin:/bin".into())],
            umask: 0o022,
        };
        (Catalog::load(&context).unwrap(), context)
    }

    fn script(line: &str) -> String {
        format!(r#"["sh", "-c", "{line}", "sh", "{{{{folder}}}}"]"#)
    }

    fn names(home: &Path) -> Vec<String> {
        let files = std::fs::read_dir(home.join(".cache/breakroom/adapters")).into_iter().flatten();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    }

    const MAKES: &str = "echo NUMBER > $1/tool && chmod +x $1/tool";

    #[test]
    fn a_folder_is_there_when_it_is_complete_and_then_nothing_is_left_to_do() {
        let home = tempfile::tempdir().unwrap();
        let (catalog, context) = prepare(home.path(), &script(MAKES));
        let entry = catalog.by_type("mine").unwrap();
        let steps = entry.steps(&context, Installed::Anywhere).unwrap();
        assert_eq!(steps.len(), 1, "what apt would bring is there");
        let target = home.path().join(".cache/breakroom/adapters/mine");
        assert!(steps[0].commands()[0].ends_with(target.to_str().unwrap()), "{:?}", steps[0].commands());
        assert!(steps[0].place().contains("about 1 kB"));
        Installer::new(&context, Progress::Kept).carry_out(&steps[0]).unwrap();
        assert_eq!(entry.find(&context).unwrap().path, target.join("tool"));
        assert!(entry.steps(&context, Installed::Anywhere).unwrap().is_empty());
        assert_eq!(names(home.path()), ["mine"]);
    }

    #[test]
    fn files_of_an_entry_are_there_before_its_commands_and_another_text_is_another_version() {
        let home = tempfile::tempdir().unwrap();
        for text in ["one", "two"] {
            let (_, context) = prepare(home.path(), &script("chmod +x $1/tool"));
            let config = home.path().join(".config/breakroom/catalog.toml");
            let entry = std::fs::read_to_string(&config).unwrap();
            let files = format!("files = {{ tool = '{text}' }}, size");
            std::fs::write(&config, entry.replace("size", &files)).unwrap();
            let catalog = Catalog::load(&context).unwrap();
            let entry = catalog.by_type("mine").unwrap();
            let steps = entry.steps(&context, Installed::Anywhere).unwrap();
            assert!(steps[0].place().ends_with("of our own: tool"), "{}", steps[0].place());
            Installer::new(&context, Progress::Kept).carry_out(&steps[0]).unwrap();
            let tool = home.path().join(".cache/breakroom/adapters/mine/tool");
            assert_eq!(std::fs::read_to_string(tool).unwrap(), text);
            assert!(entry.steps(&context, Installed::Anywhere).unwrap().is_empty());
        }
    }

    #[test]
    fn another_version_takes_the_place_of_what_we_installed() {
        let home = tempfile::tempdir().unwrap();
        for number in ["1", "2"] {
            let (catalog, context) = prepare(home.path(), &script(&MAKES.replace("NUMBER", number)));
            for step in catalog.by_type("mine").unwrap().steps(&context, Installed::Anywhere).unwrap() {
                Installer::new(&context, Progress::Kept).carry_out(&step).unwrap();
            }
            let tool = home.path().join(".cache/breakroom/adapters/mine/tool");
            assert_eq!(std::fs::read_to_string(tool).unwrap().trim(), number);
        }
        assert_eq!(names(home.path()), ["mine"]);
    }

    #[test]
    fn what_fails_leaves_nothing_behind_and_says_what_was_printed() {
        let home = tempfile::tempdir().unwrap();
        let (catalog, context) = prepare(home.path(), &script("echo half > $1/tool; echo no room; exit 3"));
        let steps = catalog.by_type("mine").unwrap().steps(&context, Installed::Anywhere).unwrap();
        let error = Installer::new(&context, Progress::Kept).carry_out(&steps[0]).unwrap_err().to_string();
        assert!(error.contains("no room") && error.contains("exit status: 3"), "{error}");
        assert!(names(home.path()).is_empty());
        let (catalog, context) = prepare(home.path(), r#"["no-such-tool"]"#);
        let steps = catalog.by_type("mine").unwrap().steps(&context, Installed::Anywhere).unwrap();
        let error = Installer::new(&context, Progress::Kept).carry_out(&steps[0]).unwrap_err().to_string();
        assert!(error.contains("there is no no-such-tool in PATH"), "{error}");
    }

    #[test]
    fn nothing_of_the_folder_that_is_debugged_is_within_reach() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (catalog, mut context) = prepare(home.path(), &script("pwd > $1/tool"));
        context.cwd = project.path().to_path_buf();
        let steps = catalog.by_type("mine").unwrap().steps(&context, Installed::Anywhere).unwrap();
        Installer::new(&context, Progress::Kept).carry_out(&steps[0]).unwrap();
        let tool = home.path().join(".cache/breakroom/adapters/mine/tool");
        assert_eq!(std::fs::read_to_string(tool).unwrap(), "/\n");
    }

    #[test]
    fn what_somebody_else_put_there_is_not_replaced() {
        let home = tempfile::tempdir().unwrap();
        let (catalog, context) = prepare(home.path(), &script(MAKES));
        let folder = home.path().join(".cache/breakroom/adapters/mine");
        std::fs::create_dir_all(&folder).unwrap();
        let entry = catalog.by_type("mine").unwrap();
        assert_eq!(entry.steps(&context, Installed::Anywhere).unwrap().len(), 1, "it does not work");
        std::os::unix::fs::symlink("/bin/true", folder.join("tool")).unwrap();
        assert!(entry.steps(&context, Installed::Anywhere).unwrap().is_empty());
    }

    #[test]
    fn what_is_found_elsewhere_counts_unless_ours_is_wanted() {
        let home = tempfile::tempdir().unwrap();
        prepare(home.path(), &script(MAKES));
        let config = home.path().join(".config/breakroom/catalog.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, text.replace("[\"{{adapters}}", "[\"true\", \"{{adapters}}")).unwrap();
        let context = Context {
            cwd: home.path().to_path_buf(),
            env: vec![("HOME".into(), home.path().into()), ("PATH".into(), "/usr/bin:/bin".into())],
            umask: 0o022,
        };
        let catalog = Catalog::load(&context).unwrap();
        let entry = catalog.by_type("mine").unwrap();
        assert!(entry.steps(&context, Installed::Anywhere).unwrap().is_empty());
        assert_eq!(entry.steps(&context, Installed::ByUs).unwrap().len(), 1);
    }

    #[test]
    fn what_an_ended_installation_left_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let (catalog, context) = prepare(home.path(), &script(MAKES));
        // No process has a number beyond the kernel's limit.
        let left = home.path().join(".cache/breakroom/adapters/.mine.4194305");
        std::fs::create_dir_all(left.join("inside")).unwrap();
        let steps = catalog.by_type("mine").unwrap().steps(&context, Installed::Anywhere).unwrap();
        Installer::new(&context, Progress::Kept).carry_out(&steps[0]).unwrap();
        assert_eq!(names(home.path()), ["mine"]);
    }

    #[test]
    fn no_package_of_the_system_is_ever_removed_for_another() {
        let home = tempfile::tempdir().unwrap();
        let (catalog, _) = prepare(home.path(), &script(MAKES));
        let packages = catalog.entries().iter().flat_map(|entry| &entry.fix);
        for fix in packages.filter(|fix| matches!(fix, Fix::Apt(_))) {
            for command in fix.commands(Path::new("ADAPTERS"), Path::new("FOLDER")) {
                assert!(command.contains(&"--no-remove".to_owned()), "{command:?}");
            }
        }
    }

    #[test]
    fn of_every_debugger_that_can_be_installed_it_is_known_whose_package_it_is() {
        let home = tempfile::tempdir().unwrap();
        let (_, context) = prepare(home.path(), &script(MAKES));
        for entry in Catalog::built_in(&context).unwrap().entries() {
            let package = entry.package.as_ref();
            assert_eq!(package.is_some(), !entry.fix.is_empty(), "{}", entry.name);
            assert!(package.is_none_or(|package| package.official.contains("https://")), "{}", entry.name);
        }
    }

    #[test]
    fn every_built_in_fix_is_pinned() {
        let home = tempfile::tempdir().unwrap();
        let (catalog, _) = prepare(home.path(), &script(MAKES));
        for entry in catalog.entries() {
            for fix in &entry.fix {
                if let Fix::Pip(into) | Fix::Npm(into) = fix {
                    let pinned = |package: &String| package.contains("==") || package[1..].contains('@');
                    assert!(into.packages.iter().all(pinned), "{}", entry.name);
                }
            }
        }
    }
}
