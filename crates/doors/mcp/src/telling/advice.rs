//! What to do next where a program has ended and never stopped: an agent that only reads that it is over runs it once more
//! and learns as little. One line, and only if there is something to say.

use std::ffi::OsStr;
use std::path::Path;

use breakroom_client::Request;
use serde_json::Value;

use crate::Wanted;
use crate::breakpoints::filters::Filters;
use crate::breakpoints::{Breakpoint, State};
use crate::session::Session;
use crate::session::seen::Epoch;
use crate::telling::source::read;

/// What tools that run tests are called.
const RUNNERS: [&str; 4] = ["pytest", "py.test", "unittest", "nose2"];

/// Of a breakpoint that was in nothing that the program loaded, where the debugger has no part in what it starts.
const UNFOLLOWED: &str = "nothing that it loaded has that line, and this debugger does not follow child processes: debug the one that has it by itself";

/// As much of the end of the output says how it ended.
const LOOKED_AT: usize = 8_192;

/// What programs print that failed where no filter catches it, and the way to stop there.
const SIGNS: &[(&[&str], &str)] = &[
    // Go
    (
        &["--- FAIL: "],
        "breakpoints=[{\"function\":\"testing.(*common).Fail\"}] stops where a test fails; the test is further up the stack",
    ),
    // node --test
    (
        &["'ERR_ASSERTION'"],
        "exceptions=[\"all\"] with launch={\"skipFiles\":[]} stops where an assertion fails",
    ),
    // Mocha, Jest, Vitest, Minitest and RSpec, under which much more is raised than what fails
    (
        &[" failing\n", "Test Suites: ", "Test Files  ", " assertions/s.", "Failed examples:"],
        "breakpoints=[\"FILE:LINE\"] stops at the line that the failure names",
    ),
    (
        &["RecursionError: "],
        "Python's debugger cannot stop at this exception: set a breakpoint in the function with hit_count=\"100\"",
    ),
];

/// Whether a launch runs tests: what they raise is caught, and ends nothing.
pub fn runs_tests(launch: &Value) -> bool {
    let program = launch["program"].as_str().and_then(|program| program.rsplit('/').next());
    let names = [launch["module"].as_str(), program];
    names.into_iter().flatten().any(|name| RUNNERS.contains(&name) || is_test_of_python(name))
}

/// As pytest finds them.
fn is_test_of_python(file: &str) -> bool {
    file.strip_suffix(".py").is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
}

impl Session {
    /// Nothing if it stopped, or was ended by whoever asks.
    pub fn advice(&self) -> Option<String> {
        let (is_failed, output) = {
            let seen = self.seen();
            // The end is an epoch of its own, and what is captured is a hit.
            let never_stopped = seen.threads.epoch() <= Epoch(1) && !seen.run.has_hits();
            if !seen.life.has_ended_by_itself() || !never_stopped {
                return None;
            }
            (
                seen.life.exit_code().is_some_and(|code| code != 0),
                seen.journal.output.latest(0, LOOKED_AT).text,
            )
        };
        if self.request != Request::Launch {
            return None;
        }
        let says = |(signs, _): &&(&[&str], &str)| signs.iter().any(|sign| output.contains(sign));
        let sign = SIGNS.iter().find(|row| is_failed && says(row));
        let words = match sign {
            Some((_, words)) => vec![(*words).to_owned()],
            None => {
                [self.unreached(), self.uncaught(is_failed), self.untested()].into_iter().flatten().collect()
            }
        };
        (!words.is_empty()).then(|| format!("Next: it never stopped. {}.", words.join("; ")))
    }

    /// Breakpoints that it did not come to.
    fn unreached(&self) -> Option<String> {
        let breakpoints = self.breakpoints.try_lock().ok()?;
        let run_freely = self.seen().children_run_freely;
        // Debuggers write messages without a word about it. Why one was rejected is said, and what its condition may have to
        // do with it.
        let is_plain = |one: &&Breakpoint| one.terms.log.is_none() && one.terms.condition.is_none();
        // What a child has, some debuggers reject for the program itself.
        let may_be_a_childs = |one: &Breakpoint| {
            let is_nowhere = matches!(one.truth.state, State::Pending | State::Rejected);
            run_freely && is_nowhere && one.refused.is_none()
        };
        let may_be_hit = |one: &&Breakpoint| one.truth.state != State::Rejected || may_be_a_childs(one);
        let mut unreached = breakpoints.all.iter().filter(is_plain).filter(may_be_hit);
        let first = unreached.next()?;
        let how = match first.terms.hits.is_none() {
            true if may_be_a_childs(first) => UNFOLLOWED,
            true => "set one earlier on the way there",
            false => "without its hit_count it may be",
        };
        let more = unreached.count();
        let more = if more > 0 { format!(", nor {more} more") } else { String::new() };
        Some(format!("breakpoint {} was never hit{more}: {how}", first.place()))
    }

    /// Filters that were not on, of a program that failed.
    fn uncaught(&self, is_failed: bool) -> Option<String> {
        let known = Filters::of(self).filter(|_| is_failed)?;
        let on = known.on(self.exceptions(), self.runs_tests).ok()?;
        let off: Vec<String> = known
            .names()
            .into_iter()
            .filter(|name| !on.contains(name))
            .map(|name| format!("{name:?}"))
            .collect();
        let how = "debugger_start with exceptions=[...] stops also at exceptions that are caught";
        (!off.is_empty()).then(|| format!("{how}: {}", off.join(", ")))
    }

    /// A file of tests that only defines them.
    fn untested(&self) -> Option<String> {
        let Wanted::Launch(launch) = &self.wanted else { return None };
        let program = launch.program.as_deref()?;
        is_untested(&self.path(program))
            .then(|| format!("program=\"pytest {program}\" runs the tests of this file"))
    }
}

/// Its name is asked first: an executable may have a gigabyte, and nobody else is served while it is read.
fn is_untested(program: &Path) -> bool {
    let is_test = program.file_name().and_then(OsStr::to_str).is_some_and(is_test_of_python);
    is_test && read(program).is_ok_and(|text| !text.contains("__main__"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_of_tests_that_runs_none_is_found_and_nothing_else_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).expect("written");
            file
        };
        assert!(is_untested(&write("test_a.py", "def test_a(): pass\n")));
        assert!(!is_untested(&write("test_b.py", "if __name__ == '__main__': pass\n")));
        assert!(!is_untested(&write("shop.py", "")));
        // Whoever reads a pipe waits for whoever writes into it.
        for name in ["server", "test_pipe.py"] {
            let pipe = folder.path().join(name);
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
            let (says, said) = std::sync::mpsc::channel();
            std::thread::spawn(move || says.send(is_untested(&pipe)));
            assert_eq!(said.recv_timeout(std::time::Duration::from_secs(60)), Ok(false), "{name}");
        }
    }

    #[test]
    fn tests_are_run_by_what_is_known_to_and_by_files_that_are_called_so() {
        for launch in [
            json!({"module": "pytest", "args": ["x"]}),
            json!({"module": "unittest"}),
            json!({"program": "/p/.venv/bin/pytest"}),
            json!({"program": "/p/tests/test_shop.py"}),
            json!({"program": "shop_test.py"}),
        ] {
            assert!(runs_tests(&launch), "{launch}");
        }
        for launch in [json!({"program": "/p/latest.py"}), json!({"program": "/pytest/run.py"}), json!({})] {
            assert!(!runs_tests(&launch), "{launch}");
        }
    }
}
