//! The process that is an engine: its side streams, its end, and the order to end it.
//!
//! A stream that somebody else keeps open (a debuggee that outlives its adapter) is waited for a while and then
//! closed by ending its holder. The protocol itself is not here.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context as Waker, Poll};
use std::time::Duration;

use breakroom_engines::{Banner, Exit, Force, Stop, Supervised, WhenLost, Whom};
use breakroom_session::{Input, NodeId, Session};
use breakroom_wire::Reads;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::program_input::ProgramInput;
use super::{Step, on};
use crate::side_stream::{SharedWords, SideStream};
use crate::supervise::{self, Order, Sender};

/// How long streams may stay open after the process ended, or the process after its stream.
pub(super) const DRAIN: Duration = Duration::from_secs(2);

pub(super) struct ProcessIo {
    id: NodeId,
    stdout: Option<SideStream>,
    stderr: Option<SideStream>,
    /// Whether the debuggee writes to the adapter's own streams.
    debuggee_stdio: bool,
    /// What the debuggee reads, if that is the adapter's own stdin.
    input: Option<ProgramInput>,
    words: SharedWords,
    orders: mpsc::UnboundedSender<Order>,
    life: Life,
    /// Whom its guard kills first, should the hub be lost.
    when_lost: Option<WhenLost>,
    is_released: bool,
}

/// The process and what is still expected of it.
enum Life {
    Running {
        close_by: Option<Instant>,
    },
    /// It ended; its streams may still hold something.
    Draining {
        exit: Exit,
        until: Instant,
        forced: Forced,
    },
    /// Its end was told to the session.
    Told,
    Gone,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Forced {
    NotYet,
    Yes,
}

/// What a process writes beside the protocol.
pub(super) struct Beside {
    pub stdout: Option<OwnedFd>,
    pub stderr: OwnedFd,
    pub stdin: Option<OwnedFd>,
    pub banner: Banner,
    pub debuggee_stdio: bool,
}

/// Whether the protocol's stream is to be waited for any longer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Wait,
    GiveUp,
}

impl ProcessIo {
    pub fn new(
        id: NodeId,
        process: Supervised,
        beside: Beside,
        words: SharedWords,
        news: Sender,
    ) -> io::Result<Self> {
        let Beside { stdout, stderr, stdin, banner, debuggee_stdio } = beside;
        // Where its stderr is the adapter's alone, every line of it may explain a failure.
        let on_stderr = if debuggee_stdio { banner.stderr } else { Vec::new() };
        Ok(ProcessIo {
            id,
            stdout: stdout.map(|stdout| SideStream::new(stdout, banner.stdout)).transpose()?,
            stderr: Some(SideStream::new(stderr, on_stderr)?),
            debuggee_stdio,
            input: stdin.map(|stdin| ProgramInput::new(stdin, Reads::Pipe)).transpose()?,
            words,
            orders: supervise::watch(id, process, news),
            life: Life::Running { close_by: None },
            when_lost: None,
            is_released: false,
        })
    }

    pub fn input(&mut self) -> Option<&mut ProgramInput> {
        self.input.as_mut()
    }

    pub fn stop(&mut self, how: Stop) {
        // For many programs the end of stdin is the politest request to go.
        self.input = None;
        self.is_released = matches!(how, Stop::Release { .. });
        self.order(Order::Stop(how));
    }

    /// False if there is nobody left to be killed.
    pub fn kill(&mut self, whom: Whom, force: Force) -> bool {
        matches!(self.life, Life::Running { .. }) && self.orders.send(Order::Kill(whom, force)).is_ok()
    }

    pub fn when_lost(&mut self, what: WhenLost) {
        self.when_lost = Some(what);
        self.order(Order::WhenLost(what));
    }

    pub fn dies_with_hub(&self) -> bool {
        matches!(self.when_lost, Some(WhenLost::Kill(_)))
    }

    pub fn outlives_hub(&self) -> bool {
        let is_spared = self.is_released && self.when_lost == Some(WhenLost::Spare);
        is_spared && matches!(self.life, Life::Running { .. })
    }

    /// If the watcher is gone, so is the process.
    pub fn order(&self, order: Order) {
        let _ = self.orders.send(order);
    }

    pub fn read_stdout(&mut self, cx: &mut Waker, session: &mut Session, began: Instant) -> Step {
        let Some(stream) = &mut self.stdout else { return Step::Done };
        match stream.poll_text(cx) {
            Poll::Pending => return Step::Done,
            Poll::Ready(Some(text)) => {
                let category = if self.debuggee_stdio { "stdout" } else { "console" };
                on(session, began, Input::Output { node: self.id, category, text });
            }
            Poll::Ready(None) => self.stdout = None,
        }
        Step::Again
    }

    /// stderr is always read, so that an adapter never blocks on it and its last words are at hand.
    pub fn read_stderr(&mut self, cx: &mut Waker, session: &mut Session, began: Instant) -> Step {
        let Some(stream) = &mut self.stderr else { return Step::Done };
        match stream.poll_text(cx) {
            Poll::Pending => return Step::Done,
            Poll::Ready(Some(text)) => {
                tracing::debug!(node = self.id.0, "adapter stderr: {}", text.trim_end());
                self.words.borrow_mut().add(&text);
                let node = self.id;
                let input = match self.debuggee_stdio {
                    true => Input::Output { node, category: "stderr", text },
                    false => Input::Stderr { node, text },
                };
                on(session, began, input);
            }
            Poll::Ready(None) => self.stderr = None,
        }
        Step::Again
    }

    /// Whether its stderr is the debuggee's too, and so goes to the clients.
    pub fn shares_stderr(&self) -> bool {
        self.debuggee_stdio
    }

    /// The protocol's stream is over: the process should end within that time, or is ended.
    pub fn expect_end(&mut self, patience: Duration) {
        if let Life::Running { close_by } = &mut self.life {
            close_by.get_or_insert(Instant::now() + patience);
        }
    }

    pub fn on_exit(&mut self, exit: Exit) {
        if matches!(self.life, Life::Running { .. }) {
            self.life = Life::Draining { exit, until: Instant::now() + DRAIN, forced: Forced::NotYet };
        }
    }

    pub fn on_gone(&mut self) {
        match self.life {
            Life::Told => self.life = Life::Gone,
            // Whoever held the streams is gone too, so they end by themselves.
            Life::Running { .. } | Life::Draining { .. } | Life::Gone => {}
        }
        self.orders = mpsc::unbounded_channel().0;
    }

    pub fn is_told(&self) -> bool {
        matches!(self.life, Life::Told | Life::Gone)
    }

    pub fn is_gone(&self) -> bool {
        matches!(self.life, Life::Gone) || (matches!(self.life, Life::Told) && self.orders.is_closed())
    }

    pub fn deadline(&self) -> Option<Instant> {
        match self.life {
            Life::Running { close_by } => close_by,
            Life::Draining { until, .. } => Some(until),
            Life::Told | Life::Gone => None,
        }
    }

    /// `heard` is whether the engine is read at all: what is not read cannot be waited for. A process that still serves
    /// others (`visited`) is left alone though its own connection is over.
    pub fn on_timer(&mut self, heard: bool, visited: bool) -> Verdict {
        let now = Instant::now();
        match &mut self.life {
            Life::Draining { until, .. } if !heard => *until = now + DRAIN,
            Life::Running { close_by: Some(by) } if visited && *by <= now => *by = now + DRAIN,
            Life::Running { close_by } if close_by.is_some_and(|by| by <= now) => {
                *close_by = None;
                self.stop(Stop::End { grace: Duration::ZERO });
            }
            Life::Draining { until, forced, .. } if *until <= now => match forced {
                Forced::NotYet => {
                    *forced = Forced::Yes;
                    *until = now + DRAIN;
                    self.stop(Stop::End { grace: Duration::ZERO });
                }
                Forced::Yes => {
                    self.stdout = None;
                    self.stderr = None;
                    return Verdict::GiveUp;
                }
            },
            _ => {}
        }
        Verdict::Wait
    }

    /// How it ended, once everything it wrote beside the protocol is delivered.
    pub fn ended(&self) -> Option<Exit> {
        match self.life {
            Life::Draining { exit, .. } if self.stdout.is_none() && self.stderr.is_none() => Some(exit),
            _ => None,
        }
    }

    /// Its end was told. What it left behind ends with it.
    pub fn told(&mut self) {
        self.stop(Stop::End { grace: Duration::ZERO });
        self.life = Life::Told;
    }
}
