//! Numbers for what a peer may name later. They are never addresses, and never given twice.

use std::collections::HashMap;

#[derive(Debug)]
pub struct HandleTable<K> {
    last: i64,
    all: HashMap<i64, K>,
}

impl<K> Default for HandleTable<K> {
    fn default() -> Self {
        HandleTable { last: 0, all: HashMap::new() }
    }
}

impl<K> HandleTable<K> {
    /// A new handle, above 0.
    pub fn allocate(&mut self, key: K) -> i64 {
        self.last += 1;
        self.all.insert(self.last, key);
        self.last
    }

    pub fn get(&self, handle: i64) -> Option<&K> {
        self.all.get(&handle)
    }

    /// Those that do not fit become invalid.
    pub fn retain(&mut self, mut fits: impl FnMut(&K) -> bool) {
        self.all.retain(|_, key| fits(key));
    }

    /// All handles become invalid. Their numbers are not used again.
    pub fn clear(&mut self) {
        self.all.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handle_that_was_cleared_is_never_given_again() {
        let mut table = HandleTable::default();
        let first = table.allocate("a");
        assert_eq!(table.get(first), Some(&"a"));
        table.clear();
        assert!(table.get(first).is_none() && table.allocate("b") > first);
    }
}
