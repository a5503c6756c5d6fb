//! HTTP: what is answered to which request, and what the runner is given.

use std::time::Duration;

use breakroom_ide_protocol::{
    Change, INFO, INSTANCE_ID_PREFIX, MessageLevel, PORT, RUN_MODE, RUN_SESSION_PATH,
};
use hyper::StatusCode;

use crate::peer::{Call, Reply, Socket, VERSION, connect, tls_as};
use crate::server::{Held, Server};

const PYTHON: &str = r#"{"launch_configurations": [{"type": "python", "program_path": "/a.py"}]}"#;
const BRIDGED: &str = r#"{"launch_configurations": [{"type": "python"}], "debug_bridge_socket_path": "/s", "debug_session_id": "d"}"#;

async fn info(server: &Server) -> Reply {
    Call::new(server, "GET", "/info").send(server).await
}

#[tokio::test]
async fn row12_row16_row17_info_has_the_four_versions_and_the_types_that_can_be_served() {
    for types in [&["python", "node"][..], &[]] {
        let server = Server::start(types);
        let reply = info(&server).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.headers["content-type"], "application/json");
        let types = serde_json::to_string(types).unwrap();
        let expected = format!(
            r#"{{"protocols_supported":["2024-03-03","2024-04-23","2025-10-01","2026-02-01"],"supported_launch_configurations":{types}}}"#
        );
        assert_eq!(reply.body, expected);
    }
}

#[tokio::test]
async fn r1_certificate_is_the_only_root_for_localhost_and_the_loopback_address() {
    let server = Server::start(&[]);
    assert_eq!(server.variable(PORT), format!("localhost:{}", server.port));
    tls_as(&server, "localhost").await.unwrap();
    tls_as(&server, "127.0.0.1").await.unwrap();
    tls_as(&server, "example.org").await.unwrap_err();
    let other = Server::start(&[]);
    assert_ne!(other.certificate, server.certificate);
    assert_ne!(other.token, server.token);
}

#[tokio::test]
async fn r2_environment_has_the_text_of_info_the_mode_and_a_prefix() {
    let server = Server::start(&["python"]);
    assert_eq!(server.variable(INFO), info(&server).await.body);
    assert_eq!(server.variable(RUN_MODE), "Debug");
    assert!(server.variable(INSTANCE_ID_PREFIX).ends_with('-'));
    assert_eq!(server.environment.len(), 6);
}

#[tokio::test]
async fn r3_request_that_lacks_something_is_refused_with_its_status_and_code() {
    let mut server = Server::start(&["python"]);
    let put = |body: &str| Call::put(&server, body);
    let valid = put(PYTHON);
    let at = |query: &str| valid.clone().path(&format!("/run_session?{query}"));
    let get = |path: &str| Call::new(&server, "GET", path);
    let delete = Call::delete(&server, "run-1");
    for (call, status, code) in [
        (valid.clone().without("authorization"), 401, "MissingHeaders"),
        (valid.clone().with("authorization", "Basic YTpi"), 401, "InvalidAuthHeader"),
        (valid.clone().with("authorization", "Bearer x"), 401, "InvalidToken"),
        (get("/info").without("authorization"), 401, "MissingHeaders"),
        (get("/nowhere").without("authorization"), 401, "MissingHeaders"),
        (valid.clone().without("microsoft-developer-dcp-instance-id"), 400, "MissingHeaders"),
        (valid.clone().with("microsoft-developer-dcp-instance-id", " "), 400, "MissingHeaders"),
        (valid.clone().with("microsoft-developer-dcp-instance-id", &"x".repeat(257)), 400, "InvalidHeaders"),
        (delete.clone().without("microsoft-developer-dcp-instance-id"), 400, "MissingHeaders"),
        (at(""), 400, "MissingApiVersion"),
        (at("version=2026-02-01"), 400, "MissingApiVersion"),
        (delete.clone().path("/run_session/run-1"), 400, "MissingApiVersion"),
        (at("api-version=2023-01-01"), 400, "UnsupportedApiVersion"),
        (at("api-version=latest"), 400, "UnsupportedApiVersion"),
        (put(""), 400, "InvalidRequest"),
        (put("[]"), 400, "InvalidRequest"),
        (put("{"), 400, "InvalidRequest"),
        (put("{}"), 400, "InvalidRequest"),
        (put(r#"{"launch_configurations": {}}"#), 400, "InvalidRequest"),
        (
            put(r#"{"launch_configurations": [{"type": "python"}], "env": [{"value": "x"}]}"#),
            400,
            "InvalidRequest",
        ),
        (put(r#"{"launch_configurations": [{}]}"#), 400, "UnsupportedLaunchConfiguration"),
        (put(r#"{"launch_configurations": [{"type": "cobol"}]}"#), 400, "UnsupportedLaunchConfiguration"),
        (get("/"), 404, "NotFound"),
        (get("/run_session/a/b"), 404, "NotFound"),
        (put(PYTHON).path(&format!("/run_session/?{VERSION}")), 404, "NotFound"),
        (get(&format!("/run_session?{VERSION}")), 405, "MethodNotAllowed"),
        (Call::new(&server, "POST", "/info"), 405, "MethodNotAllowed"),
        (Call::new(&server, "POST", &format!("/run_session/run-1?{VERSION}")), 405, "MethodNotAllowed"),
        (get(&format!("/run_session/notify?{VERSION}")), 400, "NotAWebSocket"),
    ] {
        let reply = call.send(&server).await;
        assert_eq!(reply.error(), (status, code.to_owned()), "{reply:?}");
        let names_scheme = reply.headers.get("www-authenticate").is_some();
        assert!(names_scheme == (status == 401) && !reply.body.contains(&server.token), "{reply:?}");
    }
    assert!(server.started_none());
}

#[tokio::test]
async fn r4_info_needs_the_token_but_neither_version_nor_instance() {
    let server = Server::start(&[]);
    let call = Call::new(&server, "GET", "/info").without("microsoft-developer-dcp-instance-id");
    assert_eq!(call.clone().send(&server).await.status, StatusCode::OK);
    assert_eq!(call.with("authorization", "Bearer ").send(&server).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn row14_bridge_fields_are_taken_together_and_refused_alone() {
    let mut server = Server::start(&["python"]);
    let run = Call::put(&server, BRIDGED).send(&server).await.run();
    let started = server.next_started().await;
    let bridge = started.request.bridge().unwrap().unwrap();
    assert_eq!((started.id.0, &*bridge.socket, &*bridge.session_id), (run, "/s", "d"));
    Call::put(&server, PYTHON).send(&server).await.run();
    assert_eq!(server.next_started().await.request.bridge(), Ok(None));
    for member in [r#""debug_bridge_socket_path": "/s""#, r#""debug_session_id": "d""#] {
        let body = format!(r#"{{"launch_configurations": [{{"type": "python"}}], {member}}}"#);
        let reply = Call::put(&server, &body).send(&server).await;
        assert_eq!(reply.error(), (400, "InvalidRequest".to_owned()), "{body}");
        // An older version does not know the member.
        let reply = Call::put(&server, &body).path("/run_session?api-version=2025-10-01").send(&server).await;
        assert_eq!(reply.status, StatusCode::CREATED);
        assert_eq!(server.next_started().await.request.bridge(), Ok(None));
    }
    assert!(server.started_none());
}

#[tokio::test]
async fn row43_unknown_members_are_tolerated() {
    let mut server = Server::start(&["python"]);
    let body = r#"{"launch_configurations": [{"type": "python", "new": {"a": [1]}}, {"type": "other"}], "later": null, "x": {}}"#;
    Call::put(&server, body).send(&server).await.run();
    let started = server.next_started().await;
    assert_eq!(started.request.configuration().unwrap().0["new"]["a"][0], 1);
}

#[tokio::test]
async fn row96_every_version_is_served_and_only_the_newest_has_the_bridge() {
    let mut server = Server::start(&["python"]);
    let versions = ["2024-03-03", "2024-04-23", "2025-10-01", "2026-02-01", "2031-01-01"];
    for version in versions {
        let path = format!("/run_session?x=1&api-version={version}");
        Call::put(&server, BRIDGED).path(&path).send(&server).await.run();
        let bridge = server.next_started().await.request.bridge().unwrap();
        assert_eq!(bridge.is_some(), version >= "2026-02-01", "{version}");
    }
}

#[tokio::test]
async fn r8_variable_without_a_value_is_empty_and_arguments_may_be_absent() {
    let mut server = Server::start(&["python"]);
    let body = r#"{"launch_configurations": [{"type": "python"}], "env": [{"name": "A"}, {"name": "B", "value": "1"}]"#;
    Call::put(&server, &format!("{body}}}")).send(&server).await.run();
    let request = server.next_started().await.request;
    let env: Vec<_> = request.env.iter().flatten().map(|one| (&*one.name, &*one.value)).collect();
    assert_eq!((env, request.args), (vec![("A", ""), ("B", "1")], None));
    Call::put(&server, &format!(r#"{body}, "args": ["x"]}}"#)).send(&server).await.run();
    assert_eq!(server.next_started().await.request.args.unwrap(), ["x"]);
}

#[tokio::test]
async fn created_run_session_is_named_by_its_location_and_started_once() {
    let mut server = Server::start(&["python"]);
    let reply = Call::put(&server, PYTHON).send(&server).await;
    let run = reply.run();
    assert_eq!(reply.location(), format!("https://localhost:{}{RUN_SESSION_PATH}/{run}", server.port));
    let number = run.strip_prefix("run-").unwrap();
    assert!(number.len() == 16 && number.bytes().all(|digit| digit.is_ascii_hexdigit()), "{run}");
    assert!(reply.body.is_empty());
    assert_eq!(server.next_started().await.id.0, run);
    assert!(server.started_none());
}

#[tokio::test]
async fn row32_run_session_is_answered_before_it_is_started() {
    let (mut server, hold) = Server::start_held(&["python"], Held::InStart);
    // The thread of the server waits in the runner, so that it sends nothing more.
    let answer = Call::put(&server, PYTHON).send(&server);
    let answer = tokio::time::timeout(Duration::from_secs(60), answer).await;
    let run = answer.expect("the answer comes first").run();
    drop(hold);
    assert_eq!(server.next_started().await.id.0, run);
}

#[tokio::test]
async fn run_session_that_is_planned_when_the_server_ends_is_not_started() {
    let (mut server, mut hold) = Server::start_held(&["python"], Held::InPlan);
    let mut socket = Socket::open(&server).await;
    let mut connection = connect(&server).await;
    let put = Call::put(&server, PYTHON);
    let answer = tokio::spawn(async move { put.send_on(&mut connection).await.error() });
    hold.waits.recv().await.unwrap();
    server.tell_to_end();
    assert_eq!(u16::from(socket.closed().await.code), 1001);
    drop(hold);
    // The server may not have waited for it.
    if let Ok(error) = answer.await {
        assert_eq!(error, (503, "Ending".to_owned()));
    }
    server.join();
    assert!(server.started_none());
}

#[tokio::test]
async fn r7_delete_stops_once_and_may_be_repeated() {
    let mut server = Server::start(&["python"]);
    let mut socket = Socket::open(&server).await;
    let mut connection = connect(&server).await;
    let delete = |run: &str| Call::delete(&server, run);
    let unknown = delete("run-0123456789abcdef").send(&server).await;
    assert_eq!((unknown.status, unknown.body.as_str()), (StatusCode::NO_CONTENT, ""));
    let (put, calls) = (Call::put(&server, PYTHON), |run: &str| delete(run));
    let run = put.send_on(&mut connection).await.run();
    let (first, second) = (calls(&run), calls(&run));
    assert_eq!(first.send_on(&mut connection).await.status, StatusCode::OK);
    let again = second.send_on(&mut connection).await.status;
    assert!([StatusCode::OK, StatusCode::NO_CONTENT].contains(&again));
    let ended = socket.next().await;
    assert_eq!((ended.session_id, ended.change), (run, Change::terminated(None)));
    socket.expect_silence().await;
    let mut started = server.next_started().await;
    assert!(started.stops.recv().await.is_some() && started.stops.try_recv().is_err());
}

#[tokio::test]
async fn ended_server_stops_its_runs_and_sends_their_ends_before_it_closes() {
    let mut server = Server::start(&["python"]);
    let mut socket = Socket::open(&server).await;
    let mut runs: Vec<_> = Vec::new();
    for _ in 0..50 {
        runs.push(Call::put(&server, PYTHON).send(&server).await.run());
    }
    let message = Change::SessionMessage {
        level: MessageLevel::Info,
        message: "x".repeat(1 << 16),
        code: None,
        details: Vec::new(),
    };
    for _ in &runs {
        server.next_started().await.notify.send(message.clone());
    }
    server.tell_to_end();
    let mut ended = Vec::new();
    while ended.len() < runs.len() {
        let next = socket.next().await;
        if matches!(next.change, Change::SessionTerminated { .. }) {
            ended.push(next.session_id);
        }
    }
    assert_eq!(u16::from(socket.closed().await.code), 1001);
    runs.sort();
    ended.sort();
    assert_eq!(ended, runs);
}
