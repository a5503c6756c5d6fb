//! The WebSocket: what arrives, in which form, once, and who gets it when there are several.

use breakroom_ide_protocol::{Change, Notification};

use crate::peer::{Call, Socket};
use crate::server::{Server, Started};

const PYTHON: &str = r#"{"launch_configurations": [{"type": "python"}]}"#;

async fn start(server: &mut Server) -> Started {
    Call::put(server, PYTHON).send(server).await.run();
    server.next_started().await
}

fn line(text: &str) -> Change {
    Change::log_line(false, text)
}

#[tokio::test]
async fn r5_each_text_frame_is_one_object_and_pings_are_answered() {
    let mut server = Server::start(&["python"]);
    let mut socket = Socket::open(&server).await;
    let Started { id, notify, .. } = start(&mut server).await;
    socket.expect_silence().await;
    notify.send(Change::ProcessRestarted { pid: Some(7) });
    notify.send(line("a\n"));
    notify.send(Change::error("Failed", "why"));
    notify.send(Change::terminated(Some(-1)));
    for expected in [
        r#""notification_type":"processRestarted","pid":7}"#,
        r#""notification_type":"serviceLogs","is_std_err":false,"log_message":"a"}"#,
        r#""notification_type":"sessionMessage","level":"error","message":"why","code":"Failed"}"#,
        r#""notification_type":"sessionTerminated","exit_code":4294967295}"#,
    ] {
        assert_eq!(socket.next_text().await, format!("{{\"session_id\":\"{id}\",{expected}"));
    }
    socket.expect_silence().await;
}

#[tokio::test]
async fn row40_nothing_comes_after_the_end_and_only_the_first_end_counts() {
    let mut server = Server::start(&["python"]);
    let mut socket = Socket::open(&server).await;
    let Started { id, notify, .. } = start(&mut server).await;
    notify.send(Change::terminated(Some(3)));
    notify.send(line("late"));
    notify.send(Change::terminated(Some(4)));
    drop(notify);
    let ended = socket.next().await;
    assert_eq!((ended.session_id, ended.change), (id.0, Change::terminated(Some(3))));
    socket.expect_silence().await;
}

#[tokio::test]
async fn r6_notifications_survive_a_reconnect_and_come_once() {
    let mut server = Server::start(&["python"]);
    let Started { notify, stops, .. } = start(&mut server).await;
    // Before the first WebSocket, between two, while one is there, and after it is gone without a word.
    notify.send(line("1"));
    let mut socket = Socket::open(&server).await;
    assert_eq!(socket.next().await.change, line("1"));
    socket.close().await;
    notify.send(line("2"));
    let mut socket = Socket::open(&server).await;
    assert_eq!(socket.next().await.change, line("2"));
    notify.send(line("3"));
    assert_eq!(socket.next().await.change, line("3"));
    drop(socket);
    notify.send(line("4"));
    notify.send(Change::terminated(Some(0)));
    let mut socket = Socket::open(&server).await;
    assert_eq!(socket.next().await.change, line("4"));
    assert_eq!(socket.next().await.change, Change::terminated(Some(0)));
    socket.expect_silence().await;
    drop(socket);
    Socket::open(&server).await.expect_silence().await;
    drop(stops);
}

#[tokio::test]
async fn dropped_websocket_loses_no_notification_in_many_tries() {
    let mut server = Server::start(&["python"]);
    let Started { notify, .. } = start(&mut server).await;
    for number in 0..100 {
        let mut socket = Socket::open(&server).await;
        socket.expect_silence().await;
        drop(socket);
        notify.send(line(&number.to_string()));
        let mut socket = Socket::open(&server).await;
        assert_eq!(socket.next().await.change, line(&number.to_string()));
    }
}

#[tokio::test]
async fn fifty_websockets_replace_each_other_and_the_last_gets_everything_once() {
    let mut server = Server::start(&["python"]);
    let Started { id, notify, .. } = start(&mut server).await;
    let mut sockets = Vec::new();
    for _ in 0..50 {
        sockets.push(Socket::open(&server).await);
    }
    let mut last = sockets.pop().unwrap();
    for mut replaced in sockets {
        let frame = replaced.closed().await;
        assert_eq!(u16::from(frame.code), 1000, "{frame:?}");
    }
    let sent: Vec<_> = (0..100).map(|number| line(&number.to_string())).collect();
    sent.iter().for_each(|change| notify.send(change.clone()));
    for change in sent {
        assert_eq!(last.next().await, Notification::new(&*id.0, change));
    }
    last.expect_silence().await;
}

#[tokio::test]
async fn run_sessions_belong_to_the_instance_that_created_them() {
    let mut server = Server::start(&["python"]);
    let (one, other) = ("breakroom-aaaaaaaaaaaa", "breakroom-bbbbbbbbbbbb");
    let mut sockets = [Socket::open_as(&server, one).await, Socket::open_as(&server, other).await];
    for (instance, at) in [(one, 0), (other, 1)] {
        let put = Call::put(&server, PYTHON).with("microsoft-developer-dcp-instance-id", instance);
        let run = put.send(&server).await.run();
        server.next_started().await.notify.send(Change::terminated(None));
        assert_eq!(sockets[at].next().await.session_id, run);
        for socket in &mut sockets {
            socket.expect_silence().await;
        }
    }
}

#[tokio::test]
async fn runner_that_forgets_a_run_session_has_ended_it() {
    let mut server = Server::start(&["python"]);
    let mut socket = Socket::open(&server).await;
    let Started { id, notify, .. } = start(&mut server).await;
    drop(notify);
    // The other copy belongs to the run.
    Call::delete(&server, &id.0).send(&server).await;
    assert_eq!(socket.next().await.change, Change::terminated(None));
}

#[tokio::test]
async fn client_that_reads_nothing_costs_no_more_than_the_limit_of_output() {
    let mut server = Server::start(&["python"]);
    let mut socket = Socket::open(&server).await;
    let Started { notify, .. } = start(&mut server).await;
    let text = "x".repeat(10_000);
    (0..4000).for_each(|_| notify.send(line(&text)));
    notify.send(Change::terminated(Some(0)));
    let (mut lines, mut dropped) = (0, 0);
    loop {
        match socket.next().await.change {
            Change::ServiceLogs { log_message, is_std_err: false } if log_message == text => lines += 1,
            Change::ServiceLogs { log_message, is_std_err: true } => {
                let number = log_message.trim_start_matches('[').split(' ').next().unwrap();
                dropped += number.parse::<u32>().unwrap();
            }
            Change::SessionTerminated { .. } => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(lines + dropped, 4000);
    assert!(dropped > 2000, "{dropped}");
}
