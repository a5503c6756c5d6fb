//! Another user of the machine, who finds every port that the processes of a session listen on and speaks to it.
//!
//! An adapter runs what it is asked to run, and most ask nobody who they are; so it is seen here that none can be asked.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::{Child, Stdio};

use breakroom_testkit::Sandbox;
use serde_json::json;

use super::adapter::Adapter;
use super::session::Session;
use crate::strangers;

/// The first words of what may listen there, and what is in the answer of one that lets the speaker go on: this protocol,
/// Node's inspector with the secret that opens it, Java's debugger. A question is no answer: debugpy's own adapter asks
/// whoever calls what it has to offer.
fn first_words() -> [(String, &'static str); 3] {
    let introduction =
        json!({"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "x"}});
    let introduction = introduction.to_string();
    [
        (format!("Content-Length: {}\r\n\r\n{introduction}", introduction.len()), "\"success\":true"),
        ("GET /json/list HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".to_owned(), "ws://"),
        ("JDWP-Handshake".to_owned(), "JDWP"),
    ]
}

/// No process of a session that stands at a breakpoint answers anything to another user.
pub fn is_not_answered(adapter: &'static Adapter) {
    if !strangers::can_be_played() {
        return;
    }
    let (mut session, stop) = Session::at(adapter, None, "call", adapter.names.main);
    let (host, hosts) = Host::start(&session.desk.sandbox);
    let addresses = listening(&session.desk.sandbox);
    assert!(addresses.contains(&hosts), "{hosts} is not among {addresses:?}");
    for address in addresses {
        for (words, welcome) in first_words() {
            // Whoever answers nothing is not waited for as long as one who does.
            let seconds = if address == hosts { 60 } else { 3 };
            let said = strangers::says(address, words.as_bytes(), seconds).replace(' ', "");
            let welcomed = said.contains(welcome);
            assert_eq!(
                welcomed,
                address == hosts,
                "{address} answered another user who said {words:?}: {said}"
            );
        }
    }
    drop(host);
    // Nor has it been disturbed.
    session.stack(&stop.thread);
    session.abandoned();
}

/// Somebody in the sandbox who welcomes everyone: were that not noticed, nobody's welcome would be.
struct Host(Child);

impl Host {
    fn start(sandbox: &Sandbox) -> (Host, SocketAddr) {
        let program = r#"
            $listener = IO::Socket::INET->new(LocalHost => "127.0.0.1", Listen => 5) or die;
            $| = 1;
            print $listener->sockport, "\n";
            while ($client = $listener->accept) {
                sysread $client, $heard, 4096;
                syswrite $client, join(" ", @ARGV);
                close $client;
            }
        "#;
        let mut command = sandbox.program("perl");
        command.args(["-MIO::Socket::INET", "-e", program]).args(first_words().map(|(_, welcome)| welcome));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("perl can be run");
        let mut port = String::new();
        let stdout = child.stdout.take().expect("it is a pipe");
        let host = Host(child);
        BufReader::new(stdout).read_line(&mut port).expect("it says its port");
        (host, SocketAddr::from(([127, 0, 0, 1], port.trim().parse().expect("a port"))))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where the sandbox's processes listen for TCP connections.
fn listening(sandbox: &Sandbox) -> Vec<SocketAddr> {
    let descriptors = |pid: i32| fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let target = |descriptor: fs::DirEntry| {
        Some(fs::read_link(descriptor.path()).ok()?.to_string_lossy().into_owned())
    };
    let processes = sandbox.census().processes();
    let held: HashSet<String> =
        processes.iter().flat_map(|process| descriptors(process.pid)).filter_map(target).collect();
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let is_held = |columns: &[&str]| columns[3] == "0A" && held.contains(&format!("socket:[{}]", columns[9]));
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    let rows = rows.map(|row| row.split_ascii_whitespace().collect::<Vec<_>>());
    rows.filter(|columns| is_held(columns)).map(|columns| address(columns[1])).collect()
}

/// The address to dial for a row's own: the loopback of its family, whichever of its addresses it listens on.
fn address(text: &str) -> SocketAddr {
    let (ip, port) = text.split_once(':').expect("the kernel writes address and port");
    let port = u16::from_str_radix(port, 16).expect("a port is written in hexadecimal");
    let mapped = ip.len() == 32 && ip[16..24] == *"FFFF0000";
    let any = ip.bytes().all(|digit| digit == b'0');
    let ip = if ip.len() == 8 || mapped || any {
        IpAddr::from(Ipv4Addr::LOCALHOST)
    } else {
        Ipv6Addr::LOCALHOST.into()
    };
    SocketAddr::new(ip, port)
}
