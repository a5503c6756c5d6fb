//! The catalog of debug adapters: built in, extended by the user's file and by a project's.
//!
//! It is data read anew for each launcher, because the user's and the project's files depend on the launcher.
//! It starts nothing; looking an adapter up may run a short check of the program found.

pub mod choose;
pub mod companion;
mod copies;
mod defaults;
pub mod entry;
pub mod find;
pub mod fix;
pub(crate) mod from_launch;
mod language;
mod name;
pub mod package;
pub mod preload;
pub mod quirk;
mod version_query;
mod versions;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use breakroom_habits::EntryStop;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::context::Context;
use crate::error::CatalogError;
use crate::folders;
use crate::project::{self, Project, Trust};
use entry::{Entry, Origin};
use fix::Fix;

/// One file for each adapter. Of several for one language the first that is installed is taken.
const BUILT_IN: [(&str, &str); 18] = [
    ("debugpy", include_str!("catalog/builtin/debugpy.toml")),
    ("debugpy-stock", include_str!("catalog/builtin/debugpy-stock.toml")),
    ("js-debug", include_str!("catalog/builtin/js-debug.toml")),
    ("rdbg", include_str!("catalog/builtin/rdbg.toml")),
    ("lldb", include_str!("catalog/builtin/lldb.toml")),
    ("codelldb", include_str!("catalog/builtin/codelldb.toml")),
    ("gdb", include_str!("catalog/builtin/gdb.toml")),
    ("cdt-gdb", include_str!("catalog/builtin/cdt-gdb.toml")),
    ("delve", include_str!("catalog/builtin/delve.toml")),
    ("netcoredbg", include_str!("catalog/builtin/netcoredbg.toml")),
    ("jdi", include_str!("catalog/builtin/jdi.toml")),
    ("perl", include_str!("catalog/builtin/perl.toml")),
    ("cmake", include_str!("catalog/builtin/cmake.toml")),
    ("easy-dotnet", include_str!("catalog/builtin/easy-dotnet.toml")),
    ("group", include_str!("catalog/builtin/group.toml")),
    ("remote-runtime", include_str!("catalog/builtin/remote-runtime.toml")),
    ("ez", include_str!("catalog/builtin/ez.toml")),
    ("ez-debugserver", include_str!("catalog/builtin/ez-debugserver.toml")),
];

/// Texts in other languages than the catalog's, which stand in it as `{{text.NAME}}`.
const TEXTS: &[(&str, &str)] = &[
    ("{{text.perl.pl}}", include_str!("catalog/builtin/perl.pl")),
    ("{{text.debugpy-stock.py}}", include_str!("catalog/builtin/debugpy-stock.py")),
    ("{{text.gdb.py}}", include_str!("catalog/builtin/gdb.py")),
    ("{{text.lldb-entry.py}}", include_str!("catalog/builtin/lldb-entry.py")),
    ("{{text.lldb-rust.py}}", include_str!("catalog/builtin/lldb-rust.py")),
    ("{{text.lldb-cpp.py}}", include_str!("catalog/builtin/lldb-cpp.py")),
    ("{{text.jdi/Bridge.java}}", include_str!("catalog/builtin/jdi/Bridge.java")),
    ("{{text.jdi/Contents.java}}", include_str!("catalog/builtin/jdi/Contents.java")),
    ("{{text.jdi/Peer.java}}", include_str!("catalog/builtin/jdi/Peer.java")),
    ("{{text.jdi/Place.java}}", include_str!("catalog/builtin/jdi/Place.java")),
];

/// The same of Ruby, as `{{line.NAME}}`: rdbg takes every line of a command for another one.
const LINES: &[(&str, &str)] = &[("{{line.rdbg.rb}}", include_str!("catalog/builtin/rdbg.rb"))];

/// What the user's catalog.toml and a project's .breakroom.toml hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CatalogFile {
    #[serde(default)]
    pub adapter: Vec<Entry>,
    #[serde(default)]
    pub settings: Map<String, Value>,
}

#[derive(Debug)]
pub struct Catalog {
    /// Borrowed where nobody has added any, as is usual: a copy of all of them would be made several times for every session.
    entries: Cow<'static, [Entry]>,
    settings: Map<String, Value>,
    project: Option<Project>,
    cwd: PathBuf,
}

impl Catalog {
    /// The built-in entries alone.
    pub fn built_in(context: &Context) -> Result<Catalog, CatalogError> {
        let entries = Cow::Borrowed(built_in()?);
        Ok(Catalog { entries, settings: Map::new(), project: None, cwd: context.cwd.clone() })
    }

    /// The built-in entries, overridden by name by the user's file and then by the project's.
    pub fn load(context: &Context) -> Result<Catalog, CatalogError> {
        let mut catalog = Catalog::built_in(context)?;
        let user = folders::config_dir(context)?.join("catalog.toml");
        match std::fs::read_to_string(&user) {
            Ok(text) => catalog.add(parse(&user, &text)?, &Origin::User(user.clone())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(CatalogError::Read { path: user, source }),
        }

        if let Some((project, file)) = project::load(context)? {
            catalog.add(file, &Origin::Project { path: project.path.clone(), trust: project.trust });
            catalog.project = Some(project);
        }
        Ok(catalog)
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The settings of the user's file, overridden key by key by the project's.
    ///
    /// The project's count without being trusted, so nothing that is executed may be read from here.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.settings
    }

    pub fn project(&self) -> Option<&Project> {
        self.project.as_ref()
    }

    fn add(&mut self, file: CatalogFile, origin: &Origin) {
        self.settings.extend(file.settings);
        let untrusted = matches!(origin, Origin::Project { trust: Trust::Untrusted, .. });
        for mut entry in file.adapter {
            entry.origin = origin.clone();
            if untrusted {
                // It is asked last and replaces nothing: a file that came with a download must not keep its reader from
                // debugging as before.
                self.entries.to_mut().push(entry);
                continue;
            }
            let entries = self.entries.to_mut();
            match entries.iter_mut().find(|known| known.name == entry.name) {
                Some(known) => *known = entry,
                // What was added last is asked first, so that a user's entry for *.py comes before the built-in one.
                None => entries.insert(0, entry),
            }
        }
    }
}

/// Parsed once: a daemon looks into the catalog several times for every session, and that would be milliseconds each.
fn built_in() -> Result<&'static [Entry], CatalogError> {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    if let Some(entries) = ENTRIES.get() {
        return Ok(entries);
    }
    let mut entries = Vec::new();
    for (name, text) in BUILT_IN {
        entries.extend(parse(&Path::new("(built in)").join(name), text)?.adapter);
    }
    entries.iter_mut().for_each(with_texts);
    Ok(ENTRIES.get_or_init(|| entries))
}

fn with_texts(entry: &mut Entry) {
    let put = |text: &mut String| {
        for (name, content) in TEXTS {
            if text.contains(name) {
                *text = text.replace(name, content);
            }
        }
        for (name, content) in LINES {
            if text.contains(name) {
                *text = text.replace(name, &in_one_line(content));
            }
        }
    };
    entry.script.iter_mut().chain(&mut entry.ending.leavable).for_each(put);
    for fix in &mut entry.fix {
        if let Fix::Run(run) = fix {
            run.files.values_mut().for_each(put);
        }
    }
    if let EntryStop::Commands { run, .. } = &mut entry.starting.entry {
        run.iter_mut().for_each(put);
    }
    let for_some = entry.defaults_when.iter_mut().flat_map(|when| when.arguments.values_mut());
    for value in entry.defaults.values_mut().chain(for_some) {
        match value {
            Value::String(text) => put(text),
            Value::Array(elements) => {
                for element in elements {
                    if let Value::String(text) = element {
                        put(text);
                    }
                }
            }
            _ => {}
        }
    }
}

/// What it is without its comments, for a language in which the end of a line is the end of what it says.
fn in_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("; ")
}

pub(crate) fn parse(path: &Path, text: &str) -> Result<CatalogFile, CatalogError> {
    let file: CatalogFile = toml::from_str(text)
        .map_err(|error| CatalogError::Toml { path: path.to_path_buf(), problem: error.to_string() })?;
    for (index, entry) in file.adapter.iter().enumerate() {
        let again = file.adapter[..index].iter().any(|other| other.name == entry.name);
        let problem = if again { Err("is there twice".to_string()) } else { entry.check() };
        problem.map_err(|problem| CatalogError::Entry {
            path: path.to_path_buf(),
            name: entry.name.clone(),
            problem,
        })?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(home: &Path, cwd: &Path) -> Context {
        Context {
            cwd: cwd.to_path_buf(),
            env: vec![("HOME".into(), home.into()), ("PATH".into(), "/usr/bin:/bin".into())],
            umask: 0o022,
        }
    }

    fn write(path: PathBuf, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    const MINE: &str = r#"
        [[adapter]]
        name = "mine"
        types = ["python"]
        files = ["*.py"]
        install = "true"
        [[adapter.find]]
        programs = ["true"]
    "#;

    #[test]
    fn the_built_in_entries_are_sound() {
        let home = tempfile::tempdir().unwrap();
        let catalog = Catalog::load(&context(home.path(), home.path())).unwrap();
        let names: Vec<&str> = catalog.entries().iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, BUILT_IN.map(|(name, _)| name));
        for entry in catalog.entries() {
            assert!(!entry.find.is_empty() && !entry.install.is_empty());
            let missing = |text| format!("{entry:?}").contains(text);
            assert!(!missing("{{text.") && !missing("{{line."), "a text of {} is missing", entry.name);
            // Those of our own are no other peers that anything would have been recorded of.
            if entry.find[0].programs == ["{{breakroom}}"] {
                continue;
            }
            assert!(
                entry.capabilities["supportsConfigurationDoneRequest"].as_bool().unwrap(),
                "{}",
                entry.name
            );
            assert!(!entry.quirks.is_empty());
        }
    }

    #[test]
    fn what_rdbg_is_to_run_first_is_one_command() {
        let home = tempfile::tempdir().unwrap();
        let catalog = Catalog::built_in(&context(home.path(), home.path())).unwrap();
        let entry = catalog.by_type("rdbg").unwrap();
        let script = entry.script.as_deref().unwrap();
        assert!(script.starts_with("eval ") && script.contains("def pop_event; "), "{script}");
        assert_eq!(script.lines().count(), 1, "{script}");
        assert_eq!(in_one_line("# why\n\n  if a\n    b\n  end\n"), "if a; b; end");
    }

    #[test]
    fn only_adapters_that_look_who_comes_have_a_port() {
        let home = tempfile::tempdir().unwrap();
        let catalog = Catalog::built_in(&context(home.path(), home.path())).unwrap();
        let listens = |entry: &&Entry| entry.mode == crate::spec::Mode::TcpConnect;
        let names: Vec<&str> =
            catalog.entries().iter().filter(listens).map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["jdi", "perl"]);
    }

    #[test]
    fn the_users_entries_come_first_and_override_by_name() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".config/breakroom/catalog.toml");
        write(file.clone(), &format!("[settings]\ncolour = 1\n{MINE}"));
        let catalog = Catalog::load(&context(home.path(), home.path())).unwrap();
        assert_eq!(catalog.by_type("python").unwrap().name, "mine");
        assert_eq!(catalog.by_type("debugpy").unwrap().name, "debugpy");
        assert_eq!(catalog.by_type("mine").unwrap().origin, Origin::User(file.clone()));
        assert_eq!(catalog.settings()["colour"], 1);
        write(file, &MINE.replace("\"mine\"", "\"debugpy\""));
        let catalog = Catalog::load(&context(home.path(), home.path())).unwrap();
        assert_eq!(catalog.entries().len(), BUILT_IN.len());
        assert!(catalog.by_type("debugpy").unwrap().capabilities.is_empty());
    }

    #[test]
    fn a_mistake_is_told_with_its_file_line_and_column() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".config/breakroom/catalog.toml");
        for (text, place) in [
            ("[[adapter]]\nname = 3\ninstall = \"\"", "line 2, column 8"),
            ("[[adapter]]\nname = \"x\"\ninstall = \"\"\nmodee = \"stdio\"", "line 4"),
            ("[[adapter]]\nname = \"x\"\ninstall = \"\"\nending.exits = \"never\"", "line 4"),
            ("[[adapter]]\nname = \"x\"\ninstall = \"\"\nending.exit = \"nevr\"", "line 4, column 15"),
            ("[[adapter]]\nname = \"x\"\ninstall = \"\"\nquirks = [\"odd\"]", "unknown variant"),
            ("not toml", "line 1"),
            (&format!("{MINE}{MINE}"), "there twice"),
            (
                &format!("{MINE}[[adapter.defaults-when]]\nlinks = \"\"\narguments = {{}}"),
                "`made-by` or `links`",
            ),
            (&format!("{MINE}[[adapter.defaults-when]]\narguments = {{}}"), "`made-by` or `links`"),
            (&MINE.replace("stdio", "x").replace("files", "mode = \"unix\"\nfiles"), "{{socket}}"),
        ] {
            write(file.clone(), text);
            let error = Catalog::load(&context(home.path(), home.path())).unwrap_err().to_string();
            assert!(error.contains(place) && error.contains("catalog.toml"), "{text}: {error}");
        }
    }

    #[test]
    fn an_untrusted_project_replaces_nothing() {
        let home = tempfile::tempdir().unwrap();
        write(home.path().join(".breakroom.toml"), &MINE.replace("\"mine\"", "\"debugpy\""));
        let context = context(home.path(), home.path());
        let catalog = Catalog::load(&context).unwrap();
        assert_eq!(catalog.by_type("debugpy").unwrap().origin, Origin::BuiltIn);
        assert_eq!(catalog.by_type("python").unwrap().origin, Origin::BuiltIn);
    }

    #[test]
    fn an_untrusted_project_is_an_error_only_when_its_adapter_is_wanted() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("work/deep");
        std::fs::create_dir_all(&folder).unwrap();
        let file = home.path().join("work/.breakroom.toml");
        write(file.clone(), MINE);
        let context = context(home.path(), &folder);

        let catalog = Catalog::load(&context).unwrap();
        assert_eq!(catalog.project().unwrap().trust, Trust::Untrusted);
        let error = catalog.by_type("mine").unwrap().find(&context).unwrap_err().to_string();
        assert!(error.contains("breakroom trust") && error.contains(".breakroom.toml"), "{error}");
        assert!(catalog.by_type("lldb").is_some());

        crate::project::trust(&file, &context).unwrap();
        assert!(Catalog::load(&context).unwrap().by_type("mine").unwrap().find(&context).is_ok());

        write(file, &format!("{MINE}\n# changed"));
        let catalog = Catalog::load(&context).unwrap();
        assert!(catalog.by_type("mine").unwrap().find(&context).is_err());
    }
}
