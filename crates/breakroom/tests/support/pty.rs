//! A person at a terminal: `breakroom` on a pseudo terminal of its own, typed to and watched.
//!
//! Ctrl-C is the signal that a terminal would send, because the terminal here controls no session.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use breakroom_testkit::wait;
use rustix::process::{Pid, Signal};
use rustix::pty::OpenptFlags;

use super::editor::Desk;

pub const PROMPT: &str = "(breakroom) ";

pub struct Person {
    /// As in `pts/3`.
    pub terminal: String,
    keys: File,
    child: Child,
    shown: Receiver<Vec<u8>>,
    /// What came and was not looked for yet.
    unseen: String,
    all: String,
}

impl Person {
    pub fn sits_down(desk: &Desk, arguments: &[&str]) -> Person {
        Person::sits_down_with(desk, desk.sandbox.command(arguments))
    }

    /// With a command of the desk's that has more to it.
    pub fn sits_down_with(desk: &Desk, mut command: Command) -> Person {
        let (master, terminal) = open();
        let name = rustix::termios::ttyname(&terminal, Vec::new()).unwrap();
        let name = name.to_string_lossy().trim_start_matches("/dev/").to_owned();
        command.current_dir(desk.sandbox.work()).env("NO_COLOR", "1").env("TERM", "dumb");
        let end = || Stdio::from(terminal.try_clone().unwrap());
        command.stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().unwrap();
        let (sender, shown) = mpsc::channel();
        let mut reader = File::from(master.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // It fails when the last one has closed the other end.
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keys = File::from(master);
        Person { terminal: name, keys, child, shown, unseen: String::new(), all: String::new() }
    }

    /// Waits until this is shown, after what was seen before.
    pub fn sees(&mut self, text: &str) {
        let end = Instant::now() + wait::DEADLINE;
        loop {
            if let Some(at) = self.unseen.find(text) {
                self.unseen.drain(..at + text.len());
                return;
            }
            let piece = self.shown.recv_timeout(end.saturating_duration_since(Instant::now()));
            let Ok(piece) = piece else { panic!("{} does not see {text:?}:\n{}", self.terminal, self.all) };
            self.take(&piece);
        }
    }

    fn take(&mut self, piece: &[u8]) {
        let piece = String::from_utf8_lossy(piece).replace('\r', "");
        self.unseen.push_str(&piece);
        self.all.push_str(&piece);
    }

    pub fn types(&mut self, line: &str) {
        self.keys.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Ctrl-D.
    pub fn ends_typing(&mut self) {
        self.keys.write_all(b"\x04").unwrap();
    }

    pub fn interrupts(&self) {
        rustix::process::kill_process(self.pid(), Signal::INT).unwrap();
    }

    /// Waits until the program has ended well; all that it showed.
    pub fn leaves(mut self) -> String {
        let status = wait::for_exit(&mut self.child, wait::DEADLINE);
        while let Ok(piece) = self.shown.try_recv() {
            self.take(&piece);
        }
        let ended = status.unwrap_or_else(|| panic!("{} stays:\n{}", self.terminal, self.all));
        assert!(ended.success(), "{ended}:\n{}", self.all);
        self.all
    }

    /// Waits until the program has ended without having done what it was for.
    pub fn gives_up(mut self) {
        let status = wait::for_exit(&mut self.child, wait::DEADLINE);
        let ended = status.unwrap_or_else(|| panic!("{} stays:\n{}", self.terminal, self.all));
        assert!(!ended.success(), "{ended}:\n{}", self.all);
    }

    /// The terminal's window is torn down with everything in it.
    pub fn crashes(mut self) {
        rustix::process::kill_process(self.pid(), Signal::KILL).unwrap();
        self.child.wait().unwrap();
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

fn open() -> (OwnedFd, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let terminal = rustix::pty::ioctl_tiocgptpeer(&master, flags).unwrap();
    (master, terminal)
}
