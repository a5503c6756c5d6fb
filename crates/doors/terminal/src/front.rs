//! A debug session in a terminal: what is known, how it begins and how it is left.
//!
//! After a resume of one's own no command is carried out until the program stops or ends, so piped commands always meet the
//! same state. How commands and happenings are waited for is in `turn`.

mod act;
mod ahead;
mod catching;
mod company;
mod inspect;
mod meanwhile;
mod pausing;
mod standing;
mod stop;
mod threads;
mod turn;
mod values;

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::breakpoints::{Breakpoints, Target};
use crate::commands::Command;
use crate::error::Error;
use crate::view::{Paint, Screen};
use crate::{Ending, Errors, Outcome, Place, Prompts, Request, Rest, Setup, Sight, Spot};
use ahead::Ahead;
use breakroom_client::model;
use breakroom_client::model::ThreadId;
use breakroom_client::{Client, Happening};
use catching::Filters;
use company::{Mover, plain_goodbye};
use pausing::PauseAsked;
use standing::Threads;
use stop::Stop;
use threads::Awaited;
use turn::{Line, Turn, Waiting};

/// A debugger that does not let go in this time is left to whoever started it.
const GOODBYE_PATIENCE: Duration = Duration::from_secs(10);

pub struct Front<'a, O> {
    client: Client,
    setup: Setup,
    screen: Screen<'a, O>,
    breakpoints: Breakpoints,
    position: Position,
    threads: Threads,
    /// Cleared at every stop that is shown.
    awaited: Awaited,
    exit_code: Option<i64>,
    /// What an empty line repeats, and the thread that it is repeated for.
    last_step: Option<(Command, ThreadId)>,
    sources: HashMap<String, Vec<String>>,
    line: Line,
    /// What a person typed while the program ran, and knows to wait for its stop.
    waiting: VecDeque<Waiting>,
    ahead: Ahead,
    input: ProgramInput,
    /// How often others have resumed the program from a stop that was known here, and who did it last.
    moves: u64,
    last_other: String,
    sight: Arc<Sight>,
    /// The thread of the last stop that was shown, or that was resumed since.
    last_thread: Option<ThreadId>,
    /// Who was last heard to resume it. Cleared at every stop.
    mover: Option<Mover>,
    /// Who was heard to have the program ended.
    ender: Option<String>,
    filters: Filters,
    rest: Option<Arc<dyn Rest>>,
}

enum Position {
    Running {
        pause: PauseAsked,
        by: Resumer,
    },
    Stopped(Stop),
    /// The person insisted on leaving while the program runs.
    Leaving,
    /// The program has ended, or with a reason, the connection to it has.
    Ended {
        lost: Option<String>,
    },
}

/// How the session is left.
enum Last {
    Quit,
    Kill,
    Ended { lost: Option<String> },
}

/// Whether the program can still be given something to read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgramInput {
    Open,
    Ended,
}

/// Who let the program run.
enum Resumer {
    Me,
    Other(String),
    /// It ran when it was joined.
    Unknown,
}

impl<'a, O: Write> Front<'a, O> {
    pub fn new(client: Client, setup: Setup, output: &'a mut O) -> Self {
        let paint = if setup.colour { Paint::Colour } else { Paint::Plain };
        let by = if setup.request == Request::Join { Resumer::Unknown } else { Resumer::Me };
        Self {
            client,
            setup,
            screen: Screen::new(output, paint),
            breakpoints: Breakpoints::default(),
            position: Position::Running { pause: PauseAsked::No, by },
            threads: Threads::default(),
            awaited: Awaited::default(),
            exit_code: None,
            last_step: None,
            sources: HashMap::new(),
            line: Line::NotAsked,
            waiting: VecDeque::new(),
            ahead: Ahead::new(),
            input: ProgramInput::Open,
            moves: 0,
            last_other: String::new(),
            sight: Arc::default(),
            last_thread: None,
            mover: None,
            ender: None,
            filters: Filters::Usual,
            rest: None,
        }
    }

    pub fn with_rest(mut self, rest: Arc<dyn Rest>) -> Self {
        self.rest = Some(rest);
        self
    }

    /// Where it is written down when a line was begun.
    pub fn with_sight(mut self, sight: Arc<Sight>) -> Self {
        self.sight = sight;
        self
    }

    pub fn with_prompts(mut self, prompts: Arc<dyn Prompts>) -> Self {
        self.screen.let_prompts_be_shown_by(prompts);
        self
    }

    pub fn run(mut self) -> Result<Outcome, Error> {
        if let Err(error) = self.start() {
            // The debugger's own words often say more than its refusal.
            self.screen.mind_output();
            self.take_in_what_happened()?;
            self.say_goodbye(plain_goodbye())?;
            return Err(match self.setup.errors {
                Errors::Beside => error.without(|line| self.screen.has_shown(line)),
                Errors::Apart => error,
            });
        }
        match self.converse() {
            Ok(Last::Quit) => self.quit(),
            Ok(Last::Kill) => self.kill(),
            Ok(Last::Ended { lost }) => self.end(lost),
            Err(error) if error.is_parting() => self.quit(),
            Err(error) => {
                // The terminal may be gone; the others must not take this one for lost.
                let (arguments, _) = self.farewell();
                let _ = self.say_goodbye(arguments);
                Err(error)
            }
        }
    }

    fn converse(&mut self) -> Result<Last, Error> {
        loop {
            let command = match self.next_turn()? {
                Turn::Command(command) => command,
                Turn::Leave => return Ok(Last::Quit),
                Turn::Ended { lost } => return Ok(Last::Ended { lost }),
            };
            match self.obey(command) {
                Ok(act::Then::ReadOn) => {}
                Ok(act::Then::Quit) => return Ok(Last::Quit),
                Ok(act::Then::Kill) => return Ok(Last::Kill),
                Err(error) if error.is_passing() => self.screen.complain(&error.to_string())?,
                Err(error) if error.is_loss() => {
                    // What came before the loss may say that the program has ended.
                    self.take_in_what_happened()?;
                    if !matches!(self.position, Position::Ended { .. }) {
                        self.position = Position::Ended { lost: Some(error.to_string()) };
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn start(&mut self) -> Result<(), Error> {
        let mut arguments = self.setup.launch.clone();
        let adapter = arguments["type"].as_str().unwrap_or("breakroom").to_owned();
        let stop_at_entry = self.setup.stop_at_entry || self.setup.breakpoints.is_empty();
        if stop_at_entry && self.setup.request == Request::Launch {
            arguments["stopOnEntry"] = true.into();
        }
        for place in self.setup.breakpoints.clone() {
            let target = self.resolve(&place)?;
            self.breakpoints.insert(target, place.terms);
        }
        self.client.initialize(&adapter, &self.setup.name)?;
        if self.setup.request != Request::Launch {
            // Whoever comes back to a session finds its breakpoints there, and must know them to keep them.
            let listed = self.everybodys_breakpoints()?;
            self.breakpoints.take_over(&listed);
        }
        let mut refusals = Vec::new();
        let wanted = std::mem::take(&mut self.setup.catch);
        if !wanted.is_empty() {
            self.filters = Filters::Chosen;
        }
        let (breakpoints, screen) = (&mut self.breakpoints, &mut self.screen);
        let meanwhile = |client: &mut Client| show_preparation(client, screen);
        self.client.start_watched(self.setup.request, arguments, meanwhile, |client| {
            refusals = breakpoints.send_all(client)?;
            catching::choose(wanted, client)
        })?;
        self.ahead.begin_run();
        self.introduce()?;
        for refusal in refusals {
            self.screen.complain(&refusal.to_string())?;
        }
        let pending: Vec<String> =
            self.breakpoints.all().iter().map(|breakpoint| breakpoint.describe()).collect();
        self.screen.say(&pending.join("\n"))?;
        if stop_at_entry && self.setup.request == Request::Attach {
            self.pause_what_has_begun()?;
        }
        let is_in_vain = self.setup.request == Request::Launch && self.breakpoints.are_all_refused();
        if is_in_vain && !stop_at_entry {
            self.screen.complain("none of the breakpoints can be set, so the program is paused")?;
            self.pause_what_has_begun()?;
        }
        Ok(())
    }

    /// The program is over.
    fn end(mut self, lost: Option<String>) -> Result<Outcome, Error> {
        // Others may want to look at what is left of it.
        self.say_goodbye(plain_goodbye())?;
        if self.setup.input.is_some() && self.input == ProgramInput::Open {
            self.screen.complain("this debugger gives the program no input; it has read nothing of it")?;
        }
        let ending = match (self.exit_code, lost) {
            (Some(code), _) => format!("the program ended with exit code {code}"),
            (None, Some(reason)) if self.setup.request == Request::Join => {
                format!("the connection to the session ended: {reason}")
            }
            (None, _) => "the program ended".to_owned(),
        };
        self.screen.say(&ending)?;
        let undone = self.undone();
        Ok(Outcome { undone, ..self.outcome(Ending::Ended) })
    }

    fn outcome(&self, ending: Ending) -> Outcome {
        let notices = self.screen.words().filter_map(|line| line.strip_prefix("breakroom: "));
        let notices = notices.map(str::to_owned).collect();
        Outcome { ending, exit_code: self.exit_code, notices, undone: Vec::new() }
    }

    fn quit(mut self) -> Result<Outcome, Error> {
        let (arguments, farewell) = self.farewell();
        self.say_goodbye(arguments)?;
        self.screen.say(&farewell)?;
        Ok(self.outcome(Ending::Quit))
    }

    /// Ends the program, whoever else is there.
    fn kill(mut self) -> Result<Outcome, Error> {
        if self.sessions().is_some() {
            // The hub tells the others whose doing it is. Whether it worked does not matter, because of the next.
            let _ = self.client.request_within("terminate", json!({}), GOODBYE_PATIENCE);
        }
        self.say_goodbye(json!({"restart": false, "terminateDebuggee": true}))?;
        self.screen.say("the program was ended for everybody")?;
        Ok(self.outcome(Ending::Quit))
    }

    /// Ends the session at the debugger and shows what it still has to say.
    fn say_goodbye(&mut self, arguments: Value) -> Result<(), Error> {
        // It may be gone already, and nothing more can be done about one that is not.
        let _ = self.client.request_within("disconnect", arguments, GOODBYE_PATIENCE);
        self.position = Position::Ended { lost: None };
        self.take_in_what_happened()
    }

    fn is_joined(&self) -> bool {
        self.setup.request == Request::Join
    }

    /// Which file or function a place means here.
    fn resolve(&self, place: &Place) -> Result<Target, Error> {
        match &place.spot {
            Spot::Function(_) if place.terms.log.is_some() => Err(Error::Missing {
                what: "log text at a function".to_owned(),
                advice: "give its line instead".to_owned(),
            }),
            Spot::Function(name) => Ok(Target::Function(name.clone())),
            Spot::Line { file, line } => {
                let current = self.current_file();
                let path = match (file, current) {
                    (None, Some(current)) => current,
                    (None, None) => {
                        return Err(Error::Missing {
                            what: "current file".to_owned(),
                            advice: format!("write FILE:{line}"),
                        });
                    }
                    // A name without folders means the file that is looked at, wherever that is.
                    (Some(file), Some(current))
                        if !Path::new(file).exists() && model::file_name(&current) == file =>
                    {
                        current
                    }
                    (Some(file), _) => absolute(file),
                };
                Ok(Target::Line { path, line: *line })
            }
        }
    }

    fn current_file(&self) -> Option<String> {
        let stopped_in = match &self.position {
            Position::Stopped(stop) => stop.frame().and_then(|frame| frame.source.as_ref()?.path.clone()),
            Position::Running { .. } | Position::Leaving | Position::Ended { .. } => None,
        };
        stopped_in.or_else(|| self.setup.launch["program"].as_str().map(absolute))
    }
}

/// A build says what it does while it does it, and Ctrl-C ends it.
fn show_preparation<O: Write>(client: &mut Client, screen: &mut Screen<'_, O>) -> Result<(), Error> {
    if client.take(|happening| matches!(happening, Happening::Interrupt | Happening::Leave)).is_some() {
        return Err(Error::CalledOff);
    }
    let is_console = |happening: &Happening| matches!(happening, Happening::Event(event) if event.name == "output" && event.body["category"] == "console");
    while let Some(Happening::Event(event)) = client.take(is_console) {
        screen.console(event.body["output"].as_str().unwrap_or_default())?;
    }
    Ok(())
}

fn absolute(file: &str) -> String {
    std::path::absolute(file).map_or_else(|_| file.to_owned(), |path| path.to_string_lossy().into_owned())
}
