//! What breakpoints that capture have written down: a table of hits, of which the first and the last are kept.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Value, json};

use crate::session::stops::Thread;
use crate::telling::budget::Room;
use crate::telling::reply::Reply;

/// How a loop begins is worth as much as how it ends.
const MOST_FIRST: usize = 100;
const MOST_LAST: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub breakpoint: u32,
    pub place: String,
    pub thread: Thread,
    /// What was asked for, and what it was.
    pub values: Vec<(String, String)>,
}

/// A row, and how often in a run it was the same.
struct Kept {
    row: Row,
    /// The first of those hits, counted from one since the program began.
    hit: u64,
    times: u64,
}

/// What was captured and not yet shown.
#[derive(Default)]
pub struct Captured {
    first: Vec<Kept>,
    last: VecDeque<Kept>,
    /// Hits between the first and the last.
    dropped: u64,
    /// Hits that were over before they were read.
    missed: u64,
    /// Threads that stood there and were not told of, and may have hit it or not.
    doubtful: u64,
    /// How often each breakpoint was hit that captures.
    hits: HashMap<u32, u64>,
}

/// A line of the table.
struct Line {
    text: String,
    /// Nothing for hits that were not kept.
    data: Option<Value>,
    hits: u64,
}

impl Line {
    /// What it takes as text, and as data.
    fn sizes(&self) -> (usize, usize) {
        let data = self.data.as_ref().map(|data| data.to_string().len()).unwrap_or_default();
        (self.text.len() + 1, data + 1)
    }
}

impl Captured {
    /// What was removed meanwhile is not written down.
    pub fn push(&mut self, row: Row) {
        let Some(hit) = self.count(row.breakpoint) else { return };
        let latest = self.last.back_mut().or(self.first.last_mut());
        if let Some(latest) = latest.filter(|latest| latest.row == row && latest.hit + latest.times == hit) {
            latest.times += 1;
            return;
        }
        let kept = Kept { row, hit, times: 1 };
        if self.last.is_empty() && self.first.len() < MOST_FIRST {
            self.first.push(kept);
            return;
        }
        if self.last.len() == MOST_LAST {
            self.dropped += self.last.pop_front().map(|oldest| oldest.times).unwrap_or_default();
        }
        self.last.push_back(kept);
    }

    /// A hit of this breakpoint was over before it was read.
    pub fn miss(&mut self, breakpoint: u32) {
        if self.count(breakpoint).is_some() {
            self.missed += 1;
        }
    }

    /// A thread stands at this breakpoint that may have hit it, and is not told of.
    pub fn doubt(&mut self, breakpoint: u32) {
        self.doubtful += u64::from(self.hits.contains_key(&breakpoint));
    }

    fn count(&mut self, breakpoint: u32) -> Option<u64> {
        let hits = self.hits.get_mut(&breakpoint)?;
        *hits += 1;
        Some(*hits)
    }

    /// The program begins anew, and nothing of before is told any more.
    pub fn begin_anew(&mut self) {
        let hits = self.hits.keys().map(|breakpoint| (*breakpoint, 0)).collect();
        *self = Captured { hits, ..Captured::default() };
    }

    /// These capture, and no others any more.
    pub fn set(&mut self, breakpoints: &[u32]) {
        self.first.retain(|kept| breakpoints.contains(&kept.row.breakpoint));
        self.last.retain(|kept| breakpoints.contains(&kept.row.breakpoint));
        self.hits.retain(|breakpoint, _| breakpoints.contains(breakpoint));
        for breakpoint in breakpoints {
            self.hits.entry(*breakpoint).or_default();
        }
        if self.first.is_empty() && self.last.is_empty() {
            (self.dropped, self.missed, self.doubtful) = (0, 0, 0);
        }
    }

    /// Adds them to an answer as a table. They are shown once; `keep` puts aside what has no room, under a cursor.
    pub fn show(&mut self, reply: &mut Reply, room: Room, keep: impl FnOnce(String) -> String) {
        let lines = self.take_lines();
        let unread = self.take_unread();
        let hits: u64 = lines.iter().map(|line| line.hits).sum();
        if lines.is_empty() && unread.is_empty() {
            return;
        }
        let plural = if hits == 1 { "" } else { "s" };
        let colon = if lines.is_empty() { "" } else { ":" };
        reply.add(&format!("captured {hits} hit{plural}{unread}{colon}"));
        let (front, middle, back) = parted(lines, room);
        for line in front {
            reply.add(&line.text);
            reply.captured.extend(line.data);
        }
        match middle.as_slice() {
            [] => {}
            [gap] if gap.data.is_none() => reply.add(&gap.text),
            several => {
                let hits: u64 = several.iter().map(|line| line.hits).sum();
                let texts: Vec<_> = several.iter().map(|line| line.text.as_str()).collect();
                let cursor = keep(texts.join("\n"));
                reply.add(&format!("  ... {hits} hits between: debugger_inspect with cursor=\"{cursor}\""));
                reply.put("captured_cursor", cursor);
            }
        }
        for line in back {
            reply.add(&line.text);
            reply.captured.extend(line.data);
        }
    }

    /// Hits that are not in the table, in words.
    fn take_unread(&mut self) -> String {
        let missed = match std::mem::take(&mut self.missed) {
            0 => String::new(),
            missed => format!(", and {missed} that were over before they could be read"),
        };
        match std::mem::take(&mut self.doubtful) {
            0 => missed,
            doubtful => format!("{missed}, and up to {doubtful} more that the debugger did not tell of"),
        }
    }

    fn take_lines(&mut self) -> Vec<Line> {
        let (first, last) = (std::mem::take(&mut self.first), std::mem::take(&mut self.last));
        let threads: HashSet<Thread> = first.iter().chain(&last).map(|kept| kept.row.thread).collect();
        let line = |kept: Kept| kept.line(threads.len() > 1);
        let gap = match std::mem::take(&mut self.dropped) {
            0 => None,
            dropped => {
                Some(Line { text: format!("  ... {dropped} hits not kept ..."), data: None, hits: dropped })
            }
        };
        first.into_iter().map(line).chain(gap).chain(last.into_iter().map(line)).collect()
    }
}

impl Kept {
    fn line(self, has_thread: bool) -> Line {
        let Kept { row: Row { breakpoint, place, thread, values }, hit, times } = self;
        let mut data = json!({"breakpoint": breakpoint, "place": place, "hit": hit});
        let mut text = match times {
            1 => format!("  {breakpoint} {place} | hit {hit}"),
            _ => format!("  {breakpoint} {place} | hits {hit}-{} (x{times})", hit + times - 1),
        };
        if times > 1 {
            data["times"] = times.into();
        }
        if has_thread {
            data["thread"] = thread.number().into();
            text.push_str(&format!(" | thread {thread}"));
        }
        for (name, value) in &values {
            text.push_str(&format!(" | {name} = {value}"));
        }
        let values: serde_json::Map<_, _> =
            values.into_iter().map(|(name, value)| (name, value.into())).collect();
        data["values"] = values.into();
        Line { text, data: Some(data), hits: times }
    }
}

/// Those at both ends that there is room for, and the others. There is always the first.
fn parted(mut lines: Vec<Line>, room: Room) -> (Vec<Line>, Vec<Line>, Vec<Line>) {
    let fitting = |lines: &mut dyn Iterator<Item = &Line>, room: Room| {
        let mut used = (0, 0);
        let fits = |line: &&Line| {
            let (text, data) = line.sizes();
            used = (used.0 + text, used.1 + data);
            used.0 <= room.text && used.1 <= room.data
        };
        lines.take_while(fits).count()
    };
    if fitting(&mut lines.iter(), room) == lines.len() {
        return (lines, Vec::new(), Vec::new());
    }
    let front = fitting(&mut lines.iter(), room.share(50)).max(1);
    let back = fitting(&mut lines.iter().skip(front).rev(), room.share(50));
    let end = lines.split_off(lines.len() - back);
    let middle = lines.split_off(front);
    (lines, middle, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(breakpoint: u32, thread: i64, value: impl ToString) -> Row {
        let values = vec![("i".to_owned(), value.to_string())];
        Row { breakpoint, place: "t.py:7".to_owned(), thread: thread.into(), values }
    }

    fn capturing() -> Captured {
        let mut captured = Captured::default();
        captured.set(&[1, 2]);
        captured
    }

    fn shown(captured: &mut Captured, room: usize) -> (Reply, String) {
        let (mut reply, mut rest) = (Reply::default(), String::new());
        captured.show(&mut reply, Room::of_each(room), |text| {
            rest = text;
            "r1".to_owned()
        });
        (reply, rest)
    }

    #[test]
    fn the_first_and_the_last_hits_are_kept_and_those_between_are_counted() {
        let mut captured = capturing();
        (1..=1_000).for_each(|at| captured.push(row(1, 1, at)));
        let (reply, _) = shown(&mut captured, 100_000);
        let lines: Vec<_> = reply.text.lines().collect();
        assert_eq!((lines[0], lines.len()), ("captured 1000 hits:", 202));
        assert_eq!(lines[1], "  1 t.py:7 | hit 1 | i = 1");
        assert_eq!(
            lines[100..103],
            [
                "  1 t.py:7 | hit 100 | i = 100",
                "  ... 800 hits not kept ...",
                "  1 t.py:7 | hit 901 | i = 901"
            ]
        );
        assert_eq!(lines[201], "  1 t.py:7 | hit 1000 | i = 1000");
        assert_eq!(reply.captured.len(), 200);
        assert_eq!(shown(&mut captured, 100_000).0.text, "", "they are shown once");
        captured.push(row(1, 1, "x"));
        assert_eq!(shown(&mut captured, 100_000).0.text, "captured 1 hit:\n  1 t.py:7 | hit 1001 | i = x");
    }

    #[test]
    fn equal_rows_in_a_run_are_one_and_threads_are_named_where_there_are_several() {
        let mut captured = capturing();
        (0..246).for_each(|_| captured.push(row(2, 1, "same")));
        captured.push(row(2, 5, "same"));
        let (reply, _) = shown(&mut captured, 1_000);
        assert_eq!(
            reply.text,
            "captured 247 hits:\n  2 t.py:7 | hits 1-246 (x246) | thread 1 | i = same\n  \
             2 t.py:7 | hit 247 | thread 5 | i = same"
        );
        assert_eq!(reply.captured[0]["times"], 246);
        assert_eq!(reply.captured[1]["thread"], 5);
    }

    #[test]
    fn what_has_no_room_is_under_a_cursor_and_both_ends_are_shown() {
        let mut captured = capturing();
        (1..=50).for_each(|at| captured.push(row(1, 1, at)));
        let (reply, rest) = shown(&mut captured, 300);
        let lines: Vec<_> = reply.text.lines().collect();
        assert!(lines[1].contains("hit 1 ") && lines.last().is_some_and(|last| last.contains("hit 50 ")));
        let hidden = 50 - (lines.len() - 2);
        let said = format!("  ... {hidden} hits between: debugger_inspect with cursor=\"r1\"");
        assert!(lines.contains(&said.as_str()), "{}", reply.text);
        assert_eq!(rest.lines().count(), hidden);
        assert!(reply.text.len() < 400 && reply.data()["captured_cursor"] == "r1");
    }

    #[test]
    fn a_hit_that_was_missed_is_counted_and_folds_nothing_over_it() {
        let mut captured = capturing();
        captured.push(row(1, 1, 0));
        captured.miss(1);
        captured.push(row(1, 1, 0));
        let (reply, _) = shown(&mut captured, 1_000);
        assert_eq!(
            reply.text,
            "captured 2 hits, and 1 that were over before they could be read:\n  \
             1 t.py:7 | hit 1 | i = 0\n  1 t.py:7 | hit 3 | i = 0"
        );
    }

    #[test]
    fn hits_in_doubt_are_told_without_being_counted() {
        let mut captured = capturing();
        captured.doubt(9);
        captured.push(row(1, 1, 0));
        captured.doubt(1);
        let (reply, _) = shown(&mut captured, 1_000);
        assert!(
            reply.text.starts_with("captured 1 hit, and up to 1 more that the debugger did not tell of:")
        );
        assert_eq!(shown(&mut captured, 1_000).0, Reply::default());
    }

    #[test]
    fn rows_go_with_their_breakpoint_and_with_the_program() {
        let mut captured = capturing();
        captured.push(row(1, 1, 0));
        captured.push(row(2, 1, 0));
        captured.set(&[2]);
        captured.push(row(1, 1, 0));
        assert!(!shown(&mut captured, 1_000).0.text.contains("  1 t.py"));
        captured.push(row(2, 1, 0));
        captured.begin_anew();
        assert_eq!(shown(&mut captured, 1_000).0, Reply::default());
        captured.push(row(2, 1, 0));
        assert!(shown(&mut captured, 1_000).0.text.contains("hit 1 "));
    }
}
