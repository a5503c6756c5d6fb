//! Waiting for a condition with a deadline.
//!
//! The kernel has no single event for "this process was reaped and its socket is gone", so the condition is looked at
//! again and again; a slow machine only makes the wait longer.

use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Long enough for a loaded machine; a test that waits this long has failed.
pub const DEADLINE: Duration = Duration::from_secs(180);

const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Calls `look` until it yields something or the deadline has passed.
pub fn until<T>(deadline: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + deadline;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Waits for a child of ours to end. None: it still runs.
pub fn for_exit(child: &mut Child, deadline: Duration) -> Option<ExitStatus> {
    until(deadline, || child.try_wait().expect("a child of ours can be waited for"))
}
