//! `breakroom ls` and `breakroom kill`.

use std::process::ExitCode;

use anyhow::Result;
use breakroom_hub::{NodeSummary, Summary, Which};

/// How a list of sessions is shown.
#[derive(Clone, Copy)]
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
    match shown {
        Shown::Json => println!("{}", serde_json::to_string_pretty(&sessions)?),
        _ if sessions.is_empty() => println!("no live sessions"),
        Shown::Lines => sessions.iter().for_each(|session| println!("{}", line(session))),
        Shown::Trees => {
            for session in &sessions {
                println!("{}", line(session));
                tree(&session.tree).iter().for_each(|line| println!("  {line}"));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub fn end(which: Which) -> Result<ExitCode> {
    for Summary { id, name, .. } in breakroom_hub::end(which)? {
        println!("ended {id}  {name}");
    }
    Ok(ExitCode::SUCCESS)
}

fn line(Summary { id, name, state, engine, clients, nodes, tree: _, version }: &Summary) -> String {
    let engine = engine.as_deref().unwrap_or("-");
    let children = if *nodes > 1 { format!(", {nodes} nodes") } else { String::new() };
    let held = version.as_ref().map(|version| format!("  held by breakroom {version}")).unwrap_or_default();
    format!("{id}  {state:<9} {engine:<10} {name}  ({}{children}){held}", clients.join(", "))
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
        rows.push((format!("{}{}", "  ".repeat(depth), node.name), node));
        let children = nodes.iter().rev().filter(|child| child.parent == Some(node.id));
        waiting.extend(children.map(|child| (depth + 1, child)));
    }
    let width =
        |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let names = width(&mut rows.iter().map(|(name, _)| &**name));
    let engines = width(&mut rows.iter().map(|(_, node)| &*node.engine));
    let row = |(name, node): &(String, &NodeSummary)| {
        format!("{name:<names$}  {:<engines$}  {}", node.engine, node.state)
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u32, parent: Option<u32>, name: &str, state: &str) -> NodeSummary {
        NodeSummary { id, parent, name: name.into(), engine: "js-debug".into(), state: state.into() }
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
