//! What the tests need on the machine, as a table, and how each thing is found and installed.
//!
//! Debuggers are installed by the program itself, as any user's are (`breakroom doctor --fix`); the rest here, into the
//! adapters folder or, as root, with apt. Never touches what is already there.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{cargo, run, shown};

pub struct Need {
    /// For `--skip`.
    pub name: &'static str,
    pub what_for: &'static str,
    present: Present,
    install: Install,
}

enum Present {
    /// One of these programs is on the PATH.
    Program(&'static [&'static str]),
    /// A path in the adapters folder.
    Adapter(&'static str),
    /// A `gdb` on the PATH that the tests get.
    Gdb,
}

enum Install {
    Apt(&'static [&'static str]),
    /// The debugger `gdb` under its own name, in [`PROGRAMS`].
    Gdb,
    /// Into a folder of its own in the adapters folder.
    Npm {
        folder: &'static str,
        package: &'static str,
    },
    /// The same without install scripts, which download and compile optional parts. `locked` is a folder below `folder`
    /// whose own lock file is installed too.
    NpmNoScripts {
        folder: &'static str,
        package: &'static str,
        locked: Option<&'static str>,
    },
    /// The same with an environment of Python's.
    Pip {
        folder: &'static str,
        package: &'static str,
    },
}

/// The debuggers that the tests drive, by their names in the catalog, which says how each is installed.
const DEBUGGERS: &[&str] =
    &["debugpy", "js-debug", "rdbg", "lldb", "codelldb", "gdb", "cdt-gdb", "delve", "jdi", "perl", "cmake"];

/// The packager of extensions for VS Code, in the adapters folder.
const VSCE: &str = "vsce/node_modules/@vscode/vsce/vsce";

/// What the machine lacks on its PATH, in the adapters folder.
const PROGRAMS: &str = "programs";

/// Provided before the debuggers: cdt-gdb needs it.
const GDB: Need = Need {
    name: "system-gdb",
    what_for: "a gdb on the PATH, for cdt-gdb and debugpy's own adapter; ours where the machine has none",
    present: Present::Gdb,
    install: Install::Gdb,
};

/// In order: a later one may need an earlier one.
const NEEDS: &[Need] = &[
    GDB,
    Need {
        name: "gcc",
        what_for: "programs to debug in C",
        present: Present::Program(&["gcc"]),
        install: Install::Apt(&["gcc", "libc6-dev"]),
    },
    Need {
        name: "g++",
        what_for: "programs to debug in C++",
        present: Present::Program(&["g++"]),
        install: Install::Apt(&["g++"]),
    },
    Need {
        name: "go",
        what_for: "programs to debug in Go",
        present: Present::Program(&["go"]),
        install: Install::Apt(&["golang-go"]),
    },
    Need {
        name: "vscode-client",
        what_for: "driving the hub with the client that VS Code's own adapters are tested with",
        present: Present::Adapter("vscode-client/node_modules/@vscode/debugadapter-testsupport"),
        install: Install::Npm { folder: "vscode-client", package: "@vscode/debugadapter-testsupport@1.68.0" },
    },
    Need {
        name: "chromium",
        what_for: "pages to debug",
        present: Present::Program(&["chromium"]),
        install: Install::Apt(&["chromium"]),
    },
    Need {
        name: "mcp-python",
        what_for: "the protocol's own library of Python's, as a client and to compare speed with",
        present: Present::Adapter("mcp-python/bin/mcp"),
        install: Install::Pip { folder: "mcp-python", package: "mcp==2.3.0" },
    },
    Need {
        name: "pytest",
        what_for: "tests of Python to debug",
        present: Present::Adapter("pytest/bin/pytest"),
        install: Install::Pip { folder: "pytest", package: "pytest==9.2.0" },
    },
    Need {
        name: "mcp-inspector",
        what_for: "driving the agents' door with the protocol's own inspector",
        present: Present::Adapter("mcp-inspector/node_modules/.bin/mcp-inspector"),
        install: Install::Npm { folder: "mcp-inspector", package: "@modelcontextprotocol/inspector@2.12.0" },
    },
    Need {
        name: "typescript",
        what_for: "programs to debug in TypeScript",
        present: Present::Adapter("typescript/node_modules/.bin/tsc"),
        install: Install::Npm { folder: "typescript", package: "typescript@5.9.3" },
    },
    Need {
        name: "vsce",
        what_for: "packaging the extension for VS Code",
        present: Present::Adapter(VSCE),
        install: Install::NpmNoScripts { folder: "vsce", package: "@vscode/vsce@2.24.0", locked: None },
    },
    Need {
        name: "vscode-server",
        what_for: "VS Code itself, as a server: 290 MB",
        present: Present::Adapter(
            "code-server/node_modules/code-server/lib/vscode/node_modules/vscode-oniguruma",
        ),
        install: Install::NpmNoScripts {
            folder: "code-server",
            package: "code-server@4.100.3",
            locked: Some("node_modules/code-server/lib/vscode"),
        },
    },
    Need {
        name: "playwright",
        what_for: "driving VS Code in Chromium",
        present: Present::Adapter("playwright/node_modules/playwright-core"),
        install: Install::NpmNoScripts {
            folder: "playwright",
            package: "playwright-core@1.65.1",
            locked: None,
        },
    },
    Need {
        name: "neovim",
        what_for: "running the configuration for Neovim",
        present: Present::Program(&["nvim"]),
        install: Install::Apt(&["neovim"]),
    },
    Need {
        name: "socat",
        what_for: "comparing speed, and odd transports",
        present: Present::Program(&["socat"]),
        install: Install::Apt(&["socat"]),
    },
];

pub fn help() -> String {
    let debuggers = DEBUGGERS.iter().map(|name| format!("    {name:14} debugger"));
    let lines = NEEDS.iter().map(|need| format!("    {:14} {}", need.name, need.what_for));
    format!("What the tests need:\n{}", debuggers.chain(lines).collect::<Vec<_>>().join("\n"))
}

/// Where adapters that we install are, and where the catalog looks first.
pub fn adapters_folder() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|cache| cache.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = cache.or_else(home).context("neither XDG_CACHE_HOME nor HOME is set: set one of them")?;
    Ok(cache.join("breakroom/adapters"))
}

/// Installs cargo-nextest, which runs the tests, if it is missing.
pub fn provide_nextest() -> Result<()> {
    let mut version = cargo(&["nextest", "--version"]);
    version.stdout(Stdio::null()).stderr(Stdio::null());
    if version.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    eprintln!("xtask: cargo-nextest is missing (it runs the tests)");
    run(&mut cargo(&["install", "--locked", "cargo-nextest"])).context("install cargo-nextest by hand")
}

/// Installs what is missing and not skipped.
pub fn provide(skip: &[String]) -> Result<()> {
    let known = |name: &str| DEBUGGERS.contains(&name) || NEEDS.iter().any(|need| need.name == name);
    if let Some(unknown) = skip.iter().find(|name| !known(name)) {
        bail!("--skip {unknown}: there is no such thing to skip.\n{}", help());
    }
    let mut apt = Apt { updated: false };
    if !skip.iter().any(|name| name == GDB.name) {
        GDB.provide(&mut apt)?;
    }
    provide_debuggers(skip)?;
    for need in NEEDS.iter().filter(|need| !skip.iter().any(|name| name == need.name)) {
        need.provide(&mut apt)?;
    }
    Ok(())
}

/// The packager of extensions for VS Code, installed if it is missing.
pub fn provide_vsce() -> Result<PathBuf> {
    let need = NEEDS.iter().find(|need| need.name == "vsce").context("vsce is in the table")?;
    need.provide(&mut Apt { updated: false })?;
    Ok(adapters_folder()?.join(VSCE))
}

/// It looks itself whether anything is missing.
fn provide_debuggers(skip: &[String]) -> Result<()> {
    let wanted: Vec<&str> =
        DEBUGGERS.iter().copied().filter(|name| !skip.iter().any(|skipped| skipped == name)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let doctor = ["run", "--quiet", "--package", "breakroom", "--", "doctor", "--yes", "--ours", "--fix"];
    let installed = run(cargo(&doctor).args(wanted).env("PATH", path()?));
    installed.context("cannot install a debugger; to do without it use --skip with its name")
}

impl Need {
    fn provide(&self, apt: &mut Apt) -> Result<()> {
        if self.is_present()? {
            return Ok(());
        }
        eprintln!("xtask: {} is missing ({})", self.name, self.what_for);
        self.install(apt)?;
        if !self.is_present()? {
            bail!(
                "{} was installed but is still not found: install it by hand, or use --skip {}",
                self.name,
                self.name
            );
        }
        Ok(())
    }

    fn is_present(&self) -> Result<bool> {
        Ok(match self.present {
            Present::Program(names) => programs().any(|program| names.contains(&program.as_str())),
            Present::Adapter(path) => adapters_folder()?.join(path).exists(),
            Present::Gdb => {
                programs().any(|program| program == "gdb")
                    || adapters_folder()?.join(PROGRAMS).join("gdb").exists()
            }
        })
    }

    fn install(&self, apt: &mut Apt) -> Result<()> {
        let installed = match self.install {
            Install::Apt(packages) => apt.install(packages),
            Install::Gdb => write_gdb(&adapters_folder()?),
            Install::Npm { folder, package } => {
                let folder = adapters_folder()?.join(folder);
                std::fs::create_dir_all(&folder)?;
                run(npm(&folder).arg(package))
            }
            Install::NpmNoScripts { folder, package, locked } => {
                let folder = adapters_folder()?.join(folder);
                std::fs::create_dir_all(&folder)?;
                let lean = ["--ignore-scripts", "--omit=dev"];
                run(npm(&folder).args(lean).arg(package)).and_then(|()| match locked {
                    Some(locked) => run(npm(&folder.join(locked)).args(lean)),
                    None => Ok(()),
                })
            }
            Install::Pip { folder, package } => {
                let folder = adapters_folder()?.join(folder);
                run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
                let mut command = Command::new(folder.join("bin/pip"));
                run(command.args(["install", "--quiet", "--disable-pip-version-check", package]))
            }
        };
        installed.with_context(|| format!("cannot install {0}; to do without it use --skip {0}", self.name))
    }
}

fn npm(folder: &Path) -> Command {
    let mut command = Command::new("npm");
    command.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(folder);
    command
}

struct Apt {
    updated: bool,
}

impl Apt {
    fn install(&mut self, packages: &[&str]) -> Result<()> {
        let mut command = Command::new("apt-get");
        command.args(["install", "--yes", "--no-remove", "--no-install-recommends"]).args(packages);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        if !rustix::process::geteuid().is_root() {
            bail!("this needs root; run by hand: sudo {}", shown(&command));
        }
        if !self.updated {
            run(Command::new("apt-get").arg("update"))?;
            self.updated = true;
        }
        run(&mut command)
    }
}

/// Its own first line names a folder that has been renamed since.
fn write_gdb(adapters: &Path) -> Result<()> {
    let folder = adapters.join(PROGRAMS);
    std::fs::create_dir_all(&folder)?;
    let bin = adapters.join("gdb/bin");
    let bin = bin.to_str().context("the adapters folder has a name that is no text")?.replace('\'', r"'\''");
    let file = folder.join("gdb");
    std::fs::write(&file, format!("#!/bin/sh\nexec '{bin}/python3' '{bin}/gdb' \"$@\"\n"))?;
    Ok(std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?)
}

/// The PATH for what the tests run: what the machine has comes first.
pub fn path() -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([adapters_folder()?.join(PROGRAMS)]);
    Ok(std::env::join_paths(folders)?)
}

/// Names of all files in the folders of the PATH.
fn programs() -> impl Iterator<Item = String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let files =
        folders.into_iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    files.filter_map(|file| file.file_name().into_string().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gdb_of_the_adapters_folder_is_run_by_its_own_python() {
        let adapters = tempfile::tempdir().unwrap();
        let bin = adapters.path().join("it's/gdb/bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join("python3"), "#!/bin/sh\necho \"$@\"\n").unwrap();
        std::fs::set_permissions(bin.join("python3"), std::fs::Permissions::from_mode(0o755)).unwrap();
        write_gdb(&adapters.path().join("it's")).unwrap();
        let said =
            Command::new(adapters.path().join("it's/programs/gdb")).args(["-q", "a b"]).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap(), format!("{}/gdb -q a b\n", bin.display()));
    }
}
