//! What the tests share: short ways to start something, to read what it says, and to wait for a process to be gone.
//!
//! Every wait has a deadline that only a broken program reaches.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use breakroom_engines::{AdapterSpec, Context, Engine, Mode, StartError, start};
use rustix::process::{Pid, PidfdFlags, Signal};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

pub const DEADLINE: Duration = Duration::from_secs(60);

pub fn guard() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_guard-probe"))
}

pub fn spec(mode: Mode, args: &[&str]) -> AdapterSpec {
    let args = args.iter().map(|arg| arg.to_string()).collect();
    AdapterSpec {
        connection_timeout: Duration::from_secs(60),
        ..AdapterSpec::plain("test-adapter", mode, args)
    }
}

pub async fn launch(mode: Mode, args: &[&str]) -> Result<Engine, StartError> {
    start(&spec(mode, args), &Context::of_this_process(), guard()).await
}

/// A shell script as a stdio adapter.
pub async fn shell(script: &str) -> Engine {
    launch(Mode::Stdio, &["sh", "-c", script]).await.unwrap()
}

pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future)
        .await
        .unwrap_or_else(|_| panic!("{what} took longer than {DEADLINE:?}"))
}

/// Looks again and again until it is so.
pub async fn until(mut is_so: impl FnMut() -> bool) {
    let looking = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    within("what is waited for", looking).await
}

/// Any descriptor can be awaited as if it were the reading end of a pipe.
fn awaited(fd: &OwnedFd) -> Receiver {
    Receiver::from_owned_fd_unchecked(fd.try_clone().unwrap()).unwrap()
}

/// Reads until `enough` says so; the end of the stream and a closed terminal end it as well.
pub async fn read_until(fd: &OwnedFd, enough: impl Fn(&str) -> bool) -> String {
    let mut source = awaited(fd);
    let mut bytes = Vec::new();
    let reading = async {
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if enough(&text) || !matches!(source.read_buf(&mut bytes).await, Ok(1..)) {
                return text;
            }
        }
    };
    within("reading", reading).await
}

pub async fn read_line(fd: &OwnedFd) -> String {
    let text = read_until(fd, |text| text.contains('\n')).await;
    text.lines().next().unwrap_or_default().trim().to_string()
}

pub async fn read_all(fd: &OwnedFd) -> String {
    read_until(fd, |_| false).await
}

pub fn write(fd: &OwnedFd, text: &str) {
    assert_eq!(rustix::io::write(fd, text.as_bytes()).unwrap(), text.len());
}

/// One process, pinned so that its number cannot come to mean another.
pub struct Process {
    pid: Pid,
    pinned: OwnedFd,
}

impl Process {
    pub fn pin(pid: &str) -> Self {
        let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
        Process { pid, pinned: rustix::process::pidfd_open(pid, PidfdFlags::empty()).unwrap() }
    }

    pub fn parent_of(pid: u32) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        Self::pin(status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap())
    }

    pub fn number(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    pub fn signal(&self, signal: Signal) {
        rustix::process::pidfd_send_signal(&self.pinned, signal).unwrap();
    }

    pub fn is_alive(&self) -> bool {
        rustix::process::pidfd_send_signal(&self.pinned, Signal::CONT).is_ok()
    }

    pub async fn gone(&self) {
        let end = awaited(&self.pinned);
        within(&format!("the end of process {:?}", self.pid), end.readable()).await.unwrap();
    }
}
