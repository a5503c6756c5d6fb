//! `breakroom ls` and `breakroom kill`.

use std::process::ExitCode;

use anyhow::Result;
use breakroom_hub::{Ending, NodeSummary, Summary, Which};
use breakroom_wire::visible;

use crate::printing::print;

/// How a list of sessions is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Lines,
    Trees,
    Json,
}

impl Shown {
    /// What the command line's options mean: programs are given the tree in any case.
    pub fn of(tree: bool, json: bool) -> Self {
        match (tree, json) {
            (_, true) => Shown::Json,
            (true, false) => Shown::Trees,
            (false, false) => Shown::Lines,
        }
    }
}

pub fn list(shown: Shown) -> Result<ExitCode> {
    let sessions = breakroom_hub::list()?;
    let live: Vec<_> = sessions.iter().filter(|session| !is_over(session)).collect();
    let text = match shown {
        Shown::Json => format!(
            "{}
",
            serde_json::to_string_pretty(&sessions)?
        ),
        _ if live.is_empty() => "no live sessions
"
        .to_owned(),
        Shown::Lines => live
            .into_iter()
            .map(|session| {
                format!(
                    "{}
",
                    line(session)
                )
            })
            .collect(),
        Shown::Trees => live.into_iter().map(with_tree).collect(),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn with_tree(session: &Summary) -> String {
    let below: String = tree(&session.tree).iter().map(|line| format!("  {line}\n")).collect();
    format!("{}\n{below}", line(session))
}

pub fn end(which: Which, by: &str) -> Result<ExitCode> {
    let ended = breakroom_hub::end(which, &Ending { by: by.to_owned(), reason: None })?;
    let line = |Summary { id, name, .. }: &Summary| {
        visible(&format!("ended {id}  {}", or_else(name, "-"))).into_owned() + "\n"
    };
    print(&ended.iter().map(line).collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

/// Only its engine has yet to go, which is nothing that people could do anything with.
fn is_over(session: &Summary) -> bool {
    session.state == "ended" && session.clients.is_empty()
}

fn line(summary: &Summary) -> String {
    let Summary {
        id,
        name,
        state,
        engine,
        clients,
        observers,
        outlives: _,
        nodes,
        tree: _,
        version,
        labels: _,
        place: _,
    } = summary;
    let engine = engine.as_deref().unwrap_or("-");
    // One that has just begun has no name yet, and one whose clients were lost has none of those.
    let name = or_else(name, "-");
    let clients = or_else(&people(clients, observers).join(", "), "nobody");
    let children = if *nodes > 1 { format!(", {nodes} nodes") } else { String::new() };
    let held = version.as_ref().map(|version| format!("  held by breakroom {version}")).unwrap_or_default();
    visible(&format!("{id}  {state:<9} {engine:<10} {name}  ({clients}{children}){held}")).into_owned()
}

/// Each with its role, if that is not the usual one. Of two with one name it does not matter which of them it is.
fn people(clients: &[String], observers: &[String]) -> Vec<String> {
    let mut observers = observers.to_vec();
    let person = |client: &String| match observers.iter().position(|observer| observer == client) {
        Some(at) => format!("{} observes", observers.swap_remove(at)),
        None => client.clone(),
    };
    clients.iter().map(person).collect()
}

fn or_else(text: &str, other: &str) -> String {
    if text.is_empty() { other.to_owned() } else { text.to_owned() }
}

/// One line for each node, children below their parent and a step to the right of it.
fn tree(nodes: &[NodeSummary]) -> Vec<String> {
    let mut rows: Vec<(String, &NodeSummary)> = Vec::new();
    let known = |id: Option<u32>| id.is_some_and(|id| nodes.iter().any(|node| node.id == id));
    let mut waiting: Vec<_> =
        nodes.iter().rev().filter(|node| !known(node.parent)).map(|node| (0, node)).collect();
    while let Some((depth, node)) = waiting.pop() {
        // A hub of another version may tell of nodes that are each other's parents.
        if rows.len() == nodes.len() {
            break;
        }
        rows.push((format!("{}{}", "  ".repeat(depth), visible(&or_else(&node.name, "-"))), node));
        let children = nodes.iter().rev().filter(|child| child.parent == Some(node.id));
        waiting.extend(children.map(|child| (depth + 1, child)));
    }
    let width =
        |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let names = width(&mut rows.iter().map(|(name, _)| &**name));
    let engines = width(&mut rows.iter().map(|(_, node)| &*node.engine));
    let row = |(name, node): &(String, &NodeSummary)| {
        visible(&format!("{name:<names$}  {:<engines$}  {}", node.engine, node.state)).into_owned()
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u32, parent: Option<u32>, name: &str, state: &str) -> NodeSummary {
        let (name, engine, state) = (name.into(), "js-debug".into(), state.into());
        NodeSummary { id, parent, name, engine, state, child_id: None }
    }

    #[test]
    fn children_are_below_their_parent_whatever_the_order_they_came_in() {
        let nodes = [
            node(1, None, "app", "running"),
            node(2, Some(1), "app.js", "stopped"),
            node(3, Some(2), "worker", "running"),
            node(4, Some(1), "other.js", "running"),
            node(5, Some(2), "wörker", "stopped"),
        ];
        let shown = tree(&nodes);
        assert_eq!(
            shown,
            [
                "app         js-debug  running",
                "  app.js    js-debug  stopped",
                "    worker  js-debug  running",
                "    wörker  js-debug  stopped",
                "  other.js  js-debug  running",
            ]
        );
    }

    #[test]
    fn what_is_not_known_yet_is_not_left_out() {
        let begun = Summary {
            id: breakroom_hub::SessionId("k7f2".into()),
            state: "starting".into(),
            ..Summary::default()
        };
        assert_eq!(line(&begun), "k7f2  starting  -          -  (nobody)");
    }

    #[test]
    fn a_session_is_over_when_it_has_ended_and_everybody_has_left() {
        let session = |state: &str, clients: &[&str]| Summary {
            state: state.into(),
            clients: clients.iter().map(|client| (*client).to_owned()).collect(),
            ..Summary::default()
        };
        assert!(is_over(&session("ended", &[])));
        assert!(!is_over(&session("ended", &["an editor"])) && !is_over(&session("running", &[])));
    }

    #[test]
    fn a_node_whose_parent_is_gone_is_shown_at_the_edge() {
        let shown = tree(&[node(3, Some(2), "worker", "running"), node(4, Some(3), "its own", "running")]);
        assert_eq!(shown, ["worker     js-debug  running", "  its own  js-debug  running"]);
    }

    #[test]
    fn a_hub_that_tells_of_no_nodes_has_no_tree() {
        assert!(tree(&[]).is_empty());
        assert!(tree(&[node(1, Some(1), "odd", "running")]).is_empty());
    }
}
