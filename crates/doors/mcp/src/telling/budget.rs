//! How long an answer may be, and what becomes of the rest.
//!
//! An agent pays for every character, so each call has a budget, in tokens of four characters. Half of it is for the text
//! and half for the same as data; where a model sees the text alone, all of it is the text's. What has no room is kept for
//! a while under a cursor.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::telling::briefs::length_of;

/// Of what a function is called: languages with generics have whole types in it.
pub const LONGEST_FUNCTION: usize = 160;

const CHARACTERS_OF_A_TOKEN: usize = 4;
const DEFAULT_TOKENS: u64 = 2_000;
const MOST_TOKENS: u64 = 20_000;
/// Less than this says nothing.
const LEAST_TOKENS: u64 = 100;

/// What says which call comes next.
const NEEDED: [&str; 6] = ["session_id", "state", "epoch", "exit_code", "cursor", "next"];

/// Rests are kept of so many answers.
const MOST_RESTS: usize = 8;
/// As much is kept of one.
const MOST_KEPT: usize = 1024 * 1024;

/// In which forms a model is shown an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Forms {
    #[default]
    TextAndData,
    TextAlone,
}

/// How many characters each form of an answer may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub text: usize,
    pub data: usize,
}

impl Room {
    pub fn of(arguments: &Arguments, forms: Forms) -> Result<Room, Failure> {
        let tokens = arguments.count("max_tokens", DEFAULT_TOKENS, MOST_TOKENS)?;
        Ok(Room::for_tokens(tokens, forms))
    }

    /// Where nothing was said that could be read.
    pub fn usual(forms: Forms) -> Room {
        Room::for_tokens(DEFAULT_TOKENS, forms)
    }

    fn for_tokens(tokens: u64, forms: Forms) -> Room {
        let all = tokens.max(LEAST_TOKENS) as usize * CHARACTERS_OF_A_TOKEN;
        match forms {
            Forms::TextAndData => Room::of_each(all / 2),
            // Nobody is shown the data, so that they need not fit.
            Forms::TextAlone => Room { text: all, data: usize::MAX },
        }
    }

    pub fn of_each(characters: usize) -> Room {
        Room { text: characters, data: characters }
    }

    /// So much of what the text has.
    pub fn percent(self, part: usize) -> usize {
        self.share(part).text
    }

    /// So much of it, in percent.
    #[must_use]
    pub fn share(self, part: usize) -> Room {
        let of = |all: usize| all.saturating_mul(part) / 100;
        Room { text: of(self.text), data: of(self.data) }
    }

    /// What is left of it beside what takes so much in each form.
    #[must_use]
    pub fn beside(self, taken: usize) -> Room {
        let left = |all: usize| all.saturating_sub(taken);
        Room { text: left(self.text), data: left(self.data) }
    }

    /// Whether a text fits in both forms.
    pub fn holds(self, text: &str) -> bool {
        text.len() <= self.text && written(text) <= self.data
    }

    /// How much to read next, where so much was this text, which does not fit.
    pub fn less(self, most: usize, text: &str) -> usize {
        let part = |room: usize, size: usize| most.saturating_mul(room) / size.max(1);
        part(self.text, text.len()).min(part(self.data, written(text))).min(most.saturating_sub(1))
    }
}

/// What answers had no room for, under names that are given once.
#[derive(Default)]
pub struct Rests {
    kept: VecDeque<(u64, String)>,
    last: u64,
}

impl Rests {
    pub fn keep(&mut self, mut rest: String) -> String {
        if rest.len() > MOST_KEPT {
            rest.truncate(floor(&rest, MOST_KEPT));
            rest.push_str("\n[no more than this is kept]");
        }
        self.last += 1;
        if self.kept.len() == MOST_RESTS {
            self.kept.pop_front();
        }
        self.kept.push_back((self.last, rest));
        format!("r{}", self.last)
    }

    pub fn take(&mut self, cursor: &str) -> Option<String> {
        let number: u64 = cursor.strip_prefix('r')?.parse().ok()?;
        let at = self.kept.iter().position(|(kept, _)| *kept == number)?;
        self.kept.remove(at).map(|(_, rest)| rest)
    }
}

/// The place at or before this one where a character begins.
pub fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

/// A value on one line, of so many characters at most.
pub fn line(value: &str, most: usize) -> String {
    let escaped = value.replace('\r', "\\r").replace('\n', "\\n");
    match escaped.char_indices().nth(most) {
        None => escaped,
        // A debugger that has shortened it knows how long it is, and says nothing.
        Some((at, _)) if value.contains("...") || value.ends_with('…') => format!("{}…", &escaped[..at]),
        Some((at, _)) => {
            let length = length_of(value).unwrap_or_else(|| format!("{} characters", value.chars().count()));
            format!("{}… ({length})", &escaped[..at])
        }
    }
}

/// What a value was before, from a little before the place where it differs: the beginning alone would be like the new one.
pub fn before(old: &str, new: &str, most: usize) -> String {
    let alike = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    let skipped = alike.saturating_sub(most / 2);
    match skipped > 0 && old.chars().count() > most {
        false => line(old, most),
        true => {
            let part: String = old.chars().skip(skipped).take(most).collect();
            let end = if old.chars().count() > skipped + most { "…" } else { "" };
            format!("…{}{end}", line(&part, usize::MAX))
        }
    }
}

/// As many of the items as fit, in order, and what they take.
pub fn fit<T>(
    items: impl IntoIterator<Item = T>,
    room: usize,
    size: impl Fn(&T) -> usize,
) -> (Vec<T>, usize) {
    let mut used = 0;
    let fits = |item: &T| {
        let with = used + size(item);
        let fits = with <= room;
        if fits {
            used = with;
        }
        fits
    };
    let kept = items.into_iter().take_while(fits).collect();
    (kept, used)
}

/// As many of the items as fit in both forms of an answer, so that neither says more than the other. There is always one:
/// whoever goes on behind these would else never come further.
pub fn fit_both(items: impl IntoIterator<Item = (String, Value)>, room: Room) -> (Vec<String>, Vec<Value>) {
    let (mut of_text, mut of_data) = (0, 0);
    let fits = |(at, (text, data)): &(usize, (String, Value))| {
        of_text += text.len() + 1;
        of_data += data.to_string().len() + 1;
        *at == 0 || of_text <= room.text && of_data <= room.data
    };
    items.into_iter().enumerate().take_while(fits).map(|(_, item)| item).unzip()
}

/// How long a text is as data, where quotes and ends of lines take more.
pub fn written(text: &str) -> usize {
    Value::from(text).to_string().len()
}

/// Cuts a text so that it fits as data too.
pub fn cut_as_data(text: String, room: Room) -> (String, Option<String>) {
    let mut at = floor(&text, room.text);
    while at > 0 && !room.holds(&text[..at]) {
        at = floor(&text, room.less(at, &text[..at]));
    }
    let (kept, rest) = text.split_at(at);
    (kept.to_owned(), (!rest.is_empty()).then(|| rest.to_owned()))
}

/// Cuts a text to its room, at the end of a line if there is one near. What is behind that is the rest.
pub fn cut(text: String, room: usize) -> (String, Option<String>) {
    if text.len() <= room {
        return (text, None);
    }
    let at = floor(&text, room);
    let end_of_line = text[..at].rfind('\n').map(|end| end + 1).filter(|end| *end > at / 2);
    let (kept, rest) = text.split_at(end_of_line.unwrap_or(at));
    (kept.to_owned(), Some(rest.to_owned()))
}

/// Leaves out the largest members until the others fit, and says which. Last of all those that the next call needs.
pub fn fit_data(data: &mut Map<String, Value>, room: usize) {
    let mut left_out: Vec<String> = Vec::new();
    let mut is_told = true;
    loop {
        let told =
            if is_told && !left_out.is_empty() { member("left_out", &left_out.clone().into()) } else { 0 };
        let sizes: Vec<_> = data.iter().map(|(key, value)| (member(key, value), key.clone())).collect();
        if sizes.iter().map(|(size, _)| size).sum::<usize>() + told + "{}".len() <= room {
            break;
        }
        let of_kind = |is_needed: bool| {
            let kind = sizes.iter().filter(|(_, key)| NEEDED.contains(&key.as_str()) == is_needed);
            kind.max().map(|(_, key)| key.clone())
        };
        let largest = of_kind(false);
        if largest.is_none() && told > 0 {
            is_told = false;
            continue;
        }
        let Some(largest) = largest.or_else(|| of_kind(true)) else { break };
        data.remove(&largest);
        left_out.push(largest);
    }
    if is_told && !left_out.is_empty() {
        data.insert("left_out".to_owned(), left_out.into());
    }
}

/// What a member takes: quotes, colon and comma too.
fn member(key: &str, value: &Value) -> usize {
    key.len() + value.to_string().len() + 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_budget_has_a_default_and_bounds() {
        let of = |value: Value| match value {
            Value::Object(members) => Room::of(&Arguments::new(members), Forms::TextAndData),
            _ => unreachable!(),
        };
        assert_eq!(of(json!({})), Ok(Room::of_each(4_000)));
        assert_eq!(of(json!({"max_tokens": "1000000"})), Ok(Room::of_each(40_000)));
        assert_eq!(of(json!({"max_tokens": 1})), Ok(Room::of_each(200)));
        let alone = Room::of(&Arguments::default(), Forms::TextAlone).map(|room| room.text);
        assert_eq!(alone, Ok(8_000), "what nobody is shown takes no room");
    }

    #[test]
    fn a_length_is_told_only_of_what_is_whole() {
        assert_eq!(line("abcdef", 3), "abc… (6 characters)");
        assert_eq!(line("abc, ...", 3), "abc…");
        assert_eq!(line("abcdef…", 3), "abc…");
        assert_eq!(line("a\nb", 9), "a\\nb");
        assert_eq!(line("\"abcdef\"", 3), "\"ab… (6 characters)", "quotes are none of its own");
    }

    #[test]
    fn what_a_value_was_is_told_where_it_differs() {
        let of = |balance: u32| format!("Account {{Name: \"Zoë\", Street: \"long\", Balance: {balance}}}");
        assert_eq!(before(&of(5), &of(6), 20), "… Balance: 5}");
        assert_eq!(before("5", "6", 20), "5");
        assert_eq!(before("abcdefghijkl", "xyz", 5), "abcde… (12 characters)");
        let many = "a".repeat(30) + "1" + &"b".repeat(30);
        assert_eq!(before(&many, &"a".repeat(99), 10), format!("…{}1{}…", "a".repeat(5), "b".repeat(4)));
    }

    #[test]
    fn a_rest_is_read_once_and_old_ones_go() {
        let mut rests = Rests::default();
        let first = rests.keep("a".to_owned());
        assert_eq!(rests.take(&first), Some("a".to_owned()));
        assert_eq!(rests.take(&first), None);
        let old = rests.keep("b".to_owned());
        (0..MOST_RESTS).for_each(|_| drop(rests.keep("c".to_owned())));
        assert_eq!(rests.take(&old), None);
        assert_eq!(rests.take("r"), None);
    }

    #[test]
    fn the_largest_member_is_left_out_first() {
        let Value::Object(mut data) =
            json!({"state": "paused", "locals": "x".repeat(100), "stack": "y".repeat(20)})
        else {
            unreachable!()
        };
        fit_data(&mut data, 82);
        assert_eq!(
            Value::Object(data),
            json!({"state": "paused", "stack": "y".repeat(20), "left_out": ["locals"]})
        );
    }

    #[test]
    fn what_the_next_call_needs_stays_longest() {
        let Value::Object(mut data) =
            json!({"session_id": "k7f2", "state": "paused", "changed": [], "line": 7})
        else {
            unreachable!()
        };
        fit_data(&mut data, 45);
        assert_eq!(Value::Object(data), json!({"session_id": "k7f2", "state": "paused"}));
    }

    #[test]
    fn both_forms_have_the_same_items_and_there_is_always_one() {
        let items = || (0..9).map(|at| (format!("item {at}"), json!({"item": at})));
        let (lines, data) = fit_both(items(), Room { text: 1_000, data: 33 });
        assert_eq!((lines.len(), data.len()), (3, 3));
        assert_eq!(fit_both(items(), Room { text: 15, data: 1_000 }).0, ["item 0", "item 1"]);
        assert_eq!(fit_both(items(), Room::of_each(0)).1, [json!({"item": 0})]);
    }

    proptest! {
        #[test]
        fn data_is_never_larger_than_its_room(
            texts in prop::collection::vec("[a-z\"\n]{0,60}", 0..9), room in 60usize..200,
        ) {
            let mut data: Map<String, Value> =
                texts.into_iter().enumerate().map(|(at, text)| (format!("member{at}"), text.into())).collect();
            fit_data(&mut data, room);
            let size = Value::Object(data).to_string().len();
            prop_assert!(size <= room, "{size} of {room}");
        }

        #[test]
        fn nothing_is_lost_by_a_cut_for_data(text in "[a-z\"\n€]{0,200}", room in 8usize..220) {
            let (kept, rest) = cut_as_data(text.clone(), Room::of_each(room));
            prop_assert!(written(&kept) <= room);
            prop_assert_eq!(kept + &rest.unwrap_or_default(), text);
        }

        #[test]
        fn nothing_is_lost_by_a_cut(text in "[a-zä€\n]{0,200}", room in 0usize..220) {
            let (kept, rest) = cut(text.clone(), room);
            prop_assert!(kept.len() <= room.max(text.len().min(room)));
            prop_assert_eq!(kept + &rest.unwrap_or_default(), text);
        }
    }
}
