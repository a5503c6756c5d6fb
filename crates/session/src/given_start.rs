//! The request that starts the debuggee, if the front end gives it: what the first client sends only asks for it.
//!
//! A front end that knows the program before a client comes lets any `launch` or `attach` start that program. How the
//! program was found is not known here.

use breakroom_dap::{Message, request};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{ClientId, FromClient};
use crate::launch::{Launch, Start};
use crate::session::Session;

/// Members of a client's own request that name another debuggee, or the way to the front end.
const NOT_KEPT: [&str; 10] =
    ["type", "request", "name", "program", "host", "port", "server", "connect", "processId", "breakroom"];

/// A `launch` or `attach` in the place of the client's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenStart {
    pub request: GivenRequest,
    pub arguments: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GivenRequest {
    Launch,
    Attach,
}

/// A request of a client that was carried out as another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rewritten {
    client: ClientId,
    seq: FromClient,
    asked: Start,
}

impl GivenStart {
    fn start(&self) -> Start {
        match self.request {
            GivenRequest::Launch => Start::Launch,
            GivenRequest::Attach => Start::Attach,
        }
    }

    /// The arguments, with those of the client that say nothing about the debuggee.
    fn with(&self, client: &Map<String, Value>) -> Value {
        let mut arguments = client.clone();
        arguments.retain(|key, _| !NOT_KEPT.contains(&key.as_str()) && !key.starts_with("__"));
        arguments.extend(self.arguments.clone());
        let own = client.get("breakroom").and_then(Value::as_object);
        if let Some(own) = own {
            let ours = arguments.entry("breakroom").or_insert_with(|| Value::Object(Map::new()));
            if let Some(ours) = ours.as_object_mut() {
                ours.extend(
                    own.iter().filter(|(key, _)| *key != "adapter").map(|(k, v)| (k.clone(), v.clone())),
                );
            }
        }
        Value::Object(arguments)
    }
}

impl Session {
    /// What a client's `launch` or `attach` is carried out as.
    pub(crate) fn given_start(
        &mut self,
        client: ClientId,
        seq: FromClient,
        asked: Start,
        message: Message,
    ) -> (Start, Message) {
        let is_first = matches!(self.launch, Launch::Unasked) && !self.has_debuggee();
        let Some(given) = self.setup.start.as_ref().filter(|_| is_first) else { return (asked, message) };
        let words: Option<Value> =
            message.payload().and_then(|arguments| serde_json::from_slice(arguments.raw()?).ok());
        let words = words.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        let goes_elsewhere = words.get("breakroom").is_some_and(|own| own["session"].is_string());
        if goes_elsewhere {
            return (asked, message);
        }
        let start = given.start();
        let message = request(start.command(), given.with(&words));
        self.rewritten = Some(Rewritten { client, seq, asked });
        (start, message)
    }

    /// The command that an answer has to name: a client that sent `attach` is answered so, whatever was done.
    pub(crate) fn command_of_answer<'a>(
        &self,
        client: ClientId,
        seq: FromClient,
        command: &'a str,
    ) -> &'a str {
        match self.rewritten {
            Some(rewritten) if (rewritten.client, rewritten.seq) == (client, seq) => {
                rewritten.asked.command()
            }
            _ => command,
        }
    }
}
