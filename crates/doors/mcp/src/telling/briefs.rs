//! Values in few words: the fields of an object instead of its address, and functions without their bodies.

use breakroom_client::model::{self, VariablesReference};
use breakroom_client::scopes::Member;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use crate::session::Session;
use crate::telling::budget::line;
use crate::telling::values::elements_of;

/// So many objects of an answer are looked into.
const MOST_OBJECTS: usize = 6;
const MOST_FIELDS: usize = 8;
const LONGEST_FIELD: usize = 40;
/// More is nothing to be shown in few words.
const MOST_ELEMENTS: usize = 100;
/// As long as whoever asks for values waits for a slow object.
pub const PATIENCE: Duration = Duration::from_millis(1_500);
/// Types of what everything hangs on: hundreds of fields, for which a debugger takes longer than for all the rest of a stop.
const WORLDS: &[&str] = &[
    "global",
    "globalThis",
    "Window",
    "WorkerGlobalScope",
    "DedicatedWorkerGlobalScope",
    "SharedWorkerGlobalScope",
    "ServiceWorkerGlobalScope",
];

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

/// Whether it is looked into: its own text says nothing, and its fields say more in little time. Where a pointer to nothing is
/// at, every field is an error.
fn is_meant(member: &Member) -> bool {
    let is_world = WORLDS.contains(&member.variable.kind.as_str());
    let is_null = address(&member.variable.value).is_some_and(|address| address == "0x0");
    is_bare(member) && !is_function(member) && !is_world && !is_null && elements_of(member) <= MOST_ELEMENTS
}

/// What a pointer is worth, without the zeros that it is filled up with.
fn address(value: &str) -> Option<String> {
    let digits = value.trim().strip_prefix("0x")?;
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    let short = match digits.trim_start_matches('0') {
        "" => "0",
        short => short,
    };
    is_number.then(|| format!("0x{short}"))
}

/// Whether a value is a text: what is inside it are its letters, one by one.
pub fn is_text(value: &str) -> bool {
    text_of(value).is_some()
}

/// A text with its quotes, without the pointer to it.
fn text_of(value: &str) -> Option<&str> {
    let text = match value.split_once(' ') {
        Some((pointer, text)) if address(pointer).is_some() => text,
        _ => value,
    };
    text.starts_with(['"', '\'']).then_some(text)
}

/// How long a text is: as is said of one that was cut, or by its letters.
pub fn length_of(value: &str) -> Option<String> {
    let text = text_of(value)?;
    if let Some((_, length)) = text.strip_suffix(" bytes)").and_then(|text| text.rsplit_once(" (")) {
        return Some(format!("{length} bytes"));
    }
    let mut letters = text.chars();
    // gdb writes `'z' <repeats 20 times>` for equal letters.
    let is_whole = letters.next() == letters.next_back() && !text.contains(" <repeats ");
    is_whole.then(|| format!("{} characters", letters.count()))
}

/// Whether the debugger may have left out the middle of a text. Python's writes `...` for it, as any text may have: but not
/// one of another length, as far as its quotes let it be known, than what it sends of any, and what it sends if it is told to
/// give it whole.
pub fn may_be_cut(kind: &str, value: &str) -> bool {
    let is_as_long = || {
        let letters = python_letters(value);
        (60_000..=65_600).contains(&letters) || letters > 2_000_000
    };
    ["str", "bytes"].contains(&kind) && value.contains("...") && is_as_long()
}

/// How many letters a text has as Python writes it, its quotes with them.
fn python_letters(value: &str) -> usize {
    let mut letters = value.chars();
    let mut count = 0;
    while let Some(letter) = letters.next() {
        count += 1;
        if letter == '\\' {
            let digits = match letters.next() {
                Some('x') => 2,
                Some('u') => 4,
                Some('U') => 8,
                _ => 0,
            };
            letters.by_ref().take(digits).for_each(drop);
        }
    }
    count
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
        // Whether a list ends here is what is asked of a pointer.
        let value = match address(&field.variable.value) {
            Some(address) => address,
            None if !is_bare(field) => line(&field.variable.value, LONGEST_FIELD),
            None if field.variable.kind.is_empty() => "…".to_owned(),
            None => line(&field.variable.kind, LONGEST_FIELD),
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

fn with_children(member: &mut Member) -> Option<(&mut Member, VariablesReference)> {
    let children = member.children?;
    Some((member, children))
}

impl Session {
    /// Gives the first few objects that show an address their fields instead. Those that do not come in time stay as the
    /// debugger shows them.
    pub async fn brief(&self, members: &mut [Member], patience: Duration) {
        let until = Instant::now() + patience;
        let meant = members.iter_mut().filter(|member| is_meant(member));
        let mut asked = Vec::new();
        for (member, reference) in meant.filter_map(with_children).take(MOST_OBJECTS) {
            let Ok(sent) = self.ask_for_members(reference).await else { break };
            asked.push((member, sent));
        }
        for (member, sent) in asked {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(body) = sent.answer(left).await else { continue };
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
        self.brief(std::slice::from_mut(&mut member), PATIENCE).await;
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
    fn what_everything_hangs_on_is_not_looked_into() {
        assert!(is_meant(&member("this", "Order", "Order")));
        assert!(
            !is_meant(&member("this", "global", "global")) && !is_meant(&member("this", "Window", "Window"))
        );
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
    fn a_pointer_among_fields_says_where_it_is_and_one_to_nothing_is_not_looked_into() {
        let fields = [member("v", "int", "2"), member("next", "node *", "0x000055d0")];
        assert_eq!(in_brief(&fields), Some("{v: 2, next: 0x55d0}".to_owned()));
        let last = [member("v", "int", "2"), member("next", "node *", "0x0000000000000000")];
        assert_eq!(in_brief(&last), Some("{v: 2, next: 0x0}".to_owned()));
        assert!(!is_meant(&member("h", "node *", "0x0000000000000000")));
        assert!(is_meant(&member("h", "node *", "0x000055d0")));
    }

    #[test]
    fn a_text_has_its_own_length() {
        assert_eq!(length_of("\"abc\""), Some("3 characters".to_owned()));
        assert_eq!(length_of("0x55d0 'äöü'"), Some("3 characters".to_owned()));
        assert_eq!(length_of("\"ab…\" (5000000 bytes)"), Some("5000000 bytes".to_owned()));
        for unknown in ["\"ab\", 'z' <repeats 20 times>, \"c\"", "\"ab\"...", "\"", "[1, 2]", "(4 bytes)"] {
            assert_eq!(length_of(unknown), None, "{unknown}");
        }
        assert!(is_text("0x55d0 \"abc\"") && is_text("'a'"));
        assert!(!is_text("0x55d0") && !is_text("size=3") && !is_text("['a']") && !is_text("97 'a'"));
    }

    #[test]
    fn a_text_of_python_may_be_cut_where_it_is_as_long_as_what_its_debugger_sends() {
        let of = |letters: usize| format!("'{}...{}'", "\\x00".repeat(letters), "\\\\".repeat(letters));
        assert!(may_be_cut("str", &of(32_767)) && may_be_cut("bytes", &of(31_000)));
        assert!(may_be_cut("str", &of(1_048_576)));
        for whole in [of(20_000), of(50_000), of(32_767).replace("...", "")] {
            assert!(!may_be_cut("str", &whole));
        }
        assert!(!may_be_cut("string", &of(32_767)), "no other debugger cuts so");
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
