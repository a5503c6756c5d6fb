//! Launches that are looked at before they are carried out: each on a thread of its own, since a build takes its time.
//!
//! One that was called off is kept until nothing of it runs any more: a session must not end before its last process.

use std::path::PathBuf;

use breakroom_engines::Context;
use breakroom_launch::{CallOff, Failure, Workshop, needs_nothing, prepare};
use breakroom_session::Ticket;
use serde_json::Value;
use tokio::sync::watch;

use crate::supervise::{News, Sender};

#[derive(Default)]
pub(crate) struct Preparations(Vec<(Ticket, CallOff)>);

impl Preparations {
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
        if needs_nothing(command, &arguments, context) {
            return false;
        }
        let (call_off, called_off) = watch::channel(false);
        self.0.push((ticket, call_off));
        let context = context.clone();
        tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let result = match runtime {
                Ok(runtime) => runtime.block_on(async {
                    let show = |text| drop(news.send(News::Progress { ticket, text }));
                    let workshop = Workshop::new(&context, &guard, &show, called_off);
                    prepare(command, arguments, &workshop).await
                }),
                Err(error) => Err(Failure::said(format!("the launch cannot be prepared: {error}."))),
            };
            let result = result.map_err(|failure| failure.to_string());
            // A driver that is gone wants to know nothing.
            let _ = news.send(News::Prepared { ticket, result });
        });
        true
    }

    pub fn call_off(&self, ticket: Ticket) {
        if let Some((_, call_off)) = self.0.iter().find(|(known, _)| *known == ticket) {
            call_off.send_replace(true);
        }
    }

    pub fn call_off_all(&self) {
        for (_, call_off) in &self.0 {
            call_off.send_replace(true);
        }
    }

    /// One is over. Whoever called it off does not want to hear what came of it; the session knows that itself.
    pub fn over(&mut self, ticket: Ticket) {
        self.0.retain(|(known, _)| *known != ticket);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
