//! What an agent is told where nothing has stopped: that it starts or runs, how it ended, or why it failed; and what was
//! printed meanwhile.

use breakroom_client::Request;

use crate::session::seen::{End, Phase, Seen};
use crate::session::{Session, code};
use crate::telling::budget::{Room, line};
use crate::telling::reply::Reply;
use crate::telling::snapshot::{LONGEST_NEWS, add_output, standing};

/// How a debugger says why it failed may begin with where that was.
const LONGEST_DEATH: usize = 800;

impl Session {
    /// The answer to a call that waited in vain, or for the end.
    pub fn goes_on(&self, room: Room) -> Reply {
        let output = self.new_output(room.share(40));
        let mut seen = self.seen();
        let mut reply =
            Reply::about(&self.id, format!("session {} · {}", self.id, headline(&seen, self.request)));
        (reply.state, reply.epoch) = (Some(seen.state()), Some(seen.threads.epoch()));
        reply.exit_code = seen.life.exit_code();
        let deeds = seen.journal.take_deeds();
        drop(seen);
        if !deeds.is_empty() {
            reply.add(&line(&format!("others: {}", deeds.join(", ")), LONGEST_NEWS));
        }
        add_output(&mut reply, &output);
        reply
    }
}

/// How it is, and what to do next.
fn headline(seen: &Seen, request: Request) -> String {
    let (epoch, state) = (seen.threads.epoch(), seen.state());
    match seen.life.phase() {
        Phase::Starting { .. } => {
            let progress = seen.life.progress().map(|words| format!(" ({words})")).unwrap_or_default();
            format!("starting{progress} · epoch {epoch} · debugger_wait waits for a stop")
        }
        Phase::Over { end: End::Failed(reason), .. } => {
            let again = match request {
                Request::Launch => "debugger_start",
                Request::Attach | Request::Join => "debugger_attach",
            };
            format!("failed: {reason}\nNext: mend that and call {again} again")
        }
        // How it died then is the debugger's doing.
        Phase::Over { end: End::ByAgent, .. } => "ended by debugger_stop".to_owned(),
        Phase::Over { end: End::ByItself | End::Unexplained, .. } => match seen.life.death() {
            Some(why) => {
                let again = match request {
                    Request::Launch => "debugger_restart runs it again",
                    Request::Attach | Request::Join => "debugger_attach, if it still runs",
                };
                format!("ended: {}\nNext: {again}", line(why, LONGEST_DEATH))
            }
            None => format!("ended{}", code(seen.life.exit_code())),
        },
        Phase::Live(_) | Phase::Leaving if seen.threads.stops().is_empty() => {
            format!("{state} · epoch {epoch} · debugger_wait waits for a stop, debugger_pause makes one")
        }
        Phase::Live(_) | Phase::Leaving => {
            let stops = seen.threads.stops();
            let stopped = standing(stops.iter());
            let rest = if stops.iter().any(|stop| stop.all) { "" } else { "; the rest runs" };
            format!(
                "{state} · epoch {epoch} · stopped: {stopped}{rest} · debugger_continue goes on from there, debugger_wait with after_epoch={epoch} waits for another stop"
            )
        }
    }
}
