//! Tracebacks as a program prints them, without the debugger's own frames.
//!
//! Under the debugger every uncaught error begins in debugpy, which started the program, and passes through what debugpy
//! put in the place of functions of Python's own. None of that is the program's. Text that is no traceback is not touched,
//! and nothing of it is kept back but the beginning of a line that may become one.

use std::path::Path;

/// How a traceback begins, and what its lines have before them: those of a group of errors have a margin.
const HEADS: [(&str, &str); 2] = [
    ("Traceback (most recent call last):\n", ""),
    ("  + Exception Group Traceback (most recent call last):\n", "  | "),
];
const FILE: &str = "  File \"";
/// What belongs to a frame: its line of source, marks under it, how often it is repeated.
const BELOW: &str = "  ";
/// No line of a traceback is longer; one that is, is passed on as it is.
const LONGEST: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Tracebacks {
    /// How the name of a file of the debugger begins.
    folder: String,
    state: State,
    /// A line that is not complete.
    begun: String,
    /// Frames of Python's `runpy`, which are the debugger's if one of its own follows.
    undecided: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside(Line),
    /// In a traceback with this margin: what becomes of the lines below the frame that was last.
    Inside(&'static str, Frame),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    AtItsStart,
    Within,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// There was none of the program's yet.
    NoneYet,
    Undecided,
    /// Of the debugger, before any of the program's or behind one.
    Dropped {
        first: bool,
    },
    Kept,
}

impl Tracebacks {
    pub fn new(debugpy: &Path) -> Tracebacks {
        Tracebacks {
            folder: format!("{}/", debugpy.to_string_lossy()),
            state: State::Outside(Line::AtItsStart),
            begun: String::new(),
            undecided: String::new(),
        }
    }

    /// What of this, and of what came before, is to be shown.
    pub fn feed(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for piece in text.split_inclusive('\n') {
            self.begun.push_str(piece);
            if self.begun.ends_with('\n') || self.begun.len() > LONGEST || self.cannot_matter() {
                let line = std::mem::take(&mut self.begun);
                self.line(&line, &mut shown);
            }
        }
        shown
    }

    /// Nothing more comes.
    pub fn rest(mut self) -> String {
        self.undecided + &std::mem::take(&mut self.begun)
    }

    fn cannot_matter(&self) -> bool {
        match self.state {
            State::Outside(Line::Within) => true,
            State::Outside(Line::AtItsStart) => !HEADS.iter().any(|(head, _)| head.starts_with(&self.begun)),
            State::Inside(..) => false,
        }
    }

    fn line(&mut self, line: &str, shown: &mut String) {
        self.state = match self.state {
            State::Outside(at) => {
                shown.push_str(line);
                let begins = HEADS.iter().find(|(head, _)| at == Line::AtItsStart && line == *head);
                begins.map_or_else(|| outside(line), |(_, margin)| State::Inside(margin, Frame::NoneYet))
            }
            State::Inside(margin, frame) => match self.in_traceback(margin, frame, line, shown) {
                Some(frame) => State::Inside(margin, frame),
                None => {
                    shown.push_str(&std::mem::take(&mut self.undecided));
                    shown.push_str(line);
                    outside(line)
                }
            },
        };
    }

    /// None when the traceback is over.
    fn in_traceback(&mut self, margin: &str, frame: Frame, line: &str, shown: &mut String) -> Option<Frame> {
        let said = line.strip_prefix(margin)?;
        let first = matches!(frame, Frame::NoneYet | Frame::Undecided | Frame::Dropped { first: true });
        let Some(place) = said.strip_prefix(FILE) else {
            match frame {
                Frame::Dropped { .. } if is_of_frame(said) => {}
                // Another thread's, which may print between two lines of ours. What follows it may be too.
                Frame::Dropped { .. } if said.starts_with(BELOW) => {
                    shown.push_str(line);
                    return Some(Frame::Kept);
                }
                Frame::Undecided if said.starts_with(BELOW) => self.undecided.push_str(line),
                Frame::Kept if said.starts_with(BELOW) => shown.push_str(line),
                _ => return None,
            }
            return Some(frame);
        };
        if place.starts_with(&self.folder) {
            self.undecided.clear();
            return Some(Frame::Dropped { first });
        }
        if first && is_runpy(place) {
            self.undecided.push_str(line);
            return Some(Frame::Undecided);
        }
        shown.push_str(&std::mem::take(&mut self.undecided));
        shown.push_str(line);
        Some(Frame::Kept)
    }
}

fn outside(line: &str) -> State {
    State::Outside(if line.ends_with('\n') { Line::AtItsStart } else { Line::Within })
}

/// Whether a line is like the source of a frame, the marks under it, or how often it is repeated.
fn is_of_frame(line: &str) -> bool {
    line.starts_with("    ") || line.starts_with("  [Previous line repeated ")
}

fn is_runpy(place: &str) -> bool {
    place.split('"').next().is_some_and(|file| file.ends_with("/runpy.py") || file == "<frozen runpy>")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "before\nTraceback (most recent call last):\n  \
        File \"<frozen runpy>\", line 198, in _run_module_as_main\n  \
        File \"/usr/lib/python3.11/runpy.py\", line 88, in _run_code\n    exec(code, run_globals)\n  \
        File \"/d/debugpy/__main__.py\", line 71, in <module>\n    cli.main()\n    ^^^^\n  \
        File \"/d/debugpy/../debugpy/server/cli.py\", line 377, in run_file\n    runpy.run_path(target)\n  \
        File \"/p/a.py\", line 3, in <module>\n    f()\n  \
        File \"/usr/lib/python3.11/runpy.py\", line 88, in _run_code\n    exec(code)\n  \
        File \"/d/debugpy/_vendored/pydev_monkey.py\", line 5, in new\n    old()\n  \
        [Previous line repeated 3 more times]\n\
        ValueError: boom\n  not a frame\nTraceback is what this is";
    const SHOWN: &str = "before\nTraceback (most recent call last):\n  \
        File \"/p/a.py\", line 3, in <module>\n    f()\n  \
        File \"/usr/lib/python3.11/runpy.py\", line 88, in _run_code\n    exec(code)\n\
        ValueError: boom\n  not a frame\nTraceback is what this is";

    fn shown(text: &str, piece: usize) -> String {
        let mut tracebacks = Tracebacks::new(Path::new("/d/debugpy"));
        let characters: Vec<char> = text.chars().collect();
        let mut shown = String::new();
        for piece in characters.chunks(piece) {
            shown += &tracebacks.feed(&piece.iter().collect::<String>());
        }
        shown + &tracebacks.rest()
    }

    #[test]
    fn only_the_debuggers_frames_are_left_out_however_the_text_comes() {
        for piece in [1, 2, 7, 100, 10_000] {
            assert_eq!(shown(PRINTED, piece), SHOWN, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_group_of_errors_begins_in_the_program_too() {
        let text = "  + Exception Group Traceback (most recent call last):\n  \
            |   File \"<frozen runpy>\", line 198, in _run_module_as_main\n  \
            |   File \"/d/debugpy/__main__.py\", line 71, in <module>\n  |     cli.main()\n  \
            |   File \"/p/a.py\", line 3, in <module>\n  |     f()\n  | ExceptionGroup: two (2 sub-exceptions)\n  \
            +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    \
            |   File \"/p/a.py\", line 2, in <module>\n    | ValueError: 1\n    +------------------------------------\n";
        let left = "  + Exception Group Traceback (most recent call last):\n  \
            |   File \"/p/a.py\", line 3, in <module>\n  |     f()\n  | ExceptionGroup: two (2 sub-exceptions)\n  \
            +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    \
            |   File \"/p/a.py\", line 2, in <module>\n    | ValueError: 1\n    +------------------------------------\n";
        for piece in [1, 3, 10_000] {
            assert_eq!(shown(text, piece), left, "in pieces of {piece}");
        }
    }

    #[test]
    fn what_another_thread_prints_behind_a_frame_that_is_left_out_stays() {
        let text = "Traceback (most recent call last):\n  \
            File \"/d/debugpy/__main__.py\", line 71, in <module>\n    cli.main()\n    ^^^^\n  mine\n    mine too\n  \
            File \"/p/a.py\", line 3, in <module>\n    f()\nKeyError: 1\n";
        let left = "Traceback (most recent call last):\n  mine\n    mine too\n  \
            File \"/p/a.py\", line 3, in <module>\n    f()\nKeyError: 1\n";
        assert_eq!(shown(text, 5), left);
    }

    #[test]
    fn text_that_is_no_traceback_is_passed_on_at_once() {
        let mut tracebacks = Tracebacks::new(Path::new("/d/debugpy"));
        assert_eq!(tracebacks.feed("Tra"), "");
        assert_eq!(tracebacks.feed("iler"), "Trailer");
        assert_eq!(tracebacks.feed("Traceback (most"), "Traceback (most");
        assert_eq!(tracebacks.feed("\nname: "), "\nname: ");
    }

    #[test]
    fn what_is_all_of_the_programs_stays_as_it_is() {
        let own = "Traceback (most recent call last):\n  \
            File \"/usr/lib/python3.11/runpy.py\", line 8, in _run_code\n    exec(code)\n  \
            File \"/p/a.py\", line 3, in <module>\n    f()\nKeyError: 1\n\n\
            During handling of the above exception, another exception occurred:\n\n\
            Traceback (most recent call last):\n  File \"/p/a.py\", line 9\n    x =\n       ^\nSyntaxError: no";
        assert_eq!(shown(own, 3), own);
    }
}
