//! Where an agent works: a sandbox with the debuggers of ours in it, and what is built.

use std::path::PathBuf;
use std::process::Command;

use breakroom_testkit::{Mcp, adapters};

use crate::editor::{Desk, Hub};

/// What the build that runs the tests has in its environment, and the builds of a test must not see.
const OF_THE_BUILD: [&str; 6] =
    ["CARGO_TARGET_DIR", "CARGO_MANIFEST_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CC", "CFLAGS"];

pub struct Place {
    pub desk: Desk,
}

impl Place {
    pub fn new() -> Place {
        let place = Place { desk: Desk::new() };
        let cache = place.cache().join("breakroom");
        std::fs::create_dir_all(&cache).unwrap();
        std::os::unix::fs::symlink(adapters::folder(), cache.join("adapters")).unwrap();
        place
    }

    fn cache(&self) -> PathBuf {
        self.desk.sandbox.path("cache")
    }

    pub fn work(&self) -> PathBuf {
        self.desk.sandbox.work()
    }

    /// What is built goes into the sandbox.
    pub fn surround(&self, command: &mut Command) {
        for name in OF_THE_BUILD {
            command.env_remove(name);
        }
        command.env("XDG_CACHE_HOME", self.cache()).current_dir(self.work());
        // The library of Go would be built anew in a cache of its own.
        let go = std::env::var_os("GOCACHE").map(PathBuf::from);
        command.env("GOCACHE", go.unwrap_or_else(|| adapters::folder().join("../../go-build")));
        let path = std::env::var("PATH").unwrap_or_default();
        let compiler = adapters::folder().join("typescript/node_modules/.bin");
        command.env("PATH", format!("{path}:{}", compiler.display()));
    }

    pub fn agent(&self) -> Mcp {
        let mut command = self.desk.sandbox.command(["mcp"]);
        self.surround(&mut command);
        let agent = Mcp::spawn(command);
        agent.initialize();
        agent
    }

    /// The agent goes, and nothing may be left but the hub, which is ended.
    pub fn leave(self, agent: Mcp) {
        assert!(agent.finish().success());
        self.desk.leave(Hub::Shared);
    }
}
