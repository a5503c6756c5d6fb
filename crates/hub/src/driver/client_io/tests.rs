//! A client that is gone is heard to the end, and one that leaves is not waited for without one.

use super::*;
use breakroom_session::Setup;
use std::future::poll_fn;
use std::io::{Read, Write};

fn request(command: &str) -> String {
    format!(r#"{{"seq":1,"type":"request","command":"{command}","arguments":{{}}}}"#)
}

#[tokio::test]
async fn a_goodbye_is_heard_that_nobody_was_woken_for_when_a_write_failed() {
    let (heard, mut says) = std::io::pipe().unwrap();
    let (hears, told) = std::io::pipe().unwrap();
    let (mut session, id, began) = (Session::new(Setup::default()), ClientId(1), Instant::now());
    on(&mut session, began, Input::ClientJoined { client: id, access: Access::Granted, child: None });
    let mut client = ClientIo::new(id, heard.into(), told.into(), None, &Access::Granted).unwrap();
    let asks = || Input::Client { client: id, message: request("initialize").into() };
    on(&mut session, began, asks());
    // Both ends are watched from now on, and all is said.
    poll_fn(|cx| {
        client.read(cx, &mut session, began);
        client.write(cx, &mut session);
        client.endpoint.poll_write(cx)
    })
    .await
    .unwrap();
    // Nothing is awaited any more, so the runtime does not look again.
    on(&mut session, began, asks());
    let goodbye = request("disconnect");
    write!(says, "Content-Length: {}\r\n\r\n{goodbye}", goodbye.len()).unwrap();
    drop((says, hears));
    let cx = &mut Waker::from_waker(std::task::Waker::noop());
    assert!(client.write(cx, &mut session), "nobody has said that it goes");
    assert!(matches!(client.ears, Ears::Closed { .. }));
    client.read(cx, &mut session, began);
    assert!(!matches!(client.state, State::Lost), "what it said last was not heard");
    assert!(session.is_leaving(id) || session.owes_last_word(id));
}

/// A client that has left, and a session whose last words to it are more than its pipe takes.
fn leaving(heard: io::PipeReader, told: io::PipeWriter) -> (ClientIo, Session) {
    let (mut session, id, began) = (Session::new(Setup::default()), ClientId(1), Instant::now());
    on(&mut session, began, Input::ClientJoined { client: id, access: Access::Granted, child: None });
    let client = ClientIo::new(id, heard.into(), told.into(), None, &Access::Granted).unwrap();
    let mut say =
        |word: &str| on(&mut session, began, Input::Client { client: id, message: request(word).into() });
    say("initialize");
    (0..2000).for_each(|_| say("x-unknown"));
    say("disconnect");
    assert!(session.is_leaving(id));
    (client, session)
}

#[tokio::test]
async fn one_that_leaves_has_time_for_its_last_words_as_long_as_it_reads_on() {
    let (heard, _says) = std::io::pipe().unwrap();
    let (mut hears, told) = std::io::pipe().unwrap();
    let (mut client, mut session) = leaving(heard, told);
    let (mut until, mut read) = (None, 0);
    for _ in 0..2 {
        let later = |cx: &mut Waker| {
            assert!(client.write(cx, &mut session), "it is not waited for");
            let is_later = client.endpoint.written() > read && client.deadline() > until;
            if is_later { Poll::Ready(client.deadline()) } else { Poll::Pending }
        };
        until = poll_fn(later).await;
        let there = client.endpoint.written() - read;
        assert_eq!(io::copy(&mut (&mut hears).take(there), &mut io::sink()).unwrap(), there);
        read += there;
    }
}

#[tokio::test]
async fn one_that_leaves_and_reads_little_is_not_waited_for_beyond_an_end() {
    let (heard, _says) = std::io::pipe().unwrap();
    let (mut hears, told) = std::io::pipe().unwrap();
    let (mut client, mut session) = leaving(heard, told);
    let first = |cx: &mut Waker| {
        assert!(client.write(cx, &mut session));
        client.leaving.map_or(Poll::Pending, Poll::Ready)
    };
    let first = poll_fn(first).await;
    // All of its time is over but the last moment.
    let end = Instant::now();
    client.leaving = Some(Leaving { end, ..first });
    assert!(first.end > first.by);
    assert_eq!(io::copy(&mut (&mut hears).take(first.read), &mut io::sink()).unwrap(), first.read);
    let more = |cx: &mut Waker| {
        assert!(client.write(cx, &mut session));
        if client.endpoint.written() > first.read { Poll::Ready(()) } else { Poll::Pending }
    };
    poll_fn(more).await;
    assert_eq!(client.deadline(), Some(end));
    client.on_timer(&mut session, Instant::now());
    assert!(matches!(client.state, State::Lost));
}

/// A program that shares the pipe may write for ever, and the session has others.
#[tokio::test]
async fn of_one_that_is_gone_only_what_was_there_is_heard() {
    let (heard, mut says) = std::io::pipe().unwrap();
    let (_hears, told) = std::io::pipe().unwrap();
    let (mut session, id, began) = (Session::new(Setup::default()), ClientId(1), Instant::now());
    on(&mut session, began, Input::ClientJoined { client: id, access: Access::Granted, child: None });
    let mut client = ClientIo::new(id, heard.into(), told.into(), None, &Access::Granted).unwrap();
    let word = request("x-again");
    let word = format!("Content-Length: {}\r\n\r\n{word}", word.len());
    let before = word.repeat(100);
    says.write_all(before.as_bytes()).unwrap();
    client.close_ears();
    assert!(client.ears == Ears::Closed { left: before.len() });
    let cx = &mut Waker::from_waker(std::task::Waker::noop());
    // Each time it takes at least one of them.
    for _ in 0..=100 {
        says.write_all(word.as_bytes()).unwrap();
        client.read(cx, &mut session, began);
    }
    assert!(matches!(client.state, State::Lost), "it is heard for ever");
}
