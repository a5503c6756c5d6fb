//! What is heard of a session, with a bell for those who wait; and which stops are looked at before anybody is told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use breakroom_client::model;
use breakroom_client::noise::is_noise;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::captures::judging::Judged;
use crate::secrets::Secrets;
use crate::session::link::News;
use crate::session::moves::Going;
use crate::session::seen::{Journal, Seen, Stop, Thread};
use crate::telling::budget::line;
use crate::telling::output::Output;

/// Commands of compilers are longer.
const LONGEST_PROGRESS: usize = 200;

/// What is heard, and a bell.
pub struct Watched {
    seen: Mutex<Seen>,
    secrets: Secrets,
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

impl Capturing {
    /// Whether this may be the stop of a breakpoint that only captures.
    fn may_be_captured(&self, stop: &Stop) -> bool {
        // A pause may find threads at a breakpoint that are not told of.
        let is_hit = stop.is_at_breakpoint() || stop.reason == "pause" && stop.untold.is_some();
        is_hit && (self.is_setting || stop.captures.is_some() || self.may_be_hit_by(stop))
    }

    /// Some debuggers do not say which it is.
    fn may_be_hit_by(&self, stop: &Stop) -> bool {
        let is_known = |hit: &i64| self.numbers.contains(hit) || self.former.contains(hit);
        match stop.hit.is_empty() {
            true => !self.numbers.is_empty() || !self.former.is_empty(),
            // Threads that captures are to be looked for beside it may be passed over with it.
            false if stop.untold.is_some() => !self.numbers.is_empty(),
            false => stop.hit.iter().all(is_known),
        }
    }
}

impl Watched {
    /// What is to be judged comes out of the other end.
    pub fn new(secrets: &Secrets) -> (Arc<Watched>, mpsc::UnboundedReceiver<Judged>) {
        // There is never more in it than threads that stand.
        let (judge, judged) = mpsc::unbounded_channel();
        let (bell, _) = watch::channel(0);
        let journal = Journal::of(Output::without(secrets.clone()));
        let seen = Seen { journal, ..Seen::default() };
        let (seen, secrets) = (Mutex::new(seen), secrets.clone());
        (Arc::new(Watched { seen, secrets, bell, judge, capturing: Mutex::default() }), judged)
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

    /// Called by the task that reads.
    pub fn hear(&self, news: News) {
        match news {
            News::Closed(None) => self.change(Seen::end),
            News::Closed(Some(reason)) => self.change(|seen| seen.lose(reason)),
            News::Event { name, body } => match name.as_str() {
                "stopped" => {
                    let stop = self.seen().stopped(&body);
                    let may_be_captured = self.capturing().may_be_captured(&stop);
                    match may_be_captured {
                        true => {
                            let judged = self.change(|seen| seen.threads.judge(stop));
                            // Where nobody judges any more, nobody is told either: the session is over.
                            let _ = self.judge.send(judged);
                        }
                        false => self.change(|seen| seen.threads.tell_in_turn(stop)),
                    }
                }
                _ => self.change(|seen| note(seen, &self.secrets, &name, body)),
            },
        }
    }

    /// The first thing that `found` finds, or nothing by the deadline.
    pub async fn wait_for<T>(
        &self,
        deadline: Instant,
        found: impl FnMut(&mut Seen) -> Option<T>,
    ) -> Option<T> {
        tokio::time::timeout_at(deadline, self.found(found)).await.ok()
    }

    /// The first thing that `found` finds, whenever that is.
    pub async fn found<T>(&self, mut found: impl FnMut(&mut Seen) -> Option<T>) -> T {
        let mut bell = self.bell();
        loop {
            bell.mark_unchanged();
            if let Some(found) = found(&mut self.seen()) {
                return found;
            }
            // The bell is ours, and so is not gone.
            let _ = bell.changed().await;
        }
    }
}

fn note(seen: &mut Seen, secrets: &Secrets, name: &str, mut body: Value) {
    match name {
        "continued" => {
            seen.resumed(Going::read(Thread::read(&body), &body));
        }
        "output" => match body["category"].as_str() {
            Some("telemetry") => {}
            // The debugger's own, about what is told anyway.
            Some("console") if body["output"].as_str().is_some_and(is_noise) => {}
            // The program's own comes before its end. lldb crashes now and then when it is ended, and says so at length.
            Some("stderr") if seen.life.was_ended_by_agent() => {}
            category => {
                let text = body["output"].as_str().unwrap_or_default();
                if category == Some("console") && seen.life.is_starting() {
                    // What is built is told like this, and no other way.
                    let last = text.trim_end().lines().last().map(|last| secrets.redact(last.to_owned()));
                    seen.life.progresses(last.map(|last| line(&last, LONGEST_PROGRESS)));
                }
                seen.journal.output.push(text);
                if let Some(why) = body["data"]["engineEnded"].as_str() {
                    seen.life.dies(why.to_owned());
                }
            }
        },
        // Whoever joins a session, or attaches, was not told what it was started with.
        "process" if body["isLocalProcess"] != Value::Bool(false) => {
            if let Some(pid) = model::integer(&body["systemProcessId"]) {
                seen.process = Some(pid);
                seen.executable = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
                secrets.learn_of_process(pid);
            }
        }
        "initialized" => seen.life.connected(),
        "capabilities" => {
            if let Value::Object(capabilities) = body["capabilities"].take() {
                seen.capabilities.extend(capabilities);
            }
        }
        "exited" => seen.life.exits(model::integer(&body["exitCode"])),
        "terminated" => seen.end(),
        "thread" if body["reason"] == "exited" => {
            seen.gone(Thread::read(&body));
        }
        "progressStart" | "progressUpdate" => {
            let words = ["message", "title"].iter().find_map(|key| body[*key].as_str());
            seen.life.progresses(words.map(str::to_owned));
        }
        "progressEnd" => seen.life.progresses(None),
        "breakpoint" if body["breakpoint"]["verified"] == Value::Bool(true) => {
            if let Some(number) = model::integer(&body["breakpoint"]["id"]) {
                seen.run.is_there(number);
            }
        }
        "breakroom/hit" => seen.run.count(&model::list(&body["hitBreakpointIds"], model::integer)),
        "breakroom/activity" => seen.note_deed(&body),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_debugger_says_of_its_own_end_is_not_the_programs() {
        let (watched, _judged) = Watched::new(&Secrets::shown());
        let said = |category: &str| {
            let body = json!({"category": category, "output": "Stack dump\n"});
            watched.hear(News::Event { name: "output".to_owned(), body });
            watched.seen().journal.output.end()
        };
        watched.change(|seen| seen.life.leaves());
        let before = said("stderr");
        assert!(before > 0);
        watched.change(Seen::end);
        assert_eq!(said("stderr"), before);
        assert!(said("stdout") > before);
    }

    #[test]
    fn how_far_a_build_is_shows_no_secret() {
        let (watched, _judged) = Watched::new(&Secrets::of([("API_TOKEN", "abcdefgh")]));
        let body = json!({"category": "console", "output": "docker build --build-arg T=abcdefgh\n"});
        watched.hear(News::Event { name: "output".to_owned(), body });
        assert_eq!(watched.seen().life.progress(), Some("docker build --build-arg T=[API_TOKEN redacted]"));
    }
}
