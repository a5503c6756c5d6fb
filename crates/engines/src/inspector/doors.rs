//! Which of the places where a process listens is its inspector.
//!
//! The others are servers of the program, and get garbage when they are asked: each that says anything is asked once. One
//! that says nothing for long, or is closed when it is asked, is asked again.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::listening;

/// How long a door may take to say what it is, all in all. One of a busy machine may take its time.
const ANSWER: Duration = Duration::from_secs(5);
/// Nothing tells when another process listens.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// No inspector says more before it has said what it is.
const LONGEST_ANSWER: usize = 4096;
/// What only an inspector's answer has in it.
const WORD: &[u8] = b"Protocol-Version";
/// Where the inspector is unless it was told otherwise.
pub(super) const USUAL_PORT: u16 = 9229;

/// Where a process opens its inspector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ports {
    /// It finds one of its own.
    Any,
    /// At one of these.
    These(HashSet<u16>),
}

impl Ports {
    pub fn of(pid: u32) -> Ports {
        // One that cannot be read says nothing else than usual.
        let read = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
        let texts = |bytes: Vec<u8>| {
            let words = bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
            words.collect::<Vec<String>>()
        };
        let mut words = texts(read("cmdline"));
        let environment = texts(read("environ"));
        let options = environment.iter().filter_map(|variable| variable.strip_prefix("NODE_OPTIONS="));
        words.extend(options.flat_map(str::split_ascii_whitespace).map(str::to_owned));
        Ports::named(&words)
    }

    /// What its own words are and what its program's, is not told apart: it is rather looked for at a port too many.
    fn named(words: &[String]) -> Ports {
        let mut ports = HashSet::from([USUAL_PORT]);
        for (at, word) in words.iter().enumerate() {
            let (option, value) =
                word.split_once('=').map_or((word.as_str(), None), |(option, value)| (option, Some(value)));
            let option = option.replace('_', "-");
            if !option.starts_with("--inspect") && option != "--debug-port" {
                continue;
            }
            let value =
                value.or_else(|| words.get(at + 1).filter(|_| option.ends_with("-port")).map(String::as_str));
            ports.extend(value.and_then(|value| value.rsplit(':').next()?.parse::<u16>().ok()));
        }
        if ports.contains(&0) { Ports::Any } else { Ports::These(ports) }
    }

    pub fn has(&self, door: &SocketAddr) -> bool {
        match self {
            Ports::Any => true,
            Ports::These(ports) => ports.contains(&door.port()),
        }
    }
}

/// What a door says to the question what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// A debugger would be understood there.
    Inspectors,
    Others,
    /// It lets us in and is silent, which one of a busy program is too, or it does not let us in any more.
    Nothing,
}

/// The doors of a process, all asked at the same time.
#[derive(Debug, Default)]
pub(super) struct Doors {
    asking: JoinSet<(SocketAddr, Answer)>,
    /// Not to be asked again.
    asked: HashSet<SocketAddr>,
}

impl Doors {
    pub fn ask(&mut self, doors: impl IntoIterator<Item = SocketAddr>) {
        for door in doors {
            if self.asked.insert(door) {
                self.asking.spawn(async move { (door, ask(door).await) });
            }
        }
    }

    /// The first that says that it is one. None if nobody is left who could, or until then nobody does.
    pub async fn inspector(&mut self, until: Instant) -> Option<SocketAddr> {
        while let Ok(Some(answer)) = tokio::time::timeout_at(until, self.asking.join_next()).await {
            match answer {
                Ok((door, Answer::Inspectors)) => return Some(door),
                Ok((door, Answer::Nothing)) => drop(self.asked.remove(&door)),
                Ok((_, Answer::Others)) | Err(_) => {}
            }
        }
        None
    }

    /// The one that opens. The program may listen for others meanwhile; who is among `others` is not asked.
    pub async fn opened(
        &mut self,
        pid: u32,
        others: &HashSet<SocketAddr>,
        until: Instant,
    ) -> io::Result<Option<SocketAddr>> {
        while Instant::now() < until {
            let doors = listening(pid)?;
            self.asked.retain(|door| doors.contains(door));
            self.ask(doors.difference(others).copied());
            let next = Instant::now() + LOOK_AGAIN;
            if let Some(door) = self.inspector(next).await {
                return Ok(Some(door));
            }
            tokio::time::sleep_until(next).await;
        }
        Ok(None)
    }
}

async fn ask(address: SocketAddr) -> Answer {
    let mut answer = Vec::new();
    let asking = async {
        let mut door = TcpStream::connect(address).await?;
        let question = format!("GET /json/version HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        door.write_all(question.as_bytes()).await?;
        while answer.len() < LONGEST_ANSWER && door.read_buf(&mut answer).await? > 0 {
            if answer.windows(WORD.len()).any(|part| part == WORD) {
                return Ok(Answer::Inspectors);
            }
        }
        Ok::<_, io::Error>(Answer::Others)
    };
    match tokio::time::timeout(ANSWER, asking).await {
        Ok(Ok(said)) => said,
        // It has just closed, and may open again.
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Answer::Nothing,
        Ok(Err(_)) => Answer::Others,
        Err(_) if answer.is_empty() => Answer::Nothing,
        Err(_) => Answer::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_testkit::wait;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    #[test]
    fn the_port_of_an_inspector_is_the_one_it_was_started_with() {
        let named = |line: &str| Ports::named(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let these = |ports: &[u16]| Ports::These(ports.iter().copied().collect());
        assert_eq!(named("node x.js 0"), these(&[9229]));
        assert_eq!(named("node --inspect x.js"), these(&[9229]));
        assert_eq!(named("node --inspect=localhost x.js"), these(&[9229]));
        assert_eq!(named("node --inspect-port=127.0.0.1:81 x.js"), these(&[81, 9229]));
        assert_eq!(named("node --inspect_port 82 x.js"), these(&[82, 9229]));
        assert_eq!(named("node --debug-port=[::1]:83 x.js"), these(&[83, 9229]));
        assert_eq!(named("node --inspect-publish-uid=http --inspect-brk=0 x.js"), Ports::Any);
    }

    /// Answers whoever comes with these pieces, one after the other and as slowly as that.
    fn serve(pieces: &'static [&'static str], pause: Duration) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for mut visitor in listener.incoming().flatten() {
                for piece in pieces.iter().cycle() {
                    if visitor.write_all(piece.as_bytes()).is_err() {
                        break;
                    }
                    std::thread::sleep(pause);
                }
            }
        });
        address
    }

    /// A process of its own, because whoever looks for a door knocks at all that a process has. The second is an inspector's.
    fn process_with_two_doors() -> (std::process::Child, [SocketAddr; 2]) {
        let program = r#"
            @doors = map { IO::Socket::INET->new(LocalHost => "127.0.0.1", Listen => 9) or die } 1 .. 2;
            @answers = (["HTTP/1.1 404 Not Found\r\n\r\n"], ["{\"Protocol-", "Version\": 1}"]);
            $SIG{PIPE} = "IGNORE";
            $| = 1;
            print map { $_->sockport . "\n" } @doors;
            $all = IO::Select->new(@doors);
            while (@ready = $all->can_read) {
                for $door (@ready) {
                    $visitor = $door->accept;
                    sysread $visitor, $asked, 4096;
                    for $piece (@{ $answers[$door == $doors[1]] }) {
                        syswrite $visitor, $piece;
                        select undef, undef, undef, 0.05;
                    }
                    close $visitor;
                }
            }
        "#;
        let mut command = std::process::Command::new("perl");
        command.args(["-MIO::Socket::INET", "-MIO::Select", "-e", program]);
        let mut process = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let doors = [(); 2].map(|()| {
            let port = lines.next().unwrap().unwrap();
            SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()))
        });
        (process, doors)
    }

    #[tokio::test]
    async fn a_door_counts_only_if_it_is_an_inspectors() {
        let begin = Instant::now();
        let talker = serve(&["x"], Duration::from_millis(300));
        assert_eq!(ask(talker).await, Answer::Others);
        assert!(begin.elapsed() < Duration::from_secs(60), "one that never ends is not heard out");
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(ask(silent.local_addr().unwrap()).await, Answer::Nothing);
        let (mut process, [other, inspector]) = process_with_two_doors();
        let doors = listening(process.id());
        let mut asked = Doors::default();
        let found = asked.opened(process.id(), &HashSet::new(), Instant::now() + wait::DEADLINE).await;
        process.kill().unwrap();
        process.wait().unwrap();
        assert_eq!(doors.unwrap(), HashSet::from([other, inspector]));
        assert_eq!(found.unwrap(), Some(inspector));
    }

    #[tokio::test]
    async fn doors_that_say_nothing_keep_no_inspector_waiting() {
        let silent = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let inspector = TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = silent.iter().chain([&inspector]).map(|listener| listener.local_addr().unwrap());
        let mut doors = Doors::default();
        doors.ask(addresses);
        let answering = std::thread::spawn(move || {
            // It answers only when all others have been asked, too, and wait for an answer.
            let waiting = silent.each_ref().map(|listener| listener.accept().unwrap());
            let (mut visitor, _) = inspector.accept().unwrap();
            visitor.write_all(b"{\"Protocol-Version\": 1}").unwrap();
            let address = inspector.local_addr().unwrap();
            (address, waiting, silent)
        });
        let found = doors.inspector(Instant::now() + wait::DEADLINE).await;
        let (address, _waiting, silent) = answering.join().unwrap();
        assert_eq!(found, Some(address));
        for listener in silent {
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err(), "each is asked once");
        }
    }

    #[tokio::test]
    async fn what_is_no_inspector_is_asked_once() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap();
        let answering = std::thread::spawn(move || {
            let (mut visitor, _) = other.accept().unwrap();
            visitor.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n").unwrap();
            other
        });
        let mut doors = Doors::default();
        for _ in 0..3 {
            doors.ask([address]);
            assert_eq!(doors.inspector(Instant::now() + wait::DEADLINE).await, None);
        }
        let other = answering.join().unwrap();
        other.set_nonblocking(true).unwrap();
        assert!(other.accept().is_err());
    }
}
