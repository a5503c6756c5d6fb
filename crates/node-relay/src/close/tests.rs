//! The closer with an inspector that is played here, for a process that only lives.
//!
//! What is said and asked is counted at the listeners themselves; nothing depends on how fast that happens.

use super::*;
use crate::played::told;
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::process::{Pid, PidfdFlags, pidfd_open};

type Closed = JoinHandle<Result<(), RelayError>>;

fn pinned(process: &std::process::Child) -> OwnedFd {
    let pid = Pid::from_raw(process.id().cast_signed()).unwrap();
    pidfd_open(pid, PidfdFlags::empty()).unwrap()
}

fn sleeper() -> std::process::Child {
    std::process::Command::new("sleep").arg("120").spawn().unwrap()
}

fn nobody(_: SocketAddr) -> io::Result<HashSet<SocketAddr>> {
    Ok(HashSet::new())
}

/// Where it is was said, so nobody looks for it.
fn sees_no_doors() -> io::Result<HashSet<SocketAddr>> {
    Err(io::ErrorKind::Other.into())
}

/// Of a process of which nothing is to be seen.
fn sight(before: &HashSet<SocketAddr>) -> Sight<'_> {
    Sight { doors: &sees_no_doors, listening: &sees_no_doors, before, visitors: &nobody, meeting: None }
}

/// The end of a session that found an inspector there, at a process that lives on.
fn closes_after_a_session(door: SocketAddr, sight: &Sight) {
    let mut process = sleeper();
    let (mut session, waited) = UnixStream::pair().unwrap();
    writeln!(session, "{door}").unwrap();
    drop(session);
    close_after(waited.into(), &pinned(&process), sight).unwrap();
    assert!(process.try_wait().unwrap().is_none());
    process.kill().unwrap();
    process.wait().unwrap();
}

fn here() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn answer(listener: &TcpListener, words: &str) {
    let (mut asked, _) = listener.accept().unwrap();
    asked.write_all(words.as_bytes()).unwrap();
}

const LIST: &str = "HTTP/1.0 200 OK\r\n\r\n[ {\"webSocketDebuggerUrl\": \"ws://localhost/name\"} ]";
const NOT_FOUND: &str = "HTTP/1.0 404 Not Found\r\n\r\n";

/// Lets it be found, and lets whoever has found it in.
fn is_visited(listener: &TcpListener) -> TcpStream {
    answer(listener, LIST);
    let (mut inspector, _) = listener.accept().unwrap();
    inspector.write_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n").unwrap();
    let mut hello = Vec::new();
    while !hello.ends_with(b"\r\n\r\n") {
        let mut letter = [0];
        inspector.read_exact(&mut letter).unwrap();
        hello.extend(letter);
    }
    inspector
}

/// What is asked first.
fn is_asked_the_time(inspector: &mut TcpStream) {
    assert_eq!(told(inspector)["params"]["expression"], "process.uptime()");
}

fn answers(inspector: &mut TcpStream, answer: &str) {
    let length = u8::try_from(answer.len()).unwrap();
    inspector.write_all(&[&[0x81, length], answer.as_bytes()].concat()).unwrap();
}

const TIME: &str = r#"{"id":1,"result":{"result":{"type":"number","value":41.5}}}"#;
const TOO_LATE: &str = r#"{"id":2,"result":{"result":{"type":"boolean","value":false}}}"#;
const ORDER: &str = "process.uptime() < 42.5 && process._debugEnd()";

/// Lets it be found, and hears what it is told.
fn is_told_to_close(listener: &TcpListener) {
    let mut inspector = is_visited(listener);
    is_asked_the_time(&mut inspector);
    answers(&mut inspector, TIME);
    assert_eq!(told(&mut inspector)["params"]["expression"], ORDER);
    inspector.write_all(b"\x88\x00").unwrap();
    inspector.read_to_end(&mut Vec::new()).unwrap();
}

/// Whoever has come leaves, and has said nothing more.
fn is_left(mut inspector: TcpStream) {
    let mut rest = Vec::new();
    inspector.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, [0x88, 0x80, 0, 0, 0, 0]);
}

fn is_asked_nothing(listener: &TcpListener) {
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    listener.set_nonblocking(false).unwrap();
}

/// For longer than whoever looks again would take. A slow machine can only make it miss something.
fn stays_unasked(listener: &TcpListener) {
    let until = Instant::now() + Duration::from_secs(2);
    while Instant::now() < until {
        is_asked_nothing(listener);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_inspector_is_told_to_close_when_its_session_is_over_and_nobody_else_uses_it() {
    let (listener, address) = here();
    let mut process = sleeper();
    let process_end = pinned(&process);
    let (mut session, waited) = UnixStream::pair().unwrap();
    let other = TcpStream::connect(address).unwrap();
    listener.accept().map(drop).unwrap();
    let others = Arc::new(Mutex::new(HashSet::from([other.local_addr().unwrap()])));
    let visitors = others.clone();
    let closing = std::thread::spawn(move || {
        let visitors = |_| Ok(visitors.lock().unwrap().clone());
        let before = HashSet::new();
        let sight = Sight { visitors: &visitors, ..sight(&before) };
        close_after(waited.into(), &process_end, &sight)
    });
    writeln!(session, "{address}").unwrap();
    drop(session);
    stays_unasked(&listener);
    others.lock().unwrap().clear();
    // One try that fails is not the last.
    drop(listener.accept().unwrap());
    is_told_to_close(&listener);
    closing.join().unwrap().unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Looks for one that opens late: at each look the next of these doors are there, and at the end the last.
fn looks_at(doors: Vec<Vec<SocketAddr>>, before: HashSet<SocketAddr>, latest: Duration) -> Closed {
    let mut process = sleeper();
    let process_end = pinned(&process);
    let (session, waited) = UnixStream::pair().unwrap();
    drop(session);
    std::thread::spawn(move || {
        let looks = std::cell::Cell::new(0);
        let doors = || {
            let there = doors.get(looks.get()).or(doors.last()).cloned().unwrap_or_default();
            looks.set(looks.get() + 1);
            Ok(there.into_iter().collect())
        };
        let sight = Sight { doors: &doors, ..sight(&before) };
        let closed = close_until(waited.into(), &process_end, &sight, latest);
        assert!(process.try_wait().unwrap().is_none(), "it is not its end that was waited for");
        process.kill().unwrap();
        process.wait().unwrap();
        closed
    })
}

/// A program that was stopped by a signal may open it long after it was given up.
#[test]
fn an_inspector_that_opens_late_is_found_and_told_to_close() {
    let ((other, first), (listener, second), (old, third)) = (here(), here(), here());
    let doors = vec![vec![third], vec![third, first], vec![third, first], vec![third, first, second]];
    let closing = looks_at(doors, HashSet::from([third]), LATEST);
    // What else the program listens for is no inspector.
    answer(&other, NOT_FOUND);
    // It is asked once to be known, and once more to be closed.
    answer(&listener, LIST);
    is_told_to_close(&listener);
    closing.join().unwrap().unwrap();
    is_asked_nothing(&other);
    is_asked_nothing(&old);
}

#[test]
fn one_that_says_nothing_hides_no_inspector_and_is_asked_again() {
    let ((silent, first), (listener, second)) = (here(), here());
    let closing = looks_at(vec![vec![first, second], vec![first]], HashSet::new(), LATEST);
    let _waits = silent.accept().unwrap();
    answer(&listener, LIST);
    is_told_to_close(&listener);
    closing.join().unwrap().unwrap();

    let closing = looks_at(vec![vec![first]], HashSet::new(), LATEST);
    let _waits = silent.accept().unwrap();
    answer(&silent, LIST);
    is_told_to_close(&silent);
    closing.join().unwrap().unwrap();
}

#[test]
fn nobody_looks_for_ever_for_an_inspector_that_does_not_open() {
    let (other, address) = here();
    let closing = looks_at(vec![vec![address]], HashSet::new(), Duration::from_secs(2));
    answer(&other, NOT_FOUND);
    closing.join().unwrap().unwrap();
    is_asked_nothing(&other);
}

#[test]
fn one_that_was_open_before_is_not_closed() {
    let (listener, address) = here();
    closes_after_a_session(address, &sight(&HashSet::from([address])));
    is_asked_nothing(&listener);
}

/// A closer to which others can come.
struct Meeting {
    process: std::process::Child,
    place: net::SocketAddr,
    first: UnixStream,
    doors: Arc<Mutex<HashSet<SocketAddr>>>,
    /// Where the process listens, if that is to be seen.
    listening: Arc<Mutex<Option<HashSet<SocketAddr>>>>,
    closing: Closed,
}

fn meeting() -> Meeting {
    let process = sleeper();
    let process_end = pinned(&process);
    let name = format!("breakroom-closer-test-{}", process.id());
    let place = net::SocketAddr::from_abstract_name(name).unwrap();
    let (first, waited) = UnixStream::pair().unwrap();
    let doors = Arc::new(Mutex::new(HashSet::new()));
    let listening = Arc::new(Mutex::new(None));
    let (seen, heard, meeting) = (doors.clone(), listening.clone(), place.clone());
    let closing = std::thread::spawn(move || {
        let doors = || Ok(seen.lock().unwrap().clone());
        let listening = || heard.lock().unwrap().clone().ok_or(io::ErrorKind::Other.into());
        let before = HashSet::new();
        let sight = Sight { doors: &doors, listening: &listening, meeting: Some(&meeting), ..sight(&before) };
        close_after(waited.into(), &process_end, &sight)
    });
    Meeting { process, place, first, doors, listening, closing }
}

impl Meeting {
    /// Another session, when it is known to the closer.
    fn second(&self) -> UnixStream {
        let until = Instant::now() + Duration::from_secs(60);
        let mut second = loop {
            match UnixStream::connect_addr(&self.place) {
                Ok(session) => break session,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
        };
        let mut welcome = [0; 1];
        second.read_exact(&mut welcome).unwrap();
        second
    }

    fn ends(mut self) {
        self.closing.join().unwrap().unwrap();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn a_session_that_comes_later_keeps_the_inspector_until_it_leaves() {
    let (listener, address) = here();
    let meeting = meeting();
    let mut second = meeting.second();
    // The first is given up, and then the door opens for the second.
    meeting.first.shutdown(std::net::Shutdown::Both).unwrap();
    meeting.doors.lock().unwrap().insert(address);
    stays_unasked(&listener);
    writeln!(second, "{address}").unwrap();
    drop(second);
    is_told_to_close(&listener);
    meeting.ends();
}

/// The first had another, which the program has closed itself.
#[test]
fn an_inspector_that_opens_for_a_later_session_that_was_given_up_is_found_and_told_to_close() {
    let ((old, first), (listener, second)) = (here(), here());
    let mut meeting = meeting();
    writeln!(meeting.first, "{first}").unwrap();
    *meeting.listening.lock().unwrap() = Some(HashSet::from([second]));
    drop(meeting.second());
    meeting.first.shutdown(std::net::Shutdown::Both).unwrap();
    meeting.doors.lock().unwrap().insert(second);
    // It is asked once to be known, and once more to be closed.
    answer(&listener, LIST);
    is_told_to_close(&listener);
    is_asked_nothing(&old);
    meeting.ends();
}

/// A session was given up, and its inspector is asked whether the program hears anything.
fn asked_the_time() -> (TcpListener, Meeting, TcpStream) {
    let (listener, address) = here();
    let mut meeting = meeting();
    writeln!(meeting.first, "{address}").unwrap();
    meeting.first.shutdown(std::net::Shutdown::Both).unwrap();
    let mut inspector = is_visited(&listener);
    is_asked_the_time(&mut inspector);
    (listener, meeting, inspector)
}

/// It would hear it when somebody else is there.
#[test]
fn a_program_that_is_busy_is_not_told_to_close() {
    let (listener, meeting, inspector) = asked_the_time();
    // Nobody is kept waiting by one that is silent.
    let second = meeting.second();
    is_left(inspector);
    drop(second);
    is_told_to_close(&listener);
    meeting.ends();
}

#[test]
fn an_order_that_came_too_late_is_given_again() {
    let (listener, meeting, mut inspector) = asked_the_time();
    answers(&mut inspector, TIME);
    assert_eq!(told(&mut inspector)["params"]["expression"], ORDER);
    answers(&mut inspector, TOO_LATE);
    is_left(inspector);
    is_told_to_close(&listener);
    meeting.ends();
}

#[test]
fn the_end_of_a_busy_program_is_all_that_is_waited_for() {
    let (_listener, mut meeting, inspector) = asked_the_time();
    meeting.process.kill().unwrap();
    is_left(inspector);
    meeting.ends();
}

#[test]
fn nobody_is_told_anything_once_the_process_has_ended() {
    let (listener, address) = here();
    let mut process = std::process::Command::new("true").spawn().unwrap();
    let process_end = pinned(&process);
    process.wait().unwrap();
    let (mut session, waited) = UnixStream::pair().unwrap();
    writeln!(session, "{address}").unwrap();
    let before = HashSet::new();
    let sight = sight(&before);
    close_after(waited.into(), &process_end, &sight).unwrap();
    is_asked_nothing(&listener);
}

#[test]
fn what_listens_where_the_process_has_closed_its_inspector_is_told_nothing() {
    let (listener, address) = here();
    let nowhere = || Ok(HashSet::new());
    closes_after_a_session(address, &Sight { listening: &nowhere, ..sight(&HashSet::new()) });
    is_asked_nothing(&listener);
}
