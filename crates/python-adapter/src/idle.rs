//! What a program that is launched runs once, so that it can be paused while it waits and its long texts can be read whole.
//!
//! What that is, and why, is said in `idle.py` and `texts.py`. A process that was attached to does without, and so does a Python that
//! cannot do it.

use serde_json::Value;

const IDLE: &str = include_str!("idle.py");
/// What only the main thread of the process can do.
const LISTEN: &str = include_str!("listen.py");
const TEXTS: &str = include_str!("texts.py");

/// For the debugger in the process: one expression, run as if it were a part of it.
pub(crate) fn words() -> String {
    let (idle, listen, texts) = (Value::from(IDLE), Value::from(LISTEN), Value::from(TEXTS));
    let file = "__import__('pydevd').__file__";
    format!(
        "exec(compile({texts}, {file}, 'exec'), {{}}) or exec(compile({idle}, {file}, 'exec'), {{'LISTEN': {listen}}})"
    )
}
