//! Words for people and names for files, made in one way wherever they are needed.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A command as a person would type it, so that a shell reads these words.
pub fn typed(words: &[String]) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// FNV-1a: a short file name for a path of any length.
pub fn short_name(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes().iter();
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_words_that_were_meant() {
        let typed =
            |words: &[&str]| super::typed(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(typed(&["npm", "i", "@a/b@1.2", "x=1", "100%"]), "npm i @a/b@1.2 x=1 100%");
        assert_eq!(typed(&["-c", "my app", "", "it's", "$HOME"]), r#"-c 'my app' '' 'it'\''s' '$HOME'"#);
    }

    #[test]
    fn every_path_has_the_same_name_for_ever() {
        // Trust that was given and programs that were built are found again by it.
        assert_eq!(short_name(Path::new("/a/b")), "363e289cb38ee0cc");
    }
}
