//! Connections to a server that is already there: an adapter that was just started, or one that debugs a child too.
//!
//! A port is open to every user of the machine, so the one at the other end has to be ours. Nothing is started here.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use tokio::net::{TcpStream, UnixStream};

use crate::error::ConnectError;
use breakroom_ports as ports;

const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// Between the appearance of a socket and its first connection lie two calls of its server.
const MOMENT: Duration = Duration::from_micros(50);
/// Half of it is lost with every server that says nothing when it listens. An attempt costs some microseconds.
const LONGEST_PAUSE: Duration = Duration::from_millis(4);
/// The kernel's table is not read at one instant, so a row can be missed once.
pub(crate) const LOOKS: usize = 3;

/// Where a server listens.
#[derive(Clone, Debug)]
pub enum Place {
    Tcp(SocketAddr),
    /// The socket's file, held open: some adapters remove its name as soon as somebody has come.
    Unix(Arc<OwnedFd>),
}

impl Place {
    /// The places that a host's name means, if they are on this machine's loopback.
    pub fn at(host: &str, port: u16) -> Result<Vec<Place>, ConnectError> {
        let here: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        let addresses = match host.parse::<IpAddr>() {
            Ok(address) => vec![address.to_canonical()],
            Err(_) if host.eq_ignore_ascii_case("localhost") => here.to_vec(),
            Err(_) => Vec::new(),
        };
        if addresses.is_empty() || !addresses.iter().all(IpAddr::is_loopback) {
            return Err(ConnectError::NotHere { host: host.to_owned(), port });
        }
        Ok(addresses.into_iter().map(|address| Place::Tcp(SocketAddr::new(address, port))).collect())
    }

    pub(crate) fn of_socket(path: &Path) -> io::Result<Self> {
        let file = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Place::Unix(Arc::new(file)))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Tcp(address) => address.fmt(f),
            Place::Unix(_) => f.write_str("the adapter's unix socket"),
        }
    }
}

/// A connection that is ready to be used. The descriptor is non-blocking.
#[derive(Debug)]
pub struct Connection {
    pub socket: OwnedFd,
    pub place: Place,
}

/// Tries these places in turn until one answers or the time is over: a server may announce itself before it listens.
pub async fn connect(places: &[Place], patience: Duration) -> Result<Connection, ConnectError> {
    let mut attempts = Attempts { places, last_error: None };
    let meet = async {
        let mut pauses = Pauses::default();
        loop {
            match attempts.once().await {
                Some(met) => return met,
                None => tokio::time::sleep(pauses.next()).await,
            }
        }
    };
    match tokio::time::timeout(patience, meet).await {
        Ok(met) => met,
        Err(_) => Err(ConnectError::Silent {
            address: places.first().map(Place::to_string).unwrap_or_default(),
            seconds: patience.as_secs(),
            reason: attempts.last_error.map_or_else(|| "no answer".into(), |error| error.to_string()),
        }),
    }
}

/// How long to wait before a server that does not answer is tried again, each time.
pub(crate) struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Pauses(FIRST_PAUSE)
    }
}

impl Pauses {
    pub fn of_a_moment() -> Self {
        Pauses(MOMENT)
    }

    pub fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST_PAUSE);
        pause
    }
}

pub(crate) struct Attempts<'a> {
    pub places: &'a [Place],
    pub last_error: Option<io::Error>,
}

impl Attempts<'_> {
    /// `None` if nobody answers yet.
    pub async fn once(&mut self) -> Option<Result<Connection, ConnectError>> {
        for place in self.places {
            match dial(place).await {
                Ok(socket) => return Some(Ok(Connection { socket, place: place.clone() })),
                Err(Missed::NotYet(error)) => self.last_error = Some(error),
                Err(Missed::Stranger(owner)) => {
                    return Some(Err(ConnectError::Stranger { address: place.to_string(), owner }));
                }
            }
        }
        None
    }
}

enum Missed {
    NotYet(io::Error),
    Stranger(String),
}

impl From<io::Error> for Missed {
    fn from(error: io::Error) -> Self {
        Missed::NotYet(error)
    }
}

async fn dial(place: &Place) -> Result<OwnedFd, Missed> {
    let address = match place {
        Place::Tcp(address) => *address,
        // Only this user could enter the folder that it was made in.
        Place::Unix(file) => {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            return Ok(OwnedFd::from(UnixStream::connect(path).await?.into_std()?));
        }
    };
    let stream = TcpStream::connect(address).await?;
    if is_connected_to_itself(&stream) {
        return Err(io::Error::from(io::ErrorKind::ConnectionRefused).into());
    }
    check_owner(stream.local_addr()?, address).map_err(Missed::Stranger)?;
    stream.set_nodelay(true)?;
    Ok(OwnedFd::from(stream.into_std()?))
}

/// A port that nobody listens on yet may be given to the very socket that dials it, which then meets itself.
fn is_connected_to_itself(stream: &TcpStream) -> bool {
    matches!((stream.local_addr(), stream.peer_addr()), (Ok(local), Ok(peer)) if local == peer)
}

/// The user at the other end of a connection to a server on this machine, `local` being our own end.
pub fn owner_at(local: SocketAddr, address: SocketAddr) -> Option<u32> {
    let look = || {
        // Who has accepted our connection counts, whoever listens there by now. Until then it has no owner but the listener.
        match ports::peer_uid(local, address).ok()? {
            Some(uid) => Some(uid),
            None => ports::listener_uid(address).ok()?,
        }
    };
    (0..LOOKS).find_map(|_| look())
}

/// Says whose it is, if it is not ours.
fn check_owner(local: SocketAddr, address: SocketAddr) -> Result<(), String> {
    match owner_at(local, address) {
        Some(uid) if uid == rustix::process::getuid().as_raw() => Ok(()),
        Some(uid) => Err(format!("a process of user {uid}")),
        None => Err("an unknown process".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn port_of(listener: &TcpListener) -> u16 {
        listener.local_addr().unwrap().port()
    }

    #[tokio::test]
    async fn a_name_that_means_the_loopback_is_connected_to() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        for host in ["localhost", "LocalHost", "127.0.0.1", "::ffff:127.0.0.1"] {
            let places = Place::at(host, port_of(&listener)).unwrap();
            let met = connect(&places, PATIENCE).await.unwrap();
            assert_eq!(met.place.to_string(), format!("127.0.0.1:{}", port_of(&listener)), "{host}");
        }
    }

    #[test]
    fn another_machine_is_refused_by_its_name() {
        for host in ["10.0.0.1", "0.0.0.0", "example.org", "", "localhost.example.org"] {
            let error = Place::at(host, 5678).unwrap_err().to_string();
            assert!(error.contains(&format!("{host}:5678")) && error.contains("loopback"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_server_that_begins_to_listen_late_is_met() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let places = [Place::Tcp(address)];
        let mut attempts = Attempts { places: &places, last_error: None };
        assert!(attempts.once().await.is_none() && attempts.last_error.is_some());
        let _listener = TcpListener::bind(address).unwrap();
        assert!(attempts.once().await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_place_where_nobody_listens_is_named_with_the_reason() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = port_of(&listener);
        drop(listener);
        let places = Place::at("127.0.0.1", port).unwrap();
        let error = connect(&places, Duration::from_millis(200)).await.unwrap_err().to_string();
        assert!(error.contains(&format!("127.0.0.1:{port}")) && error.contains("refused"), "{error}");
    }

    #[tokio::test]
    async fn whoever_accepted_counts_and_not_who_listens_now() {
        if !rustix::process::getuid().is_root() {
            eprintln!("skipped: this test needs root, to run a server as another user");
            return;
        }
        let accepts_one = r#"
            $listener = IO::Socket::INET->new(LocalHost => "127.0.0.1", Listen => 1, ReuseAddr => 1) or die;
            $| = 1;
            print $listener->sockport, "\n";
            $accepted = $listener->accept;
            close $listener;
            print "closed\n";
            <STDIN>;
        "#;
        let mut server = std::process::Command::new("setpriv")
            .args(["--reuid", "65534", "--clear-groups", "perl", "-MIO::Socket::INET", "-e", accepts_one])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = std::io::BufRead::lines(std::io::BufReader::new(server.stdout.take().unwrap()));
        let address = SocketAddr::from(([127, 0, 0, 1], said.next().unwrap().unwrap().parse().unwrap()));
        let stream = TcpStream::connect(address).await.unwrap();
        assert_eq!(said.next().unwrap().unwrap(), "closed");
        let _ours = TcpListener::bind(address).unwrap();
        assert_eq!(
            check_owner(stream.local_addr().unwrap(), address).unwrap_err(),
            "a process of user 65534"
        );
        drop(server.stdin.take());
        server.wait().unwrap();
    }

    #[tokio::test]
    async fn a_unix_socket_is_met_again_after_its_name_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let place = Place::of_socket(&path).unwrap();
        drop(folder);
        assert!(!path.exists());
        for _ in 0..2 {
            let met = connect(std::slice::from_ref(&place), PATIENCE).await.unwrap();
            std::os::unix::net::UnixStream::from(met.socket).write_all(b"hello").unwrap();
            let mut said = String::new();
            listener.accept().unwrap().0.read_to_string(&mut said).unwrap();
            assert_eq!(said, "hello");
        }
    }
}
