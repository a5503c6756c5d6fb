//! A client's edge: what it did not declare is kept from it, and what it counts or names differently is translated.
//!
//! The hub and the engines count lines from 1 and name files by path. Most clients do too, and for them every
//! function here returns at once.

use breakroom_dap::view::Initialize;
use breakroom_dap::{Edit, Json, walk};
use smallvec::SmallVec;

use crate::commands::Known;
use crate::company::Events;
use crate::dap_events::about;

type Edits = SmallVec<[Edit; 2]>;

/// What a client cannot take, whatever it declares.
struct Weakness {
    /// Its `clientID`.
    client: &'static str,
    /// It reads nothing any more after an event that DAP does not have, or one of these.
    dies_on: &'static [&'static str],
}

const WEAKNESSES: [Weakness; 1] =
    [Weakness { client: "hx", dies_on: &["progressStart", "progressUpdate", "progressEnd", "invalidated"] }];

/// Events that a client gets only if it said that it knows them, or is known to survive them.
pub(crate) fn wants(client: &Initialize, events: Events, event: &str) -> bool {
    let named = |weakness: &&Weakness| client.client_id.as_deref() == Some(weakness.client);
    let weakness = WEAKNESSES.iter().find(named);
    if weakness.is_some_and(|weakness| about(event).is_none() || weakness.dies_on.contains(&event)) {
        return false;
    }
    if event.starts_with("breakroom/") {
        return events == Events::OfTheHubToo;
    }
    match event {
        "progressStart" | "progressUpdate" | "progressEnd" => client.progress,
        "invalidated" => client.invalidated,
        "memory" => client.memory_event,
        _ => true,
    }
}

/// Events in which `line`, `column` and `source` mean places in a file.
const EVENTS_WITH_PLACES: [&str; 3] = ["breakpoint", "output", "loadedSource"];

pub(crate) fn has_places(name: &str) -> bool {
    EVENTS_WITH_PLACES.contains(&name) || Known::of(name).is_some_and(|known| known.places)
}

/// Files that a client calls by another name than the engine was told: that name first, then the client's own.
#[derive(Debug, Default)]
pub(crate) struct Spellings(Vec<(String, String)>);

impl Spellings {
    pub fn learn(&mut self, told: &str, own: &str) {
        self.0.retain(|(known, _)| known != told);
        if told != own {
            self.0.push((told.to_owned(), own.to_owned()));
        }
    }

    fn own(&self, path: &str) -> Option<&str> {
        self.0.iter().find(|(told, _)| told == path).map(|(_, own)| own.as_str())
    }

    fn told(&self, path: &str) -> Option<&str> {
        self.0.iter().find(|(_, own)| own == path).map(|(told, _)| told.as_str())
    }
}

/// How one client counts and names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect<'a> {
    pub declared: &'a Initialize,
    pub spellings: &'a Spellings,
}

pub(crate) fn from_client(client: Dialect, command: &str, arguments: Option<Json>) -> Edits {
    let Some(arguments) = arguments else {
        return Edits::new();
    };
    translate(client, command, arguments, 1, |path| {
        let plain = from_uri(path).filter(|_| client.declared.uri_paths);
        let told = client.spellings.told(plain.as_deref().unwrap_or(path)).map(str::to_owned);
        told.or(plain)
    })
}

pub(crate) fn to_client(client: Dialect, name: &str, body: Json) -> Edits {
    translate(client, name, body, -1, |path| {
        let own = client.spellings.own(path);
        let uri = || to_uri(own.unwrap_or(path));
        if client.declared.uri_paths { uri() } else { own.map(str::to_owned) }
    })
}

fn translate(
    client: Dialect,
    name: &str,
    value: Json,
    step: i64,
    path: impl Fn(&str) -> Option<String>,
) -> Edits {
    let Dialect { declared: client, spellings } = client;
    let renames = client.uri_paths || !spellings.0.is_empty();
    let plain = !client.zero_based_lines && !client.zero_based_columns && !renames;
    if plain || !has_places(name) {
        return Edits::new();
    }
    let mut edits = Edits::new();
    walk::members(value, &mut |parent, key, member| {
        let counts = match key {
            "line" | "endLine" | "lines" => client.zero_based_lines,
            "column" | "endColumn" => client.zero_based_columns,
            _ => false,
        };
        if counts {
            if let (Some(at), Some(number)) = (member.span(), member.as_i64()) {
                // Delve says column 0 where it knows none.
                edits.push(Edit::int(at, (number + step).max(0)));
            }
        } else if renames && key == "path" && is_source(parent) {
            let translated = member.as_str().and_then(|text| path(&text));
            if let (Some(at), Some(text)) = (member.span(), translated) {
                edits.push(Edit::text(at, serde_json::Value::from(text).to_string()));
            }
        }
    });
    edits
}

fn is_source(parent: &str) -> bool {
    matches!(parent, "source" | "sources")
}

fn to_uri(path: &str) -> Option<String> {
    if !path.starts_with('/') {
        return None;
    }
    let mut uri = String::from("file://");
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte))
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Some(uri)
}

fn from_uri(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut at = path.bytes();
    while let Some(byte) = at.next() {
        if byte == b'%' {
            let digits = [at.next()?, at.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_dap::Message;

    fn zero_based() -> Initialize {
        Initialize {
            zero_based_lines: true,
            zero_based_columns: true,
            uri_paths: true,
            ..Initialize::default()
        }
    }

    fn dialect<'a>(declared: &'a Initialize, spellings: &'a Spellings) -> Dialect<'a> {
        Dialect { declared, spellings }
    }

    fn edited(text: &str, edits: impl Fn(Json) -> Edits) -> String {
        let whole = format!(r#"{{"seq":1,"type":"event","event":"x","body":{text}}}"#);
        let message = Message::from_engine(whole.into_bytes().into()).unwrap();
        let body = message.payload().unwrap();
        let out = message.renumbered(1, edits(body)).to_bytes();
        let out = Message::from_engine(out).unwrap();
        String::from_utf8(out.payload().and_then(Json::raw).unwrap().to_vec()).unwrap()
    }

    #[test]
    fn a_client_that_counts_from_zero_and_speaks_in_uris_is_translated_both_ways() {
        let none = Spellings::default();
        let engine = r#"{"stackFrames":[{"line":3,"column":1,"source":{"path":"/a b/é.py"},"name":"line"}]}"#;
        let client = r#"{"stackFrames":[{"line":2,"column":0,"source":{"path":"file:///a%20b/%C3%A9.py"},"name":"line"}]}"#;
        assert_eq!(
            edited(engine, |body| to_client(dialect(&zero_based(), &none), "stackTrace", body)),
            client
        );
        assert_eq!(
            edited(client, |body| from_client(dialect(&zero_based(), &none), "stackTrace", Some(body))),
            engine
        );
    }

    #[test]
    fn the_old_list_of_lines_is_translated_too() {
        let none = Spellings::default();
        let asked = r#"{"lines":[0,4],"breakpoints":[{"line":0}]}"#;
        let sent = r#"{"lines":[1,5],"breakpoints":[{"line":1}]}"#;
        assert_eq!(
            edited(asked, |body| from_client(dialect(&zero_based(), &none), "setBreakpoints", Some(body))),
            sent
        );
    }

    #[test]
    fn a_client_that_calls_a_file_by_another_name_never_hears_the_engines() {
        let mut spellings = Spellings::default();
        spellings.learn("/a/x.py", "/link/x.py");
        let engine = r#"{"stackFrames":[{"source":{"path":"/a/x.py"}},{"source":{"path":"/a/y.py"}}]}"#;
        let client = engine.replace("/a/x", "/link/x");
        let plain = Initialize::default();
        assert_eq!(edited(engine, |body| to_client(dialect(&plain, &spellings), "stackTrace", body)), client);
        let back = edited(&client, |body| from_client(dialect(&plain, &spellings), "source", Some(body)));
        assert_eq!(back, engine);
        let uris = engine.replace("/a/x", "file:///link/x").replace("/a/y", "file:///a/y");
        assert_eq!(
            edited(engine, |body| to_client(dialect(&zero_based(), &spellings), "stackTrace", body)),
            uris
        );
        spellings.learn("/a/x.py", "/a/x.py");
        assert!(spellings.0.is_empty());
    }

    #[test]
    fn an_ordinary_client_costs_nothing() {
        assert!(
            to_client(
                dialect(&Initialize::default(), &Spellings::default()),
                "stackTrace",
                Json::first(br#"{"line":1}"#).unwrap()
            )
            .is_empty()
        );
    }

    #[test]
    fn undeclared_events_are_not_wanted() {
        let plain = |event: &str| wants(&Initialize::default(), Events::OfDapOnly, event);
        assert!(!plain("progressStart") && !plain("memory") && !plain("breakroom/activity"));
        assert!(plain("stopped") && plain("x-vendor"));
    }

    #[test]
    fn a_client_that_dies_on_what_it_does_not_know_gets_only_what_it_knows() {
        let helix = Initialize { client_id: Some("hx".into()), ..Initialize::default() };
        let gets = |event: &str| wants(&helix, Events::OfTheHubToo, event);
        assert!(gets("stopped") && gets("capabilities"));
        assert!(!gets("debugpySockets") && !gets("breakroom/activity") && !gets("invalidated"));
        assert!(!gets("memory"), "it knows that one, but did not ask for it");
    }

    #[test]
    fn the_hubs_own_events_go_to_those_who_asked_for_them() {
        assert!(wants(&Initialize::default(), Events::OfTheHubToo, "breakroom/activity"));
    }
}
