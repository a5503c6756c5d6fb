//! Ids that DAP clients get for frames, scopes and values. They are valid until their thread runs again.

use std::collections::HashMap;

use breakroom_remote_runtime::Variable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameKey {
    pub thread: i64,
    pub frame: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// The variables of a frame.
    Scope,
    Value {
        addr: i64,
        type_id: i64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    pub frame: FrameKey,
    pub contents: Contents,
}

/// What `set_variable` needs of a variable that was listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub addr: i64,
    pub type_id: i64,
}

#[derive(Debug, Default)]
pub struct Handles {
    last: i64,
    all: HashMap<i64, Handle>,
    listed: HashMap<(i64, String), Slot>,
}

impl Handles {
    pub fn allocate(&mut self, handle: Handle) -> i64 {
        self.last += 1;
        self.all.insert(self.last, handle);
        self.last
    }

    pub fn get(&self, id: i64) -> Result<Handle, String> {
        self.all.get(&id).copied().ok_or_else(|| {
            format!("{id} is not valid any more: it belongs to an earlier stop, or to no stop")
        })
    }

    /// Remembers what was listed in a scope or value.
    pub fn list(&mut self, holder: i64, variable: &Variable) {
        let slot = Slot { addr: variable.addr, type_id: variable.type_id };
        self.listed.insert((holder, variable.name.clone()), slot);
    }

    pub fn listed(&self, holder: i64, name: &str) -> Option<Slot> {
        self.listed.get(&(holder, name.to_owned())).copied()
    }

    /// The thread runs: what belonged to its stop is over.
    pub fn forget(&mut self, thread: i64) {
        self.all.retain(|_, handle| handle.frame.thread != thread);
        let all = &self.all;
        self.listed.retain(|(holder, _), _| all.contains_key(holder));
    }
}
