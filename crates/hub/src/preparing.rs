//! Launches that are looked at before they are carried out: each on a thread of its own, since a build takes its time.
//!
//! One that was called off is kept until nothing of it runs any more: a session must not end before its last process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use breakroom_engines::{Closer, Context};
use breakroom_launch::{CallOff, Failure, Workshop, needs_nothing, prepare};
use breakroom_session::Ticket;
use serde_json::Value;
use tokio::sync::watch;

use crate::makers::Makers;
use crate::supervise::{News, Sender};

pub(crate) struct Preparations {
    running: Vec<(Ticket, CallOff)>,
    /// What closes the doors that were opened for the session, when it is over.
    closers: Arc<Mutex<Vec<Closer>>>,
    makers: Makers,
}

impl Preparations {
    pub fn new(makers: Makers) -> Self {
        Preparations { running: Vec::new(), closers: Arc::default(), makers }
    }

    /// What is known about who made the session's programs.
    pub fn makers(&self) -> Makers {
        self.makers.clone()
    }

    /// False if there is nothing to prepare, and then nothing is begun.
    pub fn begin(
        &mut self,
        ticket: Ticket,
        command: &'static str,
        arguments: Value,
        context: &Context,
        guard: PathBuf,
        news: Sender,
    ) -> bool {
        let as_it_came = needs_nothing(command, &arguments, context);
        if as_it_came && !self.makers.are_wanted_for(&arguments) {
            return false;
        }
        let (call_off, called_off) = watch::channel(false);
        self.running.push((ticket, call_off));
        let (makers, folder) = (self.makers.clone(), context.cwd.clone());
        if as_it_came {
            tokio::task::spawn_blocking(move || {
                makers.look_for_type(&arguments, &folder);
                let _ = news.send(News::Prepared { ticket, result: Ok(None) });
            });
            return true;
        }
        let (context, closers) = (context.clone(), self.closers.clone());
        tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let result = match runtime {
                Ok(runtime) => runtime.block_on(async {
                    let show = |text| drop(news.send(News::Progress { ticket, text }));
                    let keep = |closer| closers.lock().unwrap_or_else(PoisonError::into_inner).push(closer);
                    let workshop = Workshop::new(&context, &guard, &show, &keep, called_off);
                    prepare(command, arguments, &workshop).await
                }),
                Err(error) => Err(Failure::said(format!("the launch cannot be prepared: {error}."))),
            };
            let result = result.map_err(|failure| failure.to_string());
            if let Ok(Some(arguments)) = &result {
                makers.look_for_type(arguments, &folder);
            }
            // A driver that is gone wants to know nothing.
            let _ = news.send(News::Prepared { ticket, result });
        });
        true
    }

    pub fn call_off(&self, ticket: Ticket) {
        if let Some((_, call_off)) = self.running.iter().find(|(known, _)| *known == ticket) {
            call_off.send_replace(true);
        }
    }

    pub fn call_off_all(&self) {
        for (_, call_off) in &self.running {
            call_off.send_replace(true);
        }
    }

    /// One is over. Whoever called it off does not want to hear what came of it; the session knows that itself.
    pub fn over(&mut self, ticket: Ticket) {
        self.running.retain(|(known, _)| *known != ticket);
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}
