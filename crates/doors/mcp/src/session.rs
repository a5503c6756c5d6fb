//! One debug session as an agent's client sees it: its connection, what was heard of it, and waiting for what comes.
//!
//! Whoever waits, waits for what was heard and holds nothing: every other call goes on meanwhile, a pause among them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use breakroom_client::Request;
use breakroom_client::model::{self, Frame};
use breakroom_client::noise::is_noise;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Wanted;
use crate::breakpoints::Breakpoints;
use crate::budget::{Rests, line};
use crate::failure::Failure;
use crate::judging::Judged;
use crate::link::{Link, News, PATIENCE};
use crate::output::Output;
use crate::secrets::Secrets;
use crate::seen::{Awaited, Phase, Seen, Stop, UNNAMED};

/// As many frames as a stack is asked for at once.
pub const MOST_FRAMES: usize = 64;
/// Commands of compilers are longer.
const LONGEST_PROGRESS: usize = 200;
/// The reasons for which a breakpoint may have stopped it. What is watched is none of ours.
const BREAKPOINTS: [&str; 2] = ["breakpoint", "function breakpoint"];
/// No debugger is asked for more: a stack that deep has ended the program.
const DEEPEST: usize = 1_000_000;
/// An engine that is asked to go has this long.
const GOODBYE: Duration = Duration::from_secs(8);

pub struct Session {
    /// The hub's, valid in every door.
    pub id: String,
    pub wanted: Wanted,
    pub request: Request,
    /// What relative paths are relative to.
    pub cwd: PathBuf,
    /// What no answer may show.
    pub secrets: Secrets,
    pub link: Link,
    pub watched: Arc<Watched>,
    pub breakpoints: tokio::sync::Mutex<Breakpoints>,
    pub stop_on_entry: bool,
    /// Filters for exceptions, if not the usual ones.
    pub exceptions: Mutex<Option<Vec<String>>>,
    /// What answers had no room for.
    pub rests: Mutex<Rests>,
}

/// What is heard, and a bell.
pub struct Watched {
    seen: Mutex<Seen>,
    bell: watch::Sender<u64>,
    /// Stops of breakpoints that only capture.
    judge: mpsc::UnboundedSender<Judged>,
    capturing: Mutex<Capturing>,
}

/// Which breakpoints only capture.
#[derive(Default)]
struct Capturing {
    /// By the hub's numbers.
    numbers: Vec<i64>,
    /// Those that were removed: they may still be heard of.
    former: Vec<i64>,
    /// One is being set, and its number is not known yet.
    is_setting: bool,
}

impl Watched {
    /// What is to be judged comes out of the other end.
    pub fn new(secrets: &Secrets) -> (Arc<Watched>, mpsc::UnboundedReceiver<Judged>) {
        // There is never more in it than threads that stand.
        let (judge, judged) = mpsc::unbounded_channel();
        let (bell, _) = watch::channel(0);
        let mut seen = Seen::default();
        seen.output = Output::without(secrets.clone());
        (Arc::new(Watched { seen: Mutex::new(seen), bell, judge, capturing: Mutex::default() }), judged)
    }

    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known, and lets everybody who waits look again.
    pub fn change<T>(&self, change: impl FnOnce(&mut Seen) -> T) -> T {
        let changed = change(&mut self.seen());
        self.bell.send_modify(|count| *count += 1);
        changed
    }

    pub fn bell(&self) -> watch::Receiver<u64> {
        self.bell.subscribe()
    }

    fn capturing(&self) -> MutexGuard<'_, Capturing> {
        self.capturing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that captures is about to be set: a hot line stops before its number is known.
    pub fn expect_capturing(&self) {
        self.capturing().is_setting = true;
    }

    /// The hub's numbers of those that capture, and of those that do not.
    pub fn set_capturing(&self, numbers: Vec<i64>, others: Vec<i64>) {
        let mut capturing = self.capturing();
        let before = std::mem::take(&mut *capturing);
        let mut former = [before.numbers, before.former].concat();
        former.retain(|number| !numbers.contains(number) && !others.contains(number));
        *capturing = Capturing { numbers, former, is_setting: false };
    }

    /// Whether this may be the stop of a breakpoint that only captures. Some debuggers do not say which it is.
    fn may_be_captured(&self, stop: &Stop) -> bool {
        let capturing = self.capturing();
        let is_known = |hit: &i64| capturing.numbers.contains(hit) || capturing.former.contains(hit);
        let may_be = match stop.hit.is_empty() {
            true => !capturing.numbers.is_empty() || !capturing.former.is_empty(),
            false => stop.hit.iter().all(is_known),
        };
        let may_be = may_be || capturing.is_setting;
        may_be && BREAKPOINTS.contains(&stop.reason.as_str())
    }

    /// Called by the task that reads.
    pub fn hear(&self, news: News) {
        match news {
            News::Closed(None) => self.change(Seen::end),
            News::Closed(Some(reason)) => self.change(|seen| seen.lose(reason)),
            News::Event { name, body } => match name.as_str() {
                "stopped" => {
                    let stop = self.seen().stopped(&body);
                    match self.may_be_captured(&stop) {
                        true => {
                            let judged = self.change(|seen| seen.judge(stop));
                            // Where nobody judges any more, nobody is told either: the session is over.
                            let _ = self.judge.send(judged);
                        }
                        false => self.change(|seen| seen.tell_in_turn(stop)),
                    }
                }
                _ => self.change(|seen| note(seen, &name, body)),
            },
        }
    }

    /// The first thing that `found` finds, or nothing by the deadline.
    pub async fn wait_for<T>(
        &self,
        deadline: Instant,
        mut found: impl FnMut(&mut Seen) -> Option<T>,
    ) -> Option<T> {
        let mut bell = self.bell();
        loop {
            bell.mark_unchanged();
            if let Some(found) = found(&mut self.seen()) {
                return Some(found);
            }
            match tokio::time::timeout_at(deadline, bell.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return None,
            }
        }
    }
}

fn note(seen: &mut Seen, name: &str, mut body: Value) {
    match name {
        "continued" => {
            let thread = model::integer(&body["threadId"]).unwrap_or_default();
            seen.resumed(thread, body["allThreadsContinued"] != Value::Bool(false));
        }
        "output" => match body["category"].as_str() {
            Some("telemetry") => {}
            // The debugger's own, about what is told anyway.
            Some("console") if body["output"].as_str().is_some_and(is_noise) => {}
            category => {
                let text = body["output"].as_str().unwrap_or_default();
                if category == Some("console") && seen.phase == Phase::Starting {
                    // What is built is told like this, and no other way.
                    seen.progress = text.trim_end().lines().last().map(|last| line(last, LONGEST_PROGRESS));
                }
                seen.output.push(text);
            }
        },
        "initialized" => seen.is_initialized = true,
        "capabilities" => {
            if let Value::Object(capabilities) = body["capabilities"].take() {
                seen.capabilities.extend(capabilities);
            }
        }
        "exited" => seen.exit_code = model::integer(&body["exitCode"]),
        "terminated" => seen.end(),
        "thread" if body["reason"] == "exited" => {
            let thread = model::integer(&body["threadId"]).unwrap_or_default();
            seen.gone(thread);
        }
        "progressStart" | "progressUpdate" => {
            let words = ["message", "title"].iter().find_map(|key| body[*key].as_str());
            seen.progress = words.map(str::to_owned);
        }
        "progressEnd" => seen.progress = None,
        "breakpoint" if body["breakpoint"]["verified"] == Value::Bool(true) => {
            if let Some(number) = model::integer(&body["breakpoint"]["id"]) {
                seen.hits.entry(number).or_default();
            }
        }
        "breakroom/activity" => seen.note_deed(&body),
        _ => {}
    }
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
        let found = |seen: &mut Seen| match seen.find(awaited) {
            _ if seen.is_over() => Some(Came::Over),
            Some(stop) => {
                let stop = stop.clone();
                seen.show(&stop);
                Some(Came::Stopped(stop))
            }
            None => None,
        };
        let came = tokio::select! {
            biased;
            () = wait.given_up.cancelled() => Came::GivenUp,
            came = self.watched.wait_for(wait.deadline, found) => came.unwrap_or(Came::Nothing),
        };
        match came {
            Came::Stopped(stop) if stop.thread == UNNAMED => Came::Stopped(self.named(stop).await),
            came => came,
        }
    }

    /// A stop that was told without a thread is the first one's, for want of a better one.
    async fn named(&self, stop: Stop) -> Stop {
        let Ok(thread) = self.first_thread().await else { return stop };
        self.watched.change(|seen| seen.name(stop.epoch, thread));
        Stop { thread, ..stop }
    }

    pub async fn first_thread(&self) -> Result<i64, Failure> {
        Ok(self.threads().await?.first().copied().unwrap_or_default())
    }

    pub async fn threads(&self) -> Result<Vec<i64>, Failure> {
        let body = self.link.request("threads", json!({})).await?;
        Ok(model::list(&body["threads"], |thread| model::integer(&thread["id"])))
    }

    /// Waits until everything was answered that belongs to the beginning, and with it everything told that was there.
    pub async fn begun(&self, wait: &Wait) {
        let begun = |seen: &mut Seen| (seen.is_begun || seen.is_over()).then_some(());
        tokio::select! {
            () = wait.given_up.cancelled() => {}
            _ = self.watched.wait_for(wait.deadline, begun) => {}
        }
    }

    /// The thread that is meant, as it stands.
    pub fn standing(&self, thread: Option<i64>) -> Result<Stop, Failure> {
        let mut seen = self.seen();
        let stop = match thread {
            Some(thread) => seen.of_thread(thread),
            None => seen.active().cloned(),
        };
        match stop {
            Some(stop) => {
                if thread.is_none() {
                    seen.show(&stop);
                }
                Ok(stop)
            }
            None => Err(self.not_stopped(&seen, thread)),
        }
    }

    fn not_stopped(&self, seen: &Seen, thread: Option<i64>) -> Failure {
        let id = &self.id;
        match &seen.phase {
            Phase::Failed(reason) => Failure::new(format!("session {id} failed: {reason}")),
            Phase::Ended => Failure::new(format!(
                "the program of session {id} has ended{}",
                code(seen.exit_code)
            ))
            .next("debugger_restart runs it again; debugger_inspect with what=output shows what it printed."),
            Phase::Starting => Failure::new(format!("session {id} is still starting")).next("debugger_wait."),
            Phase::Live => match thread {
                Some(thread) if !seen.stops.is_empty() => {
                    let standing: Vec<_> = seen.stops.iter().map(|stop| stop.thread.to_string()).collect();
                    Failure::new(format!("thread {thread} of session {id} is not stopped"))
                        .next(format!("Stopped are: {}.", standing.join(", ")))
                }
                _ => Failure::new(format!("session {id} is running"))
                    .next("debugger_wait for a stop, or debugger_pause to stop it now."),
            },
        }
    }

    /// Has a thread go on, by `continue` or a step. What it left is never told again.
    pub async fn resume(&self, stop: &Stop, command: &'static str, arguments: Value) -> Result<(), Failure> {
        let mut whole = json!({"threadId": stop.thread});
        if let (Value::Object(whole), Value::Object(more)) = (&mut whole, arguments) {
            whole.extend(more);
        }
        let is_step = !command.ends_with("ontinue");
        // A stop that comes before the answer is behind this one.
        let before = self.watched.change(|seen| {
            seen.leave(stop.thread);
            seen.steps(stop.thread, is_step);
            seen.epoch
        });
        let answer = self.link.request(command, whole).await;
        self.watched.change(|seen| match &answer {
            Ok(body) => {
                let all = !is_step && body["allThreadsContinued"] != Value::Bool(false);
                seen.left(stop.thread, all, before);
            }
            Err(_) => seen.stay(stop.thread),
        });
        answer.map(drop)
    }

    /// Part of a thread's stack, and how many frames it has in all, as far as anybody knows.
    pub async fn stack(
        &self,
        thread: i64,
        start: usize,
        levels: usize,
    ) -> Result<(Vec<Frame>, usize), Failure> {
        // Some debuggers give the whole stack whatever part of it they are asked for, so all are asked from the top.
        let deepest = start.saturating_add(levels).min(DEEPEST);
        let arguments = json!({"threadId": thread, "startFrame": 0, "levels": deepest});
        let body = self.link.request("stackTrace", arguments).await?;
        let frames = model::list(&body["stackFrames"], Frame::read);
        let total = model::integer(&body["totalFrames"]).and_then(|total| usize::try_from(total).ok());
        let total = total.unwrap_or_default().max(frames.len());
        Ok((frames.into_iter().skip(start).take(levels).collect(), total))
    }

    /// The frame that calls are about: of this thread or the active one, so many from the top.
    pub async fn frame(&self, thread: Option<i64>, index: i64) -> Result<Frame, Failure> {
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
            Wanted::Launch(launch) => launch.program.as_deref().map(|program| self.path(program)),
            Wanted::Attach(_) | Wanted::Join(_) => None,
        }
    }

    /// The file that is meant where none is named: the program's own, if it has a source; else where it stands.
    pub async fn own_file(&self) -> Result<PathBuf, Failure> {
        if let Some(program) = self.program().filter(|program| is_text(program)) {
            return Ok(program);
        }
        // Only looked at: whoever has not been told of this stop still is.
        let stop = self.seen().active().cloned();
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
            self.watched.change(|seen| seen.is_ended_here = true);
            // Others may be there; a goodbye alone would leave it to them.
            if let Ok(sent) = self.link.send("terminate", json!({})).await {
                // It may have no such request, and the goodbye ends it then.
                let _ = sent.answer(GOODBYE).await;
            }
        }
        let goodbye = self.link.send("disconnect", json!({"terminateDebuggee": ends})).await;
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

pub fn code(exit_code: Option<i64>) -> String {
    exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default()
}

/// Whether a file can have breakpoints in its lines.
fn is_text(path: &Path) -> bool {
    use std::io::Read;
    let mut beginning = [0; 512];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut beginning));
    path.is_file() && read.is_ok_and(|count| !beginning[..count].contains(&0))
}
