//! Variables as an agent reads them: the locals of a frame, what is inside a value, and what changed since the last stop.

use std::pin::Pin;

use breakroom_client::model::{self, Frame, Scope, Variable, VariablesReference};
use breakroom_client::scopes::{self, Member};
use serde_json::{Value, json};

use crate::briefs::{is_function, without_body};
use crate::failure::Failure;
use crate::link::{PATIENCE, Sent};
use crate::session::Session;

/// The variables of a frame as they were shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Which frame: variables of another function are no changes.
    pub function: String,
    pub file: String,
    /// How many frames are below it: a function that calls itself has others in each.
    pub depth: usize,
    /// Names and values.
    pub values: Vec<(String, String)>,
}

/// So many elements are asked for at once: over a million of them a debugger takes minutes.
const MOST_ELEMENTS: usize = 1_000;

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
        let cut = |value: &str| value.chars().take(MOST_COMPARED).collect();
        let values = members.iter().map(|member| (member.variable.name.clone(), cut(&member.variable.value)));
        Shown { function: frame.name.clone(), file, depth, values: values.collect() }
    }

    /// What is other than it was: names with the value of before, if there was one.
    pub fn changes(&self, before: &Shown) -> Vec<(String, Option<String>)> {
        let frame = |shown: &Shown| (shown.function.clone(), shown.file.clone(), shown.depth);
        if frame(self) != frame(before) {
            return Vec::new();
        }
        let old = |name: &str| before.values.iter().find(|(other, _)| other == name).map(|(_, value)| value);
        let changed = self.values.iter().filter(|(name, value)| old(name) != Some(value));
        changed.map(|(name, _)| (name.clone(), old(name).cloned())).collect()
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
    async fn scopes(&self, frame: &Frame) -> Result<Vec<Scope>, Failure> {
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

    pub fn read_members(&self, body: &Value) -> Vec<Member> {
        let hidden = |mut member: Member| {
            member.variable.value = self.secrets.redact(member.variable.value);
            // Keys are names too.
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
        for scope in scopes {
            let body = self.ask_for_members(scope.reference).await?.answer(PATIENCE).await?;
            let mut members = self.read_members(&body);
            for group in groups_of_functions(&body) {
                members.extend(self.members(group).await?);
            }
            if let Some(inside) = Member::own_group_of(&scope, &members) {
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

    /// The scope that holds a variable of this name: the innermost.
    pub async fn holder(&self, frame: &Frame, name: &str) -> Result<Option<VariablesReference>, Failure> {
        let all = self.scopes(frame).await?;
        let (locals, globals) = (scopes::of_locals(all.clone()), scopes::of_globals(all));
        let name = self.secrets.redact(name.to_owned());
        for scope in locals.into_iter().chain(globals) {
            let members = self.members(scope.reference).await?;
            let inside = Member::own_group_of(&scope, &members);
            if members.iter().any(|member| member.variable.name == name) {
                return Ok(Some(scope.reference));
            }
            if let Some(inside) = inside
                && self.members(inside).await?.iter().any(|member| member.variable.name == name)
            {
                return Ok(Some(inside));
            }
        }
        Ok(None)
    }

    pub async fn evaluate(&self, frame: &Frame, expression: &str, context: &str) -> Result<Value, Failure> {
        let arguments = json!({"expression": expression, "frameId": frame.id.0, "context": context});
        let mut body = self.link.request("evaluate", arguments).await?;
        if let Value::String(result) = &mut body["result"] {
            *result = self.secrets.redact(std::mem::take(result));
        }
        Ok(body)
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
        let member = match self.walk(self.locals(frame).await?, &shown).await? {
            Some(member) => member,
            None => {
                let body = self.evaluate(frame, path, "watch").await?;
                let fields = json!({
                    "name": path, "value": body["result"], "type": body["type"],
                    "variablesReference": body["variablesReference"], "indexedVariables": body["indexedVariables"],
                });
                Member::read(&fields).ok_or_else(|| Failure::new(format!("there is no {path} here")))?
            }
        };
        let inside = match member.children {
            Some(reference) => {
                let of = Of { frame, path, reference, count: elements_of(&member) };
                self.contents(of, start, filter).await?
            }
            None => Inside::default(),
        };
        Ok((member, inside))
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
        for member in &mut members {
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

    /// The longest name of a member that the path begins with, and then what is inside of that.
    fn walk<'a>(
        &'a self,
        members: Vec<Member>,
        path: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Option<Member>, Failure>> + Send + 'a>> {
        Box::pin(async move {
            if let Some(at) = members.iter().position(|member| member.variable.name == path) {
                return Ok(members.into_iter().nth(at));
            }
            for member in members {
                let Some(rest) = rest_of(path, &member.variable.name) else { continue };
                // One of many elements the debugger finds faster itself.
                let Some(reference) = member.children.filter(|_| elements_of(&member) <= MOST_ELEMENTS)
                else {
                    continue;
                };
                let inside = self.members(reference).await?;
                if let Some(found) = self.walk(inside, rest).await? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        })
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

/// `b.c` of the path `a.b.c` if this is the name `a`, and `3]` of `a[3]`, without its bracket.
fn rest_of<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(name)?;
    match rest.chars().next()? {
        '.' => Some(&rest[1..]),
        '[' => Some(rest),
        _ => None,
    }
}

impl Window<'_> {
    /// The part that is meant, and how many fit in all.
    pub fn of(self, members: Vec<Member>) -> (Vec<Member>, usize) {
        let wanted = self.name.map(str::to_lowercase);
        let fits = |member: &Member| {
            wanted.as_ref().is_none_or(|wanted| member.variable.name.to_lowercase().contains(wanted))
        };
        let fitting: Vec<_> = members.into_iter().filter(fits).collect();
        let total = fitting.len();
        (fitting.into_iter().skip(self.start).take(self.count).collect(), total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(function: &str, values: &[(&str, &str)]) -> Shown {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Shown { function: function.to_owned(), file: "t.py".to_owned(), depth: 3, values }
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

    #[test]
    fn a_path_is_taken_apart_at_dots_and_brackets_behind_a_name() {
        assert_eq!(rest_of("user.items", "user"), Some("items"));
        assert_eq!(rest_of("list[3].x", "list"), Some("[3].x"));
        assert_eq!(rest_of("username", "user"), None);
        assert_eq!(rest_of("a.b.c", "a.b"), Some("c"));
    }
}
