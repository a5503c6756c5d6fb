//! What a person names, and what is debugged then: source files that are built first, projects, an editor's configurations,
//! processes that run already. With the real binary, real compilers and real debuggers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod family;
    pub mod strangers;
}

mod starts {
    mod attaching;
    mod builds;
    mod calling_off;
    mod compounds;
    mod configurations;
    mod interruptions;
    mod java;
    mod native;
    mod node;
    mod panics;
    mod projects;
    mod scripts;
    mod testing;
}

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use breakroom_testkit::{Strict, fake};
use serde_json::{Value, json};
use support::editor::{Desk, Hub, introduction};

/// A port for a program that is told which. The kernel gives those below its own range to nobody who does not name them, so it is
/// still free when the program begins.
fn free_port() -> u16 {
    const EACH: u16 = 20;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Another process of tests has others.
    let own = 10_000 + u16::try_from(std::process::id() % 1000).unwrap() * EACH;
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let mut next = (0..EACH).map(|_| own + NEXT.fetch_add(1, Ordering::Relaxed) % EACH);
    next.find(is_free).expect("one of them is free")
}

/// A desk with a folder of files, and adapters that only write down what they are launched with.
struct Place {
    desk: Desk,
}

impl Place {
    /// What is built goes into a cache of its own, beside the debuggers that `cargo xtask test` has installed.
    fn new() -> Place {
        let place = Place::without_adapters();
        let cache = place.desk.sandbox.path("cache").join("breakroom");
        std::fs::create_dir_all(&cache).unwrap();
        std::os::unix::fs::symlink(breakroom_testkit::adapters::folder(), cache.join("adapters")).unwrap();
        place
    }

    /// Where only the debuggers in PATH are found, so that a stand-in for another one is taken.
    fn without_adapters() -> Place {
        Place { desk: Desk::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.desk.sandbox.work().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A program of the folder that stands for one of the machine's.
    fn write_program(&self, name: &str, text: &str) {
        breakroom_testkit::write_program(&self.path(name), text);
    }

    /// An adapter for these types that writes its requests down.
    fn adapter(&self, name: &str, types: &[&str]) {
        let script = fake::write_script(&self.desk.sandbox.work(), &[]);
        let entry = format!(
            "[[adapter]]\nname = {name:?}\ntypes = {types:?}\ninstall = \"true\"\n[[adapter.find]]\nprograms = [{:?}]\nargs = [{script:?}, \"--log\", {:?}]\n",
            fake::adapter_path(),
            self.path("adapter.log"),
        );
        let file = self.desk.sandbox.path("config").join("breakroom/catalog.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        std::fs::write(file, before + &entry).unwrap();
    }

    /// The arguments that the adapter was launched or attached with.
    fn launched(&self) -> Value {
        let text = std::fs::read_to_string(self.path("adapter.log")).unwrap();
        let messages: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let starts = |message: &&Value| {
            ["launch", "attach"].contains(&message["command"].as_str().unwrap_or_default())
        };
        messages.iter().rev().find(starts).expect("the adapter was launched")["arguments"].clone()
    }

    /// What is built goes into the sandbox too, and nothing of the build that runs this test reaches it.
    fn surroundings<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for name in
            ["CARGO_TARGET_DIR", "CARGO_MANIFEST_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CC", "CFLAGS"]
        {
            command.env_remove(name);
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let cache = self.desk.sandbox.path("cache");
        command.env("PATH", format!("{}:{path}", self.text("bin"))).env("XDG_CACHE_HOME", &cache);
        // Its own would be in the one above, and the whole library would be built anew.
        let go = std::env::var_os("GOCACHE").map(PathBuf::from);
        let go = go.unwrap_or_else(|| breakroom_testkit::adapters::folder().join("../../go-build"));
        command.env("GOCACHE", go).env("GREETING", "hello").current_dir(self.desk.sandbox.work())
    }

    fn editor(&self, hub: Hub) -> Strict {
        self.editor_that(hub, json!({}))
    }

    /// One that declares this.
    fn editor_that(&self, hub: Hub, declares: Value) -> Strict {
        let mut door = self.desk.door(hub, &[]);
        self.surroundings(&mut door);
        let mut client = Strict::spawn(door);
        client.call("initialize", introduction(declares));
        client
    }

    /// The editor leaves, and nothing is to be left of what it debugged.
    fn part(self, mut client: Strict, hub: Hub) {
        client.call("disconnect", json!({}));
        client.finish();
        self.leave(hub);
    }

    /// Launches, or attaches, with an adapter of ours, and gives what that one was told.
    fn told(&self, command: &str, arguments: Value) -> Value {
        let mut client = self.editor(Hub::Private);
        self.tell(&mut client, command, arguments);
        client.call("disconnect", json!({}));
        client.finish();
        self.launched()
    }

    fn tell(&self, client: &mut Strict, command: &str, arguments: Value) {
        client.allow(&["output", "capabilities"]);
        let launched = client.request(command, arguments);
        client.response(launched);
        client.event("initialized");
        client.call("configurationDone", Value::Null);
    }

    /// `breakroom` with these words, in a folder, fed with these commands.
    fn breakroom(&self, folder: &str, words: &[&str], commands: &str) -> Output {
        let mut command = self.desk.sandbox.command(words);
        self.surroundings(&mut command).current_dir(self.path(folder));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may have ended before it read anything.
        let _ = child.stdin.take().unwrap().write_all(commands.as_bytes());
        child.wait_with_output().unwrap()
    }

    fn run(&self, folder: &str, words: &[&str], commands: &str) -> Told {
        let output = self.breakroom(folder, &[&["run", "--private"], words].concat(), commands);
        Told {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    fn leave(self, hub: Hub) {
        self.desk.leave(hub);
    }
}

/// What `breakroom run` said.
#[derive(Debug)]
struct Told {
    out: String,
    errors: String,
    code: Option<i32>,
}

impl Told {
    fn shows(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.out.contains(part), "no {part:?} in:\n{}\nstderr:\n{}", self.out, self.errors);
        }
    }

    fn fails_with(&self, parts: &[&str]) {
        assert_eq!(self.code, Some(1), "{self:?}");
        for part in parts {
            assert!(self.errors.contains(part), "no {part:?} in:\n{}\nstdout:\n{}", self.errors, self.out);
        }
    }
}

/// Launches, or attaches, and lets the program run.
fn begin(client: &mut Strict, command: &str, arguments: Value) {
    let begun = client.request(command, arguments);
    client.event("initialized");
    client.call("configurationDone", json!({}));
    client.response(begun);
}

/// Whether a real program of the machine is there; a test that needs it says so.
fn needs(program: &str) -> PathBuf {
    let found = breakroom_testkit::adapters::on_path(program);
    found.unwrap_or_else(|| panic!("{program} is not in PATH: run `cargo xtask test` once"))
}

fn same(path: &Value, expected: &Path) {
    assert_eq!(Path::new(path.as_str().unwrap()).canonicalize().unwrap(), expected.canonicalize().unwrap());
}
