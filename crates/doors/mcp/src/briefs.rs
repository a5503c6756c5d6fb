//! Values in few words: the fields of an object instead of its address, and functions without their bodies.

use breakroom_client::model;
use breakroom_client::scopes::Member;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use crate::budget::line;
use crate::session::Session;
use crate::values::elements_of;

/// So many objects of an answer are looked into.
const MOST_OBJECTS: usize = 6;
const MOST_FIELDS: usize = 8;
const LONGEST_FIELD: usize = 40;
/// More is nothing to be shown in few words.
const MOST_ELEMENTS: usize = 100;
/// A stop is not told later than this because of a slow object.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Whether a value says no more than where it is, or what.
fn is_bare(member: &Member) -> bool {
    let variable = &member.variable;
    let value = variable.value.trim();
    let says_nothing = ["", "{...}", "{…}", "..."].contains(&value) || value == variable.kind;
    says_nothing || ends_with_address(value) || ends_with_number(value)
}

/// `0x55d0`, `<Order object at 0x7f12>`, `Order=HASH(0x55d0)`, `Point @ 0x7ffd`.
fn ends_with_address(value: &str) -> bool {
    let Some((_, address)) = value.rsplit_once("0x") else { return false };
    let digits = address.trim_end_matches([')', '>']);
    !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_hexdigit())
}

/// `Order@25`.
fn ends_with_number(value: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "._$".contains(c));
    value.rsplit_once('@').is_some_and(|(name, number)| {
        is_name(name) && !number.is_empty() && number.chars().all(|digit| digit.is_ascii_hexdigit())
    })
}

pub fn is_function(member: &Member) -> bool {
    let kind = member.variable.kind.to_lowercase();
    let value = member.variable.value.as_str();
    ["function", "method", "builtin_function_or_method", "type", "module"].contains(&kind.as_str())
        || ["ƒ ", "async ƒ", "class "].iter().any(|word| value.starts_with(word))
}

/// A function by its head: what it does is in the source.
pub fn without_body(member: &mut Member) {
    let value = &mut member.variable.value;
    if ["ƒ ", "async ƒ", "class "].iter().all(|word| !value.starts_with(word)) {
        return;
    }
    if let Some(head) = value.find('{') {
        value.truncate(head);
        value.push_str("{…}");
    }
}

/// `{id: 3, name: 'Ada', …}`.
fn in_brief(fields: &[Member]) -> Option<String> {
    let is_meant = |field: &&Member| {
        let name = field.variable.name.as_str();
        !is_function(field) && !name.starts_with("__") && !name.starts_with("[[")
    };
    let meant: Vec<&Member> = fields.iter().filter(is_meant).collect();
    let shown = |field: &&Member| {
        let value = match is_bare(field) {
            true if field.variable.kind.is_empty() => "…".to_owned(),
            true => line(&field.variable.kind, LONGEST_FIELD),
            false => line(&field.variable.value, LONGEST_FIELD),
        };
        format!("{}: {value}", field.variable.name)
    };
    let mut parts: Vec<String> = meant.iter().take(MOST_FIELDS).map(shown).collect();
    if meant.len() > parts.len() {
        parts.push("…".to_owned());
    }
    // What is behind a pointer is one more look away.
    let is_pointer = meant.len() == 1 && meant.iter().all(|field| is_bare(field));
    (!parts.is_empty() && !is_pointer).then(|| format!("{{{}}}", parts.join(", ")))
}

/// Which object a pointer is at matters as much as what is there.
fn with_address(value: &str, brief: String) -> String {
    match value.starts_with("0x") {
        true => format!("{value} {brief}"),
        false => brief,
    }
}

impl Session {
    /// Gives the first few objects that show an address their fields instead.
    pub async fn brief(&self, members: &mut [Member]) {
        let until = Instant::now() + PATIENCE;
        let is_meant = |member: &&mut Member| {
            is_bare(member) && !is_function(member) && elements_of(member) <= MOST_ELEMENTS
        };
        let mut asked = Vec::new();
        for member in members.iter_mut().filter(is_meant).take(MOST_OBJECTS) {
            let Some(reference) = member.children else { continue };
            // Without them it is shown as the debugger does.
            let Ok(sent) = self.ask_for_members(reference).await else { return };
            asked.push((member, sent));
        }
        for (member, sent) in asked {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(body) = sent.answer(left).await else { return };
            if let Some(brief) = in_brief(&self.read_members(&body)) {
                member.variable.value = with_address(&member.variable.value, brief);
            }
        }
    }

    /// The result of an expression as it is shown in a table.
    pub async fn brief_result(&self, body: &Value) -> String {
        let Some(mut member) = Member::read(&json!({
            "name": "result", "value": body["result"], "type": body["type"],
            "variablesReference": body["variablesReference"], "indexedVariables": body["indexedVariables"],
        })) else {
            return model::text(&body["result"]);
        };
        without_body(&mut member);
        self.brief(std::slice::from_mut(&mut member)).await;
        member.variable.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, kind: &str, value: &str) -> Member {
        Member::read(&json!({"name": name, "type": kind, "value": value, "variablesReference": 7})).unwrap()
    }

    #[test]
    fn a_value_that_only_says_where_it_is_says_nothing() {
        let bare = |kind: &str, value: &str| is_bare(&member("x", kind, value));
        for value in [
            "<__main__.Order object at 0x7f12>",
            "0x55d0",
            "Order=HASH(0x55d0)",
            "Point @ 0x7ffd",
            "Order@25",
        ] {
            assert!(bare("Order", value), "{value}");
        }
        assert!(bare("Order", "Order") && bare("Order", "{...}"));
        for value in ["0x55d0 \"text\"", "[1, 2]", "{x: 1}", "'a@25 b'", "size=3"] {
            assert!(!bare("Order", value), "{value}");
        }
    }

    #[test]
    fn a_brief_has_the_fields_without_functions_and_says_that_there_are_more() {
        let fields = [
            member("id", "int", "3"),
            member("__dict__", "dict", "{}"),
            member("next", "Node", "<Node object at 0x7f12>"),
            member("total", "method", "<bound method>"),
        ];
        assert_eq!(in_brief(&fields), Some("{id: 3, next: Node}".to_owned()));
        let many: Vec<Member> = (0..9).map(|at| member(&format!("f{at}"), "int", "1")).collect();
        assert!(in_brief(&many).unwrap().ends_with("f7: 1, …}"));
        assert_eq!(in_brief(&[member("*p", "Node", "0x55d0")]), None);
        assert_eq!(in_brief(&[]), None);
        assert_eq!(with_address("0x55d0", "{id: 3}".to_owned()), "0x55d0 {id: 3}");
        assert_eq!(with_address("<Order object at 0x7f12>", "{id: 3}".to_owned()), "{id: 3}");
    }

    #[test]
    fn functions_and_classes_are_shown_by_their_heads() {
        let head = |value: &str| {
            let mut member = member("f", "function", value);
            without_body(&mut member);
            member.variable.value
        };
        assert_eq!(head("ƒ add(a, b) {\n  return a + b;\n}"), "ƒ add(a, b) {…}");
        assert_eq!(
            head("class Worker extends EventEmitter {\n  constructor() {}\n}"),
            "class Worker extends EventEmitter {…}"
        );
        assert_eq!(head("{class: 1}"), "{class: 1}");
    }
}
