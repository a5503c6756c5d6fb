//! The port of `debugger/start`: when it is open, what it takes, and what is left when no client comes.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use breakroom_testkit::{census, wait};
use serde_json::{Value, json};

use crate::support::plugin::{Server, begin, dap, fake_in_catalog, port_of, program};
use crate::support::rig::{LONG, Rig, end};

/// Whether a socket of this machine listens on the port.
fn listens(port: u16) -> bool {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let local = format!(":{port:04X}");
    table.lines().any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        fields.next().is_some_and(|address| address.ends_with(&local)) && fields.nth(1) == Some("0A")
    })
}

/// How many adapters the catalog's entry has started.
fn adapters(rig: &Rig) -> usize {
    let processes = rig.sandbox.census().processes();
    processes.iter().filter(|process| process.command_line.contains("fake-adapter")).count()
}

fn closes(port: u16) {
    assert!(wait::until(LONG, || (!listens(port)).then_some(())).is_some(), "port {port} is still open");
}

#[test]
fn r000_10_port_accepts_as_soon_as_it_is_known() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start_with(&rig, &["--connect-window", "0.2"], |_| {});
    let client = server.client();
    let target = program(&rig, "a.fake");
    for _ in 0..100 {
        let port = client.start(&target);
        drop(TcpStream::connect(("127.0.0.1", port)).expect("the port accepts"));
    }
}

#[test]
fn r000_12_target_that_cannot_be_prepared_opens_no_port() {
    let rig = Rig::new();
    let server = Server::start(&rig);
    let client = server.client();
    let sockets = || {
        census::open_descriptors(server.process.id())
            .iter()
            .filter(|(_, what)| what.starts_with("socket"))
            .count()
    };
    let before = sockets();
    for _ in 0..5 {
        client.failing("debugger/start", json!({"request": {"targetPath": "/no/such/app.csproj"}}));
    }
    assert_eq!(sockets(), before);
}

#[test]
fn r000_13_port_is_on_loopback_and_listens_when_the_answer_leaves() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let port = plugin.start(&program(&rig, "a.fake"));
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    assert!(table.contains(&format!(" 0100007F:{port:04X} 00000000:0000 0A")), "{table}");
}

#[test]
fn r000_14_port_stays_open_for_30_s_by_default() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let client = server.client();
    let began = Instant::now();
    let port = client.start(&program(&rig, "a.fake"));
    let mut open_until = Duration::ZERO;
    while listens(port) {
        open_until = began.elapsed();
        assert!(open_until < LONG, "the port does not close");
        std::thread::park_timeout(Duration::from_millis(200));
    }
    assert!(open_until > Duration::from_secs(25), "closed after {open_until:?}");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    assert_eq!(adapters(&rig), 0);
}

#[test]
fn r000_16_debugger_is_started_by_the_connection_and_not_before() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let client = server.client();
    let port = client.start(&program(&rig, "a.fake"));
    // Another call goes through all that the start could have begun.
    client.call("workspace/stop", json!([]));
    assert!(rig.daemon_now().is_none() && adapters(&rig) == 0);
    let port_again = client.start(&program(&rig, "a.fake"));
    assert_eq!(adapters(&rig), 0);
    let mut debugging = dap(port_again);
    begin(&mut debugging);
    assert_eq!(adapters(&rig), 1);
    end(debugging);
    assert!(!listens(port));
}

#[test]
fn r000_15_client_that_connects_late_in_the_window_is_served() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let client = server.client();
    let port = client.start(&program(&rig, "a.fake"));
    std::thread::park_timeout(Duration::from_secs(8));
    let mut debugging = dap(port);
    begin(&mut debugging);
    end(debugging);
}

#[test]
fn r000_17_each_connection_gets_a_debugger_of_its_own() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let client = server.client();
    let target = program(&rig, "a.fake");
    let (first, second) = (client.start(&target), client.start(&target));
    let (mut first, mut second) = (dap(first), dap(second));
    begin(&mut first);
    begin(&mut second);
    assert_eq!(adapters(&rig), 2);
    end(first);
    second.call("threads", Value::Null);
    end(second);
}

#[test]
fn r000_19_to_21_expired_start_leaves_nothing_and_the_next_works() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start_with(&rig, &["--connect-window", "0.1"], |_| {});
    let client = server.client();
    let target = program(&rig, "a.fake");
    closes(client.start(&target));
    let descriptors = || census::open_descriptors(server.process.id()).len();
    let before = descriptors();
    for _ in 0..20 {
        let port = client.start(&target);
        closes(port);
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    }
    assert!(wait::until(LONG, || (descriptors() == before).then_some(())).is_some(), "descriptors are left");
    assert!(rig.daemon_now().is_none() && adapters(&rig) == 0);
}

#[test]
fn r000_r12_port_takes_one_connection() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let plugin = server.client();
    let port = plugin.start(&program(&rig, "a.fake"));
    let mut first = dap(port);
    begin(&mut first);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    end(first);
}

#[test]
fn hundred_starts_at_once_are_hundred_sessions() {
    let rig = Rig::new();
    fake_in_catalog(&rig, &[]);
    let server = Server::start(&rig);
    let client = server.client();
    let target = program(&rig, "a.fake");
    let calls: Vec<_> = (0..100)
        .map(|_| client.request("debugger/start", json!({"request": {"targetPath": target}})))
        .collect();
    let mut debugging: Vec<_> = calls.iter().map(|id| dap(port_of(&client.response(id)["result"]))).collect();
    debugging.iter_mut().for_each(begin);
    for client in &mut debugging {
        client.call("threads", Value::Null);
    }
    debugging.into_iter().for_each(end);
    drop(client);
    assert!(server.finish().success());
    rig.only_the_daemon_is_left();
}
