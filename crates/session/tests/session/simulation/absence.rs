//! Who was lost, whose breakpoints stay for that, and whether the session waits: by the design's words and not by the
//! hub's. Where nobody outside can know, it says so and nothing is checked.

use std::time::Duration;

use breakroom_session::{ClientId, Reach, Time};
use serde_json::Value;

use super::client::{Client, Identity};
use super::engine::Engine;
use super::random::Random;
use super::traffic::{Traffic, mark_of};
use super::world::World;

/// How long the breakpoints of a client that was lost stay while others are there.
const GRACE: Duration = Duration::from_secs(120);
/// How long a session waits for somebody.
const KEEP: Duration = Duration::from_secs(600);
/// Times that pass at once, around both.
pub const PASSES: [u64; 12] = [1, 3, 7, 30, 60, 119, 120, 121, 300, 599, 600, 601];

pub struct Absence {
    pub reach: Reach,
    /// What all who drive say about the end.
    pub last_leave: Option<&'static str>,
    /// Whether one of them has said so.
    pub spoken: Spoken,
    lost: Vec<Lost>,
    attendance: Attendance,
}

/// Whether somebody said what shall become of the program in the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spoken {
    No,
    /// Somebody did, and has no answer.
    Perhaps,
    Yes,
}

#[derive(Clone)]
struct Lost {
    id: ClientId,
    /// None of one who only came to look, and never said who it is.
    identity: Option<Identity>,
    until: Duration,
    certainty: Certainty,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Sure,
    Unsure,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Attendance {
    Somebody,
    /// Nobody, since then; the session waits.
    Nobody(Duration),
    /// Nobody, and whether anybody is waited for only the hub knows.
    Unclear,
}

/// Whether there is a debuggee that has not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lives {
    Yes,
    No,
    Unclear,
}

impl Absence {
    pub fn new(random: &mut Random) -> Self {
        let words = [None, None, Some("keep"), Some("terminate"), Some("detach")];
        Absence {
            reach: if random.one_in(2) { Reach::Shared } else { Reach::Private },
            last_leave: *random.pick(&words).unwrap(),
            spoken: Spoken::No,
            lost: Vec::new(),
            attendance: Attendance::Somebody,
        }
    }

    fn keeps(&self) -> Option<bool> {
        match (self.last_leave, self.spoken) {
            (None | Some("keep"), _) | (_, Spoken::No) => Some(true),
            (_, Spoken::Perhaps) => None,
            (_, Spoken::Yes) => Some(false),
        }
    }

    /// Something happened after which nobody needs to be waited for.
    pub fn is_unclear(&mut self) {
        self.attendance = Attendance::Unclear;
        self.lost.iter_mut().for_each(|lost| lost.certainty = Certainty::Unsure);
    }

    pub fn is_waiting(&self) -> bool {
        self.attendance != Attendance::Somebody
    }

    /// What becomes of the program when the hub itself ends the session, by the words of those who drove.
    pub fn ends_as_agreed(&self, engine: &Engine, heard: &Value, traffic: &mut Traffic) {
        let arguments = &heard["arguments"];
        let own = heard["command"] == "disconnect" && mark_of(heard).is_none();
        let Some(started_by) = engine.started_by().filter(|_| own && arguments["restart"] == false) else {
            return;
        };
        if self.spoken == Spoken::Perhaps {
            return;
        }
        let ends = match self.last_leave.filter(|_| self.spoken == Spoken::Yes) {
            Some("terminate") => true,
            Some("detach") => false,
            _ => started_by == "launch",
        };
        let right = engine.has_ended() || arguments["terminateDebuggee"] == ends;
        assert!(
            right,
            "invariant 10: {:?}, {started_by}, and the engine is told {arguments}",
            self.last_leave
        );
        traffic.census.looked_at(10);
    }

    /// One of those who were lost.
    pub fn somebody_lost(&self, random: &mut Random) -> Option<Identity> {
        random.pick(&self.lost).and_then(|lost| lost.identity)
    }
}

impl World {
    /// Whether there is a debuggee that has not come to its end, as far as can be seen from outside.
    pub(super) fn lives(&self) -> Lives {
        let Some(engine) = &self.engine else { return Lives::Unclear };
        let hears = !self.rig.is_engine_stalled(engine.node) || engine.is_gone();
        if self.rig.started.len() != self.met || engine.is_being_replaced() || !hears {
            return Lives::Unclear;
        }
        if self.is_over() {
            return Lives::No;
        }
        match engine.is_launched() && engine.is_up() {
            true => Lives::Yes,
            false => Lives::Unclear,
        }
    }

    fn is_over(&self) -> bool {
        let Some(engine) = &self.engine else { return false };
        engine.is_gone() || engine.has_ended() || engine.is_told_to_end() || self.is_stopping(engine.node)
    }

    /// The clients whose breakpoints the engine must have; `None` if that is not certain.
    pub(super) fn owners(&self) -> Option<Vec<ClientId>> {
        let mut owners = self.present();
        for lost in self.absence.lost.iter().filter(|lost| self.stays(lost)) {
            // When the program has ended nobody cares any more what they wanted.
            if lost.certainty == Certainty::Unsure || self.has_ended() {
                return None;
            }
            owners.extend(lost.identity.map(|_| lost.id));
        }
        Some(owners)
    }

    fn stays(&self, lost: &Lost) -> bool {
        self.absence.is_waiting() || self.has_ended() || self.rig.now() < lost.until
    }

    fn has_ended(&self) -> bool {
        self.engine.as_ref().is_some_and(Engine::has_ended)
    }

    /// A client takes part from now on. What one of the same name left behind is its own.
    pub(super) fn comes(&mut self, id: ClientId) {
        let now = self.rig.now();
        let waiting = self.absence.is_waiting();
        let ended = self.has_ended();
        self.absence.lost.retain(|lost| waiting || ended || now < lost.until);
        let identity = self.clients.get(&id).map(Client::called);
        let fits = |lost: &Lost| identity.is_some() && identity == lost.identity;
        let free = self.clients.get(&id).is_some_and(|client| !client.has_own()) && !ended;
        let unsure = |lost: &Lost| fits(lost) && lost.certainty == Certainty::Unsure;
        // Which one of several it is can only be said if all of them were really lost.
        let unclear = self.absence.lost.iter().any(unsure);
        let last = self.absence.lost.iter().rposition(fits).filter(|_| free && !unclear);
        let mut before: Vec<Lost> = last.map(|at| self.absence.lost.remove(at)).into_iter().collect();
        for lost in self.absence.lost.iter_mut().filter(|lost| free && unclear && fits(lost)) {
            lost.certainty = Certainty::Unsure;
            before.push(lost.clone());
        }
        for lost in before {
            self.log.note(&id, "inherits from", format!("{:?}", lost.id).as_bytes());
            let heard_all = !self.rig.is_stalled(lost.id);
            let left = self.clients[&lost.id].leaves_behind(lost.certainty == Certainty::Sure, heard_all);
            self.clients.get_mut(&id).into_iter().for_each(|client| client.inherits(&left));
        }
        if waiting {
            self.absence.lost.iter_mut().for_each(|lost| lost.until = now + GRACE);
        }
        self.absence.attendance = Attendance::Somebody;
    }

    /// A connection is gone that was not closed as agreed.
    pub(super) fn was_lost(&mut self, id: ClientId, lives: Lives) {
        let client = self.clients.get(&id);
        let certainty = match client.map_or(Some(true), Client::was_part) {
            Some(true) if lives == Lives::Yes => Certainty::Sure,
            Some(false) => return,
            _ => Certainty::Unsure,
        };
        if lives == Lives::No || self.absence.reach == Reach::Private {
            return;
        }
        let (identity, until) = (client.map(Client::called), self.rig.now() + GRACE);
        let noted = if certainty == Certainty::Sure { "may come back" } else { "may perhaps come back" };
        self.log.note(&id, noted, format!("{identity:?}").as_bytes());
        self.absence.lost.push(Lost { id, identity, until, certainty });
    }

    /// Somebody has left. If nobody is there any more, the session waits or ends.
    pub(super) fn attend(&mut self, lives: Lives) {
        let takes_part = |id: &ClientId| self.clients[id].takes_part();
        if self.present().iter().any(takes_part) || self.absence.is_waiting() {
            return;
        }
        let now = self.rig.now();
        self.absence.lost.retain(|lost| now < lost.until);
        let sure = self.absence.lost.iter().any(|lost| lost.certainty == Certainty::Sure);
        let Some(keeps) = self.absence.keeps() else {
            self.absence.attendance = Attendance::Unclear;
            return;
        };
        let waits = self.absence.reach == Reach::Shared && keeps;
        match lives {
            Lives::Yes if waits && sure => self.absence.attendance = Attendance::Nobody(now),
            Lives::Yes if !waits || self.absence.lost.is_empty() => {
                let asked = self.is_over();
                assert!(asked, "invariant 10: everybody was lost, nobody is waited for, and nothing ends");
                self.traffic.census.looked_at(10);
            }
            Lives::Yes | Lives::Unclear if waits => self.absence.attendance = Attendance::Unclear,
            _ => {}
        }
    }

    /// A session that nobody is in goes on for as long as it must, and not longer.
    pub(super) fn it_waits_as_agreed(&mut self) {
        let Attendance::Nobody(since) = self.absence.attendance else { return };
        let (now, until) = (self.rig.now(), since + KEEP);
        let by_itself = self.engine.as_ref().is_some_and(|engine| engine.is_gone() || engine.has_ended());
        if by_itself || self.lives() == Lives::Unclear {
            self.absence.attendance = Attendance::Unclear;
            return;
        }
        self.traffic.census.looked_at(10);
        if self.lives() == Lives::Yes {
            assert!(now < until, "invariant 10: it has waited since {since:?} and goes on at {now:?}");
            assert!(!self.rig.session.is_over(), "invariant 10: a session that waits is over");
            let due = self.rig.session.next_deadline();
            assert!(due.is_some_and(|due| due <= Time(until)), "invariant 10: it waits, and until {due:?}");
        } else {
            assert!(now >= until, "invariant 10: it has waited since {since:?} and ends at {now:?} already");
            self.absence.attendance = Attendance::Unclear;
        }
    }
}
