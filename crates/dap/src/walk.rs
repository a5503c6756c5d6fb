//! Visiting every member of a value, whatever its depth.
//!
//! Used at a client's edge, where lines and paths are translated for the few clients that count from 0
//! or speak in URIs. Not for the hot path.

use crate::json::Json;

/// Deeper members are left as they are; no DAP structure with lines or paths is nearly as deep.
const MAX_DEPTH: usize = 64;

/// Calls `visit(parent, key, value)` for each member. An element of an array has its array's key.
pub fn members<'a>(value: Json<'a>, visit: &mut impl FnMut(&str, &str, Json<'a>)) {
    descend(value, "", "", 0, visit);
}

fn descend<'a>(
    value: Json<'a>,
    parent: &str,
    key: &str,
    depth: usize,
    visit: &mut impl FnMut(&str, &str, Json<'a>),
) {
    if depth > MAX_DEPTH {
        return;
    }
    if value.is_object() {
        for (name, member) in value.members() {
            let name = name.text();
            visit(key, &name, member);
            descend(member, key, &name, depth + 1, visit);
        }
    } else if value.is_array() {
        for element in value.elements() {
            if !element.is_object() && !element.is_array() {
                visit(parent, key, element);
            }
            descend(element, parent, key, depth + 1, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_is_visited_with_its_parent() {
        let text = br#"{"a":{"line":1},"lines":[4,5],"list":[{"line":2,"source":{"path":"p"}}]}"#;
        let mut seen = Vec::new();
        members(Json::first(text).unwrap(), &mut |parent, key, value| {
            if !value.is_object() && !value.is_array() {
                seen.push(format!("{parent}.{key}"));
            }
        });
        assert_eq!(seen, ["a.line", ".lines", ".lines", "list.line", "source.path"]);
    }
}
