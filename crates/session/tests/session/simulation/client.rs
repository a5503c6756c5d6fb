//! A client that follows its model, and the person in front of it, who resumes, looks and leaves at any time. Some
//! also do what no sane client does: ask out of order, or with numbers that are long dead.

mod ears;
mod part;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use breakroom_session::{Access, Token};
use serde_json::{Value, json};

use super::absence::Spoken;
use super::models::{ALL, Model, Pace, parsed};
use super::picture::Picture;
use super::random::Random;
use super::traffic::{Birth, Numbers, Question, Traffic};
use crate::rig::TOKEN;

pub use part::Identity;
use part::Part;

pub struct Client {
    pub model: &'static Model,
    /// The name that it goes by, if not its model's own.
    person: Option<&'static str>,
    part: Part,
    /// What it just said makes it one of those who take part.
    pub enters: bool,
    /// It has said what shall become of the program in the end.
    pub spoken: Spoken,
    nature: Nature,
    seq: i64,
    plan: VecDeque<Plan>,
    open: HashMap<i64, Open>,
    /// Requests of the engine that it owes an answer.
    pub asked: Vec<Value>,
    /// What it agreed on with the hub, by list, and with which request. One is unclear when the engine refused it.
    owned: BTreeMap<String, (i64, Result<Vec<Value>, ()>)>,
    /// The numbers of breakpoints that it was ever given.
    numbers: BTreeSet<i64>,
    /// Whether it has inherited numbers that nobody heard of.
    unheard: bool,
    role: Role,
    proof: Proof,
    /// How it starts or joins: the request and its arguments.
    start: (&'static str, Value),
    /// What it has yet to hear before it was shown everything.
    missing: Vec<&'static str>,
    may_configure: bool,
    pub runs: Runs,
    pub seen: Picture,
    /// Every number it ever got, also those that ended long ago.
    references: Vec<Reference>,
    connection: Connection,
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Nature {
    Sane,
    Wild,
}

enum Plan {
    Ask(&'static str, Value),
    /// Breakpoints, whichever there are when it comes to that.
    Set(&'static str),
    Read(Reference),
}

struct Open {
    command: &'static str,
    question: Question,
    /// The list that it asked for.
    list: Option<(String, Vec<Value>)>,
}

/// A number that it was given.
#[derive(Debug, Clone, Copy)]
struct Reference {
    key: &'static str,
    number: i64,
    birth: Birth,
    /// The engine's own number, if that is given only once.
    engine: i64,
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Role {
    Drives,
    /// It will say so with its `attach`.
    WillObserve,
    Observes,
    /// It said that it would observe and has no answer, or was refused, perhaps before that was taken note of.
    Unclear,
}

/// Whether it must show that it may take part.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Proof {
    NotNeeded,
    /// It brings the token.
    Brings,
    /// It tries a wrong one first.
    Guesses,
}

/// A client that never resumes anything knows what runs from events alone.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Runs {
    Resumes,
    LooksOn,
}

#[derive(PartialEq, Eq)]
enum Connection {
    Open,
    /// It hangs up at the next opportunity.
    HangingUp,
    Gone,
}

/// What people do.
const DEEDS: [&str; 21] = [
    "setBreakpoints",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setExceptionBreakpoints",
    "threads",
    "stackTrace",
    "stackTrace",
    "evaluate",
    "evaluate",
    "continue",
    "continue",
    "next",
    "next",
    "stepIn",
    "pause",
    "cancel",
    "vendor/thing",
    "breakroom/breakpoints",
    "restart",
    "terminate",
    "disconnect",
];

#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Comes {
    First,
    Later,
}

impl Client {
    /// One who comes first, or to those who are there already; perhaps one who was there before.
    pub fn new(
        random: &mut Random,
        comes: Comes,
        like: Option<Identity>,
        last_leave: Option<&'static str>,
    ) -> Self {
        let model = *random.pick(&ALL).unwrap();
        let model =
            like.and_then(|(name, _)| ALL.into_iter().find(|model| model.name == name)).unwrap_or(model);
        let person = *random.pick(&[None, Some("Ann"), Some("Bob")]).unwrap();
        let person = like.map_or(person, |(_, person)| person);
        let joins = comes == Comes::Later;
        let proof = match random.below(16) {
            0 => Proof::Guesses,
            1 | 2 => Proof::Brings,
            _ => Proof::NotNeeded,
        };
        let role = if joins && random.one_in(5) { Role::WillObserve } else { Role::Drives };
        let looks_on = random.one_in(2) || role != Role::Drives;
        let mut introduces = parsed(model.introduces);
        introduces["adapterID"] = (*random.pick(&["python", "unheard-of"]).unwrap()).into();
        if random.one_in(4) {
            introduces["supportsRunInTerminalRequest"] = false.into();
        }
        if let Some(person) = person {
            introduces["clientName"] = person.into();
        }
        let mut start = start(random, model, joins, role, proof);
        if let Some(word) = last_leave.filter(|_| role == Role::Drives) {
            start.1["breakroom"]["onLastLeave"] = word.into();
        }
        let mut client = Client {
            model,
            person,
            part: Part::No,
            enters: false,
            spoken: Spoken::No,
            nature: if random.one_in(2) { Nature::Wild } else { Nature::Sane },
            seq: model.first_seq - 1,
            plan: VecDeque::from([Plan::Ask("initialize", introduces)]),
            open: HashMap::new(),
            asked: Vec::new(),
            owned: BTreeMap::new(),
            numbers: BTreeSet::new(),
            unheard: false,
            role,
            proof,
            missing: vec!["initialized", start.0, "configurationDone"],
            may_configure: false,
            start,
            runs: if looks_on { Runs::LooksOn } else { Runs::Resumes },
            seen: Picture::default(),
            references: Vec::new(),
            connection: Connection::Open,
        };
        let mut first = client.start.1.clone();
        if proof == Proof::Guesses {
            first["breakroom"]["token"] = "a-guess".into();
        }
        client.plan.push_back(Plan::Ask(client.start.0, first));
        client
    }

    pub fn access(&self) -> Access {
        match self.proof {
            Proof::NotNeeded => Access::Granted,
            Proof::Brings | Proof::Guesses => Access::NeedsToken(Token::new(TOKEN.as_bytes())),
        }
    }

    pub fn gone(&mut self) {
        self.connection = Connection::Gone;
    }

    pub fn is_gone(&self) -> bool {
        self.connection == Connection::Gone
    }

    pub fn wants_to_hang_up(&self) -> bool {
        self.connection == Connection::HangingUp
    }

    pub fn next(&mut self, random: &mut Random, traffic: &mut Traffic, threads: bool) -> Option<String> {
        if self.is_gone() {
            return None;
        }
        if let Some(asked) = random.take(&mut self.asked) {
            return Some(self.answer(&asked, random, traffic));
        }
        if self.nature == Nature::Wild || self.is_shown() {
            if random.one_in(4) && !self.references.is_empty() {
                let recent = self.references.len().saturating_sub(4);
                let from = if random.one_in(3) { 0 } else { recent };
                let reference = *random.pick(&self.references[from..])?;
                return Some(self.read(reference, random, traffic));
            }
            if random.one_in(5) {
                return self.does(random, traffic, threads);
            }
        }
        if self.waits() && !(self.nature == Nature::Wild && random.one_in(10)) {
            return None;
        }
        Some(match self.plan.pop_front()? {
            Plan::Ask(command, arguments) => self.ask(command, arguments, traffic),
            Plan::Read(reference) => self.read(reference, random, traffic),
            Plan::Set(command) => {
                let arguments = some_list(command, random);
                self.ask(command, arguments, traffic)
            }
        })
    }

    fn waits(&self) -> bool {
        let open = |command: &&str| match self.model.pace {
            Pace::Pipelines => *command == "initialize",
            Pace::OneByOne => !matches!(*command, "launch" | "attach"),
        };
        self.open.values().map(|open| open.command).any(|command| open(&command))
    }

    /// What the person in front of it wants.
    fn does(&mut self, random: &mut Random, traffic: &mut Traffic, threads: bool) -> Option<String> {
        let command = *random.pick(&DEEDS)?;
        let resumes = matches!(command, "continue" | "next" | "stepIn");
        // An end that comes too often would leave nothing to look at.
        let rare = matches!(command, "terminate" | "disconnect") && !random.one_in(6)
            || command == "restart" && !random.one_in(3);
        if rare || (resumes && self.runs == Runs::LooksOn) {
            return None;
        }
        let thread = 1 + random.below(2);
        let arguments = match command {
            "cancel" => {
                let mut open: Vec<_> = self.open.keys().copied().collect();
                open.sort_unstable();
                json!({"requestId": random.pick(&open).copied().unwrap_or(7)})
            }
            _ if resumes && threads => {
                let mut arguments = parsed(self.model.resumes);
                arguments["threadId"] = thread.into();
                arguments["singleThread"] = random.one_in(3).into();
                arguments
            }
            "evaluate" => json!({"expression": "x"}),
            "restart" if random.one_in(3) => {
                json!({"arguments": {"program": "y.py", "breakroom": {"token": TOKEN}}})
            }
            "threads" | "restart" => json!({}),
            "disconnect" => parsed(self.model.goodbye),
            _ if command.starts_with("set") => some_list(command, random),
            _ => json!({"threadId": thread}),
        };
        Some(self.ask(command, arguments, traffic))
    }

    /// Uses a number, perhaps one that ended or one that never was.
    fn read(&mut self, reference: Reference, random: &mut Random, traffic: &mut Traffic) -> String {
        let Reference { key, number, birth, engine } = reference;
        let command = if key == "frameId" { "scopes" } else { "variables" };
        let number = if random.one_in(20) { number + 1000 } else { number };
        if traffic.numbers == Numbers::Again {
            let mark = traffic.next_mark();
            traffic.uses.insert(mark, birth);
            return self.ask(command, json!({ key: number }), traffic);
        }
        let question = Question::Plain(command.into(), json!({ key: engine }));
        let message = self.message(command, json!({ key: number }), question);
        message.to_string()
    }

    pub fn asks(&mut self, command: &'static str, arguments: Value, traffic: &mut Traffic) -> String {
        self.ask(command, arguments, traffic)
    }

    fn ask(&mut self, command: &'static str, mut arguments: Value, traffic: &mut Traffic) -> String {
        if traffic.numbers == Numbers::Once && matches!(command, "threads" | "stackTrace") {
            let question = Question::Plain(command.into(), arguments.clone());
            return self.message(command, arguments, question).to_string();
        }
        let mark = traffic.mark();
        arguments["mark"] = mark.into();
        if command == self.start.0 && self.role == Role::WillObserve {
            self.role = Role::Unclear;
        }
        self.takes_steps(command);
        let message = self.message(command, arguments, Question::Marked(mark));
        // The engine gets an `initialize` of the hub's own.
        match command {
            "initialize" => message.to_string(),
            _ => traffic.send(mark, message.to_string()),
        }
    }

    fn message(&mut self, command: &'static str, arguments: Value, question: Question) -> Value {
        self.seq += 1;
        let message = json!({"seq": self.seq, "type": "request", "command": command, "arguments": arguments});
        let list = match command {
            "setExceptionBreakpoints" => Some(("exceptions".to_owned(), "filters")),
            _ => super::engine::list_of(&message).map(|list| (list, "breakpoints")),
        };
        let list = list.map(|(list, key)| (list, message["arguments"][key].as_array().unwrap().clone()));
        self.open.insert(self.seq, Open { command, question, list });
        message
    }

    fn answer(&mut self, asked: &Value, random: &mut Random, traffic: &mut Traffic) -> String {
        self.seq += 1;
        let mark = traffic.mark();
        let (seq, command) = (&asked["seq"], &asked["command"]);
        let success = !random.one_in(4);
        let message = json!({"seq": self.seq, "type": "response", "request_seq": seq, "command": command, "success": success, "body": {"mark": mark}});
        traffic.send(mark, message.to_string())
    }

    pub fn says_goodbye(&mut self, traffic: &mut Traffic) -> String {
        self.ask("disconnect", parsed(self.model.goodbye), traffic)
    }

    /// What it owns, by list; `None` if it waits for word about some, or cannot know.
    pub fn owns(&self) -> Option<Vec<(&str, &[Value])>> {
        if self.role == Role::Unclear || self.open.values().any(|open| open.list.is_some()) {
            return None;
        }
        if self.role == Role::Observes {
            return Some(Vec::new());
        }
        self.owned.iter().map(|(list, (_, owned))| Some((&**list, owned.as_deref().ok()?))).collect()
    }

    /// Whether it has heard everything that one who takes part hears first.
    pub fn is_shown(&self) -> bool {
        self.missing.is_empty()
    }

    /// Whether it declared that it can show progress.
    pub fn shows_progress(&self) -> bool {
        parsed(self.model.introduces)["supportsProgressReporting"] == true
    }

    /// Whether it waits for a resume. A stop that comes then is that resume's own, as far as anybody can tell.
    pub fn resumes(&self) -> bool {
        self.open.values().any(|open| matches!(open.command, "continue" | "next" | "stepIn"))
    }
}

/// How it starts or joins.
fn start(random: &mut Random, model: &Model, joins: bool, role: Role, proof: Proof) -> (&'static str, Value) {
    let mut begin = parsed(model.adds);
    begin["type"] = "python".into();
    begin["program"] = "x.py".into();
    let mut record = json!({});
    if role == Role::WillObserve {
        record["role"] = "observe".into();
    } else if random.one_in(4) && matches!(model.knows, super::models::Knows::Whatever) {
        record["events"] = true.into();
    }
    if proof != Proof::NotNeeded {
        record["token"] = TOKEN.into();
    }
    let command = match random.below(6) {
        0 if joins => {
            record["ifRunning"] = "join".into();
            "launch"
        }
        _ if joins => "attach",
        0 => {
            record["adapter"] = json!({"args": ["its-own"]});
            "launch"
        }
        1 => "attach",
        _ => "launch",
    };
    if record != json!({}) {
        begin["breakroom"] = record;
    }
    (command, begin)
}

/// When a breakpoint stops, and what it does instead.
pub fn some_terms(random: &mut Random) -> Value {
    let terms = [
        json!({}),
        json!({}),
        json!({"condition": "a"}),
        json!({"condition": "b"}),
        json!({"condition": "a", "hitCondition": "%2"}),
        json!({"hitCondition": "2"}),
        json!({"hitCondition": ">=3"}),
        json!({"logMessage": "l", "condition": ""}),
        json!({"logMessage": "a={a}"}),
    ];
    random.pick(&terms).unwrap().clone()
}

/// Some breakpoints of one list, on what terms ever.
fn some_list(command: &str, random: &mut Random) -> Value {
    let mut places = match command {
        "setExceptionBreakpoints" => {
            let filters = ["raised", "uncaught"].into_iter().filter(|_| random.one_in(2));
            return json!({"filters": filters.collect::<Vec<_>>()});
        }
        "setFunctionBreakpoints" => vec![json!({"name": "f"}), json!({"name": "g"})],
        _ => vec![
            json!({"line": 3}),
            json!({"line": 4}),
            json!({"line": 4, "column": 2}),
            json!({"line": 5, "vendor": null}),
        ],
    };
    places.retain(|_| random.one_in(2));
    for place in &mut places {
        let terms = some_terms(random);
        place.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
    }
    match command {
        "setFunctionBreakpoints" => json!({"breakpoints": places}),
        _ => {
            let path = if random.one_in(4) { "y.py" } else { "x.py" };
            json!({"source": {"path": path}, "breakpoints": places})
        }
    }
}
