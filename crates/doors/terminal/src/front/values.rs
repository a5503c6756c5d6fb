//! Values with what is inside them: how deep, how wide, and what is left out.
//!
//! A value whose own text says everything is not taken apart, unless a depth was asked for.

use std::io::Write;

use serde_json::json;

use super::stop::MOST_LOCALS;
use crate::commands::Depth;
use crate::error::Error;
use crate::front::Front;
use crate::view;
use breakroom_client::model::{self, Variable, VariablesReference};
use breakroom_client::scopes::{Member, indexed};

/// How far a value is shown.
#[derive(Clone, Copy)]
struct Extent {
    /// Levels below the value itself.
    depth: usize,
    /// Members of one value.
    width: usize,
    fullness: Fullness,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fullness {
    /// What says enough by itself is left closed, and long texts are cut.
    Enough,
    All,
}

const USUAL: Extent = Extent { depth: 2, width: 10, fullness: Fullness::Enough };
const WIDEST: usize = 100;
/// How many lists inside each other are shown on one line.
const LISTS_IN_A_LINE: usize = 2;
/// How many lists inside of others are asked for at a stop. Each is a request, and a person who steps waits for all of them.
const INNER_AT_A_STOP: usize = 10;
/// Whoever asks for a value waits for what is inside it.
const ALL_INNER: usize = usize::MAX;

/// Whether it takes a request to tell what is in it.
fn is_closed(member: &Member) -> bool {
    let value = &member.variable.value;
    member.children.is_some() && (size(value).is_some() || tells_little(value))
}

impl<O: Write> Front<'_, O> {
    pub(super) fn print(&mut self, expression: &str, depth: Depth) -> Result<(), Error> {
        let body = self.evaluate(expression, "watch")?;
        let result = model::text(&body["result"]);
        let children = model::children(&body);
        if result.is_empty() && children.is_none() {
            // It was done for its effect.
            return self.screen.say("done");
        }
        let extent = match depth {
            Depth::Usual => USUAL,
            Depth::Levels(depth) => Extent { depth, width: WIDEST, fullness: Fullness::All },
        };
        let told = result;
        let result = match extent.fullness {
            Fullness::All => told.clone(),
            Fullness::Enough => {
                self.opened(&told, children, indexed(&body), LISTS_IN_A_LINE, &mut { ALL_INNER })?
            }
        };
        let shown = match extent.fullness {
            Fullness::All => view::whole_value(&result),
            Fullness::Enough => match view::length_if_cut(&result) {
                Some(length) => format!(
                    "{} ({length} characters; `print -d 0 {expression}` shows all)",
                    view::value(&result)
                ),
                None => view::value(&result),
            },
        };
        self.screen.say(&format!("{expression} = {shown}"))?;
        let Some(reference) = children.filter(|_| result == told && is_open(&result, extent)) else {
            return Ok(());
        };
        let hint = format!("; `print -d 1 {expression}` shows up to {WIDEST}");
        let hint = if extent.width < WIDEST { hint } else { String::new() };
        let text = self.members(reference, indexed(&body), extent, "  ", &hint)?;
        self.screen.say(&text)
    }

    /// What is inside, one line a member and those inside it a step to the right.
    fn members(
        &mut self,
        reference: VariablesReference,
        indexed: usize,
        extent: Extent,
        indent: &str,
        hint: &str,
    ) -> Result<String, Error> {
        let members = self.first_inside(reference, indexed, extent.width)?;
        let total = members.len().max(indexed);
        let shown = members.get(..extent.width).unwrap_or(&members);
        let mut text = self.lines_of(shown, extent, indent, 0)?;
        if total > extent.width {
            text.push_str(&format!("{indent}and {} more{hint}\n", total - extent.width));
        }
        Ok(text)
    }

    /// Of many elements only so many are asked for.
    fn first_inside(
        &mut self,
        reference: VariablesReference,
        indexed: usize,
        width: usize,
    ) -> Result<Vec<Member>, Error> {
        let mut arguments = json!({"variablesReference": reference.0});
        if indexed > width {
            arguments["filter"] = "indexed".into();
            arguments["start"] = 0.into();
            arguments["count"] = width.into();
        }
        let body = self.client.request("variables", arguments)?;
        Ok(model::list(&body["variables"], Member::read))
    }

    /// As `first_inside`, or `None`: memory that cannot be read is nothing that the others' values should be lost for.
    fn readable_inside(
        &mut self,
        reference: VariablesReference,
        indexed: usize,
    ) -> Result<Option<Vec<Member>>, Error> {
        match self.first_inside(reference, indexed, USUAL.width) {
            Err(error @ Error::Client(_)) if error.is_passing() => Ok(None),
            inside => inside.map(Some),
        }
    }

    /// A list that is told by its size alone, as lldb does those of C++, with its first elements on one line. Everything else
    /// is left as it is, also what cannot be read. Of what is inside the elements only so much is asked for as `inner` has left:
    /// that of all, or of none.
    fn opened(
        &mut self,
        value: &str,
        children: Option<VariablesReference>,
        indexed: usize,
        deep: usize,
        inner: &mut usize,
    ) -> Result<String, Error> {
        let (Some((place, size)), Some(reference)) = (size(value).filter(|_| deep > 0), children) else {
            return Ok(value.to_owned());
        };
        let Some(mut inside) = self.readable_inside(reference, indexed.max(size))? else {
            return Ok(value.to_owned());
        };
        // CodeLLDB has the list as it is in memory behind its elements.
        inside.truncate(size.min(USUAL.width));
        let closed = inside.iter().filter(|member| deep > 1 && is_closed(member)).count();
        let below = inner.checked_sub(closed).map_or(0, |left| {
            *inner = left;
            deep - 1
        });
        let mut parts = Vec::new();
        for member in &inside {
            parts.push(self.element(member, below, inner)?);
        }
        if parts.is_empty() && size > 0 {
            return Ok(value.to_owned());
        }
        let rest = if size > parts.len() { ", …" } else { "" };
        Ok(format!("{place}[{}{rest}]", parts.join(", ")))
    }

    /// One of a list, with its members if it does not even tell those: a pair of a map is a place in memory to lldb.
    fn element(&mut self, element: &Member, deep: usize, inner: &mut usize) -> Result<String, Error> {
        let Member { variable, children, indexed, .. } = element;
        match children.filter(|_| deep > 0 && tells_little(&variable.value)) {
            Some(reference) if size(&variable.value).is_none() => {
                let inside = self.readable_inside(reference, *indexed)?;
                Ok(inside.map_or_else(|| variable.value.clone(), |inside| in_braces(&inside)))
            }
            Some(_) | None => self.opened(&variable.value, *children, *indexed, deep, inner),
        }
    }

    /// Their names are made `width` wide.
    fn lines_of(
        &mut self,
        members: &[Member],
        extent: Extent,
        indent: &str,
        width: usize,
    ) -> Result<String, Error> {
        let below = Extent { depth: extent.depth.saturating_sub(1), ..extent };
        let mut text = String::new();
        for Member { variable, children, indexed, .. } in members {
            let opened = match extent.fullness {
                Fullness::All => variable.value.clone(),
                Fullness::Enough => {
                    let inner = &mut { ALL_INNER };
                    self.opened(&variable.value, *children, *indexed, LISTS_IN_A_LINE, inner)?
                }
            };
            let value = match extent.fullness {
                Fullness::All => view::whole_value(&opened),
                Fullness::Enough => view::value(&opened),
            };
            let inside = children.filter(|_| opened == variable.value && is_open(&opened, extent));
            let (rest, inside) = match (inside, below.depth) {
                (Some(_), 0) if extent.fullness == Fullness::Enough => (" …", None),
                (Some(_), 0) => ("", None),
                (inside, _) => ("", inside),
            };
            text.push_str(&format!("{indent}{:width$} = {value}{rest}\n", variable.name));
            if let Some(reference) = inside {
                match self.members(reference, *indexed, below, &format!("{indent}  "), "") {
                    // One that cannot be read must not cost the others theirs.
                    Err(error @ Error::Client(_)) if error.is_passing() => {}
                    inside => text.push_str(&inside?),
                }
            }
        }
        Ok(text)
    }

    /// On one line each. Of a value without a text, as gdb's are that have members, these are its text.
    pub(super) fn in_brief(&mut self, members: Vec<Member>) -> Result<Vec<Variable>, Error> {
        let mut inner = INNER_AT_A_STOP;
        let mut brief = Vec::new();
        for (at, Member { mut variable, children, indexed, .. }) in members.into_iter().enumerate() {
            if at < MOST_LOCALS {
                variable.value = match children.filter(|_| variable.value.is_empty()) {
                    Some(reference) => self.members_in_brief(reference, indexed)?,
                    None => self.opened(&variable.value, children, indexed, LISTS_IN_A_LINE, &mut inner)?,
                };
            }
            brief.push(variable);
        }
        Ok(brief)
    }

    fn members_in_brief(&mut self, reference: VariablesReference, indexed: usize) -> Result<String, Error> {
        let inside = match indexed <= USUAL.width {
            true => self.readable_inside(reference, indexed)?,
            false => None,
        };
        Ok(inside.map_or_else(|| "{…}".to_owned(), |inside| in_braces(&inside)))
    }

    pub(super) fn show_locals(&mut self) -> Result<(), Error> {
        let locals = self.locals()?;
        match locals.is_empty() {
            true => self.screen.say("there are no locals here"),
            false => self.show_aligned(&locals),
        }
    }

    pub(super) fn show_globals(&mut self) -> Result<(), Error> {
        let mut globals = Vec::new();
        for scope in self.global_scopes()? {
            globals.extend(self.variables(scope.reference)?);
        }
        match globals.is_empty() {
            true => self.screen.say("there are no globals here"),
            false => self.show_aligned(&globals),
        }
    }

    fn show_aligned(&mut self, all: &[Member]) -> Result<(), Error> {
        let shown = all.get(..MOST_LOCALS).unwrap_or(all);
        let names = shown.iter().map(|member| member.variable.name.chars().count());
        let width = names.max().unwrap_or(0).min(WIDEST_NAME);
        let mut text = self.lines_of(shown, USUAL, "  ", width)?;
        if all.len() > MOST_LOCALS {
            text.push_str(&format!("  and {} more\n", all.len() - MOST_LOCALS));
        }
        self.screen.say(&text)
    }
}

/// A text of this length says something, whatever it leaves out.
const ENOUGH: usize = 60;

/// Longer names than this do not push the values of the others to the right.
const WIDEST_NAME: usize = 24;

/// The first of a value's members on one line.
fn in_braces(members: &[Member]) -> String {
    let one = |inner: &Member| match inner.variable.value.as_str() {
        "" => format!("{}: {{…}}", inner.variable.name),
        value => format!("{}: {value}", inner.variable.name),
    };
    let shown: Vec<_> = members.iter().take(USUAL.width).map(one).collect();
    let rest = if members.len() > USUAL.width { ", …" } else { "" };
    format!("{{{}{rest}}}", shown.join(", "))
}

fn is_open(value: &str, extent: Extent) -> bool {
    extent.depth > 0 && (extent.fullness == Fullness::All || tells_little(value))
}

/// Whether a value's text only says of what kind it is, where it lies, or that it goes on.
fn tells_little(value: &str) -> bool {
    // `HASH(0x55d0)`, `<Tree object at 0x7f01>`, `point @ 0x7ffe`, `{...}`, `Tree {…}`.
    let is_address = value.contains("0x");
    // A long text that is cut has told of its first members already.
    let leaves_out = ["...", "…"].iter().any(|sign| value.contains(sign)) && value.len() < ENOUGH;
    // `Tree@1f2a`, as Java has it.
    let is_identity = |(name, number): (&str, &str)| {
        !name.is_empty()
            && !number.is_empty()
            && !name.contains(char::is_whitespace)
            && number.chars().all(|letter| letter.is_ascii_hexdigit())
    };
    // Pointers to text have the address before it.
    let is_text = value.starts_with(['"', '\'']) || value.ends_with('"');
    value.is_empty()
        || (!is_text && (is_address || leaves_out || value.rsplit_once('@').is_some_and(is_identity)))
}

/// The number in `size=3`, if that is all, or behind the place of what is referred to: `0x7ffe size=3`. For gdb it is a
/// `std::vector of length 3, capacity 4`, with the first elements behind it.
fn size(value: &str) -> Option<(&str, usize)> {
    if let Some(vector) = value.strip_prefix("std::vector of length ") {
        let (length, rest) = vector.split_once(", capacity ")?;
        let capacity = rest.split_once(" = {").map_or(rest, |(capacity, _)| capacity);
        capacity.parse::<usize>().ok()?;
        return Some(("", length.parse().ok()?));
    }
    let (place, size) = value.split_at(value.find("size=")?);
    let is_place = place.is_empty() || place.starts_with("0x") && place.find(' ') == Some(place.len() - 1);
    Some((place, size.strip_prefix("size=")?.parse().ok().filter(|_| is_place)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_size_alone_is_taken_for_one() {
        for (value, found) in [
            ("size=3", Some(("", 3))),
            ("0x7ffe size=3", Some(("0x7ffe ", 3))),
            ("size=3 of", None),
            ("std::vector of length 3, capacity 4", Some(("", 3))),
            ("std::vector of length 3, capacity 4 = {1, 2, 3}", Some(("", 3))),
            ("std::vector of length 3, capacity 4 or so", None),
            ("its size=3", None),
            ("0x7ffe of size=3", None),
            ("\"size=3\"", None),
            ("", None),
        ] {
            assert_eq!(size(value), found, "{value}");
        }
    }

    #[test]
    fn a_text_that_only_names_a_thing_tells_little() {
        for value in [
            "",
            "<Tree object at 0x7f01>",
            "HASH(0x55d0)",
            "point @ 0x7ffe",
            "{...}",
            "Tree@1f2a",
            "Tree {…}",
        ] {
            assert!(tells_little(value), "{value}");
        }
        for value in [
            "[1, 2]",
            "{x:3, y:4}",
            "'a...'",
            "\"0x1\"",
            "0x5560 \"corner\"",
            "ann@home.example",
            "Point(x=1, y=2)",
            "42",
        ] {
            assert!(!tells_little(value), "{value}");
        }
    }
}
