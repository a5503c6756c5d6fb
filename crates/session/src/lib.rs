//! One live debug session as a state machine: many clients, engines behind them, no I/O.
//!
//! Everything enters through [`Session::on`]; what is to be sent leaves through [`Session::poll_client`]
//! and [`Session::poll_engine`], and what is to be done through [`Session::poll_effect`].
//! There is no clock, no socket and no process here, so that a seeded loop can play every order of events.

mod absence;
mod access;
mod again;
mod amending;
mod belief;
mod breakpoints;
mod children;
mod client;
mod commands;
mod company;
mod describe;
mod driving;
mod edge;
mod ending;
mod entry;
mod evaluating;
mod events;
mod failing;
mod failure;
mod farewell;
mod filters;
mod flat;
mod gathering;
mod ids;
mod io;
mod joining;
mod journal;
mod judgement;
mod judging;
mod launch;
mod ledger;
mod minted;
mod moving;
mod node;
mod numbers;
mod others;
mod outbox;
mod outputs;
mod over;
mod own;
mod paths;
mod picture;
mod preparing;
mod reads;
mod references;
mod replies;
mod requests;
mod restarting;
mod reverse;
mod scopes;
mod session;
mod source_numbers;
mod starting;
mod stops;
mod thread_numbers;
mod threads;
mod tidy;
mod tree;
mod verbs;
mod views;

pub use access::{Access, Token};
pub use client::{CloseReason, Next};
pub use company::Role;
pub use describe::{Description, NodeDescription};
pub use failure::{Failure, FailureId};
pub use ids::{ClientId, NodeId, Ticket, Time};
pub use io::{
    Amendments, Console, Effect, EngineChoice, EngineFacts, EntryStop, ExitWord, Hover, Input, NodeEnd,
    Opening, Part, TerminalRequest, ThreadList, Unset, Verb,
};
pub use journal::{Entry, Excerpt, Journal, Noted};
pub use ledger::{BareHits, FileId};
pub use moving::Traveller;
pub use paths::Finder;
pub use session::{Preparation, Reach, Session, Setup};
