//! The tree of a session: who is whose child, who debugs, and which node is meant when a request names none.
//!
//! A node is one engine connection. The root is what was launched; every other was announced by its parent and opened by
//! the hub (`children`). What a client sees of the tree is its own matter (`views`).

use crate::ending::Fate;
use crate::failure::{Failure, FailureId};
use crate::ids::{ClientId, FromEngine, NodeId, Time};
use crate::launch::Start;
use crate::node::{Node, Phase};
use crate::session::Session;
use crate::source_numbers;

use breakroom_dap::{Json, Message};
use breakroom_habits::Part;

/// Where a node stands in the tree.
#[derive(Debug)]
pub(crate) enum Lineage {
    Root,
    Child(Box<Child>),
}

#[derive(Debug)]
pub(crate) struct Child {
    pub parent: NodeId,
    /// The id by which clients open it, if the front end names children. It ends with the parent.
    pub id: Option<String>,
    /// What its configuration calls it.
    pub name: String,
    /// The type of its configuration.
    pub kind: Option<String>,
    /// What its parent's engine knows it by, for messages.
    pub target: Option<String>,
    /// How it came to be debugged, which says what happens to it in the end. What a program starts shares its fate.
    pub start: Start,
    pub host: Host,
    pub standing: Standing,
    /// What becomes of its program when its engine goes.
    pub program: Fate,
    /// What it is started with, once it can be.
    pub request: Message,
    pub stage: Stage,
    /// Until when somebody may still come who was asked to open a session for it.
    pub expected: Option<Time>,
    /// What it is to be started with again when it is gone, as it asked for itself.
    pub again: Option<Message>,
}

/// What is done about a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Debugged,
    /// There is no room for it: it is brought to the point where its program runs, and left. No client sees it.
    LetRun,
}

/// Whose engine debugs a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    /// Its parent's, or a server that its parent's engine started.
    Parents,
    /// One of its own, as a group's member has: it is started, waited for and spared as a root is.
    Own,
}

/// How far a child has come.
#[derive(Debug)]
pub(crate) enum Stage {
    /// It was announced, and must be configured by then, if its engine is there already.
    Coming {
        until: Option<Time>,
        /// The request of the parent's engine that waits for its connection.
        announced: Option<FromEngine>,
    },
    /// It is configured, and has yet to answer the request that starts it.
    Starting,
    Live,
    /// It has said its last word or was told to go. `until` is when it is not waited for any more.
    Leaving {
        until: Option<Time>,
    },
}

impl Lineage {
    pub fn child(&self) -> Option<&Child> {
        match self {
            Lineage::Root => None,
            Lineage::Child(child) => Some(child),
        }
    }

    pub fn child_mut(&mut self) -> Option<&mut Child> {
        match self {
            Lineage::Root => None,
            Lineage::Child(child) => Some(child),
        }
    }
}

impl Node {
    pub fn is_child(&self) -> bool {
        self.lineage.child().is_some()
    }

    /// Whether its engine was started for it alone.
    pub fn has_own_engine(&self) -> bool {
        self.lineage.child().is_none_or(|child| child.host == Host::Own)
    }

    /// Whether it is a child that something may still come of.
    pub fn is_living_child(&self) -> bool {
        let going = matches!(self.phase, Phase::Ending | Phase::Ended { .. });
        !going
            && self.lineage.child().is_some_and(|child| !matches!(child.stage, Stage::Leaving { .. }))
            && !self.picture.is_over()
            && !self.is_let_run()
    }

    /// Whether it is a child that is not debugged but only brought to the point where it runs.
    pub fn is_let_run(&self) -> bool {
        self.lineage.child().is_some_and(|child| child.standing == Standing::LetRun)
    }

    /// Whether another is to take its place.
    fn comes_again(&self) -> bool {
        self.lineage.child().is_some_and(|child| child.again.is_some())
    }

    /// Whether there is a process behind it, or will be, that is debugged through it and not only through its children.
    pub fn debugs(&self) -> bool {
        match self.lineage {
            Lineage::Root => {
                let going = matches!(self.phase, Phase::Ending | Phase::Ended { .. });
                self.facts.part == Part::Debugs && !going && !self.picture.is_over()
            }
            Lineage::Child(_) => {
                self.is_living_child() && matches!(self.phase, Phase::Ready { .. }) && !self.coordinates()
            }
        }
    }

    /// Whether it only opens children.
    pub fn coordinates(&self) -> bool {
        self.facts.part == Part::Coordinates
    }
}

impl Session {
    /// Whether a child is there, or on its way.
    pub(crate) fn has_living_child(&self) -> bool {
        self.nodes.values().any(|node| node.is_living_child() || node.comes_again())
    }

    /// Whether the node belongs to the tree as it is now: not one that was replaced, and not one that is gone.
    pub(crate) fn is_of_the_tree(&self, node: NodeId) -> bool {
        self.root == Some(node) || self.nodes.get(&node).is_some_and(Node::is_child)
    }

    /// What people call a node.
    pub(crate) fn label(&self, node: NodeId) -> String {
        let Some(known) = self.nodes.get(&node) else { return String::new() };
        match known.lineage.child() {
            Some(child) => child.name.clone(),
            None if self.name.is_empty() => known.name().to_owned(),
            None => self.name.clone(),
        }
    }

    /// The nodes that debug something and that a client sees, the root first.
    pub(crate) fn debugged(&self, client: ClientId) -> Vec<NodeId> {
        let seen = self.nodes.values().filter(|node| self.is_of_the_tree(node.id) && node.debugs());
        seen.map(|node| node.id).filter(|node| self.sees(client, *node)).collect()
    }

    /// The node that a client means if it names none: the one that stopped last or that it chose since, else the first.
    pub(crate) fn active(&self, client: ClientId) -> Result<NodeId, Failure> {
        let debugged = self.debugged(client);
        let chosen = self.clients.get(&client).and_then(|client| client.focus);
        let meant = [chosen, self.active].into_iter().flatten().find(|node| debugged.contains(node));
        if let Some(node) = meant.or(debugged.first().copied()) {
            return Ok(node);
        }
        let home = self.home(client);
        match home.and_then(|home| self.nodes.get(&home)) {
            Some(node) if !node.coordinates() => Ok(node.id),
            Some(_) => {
                let text = "no process is being debugged yet: what was launched has not started any.";
                Err(Failure::quiet(FailureId::NothingDebugged, text))
            }
            None => {
                let text = "the process that this client debugs has ended.";
                Err(Failure::quiet(FailureId::EngineEnded, text))
            }
        }
    }

    /// The node whose thread this is.
    pub(crate) fn home_of_thread(&self, thread: i64) -> Result<Option<NodeId>, Failure> {
        let has = |node: &&Node| node.thread_numbers.has(thread) && self.is_of_the_tree(node.id);
        if let Some(node) = self.nodes.values().find(has) {
            return Ok(Some(node.id));
        }
        let root = self.root.and_then(|root| self.nodes.get(&root)).filter(|root| !root.coordinates());
        // A root that went first has no threads any more.
        let there = root.is_none_or(|root| root.debugs() || !self.has_living_child());
        if self.thread_mint.gave(thread) || !there {
            let text = format!("thread {thread} is gone.");
            return Err(Failure::quiet(FailureId::StaleReference, text));
        }
        Ok(root.map(|root| root.id))
    }

    /// The child whose source this is; what nobody was given is the business of whoever is asked.
    pub(crate) fn home_of_source(&self, source: i64) -> Option<NodeId> {
        let has = |node: &&Node| node.source_numbers.has(source) && self.is_of_the_tree(node.id);
        self.nodes.values().find(has).map(|node| node.id)
    }

    /// The node that every request of a client is for, if there is no other. Most sessions have one engine, and nothing of a
    /// request has to be read to know whose it is. Where there were others, a thread of theirs may still be named.
    fn only_node(&self, client: ClientId) -> Option<NodeId> {
        let is_alone = self.nodes.len() == 1 && self.thread_mint.has_given_none();
        let (id, node) = self.nodes.iter().next().filter(|_| is_alone)?;
        let debugs = self.root == Some(*id) && !node.coordinates();
        (debugs && self.sees(client, *id)).then_some(*id)
    }

    /// The node that a request is for.
    pub(crate) fn target(
        &self,
        client: ClientId,
        command: &str,
        arguments: Option<Json>,
    ) -> Result<NodeId, Failure> {
        if let Some(only) = self.only_node(client) {
            return Ok(only);
        }
        let mut named: Option<NodeId> = None;
        let mut is_two = |node: NodeId| *named.get_or_insert(node) != node;
        let several = arguments.and_then(|arguments| arguments.get("threadIds"));
        let threads = arguments.and_then(|arguments| arguments.get("threadId")).into_iter();
        let threads = threads.chain(several.into_iter().flat_map(Json::elements)).filter_map(Json::as_i64);
        let mut two = false;
        // With one engine the engine itself judges what it is asked, but for numbers that it never heard of: one of a
        // child that is gone must not become one of its own.
        let is_ours = |thread: &i64| self.nodes.len() > 1 || self.thread_mint.gave(*thread);
        for thread in threads.filter(is_ours) {
            match self.home_of_thread(thread)? {
                Some(node) => two |= is_two(node),
                // Nobody was given that number. Whoever debugs alone shall judge it.
                None if self.sees_several(client) => {
                    let text = format!("`{command}`: there is no thread {thread}.");
                    return Err(Failure::quiet(FailureId::StaleReference, text));
                }
                None => {}
            }
        }
        for reference in arguments.into_iter().flat_map(breakroom_dap::references::in_request) {
            let origin = self.minted.origin(reference.kind, reference.value).ok();
            let node = origin.map(|origin| origin.node).filter(|node| self.is_of_the_tree(*node));
            two |= node.is_some_and(&mut is_two);
        }
        let source = source_numbers::named(arguments).and_then(|source| self.home_of_source(source));
        two |= source.is_some_and(&mut is_two);
        if two {
            let text =
                format!("`{command}` names things of two processes; ask for those of one process at a time.");
            return Err(Failure::quiet(FailureId::BadArguments, text));
        }
        match named {
            Some(node) if self.sees(client, node) => Ok(node),
            Some(node) => {
                let name = self.label(node);
                let text =
                    format!("`{command}` is about {name}, which this client debugs in a session of its own.");
                Err(Failure::quiet(FailureId::BadArguments, text))
            }
            None => self.active(client),
        }
    }
}
