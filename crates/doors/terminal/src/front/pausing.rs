//! Programs that are told to stop: at the beginning, by a command, by Ctrl-C; and what is said of one that does not.
//!
//! Debuggers stop a program where it executes something of its own. One that waits inside of a library may never get there.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Request;
use crate::error::Error;
use crate::front::threads::Why;
use crate::front::{Front, Position, ProgramInput};
use breakroom_client::Happening;
use breakroom_client::model::ThreadId;

/// How long a program that was attached to is waited for before it is asked again to stop, and how often.
const PAUSE_AGAIN: Duration = Duration::from_secs(2);
const MOST_PAUSES: usize = 5;
/// Who waits longer than this for the stop wonders whether it was heard.
const SOON: Duration = Duration::from_millis(1500);
/// How long a thread that is paused while another is looked at keeps the next command waiting.
const PAUSE_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PauseAsked {
    No,
    Yes {
        at: Instant,
    },
    /// It was said that no stop has come of it.
    InVain,
}

impl<O: Write> Front<'_, O> {
    pub(super) fn is_told_to_stop(&self) -> bool {
        matches!(self.position, Position::Running { pause: PauseAsked::Yes { .. } | PauseAsked::InVain, .. })
    }

    pub(super) fn pause(&mut self) -> Result<(), Error> {
        if self.observes() {
            return Err(Error::OnlyObserves { what: "pause" });
        }
        let thread = self.thread_to_pause()?;
        self.client.request("pause", json!({"threadId": thread.0}))?;
        self.await_stop(thread, Why::Itself);
        self.note_pause();
        Ok(())
    }

    /// The first Ctrl-C. Whatever becomes of it, the next one leaves.
    pub(super) fn pause_by_interrupt(&mut self) -> Result<(), Error> {
        self.client.leave_at_next_interrupt(true);
        let paused = self.pause();
        self.client.leave_at_next_interrupt(false);
        match paused {
            Err(error) if error.is_passing() => {
                if let Position::Running { pause, .. } = &mut self.position {
                    *pause = PauseAsked::InVain;
                }
                self.screen.complain(&error.to_string())?;
                let parting = self.parting();
                self.screen.murmur(&format!("another Ctrl-C leaves{parting}"))
            }
            paused => paused,
        }
    }

    /// What leaving does to the program.
    fn parting(&self) -> &'static str {
        match self.setup.request {
            Request::Launch => ", and ends it unless somebody else is here",
            Request::Attach => ", and lets it run on",
            Request::Join => "",
        }
    }

    fn note_pause(&mut self) {
        if let Position::Running { pause: pause @ PauseAsked::No, .. } = &mut self.position {
            *pause = PauseAsked::Yes { at: Instant::now() };
        }
    }

    /// The one that was looked at last, if it is still there: in a tree each node is paused by itself.
    fn thread_to_pause(&mut self) -> Result<ThreadId, Error> {
        let listed = self.thread_ids()?;
        let last = self.last_step.as_ref().map(|(_, thread)| *thread);
        match last.filter(|last| listed.contains(last)) {
            Some(last) => Ok(last),
            None => self.any_thread(),
        }
    }

    pub(super) fn pause_thread(&mut self, thread: ThreadId) -> Result<(), Error> {
        if self.threads.stands(thread) {
            return self.screen.say(&format!("thread {} is stopped already", thread.0));
        }
        self.client.request("pause", json!({"threadId": thread.0}))?;
        if let Position::Running { .. } = self.position {
            self.note_pause();
            self.await_stop(thread, Why::Itself);
            return Ok(());
        }
        // What comes next may be about it, and at a prompt nothing waits for its stop.
        let end = Instant::now() + PAUSE_PATIENCE;
        while !self.threads.stands(thread)
            && self.client.happens_within(end.saturating_duration_since(Instant::now()))
        {
            self.take_in_what_happened()?;
        }
        Ok(())
    }

    /// A program that ends meanwhile needs no pause.
    pub(super) fn pause_what_has_begun(&mut self) -> Result<(), Error> {
        match self.await_thread().and_then(|()| self.pause_at_the_beginning()) {
            Err(error) if error.is_loss() => Ok(()),
            paused => paused,
        }
    }

    /// lldb-dap loses a pause that comes while it lets the process go on after the attach, so it is asked again.
    fn pause_at_the_beginning(&mut self) -> Result<(), Error> {
        for _ in 0..MOST_PAUSES {
            match self.pause() {
                Ok(()) => {}
                // It may be stopped already, or over, and then there is nothing to pause.
                Err(error) if error.is_passing() => return Ok(()),
                Err(error) => return Err(error),
            }
            if self.stops_within(PAUSE_AGAIN) {
                return Ok(());
            }
            self.say_that_it_does_not_stop()?;
        }
        Ok(())
    }

    /// Whether the program stops or ends in this time, or somebody has enough of it; what comes is kept.
    fn stops_within(&mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let is_it = |happening: &Happening| match happening {
            Happening::Event(event) => ["stopped", "terminated"].contains(&event.name.as_str()),
            Happening::Interrupt | Happening::Leave | Happening::Disconnected { .. } => true,
            Happening::Typed(_) | Happening::Answered(_) => false,
        };
        loop {
            if self.client.waiting().any(is_it) {
                return true;
            }
            if self.client.receive(Some(deadline), "a stop", patience).is_err() {
                return false;
            }
        }
    }

    /// When a person who wants the program to stop is to be told that it does not.
    pub(super) fn patience_ends(&self) -> Option<Instant> {
        match self.position {
            Position::Running { pause: PauseAsked::Yes { at }, .. } if self.setup.interactive => {
                Some(at + SOON)
            }
            _ => None,
        }
    }

    pub(super) fn say_that_it_does_not_stop(&mut self) -> Result<(), Error> {
        let Position::Running { pause: pause @ PauseAsked::Yes { .. }, .. } = &mut self.position else {
            return Ok(());
        };
        *pause = PauseAsked::InVain;
        if !self.setup.interactive {
            return Ok(());
        }
        let parting = self.parting();
        // It may be waiting for just that.
        let reads = match self.takes_input() && self.input == ProgramInput::Open {
            true => "`input TEXT` gives it a line to read, and ",
            false => "",
        };
        self.screen.murmur(&format!(
            "it was told to stop and has not yet: it may be waiting in code that is not its own, and stops where that is left.\n\
             {reads}`break`, `threads` and `quit` work meanwhile; another Ctrl-C leaves{parting}"
        ))
    }
}
