//! Sessions that were begun elsewhere are offered to the clients whose project they are of: each gets a port that joins.
//!
//! A session is offered to a client once. What the client does with it is the client's own business.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use breakroom_hub::{Summary, list};

use crate::Shared;
use crate::client::Client;
use crate::debug;
use crate::debug_session::{Debuggee, LABEL};

/// How often the hub is asked.
const PERIOD: Duration = Duration::from_secs(1);
/// What can be joined: anything before has nothing to show yet.
const STATES: [&str; 2] = ["running", "stopped"];

/// Looks for sessions for as long as the process lives.
pub fn watch(shared: &Arc<Shared>) {
    loop {
        std::thread::park_timeout(PERIOD);
        let clients = shared.clients().clone();
        if clients.is_empty() {
            continue;
        }
        match list() {
            Ok(sessions) => clients.iter().for_each(|client| offer_all(client, &sessions)),
            Err(error) => tracing::debug!("the sessions cannot be listed: {error}"),
        }
    }
}

fn offer_all(client: &Arc<Client>, sessions: &[Summary]) {
    let live: BTreeSet<&str> = sessions.iter().map(|session| session.id.0.as_str()).collect();
    client.offered().retain(|id| live.contains(id.as_str()));
    for session in sessions.iter().filter(|session| is_for(client, session)) {
        if !client.offered().insert(session.id.0.clone()) {
            continue;
        }
        let (client, name) = (client.clone(), session.name.clone());
        let hub_session = session.id.0.clone();
        std::thread::spawn(move || {
            if let Err(error) = debug::connected(&client, Debuggee::Live { hub_session, name }) {
                tracing::warn!("a session that was offered was not joined: {error}");
            }
        });
    }
}

fn is_for(client: &Client, session: &Summary) -> bool {
    let root = client.project().root.clone();
    let is_in_it = root.zip(session.place.as_ref()).is_some_and(|(root, place)| place.starts_with(root));
    is_in_it && STATES.contains(&session.state.as_str()) && !session.labels.contains_key(LABEL)
}
