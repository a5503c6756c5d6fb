//! Pauses that were asked for and have not come. In the process of each, whatever stops next is as good as any.

use crate::session::stops::{Stop, Thread, process};

#[derive(Default)]
pub struct Pausing(Vec<Pause>);

struct Pause {
    thread: Thread,
    /// Where there are several and it is known.
    process: Option<String>,
}

impl Pause {
    fn is_with(&self, stop: &Stop) -> bool {
        let same = self.process.as_deref().zip(process(&stop.description)).is_none_or(|(a, b)| a == b);
        self.thread == stop.thread || same
    }
}

impl Pausing {
    /// `name` is the thread's, as the hub lists it.
    pub fn ask(&mut self, thread: Thread, name: &str) {
        self.0.push(Pause { thread, process: process(name).map(str::to_owned) });
    }

    /// Nothing will come of it: it was refused, or the thread is gone.
    pub fn take_back(&mut self, thread: Thread) {
        self.0.retain(|pause| pause.thread != thread);
    }

    pub fn has(&self, stop: &Stop) -> bool {
        self.0.iter().any(|pause| pause.is_with(stop))
    }

    pub fn came(&mut self, stop: &Stop) {
        self.0.retain(|pause| !pause.is_with(stop));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(thread: i64, description: &str) -> Stop {
        Stop { thread: thread.into(), description: description.to_owned(), ..Stop::default() }
    }

    #[test]
    fn a_pause_is_of_one_process_and_comes_once() {
        let mut pausing = Pausing::default();
        pausing.ask(1.into(), "MainThread [a]");
        pausing.ask(7.into(), "MainThread [c]");
        assert!(pausing.has(&stop(2, "breakpoint [a]")) && !pausing.has(&stop(3, "breakpoint [b]")));
        pausing.came(&stop(3, "breakpoint [b]"));
        assert!(pausing.has(&stop(1, "pause [a]")));
        pausing.came(&stop(1, "pause [a]"));
        assert!(!pausing.has(&stop(1, "breakpoint [a]")) && pausing.has(&stop(7, "breakpoint [c]")));
        pausing.take_back(7.into());
        assert!(!pausing.has(&stop(7, "breakpoint [c]")));
    }

    #[test]
    fn where_processes_have_no_names_a_pause_is_of_all() {
        let mut pausing = Pausing::default();
        pausing.ask(1.into(), "");
        assert!(pausing.has(&stop(2, "breakpoint")) && pausing.has(&stop(3, "breakpoint [b]")));
    }
}
