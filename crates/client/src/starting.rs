//! How a session begins: `initialize`, the launch, and what has to come between the two.
//!
//! A door that must stay awake meanwhile does the same with `send` and `take_answer`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Client, Error, PATIENCE, Request, RequestId};

/// A launch may compile the program first.
pub const LAUNCH_PATIENCE: Duration = Duration::from_secs(600);

impl Client {
    /// `name` is what others in the session see.
    pub fn initialize(&mut self, adapter: &str, name: &str) -> Result<(), Error> {
        let capabilities = self.request("initialize", introduction(adapter, name))?;
        self.learn(capabilities);
        Ok(())
    }

    /// Launches or attaches, with `configure` called when the debugger is ready for breakpoints.
    ///
    /// The request's answer is awaited last: some debuggers answer it only once the configuration is done.
    pub fn start<E: From<Error>>(
        &mut self,
        request: Request,
        arguments: Value,
        configure: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.start_watched(request, arguments, |_| Ok(()), configure)
    }

    /// As [`start`](Self::start), with `meanwhile` called whenever something has come before the debugger is ready: a build
    /// may take its time, and be called off.
    pub fn start_watched<E: From<Error>>(
        &mut self,
        request: Request,
        arguments: Value,
        meanwhile: impl FnMut(&mut Self) -> Result<(), E>,
        configure: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let launch = self.send(request.command(), arguments)?;
        let launched = self.wait_for_initialized(launch, request, meanwhile)?;
        configure(self)?;
        self.set_exception_breakpoints()?;
        let done = match self.can("supportsConfigurationDoneRequest") {
            true => Some(self.send("configurationDone", json!({}))?),
            false => None,
        };
        // A failed launch is the cause of a failed configurationDone, so it is looked at first.
        if !launched {
            self.wait(launch, request.command(), LAUNCH_PATIENCE)?;
        }
        match done {
            Some(done) => Ok(self.wait(done, "configurationDone", PATIENCE).map(drop)?),
            None => Ok(()),
        }
    }

    /// True if the launch was answered before; a failed launch is never followed by `initialized`.
    fn wait_for_initialized<E: From<Error>>(
        &mut self,
        launch: RequestId,
        request: Request,
        mut meanwhile: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<bool, E> {
        let deadline = Instant::now() + LAUNCH_PATIENCE;
        let mut launched = false;
        loop {
            // Before any look of ours: what it takes in must be seen before anything is waited for.
            meanwhile(self)?;
            // Looked at first, since the look takes in what has come, and the answer may be among it.
            let initialized = self.take(|happening| happening.is_event("initialized")).is_some();
            if !launched && self.is_answered(launch) {
                self.wait(launch, request.command(), PATIENCE)?;
                launched = true;
            }
            if initialized {
                return Ok(launched);
            }
            self.receive(Some(deadline), "initialized", LAUNCH_PATIENCE)?;
        }
    }

    fn set_exception_breakpoints(&mut self) -> Result<(), Error> {
        let Some(Value::Array(known)) = self.capabilities.get("exceptionBreakpointFilters") else {
            return Ok(());
        };
        let filters: Vec<Value> = known
            .iter()
            .filter(|filter| filter["default"] == Value::Bool(true))
            .map(|filter| filter["filter"].clone())
            .collect();
        match self.request("setExceptionBreakpoints", json!({"filters": filters})) {
            // The program can be debugged without stopping at exceptions.
            Ok(_) | Err(Error::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The arguments of `initialize`; `name` is what others in the session see.
pub fn introduction(adapter: &str, name: &str) -> Value {
    json!({
        "clientID": "breakroom",
        "clientName": name,
        "adapterID": adapter,
        "pathFormat": "path",
        "linesStartAt1": true,
        "columnsStartAt1": true,
        "supportsVariableType": true,
    })
}
