//! Random trees: engines that announce children, children that come, fail, end and crash, and clients of both kinds of
//! view, from seeds.
//!
//! Each run plays one session to its end and holds it against the invariants of the design. The rig's listeners look at
//! 1, 7 (tokens) and 8 at every message and at the order of an end, `engine` at 4 and 9, `client` at 7 (answers), `quiet` at
//! 2 and 3, `floods` at 5, `world` at 6, `judged`, `inputs` and `killing` at what the design says of those. `mutation` breaks
//! each on purpose, so that a check which sees nothing is known.
//! `SIMULATE_TREE` plays one run again and says what happens in it; `SIMULATE_RUNS` says how many there are.

mod census;
mod client;
mod engine;
mod floods;
mod inputs;
mod judged;
mod killing;
mod mutation;
mod quiet;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use census::Census;
use world::World;

const RUNS: u64 = 12_000;
/// Whatever there is to look at comes up at least once in so many runs.
const ENOUGH: u64 = 120;

#[test]
fn random_trees_keep_the_invariants() {
    if let Some(seed) = std::env::var("SIMULATE_TREE").ok().and_then(|seed| seed.parse().ok()) {
        World::new(seed, None, true).play();
        return;
    }
    let runs = std::env::var("SIMULATE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let (next, failed, seen) = (AtomicU64::new(1), Mutex::new(None), Mutex::new(Census::default()));
    let work = || {
        while failed.lock().unwrap().is_none() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed > runs {
                break;
            }
            match catch_unwind(AssertUnwindSafe(|| World::new(seed, None, false).play())) {
                Ok(run) => seen.lock().unwrap().add(&run),
                Err(_) => drop(failed.lock().unwrap().get_or_insert(seed)),
            }
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        (0..cores).for_each(|_| drop(scope.spawn(work)));
    });
    if let Some(seed) = failed.into_inner().unwrap() {
        panic!(
            "seed {seed} failed; play it again: SIMULATE_TREE={seed} cargo test -p breakroom-session --test session random_trees"
        );
    }
    let seen = seen.into_inner().unwrap();
    eprintln!("{runs} random trees: {seen:?}");
    assert_eq!(seen.unseen(runs / ENOUGH), [], "hardly looked at: {seen:?}");
}
