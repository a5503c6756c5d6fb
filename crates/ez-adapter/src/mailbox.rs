//! What the client asks, on its way from the thread that reads to the one that runs the program.
//!
//! A program that runs, sleeps or waits for input must hear of every request at once: each one raises the machine's
//! attention and ends a wait. Neither the reader nor the mailbox ever answers one.

use std::collections::VecDeque;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use breakroom_adapter::{Message, Request};
use breakroom_ez::machine::Attention;

/// More requests than this wait in the pipe, where they slow down who sends them.
const MOST_WAITING: usize = 1024;

#[derive(Debug)]
pub enum Mail {
    Request(Request),
    /// A message that is none, and why.
    Broken(String),
    /// Nobody is there any more; nothing follows.
    Closed,
}

impl Mail {
    /// Whether it may not wait until what is being computed is done.
    fn is_urgent(&self, answering: Option<i64>) -> bool {
        match self {
            Mail::Request(request) if request.command == "cancel" => {
                self.cancels().is_some_and(|seq| Some(seq) == answering)
            }
            Mail::Request(request) => URGENT.contains(&request.command.as_str()),
            Mail::Broken(_) => false,
            Mail::Closed => true,
        }
    }

    fn cancels(&self) -> Option<i64> {
        match self {
            Mail::Request(request) if request.command == "cancel" => request.arguments["requestId"].as_i64(),
            _ => None,
        }
    }
}

/// What ends an evaluation that takes long, whichever it is.
const URGENT: &[&str] = &["pause", "terminate", "disconnect"];

#[derive(Clone, Default)]
pub struct Mailbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    mail: VecDeque<Mail>,
    attention: Option<Attention>,
    /// The request that was taken last.
    answering: Option<i64>,
    /// How much ever came, and how much of it somebody who waits was told of: nobody is woken twice for one thing.
    came: u64,
    noticed: u64,
}

impl Mailbox {
    /// From now on mail also raises this.
    pub fn raise(&self, attention: Attention) {
        let mut waiting = self.lock();
        if !waiting.mail.is_empty() {
            attention.ask();
        }
        waiting.attention = Some(attention);
    }

    fn put(&self, mail: Mail) {
        let mut waiting = self.lock();
        while waiting.mail.len() >= MOST_WAITING {
            waiting = self.0.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.mail.push_back(mail);
        waiting.came += 1;
        if let Some(attention) = &waiting.attention {
            attention.ask();
        }
        self.0.changed.notify_all();
    }

    pub fn take(&self) -> Option<Mail> {
        let mut waiting = self.lock();
        let mail = waiting.mail.pop_front();
        if let Some(Mail::Request(request)) = &mail {
            waiting.answering = Some(request.seq);
        }
        // What still waits may be urgent for what is done now.
        waiting.noticed = waiting.came - waiting.mail.len() as u64;
        self.0.changed.notify_all();
        mail
    }

    /// Waits for as long as it takes.
    pub fn wait(&self) -> Mail {
        loop {
            if let Some(mail) = self.take() {
                return mail;
            }
            self.wait_for_mail();
        }
    }

    /// True as soon as something new comes, false once it is `deadline` and nothing came.
    pub fn has_mail_by(&self, deadline: Instant) -> bool {
        let mut waiting = self.lock();
        while waiting.noticed == waiting.came {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            waiting = self.0.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        waiting.noticed = waiting.came;
        true
    }

    /// Returns when something new has come.
    pub fn wait_for_mail(&self) {
        let mut waiting = self.lock();
        while waiting.noticed == waiting.came {
            waiting = self.0.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.noticed = waiting.came;
    }

    pub fn is_urgent(&self) -> bool {
        let waiting = self.lock();
        waiting.mail.iter().any(|mail| mail.is_urgent(waiting.answering))
    }

    /// Whether a request that was taken, but not answered, is not wanted any more.
    pub fn is_cancelled(&self, seq: i64) -> bool {
        self.lock().mail.iter().any(|mail| mail.cancels() == Some(seq))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads until the stream ends, in a thread of its own.
pub fn read(stream: impl Read + Send + 'static, mailbox: Mailbox) {
    std::thread::spawn(move || {
        // Whatever ended it, there is nobody to tell.
        let _ = breakroom_adapter::read(stream, |message| {
            mailbox.put(match message {
                Message::Request(request) => Mail::Request(request),
                Message::Broken(why) => Mail::Broken(why),
                Message::Answer(_) => Mail::Broken("it answers what nobody asked".to_owned()),
            });
            ControlFlow::Continue(())
        });
        mailbox.put(Mail::Closed);
    });
}
