//! Whether a frame stands where a breakpoint is, ours or somebody else's.

use std::path::Path;

use breakroom_client::model::{self, Frame};
use breakroom_dap::names;
use serde_json::Value;

use crate::breakpoints::{Breakpoint, Place};

/// Whether a breakpoint of ours is where this frame stands.
pub fn at(breakpoint: &Breakpoint, frame: &Frame) -> bool {
    match (breakpoint.line(), &breakpoint.place) {
        (Some((file, line)), _) => frame.line == line && is_in_file(file, frame),
        (None, Place::Function(name)) => names::mean_the_same(name, &frame.name),
        (None, Place::Line { .. } | Place::Data { .. }) => false,
    }
}

/// The same file may be spelled through a link.
fn is_in_file(file: &Path, frame: &Frame) -> bool {
    let here = frame.source.as_ref().and_then(|source| source.path.as_deref()).map(Path::new);
    let same = |here: &Path| matches!((file.canonicalize(), here.canonicalize()), (Ok(a), Ok(b)) if a == b);
    here.is_some_and(|here| here == file || same(here))
}

/// Whether a breakpoint of somebody else's, as the hub lists it, is where this frame stands.
pub fn is_at(other: &Value, frame: &Frame) -> bool {
    if let Some(function) = other["name"].as_str().filter(|_| !other["source"].is_object()) {
        return names::mean_the_same(function, &frame.name);
    }
    let line = model::integer(&other["actualLine"]).or_else(|| model::integer(&other["line"]));
    let file = other["source"]["path"].as_str().map(Path::new);
    line == Some(frame.line) && file.is_some_and(|file| is_in_file(file, frame))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frame(name: &str, path: &str) -> Frame {
        let frame = json!({"id": 1, "name": name, "line": 7, "column": 1, "source": {"path": path}});
        Frame::read(&frame).expect("a frame")
    }

    #[test]
    fn a_breakpoint_of_anothers_is_found_through_a_link_and_by_its_function() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("t.py"), folder.path().join("l.py"));
        std::fs::write(&file, "").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        let here = frame("main.add", &file.to_string_lossy());
        assert!(is_at(&json!({"line": 7, "source": {"path": link.to_string_lossy()}}), &here));
        assert!(is_at(
            &json!({"line": 5, "actualLine": 7, "source": {"path": file.to_string_lossy()}}),
            &here
        ));
        assert!(!is_at(&json!({"line": 8, "source": {"path": link.to_string_lossy()}}), &here));
        assert!(is_at(&json!({"name": "add"}), &here) && !is_at(&json!({"name": "dd"}), &here));
    }
}
