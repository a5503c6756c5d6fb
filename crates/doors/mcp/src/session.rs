//! One debug session as an agent's client sees it: its connection, what was heard of it, and waiting for what comes.
//!
//! Whoever waits, waits for what was heard and holds nothing: every other call goes on meanwhile, a pause among them.

pub mod link;
pub mod moves;
pub mod pausing;
pub mod seen;
pub mod starting;
pub mod stops;
pub mod watched;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use breakroom_client::Request;
use breakroom_client::model::{self, Frame};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Wanted;
use crate::breakpoints::Breakpoints;
use crate::failure::Failure;
use crate::secrets::Secrets;
use crate::session::link::{Link, PATIENCE};
use crate::session::moves::{Before, Going, Move, Resumed};
use crate::session::seen::{Awaited, End, Phase, Seen, Stop, Thread};
use crate::session::watched::Watched;
use crate::telling::budget::Rests;

/// As many frames as a stack is asked for at once.
pub const MOST_FRAMES: usize = 64;
/// No debugger is asked for more: a stack that deep has ended the program.
const DEEPEST: usize = 1_000_000;
/// Whoever does not wait still hears of a refusal that comes in this time.
const FOR_REFUSALS: Duration = Duration::from_secs(2);
/// An engine that is asked to go has this long.
const GOODBYE: Duration = Duration::from_secs(8);

pub struct Session {
    /// The hub's, valid in every door.
    pub id: String,
    /// Which debugger it is. The hub says it only as long as the session lasts.
    pub engine: String,
    pub wanted: Wanted,
    pub request: Request,
    /// What relative paths are relative to.
    pub cwd: PathBuf,
    /// What no answer may show.
    pub secrets: Secrets,
    pub link: Link,
    pub watched: Arc<Watched>,
    pub breakpoints: tokio::sync::Mutex<Breakpoints>,
    pub stop_on_entry: Option<bool>,
    /// Filters for exceptions, if not the usual ones.
    pub exceptions: Mutex<Option<Vec<String>>>,
    /// What it runs catches what its tests raise.
    pub runs_tests: bool,
    /// What answers had no room for.
    pub rests: Mutex<Rests>,
}

/// How long a call waits.
pub struct Wait {
    pub deadline: Instant,
    /// Nobody wants to know any more.
    pub given_up: CancellationToken,
}

/// What came of waiting.
#[derive(Debug, Clone, PartialEq)]
pub enum Came {
    Stopped(Stop),
    /// The session is over, or never began.
    Over,
    /// Nothing came in time: it runs, or is still being started.
    Nothing,
    /// Nobody wants to know any more, so whatever comes is still to be told.
    GivenUp,
}

impl Session {
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.watched.seen()
    }

    /// The stop that is waited for, or the end.
    pub async fn next_stop(&self, awaited: Awaited, wait: &Wait) -> Came {
        let found = |seen: &mut Seen| match seen.life.phase() {
            Phase::Over { .. } => seen.life.is_explained().then_some(Came::Over),
            // What stops before it runs again is the program that is being replaced.
            Phase::Starting { .. } => None,
            Phase::Live(_) | Phase::Leaving => seen.threads.find(awaited).map(Came::Stopped),
        };
        match self.until(wait, found).await {
            Ok(Some(Came::Stopped(stop))) => Came::Stopped(self.named(stop).await),
            Ok(came) => came.unwrap_or(Came::Nothing),
            Err(_) => Came::GivenUp,
        }
    }

    /// The first thing that `found` finds, or nothing in time. It fails if nobody wants to know any more.
    pub async fn until<T>(
        &self,
        wait: &Wait,
        found: impl FnMut(&mut Seen) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        tokio::select! {
            biased;
            () = wait.given_up.cancelled() => Err(Failure::cancelled()),
            found = self.watched.wait_for(wait.deadline, found) => Ok(found),
        }
    }

    /// A stop that was told without a thread is the first one's, for want of a better one.
    async fn named(&self, stop: Stop) -> Stop {
        if stop.thread != Thread::Unnamed {
            return stop;
        }
        let Ok(thread) = self.first_thread().await else { return stop };
        self.watched.change(|seen| seen.threads.name(stop.epoch, thread));
        Stop { thread, ..stop }
    }

    /// Where none is listed, a debugger that wants any is given this one.
    pub async fn first_thread(&self) -> Result<Thread, Failure> {
        Ok(self.threads().await?.first().copied().unwrap_or_else(|| Thread::from(0)))
    }

    pub async fn threads(&self) -> Result<Vec<Thread>, Failure> {
        let body = self.link.request("threads", json!({})).await?;
        Ok(model::list(&body["threads"], |thread| model::integer(&thread["id"]).map(Thread::from)))
    }

    /// Where all threads stand, any number would be one that does.
    pub async fn check(&self, thread: Thread) -> Result<(), Failure> {
        let stops_itself = self.seen().threads.stops().iter().any(|stop| stop.thread == thread);
        if stops_itself || self.threads().await?.contains(&thread) {
            return Ok(());
        }
        Err(Failure::new(format!("session {} has no thread {thread}", self.id))
            .next("debugger_inspect with what=threads lists them."))
    }

    /// What a request can name.
    async fn known(&self, thread: Thread) -> Result<Thread, Failure> {
        match thread {
            Thread::Known(_) => Ok(thread),
            Thread::Unnamed => self.first_thread().await,
        }
    }

    /// A request that says no more than which thread it is about.
    pub async fn ask(&self, command: &'static str, thread: Thread) -> Result<Value, Failure> {
        let thread = self.known(thread).await?.number();
        self.link.request(command, json!({"threadId": thread})).await
    }

    /// As the hub lists it; nothing if it cannot be asked.
    pub async fn thread_name(&self, thread: Thread) -> String {
        let body = self.link.request("threads", json!({})).await.unwrap_or_default();
        let is_it = |listed: &&Value| model::integer(&listed["id"]) == thread.number();
        body["threads"]
            .as_array()
            .and_then(|all| all.iter().find(is_it))
            .map(|it| model::text(&it["name"]))
            .unwrap_or_default()
    }

    /// Waits until everything was answered that belongs to the beginning, and with it everything told that was there.
    pub async fn begun(&self, wait: &Wait) {
        let begun = |seen: &mut Seen| seen.life.has_begun().then_some(());
        // Whoever has given up is told so by whatever waits next.
        let _ = self.until(wait, begun).await;
    }

    /// The thread that is meant, as it stands. Whoever has not been told of this stop still is.
    pub fn standing(&self, thread: Option<Thread>) -> Result<Stop, Failure> {
        let seen = self.seen();
        let stop = match thread {
            Some(thread) => seen.threads.of(thread),
            None => seen.threads.active(),
        };
        // A program that is being replaced does not count any more.
        let is_there = !seen.life.is_starting();
        stop.filter(|_| is_there).ok_or_else(|| self.not_stopped(&seen, thread))
    }

    fn not_stopped(&self, seen: &Seen, thread: Option<Thread>) -> Failure {
        let id = &self.id;
        match seen.life.phase() {
            Phase::Over { end: End::Failed(reason), .. } => {
                Failure::new(format!("session {id} failed: {reason}"))
            }
            Phase::Over { .. } => Failure::new(format!(
                "the program of session {id} has ended{}",
                code(seen.life.exit_code())
            ))
            .next("debugger_restart runs it again; debugger_inspect with what=output shows what it printed."),
            Phase::Starting { .. } => {
                Failure::new(format!("session {id} is still starting")).next("debugger_wait.")
            }
            Phase::Live(_) | Phase::Leaving => match thread {
                Some(thread) if !seen.threads.stops().is_empty() => {
                    let stops = seen.threads.stops();
                    let standing: Vec<_> = stops.iter().map(|stop| stop.thread.to_string()).collect();
                    Failure::new(format!("thread {thread} of session {id} is not stopped"))
                        .next(format!("Stopped are: {}.", standing.join(", ")))
                }
                _ => Failure::new(format!("session {id} is running"))
                    .next("debugger_wait for a stop, or debugger_pause to stop it now."),
            },
        }
    }

    /// Has a thread go on, unless something stopped that would go on with it and was not told. What it left is never told
    /// again. Whoever names the thread knows of its stop. A request that is not answered in time is under way.
    pub async fn resume(
        self: &Arc<Session>,
        stop: &Stop,
        by: Move,
        named: Option<Thread>,
        wait: &Wait,
    ) -> Result<Resumed, Failure> {
        let Some(before) = self.watched.change(|seen| seen.threads.set_off(stop, by, named)) else {
            return Ok(Resumed::NotYet);
        };
        // A task of its own: whoever asked may have given up, and the answer is to be heard however late it is.
        let answer = tokio::spawn(settle(self.clone(), stop.clone(), by, before));
        let until = wait.deadline.max(Instant::now() + FOR_REFUSALS);
        tokio::select! {
            answer = answer => match answer {
                Ok(answer) => answer.map(|()| Resumed::On),
                Err(_) => Err(Failure::over()),
            },
            () = tokio::time::sleep_until(until) => Ok(Resumed::On),
            () = wait.given_up.cancelled() => Ok(Resumed::On),
        }
    }

    /// Part of a thread's stack, and how many frames it has in all, as far as anybody knows.
    pub async fn stack(
        &self,
        thread: Thread,
        start: usize,
        levels: usize,
    ) -> Result<(Vec<Frame>, usize), Failure> {
        // Some debuggers give the whole stack whatever part of it they are asked for, so all are asked from the top.
        let deepest = start.saturating_add(levels).min(DEEPEST);
        let thread = self.known(thread).await?.number();
        let arguments = json!({"threadId": thread, "startFrame": 0, "levels": deepest});
        let body = self.link.request("stackTrace", arguments).await?;
        let frames = model::list(&body["stackFrames"], Frame::read);
        let total = model::integer(&body["totalFrames"]).and_then(|total| usize::try_from(total).ok());
        let total = total.unwrap_or_default().max(frames.len());
        Ok((frames.into_iter().skip(start).take(levels).collect(), total))
    }

    /// The frame that calls are about: of this thread or the active one, so many from the top.
    pub async fn frame(&self, thread: Option<Thread>, index: i64) -> Result<Frame, Failure> {
        let stop = self.standing(thread)?;
        let frames = match usize::try_from(index) {
            Ok(index) => self.stack(stop.thread, index, 1).await?.0,
            Err(_) => Vec::new(),
        };
        frames.into_iter().next().ok_or_else(|| {
            Failure::new(format!("thread {} has no frame {index}", stop.thread))
                .next("debugger_inspect with what=stack lists the frames; 0 is the top.")
        })
    }

    /// The file that a name means.
    pub fn path(&self, name: &str) -> PathBuf {
        let path = self.cwd.join(name);
        std::path::absolute(&path).unwrap_or(path)
    }

    /// What was launched, if it was one file.
    pub fn program(&self) -> Option<PathBuf> {
        match &self.wanted {
            Wanted::Launch(launch) => {
                launch.own_file().map(|file| std::path::absolute(&file).unwrap_or(file))
            }
            Wanted::Attach(_) | Wanted::Join(_) => None,
        }
    }

    /// The file that is meant where none is named: the program's own, if it has a source; else where it stands.
    pub async fn own_file(&self) -> Result<PathBuf, Failure> {
        if let Some(program) = self.program().filter(|program| is_text(program)) {
            return Ok(program);
        }
        // Only looked at: whoever has not been told of this stop still is.
        let stop = self.seen().threads.active();
        let frame = match stop {
            Some(stop) => self.frame_shown(&stop).await.ok().flatten(),
            None => None,
        };
        let here = frame.and_then(|frame| frame.source).and_then(|source| source.path);
        here.map(PathBuf::from)
            .ok_or_else(|| Failure::new("which file? The program itself is no source").next("Name `file`."))
    }

    /// Ends what was launched, and leaves what was joined or attached to.
    pub async fn end(&self) -> Result<(), Failure> {
        if self.seen().is_over() {
            return Ok(());
        }
        let ends = self.request == Request::Launch;
        if ends {
            self.watched.change(|seen| seen.life.leaves());
            // Others may be there; a goodbye alone would leave it to them.
            if let Ok(sent) = self.link.send("terminate", json!({})).await {
                // It may have no such request, and the goodbye ends it then.
                let _ = sent.answer(GOODBYE).await;
            }
        }
        let goodbye = match self.request {
            // Whoever started it, started it to be ended with its session or not.
            Request::Join => json!({}),
            Request::Launch | Request::Attach => json!({"terminateDebuggee": ends}),
        };
        let goodbye = self.link.send("disconnect", goodbye).await;
        // Otherwise it is gone already.
        if let Ok(sent) = goodbye {
            let _ = sent.answer(GOODBYE).await;
        }
        let over = |seen: &mut Seen| seen.is_over().then_some(());
        let gone = self.watched.wait_for(Instant::now() + GOODBYE, over).await;
        gone.ok_or_else(|| Failure::silent("disconnect", GOODBYE))
    }

    /// What the hub says about this session.
    pub async fn summary(&self) -> Result<Value, Failure> {
        Ok(self.link.send("breakroom/session", json!({})).await?.answer(PATIENCE).await?["session"].take())
    }
}

/// Only a refusal says that it stands where it stood.
async fn settle(session: Arc<Session>, stop: Stop, by: Move, before: Before) -> Result<(), Failure> {
    let stays = || session.watched.change(|seen| seen.threads.stay(stop.thread));
    // Without a thread to name, nobody is asked to go on.
    let thread = session.known(stop.thread).await.inspect_err(|_| stays())?.number();
    let sent = session.link.send(by.command(), json!({"threadId": thread})).await?;
    match sent.settled().await {
        Some(Ok(body)) => {
            let going = match by {
                Move::Continue => Going::read(stop.thread, &body),
                Move::Over | Move::In | Move::Out | Move::Back => Going::alone(stop.thread),
            };
            session.watched.change(|seen| seen.threads.went(going, before));
            Ok(())
        }
        Some(Err(reason)) => {
            stays();
            Err(Failure::new(reason))
        }
        None => Err(Failure::over()),
    }
}

pub fn code(exit_code: Option<i64>) -> String {
    exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default()
}

/// Whether a file can have breakpoints in its lines.
pub fn is_text(path: &Path) -> bool {
    use std::io::Read;
    let mut beginning = [0; 512];
    // To open a pipe is to wait for whoever writes into it.
    if !path.is_file() {
        return false;
    }
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut beginning));
    read.is_ok_and(|count| !beginning[..count].contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_no_source_and_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        let (says, said) = std::sync::mpsc::channel();
        std::thread::spawn(move || says.send(is_text(&pipe)));
        assert_eq!(said.recv_timeout(Duration::from_secs(60)), Ok(false));
    }
}
