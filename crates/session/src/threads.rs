//! Which threads run, which are stopped, and in which epoch.
//!
//! An epoch is one stop, or one run, of one thread: whatever an engine numbers in it means nothing later.
//! A resume is tentative until the engine commits to it; if it fails, the stop and its ids come back.

use std::collections::HashMap;

use crate::ids::ClientId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct Epoch(u64);

/// How long a reference stays valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Life {
    /// Until this thread is resumed or stops again.
    Thread(i64, Epoch),
    /// Until anything is resumed: results of an evaluation outside any frame.
    Stop(Epoch),
    /// As long as the session: objects that an engine printed to the console.
    Session,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running {
        epoch: Epoch,
        by: Option<ClientId>,
    },
    Stopped {
        epoch: Epoch,
    },
    /// A resume was sent and the engine has not committed to it.
    Resuming {
        from: Epoch,
        by: ClientId,
        resume: Resume,
    },
    /// The same, but its client does not wait for the answer any more: to clients the thread is stopped.
    GivenUp {
        from: Epoch,
        resume: Resume,
    },
}

/// One request that resumes. A client may have several under way, each for a thread of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resume {
    number: u64,
    asked: Believed,
}

/// What was known of the thread when its resume was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Believed {
    Stopped,
    /// It may stop before the engine comes to the request, which then ends that very stop.
    Running,
}

impl State {
    fn epoch(self) -> Epoch {
        match self {
            State::Running { epoch, .. }
            | State::Stopped { epoch }
            | State::Resuming { from: epoch, .. }
            | State::GivenUp { from: epoch, .. } => epoch,
        }
    }

    /// Whether it is stopped, and no client is about to let it run.
    fn stands(self) -> bool {
        matches!(self, State::Stopped { .. } | State::GivenUp { .. })
    }

    /// Whether an answer to this resume is still to come.
    fn waits_for(self, wanted: Resume) -> bool {
        matches!(self, State::Resuming { resume, .. } | State::GivenUp { resume, .. } if resume == wanted)
    }
}

/// The thread is not stopped, because this client resumed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResumedBy(pub ClientId);

#[derive(Debug)]
pub(crate) struct Threads {
    /// State of every thread that is not in `known`.
    others: State,
    known: HashMap<i64, State>,
    /// Threads that a step is under way in; such a step ends with the next stop, whatever it is.
    steps: HashMap<i64, Resume>,
    /// Ended by any resume.
    stop: Epoch,
    /// Whose the last stop was, if the engine said so.
    stopped_last: Option<i64>,
    last: u64,
}

impl Default for Threads {
    fn default() -> Self {
        let first = Epoch(0);
        Threads {
            others: State::Running { epoch: first, by: None },
            known: HashMap::new(),
            steps: HashMap::new(),
            stop: first,
            stopped_last: None,
            last: 0,
        }
    }
}

impl Threads {
    fn next_epoch(&mut self) -> Epoch {
        self.last += 1;
        Epoch(self.last)
    }

    fn state(&self, thread: i64) -> State {
        self.known.get(&thread).copied().unwrap_or(self.others)
    }

    fn every(&mut self, mut change: impl FnMut(&mut State)) {
        change(&mut self.others);
        self.known.values_mut().for_each(change);
    }

    /// The epoch of this thread, or of those that nobody named.
    pub fn epoch(&self, thread: Option<i64>) -> Epoch {
        thread.map_or(self.others, |thread| self.state(thread)).epoch()
    }

    pub fn life(&self, thread: i64) -> Life {
        Life::Thread(thread, self.state(thread).epoch())
    }

    pub fn life_of_this_stop(&self) -> Life {
        Life::Stop(self.stop)
    }

    /// Whether the engine still knows what it numbered in that life. A resume that it has not committed to ends
    /// nothing yet.
    pub fn is_alive(&self, life: Life) -> bool {
        match life {
            Life::Session => true,
            Life::Stop(epoch) => epoch == self.stop,
            Life::Thread(thread, epoch) => epoch == self.state(thread).epoch(),
        }
    }

    /// Whether references of that life may still be used; if a resume under way forbids it, whose.
    pub fn check(&self, life: Life) -> Result<(), Option<ResumedBy>> {
        let (state, epoch) = match life {
            Life::Session => return Ok(()),
            Life::Stop(epoch) if epoch != self.stop => return Err(None),
            Life::Stop(_) => return self.any_resuming().map_or(Ok(()), |by| Err(Some(by))),
            Life::Thread(thread, epoch) => (self.state(thread), epoch),
        };
        match state {
            State::Resuming { by, .. } => Err(Some(ResumedBy(by))),
            _ if state.epoch() == epoch => Ok(()),
            State::Running { by, .. } => Err(by.map(ResumedBy)),
            State::Stopped { .. } | State::GivenUp { .. } => Err(None),
        }
    }

    fn any_resuming(&self) -> Option<ResumedBy> {
        let by = |state: &State| match *state {
            State::Resuming { by, .. } => Some(ResumedBy(by)),
            _ => None,
        };
        by(&self.others).or_else(|| self.known.values().find_map(by))
    }

    /// Who is resuming this thread right now.
    pub fn resuming(&self, thread: i64) -> Option<ResumedBy> {
        match self.state(thread) {
            State::Resuming { by, .. } => Some(ResumedBy(by)),
            _ => None,
        }
    }

    /// Who let this thread run, or is about to.
    pub fn resumer(&self, thread: Option<i64>) -> Option<ClientId> {
        match thread.map_or(self.others, |thread| self.state(thread)) {
            State::Resuming { by, .. } => Some(by),
            State::Running { by, .. } => by,
            State::Stopped { .. } | State::GivenUp { .. } => None,
        }
    }

    pub fn is_stopped(&self, thread: Option<i64>) -> bool {
        let state = thread.map_or(self.others, |thread| self.state(thread));
        // A resume that the engine has not committed to may still fail.
        !matches!(state, State::Running { .. })
    }

    /// Whether it is stopped, and nobody is about to let it run.
    pub fn stands(&self, thread: Option<i64>) -> bool {
        thread.map_or(self.others, |thread| self.state(thread)).stands()
    }

    /// The thread that the last stop was of.
    pub fn stopped_last(&self) -> Option<i64> {
        self.stopped_last
    }

    /// The threads that were heard of by name.
    pub fn named(&self) -> impl Iterator<Item = i64> {
        self.known.keys().copied()
    }

    pub fn any_stopped(&self) -> bool {
        self.others.stands() || self.known.values().any(|state| state.stands())
    }

    /// Begins a resume. Refused while another one is under way, and if another client resumed the thread before: that
    /// one's step must not become two. Whether a thread runs that the client itself resumed, or nobody, is the engine's
    /// to judge: some let single threads run and do not say so.
    pub fn begin_resume(
        &mut self,
        thread: Option<i64>,
        single: bool,
        by: ClientId,
    ) -> Result<Resume, ResumedBy> {
        let asked = thread.map_or(self.others, |thread| self.state(thread));
        match asked {
            State::Resuming { by, .. } => return Err(ResumedBy(by)),
            State::Running { by: Some(before), .. } if before != by => return Err(ResumedBy(before)),
            _ => {}
        }
        let known = if asked.stands() { Believed::Stopped } else { Believed::Running };
        let resume = Resume { number: self.next_epoch().0, asked: known };
        let begin = |state: &mut State| {
            if state.stands() {
                *state = State::Resuming { from: state.epoch(), by, resume };
            }
        };
        match thread {
            Some(thread) if single => begin(self.known.entry(thread).or_insert(asked)),
            _ => self.every(begin),
        }
        Ok(resume)
    }

    /// A resume is sent, perhaps long after it was asked for. If the thread is stopped, it is that stop which the resume
    /// ends, and no later one that overtakes its answer.
    pub fn resume_is_sent(
        &mut self,
        resume: Resume,
        thread: Option<i64>,
        single: bool,
        by: ClientId,
    ) -> Resume {
        let now = thread.map_or(self.others, |thread| self.state(thread));
        // Any stop there is came before it, also one that was announced since it was asked for.
        let sent = match now {
            State::Stopped { .. } | State::GivenUp { .. } => {
                self.begin_resume(thread, single, by).unwrap_or(resume)
            }
            State::Running { .. } | State::Resuming { .. } => resume,
        };
        self.steps.values_mut().filter(|step| **step == resume).for_each(|step| *step = sent);
        sent
    }

    /// The resume is a step: it ends by itself.
    pub fn is_step(&mut self, thread: Option<i64>, resume: Resume) {
        self.steps.extend(thread.map(|thread| (thread, resume)));
    }

    pub fn any_step(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Lets go on what a stop held that nobody was told of: to everybody it has been running all the time.
    pub fn go_on(&mut self, thread: Option<i64>, by: Option<ClientId>) {
        let epoch = self.next_epoch();
        let run = |state: &mut State| *state = State::Running { epoch, by };
        match thread {
            Some(thread) => run(self.known.entry(thread).or_insert(self.others)),
            None => self.every(run),
        }
        self.stop = epoch;
    }

    /// The hub leads a step on: it is one as it was.
    pub fn step_goes_on(&mut self, thread: Option<i64>) {
        let resume = Resume { number: self.next_epoch().0, asked: Believed::Running };
        self.is_step(thread, resume);
    }

    /// Threads stopped, which is not to be known yet: what was numbered while they ran means nothing any more.
    pub fn end_runs(&mut self, thread: Option<i64>, all: bool) {
        let next = self.next_epoch();
        let end = |state: &mut State| {
            if let State::Running { epoch, .. } = state {
                *epoch = next;
            }
        };
        match thread {
            Some(thread) if !all => end(self.known.entry(thread).or_insert(self.others)),
            _ => self.every(end),
        }
        self.stop = next;
    }

    /// The client of a resume waits for it no longer, though the engine may still answer it.
    pub fn give_up_resume(&mut self, given_up: Resume) {
        self.steps.retain(|_, step| *step != given_up);
        self.every(|state| match *state {
            State::Resuming { from, resume, .. } if resume == given_up => {
                *state = State::GivenUp { from, resume };
            }
            _ => {}
        });
    }

    /// The engine refused: the stop and its references are back.
    pub fn abort_resume(&mut self, aborted: Resume) {
        self.steps.retain(|_, step| *step != aborted);
        self.restore(aborted);
    }

    fn restore(&mut self, aborted: Resume) {
        self.every(|state| {
            if state.waits_for(aborted) {
                *state = State::Stopped { epoch: state.epoch() };
            }
        });
    }

    /// The engine answered a resume with success. With `all` false only `thread` went on. A stop that overtook the
    /// answer committed the resume already, and then there is nothing left to do.
    pub fn commit_resume(&mut self, thread: Option<i64>, all: bool, committed: Resume) {
        self.commit(thread, all, committed, |_| false);
    }

    /// The same of a resume whose client gave it up. Another resume may have begun at the same stop.
    pub fn commit_given_up(&mut self, thread: Option<i64>, all: bool, committed: Resume) {
        self.commit(
            thread,
            all,
            committed,
            |state| matches!(state, State::Resuming { from, .. } if from.0 < committed.number),
        );
    }

    fn commit(
        &mut self,
        thread: Option<i64>,
        all: bool,
        committed: Resume,
        is_replaced: impl Fn(State) -> bool,
    ) {
        let epoch = self.next_epoch();
        // Unless a stop of everything overtook the answer, something still waits for it.
        let waits = |state: &State| state.waits_for(committed) || is_replaced(*state);
        let takes_all = all && (waits(&self.others) || self.known.values().any(waits));
        let mut ran = false;
        let mut run = |state: &mut State| match *state {
            State::Resuming { by, resume, .. } if resume == committed => {
                *state = State::Running { epoch, by: Some(by) };
                ran = true;
            }
            other if waits(&other) => {
                *state = State::Running { epoch, by: None };
                ran = true;
            }
            // It was in the hands of another resume when this one began, and went on with all the others.
            State::Stopped { epoch: from } | State::Resuming { from, .. } | State::GivenUp { from, .. }
                if takes_all && from.0 < committed.number =>
            {
                *state = State::Running { epoch, by: None };
                ran = true;
            }
            State::Stopped { .. } | State::Resuming { .. } | State::GivenUp { .. }
                if committed.asked == Believed::Running =>
            {
                *state = State::Running { epoch, by: None };
                ran = true;
            }
            _ => {}
        };
        match thread {
            Some(thread) if !all => {
                let mut state = self.state(thread);
                run(&mut state);
                self.known.insert(thread, state);
                self.restore(committed);
            }
            _ => self.every(run),
        }
        if ran {
            self.stop = epoch;
        }
        self.forget_alike();
    }

    /// Threads that all run need not be told apart. Delve never says that a goroutine has ended.
    fn forget_alike(&mut self) {
        let by = |state: &State| match *state {
            State::Running { by, .. } => Some(by),
            State::Stopped { .. } | State::Resuming { .. } | State::GivenUp { .. } => None,
        };
        let Some(first) = self.known.values().next().and_then(by) else { return };
        if by(&self.others).is_some() && self.known.values().all(|state| by(state) == Some(first)) {
            self.known.clear();
            // A new one: under the old one a thread may have been stopped, and that must not come back to life.
            let epoch = self.next_epoch();
            self.others = State::Running { epoch, by: first };
        }
    }

    pub fn on_continued(&mut self, thread: Option<i64>, all: bool) {
        let epoch = self.next_epoch();
        let run = |state: &mut State| match *state {
            State::Running { .. } => {}
            State::Stopped { .. } | State::GivenUp { .. } => *state = State::Running { epoch, by: None },
            State::Resuming { by, .. } => *state = State::Running { epoch, by: Some(by) },
        };
        match thread {
            Some(thread) if !all => {
                let mut state = self.state(thread);
                run(&mut state);
                self.known.insert(thread, state);
            }
            _ => self.every(run),
        }
        self.stop = epoch;
        self.forget_alike();
    }

    /// Now, to be told from what comes later.
    pub fn now(&self) -> Epoch {
        Epoch(self.last)
    }

    /// What was numbered until then means nothing any more, though nobody said that anything runs.
    pub fn end_references(&mut self, until: Epoch) {
        let epoch = self.next_epoch();
        self.every(|state| match state {
            State::Running { epoch: from, .. }
            | State::Stopped { epoch: from }
            | State::Resuming { from, .. }
            | State::GivenUp { from, .. } => {
                if *from <= until {
                    *from = epoch;
                }
            }
        });
        if self.stop <= until {
            self.stop = epoch;
        }
    }

    /// A stop begins a new epoch for its own thread. Others that were stopped already keep theirs: lldb announces
    /// one stop with an event per thread, and what a client read after the first must stay valid.
    pub fn on_stopped(&mut self, thread: Option<i64>, all: bool) {
        let epoch = self.next_epoch();
        if all || thread.is_none() {
            self.steps.clear();
            self.every(|state| {
                if !matches!(state, State::Stopped { .. }) {
                    *state = State::Stopped { epoch };
                }
            });
        }
        if let Some(thread) = thread {
            self.steps.remove(&thread);
            self.known.insert(thread, State::Stopped { epoch });
        }
        self.stop = epoch;
        self.stopped_last = thread;
    }

    pub fn on_exited(&mut self, thread: i64) {
        self.steps.remove(&thread);
        self.known.remove(&thread);
    }
}

#[cfg(test)]
mod tests;
