//! One live debug session as a state machine: many clients, engines behind them, no I/O.
//!
//! Everything enters through [`Session::on`]; what is to be sent leaves through [`Session::poll_client`]
//! and [`Session::poll_engine`], and what is to be done through [`Session::poll_effect`].
//! There is no clock, no socket and no process here, so that a seeded loop can play every order of events.

mod absence;
mod access;
mod belief;
mod breakpoints;
mod client;
mod commands;
mod company;
mod describe;
mod driving;
mod edge;
mod ending;
mod events;
mod failure;
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
mod others;
mod outbox;
mod own;
mod picture;
mod reads;
mod references;
mod replies;
mod requests;
mod restarting;
mod reverse;
mod scopes;
mod session;
mod starting;
mod stops;
mod thread_numbers;
mod threads;
mod verbs;

pub use access::{Access, Token};
pub use client::{CloseReason, Next};
pub use company::Role;
pub use describe::Description;
pub use failure::{Failure, FailureId};
pub use ids::{ClientId, NodeId, Ticket, Time};
pub use io::{Effect, EngineChoice, EngineFacts, Input, NodeEnd, TerminalRequest, Verb};
pub use journal::{Entry, Excerpt, Journal, Noted};
pub use ledger::{BareHits, FileId};
pub use moving::Traveller;
pub use session::{Reach, Session, Setup};
