//! Who visits over HTTP, in the order in which they were last heard.
//!
//! Some clients shake hands anew for every call and never say goodbye. Each handshake costs memory until it is forgotten, so
//! there is room for so many, and the one that was silent for longest makes room for the next.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

const MOST: usize = 100;

#[derive(Default)]
pub struct Visits(Mutex<VecDeque<Arc<str>>>);

impl Visits {
    /// Somebody new is here. Returns who has to go.
    pub fn comes(&self, id: Arc<str>) -> Option<Arc<str>> {
        let mut visits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        visits.push_back(id);
        if visits.len() > MOST { visits.pop_front() } else { None }
    }

    /// Somebody who is here says something.
    pub fn speaks(&self, id: &str) {
        let mut visits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = visits.iter().position(|other| **other == *id)
            && let Some(visit) = visits.remove(at)
        {
            visits.push_back(visit);
        }
    }

    /// Somebody says goodbye.
    pub fn goes(&self, id: &str) {
        let mut visits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        visits.retain(|other| **other != *id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_was_silent_for_longest_makes_room() {
        let visits = Visits::default();
        for number in 0..MOST {
            assert_eq!(visits.comes(number.to_string().into()), None);
        }
        visits.speaks("0");
        visits.speaks("nobody");
        assert_eq!(visits.comes("a".into()).as_deref(), Some("1"));
        assert_eq!(visits.comes("b".into()).as_deref(), Some("2"));
    }

    #[test]
    fn whoever_says_goodbye_takes_nobodys_room() {
        let visits = Visits::default();
        visits.comes("silent".into());
        for number in 0..3 * MOST {
            let id: Arc<str> = number.to_string().into();
            assert_eq!(visits.comes(id.clone()), None);
            visits.speaks(&id);
            visits.goes(&id);
        }
    }
}
