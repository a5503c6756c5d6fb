//! Lines of a source: from its file, or from the debugger where there is none.

use std::ops::Range;
use std::path::Path;

use breakroom_client::model::{Frame, Source};
use serde_json::json;

use crate::failure::Failure;
use crate::session::Session;
use crate::telling::budget::{Room, line, written};

/// Larger files are no sources that anybody reads.
const LARGEST: u64 = 16 * 1024 * 1024;
const LONGEST_LINE: usize = 160;

/// Lines with their numbers; the current one is marked.
pub fn excerpt(lines: &[&str], current: i64, from: i64, to: i64) -> Vec<String> {
    let last = i64::try_from(lines.len()).unwrap_or(i64::MAX);
    let (from, to) = (from.max(1), to.min(last));
    let width = to.max(1).to_string().len();
    let numbered = |number: i64| {
        let mark = if number == current { '>' } else { ' ' };
        let text = usize::try_from(number - 1).ok().and_then(|at| lines.get(at)).copied().unwrap_or_default();
        format!("{mark} {number:width$}  {}", line(text, LONGEST_LINE)).trim_end().to_owned()
    };
    (from..=to).map(numbered).collect()
}

/// Which lines of an excerpt fit: the one at this place first, and then those next to it.
pub fn nearest(lines: &[String], at: usize, room: Room) -> Range<usize> {
    let (mut text, mut data) = (0, 0);
    for line in lines {
        text += line.len() + 1;
        data += written(line);
    }
    let (mut from, mut to) = (0, lines.len());
    let at = at.min(to.saturating_sub(1));
    while to - from > 1 && (text > room.text || data > room.data) {
        let left_out = match at - from >= to - 1 - at {
            true => {
                from += 1;
                &lines[from - 1]
            }
            false => {
                to -= 1;
                &lines[to]
            }
        };
        text -= left_out.len() + 1;
        data -= written(left_out);
    }
    from..to
}

/// The place of the current line in an excerpt.
pub fn current(lines: &[String]) -> usize {
    lines.iter().position(|line| line.starts_with('>')).unwrap_or(0)
}

pub fn read(path: &Path) -> Result<String, Failure> {
    let cannot = |why: String| Failure::new(format!("{} cannot be read: {why}", path.display()));
    let metadata = std::fs::metadata(path).map_err(|error| cannot(error.to_string()))?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err(cannot("it is no source file".to_owned()));
    }
    let bytes = std::fs::read(path).map_err(|error| cannot(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Session {
    /// The text of the source of a frame, if anybody has it.
    pub async fn source_text(&self, frame: &Frame) -> Option<String> {
        let Source { path, reference, .. } = frame.source.as_ref()?;
        if let Some(text) = path.as_ref().and_then(|path| self.file_text(Path::new(path)).ok()) {
            return Some(text);
        }
        let reference = (*reference)?;
        let arguments =
            json!({"sourceReference": reference, "source": {"path": path, "sourceReference": reference}});
        let body = self.link.request("source", arguments).await.ok()?;
        body["content"].as_str().map(str::to_owned)
    }

    /// The text of a file, to be shown.
    pub fn file_text(&self, path: &Path) -> Result<String, Failure> {
        read(path).map(|text| self.secrets.redact(text))
    }
}

/// The lines that have a text in them.
pub fn lines_with(text: &str, wanted: &str) -> Vec<i64> {
    let wanted = wanted.trim();
    let has = |(number, line): (i64, &str)| line.contains(wanted).then_some(number);
    (1..).zip(text.lines()).filter_map(has).collect()
}

/// The line that has a text in it: the only one, or the nearest.
pub fn line_of(file: &Path, text: &str, near: Option<i64>) -> Result<i64, Failure> {
    let all = read(file)?;
    let lines = lines_with(&all, text);
    match (lines.as_slice(), near) {
        ([], _) => Err(Failure::new(format!("no line of {} has `{text}` in it", file.display()))),
        ([only], _) => Ok(*only),
        (several, Some(near)) => {
            let nearest = several.iter().min_by_key(|line| (*line - near).abs());
            Ok(nearest.copied().unwrap_or(near))
        }
        (several, None) => {
            let whole: Vec<&str> = all.lines().collect();
            let one = |number: &i64| excerpt(&whole, 0, *number, *number).join("");
            let shown: Vec<String> = several.iter().take(10).map(one).collect();
            let what = format!("{} lines of {} have `{text}` in them:", several.len(), file.display());
            Err(Failure::new(format!("{what}\n{}", shown.join("\n")))
                .next("Say which by `line`: the nearest is taken."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_marks_where_it_stands_and_ends_with_the_file() {
        let lines = ["a", "b", "", "d"];
        assert_eq!(excerpt(&lines, 2, 0, 9), ["  1  a", "> 2  b", "  3", "  4  d"]);
        assert!(excerpt(&[], 1, 0, 3).is_empty());
    }

    #[test]
    fn where_there_is_little_room_the_current_line_stays() {
        let excerpt = excerpt(&["a", "b", "c", "d", "e"], 4, 1, 5);
        let of = |at: usize, room: Room| nearest(&excerpt, at, room);
        assert_eq!(current(&excerpt), 3);
        assert_eq!(of(3, Room::of_each(100)), 0..5);
        assert_eq!(of(3, Room { text: 21, data: 100 }), 2..5);
        assert_eq!(of(3, Room { text: 100, data: 24 }), 2..5);
        assert_eq!(of(3, Room::of_each(0)), 3..4);
        assert_eq!(of(1, Room { text: 21, data: 100 }), 0..3, "it need not be marked");
        assert_eq!(of(9, Room::of_each(0)), 4..5);
        assert_eq!(nearest(&[], 0, Room::of_each(9)), 0..0);
    }

    #[test]
    fn a_line_is_found_by_a_part_of_it() {
        assert_eq!(lines_with("x = 1\ny = x  # why\nz = x", "= x"), [2, 3]);
        assert_eq!(lines_with("x = 1\ny = x  # why", " y = x "), [2]);
    }

    #[test]
    fn a_line_is_found_by_its_text_and_the_nearest_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("t.py");
        std::fs::write(&file, "a = 1\nb = a  # note\nc = 2\nd = a\n").expect("written");
        assert_eq!(line_of(&file, "b = a", None), Ok(2));
        assert_eq!(line_of(&file, "= a", Some(4)), Ok(4));
        let several = line_of(&file, "= a", None).map_err(|failure| failure.what);
        assert!(
            several.is_err_and(
                |what| what.contains("2 lines") && what.ends_with("  2  b = a  # note\n  4  d = a")
            )
        );
        assert!(line_of(&file, "nothing", None).is_err());
    }
}
