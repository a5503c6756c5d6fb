//! Children of a node, from their announcement to the point where they run, and to their end.
//!
//! Whoever announces a child, the hub opens it itself and configures it from the ledger. A child that does not come up
//! costs nothing but itself: everybody is told why, and the rest of the tree goes on. What a child leaves behind is
//! forgotten as soon as its connection is gone.

mod again;
mod parting;
mod passing;

use std::time::Duration;

use breakroom_dap::{Edit, Json, Message, event, request, response};
use breakroom_habits::Part;
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::ending::{Ending, Fate};
use crate::facts::EngineFacts;
use crate::failure::{Failure, FailureId};
use crate::ids::{FromEngine, NodeId, Time};
use crate::io::{Effect, EngineChoice, Opening};
use crate::journal::Entry;
use crate::launch::Start;
use crate::node::{Node, Phase, Purpose};
use crate::over::Bond;
use crate::paths::Paths;
use crate::reverse::NOT_FOR_ATTACHED;
use crate::session::Session;
use crate::tree::{Child, Host, Stage, Standing};

/// A program that starts itself again and again must not take all there is. A launch may say another number.
pub(crate) const MOST_NODES: usize = 64;
/// A child that is not configured by then after its announcement will not be.
const CONFIGURED: Duration = Duration::from_secs(20);
/// How long a child may take to answer `disconnect`.
pub(crate) const FAREWELL: Duration = Duration::from_secs(5);
/// As many lines of an adapter's stderr are kept for messages.
pub(crate) const LAST_WORDS: usize = 10;

impl Session {
    /// An engine asks for a session for something that its program started.
    pub(crate) fn on_start_debugging(&mut self, parent: NodeId, seq: FromEngine, message: &Message) {
        let arguments = message.payload();
        let configuration = arguments.and_then(|arguments| arguments.get("configuration"));
        let Some(configuration) = configuration.filter(|configuration| configuration.is_object()) else {
            let text = "`startDebugging` needs a `configuration`";
            return self.fail_reverse(parent, seq, "startDebugging", text);
        };
        let attaches = arguments.and_then(|arguments| arguments.str("request")).as_deref() == Some("attach");
        let command = if attaches { "attach" } else { "launch" };
        self.announce_child(parent, Some(seq), command, configuration);
    }

    /// debugpy's way to say the same to a client that cannot be asked.
    pub(crate) fn on_debugpy_attach(&mut self, parent: NodeId, message: &Message) {
        match message.payload().filter(|configuration| configuration.is_object()) {
            Some(configuration) => self.announce_child(parent, None, "attach", configuration),
            None => self.odd(),
        }
    }

    fn announce_child(
        &mut self,
        parent: NodeId,
        seq: Option<FromEngine>,
        command: &str,
        configuration: Json,
    ) {
        let goes_on =
            matches!(self.ending, Ending::No) && !self.restart.is_under_way() && self.bond != Bond::Broken;
        if !goes_on || !self.is_of_the_tree(parent) {
            return self.refuse_child(parent, seq, "the session is being ended");
        }
        let Some(announcer) = self.nodes.get(&parent) else { return };
        let name = match name(configuration, self.nodes.len()) {
            none if announcer.facts.unnamed.contains(&none) => self.label(parent),
            name => name,
        };
        let opening = opening(configuration, &announcer.facts);
        let opening = self.opening_by_given_adapter(opening, parent, configuration);
        let standing = match self.has_room() {
            true => Standing::Debugged,
            false => match self.no_room(parent, seq, &name, &opening) {
                Some(standing) => standing,
                None => return,
            },
        };
        let Some(announcer) = self.nodes.get(&parent) else { return };
        let paths = paths_of(configuration, announcer);
        let own = matches!(opening, Opening::Engine { .. });
        if own && !self.may_start_programs(parent) {
            return self.refuse_child(parent, seq, NOT_FOR_ATTACHED);
        }
        let host = if own { Host::Own } else { Host::Parents };
        let origin = if own { Start::of(command) } else { self.start_of(parent) };
        // An engine may have to be found, and to build its program first.
        let until = (!own).then(|| self.now.after(CONFIGURED));
        let number = self.nodes.get_mut(&parent).map_or(0, |parent| {
            parent.children_announced += 1;
            parent.children_announced - 1
        });
        let id = self.id_for_child(parent, number);
        let child = Child {
            parent,
            id,
            name,
            kind: configuration.str("type").map(|kind| kind.into_owned()),
            target: target(configuration),
            start: origin,
            host,
            standing,
            program: Fate::Ends,
            request: start(command, configuration),
            stage: Stage::Coming { until, announced: seq },
            expected: None,
            again: None,
        };
        let node = self.new_child(child, paths);
        self.effect(Effect::OpenChild { node, parent, opening });
    }

    /// How what a node debugs came to be debugged.
    pub(crate) fn start_of(&self, node: NodeId) -> Start {
        let child = self.nodes.get(&node).and_then(|node| node.lineage.child());
        child.map(|child| child.start).or(self.launch.start()).unwrap_or(Start::Launch)
    }

    fn refuse_child(&mut self, parent: NodeId, seq: Option<FromEngine>, text: &str) {
        if let Some(seq) = seq {
            self.fail_reverse(parent, seq, "startDebugging", text);
        }
    }

    /// The connection of a child is there: whoever announced it may let its program go on.
    pub(crate) fn child_is_up(&mut self, id: NodeId) {
        let child = self.nodes.get_mut(&id).and_then(|node| node.lineage.child_mut());
        let Some(Child { parent, stage: Stage::Coming { announced, .. }, .. }) = child else { return };
        if let (parent, Some(seq)) = (*parent, announced.take()) {
            self.answer_engine(parent, response(seq.0, "startDebugging", None));
        }
    }

    /// The child answered `initialize`: it is started as announced, and configured as soon as it says that it can be.
    pub(crate) fn start_child(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else { return };
        let Some(Child { stage: Stage::Coming { .. }, request, .. }) = node.lineage.child() else { return };
        let (request, has_breakpoints) = (request.clone(), !node.coordinates() && !node.is_let_run());
        self.send_start(id, request, Purpose::StartChild);
        if has_breakpoints {
            self.admit_to_properties(id);
            self.admit_to_breakpoints(id);
        }
        self.prepare_childs_entry(id);
        if let Some(node) = self.nodes.get_mut(&id).filter(|node| node.capabilities.configuration_done) {
            node.end_configuration(Purpose::ConfigureChild);
        }
        self.offer(id);
    }

    /// The child answered its `launch` or `attach`, which it may do before or after it is configured.
    pub(crate) fn on_child_started(&mut self, id: NodeId, command: &str, failed: Option<String>) {
        let Some(node) = self.nodes.get(&id) else { return };
        match failed {
            Some(reason) => self.child_failed(id, &format!("it refused `{command}`: {reason}")),
            None if !node.capabilities.configuration_done => self.child_is_configured(id),
            None => self.child_has_started(id),
        }
    }

    pub(crate) fn on_child_configured(&mut self, id: NodeId, failed: Option<String>) {
        match failed {
            Some(reason) => self.child_failed(id, &format!("it refused `configurationDone`: {reason}")),
            None => self.child_is_configured(id),
        }
    }

    fn child_is_configured(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let starts = node.owes_start();
        let child = node.lineage.child_mut().filter(|child| matches!(child.stage, Stage::Coming { .. }));
        if let Some(child) = child {
            child.stage = if starts { Stage::Starting } else { Stage::Live };
        }
        self.leave_if_let_run(id);
    }

    fn child_has_started(&mut self, id: NodeId) {
        let child = self.nodes.get_mut(&id).and_then(|node| node.lineage.child_mut());
        if let Some(child) = child.filter(|child| matches!(child.stage, Stage::Starting)) {
            child.stage = Stage::Live;
        }
        self.leave_if_let_run(id);
    }

    /// Nothing will come of a child. Everybody hears why, and the rest goes on.
    pub(crate) fn child_failed(&mut self, id: NodeId, why: &str) {
        if self.tell_failed(id, why) {
            self.stop_child(id, Duration::ZERO);
            self.after_child();
        }
    }

    /// The same of one whose engine may hold a program that waits to be let go.
    fn child_is_late(&mut self, id: NodeId, why: &str) {
        if self.tell_failed(id, why) {
            let until = self.now.after(FAREWELL);
            self.release_late(id, until);
            self.after_child();
        }
    }

    /// False if it was on its way out already.
    fn tell_failed(&mut self, id: NodeId, why: &str) -> bool {
        let Some(node) = self.nodes.get_mut(&id) else { return false };
        let address = node.facts.address.as_ref().map(|address| format!(" at {address}")).unwrap_or_default();
        let Some(child) = node.lineage.child_mut() else { return false };
        let stage = std::mem::replace(&mut child.stage, Stage::Leaving { until: None });
        if matches!(stage, Stage::Leaving { .. }) {
            return false;
        }
        let target = child.target.as_ref().map(|target| format!(" (target {target})")).unwrap_or_default();
        let (parent, name) = (child.parent, child.name.clone());
        let why = why.trim_end();
        let full_stop = if why.ends_with(['.', '!', '?']) { "" } else { "." };
        let mut text = format!("failed to open child session {name}{target}{address}: {why}{full_stop}");
        let words = self.last_words(id);
        if !words.is_empty() && !text.contains("last words") {
            text += &format!(" The last words of its adapter:\n{words}");
        }
        self.note(Entry::Notice { text: text.clone() });
        let body = json!({"category": "stderr", "output": format!("breakroom: {text}\n")});
        self.tell_printed(parent, &event("output", Some(body)));
        if let Stage::Coming { announced: Some(seq), .. } = stage {
            self.fail_reverse(parent, seq, "startDebugging", &text);
        }
        self.take_leave(id);
        self.dismiss_from_breakpoints(id);
        true
    }

    /// What the process behind a node last wrote to its stderr; a child without one has its parent's.
    fn last_words(&self, node: NodeId) -> String {
        let mut node = self.nodes.get(&node);
        while let Some(known) = node {
            if !known.last_words.is_empty() {
                return known.last_words.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
            }
            node = known.lineage.child().and_then(|child| self.nodes.get(&child.parent));
        }
        String::new()
    }

    /// The child could not be opened.
    pub(crate) fn child_could_not_be_opened(&mut self, id: NodeId, reason: &str) {
        let abandoned = self.child_is_gone(id);
        self.answer_abandoned_by(id, abandoned, &Failure::quiet(FailureId::EngineEnded, reason));
        self.child_failed(id, reason);
        self.forget_child(id);
    }

    pub(crate) fn child_deadline(&self) -> Option<Time> {
        // One that nobody came for in time stays so while the session itself waits for somebody.
        let awaited = |expected: Option<Time>| expected.filter(|until| *until > self.now);
        let due = |node: &Node| match (&node.phase, node.lineage.child()?) {
            (Phase::Ending | Phase::Ended { .. }, _) => None,
            (_, Child { stage: Stage::Coming { until, .. }, expected, .. }) => {
                [*until, awaited(*expected)].into_iter().flatten().min()
            }
            (_, Child { stage: Stage::Leaving { until }, .. }) => *until,
            (_, Child { stage: Stage::Starting | Stage::Live, expected, .. }) => awaited(*expected),
        };
        self.nodes.values().filter_map(due).min()
    }

    /// A child takes too long, to come or to go.
    pub(crate) fn child_in_time(&mut self, id: NodeId) {
        let now = self.now;
        match self.nodes.get(&id).and_then(|node| node.lineage.child()).map(|child| &child.stage) {
            Some(Stage::Coming { until: Some(until), .. }) if *until <= now => {
                let what = match self.nodes.get(&id).map(|node| &node.phase) {
                    Some(Phase::Starting | Phase::Connected) => "no connection to it came about",
                    Some(Phase::Initializing { .. }) => "it did not answer `initialize`",
                    _ => "it did not come to the point where it runs",
                };
                let seconds = CONFIGURED.as_secs();
                self.child_is_late(id, &format!("{what} within {seconds} s"));
            }
            Some(Stage::Leaving { until: Some(until) }) if *until <= now => {
                let owed = self.nodes.get_mut(&id).map(Node::abandon).unwrap_or_default();
                let text = "the debug adapter did not answer before the process was let go";
                self.answer_abandoned_by(id, owed, &Failure::quiet(FailureId::EngineEnded, text));
                self.stop_child(id, Duration::ZERO);
                self.after_child();
            }
            _ => {}
        }
    }
}

/// What a program starts is where the program is, unless it says otherwise.
fn paths_of(configuration: Json, announcer: &Node) -> Paths {
    let own = configuration.get("breakroom").filter(|own| own.get("pathMap").is_some());
    own.map_or_else(|| announcer.paths.inherited(), |own| Paths::of(Some(own)))
}

/// What people call a child.
fn name(configuration: Json, count: usize) -> String {
    let said = configuration.str("name").or_else(|| configuration.str("program"));
    let said = said.map(|said| said.trim().to_owned()).filter(|said| !said.is_empty());
    said.unwrap_or_else(|| format!("child {count}"))
}

/// What the parent's engine knows a child by.
fn target(configuration: Json) -> Option<String> {
    let named = configuration.get("__pendingTargetId").or_else(|| configuration.get("subProcessId"))?;
    let text = named.as_str().map(|text| text.into_owned());
    text.or_else(|| named.as_i64().map(|number| number.to_string()))
}

fn opening(configuration: Json, parent: &EngineFacts) -> Opening {
    // What a group attaches to by an address is an engine's business. A subprocess says whose it is, and is announced by
    // the engine that debugs what started it; its `type` is whatever the client called that.
    let subprocess = parent.part == Part::Debugs && configuration.get("subProcessId").is_some();
    let connect = configuration.get("connect");
    let port = connect.and_then(|connect| connect.i64("port")).and_then(|port| u16::try_from(port).ok());
    if let (Some(connect), Some(port)) = (connect.filter(|_| subprocess), port) {
        let host = connect.str("host").map_or_else(|| "127.0.0.1".to_owned(), |host| host.into_owned());
        return Opening::At { host, port };
    }
    let kind = configuration.str("type");
    let same =
        |kind: &str| connect.is_none() && parent.kinds.iter().any(|known| known.eq_ignore_ascii_case(kind));
    match kind {
        Some(kind) if configuration.get("__pendingTargetId").is_none() && !same(&kind) => {
            let choice = EngineChoice::Type(kind.into_owned());
            Opening::Engine { choice, arguments: arguments(configuration) }
        }
        _ => Opening::SameServer,
    }
}

/// A configuration as it is given to the engine that is started for it.
pub(crate) fn arguments(configuration: Json) -> Value {
    configuration.raw().and_then(|raw| serde_json::from_slice(raw).ok()).unwrap_or_default()
}

/// The request that starts a child, with the announced configuration as it came.
fn start(command: &str, configuration: Json) -> Message {
    let start = request(command, json!({}));
    let at = start.payload().and_then(Json::span);
    let edit = at.zip(configuration.raw()).map(|(at, raw)| Edit::text(at, raw.to_vec()));
    let edited = edit.and_then(|edit| start.edited(SmallVec::from_iter([edit])).ok());
    edited.unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(text: &str) -> Opening {
        opened_by(Part::Debugs, text)
    }

    fn opened_by(part: Part, text: &str) -> Opening {
        let kinds = vec!["pwa-node".to_owned(), "node".to_owned()];
        let parent = EngineFacts { part, kinds, ..EngineFacts::default() };
        opening(Json::first(text.as_bytes()).unwrap(), &parent)
    }

    #[test]
    fn an_address_to_attach_to_is_for_an_engine_unless_a_subprocess_is_debugged_there() {
        let attach = r#"{"type":"python","connect":{"host":"10.0.0.1","port":5678}}"#;
        let node = r#"{"type":"node","connect":{"port":5678}}"#;
        let subprocess = r#"{"type":"python","connect":{"port":5678},"subProcessId":7}"#;
        for (part, text) in [
            (Part::Debugs, attach),
            (Part::Debugs, node),
            (Part::Coordinates, attach),
            (Part::Coordinates, subprocess),
        ] {
            assert!(matches!(opened_by(part, text), Opening::Engine { .. }), "{part:?} {text}");
        }
        assert!(matches!(opened(subprocess), Opening::At { .. }));
    }

    #[test]
    fn where_a_child_is_debugged_follows_from_its_configuration() {
        let at = opened(r#"{"type":"python","connect":{"host":"127.0.0.1","port":5678},"subProcessId":7}"#);
        assert_eq!(at, Opening::At { host: "127.0.0.1".into(), port: 5678 });
        assert_eq!(opened(r#"{"type":"pwa-node","__pendingTargetId":"a1"}"#), Opening::SameServer);
        assert_eq!(opened(r#"{"type":"pwa-chrome","__pendingTargetId":"a1"}"#), Opening::SameServer);
        assert_eq!(opened(r#"{"type":"node"}"#), Opening::SameServer);
        let arguments = json!({"type": "go", "program": "."});
        let go = Opening::Engine { choice: EngineChoice::Type("go".into()), arguments: arguments.clone() };
        assert_eq!(opened(&arguments.to_string()), go);
    }

    #[test]
    fn the_announced_configuration_is_passed_on_as_it_came() {
        let text = r#"{"b":1,"a":12345678901234567890,"__pendingTargetId":"x"}"#;
        let start = start("launch", Json::first(text.as_bytes()).unwrap());
        assert_eq!(start.command(), Some("launch"));
        assert_eq!(start.payload().and_then(Json::raw), Some(text.as_bytes()));
        assert_eq!(target(Json::first(br#"{"subProcessId":12}"#).unwrap()).as_deref(), Some("12"));
    }
}
