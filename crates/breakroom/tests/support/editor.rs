//! An editor's place in a sandbox: the doors it opens, the hub behind them, and the check that nothing stays.
//!
//! The hub is ended by its own process id, found in the sandbox's census. It knows no adapter and no language.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::path::Path;
use std::process::{Child, Command, Stdio};

use breakroom_testkit::{Sandbox, Strict, wait};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

/// Which hub holds the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hub {
    Shared,
    Private,
}

pub struct Desk {
    pub sandbox: Sandbox,
    /// A hub that was started before any door needed it.
    hub: Option<Child>,
}

impl Desk {
    pub fn new() -> Desk {
        Desk { sandbox: Sandbox::new(env!("CARGO_BIN_EXE_breakroom")), hub: None }
    }

    /// A desk whose hub was started by somebody else: in another folder, with another environment and umask.
    pub fn with_hub_from_elsewhere() -> Desk {
        let mut desk = Desk::new();
        let mut command = desk.sandbox.program("sh");
        command
            .args(["-c", "umask 077; exec \"$0\" serve"])
            .arg(desk.sandbox.binary())
            .env("GREETING", "from the hub")
            .current_dir("/usr")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        desk.hub = Some(command.spawn().expect("the built binary can be started"));
        let socket = desk.sandbox.path("run").join("breakroom/hub-1.sock");
        let bound = wait::until(wait::DEADLINE, || socket.exists().then_some(()));
        bound.expect("the hub binds its socket");
        desk
    }

    /// `breakroom dap` with these arguments.
    pub fn door(&self, hub: Hub, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(["dap"]);
        command.args(arguments);
        if hub == Hub::Private {
            command.arg("--private");
        }
        command.current_dir(self.sandbox.work());
        command
    }

    pub fn editor(&self, hub: Hub, arguments: &[&str]) -> Strict {
        Strict::spawn(self.door(hub, arguments))
    }

    /// Process id of the shared hub, however it was started.
    pub fn hub_pid(&self) -> Pid {
        let hub = self.sandbox.census().processes().into_iter().find(|process| {
            let mut words = process.command_line.split(' ');
            words.next().is_some_and(|program| Path::new(program) == self.sandbox.binary())
                && words.next() == Some("serve")
        });
        let hub = hub.expect("the shared hub runs");
        Pid::from_raw(hub.pid).expect("no process has the number 0")
    }

    /// Ends the shared hub if there is one and fails if anything is left.
    pub fn leave(mut self, hub: Hub) {
        if hub == Hub::Shared {
            rustix::process::kill_process(self.hub_pid(), Signal::TERM).expect("the hub is ours");
        }
        self.collect_hub();
        self.sandbox.assert_nothing_left(wait::DEADLINE);
    }

    /// Kills the shared hub without a warning and waits until nothing runs that it had started.
    pub fn kill_hub(&mut self, client: Strict) {
        rustix::process::kill_process(self.hub_pid(), Signal::KILL).expect("the hub is ours");
        self.collect_hub();
        let mut client = client;
        client.closed();
        client.abandon();
        let census = self.sandbox.census();
        let gone = wait::until(wait::DEADLINE, || census.processes().is_empty().then_some(()));
        gone.unwrap_or_else(|| panic!("left behind by a killed hub:\n{}", census.left()));
    }

    fn collect_hub(&mut self) {
        if let Some(mut hub) = self.hub.take() {
            wait::for_exit(&mut hub, wait::DEADLINE).expect("the hub ends when it is told to");
        }
    }
}

/// What an ordinary editor says first. `more` is added, or replaces what it names.
pub fn introduction(more: Value) -> Value {
    let mut arguments = json!({
        "clientID": "test", "clientName": "Test", "adapterID": "test", "pathFormat": "path",
        "linesStartAt1": true, "columnsStartAt1": true,
    });
    extend(&mut arguments, more);
    arguments
}

pub fn extend(arguments: &mut Value, more: Value) {
    let (Value::Object(arguments), Value::Object(more)) = (arguments, more) else {
        panic!("arguments are objects");
    };
    arguments.extend(more);
}

/// A process of the test that no hub may end. Ended with the test.
pub struct Bystander(pub Child);

impl Bystander {
    /// Fails unless it runs, neither stopped nor held by a debugger, within the deadline.
    pub fn assert_runs_free(&mut self) {
        let pid = self.0.id();
        let free = wait::until(wait::DEADLINE, || {
            let ended = self.0.try_wait().expect("a child of ours can be waited for");
            assert!(ended.is_none(), "the attached process ended: {ended:?}");
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let says = |line: &str| status.lines().any(|found| found.starts_with(line));
            (says("TracerPid:\t0") && (says("State:\tR") || says("State:\tS"))).then_some(())
        });
        free.expect("the attached process was left stopped or held");
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
