//! What fuzzing has found, each as the smallest text that showed it.

use super::trial;

/// It could be neither paused nor ended, since nobody looked whether attention was asked for.
#[test]
fn a_loop_that_only_continues_can_be_interrupted() {
    assert!(trial::run("do main() { loop { continue } }"));
}
