//! What installs an adapter, as data: the steps of `breakroom doctor --fix`.
//!
//! Carrying them out is in `install`; here is only what they are and how a person reads them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Fix {
    /// Packages of the system. They change the whole machine, so they need its owner.
    Apt(Apt),
    Pip(Packages),
    Npm(Packages),
    /// Commands that fill a folder.
    Run(Commands),
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apt {
    pub packages: Vec<String>,
    /// A command that succeeds where they are not needed.
    #[serde(default)]
    pub unless: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packages {
    /// The folder in the adapters folder; adapters that come in one package share it.
    pub folder: String,
    /// With their versions.
    pub packages: Vec<String>,
    /// For people.
    pub size: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    pub folder: String,
    /// `{{folder}}` is the folder to fill, `{{adapters}}` the adapters folder.
    pub commands: Vec<Vec<String>>,
    /// The texts of files that are in the folder before the first command, by their names.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    pub size: String,
}

impl Fix {
    /// The folder that it fills.
    pub fn folder(&self) -> Option<&str> {
        match self {
            Fix::Apt(_) => None,
            Fix::Pip(into) | Fix::Npm(into) => Some(&into.folder),
            Fix::Run(run) => Some(&run.folder),
        }
    }

    pub fn size(&self) -> Option<&str> {
        match self {
            Fix::Apt(_) => None,
            Fix::Pip(into) | Fix::Npm(into) => Some(&into.size),
            Fix::Run(run) => Some(&run.size),
        }
    }

    /// The files that it brings along, by their names.
    pub fn files(&self) -> impl Iterator<Item = (&String, &String)> {
        let run = if let Fix::Run(run) = self { Some(run) } else { None };
        run.into_iter().flat_map(|run| &run.files)
    }

    /// The commands, with `folder` as the folder to fill.
    pub fn commands(&self, adapters: &Path, folder: &Path) -> Vec<Vec<String>> {
        let folder = folder.to_string_lossy();
        let words = |words: &[&str], packages: &[String]| {
            let words = words.iter().map(|word| (*word).to_owned());
            vec![words.chain(packages.iter().cloned()).collect::<Vec<_>>()]
        };
        match self {
            Fix::Apt(apt) => {
                // What would have to be removed for it is somebody's.
                let install = ["apt-get", "install", "--yes", "--no-remove", "--no-install-recommends"];
                words(&install, &apt.packages)
            }
            Fix::Pip(into) => {
                let pip = ["python3", "-m", "pip", "install", "--target", &folder];
                words(&pip, &into.packages)
            }
            // Scripts of packages that came along are nobody's wish; those that are needed have none.
            Fix::Npm(into) => {
                let npm =
                    ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", &folder];
                words(&npm, &into.packages)
            }
            Fix::Run(run) => {
                let fill = |word: &String| {
                    word.replace("{{folder}}", &folder).replace("{{adapters}}", &adapters.to_string_lossy())
                };
                run.commands.iter().map(|command| command.iter().map(fill).collect()).collect()
            }
        }
    }
}
