//! One engine's connection, driven for the session, and what is behind it.
//!
//! The end of an engine is told only when everything it wrote has been delivered.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context as Waker, Poll};
use std::time::Duration;

use breakroom_engines::{Connection, Exit, Force, Place, Stop, WhenLost, Whom};
use breakroom_session::habits::Part;
use breakroom_session::{EngineFacts, Input, NodeEnd, NodeId, Session, Stdin};
use breakroom_wire::{Decode, Frame, Peer};
use tokio::time::Instant;

use super::process_io::{Beside, DRAIN, ProcessIo, Verdict};
use super::program_input::ProgramInput;
use super::{Step, on};
use crate::endpoint::{Came, Endpoint};
use crate::side_stream::SharedWords;
use crate::supervise::{Arrived, Order, Sender};

/// A reply may be huge, but what an adapter claims beyond this is a broken adapter.
const MAX_MESSAGE: usize = 1 << 30;

/// What a server may need to tidy up when it sees that nobody is there any more: js-debug removes its sockets then, and
/// not when it is told to end.
const TIDYING: Duration = Duration::from_secs(1);

pub(crate) struct NodeIo {
    id: NodeId,
    endpoint: Endpoint,
    reader: Reader,
    writer: Writer,
    facts: EngineFacts,
    /// Where other connections to the same server can be made, if it listens.
    place: Option<Place>,
    server: Server,
    behind: Behind,
}

/// The process at the other end, as it matters to whoever is connected to it.
#[derive(Clone)]
pub(crate) struct Server {
    /// The node whose process it is.
    pub keeper: NodeId,
    pub words: SharedWords,
}

enum Reader {
    Open,
    Ended,
    /// The framing broke: whatever the adapter says now cannot be understood.
    Broken(String),
}

enum Writer {
    Open,
    /// To be closed as soon as everything is written.
    Closing,
    Closed,
}

/// What belongs to a node besides its connection.
enum Behind {
    Process(Box<ProcessIo>),
    /// Nothing: it is one more connection to the server of another node.
    Visit(Visit),
}

/// How far a connection without a process is from its end.
enum Visit {
    Open,
    /// What the server still says is heard, until then.
    Ending {
        until: Instant,
    },
    /// Its end was told to the session.
    Told,
}

impl NodeIo {
    pub fn new(id: NodeId, arrived: Arrived, news: Sender) -> io::Result<Self> {
        let Arrived { engine, facts, debuggee_stdio, banner } = arrived;
        let (stdout, stderr, stdin) = (engine.stdout, engine.stderr, engine.stdin);
        let beside = Beside { stdout, stderr, stdin, banner, debuggee_stdio };
        let server = Server { keeper: id, words: SharedWords::default() };
        let process = ProcessIo::new(id, engine.process, beside, server.words.clone(), news)?;
        Ok(NodeIo {
            id,
            endpoint: Endpoint::new(engine.reader, engine.writer, Peer::Adapter, MAX_MESSAGE)?,
            reader: Reader::Open,
            writer: Writer::Open,
            facts,
            place: engine.place,
            behind: Behind::Process(Box::new(process)),
            server,
        })
    }

    /// One more connection to a server that is there. `facts` are those of the node that announced it.
    pub fn visit(id: NodeId, connection: Connection, facts: EngineFacts, server: Server) -> io::Result<Self> {
        let Connection { socket, place } = connection;
        let address = Some(place.to_string());
        Ok(NodeIo {
            id,
            endpoint: Endpoint::new(socket.try_clone()?, socket, Peer::Adapter, MAX_MESSAGE)?,
            reader: Reader::Open,
            writer: Writer::Open,
            facts: EngineFacts { part: Part::Debugs, stdin: Stdin::Others, address, ..facts },
            place: Some(place),
            server,
            behind: Behind::Visit(Visit::Open),
        })
    }

    pub fn id(&self) -> NodeId {
        self.id
    }

    pub fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    /// What the debuggee reads, if the hub has the other end of it.
    pub fn input(&mut self) -> Option<&mut ProgramInput> {
        match &mut self.behind {
            Behind::Process(process) => process.input(),
            Behind::Visit(_) => None,
        }
    }

    /// The node whose process serves it, if that is another.
    pub fn host(&self) -> Option<NodeId> {
        matches!(self.behind, Behind::Visit(_)).then_some(self.server.keeper)
    }

    pub fn stop(&mut self, how: Stop) {
        let open = matches!(self.writer, Writer::Open);
        match (&mut self.behind, how) {
            (Behind::Visit(visit), Stop::End { grace } | Stop::Release { grace }) => {
                visit.end(Instant::now() + grace);
            }
            (Behind::Process(process), Stop::End { grace }) if open && self.endpoint.is_socket() => {
                process.stop(Stop::End { grace: grace.max(TIDYING) });
            }
            // One that is still letting go of what it debugs must not take us for lost.
            (Behind::Process(process), how) => return process.stop(how),
        }
        if open {
            self.writer = Writer::Closing;
        }
    }

    /// Kills what its process started. False if it has none, or none any more.
    pub fn kill(&mut self, whom: Whom, force: Force) -> bool {
        match &mut self.behind {
            Behind::Process(process) => process.kill(whom, force),
            Behind::Visit(_) => false,
        }
    }

    /// What is done first, should the hub be lost.
    pub fn when_lost(&mut self, what: WhenLost) {
        if let Behind::Process(process) = &mut self.behind {
            process.when_lost(what);
        }
    }

    /// Whether its programs are killed then.
    pub fn dies_with_hub(&self) -> bool {
        matches!(&self.behind, Behind::Process(process) if process.dies_with_hub())
    }

    /// Gives its process an order, if it has one.
    pub fn order(&self, order: Order) {
        if let Behind::Process(process) = &self.behind {
            process.order(order);
        }
    }

    /// Our ends of its connection once more, for a guard that keeps it open.
    pub fn duplicates(&self) -> io::Result<Vec<OwnedFd>> {
        self.endpoint.duplicates()
    }

    /// Ends the connection for the peer, whoever else holds it.
    pub fn cut(&self) {
        self.endpoint.cut();
    }

    /// Reads once from the connection and from stdout.
    pub fn read(&mut self, cx: &mut Waker, session: &mut Session, began: Instant) -> Step {
        let beside = match &mut self.behind {
            Behind::Process(process) => process.read_stdout(cx, session, began),
            Behind::Visit(_) => Step::Done,
        };
        if !matches!(self.reader, Reader::Open) {
            return beside;
        }
        let came = match self.endpoint.poll_read(cx) {
            Poll::Pending => return beside,
            Poll::Ready(came) => came.unwrap_or(Came::End),
        };
        let mut take = |frame| match frame {
            Frame::Message(message) => on(session, began, Input::Engine { node: self.id, message }),
            Frame::Junk(junk) => {
                let text = String::from_utf8_lossy(&junk).into_owned();
                on(session, began, Input::Output { node: self.id, category: "console", text });
            }
        };
        let broken = loop {
            match self.endpoint.decoder.next() {
                Ok(Some(frame)) => take(frame),
                Ok(None) if came == Came::End => {
                    break self.endpoint.decoder.finish().map(|rest| rest.into_iter().for_each(&mut take));
                }
                Ok(None) if came == Came::Part => return Step::Again,
                Ok(None) => return beside,
                Err(error) => break Err(error),
            }
        };
        self.reader = match broken {
            Ok(()) => Reader::Ended,
            Err(error) => Reader::Broken(error.to_string()),
        };
        if let Behind::Process(process) = &mut self.behind {
            // An adapter that closed its stream may still be ending by itself; one that cannot be read any more is not
            // worth waiting for.
            let patience = if matches!(self.reader, Reader::Ended) { DRAIN } else { Duration::ZERO };
            process.expect_end(patience);
        }
        Step::Again
    }

    pub fn read_stderr(&mut self, cx: &mut Waker, session: &mut Session, began: Instant) -> Step {
        match &mut self.behind {
            Behind::Process(process) => process.read_stderr(cx, session, began),
            Behind::Visit(_) => Step::Done,
        }
    }

    /// Whether its stderr is the debuggee's too, and so goes to the clients.
    pub fn shares_stderr(&self) -> bool {
        matches!(&self.behind, Behind::Process(process) if process.shares_stderr())
    }

    pub fn write(&mut self, cx: &mut Waker, session: &mut Session) {
        if let Some(input) = self.input() {
            input.write(cx);
        }
        loop {
            while self.endpoint.wants_more() {
                let Some(packet) = session.poll_engine(self.id) else { break };
                self.endpoint.push(&packet);
            }
            let full = !self.endpoint.wants_more();
            match self.endpoint.poll_write(cx) {
                Poll::Ready(Ok(())) if full => {}
                Poll::Ready(Ok(())) => return self.hang_up(),
                // An engine that cannot be written to is about to be seen as ended.
                _ => return,
            }
        }
    }

    /// Closes our direction of a connection that is to be closed.
    fn hang_up(&mut self) {
        if matches!(self.writer, Writer::Closing) {
            self.endpoint.shut_down();
            self.writer = Writer::Closed;
        }
    }

    pub fn rest(&mut self) {
        self.endpoint.rest();
    }

    pub fn on_exit(&mut self, exit: Exit) {
        if let Behind::Process(process) = &mut self.behind {
            process.on_exit(exit);
        }
    }

    pub fn on_gone(&mut self) {
        if let Behind::Process(process) = &mut self.behind {
            process.on_gone();
        }
    }

    /// Whether the session knows that it ended.
    pub fn is_told(&self) -> bool {
        match &self.behind {
            Behind::Process(process) => process.is_told(),
            Behind::Visit(visit) => matches!(visit, Visit::Told),
        }
    }

    pub fn is_gone(&self) -> bool {
        match &self.behind {
            Behind::Process(process) => process.is_gone(),
            Behind::Visit(visit) => matches!(visit, Visit::Told),
        }
    }

    /// Whether it was let go of and is left alone by its guard, with the hub and without.
    pub fn outlives_hub(&self) -> bool {
        matches!(&self.behind, Behind::Process(process) if process.outlives_hub())
    }

    pub fn deadline(&self) -> Option<Instant> {
        match &self.behind {
            Behind::Process(process) => process.deadline(),
            Behind::Visit(Visit::Ending { until }) => Some(*until),
            Behind::Visit(Visit::Open | Visit::Told) => None,
        }
    }

    /// `heard` is whether the engine is read at all: what is not read cannot be waited for. `visited` is whether its
    /// process serves other nodes too.
    pub fn on_timer(&mut self, heard: bool, visited: bool) {
        let verdict = match &mut self.behind {
            Behind::Process(process) => process.on_timer(heard, visited),
            Behind::Visit(visit) => visit.on_timer(heard),
        };
        if verdict == Verdict::GiveUp {
            self.reader = Reader::Ended;
        }
    }

    /// Tells the session that the engine ended, once everything it said is delivered.
    pub fn report_end(&mut self, session: &mut Session, began: Instant) -> Step {
        let (exit, code, healthy) = match &self.behind {
            Behind::Process(process) => match process.ended() {
                Some(exit) => (exit.to_string(), Some(exit.shells_code()), exit == Exit::Code(0)),
                None => return Step::Done,
            },
            Behind::Visit(Visit::Told) => return Step::Done,
            Behind::Visit(_) => ("connection closed".to_owned(), None, true),
        };
        let (exit, clean) = match &self.reader {
            Reader::Open => return Step::Done,
            Reader::Ended => (exit, healthy),
            Reader::Broken(reason) => {
                (format!("{exit} after a message that cannot be read: {reason}"), false)
            }
        };
        let end = NodeEnd { exit, code, clean, stderr: self.server.words.borrow().text().to_owned() };
        on(session, began, Input::NodeEnded { node: self.id, end });
        match &mut self.behind {
            Behind::Process(process) => process.told(),
            Behind::Visit(visit) => *visit = Visit::Told,
        }
        Step::Again
    }
}

impl Visit {
    fn end(&mut self, by: Instant) {
        match self {
            Visit::Open => *self = Visit::Ending { until: by },
            Visit::Ending { until } => *until = by.min(*until),
            Visit::Told => {}
        }
    }

    fn on_timer(&mut self, heard: bool) -> Verdict {
        let now = Instant::now();
        match self {
            Visit::Ending { until } if *until <= now => {
                if heard {
                    return Verdict::GiveUp;
                }
                *until = now + DRAIN;
            }
            _ => {}
        }
        Verdict::Wait
    }
}

/// The end of an engine that was called off before it came up.
pub(crate) fn called_off(node: NodeId) -> Input {
    let end = NodeEnd { exit: "nothing started".into(), code: None, clean: true, stderr: String::new() };
    Input::NodeEnded { node, end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_session::Setup;
    use std::future::poll_fn;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    fn visit() -> (NodeIo, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let connection =
            Connection { socket: OwnedFd::from(ours), place: Place::Tcp("127.0.0.1:5678".parse().unwrap()) };
        let server = Server { keeper: NodeId(1), words: SharedWords::default() };
        server.words.borrow_mut().add("last words");
        let facts =
            EngineFacts { name: "js-debug".into(), part: Part::Coordinates, ..EngineFacts::default() };
        (NodeIo::visit(NodeId(2), connection, facts, server).unwrap(), theirs)
    }

    /// Turns as the driver does until the end was told.
    async fn until_told(node: &mut NodeIo) {
        let mut session = Session::new(Setup::default());
        let began = Instant::now();
        poll_fn(|cx| {
            node.write(cx, &mut session);
            while node.read(cx, &mut session, began) == Step::Again {}
            node.report_end(&mut session, began);
            if node.is_told() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    #[tokio::test]
    async fn a_child_debugs_whatever_its_parent_does_and_says_where_it_is() {
        let (node, _theirs) = visit();
        let facts = node.facts();
        assert_eq!((&*facts.name, facts.part), ("js-debug", Part::Debugs));
        assert_eq!(facts.address.as_deref(), Some("127.0.0.1:5678"));
        assert_eq!((node.host(), node.deadline()), (Some(NodeId(1)), None));
    }

    #[tokio::test]
    async fn the_end_of_its_connection_is_the_end_of_a_child() {
        let (mut node, theirs) = visit();
        drop(theirs);
        until_told(&mut node).await;
        assert!(node.is_gone());
    }

    #[tokio::test]
    async fn a_child_that_is_to_end_hangs_up_and_hears_the_server_out() {
        let (mut node, mut theirs) = visit();
        node.stop(Stop::End { grace: Duration::from_secs(60) });
        let server = std::thread::spawn(move || {
            let mut rest = Vec::new();
            theirs.read_to_end(&mut rest).unwrap();
            rest
        });
        until_told(&mut node).await;
        assert!(server.join().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_server_that_does_not_hang_up_too_is_not_waited_for_longer_than_its_grace() {
        let (mut node, _theirs) = visit();
        node.stop(Stop::End { grace: Duration::from_secs(3600) });
        node.stop(Stop::End { grace: Duration::ZERO });
        assert!(node.deadline().is_some_and(|by| by <= Instant::now()));
        node.on_timer(false, false);
        assert!(node.deadline().is_some_and(|by| by > Instant::now()), "who is not heard is waited for");
        node.stop(Stop::End { grace: Duration::ZERO });
        node.on_timer(true, false);
        until_told(&mut node).await;
    }
}
