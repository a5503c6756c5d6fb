//! Terminals of ours: opened for an engine that asked for one, read as output of its node. What is typed in them is written
//! elsewhere.

use std::task::{Context as Waker, Poll};

use breakroom_engines::{Terminal, WhenLost, Whom};
use breakroom_session::{Input, NodeId, Stream, Ticket};
use tokio::sync::mpsc;

use breakroom_wire::Reads;

use super::program_input::ProgramInput;
use super::{Driver, Step, on};
use crate::side_stream::SideStream;
use crate::supervise::{self, Order};

/// A terminal of ours, and where its text belongs.
pub(super) struct TerminalIo {
    pub(super) node: NodeId,
    /// The node whose process asked for it.
    pub(super) keeper: NodeId,
    pub(super) stream: Option<SideStream>,
    pub(super) input: ProgramInput,
    pub(super) orders: mpsc::UnboundedSender<Order>,
    /// Terminals are watched under numbers of their own, counted down from the top.
    pub(super) watched_as: NodeId,
}

impl Driver {
    pub(super) fn read_terminals(&mut self, cx: &mut Waker) -> Step {
        let mut step = Step::Done;
        if !self.hears_engines() {
            return step;
        }
        for terminal in &mut self.terminals {
            let Some(stream) = &mut terminal.stream else { continue };
            match stream.poll_text(cx) {
                Poll::Pending => {}
                Poll::Ready(Some(text)) => {
                    step = Step::Again;
                    self.recorder.write(Stream::Out, &text);
                    let input = Input::Output { node: terminal.node, category: "stdout", text };
                    on(&mut self.session, self.began, input);
                }
                Poll::Ready(None) => terminal.stream = None,
            }
        }
        step
    }

    pub(super) fn take_terminal(&mut self, ticket: Ticket, node: NodeId, outcome: Result<Terminal, String>) {
        let Some(asker) = self.nodes.iter().find(|known| known.id() == node && !known.is_told()) else {
            // Whoever asked for it is gone, and nobody would end it before the session; dropping it ends it.
            return;
        };
        let keeper = asker.server().keeper;
        let dies_with_hub = self.dies_with_hub(keeper);
        let result = outcome.and_then(|terminal| {
            if dies_with_hub {
                // What runs there is a program and nothing else.
                terminal.process.when_lost(WhenLost::Kill(Whom::All));
            }
            let pid = terminal.process.pid();
            let input = terminal.master.try_clone().and_then(|fd| ProgramInput::new(fd, Reads::Terminal));
            let input = input.map_err(|error| error.to_string())?;
            let stream = SideStream::new(terminal.master, Vec::new()).map_err(|error| error.to_string())?;
            let watched_as = NodeId(u32::MAX - ticket.0);
            let orders = supervise::watch(watched_as, terminal.process, self.sender.clone());
            if dies_with_hub {
                // The engine must not see that the hub is gone before what runs here is no more either.
                self.held_for(keeper).into_iter().for_each(|order| drop(orders.send(order)));
            }
            self.terminals.push(TerminalIo { node, keeper, stream: Some(stream), input, orders, watched_as });
            Ok(pid)
        });
        self.on(Input::Terminal { ticket, result });
    }
}
