//! What the hub finds out about a stop before anybody is told of it.
//!
//! At a place where the owners' terms differ the engine stops always. Each owner's condition is evaluated in the frame
//! that stopped, its hits are counted, its log message is printed; the stop is told if one owner wants it. In doubt it
//! is told: a stop too many is seen, a stop too few is not. Nothing here talks to anybody; `judging` does.

use std::collections::VecDeque;

use breakroom_dap::Message;
use breakroom_dap::view::Run;
use breakroom_habits::Breakpoints;

use crate::entry::Beginning;
use crate::ids::{ClientId, Time};
use crate::inside::Leaving;
use crate::ledger::{Hit, HitCondition, Judge, Ledger, Owned, Piece, means_yes, pieces, unquoted};
use crate::stepping::Closing;

#[derive(Debug)]
pub(crate) struct Judgement {
    /// Tells its answers from those to an earlier one.
    pub number: u64,
    /// When the stop is told, whatever is known by then.
    pub until: Time,
    /// What is judged, in the order it came. lldb announces one stop with an event for each thread.
    pub stops: Vec<Message>,
    /// Who let the program run to it.
    pub resumer: Option<ClientId>,
    /// What the engine said since, to be told behind it.
    pub held: VecDeque<Message>,
    pub findings: Findings,
    /// What was asked last, if the stop came in the midst of a step.
    pub closing: Option<Closing>,
    /// The program has not begun to run.
    pub begins: Option<Beginning>,
    /// It was on its way out of what nobody is shown.
    pub leaving: Option<Leaving>,
    stage: Stage,
    cases: VecDeque<(Judge, Owned)>,
}

/// What has been found out.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Who wants each of the stops, and under which number.
    pub wanted: Vec<Vec<(ClientId, i64)>>,
    pub logs: Vec<String>,
    pub trouble: Option<Trouble>,
    /// The source of the frame that stopped, as the engine wrote it, and its line.
    pub place: Option<(Box<str>, i64)>,
    pub frame: Option<i64>,
    /// How many frames there are, where all of them were asked for.
    pub depth: usize,
}

impl Findings {
    /// Whether anybody wants one of the stops.
    pub fn is_wanted(&self) -> bool {
        self.wanted.iter().any(|wanted| !wanted.is_empty())
    }

    /// Nobody wants the stop, but a step cannot go on from it.
    pub fn under_way(&mut self) {
        self.trouble.get_or_insert(Trouble::Because("a step was under way".to_owned()));
    }
}

/// Why a stop is told that perhaps nobody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// An owner's terms cannot be judged.
    Terms { owner: ClientId, what: String },
    /// Something else came between.
    Because(String),
    /// Which breakpoint was hit is not known, and the engine's own words have to do.
    Unknown,
}

#[derive(Debug)]
enum Stage {
    /// Where it stopped is being asked.
    Place,
    Condition(Owned),
    Log {
        owned: Owned,
        text: String,
        rest: VecDeque<Piece>,
    },
}

/// How to go on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// Evaluate this and come back with the answer.
    Evaluate(String),
    Decided,
    /// The last thing about it is known, too.
    Concluded,
}

impl Judgement {
    pub fn new(number: u64, until: Time, stop: Message, resumer: Option<ClientId>) -> Self {
        Judgement {
            number,
            until,
            stops: vec![stop],
            resumer,
            held: VecDeque::new(),
            findings: Findings { wanted: vec![Vec::new()], ..Findings::default() },
            closing: None,
            begins: None,
            leaving: None,
            stage: Stage::Place,
            cases: VecDeque::new(),
        }
    }

    /// Whether the thread, or one that nobody named, is among those that stopped.
    pub fn holds(&self, thread: Option<i64>) -> bool {
        let is_it = |stop: &Message| {
            let run = Run::of(stop.payload());
            run.all == Some(true) || thread.is_none() || run.thread == thread
        };
        self.stops.iter().any(is_it)
    }

    /// Whether this very thread announced one of the stops.
    pub fn is_about(&self, thread: Option<i64>) -> bool {
        self.stops.iter().any(|stop| Run::of(stop.payload()).thread == thread)
    }

    /// Whether a thread that runs again is one of those that stopped.
    pub fn ends_with(&self, run: Run) -> bool {
        run.all.unwrap_or(true) || self.is_about(run.thread)
    }

    pub fn held_bytes(&self) -> usize {
        const OVERHEAD: usize = 512;
        self.held.iter().map(|message| message.len() + OVERHEAD).sum()
    }

    /// Judges one more stop that came with the first.
    pub fn and(&mut self, stop: Message) {
        self.stops.push(stop);
        self.findings.wanted.push(Vec::new());
        self.stage = Stage::Place;
    }

    /// It is known what was hit.
    pub fn hit(&mut self, hits: Vec<Hit>, ledger: &mut Ledger, habits: &Breakpoints) -> Move {
        if hits.is_empty() {
            self.findings.trouble.get_or_insert(Trouble::Unknown);
        }
        let owned = hits
            .into_iter()
            .flat_map(|Hit { judge, owners }| owners.into_iter().map(move |owned| (judge, owned)));
        self.cases.extend(owned);
        self.proceed(ledger, habits)
    }

    /// What the engine made of the last expression.
    pub fn evaluated(
        &mut self,
        value: Result<&str, String>,
        ledger: &mut Ledger,
        habits: &Breakpoints,
    ) -> Move {
        let stage = std::mem::replace(&mut self.stage, Stage::Place);
        match (stage, value) {
            (Stage::Place, _) => {}
            (Stage::Condition(owned), Ok(value)) => {
                if means_yes(value) {
                    return self.met(owned, ledger, habits);
                }
            }
            (Stage::Log { owned, mut text, rest }, Ok(value)) => {
                text.push_str(unquoted(value));
                return self.log(owned, text, rest, ledger, habits);
            }
            (Stage::Condition(owned), Err(reason)) => {
                let condition = owned.terms.condition.as_deref().unwrap_or_default();
                self.trouble(owned.owner, format!("the condition `{condition}` cannot be judged: {reason}"));
            }
            (Stage::Log { owned, .. }, Err(reason)) => {
                let log = owned.terms.log.as_deref().unwrap_or_default();
                self.trouble(owned.owner, format!("the log message `{log}` cannot be printed: {reason}"));
            }
        }
        self.proceed(ledger, habits)
    }

    fn proceed(&mut self, ledger: &mut Ledger, habits: &Breakpoints) -> Move {
        match self.cases.pop_front() {
            None => Move::Decided,
            Some((Judge::Engine, owned)) => {
                ledger.count_hit(owned.owner, owned.number);
                self.want(&owned);
                self.proceed(ledger, habits)
            }
            Some((Judge::Hub, owned)) => match owned.terms.condition.clone() {
                None => self.met(owned, ledger, habits),
                Some(condition) => {
                    self.stage = Stage::Condition(owned);
                    Move::Evaluate(match &habits.truth {
                        Some(around) => around.replace("{}", &condition),
                        None => condition,
                    })
                }
            },
        }
    }

    /// The condition of an owner is met, or it has none.
    fn met(&mut self, owned: Owned, ledger: &mut Ledger, habits: &Breakpoints) -> Move {
        let hits = ledger.count_hit(owned.owner, owned.number);
        let wanted = owned.terms.hits.as_deref().map(|text| (text, text.parse::<HitCondition>()));
        match wanted {
            Some((text, Err(_))) => {
                self.trouble(
                    owned.owner,
                    format!("the hit condition `{text}` is no number and no comparison"),
                );
                return self.proceed(ledger, habits);
            }
            Some((_, Ok(condition))) if !condition.holds(hits, habits.bare_hits) => {
                return self.proceed(ledger, habits);
            }
            Some(_) | None => {}
        }
        match owned.terms.log.as_deref().map(pieces) {
            Some(pieces) => self.log(owned, String::new(), pieces.into(), ledger, habits),
            None => {
                self.want(&owned);
                self.proceed(ledger, habits)
            }
        }
    }

    fn log(
        &mut self,
        owned: Owned,
        mut text: String,
        mut rest: VecDeque<Piece>,
        ledger: &mut Ledger,
        habits: &Breakpoints,
    ) -> Move {
        while let Some(piece) = rest.pop_front() {
            match piece {
                Piece::Text(more) => text.push_str(&more),
                Piece::Value(expression) => {
                    self.stage = Stage::Log { owned, text, rest };
                    return Move::Evaluate(expression);
                }
            }
        }
        self.findings.logs.push(text);
        self.proceed(ledger, habits)
    }

    /// An owner wants the stop that is being judged. The others are not its breakpoint's.
    fn want(&mut self, owned: &Owned) {
        let last = self.findings.wanted.last_mut();
        last.into_iter().for_each(|wanted| wanted.push((owned.owner, owned.number)));
    }

    fn trouble(&mut self, owner: ClientId, what: String) {
        self.findings.trouble.get_or_insert(Trouble::Terms { owner, what });
    }
}

#[cfg(test)]
mod tests {
    use breakroom_habits::BareHits;

    use super::*;
    use crate::ledger::Terms;

    #[test]
    fn a_condition_is_asked_in_the_way_that_makes_a_plain_yes_or_no_of_it() {
        let stop = breakroom_dap::event("stopped", None);
        let mut judgement = Judgement::new(1, Time::default(), stop, None);
        let terms = Terms { condition: Some("items".into()), ..Terms::default() };
        let owned = Owned { owner: ClientId(1), number: 1, terms };
        let habits = Breakpoints {
            truth: Some("bool({})".into()),
            bare_hits: BareHits::From,
            ..Breakpoints::default()
        };
        let hit = Hit { judge: Judge::Hub, owners: vec![owned] };
        let step = judgement.hit(vec![hit], &mut Ledger::default(), &habits);
        assert_eq!(step, Move::Evaluate("bool(items)".into()));
        assert_eq!(judgement.evaluated(Ok("True"), &mut Ledger::default(), &habits), Move::Decided);
        assert_eq!(judgement.findings.wanted, [[(ClientId(1), 1)]]);
    }
}
