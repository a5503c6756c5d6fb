//! What the tests need on the machine, as a table, and how each thing is found and installed.
//!
//! Installs into the adapters folder or, as root, with apt. Never touches what is already there.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{run, shown};

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
    /// A program on the PATH whose name begins so: Debian adds the version.
    ProgramPrefix(&'static [&'static str]),
    /// This command succeeds.
    Command(&'static [&'static str]),
    /// A path in the adapters folder.
    Adapter(&'static str),
}

enum Install {
    Apt(&'static [&'static str]),
    /// Into a folder of its own in the adapters folder.
    Pip {
        folder: &'static str,
        package: &'static str,
    },
    /// The same, from npm.
    Npm {
        folder: &'static str,
        package: &'static str,
    },
}

/// In order: a later one may need an earlier one.
pub const NEEDS: &[Need] = &[
    Need {
        name: "python",
        what_for: "pip, to install debugpy",
        present: Present::Command(&["python3", "-m", "pip", "--version"]),
        install: Install::Apt(&["python3-pip"]),
    },
    Need {
        name: "debugpy",
        what_for: "debugging Python",
        // The version is part of the look: tests are written against this one.
        present: Present::Adapter("debugpy/debugpy-1.8.22.dist-info"),
        install: Install::Pip { folder: "debugpy", package: "debugpy==1.8.22" },
    },
    Need {
        name: "gdb",
        what_for: "debugpy's way into a process that runs already",
        present: Present::Program(&["gdb"]),
        install: Install::Apt(&["gdb"]),
    },
    Need {
        name: "lldb",
        what_for: "debugging C, C++ and Rust",
        present: Present::ProgramPrefix(&["lldb-dap", "lldb-vscode"]),
        install: Install::Apt(&["lldb-19"]),
    },
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
        name: "delve",
        what_for: "debugging Go",
        present: Present::Program(&["dlv"]),
        install: Install::Apt(&["delve"]),
    },
    Need {
        name: "vscode-client",
        what_for: "driving the hub with the client that VS Code's own adapters are tested with",
        present: Present::Adapter("vscode-client/node_modules/@vscode/debugadapter-testsupport"),
        install: Install::Npm { folder: "vscode-client", package: "@vscode/debugadapter-testsupport@1.68.0" },
    },
    Need {
        name: "socat",
        what_for: "comparing speed, and odd transports",
        present: Present::Program(&["socat"]),
        install: Install::Apt(&["socat"]),
    },
];

pub fn help() -> String {
    let lines = NEEDS.iter().map(|need| format!("    {:8} {}", need.name, need.what_for));
    format!("What the tests need:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Where adapters that we install are, and where the catalog looks first.
pub fn adapters_folder() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|cache| cache.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = cache.or_else(home).context("neither XDG_CACHE_HOME nor HOME is set: set one of them")?;
    Ok(cache.join("breakroom/adapters"))
}

/// Installs what is missing and not skipped.
pub fn provide(skip: &[String]) -> Result<()> {
    if let Some(unknown) = skip.iter().find(|name| !NEEDS.iter().any(|need| need.name == name.as_str())) {
        bail!("--skip {unknown}: there is no such thing to skip.\n{}", help());
    }
    let mut apt = Apt { updated: false };
    for need in NEEDS.iter().filter(|need| !skip.iter().any(|name| name == need.name)) {
        if need.is_present()? {
            continue;
        }
        eprintln!("xtask: {} is missing ({})", need.name, need.what_for);
        need.install(&mut apt)?;
        if !need.is_present()? {
            bail!(
                "{} was installed but is still not found: install it by hand, or use --skip {}",
                need.name,
                need.name
            );
        }
    }
    Ok(())
}

impl Need {
    fn is_present(&self) -> Result<bool> {
        Ok(match self.present {
            Present::Program(names) => programs().any(|program| names.contains(&program.as_str())),
            Present::ProgramPrefix(prefixes) => {
                programs().any(|program| prefixes.iter().any(|prefix| program.starts_with(prefix)))
            }
            Present::Command(words) => {
                let mut command = Command::new(words[0]);
                command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
                command.status().is_ok_and(|status| status.success())
            }
            Present::Adapter(path) => adapters_folder()?.join(path).exists(),
        })
    }

    fn install(&self, apt: &mut Apt) -> Result<()> {
        let installed = match self.install {
            Install::Apt(packages) => apt.install(packages),
            Install::Pip { folder, package } => {
                let mut command = Command::new("python3");
                command.args(["-m", "pip", "install", "--upgrade", "--target"]);
                run(command.arg(adapters_folder()?.join(folder)).arg(package))
            }
            Install::Npm { folder, package } => {
                let folder = adapters_folder()?.join(folder);
                std::fs::create_dir_all(&folder)?;
                let mut command = Command::new("npm");
                command.args(["install", "--no-audit", "--no-fund", "--prefix"]);
                run(command.arg(folder).arg(package))
            }
        };
        installed.with_context(|| format!("cannot install {0}; to do without it use --skip {0}", self.name))
    }
}

struct Apt {
    updated: bool,
}

impl Apt {
    fn install(&mut self, packages: &[&str]) -> Result<()> {
        let mut command = Command::new("apt-get");
        command.args(["install", "--yes", "--no-install-recommends"]).args(packages);
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

/// Names of all files in the folders of the PATH.
fn programs() -> impl Iterator<Item = String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let files =
        folders.into_iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    files.filter_map(|file| file.file_name().into_string().ok())
}
