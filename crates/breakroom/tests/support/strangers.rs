//! Peers that are somebody else: clients under another user id, as only root can make them.
//!
//! Where the tests do not run as root they say that they are skipped, and why.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// `nobody` on every Linux system.
const OTHER: &str = "65534";

/// Whether other users can be played here; says on stderr if not.
pub fn can_be_played() -> bool {
    let root = rustix::process::getuid().is_root();
    if !root {
        eprintln!("skipped: this test needs root, to run a client as another user");
    }
    root
}

/// A program as another user.
fn as_other(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", OTHER, "--regid", OTHER, "--clear-groups", program]);
    command
}

/// Carries its stdin and stdout to a TCP port; the connection is the other user's.
pub fn tcp(address: SocketAddr) -> Command {
    let carry = format!("exec 3<>/dev/tcp/{}/{}; cat <&3 & cat >&3; kill $!", address.ip(), address.port());
    let mut command = as_other("bash");
    command.args(["-c", &carry]);
    command
}

/// Connects to a unix socket, sends `words` and prints what comes back until the end.
pub fn unix(socket: &Path, words: &[u8]) -> Command {
    let hex: String = words.iter().map(|byte| format!("{byte:02x}")).collect();
    let program = r#"
        $socket = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "cannot connect: $!\n";
        $socket->autoflush(1);
        $SIG{PIPE} = 'IGNORE';
        print $socket pack("H*", $ARGV[1]);
        print while <$socket>;
    "#;
    let mut command = as_other("perl");
    command.args(["-MIO::Socket::UNIX", "-e", program]).arg(socket).arg(hex);
    command
}

/// What is answered to another user at a TCP port: all that comes until the end, or within so many seconds.
pub fn says(address: SocketAddr, words: &[u8], seconds: u32) -> String {
    let hex: String = words.iter().map(|byte| format!("{byte:02x}")).collect();
    let program = r#"
        $socket = IO::Socket::IP->new(PeerHost => $ARGV[0], PeerPort => $ARGV[1]) or exit;
        $SIG{PIPE} = 'IGNORE';
        $SIG{ALRM} = sub { exit };
        $| = 1;
        syswrite $socket, pack("H*", $ARGV[2]);
        alarm $ARGV[3];
        print $read while sysread $socket, $read, 4096;
    "#;
    let mut command = as_other("perl");
    command.args([
        "-MIO::Socket::IP",
        "-e",
        program,
        &address.ip().to_string(),
        &address.port().to_string(),
        &hex,
        &seconds.to_string(),
    ]);
    String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
}

/// Connections of another user, all open at once, each of which has sent `words` and reads nothing. They end with this
/// process, whose stdout says how many there are.
pub fn crowd(address: SocketAddr, count: usize, words: &[u8]) -> Child {
    let hex: String = words.iter().map(|byte| format!("{byte:02x}")).collect();
    let program = r#"
        $SIG{PIPE} = 'IGNORE';
        $| = 1;
        for (1 .. $ARGV[2]) {
            my $socket = IO::Socket::IP->new(PeerHost => $ARGV[0], PeerPort => $ARGV[1]) or next;
            syswrite $socket, pack("H*", $ARGV[3]);
            push @sockets, $socket;
        }
        print scalar @sockets, "\n";
        sleep 1000;
    "#;
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    let mut command = as_other("perl");
    command.args(["-MIO::Socket::IP", "-e", program, &ip, &port, &count.to_string(), &hex]);
    let mut crowd = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(crowd.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), count.to_string(), "not every connection could be made");
    crowd
}

/// A server of another user, which says its port in a line and answers every request as if it were a debugger.
pub fn server() -> Child {
    let program = r#"
        $listener = IO::Socket::INET->new(LocalHost => "127.0.0.1", Listen => 1) or die;
        $| = 1;
        print $listener->sockport, "\n";
        $client = $listener->accept;
        sub say_it { my $text = encode_json($_[0]); syswrite $client, "Content-Length: " . length($text) . "\r\n\r\n$text" }
        while (defined(my $line = <$client>)) {
            $size = $1 if $line =~ /Content-Length: (\d+)/i;
            next unless $line eq "\r\n";
            read $client, my $body, $size;
            my $asked = decode_json($body);
            next unless $asked->{type} eq "request";
            say_it({ seq => ++$seq, type => "response", request_seq => $asked->{seq}, success => \1, command => $asked->{command}, body => {} });
            say_it({ seq => ++$seq, type => "event", event => "initialized" }) if $asked->{command} eq "initialize";
        }
    "#;
    let mut command = as_other("perl");
    command.args(["-MIO::Socket::INET", "-MJSON::PP", "-e", program]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}
