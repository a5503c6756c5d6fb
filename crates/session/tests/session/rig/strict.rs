//! A client that accepts nothing but a legal sequence: invariants 1 and 8, and the order of DAP.

use std::collections::HashMap;

use breakroom_session::ClientId;

use super::listener::{Heard, short};

const RESUMES: [&str; 5] = ["continue", "next", "stepIn", "stepOut", "goto"];

#[derive(Default)]
pub struct Strict {
    /// Commands by the number they were sent under. Clients repeat numbers, so there may be several.
    open: HashMap<i64, Vec<Open>>,
    /// Messages that were no messages; each may be refused once.
    nonsense: usize,
    initialize: Initialize,
    declared: Vec<String>,
    initialized: usize,
    terminated: usize,
    ending: Ending,
    arrival: Arrival,
    runs: Option<Runs>,
}

/// Whether it may hear what goes on.
#[derive(Default, PartialEq, Eq, Debug)]
enum Arrival {
    #[default]
    Whenever,
    /// Not before these were answered.
    After(Vec<&'static str>),
}

/// What it believes to run, by what it was told.
#[derive(Default)]
struct Runs {
    others: Seems,
    known: HashMap<i64, Seems>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
enum Seems {
    /// Nobody said, or it asked for a resume itself and has not heard what came of it.
    #[default]
    Unclear,
    Running,
    Stopped,
}

impl Runs {
    fn of(&self, thread: Option<i64>) -> Seems {
        thread.and_then(|thread| self.known.get(&thread)).copied().unwrap_or(self.others)
    }

    fn set(&mut self, thread: Option<i64>, all: bool, seems: Seems) {
        match thread {
            Some(thread) if !all => drop(self.known.insert(thread, seems)),
            _ => {
                self.known.clear();
                self.others = seems;
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Open {
    command: String,
    owed: Owed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owed {
    Surely,
    /// It was sent while the connection was being ended, and may be too late.
    Perhaps,
}

#[derive(Default, PartialEq, Eq, Debug)]
enum Initialize {
    #[default]
    Open,
    Answered,
}

#[derive(Default, PartialEq, Eq, Debug)]
enum Ending {
    #[default]
    No,
    /// The hub lets the client go; what is queued for it still comes.
    Closing,
    /// `disconnect` was answered: this is the last word.
    Disconnected,
    /// The connection broke; nobody can say what it should have heard.
    Lost,
}

impl Strict {
    pub fn joins_late(&mut self) {
        self.arrival = Arrival::After(vec!["attach", "configurationDone"]);
    }

    pub fn watches_runs(&mut self) {
        self.runs = Some(Runs::default());
    }

    /// Notes what the client itself sends.
    pub fn said(&mut self, said: &Heard) {
        if said.json["type"] != "request" || self.ending == Ending::Disconnected {
            return;
        }
        let command = said.json["command"].as_str().unwrap().to_owned();
        if let Some(runs) = self.runs.as_mut().filter(|_| RESUMES.contains(&&*command)) {
            let arguments = &said.json["arguments"];
            runs.set(arguments["threadId"].as_i64(), arguments["singleThread"] != true, Seems::Unclear);
        }
        if command == "initialize" && self.declared.is_empty() {
            let arguments = said.json["arguments"].as_object();
            let declared = arguments.into_iter().flatten().filter(|(_, value)| **value == true);
            self.declared = declared.map(|(key, _)| key.clone()).collect();
        }
        let late = self.ending == Ending::Closing || self.waits_for("disconnect");
        let owed = if late { Owed::Perhaps } else { Owed::Surely };
        self.open.entry(said.json["seq"].as_i64().unwrap()).or_default().push(Open { command, owed });
    }

    pub fn said_nonsense(&mut self) {
        self.nonsense += 1;
    }

    pub fn closing(&mut self) {
        if self.ending == Ending::No {
            self.ending = Ending::Closing;
        }
    }

    pub fn lost(&mut self) {
        self.ending = Ending::Lost;
    }

    pub fn is_lost(&self) -> bool {
        self.ending == Ending::Lost
    }

    pub fn is_answered(&self, seq: i64) -> bool {
        self.open.get(&seq).is_none_or(Vec::is_empty)
    }

    pub fn hears(&mut self, heard: &Heard) {
        let text = || short(heard);
        let ended = matches!(self.ending, Ending::Disconnected | Ending::Lost);
        assert!(!ended, "after the last word: {}", text());
        match heard.json["type"].as_str() {
            Some("response") => self.hears_response(heard),
            Some("event") => self.hears_event(heard),
            Some("request") => {
                assert_eq!(self.initialize, Initialize::Answered, "asked too early: {}", text())
            }
            _ => panic!("no message: {}", text()),
        }
    }

    fn hears_response(&mut self, heard: &Heard) {
        let json = &heard.json;
        let success = json["success"].as_bool().unwrap_or_else(|| panic!("no success: {}", short(heard)));
        let seq = json["request_seq"].as_i64().unwrap_or_else(|| panic!("no request_seq: {}", short(heard)));
        let command = json["command"].as_str().unwrap_or_else(|| panic!("no command: {}", short(heard)));
        let open = self.open.entry(seq).or_default();
        let Some(at) = open.iter().position(|open| open.command == command) else {
            assert!(!success && self.nonsense > 0, "invariant 1: answers nothing: {}", short(heard));
            self.nonsense -= 1;
            return;
        };
        open.remove(at);
        assert!(success || !command.is_empty(), "a failure without its command: {}", short(heard));
        if let Arrival::After(missing) = &mut self.arrival
            && success
        {
            missing.retain(|missing| *missing != command);
            let configures = json["body"]["supportsConfigurationDoneRequest"] == true;
            if command == "initialize" && !configures {
                missing.retain(|missing| *missing != "configurationDone");
            }
        }
        match command {
            "initialize" if success => self.initialize = Initialize::Answered,
            // One who says goodbye twice is answered twice.
            "disconnect" if !self.waits_for("disconnect") => self.ending = Ending::Disconnected,
            _ => {}
        }
    }

    fn waits_for(&self, command: &str) -> bool {
        self.open.values().flatten().any(|open| open.command == command)
    }

    fn hears_event(&mut self, heard: &Heard) {
        let event = heard.json["event"].as_str().unwrap();
        assert_eq!(
            self.initialize,
            Initialize::Answered,
            "before the answer to initialize: {}",
            short(heard)
        );
        let needs = match event {
            "progressStart" | "progressUpdate" | "progressEnd" => Some("supportsProgressReporting"),
            "invalidated" => Some("supportsInvalidatedEvent"),
            "memory" => Some("supportsMemoryEvent"),
            _ => None,
        };
        let declared = |needs: &str| self.declared.iter().any(|declared| declared == needs);
        assert!(needs.is_none_or(declared), "not declared: {}", short(heard));
        if let Arrival::After(missing) = &self.arrival {
            assert!(missing.is_empty() || event == "initialized", "before it joined: {}", short(heard));
        }
        self.hears_of_a_run(event, heard);
        self.initialized += usize::from(event == "initialized");
        self.terminated += usize::from(event == "terminated");
        assert!(self.initialized <= 1 && self.terminated <= 1, "told twice: {}", short(heard));
    }

    /// Between two stops of a thread there is one `continued`, and between two of those a stop.
    fn hears_of_a_run(&mut self, event: &str, heard: &Heard) {
        let Some(runs) = &mut self.runs else { return };
        let body = &heard.json["body"];
        let thread = body["threadId"].as_i64();
        let (seems, all) = match event {
            "stopped" => (Seems::Stopped, body["allThreadsStopped"] == true),
            "continued" => (Seems::Running, body["allThreadsContinued"] != false),
            // It was not there when all were told to be stopped.
            "thread" if body["reason"] == "started" => {
                runs.known.extend(thread.map(|thread| (thread, Seems::Unclear)));
                return;
            }
            _ => return,
        };
        assert_ne!(runs.of(thread), seems, "it knew that: {}", short(heard));
        runs.set(thread, all, seems);
    }

    pub fn assert_nothing_owed(&self, client: ClientId) {
        let surely = |open: &&Open| open.owed == Owed::Surely;
        let owed: Vec<_> = self.open.values().flatten().filter(surely).collect();
        assert!(
            self.ending == Ending::Lost || owed.is_empty(),
            "invariant 1: {client:?} has no answer to {owed:?}"
        );
    }
}
