//! The methods that start and stop debug sessions: `debugger/start`, `workspace/debug`, `workspace/debug-attach` and
//! `workspace/stop`.
//!
//! How a program is found and built is not known here.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::choose;
use crate::client::{Call, Client};
use crate::debug_session::{self, Debuggee};
use crate::message::RpcError;
use crate::opening::{self, Opening, Outcome, Reports};
use crate::params::Params;
use crate::sessions::Live;
use crate::targets::{Prepared, Wanted, Work};

/// The client asks for a port, and connects to it itself.
pub fn start(call: &Call, params: &Params) -> Result<Value, RpcError> {
    let wanted = Wanted {
        target: params.string("targetPath")?.into(),
        framework: params.optional_string("targetFramework")?,
        configuration: params.optional_string("configuration")?,
        profile: params.optional_string("launchProfileName")?,
        ..wanted(&call.client)
    };
    let prepared = prepare(call, &wanted)?;
    let Opening { port, .. } = opening::open(&call.client, Debuggee::Program(prepared), Reports::Session)?;
    Ok(json!({"success": true, "port": port}))
}

/// The client asks for a session, and is asked to connect to a port for it.
pub fn workspace_debug(call: &Call, params: &Params) -> Result<Value, RpcError> {
    let use_default = params.flag("useDefault")?;
    let use_profile = params.flag("useLaunchProfile")?;
    let file = params.optional_string("filePath")?.filter(|path| !path.is_empty());
    let args = params.optional_string("cliArgs")?.unwrap_or_default();
    let debug = || {
        let mut wanted = wanted(&call.client);
        wanted.args = split(&args);
        let Some(target) = choose::target(call, &wanted, file.map(PathBuf::from), use_default)? else {
            return Ok(());
        };
        wanted.target = target;
        if use_profile {
            wanted.profile = choose::profile(call, &wanted, use_default)?;
        }
        debug(call, prepare(call, &wanted)?)
    };
    displayed(call, debug()).map(|()| Value::Null)
}

pub fn workspace_attach(call: &Call, _: &Params) -> Result<Value, RpcError> {
    let attach = || {
        let Some(pid) = choose::process(call)? else { return Ok(()) };
        let wanted = wanted(&call.client);
        let prepared = call.client.options().targets.prepare_attach(pid, &wanted);
        debug(call, prepared.map_err(RpcError::failed)?)
    };
    displayed(call, attach()).map(|()| Value::Null)
}

/// Ends every session of the client, whatever the client answers.
pub fn workspace_stop(call: &Call, _: &Params) -> Result<Value, RpcError> {
    let stop = |live| {
        let client = call.client.clone();
        std::thread::spawn(move || stop(&client, &live))
    };
    let stopping: Vec<_> = call.client.sessions.live().into_iter().map(stop).collect();
    for thread in stopping {
        // A panic has ended this session's thread only.
        let _ = thread.join();
    }
    Ok(Value::Null)
}

/// Asks the client to connect, and waits until the program has been started.
fn debug(call: &Call, prepared: Prepared) -> Result<(), RpcError> {
    connected(&call.client, Debuggee::Program(prepared)).map_err(RpcError::failed)
}

/// The same for any debuggee.
pub fn connected(client: &Arc<Client>, debuggee: Debuggee) -> Result<(), String> {
    let name = debuggee.name().to_owned();
    let cannot = |error: String| format!("cannot debug {name}: {error}");
    let Opening { port, number, outcome } =
        opening::open(client, debuggee, Reports::Call).map_err(|error| error.message)?;
    let timeout = client.options().client_timeout;
    let answer = client.peer.call("startDebugSession", json!({"host": "127.0.0.1", "port": port}), timeout);
    let named = answer.map_err(|error| error.to_string()).and_then(|answer| {
        let id = session_id(answer)?;
        match client.sessions.name_by_client(number, id.clone()) {
            true => Ok(()),
            false => Err(format!("the client gave the session id {id} to two sessions")),
        }
    });
    if let Err(error) = named {
        if let Some(hub_session) = client.sessions.stop(number) {
            debug_session::end_session(&hub_session);
        }
        return Err(cannot(error));
    }
    match outcome.recv() {
        Ok(Outcome::Started) => Ok(()),
        Ok(Outcome::Failed(reason)) => Err(reason),
        Err(_) => Err(cannot("the debug client left before the program was started".to_owned())),
    }
}

/// The client's own id: an integer from the plugin of today, `{"sessionId": ...}` by the protocol's document.
fn session_id(answer: Value) -> Result<Value, String> {
    let id = match answer {
        Value::Object(mut members) => members.remove("sessionId").unwrap_or_default(),
        id => id,
    };
    match id {
        Value::Number(_) | Value::String(_) => Ok(id),
        other => Err(format!("the client answered `startDebugSession` with no session id: {other}")),
    }
}

/// Asks the client to end one session, and then ends what is left of it.
fn stop(client: &Arc<Client>, live: &Live) {
    if let Some(id) = &live.client_id {
        let timeout = client.options().client_timeout;
        let answer = client.peer.call("terminateDebugSession", json!({"sessionId": id}), timeout);
        let failure = match answer {
            Ok(Value::Bool(true)) => None,
            Ok(other) => Some(format!("the client answered `terminateDebugSession` with {other}")),
            Err(error) => Some(error.to_string()),
        };
        if let Some(failure) = failure {
            let name = &live.name;
            client.peer.display_error(&format!("{name}: {failure}; breakroom ends the debug session itself"));
        }
    }
    if let Some(hub_session) = client.sessions.stop(live.number) {
        debug_session::end_session(&hub_session);
    }
}

/// What every start of this client has in common.
fn wanted(client: &Client) -> Wanted {
    let project = client.project();
    Wanted { root: project.root.clone(), debugger: project.debugger.clone(), ..Wanted::default() }
}

fn prepare(call: &Call, wanted: &Wanted) -> Result<Prepared, RpcError> {
    let show = |line: String| tracing::info!("{}", line.trim_end());
    let work = Work { cancelled: call.cancelled.clone(), show: &show };
    let prepared = call.client.options().targets.prepare(wanted, &work).map_err(RpcError::failed)?;
    match call.is_cancelled() {
        true => Err(RpcError::failed("the call was cancelled")),
        false => Ok(prepared),
    }
}

/// Shows the user why a call failed: the plugin itself shows only that it did.
fn displayed(call: &Call, outcome: Result<(), RpcError>) -> Result<(), RpcError> {
    if let Err(error) = &outcome
        && !call.is_cancelled()
    {
        call.client.peer.display_error(&error.message);
    }
    outcome
}

/// Arguments as the plugin joins them: split at spaces outside of double quotes.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut begun) = (String::new(), false, false);
    for letter in line.chars() {
        match letter {
            '"' => (quoted, begun) = (!quoted, true),
            letter if letter.is_whitespace() && !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            letter => {
                word.push(letter);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_id_is_read_from_both_answers() {
        for (answer, id) in
            [(json!(1), json!(1)), (json!({"sessionId": 3}), json!(3)), (json!("a"), json!("a"))]
        {
            assert_eq!(session_id(answer), Ok(id));
        }
        for answer in [json!(null), json!({}), json!(true), json!({"sessionId": null})] {
            assert!(session_id(answer).is_err());
        }
    }

    #[test]
    fn arguments_are_split_outside_of_quotes() {
        assert_eq!(split(r#" a "b c" d"e f" "" "#), ["a", "b c", "de f", ""]);
        assert_eq!(split(""), [""; 0]);
    }
}
