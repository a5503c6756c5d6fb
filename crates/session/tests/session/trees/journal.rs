//! What is noted and listed of a tree.

use breakroom_session::Entry;
use serde_json::json;

use super::super::rig::{Rig, setup};

#[test]
fn the_journal_says_which_node_where_there_are_several() {
    let (mut rig, tess, root) = Rig::python(setup(), json!({}));
    rig.tell(root, "output", json!({"category": "stdout", "output": "alone"}));
    let (child, _) = rig.python_child(tess, root, 7);
    rig.tell(child, "output", json!({"category": "stdout", "output": "child"}));
    rig.tell(root, "output", json!({"category": "stdout", "output": "root"}));
    rig.stop_alone(child, 1, "breakpoint");
    let said: Vec<_> = rig
        .session
        .journal()
        .since(0)
        .notes
        .into_iter()
        .filter_map(|noted| match noted.entry {
            Entry::Output { text, node, .. } => Some((text, node)),
            Entry::Stopped { reason, node, .. } => Some((reason, node)),
            _ => None,
        })
        .collect();
    let node = |name: &str| Some(name.to_owned());
    assert_eq!(
        said,
        [
            ("alone".into(), None),
            ("child".into(), node("Subprocess 7")),
            ("root".into(), node("the program")),
            ("breakpoint".into(), node("Subprocess 7")),
        ]
    );
}

#[test]
fn a_description_lists_the_tree_and_is_stopped_if_any_node_is() {
    let (mut rig, tess, root) = Rig::coordinated(setup(), json!({}));
    let (child, _) = rig.js_child(tess, root, "a.js");
    let (coming, _) = rig.announce_js(child, "worker");
    rig.stop_alone(child, 0, "breakpoint");
    let description = rig.session.describe();
    assert_eq!((description.state, description.nodes), ("stopped", 3));
    let tree: Vec<_> =
        description.tree.iter().map(|node| (node.id, node.parent, node.name.as_str(), node.state)).collect();
    assert_eq!(
        tree,
        [
            (root.0, None, "the program", "running"),
            (child.0, Some(root.0), "a.js", "stopped"),
            (coming.0, Some(child.0), "worker", "starting"),
        ]
    );
}
