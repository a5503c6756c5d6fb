//! What a program that is launched runs once, so that it can be paused while it waits.
//!
//! What that is, and why, is said in `idle.py`. A process that was attached to does without, and so does a Python that
//! cannot do it.

use serde_json::Value;

const IDLE: &str = include_str!("idle.py");
/// What only the main thread of the process can do.
const LISTEN: &str = include_str!("listen.py");

/// For the debugger in the process: one expression, run as if it were a part of it.
pub(crate) fn words() -> String {
    let (idle, listen) = (Value::from(IDLE), Value::from(LISTEN));
    format!("exec(compile({idle}, __import__('pydevd').__file__, 'exec'), {{'LISTEN': {listen}}})")
}
