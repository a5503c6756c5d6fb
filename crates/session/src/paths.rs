//! Files that the engine knows under other paths than the clients do: in a container, on another machine, built elsewhere.
//!
//! Everything from and to an engine passes here, so inside the hub there are only the clients' paths. Each engine has its
//! own map: the members of a group may be on as many machines. Without a map nothing is looked at. What is not said is
//! guessed from the first file that is not there, if the driver finds the one that is meant.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use breakroom_dap::{Edit, Envelope, Json, Message, Packet, walk};
use memchr::memmem;
use smallvec::SmallVec;

use crate::edge::has_places;
use crate::ids::NodeId;
use crate::launch::Launch;
use crate::node::Phase;
use crate::session::Session;

/// Finds the file here that a path of an engine means, at once: whoever has to look longer says so.
#[derive(Clone)]
pub struct Finder(pub Arc<Find>);

type Find = dyn Fn(&str) -> Search + Send + Sync;

/// What came of looking for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    Found(String),
    /// The path is a file here, or nothing can be said.
    Nothing,
    /// It is being looked for. Ask again when it is named again.
    UnderWay,
}

impl std::fmt::Debug for Finder {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Finder")
    }
}

/// More paths are not looked for: a program with so many that are not there is another machine's in every way.
const MOST_ASKED: usize = 10_000;

#[derive(Debug, Clone, Default)]
pub(crate) struct Paths {
    pairs: Vec<Pair>,
    /// Paths that were looked for already.
    asked: HashSet<String>,
}

/// Two folders, or two files, that are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pair {
    engine: String,
    client: String,
}

impl Paths {
    /// What a launch says: `"pathMap": {ENGINE: CLIENT}`.
    pub fn of(own: Option<Json>) -> Paths {
        let mut paths = Paths::default();
        let said = own.and_then(|own| own.get("pathMap")).filter(|map| map.is_object());
        for (engine, client) in said.into_iter().flat_map(Json::members) {
            if let Some(client) = client.as_str() {
                let bare = |path: &str| path.trim_end_matches('/').to_owned();
                paths.pairs.push(Pair { engine: bare(&engine.text()), client: bare(&client) });
            }
        }
        paths
    }

    /// The same for another engine, which has looked for nothing yet.
    pub fn inherited(&self) -> Paths {
        Paths { pairs: self.pairs.clone(), asked: HashSet::new() }
    }

    fn to_client(&self, path: &str) -> Option<String> {
        translated(path, self.pairs.iter().map(|pair| (&*pair.engine, &*pair.client)))
    }

    fn to_engine(&self, path: &str) -> Option<String> {
        translated(path, self.pairs.iter().map(|pair| (&*pair.client, &*pair.engine)))
    }

    /// A message on its way to an engine.
    pub fn outgoing(&self, packet: Packet) -> Packet {
        if self.pairs.is_empty() {
            return packet;
        }
        let bytes = packet.to_bytes();
        let Some(message) = with_paths(&bytes).then(|| Message::from_engine(bytes).ok()).flatten() else {
            return packet;
        };
        // What a launch says about paths is the engine's own language.
        if matches!(message.command(), Some("launch" | "attach")) {
            return packet;
        }
        let edits = edits(&message, |path| self.to_engine(path));
        message.renumbered(message.seq().unwrap_or(0), edits)
    }

    fn incoming(&self, message: Message) -> Message {
        let edits = edits(&message, |path| self.to_client(path));
        match edits.is_empty() {
            true => message,
            false => message.edited(edits).unwrap_or(message),
        }
    }
}

impl Session {
    /// A message of an engine in the clients' paths.
    pub(crate) fn in_clients_paths(&mut self, node: NodeId, message: Message) -> Message {
        let Some(known) = self.nodes.get(&node) else { return message };
        let looks = !known.paths.pairs.is_empty() || self.setup.find.is_some();
        if !looks || !names_places(&message) || !with_paths(message.bytes()) {
            return message;
        }
        if let Some(Finder(find)) = self.setup.find.clone() {
            self.guess(node, &message, &*find);
        }
        match self.nodes.get(&node) {
            Some(known) => known.paths.incoming(message),
            None => message,
        }
    }

    /// Looks for files that are not where an engine says they are. What is found is true of that engine alone.
    fn guess(&mut self, node: NodeId, message: &Message, find: &Find) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let paths = &mut known.paths;
        let mut named = Vec::new();
        each_path(message, |path, _| {
            let new = !paths.asked.contains(path) && paths.to_client(path).is_none();
            if new && path.starts_with('/') && paths.asked.len() + named.len() < MOST_ASKED {
                named.push(path.to_owned());
            }
        });
        let mut guessed = Vec::new();
        for path in named {
            // What was guessed just now may be true of this one too, and it may be named twice.
            if paths.asked.contains(&path) || paths.to_client(&path).is_some() {
                continue;
            }
            let found = match find(&path) {
                Search::UnderWay => continue,
                Search::Found(found) => Pair::of(&path, &found),
                Search::Nothing => None,
            };
            paths.asked.insert(path);
            paths.pairs.extend(found.clone());
            guessed.extend(found);
        }
        if !guessed.is_empty() {
            guessed.iter().for_each(|pair| self.say_guess(node, pair));
            self.tell_by_other_paths(node);
        }
    }

    /// What several engines have in common is said once.
    fn say_guess(&mut self, node: NodeId, pair: &Pair) {
        let mut others = self.nodes.values().filter(|other| other.id != node);
        if others.any(|other| other.paths.pairs.contains(pair)) {
            return;
        }
        let text = format!(
            "{} is not here; taken to be {}. Say it with \"breakroom\": {{\"pathMap\": {{ENGINE: HERE}}}} if that is wrong.",
            pair.engine, pair.client
        );
        let clients: Vec<_> = self.clients.keys().copied().collect();
        clients.into_iter().for_each(|client| self.say(client, &text));
    }

    /// An engine was told breakpoints by paths that it does not know.
    fn tell_by_other_paths(&mut self, node: NodeId) {
        let ready = self.nodes.get(&node).is_some_and(|node| matches!(node.phase, Phase::Ready { .. }));
        if ready && matches!(self.launch, Launch::Sent { .. }) {
            for (shelf, request) in self.ledger.tell_again(node) {
                self.tell_engine(node, shelf, request);
            }
        }
    }
}

impl Pair {
    /// The folders above what two paths have in common at their ends.
    fn of(engine: &str, client: &str) -> Option<Pair> {
        let common = common_tail(engine, client);
        let above = |path: &str, common: usize| {
            let parts: Vec<&str> = path.split('/').collect();
            parts[..parts.len() - common].join("/")
        };
        // With all of one in common the whole file system would be meant.
        let common = (0..=common).rev().find(|common| !above(engine, *common).is_empty())?;
        let pair = Pair { engine: above(engine, common), client: above(client, common) };
        (pair.engine != pair.client).then_some(pair)
    }
}

/// How many names at their ends two paths have in common.
fn common_tail(one: &str, other: &str) -> usize {
    let names =
        |path: &str| path.rsplit('/').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    names(one).iter().zip(&names(other)).take_while(|(one, other)| one == other).count()
}

/// The path with the longest beginning that is known put in the other's place.
fn translated<'a>(path: &str, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let fits = |(from, to): (&'a str, &'a str)| {
        let rest = path.strip_prefix(from)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| (from.len(), format!("{to}{rest}")))
    };
    pairs.filter_map(fits).max_by_key(|(length, _)| *length).map(|(_, path)| path)
}

fn with_paths(bytes: &[u8]) -> bool {
    static PATH: LazyLock<memmem::Finder> = LazyLock::new(|| memmem::Finder::new(b"\"path\""));
    PATH.find(bytes).is_some()
}

/// Whether `source` in it means a file.
fn names_places(message: &Message) -> bool {
    match message.envelope() {
        Envelope::Event { event } => has_places(event),
        Envelope::Response { command, .. } => has_places(command),
        Envelope::Request { .. } => true,
    }
}

fn each_path<'a>(message: &'a Message, mut visit: impl FnMut(&str, Json<'a>)) {
    if let Some(payload) = message.payload() {
        walk::members(payload, &mut |parent, key, member| {
            if key == "path"
                && matches!(parent, "source" | "sources" | "location")
                && let Some(path) = member.as_str()
            {
                visit(&path, member);
            }
        });
    }
}

fn edits(message: &Message, translate: impl Fn(&str) -> Option<String>) -> SmallVec<[Edit; 2]> {
    let mut edits = SmallVec::new();
    each_path(message, |path, member| {
        if let (Some(at), Some(other)) = (member.span(), translate(path)) {
            edits.push(Edit::text(at, serde_json::Value::from(other).to_string()));
        }
    });
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(map: &str) -> Paths {
        Paths::of(Some(Json::first(map.as_bytes()).unwrap()))
    }

    #[test]
    fn the_longest_beginning_wins_both_ways_and_names_are_whole() {
        let paths =
            paths(r#"{"pathMap": {"/app": "/home/me/app", "/app/lib/": "/home/me/lib", "/": "/host"}}"#);
        for (engine, client) in [
            ("/app/x.py", "/home/me/app/x.py"),
            ("/app", "/home/me/app"),
            ("/app/lib/y.py", "/home/me/lib/y.py"),
            ("/apple/z.py", "/host/apple/z.py"),
        ] {
            assert_eq!(paths.to_client(engine).as_deref(), Some(client));
            assert_eq!(paths.to_engine(client).as_deref(), Some(engine));
        }
        assert_eq!(paths.to_engine("/home/me/other"), None);
        assert_eq!(paths.to_client("relative.py"), None);
        assert_eq!(Paths::of(None).to_client("/app"), None);
    }

    #[test]
    fn a_guess_is_as_wide_as_it_can_safely_be() {
        let pair =
            |engine: &str, client: &str| Pair::of(engine, client).map(|pair| (pair.engine, pair.client));
        let is = |engine: &str, client: &str| Some((engine.to_owned(), client.to_owned()));
        assert_eq!(pair("/app/src/main.py", "/home/me/p/src/main.py"), is("/app", "/home/me/p"));
        assert_eq!(pair("/src/main.py", "/home/me/p/src/main.py"), is("/src", "/home/me/p/src"));
        assert_eq!(pair("/main.py", "/home/me/main.py"), is("/main.py", "/home/me/main.py"));
        assert_eq!(pair("/a/b.py", "/a/b.py"), None);
    }
}
