//! Going on, stopping, ending: what moves the program, and what is told when it stands still.

use breakroom_ez::debug::{Goal, Host, Stop};
use serde_json::{Value, json};

use crate::channel::Channel;
use crate::mailbox::Mailbox;
use crate::session::{Answer, Entry, Live, NOT_BEGUN, Phase, Reason, Run, Session, THREAD};

pub fn configuration_done(session: &mut Session, _: &Value) -> Answer {
    let Phase::Live(live) = &mut session.phase else {
        return Err("nothing is launched; send `launch` first".to_owned());
    };
    if live.run != Run::Configuring {
        return Err("the program has begun already".to_owned());
    }
    live.debuggee.begin(match live.entry {
        Entry::Stop => Goal::Entry,
        Entry::Run | Entry::Undisturbed => Goal::Continue,
    });
    live.run = Run::Running;
    Ok(Value::Null)
}

/// Who hears of log points, and who may want something while a condition is evaluated.
struct Client<'a> {
    channel: &'a Channel,
    mailbox: &'a Mailbox,
}

impl Host for Client<'_> {
    fn log(&mut self, message: &str) {
        self.channel.output("console", &format!("{message}\n"));
    }

    fn is_urgent(&mut self) -> bool {
        self.mailbox.is_urgent()
    }
}

/// Goes on until something is to be told or somebody wants something.
pub fn run(session: &mut Session) {
    let Phase::Live(live) = &mut session.phase else { return };
    let mut client = Client { channel: &session.channel, mailbox: &session.mailbox };
    match live.debuggee.run(&mut client) {
        Stop::Interrupted => {}
        Stop::Exited(code) => {
            if let Some(text) = live.debuggee.last_words() {
                session.channel.output("console", &text);
            }
            ended(session, Some(code));
        }
        stop => {
            live.run = Run::Stopped(match &stop {
                Stop::Fault(fault) => Reason::Fault(fault.clone()),
                _ => Reason::Ordinary,
            });
            let body = placed_in_time(live, stopped(stop));
            session.channel.event("stopped", body);
        }
    }
}

fn stopped(stop: Stop) -> Value {
    let mut body = json!({"reason": "step", "threadId": THREAD, "allThreadsStopped": true});
    match stop {
        Stop::Entry => body["reason"] = "entry".into(),
        Stop::Breakpoint { hit, trouble } => {
            body["reason"] = "breakpoint".into();
            body["hitBreakpointIds"] = hit.iter().map(|id| id.0).collect();
            if let Some(trouble) = trouble {
                body["text"] = trouble.into();
            }
        }
        Stop::Data { hit, text } => {
            body["reason"] = "data breakpoint".into();
            body["hitBreakpointIds"] = json!([hit.0]);
            body["text"] = text.into();
        }
        Stop::Fault(fault) => {
            body["reason"] = "exception".into();
            body["description"] = format!("runtime error {}", fault.code).into();
            body["text"] = fault.message.into_owned().into();
        }
        Stop::Beginning => body["description"] = "the beginning of what is remembered".into(),
        Stop::Step | Stop::Interrupted | Stop::Exited(_) => {}
    }
    body
}

/// Says so if the program stands where it has been before, unless there is something to say already.
fn placed_in_time(live: &Live, mut body: Value) -> Value {
    if live.debuggee.in_past() && body["description"].is_null() {
        body["description"] = "in the past".into();
    }
    body
}

/// Tells that the program is over, once. Without a code it was ended and did not end itself.
pub fn ended(session: &mut Session, code: Option<i32>) {
    if matches!(session.phase, Phase::Over) {
        return;
    }
    session.phase = Phase::Over;
    if let Some(code) = code {
        // As the system has it: nobody learns more of an end than a byte.
        session.channel.event("exited", json!({"exitCode": code & 0xFF}));
    }
    session.channel.event("terminated", json!({}));
}

/// Answered even if there is nothing to end: whoever asks wants it gone, and it is.
pub fn terminate(_: &mut Session, _: &Value) -> Answer {
    Ok(Value::Null)
}

pub fn pause(session: &mut Session, _: &Value) -> Answer {
    match &session.phase {
        Phase::Live(live) if live.run == Run::Configuring => Err(NOT_BEGUN.to_owned()),
        Phase::Live(_) => Ok(Value::Null),
        Phase::Fresh | Phase::Over => Err("no program is running".to_owned()),
    }
}

/// Stands still where it is, be it in the middle of a sleep.
pub fn paused(session: &mut Session) {
    let Phase::Live(live) = &mut session.phase else { return };
    if live.run == Run::Running {
        live.run = Run::Stopped(Reason::Ordinary);
        let body = json!({"reason": "pause", "threadId": THREAD, "allThreadsStopped": true});
        let body = placed_in_time(live, body);
        session.channel.event("stopped", body);
    }
}

/// What is to be cancelled has been ended by the arrival of this, or was answered long ago.
pub fn cancel(_: &mut Session, _: &Value) -> Answer {
    Ok(Value::Null)
}

pub fn go_on(live: &mut Live, _: &Value) -> Answer {
    live.resume(Goal::Continue);
    Ok(json!({"allThreadsContinued": true}))
}

pub fn step_over(live: &mut Live, _: &Value) -> Answer {
    live.step(Goal::StepOver)
}

pub fn step_in(live: &mut Live, _: &Value) -> Answer {
    live.step(Goal::StepIn)
}

pub fn step_out(live: &mut Live, _: &Value) -> Answer {
    live.step(Goal::StepOut)
}

pub fn step_back(live: &mut Live, _: &Value) -> Answer {
    live.back(Goal::StepBack)
}

pub fn reverse(live: &mut Live, _: &Value) -> Answer {
    live.back(Goal::ReverseContinue)
}

/// What the program reads as its input.
pub fn input(live: &mut Live, arguments: &Value) -> Answer {
    match arguments["text"].as_str() {
        Some(text) => live.input.add(text),
        None if arguments["end"] == true => {}
        None => return Err("`breakroom/input` needs `text`, or `end: true` to end the input".to_owned()),
    }
    if arguments["end"] == true {
        live.input.close();
    }
    Ok(Value::Null)
}

impl Live {
    pub fn resume(&mut self, goal: Goal) {
        self.handles.clear();
        self.debuggee.resume(goal);
        self.run = Run::Running;
    }

    fn step(&mut self, goal: Goal) -> Answer {
        self.resume(goal);
        Ok(Value::Null)
    }

    fn back(&mut self, goal: Goal) -> Answer {
        if !self.debuggee.keeps_history() {
            return Err("this program was launched with `history: false`, so there is no way back".to_owned());
        }
        self.step(goal)
    }
}
