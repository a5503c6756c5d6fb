//! Which frame of a stack an agent wants to see: a crash ends in the runtime, and what led to it is in the project.

use std::path::Path;

use breakroom_client::model::Frame;
use serde_json::Value;

use crate::failure::Failure;
use crate::session::seen::{Stop, Thread};
use crate::session::{MOST_FRAMES, Session};
use crate::telling::budget::line;
use crate::telling::snapshot::{frame_data, in_stack};

/// Folders of what nobody debugs here. `/usr/src/app` is where projects are in containers.
const OF_OTHERS: &[&str] = &[
    "/rustc/",
    "/rustlib/",
    "/.cargo/registry/",
    "/usr/include/",
    "/usr/lib/",
    "/usr/src/debug/",
    "/usr/src/kernels/",
    "/usr/src/linux-",
    "/usr/src/rustc-",
    "/lib/python",
    "/lib/ruby/",
    "/site-packages/",
    "/dist-packages/",
    "/node_modules/",
];
/// How functions are called that have no code of the language: Ruby's are where their callers are, and have no variables.
const WITHOUT_CODE: &[&str] = &["[C] "];
/// Where a thread stands by somebody's wish, its top is meant.
const WISHED: &[&str] = &["step", "breakpoint", "entry", "goto"];
const LONGEST_NAME: usize = 80;

/// A line of a stack: a frame, or a few that nobody asks for.
pub struct Row {
    pub text: String,
    pub data: Option<Value>,
    /// The number of the frame behind it.
    pub next: usize,
}

/// Whether it is neither of a runtime nor of a library. Where the session's folder itself is, says nothing of what is in it.
pub fn is_own(frame: &Frame, cwd: &Path) -> bool {
    let path = frame.source.as_ref().and_then(|source| source.path.as_deref());
    let Some(path) = path.filter(|_| !frame.subtle && !frame.is_label) else { return false };
    let has_code = WITHOUT_CODE.iter().all(|begin| !frame.name.starts_with(begin));
    let of_go = path.contains("/src/runtime/") && (path.ends_with(".go") || path.ends_with(".s"));
    // With the separator, by which such folders begin.
    let below = path.strip_prefix(cwd.to_string_lossy().trim_end_matches('/'));
    let below = below.filter(|below| below.starts_with('/')).unwrap_or(path);
    has_code && !of_go && OF_OTHERS.iter().all(|folder| !below.contains(folder)) && Path::new(path).is_file()
}

/// The number of the frame that is shown where none is named.
pub fn shown(reason: &str, frames: &[Frame], cwd: &Path) -> usize {
    let top = frames.iter().position(|frame| !frame.is_label).unwrap_or(0);
    if WISHED.iter().any(|wished| reason.ends_with(wished)) {
        return top;
    }
    frames.iter().position(|frame| is_own(frame, cwd)).unwrap_or(top)
}

/// A stack whose frames of others are folded. They are numbered as in the whole.
pub fn rows(frames: &[Frame], shown: usize, cwd: &Path) -> Vec<Row> {
    let own: Vec<bool> = frames.iter().map(|frame| is_own(frame, cwd)).collect();
    let none_is_own = own.iter().all(|own| !own);
    let stays = |at: usize| none_is_own || own[at] || at == shown || frames[at].is_label;
    let mut rows = Vec::new();
    let mut at = 0;
    while at < frames.len() {
        let end = (at..frames.len()).find(|at| stays(*at)).unwrap_or(frames.len());
        if end - at > 1 {
            let (count, last, name) = (end - at, end - 1, line(&frames[at].name, LONGEST_NAME));
            let text = format!("  #{at}-#{last} {count} frames of the runtime or libraries: {name} ...");
            rows.push(Row { text, data: None, next: end });
            at = end;
            continue;
        }
        let mut data = frame_data(&frames[at], cwd);
        data["frame_id"] = at.into();
        rows.push(Row { text: in_stack(at, &frames[at], cwd), data: Some(data), next: at + 1 });
        at += 1;
    }
    rows
}

impl Session {
    /// The frame that calls are about: the one they name, or the one that the stop was shown with.
    pub async fn frame_meant(&self, thread: Option<Thread>, index: Option<i64>) -> Result<Frame, Failure> {
        if let Some(index) = index {
            return self.frame(thread, index).await;
        }
        let stop = self.standing(thread)?;
        match self.frame_shown(&stop).await? {
            Some(frame) => Ok(frame),
            None => self.frame(thread, 0).await,
        }
    }

    /// The frame that this stop is shown with.
    pub async fn frame_shown(&self, stop: &Stop) -> Result<Option<Frame>, Failure> {
        let (mut frames, _) = self.stack(stop.thread, 0, MOST_FRAMES).await?;
        let at = shown(&stop.reason, &frames, &self.cwd);
        Ok((at < frames.len()).then(|| frames.swap_remove(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frames(places: &[(&str, &str)]) -> Vec<Frame> {
        let read = |(at, (name, path)): (usize, &(&str, &str))| {
            Frame::read(&json!({"id": at, "name": name, "line": 7, "source": {"path": path}})).unwrap()
        };
        places.iter().enumerate().map(read).collect()
    }

    /// A file that there is.
    fn own() -> String {
        cwd().join("src/lib.rs").to_string_lossy().into_owned()
    }

    fn cwd() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn a_crash_is_shown_where_the_project_led_to_it_and_a_step_where_it_ended() {
        let own = own();
        let stack = frames(&[
            ("rust_panic", "/rustc/59807/library/std/src/panicking.rs"),
            ("panic_fmt", "/rustc/59807/library/core/src/panicking.rs"),
            ("gone", "/no/such/file.rs"),
            ("sum", &own),
            ("main", &own),
        ]);
        assert_eq!(shown("exception", &stack, cwd()), 3);
        assert_eq!(shown("pause", &stack, cwd()), 3);
        assert_eq!(shown("step", &stack, cwd()), 0);
        assert_eq!(shown("function breakpoint", &stack, cwd()), 0);
        assert_eq!(shown("exception", &stack[..3], cwd()), 0, "there is nothing better");
        assert_eq!(shown("exception", &[], cwd()), 0);
    }

    #[test]
    fn a_project_is_known_as_one_wherever_it_is_and_the_libraries_in_it_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path().join("usr/lib/python/app");
        let is_own = |below: &str, cwd: &Path| {
            let file = project.join(below);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(&file, "").expect("written");
            is_own(&frames(&[("f", &file.to_string_lossy())])[0], cwd)
        };
        assert!(is_own("main.py", &project));
        assert!(!is_own("node_modules/x/index.js", &project));
        assert!(!is_own("main.py", Path::new("/")), "everything is below this one");
        assert!(!is_own("main.py", &folder.path().join("usr/lib/python/ap")), "only its name begins so");
        // Where it is attached to, nothing says in which folder it is at work.
        assert!(OF_OTHERS.iter().all(|folder| !"/usr/src/app/server.js".contains(folder)));
    }

    #[test]
    fn what_waits_in_a_function_without_code_is_shown_where_that_was_called() {
        let own = own();
        let stack = frames(&[("[C] Kernel#sleep", &own), ("<main>", &own)]);
        assert_eq!((shown("pause", &stack, cwd()), shown("breakpoint", &stack, cwd())), (1, 0));
    }

    #[test]
    fn frames_of_others_are_folded_and_the_rest_keeps_its_numbers() {
        let own = own();
        let stack = frames(&[
            ("fatalpanic", "/opt/go/src/runtime/panic.go"),
            ("gopanic", "/opt/go/src/runtime/panic.go"),
            ("f", &own),
            ("goexit", "/opt/go/src/runtime/asm_amd64.s"),
        ]);
        let texts = |shown: usize| -> Vec<String> {
            rows(&stack, shown, cwd()).into_iter().map(|row| row.text).collect()
        };
        assert_eq!(
            texts(2),
            [
                "  #0-#1 2 frames of the runtime or libraries: fatalpanic ...",
                "  #2 f src/lib.rs:7",
                "  #3 goexit runtime/asm_amd64.s:7",
            ]
        );
        assert_eq!(texts(0)[0], "  #0 fatalpanic runtime/panic.go:7", "the one that is shown stays");
        assert_eq!(rows(&stack[..2], 0, Path::new("/")).len(), 2, "there is nothing else to see");
    }
}
