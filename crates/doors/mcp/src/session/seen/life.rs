//! How far a session is, from its beginning to its end.
//!
//! A session begins by a task of its own, and whatever happens to it meanwhile is a change from one phase to another here: no
//! phase is left for one that was before it, but for a restart.

use std::time::Instant;

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Something is prepared, built or connected to: what, in the hub's words.
    Starting {
        stage: Stage,
        progress: Option<String>,
    },
    /// The program is there.
    Live(Beginning),
    /// The agent itself has asked for its end.
    Leaving,
    Over {
        end: End,
        at: Instant,
    },
}

/// How far a start is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// There is no debugger yet that could be told anything.
    Connecting,
    /// It is told its breakpoints.
    Configuring,
    /// The program is to begin anew, whether or not everything was answered of its first beginning.
    Again(Beginning),
}

/// Whether everything was answered that belongs to a beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    Open,
    Answered,
}

/// How it came to be over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It never came to run, or was lost, and why.
    Failed(String),
    ByAgent,
    ByItself,
    /// In the midst of its beginning: what becomes of the launch will say whether that has failed.
    Unexplained,
}

pub struct Life {
    phase: Phase,
    /// It is told before the end is, or behind it.
    exit_code: Option<i64>,
    /// Why the debugger ended, if that was none of the program's doing.
    death: Option<String>,
}

impl Default for Life {
    fn default() -> Self {
        let phase = Phase::Starting { stage: Stage::Connecting, progress: None };
        Life { phase, exit_code: None, death: None }
    }
}

impl Life {
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    pub fn exit_code(&self) -> Option<i64> {
        self.exit_code
    }

    pub fn death(&self) -> Option<&str> {
        self.death.as_deref()
    }

    pub fn is_starting(&self) -> bool {
        matches!(self.phase, Phase::Starting { .. })
    }

    pub fn is_live(&self) -> bool {
        matches!(self.phase, Phase::Live(_))
    }

    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over { .. })
    }

    pub fn has_failed(&self) -> bool {
        matches!(self.phase, Phase::Over { end: End::Failed(_), .. })
    }

    pub fn was_ended_by_agent(&self) -> bool {
        matches!(self.phase, Phase::Over { end: End::ByAgent, .. })
    }

    pub fn has_ended_by_itself(&self) -> bool {
        matches!(self.phase, Phase::Over { end: End::ByItself | End::Unexplained, .. })
    }

    /// Whether it is known why it is over: the end of a launch that fails may be heard before its failure.
    pub fn is_explained(&self) -> bool {
        !matches!(self.phase, Phase::Over { end: End::Unexplained, .. })
    }

    /// Whether there is a debugger that can be told breakpoints.
    pub fn is_connected(&self) -> bool {
        !matches!(self.phase, Phase::Starting { stage: Stage::Connecting, .. })
    }

    /// Whether nothing more belongs to its beginning, as far as anybody still waits for that.
    pub fn has_begun(&self) -> bool {
        match self.phase {
            Phase::Starting { stage: Stage::Connecting | Stage::Configuring, .. } => false,
            Phase::Starting { stage: Stage::Again(beginning), .. } | Phase::Live(beginning) => {
                beginning == Beginning::Answered
            }
            Phase::Leaving | Phase::Over { .. } => true,
        }
    }

    pub fn ended_at(&self) -> Option<Instant> {
        match self.phase {
            Phase::Over { at, .. } => Some(at),
            Phase::Starting { .. } | Phase::Live(_) | Phase::Leaving => None,
        }
    }

    /// What is being done while it starts, if anything is said of it.
    pub fn progress(&self) -> Option<&str> {
        match &self.phase {
            Phase::Starting { progress, .. } => progress.as_deref(),
            Phase::Live(_) | Phase::Leaving | Phase::Over { .. } => None,
        }
    }

    pub fn progresses(&mut self, words: Option<String>) {
        if let Phase::Starting { progress, .. } = &mut self.phase {
            *progress = words;
        }
    }

    /// The debugger is there.
    pub fn connected(&mut self) {
        if let Phase::Starting { stage: stage @ Stage::Connecting, .. } = &mut self.phase {
            *stage = Stage::Configuring;
        }
    }

    /// The debugger was told everything.
    pub fn configured(&mut self) {
        if let Phase::Starting { stage: Stage::Configuring, .. } = self.phase {
            self.phase = Phase::Live(Beginning::Open);
        }
    }

    /// Everything was answered that belongs to the beginning.
    pub fn begun(&mut self) {
        match &mut self.phase {
            Phase::Live(beginning) | Phase::Starting { stage: Stage::Again(beginning), .. } => {
                *beginning = Beginning::Answered;
            }
            Phase::Over { end: end @ End::Unexplained, .. } => *end = End::ByItself,
            Phase::Starting { .. } | Phase::Leaving | Phase::Over { .. } => {}
        }
    }

    /// The program is to begin anew, which may take as long as the first time.
    pub fn restarts(&mut self) {
        (self.exit_code, self.death) = (None, None);
        self.progresses(None);
        if let Phase::Live(beginning) = self.phase {
            self.phase = Phase::Starting { stage: Stage::Again(beginning), progress: None };
        }
    }

    /// The program has begun anew, or goes on as it was.
    pub fn restarted(&mut self) {
        if let Phase::Starting { stage: Stage::Again(beginning), .. } = self.phase {
            self.phase = Phase::Live(beginning);
        }
    }

    /// The agent asks for the end.
    pub fn leaves(&mut self) {
        if !self.is_over() {
            self.phase = Phase::Leaving;
        }
    }

    pub fn exits(&mut self, code: Option<i64>) {
        self.exit_code = code;
    }

    /// The debugger has ended by itself, and why.
    pub fn dies(&mut self, why: String) {
        self.death = Some(why);
    }

    /// It is over. Says whether that is news.
    pub fn ends(&mut self) -> bool {
        let end = match self.phase {
            Phase::Over { .. } => return false,
            Phase::Leaving => End::ByAgent,
            Phase::Starting { stage: Stage::Connecting | Stage::Configuring, .. } => End::Unexplained,
            Phase::Starting { stage: Stage::Again(beginning), .. } | Phase::Live(beginning) => {
                match beginning {
                    Beginning::Open => End::Unexplained,
                    Beginning::Answered => End::ByItself,
                }
            }
        };
        self.phase = Phase::Over { end, at: Instant::now() };
        true
    }

    /// The launch has failed, which is why it is over, whatever was heard before. Another failure has said more.
    pub fn fails(&mut self, reason: String) {
        if !self.has_failed() {
            let at = self.ended_at().unwrap_or_else(Instant::now);
            self.phase = Phase::Over { end: End::Failed(reason), at };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starting() -> Life {
        Life::default()
    }

    fn configuring() -> Life {
        let mut life = starting();
        life.connected();
        life
    }

    fn open() -> Life {
        let mut life = configuring();
        life.configured();
        life
    }

    fn live() -> Life {
        let mut life = open();
        life.begun();
        life
    }

    fn end(mut life: Life) -> (Life, End) {
        assert!(life.ends() && !life.ends(), "it ends once");
        let Phase::Over { end, .. } = life.phase.clone() else { panic!("it is not over") };
        (life, end)
    }

    #[test]
    fn a_start_goes_on_step_by_step() {
        let seen = |life: Life| (life.is_starting(), life.is_connected(), life.has_begun());
        assert_eq!(seen(starting()), (true, false, false));
        assert_eq!(seen(configuring()), (true, true, false));
        assert_eq!(seen(open()), (false, true, false));
        assert_eq!(seen(live()), (false, true, true));
        let mut early = starting();
        early.configured();
        assert_eq!(early.phase, starting().phase, "nothing is configured that is not connected");
    }

    #[test]
    fn an_end_in_the_midst_of_the_beginning_is_explained_by_what_becomes_of_the_launch() {
        for life in [starting(), configuring(), open()] {
            let (mut life, by) = end(life);
            assert!(by == End::Unexplained && !life.is_explained());
            life.begun();
            assert!(life.is_explained() && life.has_ended_by_itself());
        }
        let (mut life, _) = end(open());
        let ended_at = life.ended_at();
        life.fails("it cannot be built".to_owned());
        assert!(life.has_failed() && life.is_explained() && life.ended_at() == ended_at);
        life.fails("it is over".to_owned());
        assert!(
            matches!(&life.phase, Phase::Over { end: End::Failed(why), .. } if why == "it cannot be built")
        );
        assert_eq!(end(live()).1, End::ByItself);
    }

    #[test]
    fn what_the_agent_has_left_is_ended_by_it() {
        for mut life in [starting(), open(), live()] {
            life.leaves();
            life.restarts();
            assert_eq!(end(life).1, End::ByAgent);
        }
        let (mut life, _) = end(live());
        life.leaves();
        assert!(life.has_ended_by_itself());
    }

    #[test]
    fn a_restart_starts_what_is_live_and_holds_up_no_first_start() {
        let mut life = live();
        life.exits(Some(1));
        life.restarts();
        assert!(life.is_starting() && life.is_connected() && life.exit_code().is_none());
        life.restarted();
        assert_eq!(life.phase, Phase::Live(Beginning::Answered));
        let mut life = starting();
        life.restarts();
        life.restarted();
        assert_eq!(life.phase, starting().phase);
    }

    #[test]
    fn a_restart_in_the_midst_of_a_beginning_leaves_that_open() {
        let restarting = || {
            let mut life = open();
            life.restarts();
            life
        };
        let mut life = restarting();
        life.restarted();
        assert_eq!(life.phase, open().phase);
        let mut life = restarting();
        life.begun();
        life.restarted();
        assert_eq!(life.phase, live().phase, "it was answered meanwhile");
        assert_eq!(end(restarting()).1, End::Unexplained);
        let mut life = live();
        life.restarts();
        assert_eq!(end(life).1, End::ByItself);
    }

    #[test]
    fn progress_is_of_a_start_and_outlasts_a_stage() {
        let mut life = starting();
        life.progresses(Some("building".to_owned()));
        life.connected();
        assert_eq!(life.progress(), Some("building"));
        life.configured();
        life.progresses(Some("indexing".to_owned()));
        assert_eq!(life.progress(), None);
        life.begun();
        life.restarts();
        assert_eq!(life.progress(), None);
    }
}
