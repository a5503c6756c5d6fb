//! How a session begins: connected and known by its id at once, launched and configured by a task of its own, so that a
//! call need not wait for a build.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use breakroom_client::{LAUNCH_PATIENCE, Request, introduction};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::breakpoints::Breakpoints;
use crate::breakpoints::filters::Filters;
use crate::captures;
use crate::failure::Failure;
use crate::session::Session;
use crate::session::link::{LAST_WORD, Link, PATIENCE};
use crate::session::seen::{End, Phase, Seen, Stage};
use crate::session::watched::Watched;
use crate::telling::advice::runs_tests;
use crate::telling::budget::Rests;
use crate::{Connection, Launch, Setup, Wanted};

/// How it is to begin, beside what is debugged.
#[derive(Default)]
pub struct Wishes {
    pub breakpoints: Breakpoints,
    /// If not as a configuration says.
    pub stop_on_entry: Option<bool>,
    /// Filters for exceptions, if not the usual ones.
    pub exceptions: Option<Vec<String>>,
}

/// The session is there when this returns, and begins. Where the hub has no id for it, it has this one.
pub async fn begin(
    setup: &Arc<Setup>,
    wanted: Wanted,
    wishes: Wishes,
    own_id: String,
) -> Result<Arc<Session>, Failure> {
    let (hub, asked) = (setup.hub.clone(), wanted.clone());
    let opened = tokio::task::spawn_blocking(move || hub.open(&asked)).await;
    let opened = opened.map_err(|error| Failure::new(format!("no session could be opened: {error}")))?;
    let Connection { stream, adapter, request, mut launch, farewell } = opened.map_err(Failure::new)?;
    let secrets = setup.secrets.apart();
    match &wanted {
        Wanted::Launch(launch) => {
            secrets.learn(launch.env.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        }
        Wanted::Attach(attach) => attach.to.parse().into_iter().for_each(|pid| secrets.learn_of_process(pid)),
        // The hub says what it was launched with, and its process.
        Wanted::Join(_) => {}
    }
    secrets.learn_from(&launch["env"]);
    let (watched, judged) = Watched::new(&secrets);
    let heard = watched.clone();
    let link = Link::new(stream, farewell, secrets.clone(), move |news| heard.hear(news));
    let link = link.map_err(|error| Failure::new(format!("no session could be opened: {error}")))?;
    let mut hello = introduction(&adapter, &setup.name);
    hello["supportsProgressReporting"] = true.into();
    let capabilities = match link.request("initialize", hello).await {
        Ok(capabilities) => capabilities,
        Err(failure) => {
            let failure = explained(&watched, failure).await;
            return Err(failure.or_next(|| "Call debugger_start again.".to_owned()));
        }
    };
    if let Value::Object(capabilities) = capabilities {
        watched.change(|seen| seen.capabilities.extend(capabilities));
    }
    let summary = link.request("breakroom/session", json!({})).await.unwrap_or_default();
    let told = |key: &str| summary["session"][key].as_str().map(str::to_owned);
    let cwd = folder_of(&wanted, setup);
    let session = Arc::new(Session {
        id: told("id").unwrap_or(own_id),
        engine: told("engine").unwrap_or(adapter),
        wanted,
        request,
        cwd,
        secrets,
        link,
        watched,
        breakpoints: tokio::sync::Mutex::new(wishes.breakpoints),
        stop_on_entry: wishes.stop_on_entry,
        exceptions: Mutex::new(wishes.exceptions),
        runs_tests: runs_tests(&launch),
        rests: Mutex::new(Rests::default()),
    });
    tokio::spawn(captures::judge_all(Arc::downgrade(&session), judged));
    if !launch.is_object() {
        launch = json!({});
    }
    launch["breakroom"]["events"] = true.into();
    if let Some(stops) = wishes.stop_on_entry {
        launch["stopOnEntry"] = stops.into();
    }
    tokio::spawn(start(session.clone(), launch));
    Ok(session)
}

fn folder_of(wanted: &Wanted, setup: &Setup) -> PathBuf {
    match wanted {
        Wanted::Launch(launch) => launch.cwd.clone(),
        Wanted::Attach(attach) => attach.cwd.clone(),
        Wanted::Join(_) => setup.cwd.clone(),
    }
}

async fn start(session: Arc<Session>, launch: Value) {
    if let Err(failure) = launched(&session, launch).await {
        let failure = explained(&session.watched, failure).await;
        session.watched.change(|seen| seen.fail(failure.what));
        let _ = session.link.request("disconnect", json!({})).await;
        return;
    }
    // Whoever stays in a session that is over keeps it in the hub.
    session.watched.change(|seen| seen.life.begun());
    let over = |seen: &mut Seen| seen.is_over().then_some(());
    session.watched.found(over).await;
    let _ = session.link.request("disconnect", json!({})).await;
}

/// Why a connection ended comes behind the end, and says more than that it did.
async fn explained(watched: &Watched, failure: Failure) -> Failure {
    if failure != Failure::over() {
        return failure;
    }
    let lost = |seen: &mut Seen| match seen.life.phase() {
        Phase::Over { end: End::Failed(reason), .. } => Some(Some(reason.clone())),
        Phase::Over { .. } => Some(None),
        Phase::Starting { .. } | Phase::Live(_) | Phase::Leaving => None,
    };
    let reason = watched.wait_for(Instant::now() + LAST_WORD, lost).await.flatten();
    reason.map_or(failure, Failure::new)
}

/// What became of a launch before the debugger could be told anything.
enum Begun {
    Ready,
    Over,
}

async fn launched(session: &Session, launch: Value) -> Result<(), Failure> {
    let sent = session.link.send(session.request.command(), launch).await?;
    let mut answer = Box::pin(sent.answer(LAUNCH_PATIENCE));
    let mut is_answered = false;
    let deadline = Instant::now() + LAUNCH_PATIENCE;
    let begun = |seen: &mut Seen| match seen.life.phase() {
        // What is to be ended before it could be told anything is told nothing any more.
        Phase::Starting { stage: Stage::Connecting, .. } | Phase::Leaving => None,
        Phase::Starting { .. } | Phase::Live(_) => Some(Begun::Ready),
        Phase::Over { .. } => Some(Begun::Over),
    };
    let begun = loop {
        tokio::select! {
            // A failed launch is never followed by `initialized`.
            answer = &mut answer, if !is_answered => {
                answer?;
                is_answered = true;
            }
            begun = session.watched.wait_for(deadline, begun) => {
                break begun.ok_or_else(|| Failure::silent("initialized", LAUNCH_PATIENCE))?;
            }
        }
    };
    if let Begun::Over = begun {
        // Perl says so of a program that it cannot compile. Of any other, why is in the answer.
        return if is_answered { Ok(()) } else { answer.await.map(drop) };
    }
    session.learn_environment().await;
    session.set_all().await;
    catch(session).await?;
    session.watched.change(|seen| seen.life.configured());
    let mut done = None;
    if session.seen().can("supportsConfigurationDoneRequest") {
        done = Some(session.link.send("configurationDone", json!({})).await?);
    }
    // A failed launch is the cause of a failed configurationDone, so it is looked at first.
    if !is_answered {
        answer.await?;
    }
    match done {
        Some(done) => done.refusal(PATIENCE).await.map_or(Ok(()), Err),
        None => Ok(()),
    }
}

/// Has the program stop at exceptions: at these, or at those that end it.
async fn catch(session: &Session) -> Result<(), Failure> {
    let Some(known) = Filters::of(session) else { return Ok(()) };
    let chosen = session.exceptions();
    let is_chosen = chosen.is_some();
    let filters = known.on(chosen, session.runs_tests)?;
    match session.link.request("setExceptionBreakpoints", json!({"filters": filters})).await {
        Err(failure) if is_chosen => Err(failure),
        // The program can be debugged without.
        Ok(_) | Err(_) => Ok(()),
    }
}

impl Launch {
    /// The file whose lines are meant where none is named: the program, or the first that a tool is to run.
    pub fn own_file(&self) -> Option<PathBuf> {
        // What is behind `::` is a test in the file.
        let path = |word: &str| self.cwd.join(word.split("::").next().unwrap_or(word));
        let words = self.program.iter().flat_map(|program| program.split_whitespace());
        let files = words.chain(self.args.iter().map(String::as_str)).map(path);
        let program = self.program.as_deref().map(path);
        program
            .clone()
            .filter(|file| file.exists())
            .or_else(|| files.into_iter().find(|file| file.is_file()))
            .or(program)
    }
}

impl Session {
    /// The filters that were chosen, if any were.
    pub fn exceptions(&self) -> Option<Vec<String>> {
        self.exceptions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The hub alone knows what a configuration of an editor, or whoever launched it, gives the program.
    async fn learn_environment(&self) {
        // An older hub knows no such question; what is known without it is hidden in any case.
        if let Ok(body) = self.link.request("breakroom/environment", json!({})).await {
            self.secrets.learn_from(&body["env"]);
        }
    }

    /// Whether this client may end the program by leaving.
    pub fn is_launched(&self) -> bool {
        self.request == Request::Launch
    }
}
