//! Variables as an agent reads them: the locals of a frame, what is inside a value, and what changed since the last stop.

use breakroom_client::model::{self, Frame, Scope, Variable, VariablesReference};
use breakroom_client::scopes::{self, Member};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::session::Session;
use crate::session::link::{PATIENCE, Sent};
use crate::telling::briefs::{is_function, is_text, may_be_cut, without_body};

/// The variables of a frame as they were shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Which frame: variables of another function are no changes.
    pub function: String,
    pub file: String,
    /// How many frames are below it: a function that calls itself has others in each.
    pub depth: usize,
    values: Vec<Kept>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    name: String,
    /// As the debugger shows it.
    own: String,
    /// As it was told: an object by its fields, if they came in time.
    told: String,
}

impl Kept {
    /// The fields say whether an object is another; where one of them came without, only the debugger's own text does.
    fn is_like(&self, other: &Kept) -> bool {
        let has_fields = |kept: &Kept| kept.own != kept.told;
        match has_fields(self) && has_fields(other) {
            true => self.told == other.told,
            false => self.own == other.own,
        }
    }
}

/// So many elements are asked for at once: over a million of them a debugger takes minutes.
pub const MOST_ELEMENTS: usize = 1_000;

/// What is inside a value.
#[derive(Debug, Default)]
pub struct Inside {
    pub members: Vec<Member>,
    /// Of many elements only some are asked for: how many there are, and how many are before these.
    pub part: Option<(usize, usize)>,
}

/// How debugpy lists the length of a value among what is in it.
const LENGTH: &str = "len()";
/// It lists no more elements of one value.
const ELEMENTS_OF_A_SLICE: usize = 100;

/// What Node gives every module beside its own variables.
const OF_MODULES: &[&str] = &["__dirname", "__filename", "exports", "module", "require"];

/// A value that is looked into.
#[derive(Clone, Copy)]
pub struct Of<'a> {
    pub frame: &'a Frame,
    pub path: &'a str,
    pub reference: VariablesReference,
    /// How many elements it says it has.
    pub count: usize,
}

/// Of longer values the beginning is compared and kept.
const MOST_COMPARED: usize = 400;

impl Shown {
    pub fn of(frame: &Frame, depth: usize, members: &[Member]) -> Shown {
        let file = frame.source.as_ref().map(|source| source.name.clone()).unwrap_or_default();
        let kept = |member: &Member| {
            let own = compared(&member.variable.value);
            Kept { name: member.variable.name.clone(), told: own.clone(), own }
        };
        Shown { function: frame.name.clone(), file, depth, values: members.iter().map(kept).collect() }
    }

    /// The same variables as they are told.
    pub fn told(&mut self, members: &[Member]) {
        for (kept, member) in self.values.iter_mut().zip(members) {
            kept.told = compared(&member.variable.value);
        }
    }

    /// What is other than it was: names with the value of before, if there was one.
    pub fn changes(&self, before: &Shown) -> Vec<(String, Option<String>)> {
        let frame = |shown: &Shown| (shown.function.clone(), shown.file.clone(), shown.depth);
        if frame(self) != frame(before) {
            return Vec::new();
        }
        let old = |now: &Kept| before.values.iter().find(|old| old.name == now.name);
        let changed = self.values.iter().filter(|now| old(now).is_none_or(|old| !now.is_like(old)));
        changed.map(|now| (now.name.clone(), old(now).map(|old| old.told.clone()))).collect()
    }
}

fn compared(value: &str) -> String {
    match value.char_indices().nth(MOST_COMPARED) {
        None => value.to_owned(),
        // How long it was is not known of a part.
        Some((at, _)) => format!("{}…", &value[..at]),
    }
}

/// Part of what a value has.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    pub start: usize,
    pub count: usize,
    /// Only those whose name has this in it.
    pub name: Option<&'a str>,
}

impl Session {
    pub async fn scopes(&self, frame: &Frame) -> Result<Vec<Scope>, Failure> {
        let body = self.link.request("scopes", json!({"frameId": frame.id.0})).await?;
        Ok(model::list(&body["scopes"], Scope::read))
    }

    pub async fn members(&self, reference: VariablesReference) -> Result<Vec<Member>, Failure> {
        let body = self.link.request("variables", json!({"variablesReference": reference.0})).await?;
        Ok(self.read_members(&body))
    }

    pub async fn ask_for_members(&self, reference: VariablesReference) -> Result<Sent, Failure> {
        self.link.send("variables", json!({"variablesReference": reference.0})).await
    }

    /// What is in each of these, asked for at once: a debugger that is far away answers all of them as fast as one.
    async fn all_members(&self, references: Vec<VariablesReference>) -> Result<Vec<Value>, Failure> {
        let mut asked = Vec::new();
        for reference in references {
            asked.push(self.ask_for_members(reference).await?);
        }
        let mut bodies = Vec::new();
        for sent in asked {
            bodies.push(sent.answer(PATIENCE).await?);
        }
        Ok(bodies)
    }

    pub fn read_members(&self, body: &Value) -> Vec<Member> {
        let hidden = |mut member: Member| {
            // Keys are names too, and a path to one is looked for by what is shown of it.
            member.variable.name = self.secrets.redact(member.variable.name);
            without_body(&mut member);
            member
        };
        let mut members = model::list(&body["variables"], |value| Member::read(value).map(hidden));
        members.retain(|member| member.variable.name != LENGTH);
        members
    }

    /// What is inside a value that says it has so many elements: all of a few, or those from `start` on.
    pub async fn elements(
        &self,
        reference: VariablesReference,
        indexed: usize,
        start: usize,
    ) -> Result<Inside, Failure> {
        if indexed <= MOST_ELEMENTS {
            return Ok(Inside { members: self.members(reference).await?, part: None });
        }
        let count = MOST_ELEMENTS.min(indexed.saturating_sub(start));
        if count == 0 {
            // Whoever is asked for none gives all, as the protocol has it.
            return Ok(Inside { members: Vec::new(), part: Some((indexed, start)) });
        }
        let arguments = json!({
            "variablesReference": reference.0, "filter": "indexed", "start": start, "count": count,
        });
        let body = self.link.request("variables", arguments).await?;
        let mut members = self.read_members(&body);
        // Some debuggers give all whatever they are asked for, and js-debug the length behind the elements.
        let before = if members.len() >= indexed { start } else { 0 };
        members = members.into_iter().skip(before).take(count).collect();
        Ok(Inside { members, part: Some((indexed, start)) })
    }

    /// The innermost of a name hides the others, as it does in the program.
    pub async fn locals(&self, frame: &Frame) -> Result<Vec<Member>, Failure> {
        self.in_scopes(scopes::of_locals(self.scopes(frame).await?)).await
    }

    pub async fn globals(&self, frame: &Frame) -> Result<Vec<Member>, Failure> {
        self.in_scopes(scopes::of_globals(self.scopes(frame).await?)).await
    }

    async fn in_scopes(&self, scopes: Vec<Scope>) -> Result<Vec<Member>, Failure> {
        let mut found: Vec<Member> = Vec::new();
        let references = scopes.iter().map(|scope| scope.reference).collect();
        let bodies = self.all_members(references).await?;
        let groups = self.all_members(bodies.iter().flat_map(groups_of_functions).collect()).await?;
        let mut groups = groups.iter();
        for (scope, body) in scopes.iter().zip(&bodies) {
            let mut members = self.read_members(body);
            for group in groups.by_ref().take(groups_of_functions(body).len()) {
                members.extend(self.read_members(group));
            }
            if let Some(inside) = Member::own_group_of(scope, &members) {
                members = self.members(inside).await?;
                members.sort_by_key(|member| scopes::is_cmakes_own(&member.variable.name));
            }
            members.retain(|outer| found.iter().all(|inner| inner.variable.name != outer.variable.name));
            found.extend(members);
        }
        // What a program keeps is looked at first, and what it defines is there too.
        found
            .sort_by_key(|member| is_function(member) || OF_MODULES.contains(&member.variable.name.as_str()));
        Ok(found)
    }

    pub async fn evaluate(&self, frame: &Frame, expression: &str, context: &str) -> Result<Value, Failure> {
        let arguments = json!({"expression": expression, "frameId": frame.id.0, "context": context});
        self.link.request("evaluate", arguments).await
    }

    /// What is inside of what a path names: members by their names, or else whatever the debugger makes of it. Of many
    /// elements those from `start` on.
    pub async fn inside(
        &self,
        frame: &Frame,
        path: &str,
        start: usize,
        filter: Option<&str>,
    ) -> Result<(Member, Inside), Failure> {
        let shown = self.secrets.redact(path.to_owned());
        let member = match self.find(self.locals(frame).await?, None, &shown).await? {
            Some(found) => self.whole(frame, path, found.member).await,
            None => {
                let read = self.evaluated(frame, path).await?;
                read.ok_or_else(|| Failure::new(format!("there is no {path} here")))?
            }
        };
        let inside = match member.children.filter(|_| !is_text(&member.variable.value)) {
            Some(reference) => {
                let of = Of { frame, path, reference, count: elements_of(&member) };
                self.contents(of, start, filter).await?
            }
            None => Inside::default(),
        };
        Ok((member, inside))
    }

    async fn evaluated(&self, frame: &Frame, path: &str) -> Result<Option<Member>, Failure> {
        let body = self.evaluate(frame, path, "watch").await?;
        Ok(Member::read(&json!({
            "name": path, "value": body["result"], "type": body["type"],
            "variablesReference": body["variablesReference"], "indexedVariables": body["indexedVariables"],
        })))
    }

    /// A text that is listed with a gap may be given whole where it is asked for by itself.
    async fn whole(&self, frame: &Frame, path: &str, mut listed: Member) -> Member {
        if may_be_cut(&listed.variable.kind, &listed.variable.value)
            && let Ok(Some(asked)) = self.evaluated(frame, path).await
            && asked.variable.kind == listed.variable.kind
        {
            listed.variable.value = asked.variable.value;
        }
        listed
    }

    /// What is inside a value. Where the debugger lists only the first elements of many, the program is asked for others.
    pub async fn contents(&self, of: Of<'_>, start: usize, filter: Option<&str>) -> Result<Inside, Failure> {
        if of.count > MOST_ELEMENTS {
            return self.elements(of.reference, of.count, start).await;
        }
        let body = self.link.request("variables", json!({"variablesReference": of.reference.0})).await?;
        let members = self.read_members(&body);
        let length = body["variables"].as_array().into_iter().flatten().find(|entry| entry["name"] == LENGTH);
        let length = length.and_then(|entry| entry["value"].as_str()?.parse::<usize>().ok());
        let Some(length) = length.filter(|length| *length > members.len()) else {
            return Ok(Inside { members, part: None });
        };
        if let Some(filter) = filter {
            let members = self.filtered(of, filter).await?;
            return Ok(Inside { members, part: None });
        }
        if start == 0 {
            return Ok(Inside { members, part: Some((length, 0)) });
        }
        if start >= length {
            return Ok(Inside { members: Vec::new(), part: Some((length, start)) });
        }
        Ok(Inside { members: self.slice(of, start, length).await?, part: Some((length, start)) })
    }

    /// Elements in the midst of a list or dictionary of Python, whose debugger is the only one that tells lengths so.
    async fn slice(&self, of: Of<'_>, start: usize, length: usize) -> Result<Vec<Member>, Failure> {
        let (path, end) = (of.path, length.min(start.saturating_add(ELEMENTS_OF_A_SLICE)));
        let of_list = format!("({path})[{start}:{end}]");
        let of_others = format!(
            "dict(list(({path}).items())[{start}:{end}]) if hasattr(({path}), 'items') else list({path})[{start}:{end}]"
        );
        let body = match self.evaluate(of.frame, &of_list, "watch").await {
            Ok(body) => body,
            Err(_) => self.evaluate(of.frame, &of_others, "watch").await?,
        };
        let Some(reference) = model::children(&body) else { return Ok(Vec::new()) };
        let mut members = self.members(reference).await?;
        // The keys of a dictionary are its own, whatever they look like.
        let is_list = body["type"] != "dict";
        for member in members.iter_mut().filter(|_| is_list) {
            if let Ok(number) = member.variable.name.parse::<usize>() {
                member.variable.name = (number + start).to_string();
            }
        }
        Ok(members)
    }

    async fn filtered(&self, of: Of<'_>, filter: &str) -> Result<Vec<Member>, Failure> {
        let (path, filter) = (of.path, Value::from(filter.to_lowercase()));
        let expression = format!("{{k: v for k, v in ({path}).items() if {filter} in str(k).lower()}}");
        let body = self.evaluate(of.frame, &expression, "watch").await.map_err(|_| {
            Failure::new(format!("{path} has elements, which have numbers and no names"))
                .next("Go to one by `start` instead of `filter`.")
        })?;
        match model::children(&body) {
            Some(reference) => self.members(reference).await,
            None => Ok(Vec::new()),
        }
    }
}

/// Where a debugger keeps functions and classes apart from the other variables.
fn groups_of_functions(body: &Value) -> Vec<VariablesReference> {
    let named =
        |entry: &&Value| ["function variables", "class variables"].iter().any(|name| entry["name"] == *name);
    let entries = body["variables"].as_array().into_iter().flatten();
    entries.filter(|entry| Variable::is_group(entry)).filter(named).filter_map(model::children).collect()
}

/// How many elements a value has: as it says, or else by its type `int[9]` or the value `size=9`, as lldb says it.
pub fn elements_of(member: &Member) -> usize {
    let number = |text: &str| text.parse::<usize>().ok();
    let variable = &member.variable;
    let of_array = || number(variable.kind.strip_suffix(']')?.split_once('[')?.1.split(']').next()?);
    let of_list = || number(variable.value.rsplit_once("size=")?.1.split_whitespace().next()?);
    member.indexed.max(of_array().or_else(of_list).unwrap_or(0))
}

/// Whether a name has this in it, in whatever case.
pub fn is_named_like(member: &Member, part: &str) -> bool {
    member.variable.name.to_lowercase().contains(&part.to_lowercase())
}

impl Window<'_> {
    /// The part that is meant, and how many fit in all.
    pub fn of(self, members: Vec<Member>) -> (Vec<Member>, usize) {
        let fits = |member: &Member| self.name.is_none_or(|wanted| is_named_like(member, wanted));
        let fitting: Vec<_> = members.into_iter().filter(fits).collect();
        let total = fitting.len();
        (fitting.into_iter().skip(self.start).take(self.count).collect(), total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(function: &str, values: &[(&str, &str)]) -> Shown {
        let kept = |(name, value): &(&str, &str)| Kept {
            name: (*name).to_owned(),
            own: (*value).to_owned(),
            told: (*value).to_owned(),
        };
        let values = values.iter().map(kept).collect();
        Shown { function: function.to_owned(), file: "t.py".to_owned(), depth: 3, values }
    }

    #[test]
    fn fields_that_came_late_are_no_change() {
        let told = |own: &str, told: &str| {
            let mut shown = shown("add", &[("order", own)]);
            shown.values[0].told = told.to_owned();
            shown
        };
        let before = told("Order@25", "{id: 3}");
        assert!(told("Order@25", "Order@25").changes(&before).is_empty());
        assert_eq!(told("Order@26", "Order@26").changes(&before)[0].1.as_deref(), Some("{id: 3}"));
        assert_eq!(told("Order@25", "{id: 4}").changes(&before).len(), 1);
        assert!(told("Order@26", "{id: 3}").changes(&before).is_empty());
    }

    #[test]
    fn changes_are_of_the_same_function_only() {
        let before = shown("add", &[("a", "1"), ("b", "2")]);
        let after = shown("add", &[("a", "1"), ("b", "3"), ("c", "4")]);
        assert_eq!(after.changes(&before), [("b".to_owned(), Some("2".to_owned())), ("c".to_owned(), None)]);
        assert!(shown("main", &[("a", "9")]).changes(&before).is_empty());
        let deeper = Shown { depth: 4, ..after };
        assert!(deeper.changes(&before).is_empty(), "it called itself");
    }

    #[test]
    fn the_elements_of_an_array_are_counted_by_its_type_where_it_does_not_say_it() {
        let count = |value: Value| Member::read(&value).map(|member| elements_of(&member));
        assert_eq!(count(json!({"name": "a", "type": "int[20][9]", "value": "int[20][9]"})), Some(20));
        assert_eq!(
            count(json!({"name": "a", "type": "Array", "value": "(7)", "indexedVariables": 7})),
            Some(7)
        );
        assert_eq!(count(json!({"name": "a", "type": "vector", "value": "size=12"})), Some(12));
        assert_eq!(count(json!({"name": "a", "type": "dict[str]", "value": "x"})), Some(0));
    }
}
