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

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

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
