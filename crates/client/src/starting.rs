//! How a session begins: `initialize`, the launch, and what has to come between the two.
//!
//! A door that must stay awake meanwhile does the same with `send` and `take_answer`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Client, Error, PATIENCE, Request, RequestId, model};

/// A launch may compile the program first.
pub const LAUNCH_PATIENCE: Duration = Duration::from_secs(600);

/// Filters for what a program that has run for long may well live with: whoever comes to one asked for none of those stops.
const OFTEN_CAUGHT: [&str; 1] = ["rust_panic"];

/// What came first of a launch.
enum Begun {
    /// The debugger may be told breakpoints.
    Ready { launched: bool },
    /// The program was over before it could be debugged: Perl says so of one that it cannot compile.
    Over,
}

/// What has come that a launch is waited for by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signs {
    pub is_ready: bool,
    pub is_over: bool,
}

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
        let launched = match self.wait_for_initialized(launch, request, meanwhile)? {
            Begun::Over => return Ok(()),
            Begun::Ready { launched } => launched,
        };
        configure(self)?;
        self.set_exception_breakpoints(request)?;
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

    /// One look for all of them: what a second one took in would be waited for although it is here. Whether the launch is
    /// answered is asked behind it, which takes nothing in.
    pub fn signs(&mut self) -> Signs {
        self.waiting().fold(Signs::default(), |signs, happening| Signs {
            is_ready: signs.is_ready || happening.is_event("initialized"),
            is_over: signs.is_over || happening.is_event("terminated"),
        })
    }

    /// A failed launch is never followed by `initialized`, nor is one whose program cannot be compiled.
    fn wait_for_initialized<E: From<Error>>(
        &mut self,
        launch: RequestId,
        request: Request,
        mut meanwhile: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<Begun, E> {
        let deadline = Instant::now() + LAUNCH_PATIENCE;
        let mut launched = false;
        loop {
            meanwhile(self)?;
            let Signs { is_ready, is_over } = self.signs();
            if !launched && self.is_answered(launch) {
                self.wait(launch, request.command(), PATIENCE)?;
                launched = true;
            }
            if is_ready {
                self.take(|happening| happening.is_event("initialized"));
                return Ok(Begun::Ready { launched });
            }
            // It is left for whoever shows what happened.
            if launched && is_over {
                return Ok(Begun::Over);
            }
            self.receive(Some(deadline), "initialized", LAUNCH_PATIENCE)?;
        }
    }

    fn set_exception_breakpoints(&mut self, request: Request) -> Result<(), Error> {
        let Some(known @ Value::Array(_)) = self.capabilities.get("exceptionBreakpointFilters") else {
            return Ok(());
        };
        let filters = self.chosen.take().unwrap_or_else(|| usual_filters(known, request));
        match self.catch(filters) {
            // The program can be debugged without stopping at exceptions.
            Ok(()) | Err(Error::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The filters that are on from the start, in the place of the usual ones.
    pub fn choose_filters(&mut self, filters: Vec<String>) {
        self.chosen = Some(filters);
    }

    /// Has the program stop at the exceptions of these filters, and at no others.
    pub fn catch(&mut self, filters: Vec<String>) -> Result<(), Error> {
        self.request("setExceptionBreakpoints", json!({"filters": filters}))?;
        self.caught = filters;
        Ok(())
    }

    /// The filters that were asked for last.
    pub fn caught(&self) -> &[String] {
        &self.caught
    }
}

/// The filters that are on from the start of a program that is begun in this way.
pub fn usual_filters(known: &Value, request: Request) -> Vec<String> {
    let mut filters = exception_filters(known);
    filters.retain(|filter| request == Request::Launch || !OFTEN_CAUGHT.contains(&filter.as_str()));
    filters
}

/// The filters that a debugger has on by itself; if there are none, those for what nobody catches: it ends the program, and
/// then it is too late to look.
pub fn exception_filters(known: &Value) -> Vec<String> {
    let known = model::list(known, |filter| {
        let is_default = filter["default"] == Value::Bool(true);
        Some((filter["filter"].as_str()?.to_owned(), is_default))
    });
    let chosen = |wanted: &dyn Fn(&(String, bool)) -> bool| -> Vec<String> {
        known.iter().filter(|filter| wanted(filter)).map(|(name, _)| name.clone()).collect()
    };
    let defaults = chosen(&|(_, is_default)| *is_default);
    if !defaults.is_empty() {
        return defaults;
    }
    let ends_the_program = |name: &str| name.contains("uncaught") || name.contains("unhandled");
    chosen(&|(name, _)| ends_the_program(&name.to_lowercase()) && !name.to_lowercase().starts_with("user"))
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
        // Ours: it knows `breakroom/input`.
        "supportsBreakroomInput": true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_that_end_the_program_are_asked_for() {
        let python = json!([
            {"filter": "raised", "default": false}, {"filter": "uncaught", "default": true},
            {"filter": "userUnhandled", "default": false},
        ]);
        assert_eq!(exception_filters(&python), ["uncaught"]);
        let silent = json!([{"filter": "all"}, {"filter": "Unhandled"}, {"filter": "userUnhandled"}]);
        assert_eq!(exception_filters(&silent), ["Unhandled"]);
        assert!(exception_filters(&Value::Null).is_empty());
    }
}
