//! The same scripts of requests against debugpy's own adapter and against ours: the answers and events must be the same, in
//! the same order. debugpy is needed; nothing of the hub is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod attaching;
mod children;
mod debugging;
mod ending;
mod idle;
mod launching;
mod same;
mod strangers;
mod talk;

use std::path::{Path, PathBuf};

use breakroom_testkit::adapters;
use same::Said;
use talk::{Talk, Which};

/// What a script heard on each of its connections.
pub type Heard = Vec<Vec<serde_json::Value>>;

/// Runs a script against both, and compares. False if it was left out by hand.
pub fn same(script: impl Fn(Talk) -> Heard) -> bool {
    if adapters::skipped("debugpy") {
        return false;
    }
    let [stock, ours] = [Which::Stock, Which::Ours].map(|which| {
        let heard = script(Talk::with(&which));
        heard.iter().map(|heard| Said::of(heard)).collect::<Vec<_>>()
    });
    for (connection, (stock, ours)) in stock.iter().zip(&ours).enumerate() {
        for (at, (stock, ours)) in stock.in_order.iter().zip(&ours.in_order).enumerate() {
            assert_eq!(
                stock, ours,
                "message {at} of connection {connection}, the stock adapter's on the left"
            );
        }
        let same = |what: &str, stock: &dyn std::fmt::Debug, ours: &dyn std::fmt::Debug| {
            let (stock, ours) = (format!("{stock:#?}"), format!("{ours:#?}"));
            assert_eq!(stock, ours, "{what} of connection {connection}, the stock adapter's on the left");
        };
        same("messages", &stock.in_order, &ours.in_order);
        same("threads, modules and the like", &stock.whenever, &ours.whenever);
        same("stdout", &stock.stdout, &ours.stdout);
        same("stderr", &stock.stderr, &ours.stderr);
    }
    assert_eq!(stock.len(), ours.len());
    true
}

/// A folder with this text as a program in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn with(name: &str, text: &str) -> (Folder, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().canonicalize().unwrap().join(name);
        std::fs::write(&file, text).unwrap();
        (Folder(folder), file)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
