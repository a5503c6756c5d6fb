//! Values of the environment that no answer shows: tokens and passwords reach a model's provider with everything else.
//!
//! They are known by the names of their variables. Wherever such a value turns up, in a variable, in what was printed or in
//! an error, the name of its variable stands instead.
//!
//! They are hidden twice, and each would be too little. What comes into the door is looked through before anything is cut
//! there, since the half of one is not known as one: messages in `link`, files in `source`, what is printed in `output`.
//! What goes out is looked through as a whole, since arguments, paths and names come back in many sentences.

mod spellings;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use spellings::Spelled;

/// What the names of such variables have in them.
const WORDS: [&str; 11] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "CONNECTION_STRING",
];
/// And how others end: whole words, since `GIT_AUTHOR_NAME` is no `AUTH`.
const ENDS: [&str; 6] = ["_KEY", "_PAT", "_DSN", "_PWD", "_PASS", "_AUTH"];
/// Where a socket or a file is, is no secret.
const PLACES: [&str; 5] = ["_SOCK", "_FILE", "_PATH", "_DIR", "_URL"];
/// A shorter value is in too many other words.
const SHORTEST: usize = 6;
/// Of a secret of several lines, as keys are, each line of this length is one.
const SHORTEST_LINE: usize = 12;
/// Debuggers shorten values: the beginning of a long secret says too much, too. Marks do not count, since any JSON begins
/// with the same ones.
const LONG: usize = 20;
const BEGINNING: usize = 12;
/// How they show where they have cut.
const CUTS: [&str; 2] = ["...", "…"];
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Copies share what they know: what is learnt of a program later is hidden everywhere.
#[derive(Debug, Clone)]
pub struct Secrets(Arc<RwLock<Known>>);

#[derive(Debug, Clone)]
enum Known {
    /// Whoever runs the door wants all of them shown.
    Shown,
    /// The longest first: one may be the beginning of another.
    Hidden(Arc<[Secret]>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    pub value: String,
    /// From how much of it on it is hidden.
    beginning: usize,
    is_place: bool,
    variable: String,
}

impl Secret {
    /// In each way to write it. How much of it is too much is the same in all: escapes make no secret longer.
    fn spelled(value: &str, variable: &str) -> impl Iterator<Item = Secret> {
        let is_place = is_place(value);
        let mut letters = value.char_indices().filter(|(_, letter)| letter.is_alphanumeric());
        let behind = letters.nth(BEGINNING).filter(|_| value.len() >= LONG && !is_place);
        let beginning = behind.map_or(value.len(), |(at, _)| at);
        spellings::of(Spelled { text: value.to_owned(), beginning }).into_iter().map(move |spelled| Secret {
            value: spelled.text,
            beginning: spelled.beginning,
            is_place,
            variable: variable.to_owned(),
        })
    }

    /// Where it is in a text, from its beginning on as far as it goes.
    fn places(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        text.match_indices(&self.value[..self.beginning]).map(|(start, _)| {
            let rest = &text[start..];
            let other = rest.char_indices().zip(self.value.chars()).find(|((_, a), b)| a != b);
            let whole = rest.len().min(self.value.len());
            start..start + other.map_or(whole, |((at, _), _)| at + escaped(&rest[at..]))
        })
    }

    /// What is left of it before and behind places where a debugger has cut, if together that is too much of it.
    fn halves(&self, text: &str, cuts: &[Range<usize>]) -> Vec<Range<usize>> {
        if self.is_place || cuts.is_empty() {
            return Vec::new();
        }
        // A long half has a short one in it. Most texts have none, and sources have many cuts: there, all lengths of a long
        // secret would take seconds.
        let value = self.value.as_bytes();
        let ending =
            (value.len() - self.beginning..).find(|at| self.value.is_char_boundary(*at)).unwrap_or(0);
        let longest = if text.contains(&self.value[..self.beginning]) { value.len() } else { self.beginning };
        let earliest = if text.contains(&self.value[ending..]) { 0 } else { ending };
        let enough = self.beginning.min(value.len().div_ceil(2)).max(SHORTEST);
        let around = |cut: &Range<usize>| {
            let before = text[..cut.start].trim_end_matches(QUOTES).as_bytes();
            let behind = &text.as_bytes()[cut.end..];
            let (last, first) = (before.last(), behind.first());
            let is_end = |end: &usize| last == value.get(*end - 1) && before.ends_with(&value[..*end]);
            let begins = (1..=longest).rev().find(is_end).unwrap_or(0);
            let is_rest = |from: &usize| first == value.get(*from) && behind.starts_with(&value[*from..]);
            let ends = (earliest..value.len()).find(is_rest).map_or(0, |from| value.len() - from);
            let halves = [before.len() - begins..before.len(), cut.end..cut.end + ends];
            (begins + ends >= enough).then_some(halves)
        };
        cuts.iter().filter_map(around).flatten().collect()
    }
}

/// Other paths and addresses begin and end like this one. JSON with addresses in it is none.
fn is_place(value: &str) -> bool {
    value.starts_with('/') || (value.contains("://") && !value.starts_with('{'))
}

/// How long the rest of a word is that goes on with a letter as a code: each language has more of them than are known here.
fn escaped(rest: &str) -> usize {
    let code = rest.trim_start_matches('\\');
    let is_code = code.starts_with(|first: char| matches!(first, 'u' | 'x' | '0'..='9'));
    if !is_code || code.len() == rest.len() {
        return 0;
    }
    let word = rest.split(|letter: char| letter.is_whitespace() || QUOTES.contains(&letter)).next();
    // The quote may have a mark of its own.
    word.map_or(0, |word| word.trim_end_matches('\\').len())
}

impl Default for Secrets {
    fn default() -> Self {
        Secrets::knowing(Known::Hidden(Arc::default()))
    }
}

impl Secrets {
    fn knowing(known: Known) -> Secrets {
        Secrets(Arc::new(RwLock::new(known)))
    }

    /// None is hidden.
    pub fn shown() -> Secrets {
        Secrets::knowing(Known::Shown)
    }

    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Secrets {
        let secrets = Secrets::default();
        secrets.learn(variables);
        secrets
    }

    /// The same, to be told more that the others need not know.
    #[must_use]
    pub fn apart(&self) -> Secrets {
        Secrets::knowing(self.known())
    }

    fn known(&self) -> Known {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn learn<'a>(&self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Known::Hidden(hidden) = &mut *known else { return };
        let mut all: Vec<Secret> = hidden.to_vec();
        all.extend(variables.into_iter().flat_map(|(name, value)| secrets_of(name, value)));
        all.sort_by(|one, other| (other.value.len(), &one.value).cmp(&(one.value.len(), &other.value)));
        all.dedup_by(|one, other| one.value == other.value);
        *hidden = all.into();
    }

    /// Those of an object of variables, as launches have one, of a list of `NAME=VALUE`, or of a text with either.
    pub fn learn_from(&self, env: &Value) {
        match env {
            Value::Object(members) => {
                self.learn(members.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))));
            }
            Value::Array(lines) => self.learn(lines.iter().filter_map(|line| line.as_str()?.split_once('='))),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(read @ (Value::Object(_) | Value::Array(_))) => self.learn_from(&read),
                _ => self.learn(text.lines().filter_map(|line| line.split_once('='))),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Those that a process of this machine was started with. What cannot be read is none of this user's.
    pub fn learn_of_process(&self, pid: i64) {
        let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { return };
        let environment = String::from_utf8_lossy(&environment);
        self.learn(environment.split('\0').filter_map(|line| line.split_once('=')));
    }

    pub fn hidden(&self) -> Arc<[Secret]> {
        match self.known() {
            Known::Shown => Arc::default(),
            Known::Hidden(hidden) => hidden,
        }
    }

    pub fn redact(&self, text: String) -> String {
        let hidden = self.hidden();
        let cuts: Vec<_> = cuts(&text).collect();
        let places =
            |secret: &Secret| secret.places(&text).chain(secret.halves(&text, &cuts)).collect::<Vec<_>>();
        let of = |secret| places(secret).into_iter().map(move |place| (place, secret));
        let mut found: Vec<_> = hidden.iter().flat_map(of).collect();
        found.retain(|(place, _)| !place.is_empty());
        if found.is_empty() {
            return text;
        }
        // Of several that begin alike, the one that goes farthest: what one leaves of another would be shown.
        found.sort_by_key(|(place, _)| (place.start, Reverse(place.end)));
        let (mut shown, mut end) = (String::new(), 0);
        for (place, secret) in found {
            if place.start >= end {
                shown.push_str(&text[end..place.start]);
                shown.push_str(&format!("[{} redacted]", secret.variable));
            }
            end = end.max(place.end);
        }
        shown + &text[end..]
    }

    /// In all texts of a message.
    pub fn redact_all(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact(std::mem::take(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_all(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.redact_all(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Where a debugger has cut. Many points in a row are one such place.
fn cuts(text: &str) -> impl Iterator<Item = Range<usize>> {
    let marks = CUTS.iter().flat_map(move |mark| text.match_indices(mark));
    let firsts = marks.filter(move |(at, _)| !text[..*at].ends_with('.'));
    firsts.map(move |(at, mark)| {
        let end = at + mark.len();
        at..end + text[end..].bytes().take_while(|byte| *byte == b'.').count()
    })
}

/// Each as it is and line by line, and as languages write that in quotes; of addresses their passwords.
fn secrets_of(name: &str, value: &str) -> Vec<Secret> {
    let mut all: Vec<&str> = passwords_of(value).into_iter().flatten().collect();
    if is_secret(name) && !is_plain(value) {
        let lines = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
        all.extend([value].into_iter().chain(lines).filter(|form| form.len() >= SHORTEST));
    }
    all.into_iter().flat_map(|value| Secret::spelled(value, name)).collect()
}

fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    let is_a_place = PLACES.iter().any(|end| name.ends_with(end));
    let is_named = WORDS.iter().any(|word| name.contains(word)) || ENDS.iter().any(|end| name.ends_with(end));
    !is_a_place && is_named
}

/// `MAX_OUTPUT_TOKENS=128000` is no secret, and neither is the path of a file that is there.
fn is_plain(value: &str) -> bool {
    let is_number = value.parse::<f64>().is_ok() && value.len() < SHORTEST_LINE;
    is_number || (value.starts_with('/') && std::path::Path::new(value).exists())
}

/// Of each `scheme://user:password@host` the password with what is around it, since it is often a common word; one that is
/// long enough also alone. Clusters are named by several addresses in a row.
fn passwords_of(value: &str) -> Vec<[&str; 2]> {
    let addresses = value.match_indices("://").map(|(at, mark)| at + mark.len());
    addresses.filter_map(|begin| password_at(value, begin)).collect()
}

/// The one of the address whose authority begins there.
fn password_at(value: &str, begin: usize) -> Option<[&str; 2]> {
    let authority = value[begin..].split(['/', '?', '#', ' ']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let with_marks = &value[begin + name.len()..begin + user.len() + 1];
    let is_common = password.len() < SHORTEST_LINE;
    (!password.is_empty()).then_some([with_marks, if is_common { with_marks } else { password }])
}
