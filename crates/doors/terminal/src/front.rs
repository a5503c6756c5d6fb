//! A debug session in a terminal: what is known, how it begins and how it is left.
//!
//! After a resume of one's own nothing is read until the program stops or ends, so piped commands always meet the same
//! state. How commands and happenings are waited for is in `turn`.

mod act;
mod company;
mod inspect;
mod stop;
mod turn;

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::breakpoints::{Breakpoints, Target};
use crate::commands::Command;
use crate::error::Error;
use crate::view::{Paint, Screen};
use crate::{Ending, Outcome, Place, Request, Setup, Spot};
use breakroom_client::model;
use breakroom_client::{Client, Event, Happening};
use company::{Mover, plain_goodbye};
use stop::Stop;
use turn::{Line, Turn};

/// A debugger that does not let go in this time is left to whoever started it.
const GOODBYE_PATIENCE: Duration = Duration::from_secs(10);

pub struct Front<'a, O> {
    client: Client,
    setup: Setup,
    screen: Screen<'a, O>,
    breakpoints: Breakpoints,
    position: Position,
    /// Stops of other threads that came while one was shown.
    waiting_stops: VecDeque<Event>,
    exit_code: Option<i64>,
    last_step: Command,
    sources: HashMap<String, Vec<String>>,
    line: Line,
    input: ProgramInput,
    /// How often others have resumed the program from a stop that was known here, and who did it last.
    moves: u64,
    last_other: String,
    /// Who was last heard to resume it. Cleared at every stop.
    mover: Option<Mover>,
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum PauseAsked {
    No,
    Yes,
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
            waiting_stops: VecDeque::new(),
            exit_code: None,
            last_step: Command::Nothing,
            sources: HashMap::new(),
            line: Line::NotAsked,
            input: ProgramInput::Open,
            moves: 0,
            last_other: String::new(),
            mover: None,
        }
    }

    pub fn run(mut self) -> Result<Outcome, Error> {
        if let Err(error) = self.start() {
            // The debugger's own words often say more than its refusal.
            self.take_in_what_happened()?;
            self.say_goodbye(plain_goodbye())?;
            return Err(error);
        }
        loop {
            let command = match self.next_turn()? {
                Turn::Command(command) => command,
                Turn::Leave => return self.quit(),
                Turn::Ended { lost } => return self.end(lost),
            };
            match self.obey(command) {
                Ok(act::Then::ReadOn) => {}
                Ok(act::Then::Quit) => return self.quit(),
                Ok(act::Then::Kill) => return self.kill(),
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
        let (breakpoints, screen) = (&mut self.breakpoints, &mut self.screen);
        let meanwhile = |client: &mut Client| show_preparation(client, screen);
        self.client.start_watched(self.setup.request, arguments, meanwhile, |client| {
            refusals = breakpoints.send_all(client)?;
            Ok::<_, Error>(())
        })?;
        self.introduce()?;
        for refusal in refusals {
            self.screen.complain(&refusal.to_string())?;
        }
        let pending: Vec<String> =
            self.breakpoints.all().iter().map(|breakpoint| breakpoint.describe()).collect();
        self.screen.say(&pending.join("\n"))?;
        if stop_at_entry && self.setup.request == Request::Attach {
            // A session that is joined may be stopped already, and then there is nothing to pause.
            match self.pause() {
                Err(error) if !error.is_refusal() => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// The program is over.
    fn end(mut self, lost: Option<String>) -> Result<Outcome, Error> {
        // Others may want to look at what is left of it.
        self.say_goodbye(plain_goodbye())?;
        let ending = match (self.exit_code, lost) {
            (Some(code), _) => format!("the program ended with exit code {code}"),
            (None, Some(reason)) if self.setup.request == Request::Join => {
                format!("the connection to the session ended: {reason}")
            }
            (None, _) => "the program ended".to_owned(),
        };
        self.screen.say(&ending)?;
        Ok(Outcome { ending: Ending::Ended, exit_code: self.exit_code })
    }

    fn quit(mut self) -> Result<Outcome, Error> {
        let (arguments, farewell) = self.farewell();
        self.say_goodbye(arguments)?;
        self.screen.say(&farewell)?;
        Ok(Outcome { ending: Ending::Quit, exit_code: self.exit_code })
    }

    /// Ends the program, whoever else is there.
    fn kill(mut self) -> Result<Outcome, Error> {
        if self.sessions().is_some() {
            // The hub tells the others whose doing it is. Whether it worked does not matter, because of the next.
            let _ = self.client.request_within("terminate", json!({}), GOODBYE_PATIENCE);
        }
        self.say_goodbye(json!({"restart": false, "terminateDebuggee": true}))?;
        self.screen.say("the program was ended for everybody")?;
        Ok(Outcome { ending: Ending::Quit, exit_code: self.exit_code })
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
    if client.take(|happening| matches!(happening, Happening::Interrupt)).is_some() {
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
