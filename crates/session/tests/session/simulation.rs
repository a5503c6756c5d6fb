//! Random clients and random engines in random orders, from seeds.
//!
//! Each run plays one session to its end, with clients that join, leave, are lost and come back, and holds it against
//! the nine invariants of the design and two of its tables; each complaint names the one that is broken. The rig's
//! listeners look at 1, 7 (tokens) and 8 at every message, `traffic` at 9, `engine` at 4, `client` at 7 (answers),
//! `quiet` at 2, 3 and 5, `world` at 6, `absence` at 10 and `judged` at 11. `mutation` breaks each on purpose, so that a
//! check which sees nothing is known.
//! `SIMULATE_SEED` plays one run again and says what happens in it; `SIMULATE_FROM` and `SIMULATE_RUNS` say where to begin and how many there are.

mod absence;
mod census;
mod client;
mod engine;
pub mod floods;
mod judged;
mod models;
mod mutation;
mod picture;
mod quiet;
pub mod random;
mod traffic;
mod world;

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use census::{Census, named};
use mutation::{MUTATIONS, Mutation};
use world::{Log, World};

const RUNS: u64 = 100_000;
/// Enough for every mutation to be caught several times.
const MUTATED_RUNS: u64 = 4000;
const CATCHES: usize = 5;

#[test]
fn random_sessions_keep_the_invariants() {
    if let Some(seed) = number("SIMULATE_SEED") {
        World::new(seed, None, Log::On).play();
        return;
    }
    let first = number("SIMULATE_FROM").unwrap_or(1);
    let runs = number("SIMULATE_RUNS").unwrap_or(RUNS);
    let (next, census, failed) = (AtomicU64::new(first), Mutex::new(Census::default()), Mutex::new(None));
    let work = || {
        let mut own = Census::default();
        while failed.lock().unwrap().is_none() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + runs {
                break;
            }
            match play(seed, None) {
                Ok(seen) => own.add(&seen),
                Err(complaint) => *failed.lock().unwrap() = Some((seed, complaint)),
            }
        }
        census.lock().unwrap().add(&own);
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        (0..cores).for_each(|_| drop(scope.spawn(work)));
    });
    if let Some((seed, complaint)) = failed.into_inner().unwrap() {
        panic!("seed {seed}: {complaint}");
    }
    let census = census.into_inner().unwrap();
    // Past the capture of a test that succeeds: what was looked at is a part of the result.
    let _ = write!(std::io::stderr(), "{runs} random sessions\n{census}");
    assert_eq!(census.unseen(), [0; 0], "invariants that nothing was held against");
}

fn play(seed: u64, mutation: Option<&Mutation>) -> Result<Census, String> {
    let run = || World::new(seed, mutation, Log::Off).play();
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| complaint(&*panic))
}

fn complaint(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Plays runs with each mutation that breaks this invariant. Some must be caught, and each complaint must name it.
fn is_caught(invariant: usize) {
    for mutation in MUTATIONS.iter().filter(|mutation| mutation.breaks == invariant) {
        let mut catches = 0;
        for seed in 1..=MUTATED_RUNS {
            let Err(complaint) = play(seed, Some(mutation)) else { continue };
            assert_eq!(named(&complaint), Some(invariant), "{}, seed {seed}: {complaint}", mutation.name);
            catches += 1;
            if catches == CATCHES {
                break;
            }
        }
        assert_eq!(catches, CATCHES, "{}: caught too seldom", mutation.name);
    }
}

#[test]
fn a_core_that_breaks_invariant_1_is_caught() {
    is_caught(1);
}

#[test]
fn a_core_that_breaks_invariant_2_is_caught() {
    is_caught(2);
}

#[test]
fn a_core_that_breaks_invariant_3_is_caught() {
    is_caught(3);
}

#[test]
fn a_core_that_breaks_invariant_4_is_caught() {
    is_caught(4);
}

#[test]
fn a_core_that_breaks_invariant_5_is_caught() {
    is_caught(5);
}

#[test]
fn a_core_that_breaks_invariant_6_is_caught() {
    is_caught(6);
}

#[test]
fn a_core_that_breaks_invariant_7_is_caught() {
    is_caught(7);
}

#[test]
fn a_core_that_breaks_invariant_8_is_caught() {
    is_caught(8);
}

#[test]
fn a_core_that_breaks_invariant_9_is_caught() {
    is_caught(9);
}

#[test]
fn a_core_that_does_not_wait_as_agreed_is_caught() {
    is_caught(10);
}

#[test]
fn a_core_that_misjudges_stops_is_caught() {
    is_caught(11);
}
