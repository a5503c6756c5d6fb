//! The notifications of each instance of an orchestrator, kept until its WebSocket has taken them.
//!
//! Nothing is read from or written to a connection here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use breakroom_ide_protocol::{Change, Notification};
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use crate::RunId;
use queue::Queue;

mod queue;

/// The limit of instances. An orchestrator makes a new id at each start, and those that are gone need no queue.
const MAX_INSTANCES: usize = 64;

/// The instances by their ids.
///
/// An orchestrator appends random letters to the prefix in its environment, and keeps that id while it runs. So two
/// orchestrators with the same prefix are two instances, and one that connects again is the same.
#[derive(Default)]
pub struct Instances(Mutex<HashMap<String, Known>>);

struct Known {
    instance: Arc<Instance>,
    /// Grows with each use.
    used: u64,
}

impl Instances {
    pub fn get(&self, id: &str) -> Arc<Instance> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = known.values().map(|known| known.used).max().unwrap_or_default() + 1;
        if !known.contains_key(id) && known.len() >= MAX_INSTANCES {
            // One that nothing else refers to has no WebSocket and no run session.
            let idle = known.iter().filter(|(_, known)| Arc::strong_count(&known.instance) == 1);
            let oldest = idle.min_by_key(|(_, known)| known.used).map(|(id, _)| id.clone());
            oldest.and_then(|oldest| known.remove(&oldest));
        }
        let entry = known.entry(id.to_owned()).or_insert_with(|| Known { instance: Arc::default(), used });
        entry.used = used;
        entry.instance.clone()
    }

    pub fn all(&self) -> Vec<Arc<Instance>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().map(|known| known.instance.clone()).collect()
    }
}

/// One instance: its queue, and which of its WebSockets takes from it.
#[derive(Default)]
pub struct Instance {
    queue: Mutex<Queue>,
    filled: tokio::sync::Notify,
    /// Cancelled when a newer WebSocket takes over.
    newest: Mutex<CancellationToken>,
    /// Held by the WebSocket that takes from the queue.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Instance {
    pub fn push(&self, id: &RunId, change: Change) {
        self.queue().push(Notification::new(id.to_string(), change));
        self.filled.notify_one();
    }

    /// Replaces the WebSocket that is there. The token is cancelled when this one is replaced itself.
    pub fn replace(&self) -> CancellationToken {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.cancel();
        *newest = CancellationToken::new();
        newest.clone()
    }

    /// Waits until no other WebSocket takes from the queue.
    pub async fn turn(self: &Arc<Self>) -> Turn {
        Turn { _guard: self.turn.clone().lock_owned().await, instance: self.clone() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to take from the queue of an instance.
pub struct Turn {
    instance: Arc<Instance>,
    _guard: OwnedMutexGuard<()>,
}

impl Turn {
    /// Waits until there is something to take.
    pub async fn is_filled(&self) {
        while self.is_empty() {
            self.instance.filled.notified().await;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.instance.queue().is_empty()
    }

    /// The next notification. It goes back into the queue unless it is sent.
    pub fn take(&self) -> Option<Taken<'_>> {
        let notification = self.instance.queue().take()?;
        Some(Taken { turn: self, notification: Some(notification) })
    }
}

/// A notification that is being sent.
pub struct Taken<'a> {
    turn: &'a Turn,
    notification: Option<Notification>,
}

impl Taken<'_> {
    /// None after it was sent.
    pub fn notification(&self) -> Option<&Notification> {
        self.notification.as_ref()
    }

    pub fn sent(mut self) {
        self.notification = None;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(notification) = self.notification.take() {
            self.turn.instance.queue().put_back(notification);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_that_is_idle_for_longest_makes_room_and_one_in_use_does_not() {
        let instances = Instances::default();
        let used = instances.get("used");
        instances.get("idle").push(&RunId("run-1".to_owned()), Change::terminated(None));
        (1..MAX_INSTANCES).for_each(|number| drop(instances.get(&number.to_string())));
        assert_eq!(instances.all().len(), MAX_INSTANCES);
        assert!(Arc::ptr_eq(&instances.get("used"), &used));
        assert!(instances.get("idle").queue().is_empty());
    }

    #[tokio::test]
    async fn newer_websocket_replaces_the_older_and_gets_what_that_puts_back() {
        let instance = Instances::default().get("i");
        let first = instance.replace();
        let turn = instance.turn().await;
        instance.push(&RunId("run-1".to_owned()), Change::terminated(None));
        let taken = turn.take().unwrap();
        let ended = taken.notification().cloned();
        let second = instance.replace();
        assert!(first.is_cancelled() && !second.is_cancelled());
        drop(taken);
        drop(turn);
        let turn = instance.turn().await;
        turn.is_filled().await;
        let taken = turn.take().unwrap();
        assert_eq!(taken.notification(), ended.as_ref());
        taken.sent();
        assert!(turn.is_empty());
    }
}
