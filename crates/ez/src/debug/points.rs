//! Breakpoints: where they are asked for, where they land, and whether a hit is one to stop at.
//!
//! A breakpoint lands on a statement; a line without one passes it on to the next that has. Terms are checked when the
//! breakpoint is set, so that a condition that can never be evaluated is refused then and not at its first hit.

use std::collections::HashMap;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::code::Program;
use crate::debug::log::{Piece, pieces};
use crate::debug::reverse::Time;
use crate::debug::statements::{self, Here};
use crate::debug::{Debuggee, HitCondition, Host, Interrupted, Stop};
use crate::source::{FileId, Sources};
use crate::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointId(pub u32);

/// What is asked for in one file.
#[derive(Debug, Clone)]
pub struct Wish {
    pub line: u32,
    pub column: Option<u32>,
    /// Or what is wrong with them.
    pub terms: Result<Terms, String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Terms {
    pub condition: Option<String>,
    pub hits: Option<HitCondition>,
    /// Told instead of stopping; what is in braces is evaluated.
    pub log: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    pub file: FileId,
    pub line: u32,
    pub column: u32,
}

/// What came of a wish: without trouble, it is at the spot.
#[derive(Debug, Clone)]
pub struct Placed {
    pub id: PointId,
    pub spot: Option<Spot>,
    pub trouble: Option<String>,
}

#[derive(Debug, Clone)]
struct Point {
    id: PointId,
    terms: Terms,
    at: Vec<Here>,
    hits: u64,
}

/// Where a set of breakpoints belongs, which the next set for it replaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Set {
    File(FileId),
    Functions,
}

#[derive(Default)]
pub(super) struct Points {
    sets: HashMap<Set, Vec<Point>>,
    /// How many breakpoints are at each statement; the machine asks at every one.
    at: FxHashMap<Here, u32>,
    last: u32,
}

impl Points {
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    pub fn are_at(&self, here: Option<Here>) -> bool {
        !self.at.is_empty() && here.is_some_and(|here| self.at.contains_key(&here))
    }

    pub fn next_id(&mut self) -> PointId {
        self.last += 1;
        PointId(self.last)
    }

    fn replace(&mut self, set: Set, points: Vec<Point>) {
        self.sets.insert(set, points);
        self.at.clear();
        for here in self.sets.values().flatten().flat_map(|point| &point.at) {
            *self.at.entry(*here).or_default() += 1;
        }
    }

    /// The same breakpoint as before keeps its name and its count.
    fn known(&self, set: &Set, at: &[Here], terms: &Terms) -> Option<&Point> {
        self.sets.get(set)?.iter().find(|point| point.at == at && point.terms == *terms)
    }

    /// In the order in which they were made.
    fn here(&self, here: Here) -> Vec<(PointId, Terms)> {
        let points = self.sets.values().flatten().filter(|point| point.at.contains(&here));
        let mut points: Vec<_> = points.map(|point| (point.id, point.terms.clone())).collect();
        points.sort_by_key(|(id, _)| id.0);
        points
    }

    fn count(&mut self, id: PointId) -> u64 {
        let point = self.sets.values_mut().flatten().find(|point| point.id == id);
        point.map_or(0, |point| {
            point.hits += 1;
            point.hits
        })
    }
}

/// Every statement of a file, by its place.
fn statements_of<'a>(
    program: &'a Program,
    sources: &'a Sources,
    file: FileId,
) -> impl Iterator<Item = (Spot, Here)> + 'a {
    statements::all(program).filter(move |(span, _)| span.file == file).map(move |(span, here)| {
        let at = sources.position(span);
        (Spot { file, line: at.line, column: at.column }, here)
    })
}

impl Debuggee {
    /// Replaces the breakpoints of a file. The answers are in the order of the wishes.
    pub fn break_at_lines(&mut self, path: &Path, wishes: Vec<Wish>) -> Vec<Placed> {
        let Some(file) = self.file(path) else {
            let text = format!("{} is not part of this program", path.display());
            let mut refuse = || Placed { id: self.points.next_id(), spot: None, trouble: Some(text.clone()) };
            return wishes.iter().map(|_| refuse()).collect();
        };
        let mut all: Vec<(Spot, Here)> = statements_of(&self.unit.code, &self.unit.sources, file).collect();
        all.sort_by_key(|(spot, _)| *spot);
        let set = Set::File(file);
        let mut points = Vec::new();
        let placed = wishes
            .into_iter()
            .map(|wish| {
                let spot = landing(&all, &wish);
                let at =
                    all.iter().filter(|(other, _)| Some(*other) == spot).map(|(_, here)| *here).collect();
                let nowhere = "there is no statement on this line or behind it";
                self.place(&set, spot.ok_or(nowhere), at, wish.terms, &mut points)
            })
            .collect();
        self.points.replace(set, points);
        placed
    }

    /// Replaces the breakpoints at functions, which are named as `name` or `module.name`.
    pub fn break_at_functions(&mut self, wishes: Vec<(String, Result<Terms, String>)>) -> Vec<Placed> {
        let set = Set::Functions;
        let mut points = Vec::new();
        let placed = wishes
            .into_iter()
            .map(|(name, terms)| {
                let first = statements::first(&self.unit.code, &name);
                let spot = first.first().map(|(span, _)| {
                    let at = self.unit.sources.position(*span);
                    Spot { file: span.file, line: at.line, column: at.column }
                });
                let at = first.iter().map(|(_, here)| *here).collect();
                let nowhere = format!("this program has no function `{name}` with statements in it");
                self.place(&set, spot.ok_or(nowhere.as_str()), at, terms, &mut points)
            })
            .collect();
        self.points.replace(set, points);
        placed
    }

    fn place(
        &mut self,
        set: &Set,
        spot: Result<Spot, &str>,
        at: Vec<Here>,
        terms: Result<Terms, String>,
        points: &mut Vec<Point>,
    ) -> Placed {
        let checked = spot.map_err(str::to_owned).and(terms).and_then(|terms| {
            self.check(&at, &terms)?;
            Ok(terms)
        });
        let spot = spot.ok();
        let terms = match checked {
            Ok(terms) => terms,
            Err(trouble) => return Placed { id: self.points.next_id(), spot, trouble: Some(trouble) },
        };
        let known = self
            .points
            .known(set, &at, &terms)
            .filter(|known| points.iter().all(|point| point.id != known.id));
        let point = match known {
            Some(known) => known.clone(),
            None => Point { id: self.points.next_id(), terms, at, hits: 0 },
        };
        let id = point.id;
        points.push(point);
        Placed { id, spot, trouble: None }
    }

    /// Whether the terms can be understood where the breakpoint is.
    fn check(&self, at: &[Here], terms: &Terms) -> Result<(), String> {
        let Some(here) = at.first() else { return Ok(()) };
        if let Some(condition) = &terms.condition {
            self.check_condition(*here, condition)?;
        }
        match &terms.log {
            Some(log) => pieces(log).try_for_each(|piece| match piece {
                Piece::Text(_) => Ok(()),
                Piece::Expression(text) => self.check_expression(*here, text).map(drop),
            }),
            None => Ok(()),
        }
    }

    /// Whether a breakpoint that is here is one to stop at. Log points are told.
    pub(super) fn hit(&mut self, time: Time, host: &mut dyn Host) -> Result<Option<Stop>, Interrupted> {
        let here = statements::here(&self.machine).filter(|here| self.points.are_at(Some(*here)));
        let Some(here) = here else { return Ok(None) };
        // All conditions before anything is counted or told: an interruption asks them again.
        let mut met = Vec::new();
        for (id, terms) in self.points.here(here) {
            match self.condition(&terms, host)? {
                Ok(false) => {}
                Ok(true) => met.push((id, terms, None)),
                Err(why) => met.push((id, terms, Some(why))),
            }
        }
        let mut hit = Vec::new();
        let mut trouble = None;
        for (id, terms, why) in met {
            // What is replayed was counted and told when it happened.
            let is_new = time == Time::Now;
            let is_counted_out =
                is_new && terms.hits.is_some_and(|condition| !condition.holds(self.points.count(id)));
            match (why, &terms.log) {
                (Some(why), _) => {
                    hit.push(id);
                    trouble = Some(why);
                }
                (None, _) if is_counted_out => {}
                (None, None) => hit.push(id),
                (None, Some(log)) if is_new => {
                    let message = self.message(log, host);
                    host.log(&message);
                }
                (None, Some(_)) => {}
            }
        }
        Ok((!hit.is_empty()).then_some(Stop::Breakpoint { hit, trouble }))
    }

    /// Whether the condition holds, or why that is not known.
    pub(super) fn condition(
        &mut self,
        terms: &Terms,
        host: &mut dyn Host,
    ) -> Result<Result<bool, String>, Interrupted> {
        let Some(condition) = &terms.condition else { return Ok(Ok(true)) };
        let mut interrupted = false;
        let evaluated = self.evaluate(0, condition, &mut || {
            interrupted = host.is_urgent();
            interrupted
        });
        if interrupted {
            return Err(Interrupted);
        }
        Ok(match evaluated {
            Ok(Some(shown)) => Ok(shown.value == Value::Bool(true)),
            Ok(None) => Err(format!("the condition `{condition}` has no value")),
            Err(why) => Err(format!("the condition `{condition}` could not be evaluated: {why}")),
        })
    }

    fn message(&mut self, log: &str, host: &mut dyn Host) -> String {
        pieces(log)
            .map(|piece| match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Expression(text) => match self.evaluate(0, text, &mut || host.is_urgent()) {
                    Ok(Some(shown)) => crate::value::format::print(&shown.value),
                    Ok(None) => String::new(),
                    Err(why) => format!("<{why}>"),
                },
            })
            .collect()
    }

    /// Where a debugger can stop, from one line to another.
    pub fn spots(&self, path: &Path, first: u64, last: u64) -> Vec<Spot> {
        let Some(file) = self.file(path) else { return Vec::new() };
        let mut spots: Vec<Spot> = statements_of(&self.unit.code, &self.unit.sources, file)
            .map(|(spot, _)| spot)
            .filter(|spot| (first..=last).contains(&u64::from(spot.line)))
            .collect();
        spots.sort();
        spots.dedup();
        spots
    }

    /// Links and different spellings lead to the same file.
    fn file(&self, path: &Path) -> Option<FileId> {
        let canonical = path.canonicalize().ok();
        let is_it = |own: &Path| own == path || (canonical.is_some() && own.canonicalize().ok() == canonical);
        self.unit.sources.iter().find(|(_, source)| is_it(&source.path)).map(|(file, _)| file)
    }
}

/// The first statement of the line or of the next that has one; on the line itself, a column is kept to.
fn landing(all: &[(Spot, Here)], wish: &Wish) -> Option<Spot> {
    let first = all.iter().map(|(spot, _)| *spot).find(|spot| spot.line >= wish.line)?;
    let column = wish.column.unwrap_or(0);
    let behind =
        all.iter().map(|(spot, _)| *spot).find(|spot| spot.line == first.line && spot.column >= column);
    Some(behind.filter(|_| first.line == wish.line).unwrap_or(first))
}
