//! Handshakes with something changed in them, by the thousand: none may panic, hang or take a byte that is not its own.
//!
//! The same body is fuzzed by `cargo xtask fuzz bridge_handshake`; here it runs with a fixed seed, in every test run, on any
//! toolchain.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod trial;

use std::panic::catch_unwind;
use std::path::Path;

/// How many changed versions of each seed are tried.
const VERSIONS: usize = 2000;

/// The fuzz target's inputs to begin with, in the order of their names, so that the seed always means the same.
fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/seeds/bridge_handshake");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 3, "the seeds are not where they were");
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

const WORDS: [&str; 12] = [
    "[]",
    "{}",
    "null",
    "1e999",
    "-1",
    "\"",
    "\\u0000",
    "\"10s\"",
    "\"tcp-connect\"",
    "[[",
    "{{port}}",
    "\u{fffd}",
];

fn changed(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(5) {
            0 if !bytes.is_empty() => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
            1 => bytes.truncate(at),
            2 => drop(bytes.splice(at..at, WORDS[dice.below(WORDS.len())].bytes())),
            3 => drop(bytes.drain(at..(at + dice.below(8)).min(bytes.len()))),
            _ => bytes.extend_from_within(at..),
        }
        // Most should get as far as the JSON.
        if dice.below(4) > 0 && bytes.len() > 5 {
            let length = u32::try_from(bytes.len() - 5 - dice.below(2)).unwrap();
            bytes[1..5].copy_from_slice(&length.to_be_bytes());
        }
    }
    bytes
}

fn try_out(bytes: &[u8]) {
    let tried = catch_unwind(|| trial::receive(bytes));
    tried.unwrap_or_else(|_| panic!("this breaks a promise: {:?}", String::from_utf8_lossy(bytes)));
}

#[test]
fn handshakes_of_every_shape_keep_the_promises() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for seed in seeds() {
        try_out(&seed);
        for _ in 0..VERSIONS {
            try_out(&changed(&seed, &mut dice));
        }
    }
}
