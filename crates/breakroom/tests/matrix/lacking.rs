//! What an adapter cannot do is told to the client: not offered, or refused in words, never silently ignored.

use serde_json::Value;

use super::adapter::{Adapter, Lack, Shown};
use super::session::Session;

pub fn is_told(adapter: &'static Adapter, lack: &Lack) {
    match &lack.shown {
        Shown::NotOffered(capability) => {
            let (session, _) = Session::at(adapter, None, "call", adapter.names.main);
            let offered = |said: &Value| match &said[capability] {
                Value::Array(list) => !list.is_empty(),
                said => *said == true,
            };
            let raised =
                session.client.timeline().events("capabilities").any(|body| offered(&body["capabilities"]));
            assert!(!offered(&session.offered) && !raised, "`{capability}` is offered: {}", lack.why);
            session.abandoned();
        }
        Shown::Refused { command, arguments, said } => {
            let (mut session, stop) = Session::at(adapter, None, "add", adapter.names.add);
            let answer = session.client.call_failing(command, arguments(&stop.frame));
            assert!(answer["message"].as_str().is_some_and(|text| text.contains(said)), "{answer}");
            // And the session goes on.
            session.client.call("threads", Value::Null);
            session.abandoned();
        }
    }
}
