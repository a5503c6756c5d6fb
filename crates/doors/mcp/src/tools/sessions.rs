//! Which sessions there are, how each is, and their end.

use std::path::PathBuf;
use std::sync::Arc;

use breakroom_client::{Request, model};
use serde_json::{Value, json};

use crate::Wanted;
use crate::arguments::Arguments;
use crate::door::Door;
use crate::failure::Failure;
use crate::session::{Session, code};
use crate::stopped::{MOST_OUTPUT, Stopped};
use crate::telling::budget::Room;
use crate::telling::reply::{Reply, State};

pub async fn get(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    if let Some(id) = arguments.text("session_id")? {
        let stopped = door.stopped().into_iter().find(|(_, stopped)| stopped.id == id);
        return match (door.session(&arguments), stopped) {
            (Err(_), Some((ago, stopped))) => Ok(stopped.told(ago)),
            (session, _) => one(door, &session?, &arguments).await,
        };
    }
    let mut reply = match door.session(&arguments) {
        Ok(session) => one(door, &session, &arguments).await?,
        Err(_) => Reply::default(),
    };
    let hub = door.setup.hub.clone();
    let listed = tokio::task::spawn_blocking(move || hub.sessions()).await;
    let listed = listed.map_err(|error| error.to_string()).and_then(|listed| listed);
    let unlisted = listed.as_ref().err().map(|error| format!("the live sessions cannot be listed: {error}"));
    let listed = listed.unwrap_or_default();
    let ours = door.sessions();
    let mut all = Vec::new();
    // One that is over is only still on its way out.
    for session in listed.iter().filter(|session| session["state"] != "ended") {
        let id = model::text(&session["id"]);
        let yours = if ours.iter().any(|own| own.id == id) { "yours" } else { "debugger_attach joins it" };
        let clients = model::list(&session["clients"], |name| name.as_str().map(str::to_owned)).join(", ");
        let (name, state) = (model::text(&session["name"]), model::text(&session["state"]));
        reply.add(&format!("{id}  {state}  {name}  in it: {clients}  ({yours})"));
        all.push(json!({"id": id, "name": name, "state": state, "clients": session["clients"]}));
    }
    if let Some(unlisted) = unlisted {
        reply.add(&unlisted);
    } else if all.is_empty() {
        reply.add("there are no live sessions; debugger_start begins one");
    }
    for (ago, stopped) in door.stopped() {
        reply.add(&format!("{}  terminated  {} s ago by debugger_stop", stopped.id, ago.as_secs()));
    }
    reply.put("sessions", all);
    Ok(reply)
}

/// What the hub knows of a session.
struct Described {
    language: String,
    mode: &'static str,
    children: Vec<Value>,
    clients: Value,
}

async fn describe(door: &Door, session: &Session) -> Described {
    // One that is over is known by what was seen of it.
    let summary = session.summary().await.unwrap_or_default();
    let tree = summary["tree"].as_array().cloned().unwrap_or_default();
    let children: Vec<Value> = tree.iter().filter(|node| !node["parent"].is_null()).cloned().collect();
    let mode = if children.is_empty() { "SingleSession" } else { "MultiSessionParent" };
    let said = match &session.wanted {
        Wanted::Launch(launch) => launch.language.clone(),
        Wanted::Attach(attach) => attach.language.clone(),
        Wanted::Join(_) => None,
    };
    let executable = session.seen().executable.clone();
    let files: Vec<PathBuf> = session.program().into_iter().chain(executable).collect();
    // Before the launch the hub knows no more than the type that was asked for.
    let engine = summary["engine"].as_str().unwrap_or(&session.engine).to_owned();
    let (hub, word) = (door.setup.hub.clone(), said.clone());
    let language = move || hub.language(&engine, word.as_deref(), &files);
    let language = tokio::task::spawn_blocking(language).await.ok().flatten();
    let language = language.or(said).unwrap_or_else(|| session.engine.clone());
    Described { language, mode, children, clients: summary["clients"].clone() }
}

async fn one(door: &Door, session: &Arc<Session>, arguments: &Arguments) -> Result<Reply, Failure> {
    if let Some(thread) = arguments.thread()? {
        session.standing(Some(thread))?;
        session.check(thread).await?;
        session.seen().threads.choose(thread);
    }
    let Described { language, mode, children, clients } = describe(door, session).await;
    let (state, epoch, exit_code, active, ago) = {
        let seen = session.seen();
        let ago = seen.life.ended_at().map(|at| at.elapsed());
        let active = seen.threads.active().and_then(|stop| stop.thread.number());
        (seen.state(), seen.threads.epoch(), seen.life.exit_code(), active, ago)
    };
    let text = format!(
        "session {} · {state}{}{} · {language} · {mode}, {} children · epoch {epoch}",
        session.id,
        code(exit_code).replace(" with", ","),
        ago.map(|ago| format!(" {} s ago", ago.as_secs())).unwrap_or_default(),
        children.len()
    );
    let mut reply = Reply::about(&session.id, text).with(json!({
        "id": session.id, "language": language, "mode": mode, "childSessions": children.len(),
        "active_thread": active,
    }));
    (reply.state, reply.epoch, reply.exit_code) = (Some(state), Some(epoch), exit_code);
    for child in &children {
        let word = |key: &str| model::text(&child[key]);
        reply.add(&format!(
            "  node {} {} · {} · {}",
            child["id"],
            word("name"),
            word("state"),
            word("engine")
        ));
    }
    reply.put("children", children);
    reply.put("clients", clients);
    Ok(reply)
}

/// Whether what was attached to is a process that is no more.
fn has_died(wanted: &Wanted) -> bool {
    let Wanted::Attach(attach) = wanted else { return false };
    let is_process = attach.to.parse::<u32>().is_ok();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", attach.to)).unwrap_or_default();
    // One whose parent has not looked yet is over, too. Its name may have any characters.
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    is_process && matches!(state, None | Some("Z" | "X"))
}

/// Whether what was joined ends when this client leaves it: others started it, and none of them is there any more.
async fn takes_along(session: &Session) -> bool {
    if session.request != Request::Join {
        return false;
    }
    let Ok(summary) = session.summary().await else { return false };
    let count = |key: &str| summary[key].as_array().map_or(0, Vec::len);
    let alone = count("clients").saturating_sub(count("observers")) <= 1;
    alone && summary["outlives"] == Value::Bool(false)
}

/// What is still told of a session that was ended.
fn remembered(session: &Session, described: Described, exit_code: Option<i64>) -> Stopped {
    let Described { language, mode, children, .. } = described;
    let seen = session.seen();
    let output = seen.journal.output.latest(0, MOST_OUTPUT).text;
    let (id, epoch, children) = (session.id.clone(), seen.threads.epoch(), children.len());
    Stopped { id, language, mode, children, epoch, exit_code, output }
}

pub async fn stop(door: &Door, arguments: Arguments) -> Result<Reply, Failure> {
    let session = door.session(&arguments)?;
    let was_over = session.seen().is_over();
    let takes_along = !was_over && takes_along(&session).await;
    let described = describe(door, &session).await;
    session.end().await?;
    door.forget(&session.id);
    let exit_code = session.seen().life.exit_code();
    if was_over || session.is_launched() || takes_along {
        // Of one that was running the code would only say how the debugger ended it.
        door.keep_stopped(remembered(&session, described, exit_code.filter(|_| was_over)));
    }
    let (done, state) = match (was_over, session.is_launched()) {
        (true, _) => (format!("was over{}", code(exit_code)), State::Ended),
        // The code would only say how the debugger ended it.
        (false, true) => ("was ended by you".to_owned(), State::Ended),
        (false, false) if takes_along => {
            ("was ended with its program: nobody else was in it".to_owned(), State::Ended)
        }
        (false, false) if has_died(&session.wanted) => {
            ("was left; its process has ended".to_owned(), State::Left)
        }
        (false, false) => ("was left; the program goes on".to_owned(), State::Left),
    };
    let mut reply = Reply::about(&session.id, format!("session {} {done}", session.id));
    reply.state = Some(state);
    let output = session.new_output(Room::of_each(1_000)).text;
    if !output.is_empty() {
        reply.add("output:");
        reply.add(output.trim_end_matches('\n'));
    }
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Attach;

    #[test]
    fn a_process_has_died_also_before_its_parent_has_looked() {
        let attached = |to: &str| {
            let (to, cwd) = (to.to_owned(), std::path::PathBuf::from("/"));
            Wanted::Attach(Attach { to, language: None, file: None, cwd, more: serde_json::Map::new() })
        };
        let has_died = |pid: u32| super::has_died(&attached(&pid.to_string()));
        assert!(!has_died(std::process::id()));
        assert!(!super::has_died(&attached("127.0.0.1:1")), "it may be anywhere");
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        assert!(!has_died(child.id()));
        child.kill().unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !has_died(child.id()) {
            assert!(std::time::Instant::now() < deadline, "it was killed");
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(has_died(child.id()));
    }
}
