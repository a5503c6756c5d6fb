//! Sessions as resources, for clients that rather read and watch than call: which there are, how each is, what it printed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, ResourceUpdatedNotificationParam, SubscriptionFilter,
};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::door::Door;
use crate::session::Session;

const SESSIONS: &str = "debugger://sessions";
/// What happens within this time is told once.
const TOGETHER: Duration = Duration::from_millis(150);
/// As much of the output is in one reading.
const MOST_OUTPUT: usize = 40_000;

/// What an address names.
enum Named {
    Sessions,
    State(Arc<Session>),
    Output(Arc<Session>),
}

fn named(door: &Door, uri: &str) -> Option<Named> {
    let rest = uri.strip_prefix(SESSIONS)?;
    if rest.is_empty() {
        return Some(Named::Sessions);
    }
    let rest = rest.strip_prefix('/')?;
    match rest.split_once('/') {
        None => door.find(rest).map(Named::State),
        Some((id, "state")) => door.find(id).map(Named::State),
        Some((id, "output")) => door.find(id).map(Named::Output),
        Some(_) => None,
    }
}

pub fn list(door: &Door) -> ListResourcesResult {
    let json = "application/json";
    let mut all = vec![
        Resource::new(SESSIONS, "sessions").with_description("Your debug sessions").with_mime_type(json),
    ];
    for session in door.sessions() {
        let id = &session.id;
        all.push(
            Resource::new(format!("{SESSIONS}/{id}/state"), format!("state of {id}")).with_mime_type(json),
        );
        let output = Resource::new(format!("{SESSIONS}/{id}/output"), format!("output of {id}"));
        all.push(output.with_mime_type("text/plain"));
    }
    ListResourcesResult::with_all_items(all)
}

pub fn templates() -> ListResourceTemplatesResult {
    let template =
        |what: &str| ResourceTemplate::new(format!("{SESSIONS}/{{session_id}}/{what}"), what.to_owned());
    ListResourceTemplatesResult::with_all_items(vec![template("state"), template("output")])
}

pub async fn read(door: &Door, uri: &str) -> Result<ReadResourceResponse, ErrorData> {
    let unknown =
        || ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, format!("there is no resource {uri}"), None);
    let (text, kind, session) = match named(door, uri).ok_or_else(unknown)? {
        Named::Sessions => {
            let all: Vec<Value> = door.sessions().iter().map(|session| state(session)).collect();
            (json!({"sessions": all}).to_string(), "application/json", None)
        }
        Named::State(session) => (state(&session).to_string(), "application/json", Some(session)),
        Named::Output(session) => {
            let text = session.seen().journal.output.latest(0, MOST_OUTPUT).text;
            (text, "text/plain", Some(session))
        }
    };
    let text = door.secrets(session.as_deref()).redact(text);
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]).into())
}

fn state(session: &Session) -> Value {
    let seen = session.seen();
    let stops: Vec<Value> = seen
        .threads
        .stops()
        .iter()
        .map(|stop| json!({"thread_id": stop.thread.number(), "reason": stop.reason, "epoch": stop.epoch.0}))
        .collect();
    json!({
        "session_id": session.id, "state": seen.state().word(), "epoch": seen.threads.epoch().0, "stops": stops,
        "exit_code": seen.life.exit_code(), "output_cursor": seen.journal.output.end(),
    })
}

/// What a watcher is told of whenever it is another.
fn version(door: &Door, uri: &str) -> Option<String> {
    match named(door, uri)? {
        Named::Sessions => {
            let mut all = door.sessions();
            // They are in the order of their use, which is no news.
            all.sort_by(|one, other| one.id.cmp(&other.id));
            Some(all.iter().map(|session| format!("{}{}", session.id, session.seen().state())).collect())
        }
        Named::State(session) => {
            let seen = session.seen();
            Some(format!("{} {} {}", seen.state(), seen.threads.epoch(), seen.threads.stops().len()))
        }
        Named::Output(session) => Some(session.seen().journal.output.end().to_string()),
    }
}

/// Waits until the resource is another than it was, or gone; false if it was gone before.
async fn changes(door: &Door, uri: &str, last: &mut Option<String>) -> bool {
    let mut comings = door.changed.subscribe();
    loop {
        let now = version(door, uri);
        if now != *last {
            *last = now;
            return true;
        }
        match named(door, uri) {
            None => return false,
            Some(Named::State(session) | Named::Output(session)) => {
                let mut bell = session.watched.bell();
                // It may have rung before anybody listened.
                if version(door, uri) != *last {
                    continue;
                }
                tokio::select! {
                    _ = bell.changed() => {}
                    _ = comings.changed() => {}
                }
            }
            Some(Named::Sessions) => {
                let bells = door.sessions().iter().map(|session| session.watched.bell()).collect();
                // As above.
                if version(door, uri) != *last {
                    continue;
                }
                tokio::select! {
                    () = rung(bells) => {}
                    _ = comings.changed() => {}
                }
                // They ring for every word that is printed, too.
                tokio::time::sleep(TOGETHER).await;
            }
        }
    }
}

/// Tells of a resource whenever it is another than it is now, as long as anybody hears it.
fn watching<Telling: Future<Output = bool> + Send>(
    door: Arc<Door>,
    uri: String,
    tell: impl Fn(String) -> Telling + Send,
) -> impl Future<Output = ()> + Send {
    let mut last = version(&door, &uri);
    async move {
        while changes(&door, &uri, &mut last).await && tell(uri.clone()).await {
            // That it is gone is told once.
            if last.is_none() {
                return;
            }
            tokio::time::sleep(TOGETHER).await;
        }
    }
}

/// The first of these that rings. None: never.
async fn rung(bells: Vec<watch::Receiver<u64>>) {
    let ring = |mut bell: watch::Receiver<u64>| Box::pin(async move { drop(bell.changed().await) });
    let mut rings: Vec<_> = bells.into_iter().map(ring).collect();
    let any =
        |context: &mut Context<'_>| match rings.iter_mut().any(|ring| ring.as_mut().poll(context).is_ready())
        {
            true => Poll::Ready(()),
            false => Poll::Pending,
        };
    std::future::poll_fn(any).await;
}

/// What a connection watches.
#[derive(Default)]
pub struct Subscriptions(Mutex<HashMap<String, AbortHandle>>);

impl Subscriptions {
    fn begin(&self, uri: String, task: AbortHandle) {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uri, task);
        before.iter().for_each(AbortHandle::abort);
    }

    pub fn end(&self, uri: &str) {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
        before.iter().for_each(AbortHandle::abort);
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().for_each(AbortHandle::abort);
    }
}

pub fn subscribe(
    door: &Arc<Door>,
    subscriptions: &Subscriptions,
    uri: String,
    peer: Peer<RoleServer>,
) -> Result<(), ErrorData> {
    if named(door, &uri).is_none() {
        return Err(ErrorData::new(
            ErrorCode::RESOURCE_NOT_FOUND,
            format!("there is no resource {uri}"),
            None,
        ));
    }
    let task = tokio::spawn(watching(door.clone(), uri.clone(), move |uri| {
        let peer = peer.clone();
        async move { peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_ok() }
    }));
    subscriptions.begin(uri, task.abort_handle());
    Ok(())
}

pub fn accepted(door: &Door, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| named(door, uri).is_some());
    }
    accepted
}

/// Tells of all that was asked for, until nobody wants to hear it any more.
pub async fn listen(door: &Arc<Door>, context: SubscriptionContext) {
    let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    let mut tasks = tokio::task::JoinSet::new();
    for uri in uris {
        let sink = context.sink().clone();
        tasks.spawn(watching(door.clone(), uri, move |uri| {
            let sink = sink.clone();
            async move { sink.notify_resource_updated(uri).await.is_ok() }
        }));
    }
    if context.accepted().resources_list_changed == Some(true) {
        let (mut comings, sink) = (door.changed.subscribe(), context.sink().clone());
        tasks.spawn(async move {
            while comings.changed().await.is_ok() && sink.notify_resource_list_changed().await.is_ok() {}
        });
    }
    context.cancelled().await;
}
