//! The environment variables by which an orchestrator finds the server: for a command, or for a shell to read.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use breakroom_ide_protocol::{
    CERTIFICATE, INFO, INSTANCE_ID_PREFIX, PORT, Port, RUN_MODE, RUN_MODE_DEBUG, TOKEN,
};

use crate::Token;

/// How the ids of instances begin. Their orchestrator appends random letters.
const PREFIX: &str = "breakroom-";

/// Names and values. They hold the token.
#[derive(Clone)]
pub struct Environment(Vec<(&'static str, String)>);

impl Environment {
    pub(crate) fn new(port: u16, token: &Token, certificate: String, info: String) -> Environment {
        Environment(vec![
            (PORT, Port(port).to_string()),
            (TOKEN, token.text().to_owned()),
            (CERTIFICATE, certificate),
            (INFO, info),
            (RUN_MODE, RUN_MODE_DEBUG.to_owned()),
            (INSTANCE_ID_PREFIX, PREFIX.to_owned()),
        ])
    }

    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Lines for a shell: `export NAME='VALUE'`.
    pub fn exports(&self) -> String {
        let line =
            |(name, value): (&str, &str)| format!("export {name}='{}'\n", value.replace('\'', r"'\''"));
        self.variables().map(line).collect()
    }

    /// Writes the lines to a file that only this user can read. It appears with all of its content.
    ///
    /// A symbolic link is not followed, because its target may be a file of another user's choice.
    pub fn write_to(&self, path: &Path) -> io::Result<()> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it exists and is no regular file"));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut new_name = name.to_owned();
        new_name.push(format!(".{:016x}", getrandom::u64().map_err(io::Error::other)?));
        let new = path.with_file_name(new_name);
        let written = self.write_new(&new).and_then(|()| fs::rename(&new, path));
        written.inspect_err(|_| {
            // It may not exist.
            let _ = fs::remove_file(&new);
        })
    }

    fn write_new(&self, path: &Path) -> io::Result<()> {
        let nofollow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600).custom_flags(nofollow);
        options.open(path)?.write_all(self.exports().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn environment() -> Environment {
        Environment::new(4711, &Token::random().unwrap(), "AAA=".to_owned(), "it's".to_owned())
    }

    #[test]
    fn exports_are_quoted_for_a_shell() {
        let environment = environment();
        let script = format!("{}printf %s \"$DEBUG_SESSION_INFO\"", environment.exports());
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        let info = environment.variables().find(|(name, _)| *name == INFO).unwrap().1;
        assert_eq!(String::from_utf8(output.stdout).unwrap(), info);
    }

    #[test]
    fn file_is_private_and_replaces_a_file_but_not_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("env"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        environment().write_to(&file).unwrap();
        assert!(
            fs::read_to_string(&file).unwrap().starts_with("export DEBUG_SESSION_PORT='localhost:4711'\n")
        );
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        symlink(&file, &link).unwrap();
        assert!(environment().write_to(&link).is_err());
        assert!(environment().write_to(folder.path()).is_err());
        assert!(environment().write_to(&folder.path().join("no/such")).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
