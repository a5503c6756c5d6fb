//! A person at a terminal: `breakroom` on a pseudo terminal of its own, typed to and watched.
//!
//! Ctrl-C is the signal that a terminal would send, because the terminal here controls no session.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use breakroom_testkit::wait;
use rustix::process::{Pid, Signal};
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

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
        command.env("TERM", "dumb");
        Person::sits_down_with_keys(desk, command)
    }

    /// At a terminal of the kind that the command names, which may be one whose cursor moves.
    pub fn sits_down_with_keys(desk: &Desk, mut command: Command) -> Person {
        let (master, terminal) = open();
        let name = rustix::termios::ttyname(&terminal, Vec::new()).unwrap();
        let name = name.to_string_lossy().trim_start_matches("/dev/").to_owned();
        command.current_dir(desk.sandbox.work()).env("NO_COLOR", "1");
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

    /// Keys as they are, without the end of a line.
    pub fn presses(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// The terminal is in the modes of a shell again, as after Ctrl-Z and `fg`.
    pub fn comes_back_from_the_shell(&self) {
        let mut modes = tcgetattr(&self.keys).unwrap();
        modes.local_modes.insert(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&self.keys, OptionalActions::Now, &modes).unwrap();
        self.is_told(Signal::CONT);
    }

    /// Waits until keys are given at once.
    pub fn is_read_key_by_key(&self) {
        let at_once = || !tcgetattr(&self.keys).unwrap().local_modes.contains(LocalModes::ICANON);
        wait::until(wait::DEADLINE, || at_once().then_some(())).expect("the modes are set");
    }

    /// Ctrl-D.
    pub fn ends_typing(&mut self) {
        self.keys.write_all(b"\x04").unwrap();
    }

    pub fn interrupts(&self) {
        rustix::process::kill_process(self.pid(), Signal::INT).unwrap();
    }

    pub fn is_told(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// The same, and it has arrived: of two of a kind that wait the system makes one.
    pub fn hears(&self, signal: Signal) {
        self.is_told(signal);
        let status = format!("/proc/{}/status", self.pid().as_raw_pid());
        let waits = || {
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            let waiting = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
            let waiting = waiting.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
            waiting & (1 << (signal.as_raw() - 1)) != 0
        };
        wait::until(wait::DEADLINE, || (!waits()).then_some(())).expect("the signal is taken");
    }

    /// Waits until the program has ended; its exit code.
    pub fn ends(mut self) -> Option<i32> {
        let status = wait::for_exit(&mut self.child, wait::DEADLINE);
        status.unwrap_or_else(|| panic!("{} stays:\n{}", self.terminal, self.all)).code()
    }

    /// Waits until the program has ended well; all that it showed.
    pub fn leaves(self) -> String {
        let (ended, all) = self.ended();
        assert!(ended.success(), "{ended}:\n{all}");
        all
    }

    /// Waits until the program has ended without having done what it was for; all that it showed.
    pub fn gives_up(self) -> String {
        let (ended, all) = self.ended();
        assert!(!ended.success(), "{ended}:\n{all}");
        all
    }

    fn ended(mut self) -> (ExitStatus, String) {
        let status = wait::for_exit(&mut self.child, wait::DEADLINE);
        let ended = status.unwrap_or_else(|| panic!("{} stays:\n{}", self.terminal, self.all));
        // The end of the last one who had the terminal open is the end of what it shows.
        let end = Instant::now() + wait::DEADLINE;
        while let Ok(piece) = self.shown.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.take(&piece);
        }
        (ended, self.all)
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
