//! From `initialize` to a program that runs.
//!
//! The debugger is not started before `start`: until then the IDE may name the file and the breakpoints.

use std::path::PathBuf;

use breakroom_client::model::{self, Source};
use breakroom_client::{Happening, LAUNCH_PATIENCE, Request, Signs, exception_filters, introduction};
use serde_json::{Value, json};

use crate::Connection;
use crate::breakpoints::Breakpoints;
use crate::door::{Door, State, Then};
use crate::event::Event;
use crate::failure::Failure;
use crate::files::{self, Files, location};
use crate::live::{Live, Run};
use crate::watches::Watches;

/// What is known before the program runs. It goes on to be changed while it does.
pub struct Plan {
    pub program: Program,
    pub cwd: PathBuf,
    pub files: Files,
    pub breakpoints: Breakpoints,
    pub watches: Watches,
}

pub struct Program {
    pub path: String,
    /// As the IDE spells it.
    pub spelled: String,
}

impl Door {
    pub fn initialize(&mut self, file: Option<String>, folder: Option<String>) -> Result<(), Failure> {
        let own = &self.setup.cwd;
        let cwd = folder.as_ref().map_or_else(|| own.clone(), |folder| own.join(folder));
        if !cwd.is_dir() {
            return Err(Failure::Refused(format!("workingDir: {} is not a folder", cwd.display())));
        }
        let spelled = file.unwrap_or_else(|| self.setup.file.clone());
        let mut folders = vec![own.clone(), cwd.clone()];
        let path = PathBuf::from(Files::new(folders.clone()).name(&spelled));
        if let Err(why) = files::check(&path) {
            return Err(Failure::Refused(format!("Error reading file: {spelled}: {why}")));
        }
        // A bare name in a breakpoint is most likely a neighbour of the program.
        folders.extend(path.parent().map(PathBuf::from));
        let mut files = Files::new(folders);
        let program = Program { path: files.name(&spelled), spelled: spelled.clone() };
        let (breakpoints, watches) = (Breakpoints::default(), Watches::default());
        self.state = State::Initialized(Box::new(Plan { program, cwd, files, breakpoints, watches }));
        self.link.say(Event::new("initialized").with("file", &*spelled))
    }

    pub fn start(&mut self) -> Result<Then, Failure> {
        let State::Initialized(mut plan) = std::mem::replace(&mut self.state, State::Launching) else {
            return Err(Failure::Refused("not initialized".to_owned()));
        };
        let opened = (self.setup.open)(plan.program.path.as_ref(), &plan.cwd);
        let Connection { reader, writer, adapter, request, launch, close } = match opened {
            Ok(connection) => connection,
            Err(why) => return self.fail_to_start(&mut plan, &why),
        };
        self.link.client.connect(reader, writer);
        self.close = Some(close);
        self.request = request;
        // Only one who has not said where to stop wants to stop at once; what runs already has no beginning.
        let at_entry = plan.breakpoints.all().is_empty() && request == Request::Launch;
        let complaints = match self.launch(&mut plan, &adapter, request, launch, at_entry) {
            Ok(complaints) => complaints,
            Err(Failure::Lost(why)) => {
                let why = self.reason_of_the_end().unwrap_or(why);
                return self.fail_to_start(&mut plan, &why);
            }
            Err(Failure::Refused(why)) => return self.fail_to_start(&mut plan, &why),
            Err(failure) => return Err(failure),
        };
        self.link.hold();
        self.link.say(Event::new("started"))?;
        for complaint in complaints {
            self.link.say(complaint)?;
        }
        let run = if at_entry { Run::Entering } else { Run::Running };
        self.state = State::Live(Box::new(Live::new(*plan, run, self.setup.name.clone())));
        Ok(Then::GoOn)
    }

    /// Launches the program, or joins who debugs it; what the debugger said about the breakpoints.
    fn launch(
        &mut self,
        plan: &mut Plan,
        adapter: &str,
        request: Request,
        mut arguments: Value,
        at_entry: bool,
    ) -> Result<Vec<Event>, Failure> {
        let link = &mut self.link;
        let capabilities = link.ask_quietly("initialize", introduction(adapter, &self.setup.name))?;
        link.client.learn(capabilities);
        arguments["breakroom"] = json!({"events": true});
        if request == Request::Launch {
            arguments["cwd"] = plan.cwd.to_string_lossy().into();
            // An IDE that was killed is not coming back for its program.
            arguments["breakroom"]["onLastLeave"] = "terminate".into();
        }
        if at_entry {
            arguments["stopOnEntry"] = true.into();
        }
        let command = request.command();
        let launch = link.client.send(command, arguments)?;
        let mut launched = None;
        let is_over = link.until("initialized", LAUNCH_PATIENCE, |client| {
            let Signs { is_ready, is_over } = client.signs();
            if launched.is_none() {
                launched = client.take_answer(launch, command);
            }
            if is_ready {
                client.take(|happening| happening.is_event("initialized"));
                return Some(false);
            }
            // A failed launch is never followed by `initialized`, nor is one whose program cannot be compiled.
            let failed = matches!(launched, Some(Err(_)));
            let is_over = is_over && launched.is_some();
            (failed || is_over).then_some(is_over)
        })?;
        if let Some(answer) = &mut launched
            && answer.is_err()
        {
            std::mem::replace(answer, Ok(Value::Null))?;
        }
        if is_over {
            return Ok(Vec::new());
        }
        let complaints = plan.send_breakpoints(link)?;
        let filters = exception_filters(link.client.capability("exceptionBreakpointFilters"));
        if !filters.is_empty() {
            match link.ask_quietly("setExceptionBreakpoints", json!({"filters": filters})) {
                // The program can be debugged without stopping at exceptions.
                Ok(_) | Err(Failure::Refused(_)) => {}
                Err(failure) => return Err(failure),
            }
        }
        let done = match link.client.can("supportsConfigurationDoneRequest") {
            true => Some(link.client.send("configurationDone", json!({}))?),
            false => None,
        };
        // A failed launch is the cause of a failed configurationDone, so it is looked at first.
        if launched.is_none() {
            link.until(command, LAUNCH_PATIENCE, |client| client.take_answer(launch, command))??;
        }
        if let Some(done) = done {
            link.until("configurationDone", LAUNCH_PATIENCE, |client| {
                client.take_answer(done, "configurationDone")
            })??;
        }
        Ok(complaints)
    }

    /// The program never ran: what the debugger found wrong with it, or at least its reason.
    fn fail_to_start(&mut self, plan: &mut Plan, why: &str) -> Result<Then, Failure> {
        let mut is_told = false;
        while let Some(happening) = self.link.client.happened() {
            match happening {
                Happening::Event(event) if event.name == "output" => match finding(plan, &event.body) {
                    Some(finding) => {
                        is_told = true;
                        self.link.say(finding)?;
                    }
                    None => self.link.pass_on(&event.body)?,
                },
                Happening::Event(_)
                | Happening::Answered(_)
                | Happening::Interrupt
                | Happening::Leave
                | Happening::Typed(_)
                | Happening::Disconnected { .. } => {}
            }
        }
        if !is_told {
            self.link.say(Event::refusal(why, Some("start")))?;
        }
        self.exit(1)
    }
}

/// What a debugger found wrong at a place, if that is what it says.
pub fn finding(plan: &mut Plan, body: &Value) -> Option<Event> {
    let line = model::integer(&body["line"]).filter(|_| body["category"] == "important")?;
    let source = Source::read(&body["source"])?;
    let file = source.path.map_or(source.name, |path| plan.files.spelling(&path));
    let column = model::integer(&body["column"]).unwrap_or(1);
    let message = body["output"].as_str().unwrap_or_default().trim_end();
    Some(Event::new("error").with("message", message).object("location", location(&file, line, column)))
}
