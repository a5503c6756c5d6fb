//! How often things were looked at, so that a check which nothing ever comes to is known.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    Children,
    Several,
    Pictures,
    Breakpoints,
    AtChild,
    Refused,
    Failed,
    RootFirst,
    Ends,
    Minded,
    Floods,
    LeftOut,
    Told,
    WentOn,
    GivenByHub,
    GivenByEngine,
    Killed,
    AskedToGo,
}

const ALL: [Sight; 18] = [
    Sight::Children,
    Sight::Several,
    Sight::Pictures,
    Sight::Breakpoints,
    Sight::AtChild,
    Sight::Refused,
    Sight::Failed,
    Sight::RootFirst,
    Sight::Ends,
    Sight::Minded,
    Sight::Floods,
    Sight::LeftOut,
    Sight::Told,
    Sight::WentOn,
    Sight::GivenByHub,
    Sight::GivenByEngine,
    Sight::Killed,
    Sight::AskedToGo,
];

#[derive(Debug, Default, Clone)]
pub struct Census(BTreeMap<Sight, u64>);

impl Census {
    pub fn saw(&mut self, sight: Sight) {
        self.saw_many(sight, 1);
    }

    pub fn saw_many(&mut self, sight: Sight, times: u64) {
        *self.0.entry(sight).or_default() += times;
    }

    pub fn add(&mut self, other: &Census) {
        other.0.iter().for_each(|(sight, times)| self.saw_many(*sight, *times));
    }

    /// What hardly anything was held against.
    pub fn unseen(&self, enough: u64) -> Vec<Sight> {
        ALL.into_iter().filter(|sight| self.0.get(sight).is_none_or(|times| *times < enough)).collect()
    }
}
