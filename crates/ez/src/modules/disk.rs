//! Files and folders as they are on the disk.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::Entry;

/// Nobody writes that much, and a device never ends. Places in a text are counted in 32 bits.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

pub fn from_disk(path: &Path) -> io::Result<Entry> {
    if path.is_dir() {
        return folder(path);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is longer than 32 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to() + 1;
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not UTF-8 text (byte {place})"))
    })?;
    Ok(Entry::File(text))
}

fn folder(path: &Path) -> io::Result<Entry> {
    let paths: io::Result<Vec<PathBuf>> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ez") && path.is_file());
    paths.sort();
    Ok(Entry::Folder(paths))
}
