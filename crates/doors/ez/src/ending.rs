//! The ways a session ends, and what the IDE hears of each.
//!
//! Whatever the debugger still has to do is the hub's business: the IDE kills a process that takes longer than a second.

use std::time::Duration;

use breakroom_client::{Happening, Request};
use serde_json::json;

use crate::door::{Door, State, Then};
use crate::event::Event;
use crate::failure::Failure;

/// How long a debugger may take to let go of a program that has ended.
const GOODBYE: Duration = Duration::from_secs(3);
/// The same when the IDE waits for this process to be gone.
const QUICK_GOODBYE: Duration = Duration::from_millis(300);

impl Door {
    /// The debugger says that the program is over.
    pub fn finish(&mut self) -> Result<Then, Failure> {
        // Its last words, and with some debuggers the exit code, come with the goodbye.
        self.link.say_goodbye(GOODBYE);
        self.take_in_last_words()?;
        match &self.state {
            State::Live(live) if live.exit_code.is_none() => match live.death.clone() {
                Some(why) => self.lose(&why),
                None => self.be_terminated(),
            },
            _ => self.exit(0),
        }
    }

    /// It is over and nobody said how it ended: others may have ended it. A code would be made up.
    fn be_terminated(&mut self) -> Result<Then, Failure> {
        self.link.hear();
        self.link.refuse_the_rest("program has ended")?;
        self.link.say(Event::new("terminated"))?;
        self.reason_of_the_end();
        Ok(Then::End(0))
    }

    /// The connection to the debugger ended, and nobody said that the program did.
    pub fn lose(&mut self, reason: &str) -> Result<Then, Failure> {
        let reason = self.reason_of_the_end().unwrap_or_else(|| reason.to_owned());
        let has_ended = matches!(&self.state, State::Live(live) if live.exit_code.is_some());
        if !has_ended {
            self.link.say(Event::refusal(&format!("the debugger is gone: {reason}"), None))?;
        }
        self.exit(1)
    }

    fn take_in_last_words(&mut self) -> Result<(), Failure> {
        while let Some(happening) = self.link.client.happened() {
            match (happening, &mut self.state) {
                (Happening::Event(event), State::Live(live))
                    if ["output", "exited"].contains(&&*event.name) =>
                {
                    live.take_in(&mut self.link, event)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Tells the end. `otherwise` is the exit code if the debugger never said one.
    pub fn exit(&mut self, otherwise: i64) -> Result<Then, Failure> {
        self.link.hear();
        self.link.refuse_the_rest("program has ended")?;
        let said = match &self.state {
            State::Live(live) => live.exit_code,
            State::Fresh | State::Initialized(_) | State::Launching => None,
        };
        let code = said.unwrap_or(otherwise);
        self.link.say(Event::new("exited").with("exitCode", code))?;
        if let State::Launching = self.state
            && self.close.is_some()
        {
            self.link.say_goodbye(GOODBYE);
        }
        self.reason_of_the_end();
        Ok(Then::End(i32::try_from(code.rem_euclid(256)).unwrap_or(1)))
    }

    /// The IDE wants the program ended, for everybody.
    pub fn terminate(&mut self) -> i32 {
        // Nobody is left to tell if this cannot be written.
        let _ = self.link.refuse_the_rest("the session was terminated");
        if self.close.is_some() {
            if self.request == Request::Join {
                // The hub takes the `disconnect` of a client that joined as its own leaving, unless it has asked for the end.
                let _ = self.link.client.send("terminate", json!({}));
            }
            self.link.disconnect(json!({"restart": false, "terminateDebuggee": true}), QUICK_GOODBYE);
        }
        let _ = self.link.say(Event::new("terminated"));
        0
    }

    /// No more commands will come, and nothing goes on without one.
    pub fn leave(&mut self) -> i32 {
        if self.close.is_some() {
            self.link.say_goodbye(GOODBYE);
            let _ = self.link.say(Event::new("terminated"));
            self.reason_of_the_end();
        }
        0
    }

    /// Nobody reads the events any more.
    pub fn abandon(&mut self) -> i32 {
        if self.close.is_some() {
            self.link.say_goodbye(QUICK_GOODBYE);
        }
        0
    }

    /// Why the session let go of this client, if it said.
    pub fn reason_of_the_end(&mut self) -> Option<String> {
        self.close.take().and_then(|close| close())
    }
}
