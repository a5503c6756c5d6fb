//! Other users and web pages of this machine: without the token they get nothing and cost little.

use std::time::Instant;

use breakroom_ide_protocol::INSTANCE_ID;
use hyper::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;

use crate::peer::{Call, INSTANCE, Socket, VERSION, connect, tls};
use crate::server::Server;

const PYTHON: &str = r#"{"launch_configurations": [{"type": "python"}]}"#;

#[tokio::test]
async fn tokens_that_are_guessed_are_all_refused_and_the_right_one_is_served_after_them() {
    let mut server = Server::start(&["python"]);
    let mut connection = connect(&server).await;
    let right = server.token.clone();
    let shortened = right[..right.len() - 1].to_owned();
    let guesses = (0..500).map(|number| format!("{number:043}")).chain([
        shortened,
        format!("{right}x"),
        right.to_uppercase(),
    ]);
    for guess in guesses {
        let call = Call::put(&server, PYTHON).with("authorization", &format!("Bearer {guess}"));
        assert_eq!(call.send_on(&mut connection).await.error(), (401, "InvalidToken".to_owned()));
    }
    assert!(server.started_none());
    Call::put(&server, PYTHON).send(&server).await.run();
}

#[tokio::test]
async fn wrong_host_and_foreign_origin_are_refused_even_with_the_token() {
    let mut server = Server::start(&["python"]);
    let put = Call::put(&server, PYTHON);
    let port = server.port;
    for host in
        ["example.org", "localhost.example.org", "example.org:80", "0.0.0.0", "", "localhost@example.org"]
    {
        let reply = put.clone().with("host", host).send(&server).await;
        assert_eq!(reply.error(), (403, "InvalidHost".to_owned()), "{host}");
    }
    assert_eq!(put.clone().without("host").send(&server).await.error().0, 403);
    for origin in
        ["https://example.org", "null", "", "https://localhost:1", &format!("http://localhost:{port}")]
    {
        let reply = put.clone().with("origin", origin).send(&server).await;
        assert_eq!(reply.error(), (403, "InvalidOrigin".to_owned()), "{origin}");
    }
    assert!(server.started_none());
    for (header, value) in [
        ("host", format!("127.0.0.1:{port}")),
        ("host", "LOCALHOST".to_owned()),
        ("origin", format!("https://localhost:{port}")),
    ] {
        assert_eq!(
            put.clone().with(header, &value).send(&server).await.status,
            StatusCode::CREATED,
            "{value}"
        );
    }
}

#[tokio::test]
async fn websocket_of_a_web_page_or_without_the_token_is_refused() {
    let server = Server::start(&[]);
    let id = (INSTANCE_ID, INSTANCE);
    for (headers, status) in [
        (vec![id, ("origin", "https://example.org")], 403),
        (vec![id, ("host", "example.org")], 403),
        (vec![id, ("authorization", "Bearer x")], 401),
        (vec![], 400),
    ] {
        let Err(error) = Socket::try_open(&server, &headers).await else { panic!("{headers:?} was served") };
        let Error::Http(response) = *error else { panic!("{error}") };
        assert_eq!(response.status().as_u16(), status, "{headers:?}");
    }
}

#[tokio::test]
async fn oversized_body_is_refused_before_it_is_sent() {
    let mut server = Server::start(&["python"]);
    let head = |length: &str| {
        format!(
            "PUT /run_session?{VERSION} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{INSTANCE_ID}: {INSTANCE}\r\n{length}\r\n\r\n",
            server.token
        )
    };
    for (head, body) in [
        (head(&format!("Content-Length: {}", (1 << 20) + 1)), Vec::new()),
        (head("Content-Length: 1099511627776"), Vec::new()),
        (head("Transfer-Encoding: chunked"), [b"100001\r\n".to_vec(), vec![b' '; (1 << 20) + 1]].concat()),
    ] {
        let mut stream = tls(&server).await;
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server may close before it has everything.
        let _ = stream.write_all(&body).await;
        let mut answer = vec![0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 413");
    }
    let fitting = format!("{PYTHON}{}", " ".repeat((1 << 20) - PYTHON.len()));
    assert!(server.started_none());
    Call::put(&server, &fitting).send(&server).await.run();
}

#[tokio::test]
async fn silent_and_slow_connections_are_closed_and_keep_nobody_out() {
    let server = Server::start(&[]);
    let began = Instant::now();
    // One that says nothing, one that stops in the TLS handshake, and one that stops in its first request.
    let silent = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    let mut slow = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    slow.write_all(&[0x16, 3, 1]).await.unwrap();
    let mut first = tls(&server).await;
    first.write_all(b"GET /info HTTP/1.1\r\nHost: localhost\r\n").await.unwrap();
    // A connection that has shown the token may be silent.
    let mut known = connect(&server).await;
    Call::new(&server, "GET", "/info").send_on(&mut known).await;
    for mut stream in [silent, slow] {
        assert!(matches!(stream.read(&mut [0; 1]).await, Ok(0) | Err(_)));
    }
    assert!(matches!(first.read(&mut [0; 1]).await, Ok(0) | Err(_)));
    assert!(began.elapsed() >= breakroom_admission::PATIENCE);
    let reply = Call::new(&server, "GET", "/info").send_on(&mut known).await;
    assert_eq!(reply.status, StatusCode::OK);
}

#[tokio::test]
async fn crowd_without_the_token_makes_room_for_itself_and_keeps_nobody_out() {
    let server = Server::start(&[]);
    let mut crowd = Vec::new();
    for _ in 0..breakroom_admission::MOST * 2 {
        crowd.push(TcpStream::connect(("127.0.0.1", server.port)).await.unwrap());
    }
    let reply = Call::new(&server, "GET", "/info").send(&server).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert!(matches!(crowd[0].read(&mut [0; 1]).await, Ok(0) | Err(_)));
}
