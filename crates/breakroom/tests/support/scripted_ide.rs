//! An IDE that answers as a test tells it, over real TLS and a real WebSocket, and a running `breakroom bridge run`.
//!
//! It runs and debugs nothing. What it answers and what it is asked is the tests' business.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests, and no test file uses them all"
)]

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, put};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use breakroom_testkit::wait;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::bridging::TOKEN;
use super::rig::{LONG, Rig, signal};

/// How the ids of the orchestrator begin.
pub const PREFIX: &str = "test-run-";

/// What the IDE answers.
#[derive(Clone)]
pub struct Script {
    pub info: (u16, String),
    /// Status and body of the answer to the WebSocket's request, if it is refused.
    pub refuse_notify: Option<(u16, &'static str)>,
    /// Status, header Location and body.
    pub put: (u16, Option<&'static str>, String),
    /// Whether the answer to PUT waits for [`ScriptedIde::release_put`].
    pub holds_put: bool,
    /// What is sent over the WebSocket before PUT and DELETE are answered.
    pub before_put: Vec<Value>,
    pub before_delete: Vec<Value>,
    pub delete: u16,
    pub has_tls: bool,
}

impl Default for Script {
    fn default() -> Script {
        Script {
            info: info(&["2024-03-03", "2024-04-23", "2025-10-01", "2026-02-01"]),
            refuse_notify: None,
            put: (201, Some("https://localhost/run_session/run-1"), String::new()),
            holds_put: false,
            before_put: Vec::new(),
            before_delete: Vec::new(),
            delete: 200,
            has_tls: true,
        }
    }
}

pub fn info(protocols: &[&str]) -> (u16, String) {
    let text = json!({"protocols_supported": protocols, "supported_launch_configurations": ["python"]});
    (200, text.to_string())
}

/// A request or frame of the orchestrator.
#[derive(Debug)]
pub struct Call {
    /// `info`, `notify`, `put`, `delete`, or a frame of the WebSocket: `ping`, `pong`, `close`, `lost`.
    pub name: &'static str,
    pub version: Option<String>,
    pub instance: String,
    pub content_type: Option<String>,
    /// The body of PUT, or the id of DELETE.
    pub body: Value,
}

/// What the IDE does with its WebSocket.
pub enum Order {
    Send(Message),
    /// Neither reads nor writes any more.
    Stall,
    /// Closes the connection without closing the WebSocket.
    Drop,
}

struct Shared {
    script: Script,
    calls: Mutex<Sender<Call>>,
    socket: Mutex<Option<UnboundedSender<Order>>>,
    put: tokio::sync::Semaphore,
}

pub struct ScriptedIde {
    pub port: u16,
    /// As `DEBUG_SESSION_SERVER_CERTIFICATE` holds it.
    pub certificate: String,
    shared: Arc<Shared>,
    calls: Receiver<Call>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ScriptedIde {
    pub fn start(change: impl FnOnce(&mut Script)) -> ScriptedIde {
        let mut script = Script::default();
        change(&mut script);
        let (sender, calls) = channel();
        let has_tls = script.has_tls;
        let shared = Arc::new(Shared {
            script,
            calls: Mutex::new(sender),
            socket: Mutex::new(None),
            put: tokio::sync::Semaphore::new(0),
        });
        let (certificate, tls) = tls();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let tcp = runtime.block_on(TcpListener::bind("localhost:0")).unwrap();
        let port = tcp.local_addr().unwrap().port();
        let routes = Router::new()
            .route("/info", get(answer_info))
            .route("/run_session/notify", get(answer_notify))
            .route("/run_session", put(answer_put))
            .route("/run_session/{id}", delete(answer_delete))
            .with_state(shared.clone());
        let listener = Listener { tcp, tls: has_tls.then_some(tls) };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = async { axum::serve(listener, routes).await } => {}
                    _ = stopped => {}
                }
            });
        });
        ScriptedIde { port, certificate, shared, calls, stop: Some(stop), thread: Some(thread) }
    }

    /// Ends the IDE and all of its connections.
    pub fn stop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the IDE ends");
        }
    }

    /// The next call, which must have this name. Pings of the orchestrator may come at any time.
    pub fn call(&self, name: &str) -> Call {
        loop {
            let call = self.calls.recv_timeout(LONG).unwrap_or_else(|_| panic!("no call {name} came"));
            if call.name == "ping" && name != "ping" {
                continue;
            }
            assert_eq!(call.name, name, "{call:?}");
            return call;
        }
    }

    /// The calls up to a run session that runs. Gives that of PUT.
    pub fn started(&self) -> Call {
        self.call("info");
        self.call("notify");
        self.call("put")
    }

    pub fn notify(&self, notification: &Value) {
        // One object a frame, with a newline, as the protocol says.
        self.order(Order::Send(Message::Text(format!("{notification}\n").into())));
    }

    pub fn order(&self, order: Order) {
        let socket = self.shared.socket.lock().unwrap();
        socket.as_ref().expect("a WebSocket is open").send(order).expect("the WebSocket is served");
    }

    pub fn release_put(&self) {
        self.shared.put.add_permits(1);
    }

    /// `breakroom bridge run` with this IDE and this body of PUT.
    pub fn run(&self, rig: &Rig, body: &Value) -> Running {
        self.run_with(rig, body, |_| {})
    }

    pub fn run_with(&self, rig: &Rig, body: &Value, change: impl FnOnce(&mut Command)) -> Running {
        let file = rig.sandbox.work().join("run.json");
        std::fs::write(&file, body.to_string()).unwrap();
        let mut command = self.command(rig, [PathBuf::from("bridge"), "run".into(), file]);
        change(&mut command);
        Running::start(command)
    }

    pub fn command(&self, rig: &Rig, arguments: impl IntoIterator<Item = PathBuf>) -> Command {
        let mut command = rig.sandbox.command(arguments);
        command.env("DEBUG_SESSION_PORT", format!("localhost:{}", self.port));
        command.env("DEBUG_SESSION_TOKEN", TOKEN);
        command.env("DCP_INSTANCE_ID_PREFIX", PREFIX);
        if self.shared.script.has_tls {
            command.env("DEBUG_SESSION_SERVER_CERTIFICATE", &self.certificate);
        }
        command
    }
}

impl Drop for ScriptedIde {
    fn drop(&mut self) {
        self.stop();
    }
}

fn tls() -> (String, TlsAcceptor) {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = issued.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(issued.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    (STANDARD.encode(certificate), TlsAcceptor::from(Arc::new(config)))
}

struct Listener {
    tcp: TcpListener,
    tls: Option<TlsAcceptor>,
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Io for S {}

impl axum::serve::Listener for Listener {
    type Io = Box<dyn Io>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Box<dyn Io>, SocketAddr) {
        loop {
            let (stream, address): (TcpStream, SocketAddr) = self.tcp.accept().await.unwrap();
            let Some(tls) = &self.tls else { return (Box::new(stream), address) };
            // A client that does not trust the certificate ends the handshake.
            if let Ok(stream) = tls.accept(stream).await {
                return (Box::new(stream), address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

type Parameters = Query<std::collections::HashMap<String, String>>;

impl Shared {
    fn call(&self, call: Call) {
        // A test that has seen enough receives no more.
        let _ = self.calls.lock().unwrap().send(call);
    }

    fn frame(&self, name: &'static str) {
        let (version, instance, content_type) = (None, String::new(), None);
        self.call(Call { name, version, instance, content_type, body: Value::Null });
    }

    fn request(&self, name: &'static str, headers: &HeaderMap, parameters: &Parameters, body: Value) {
        let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(header("authorization"), Some(format!("Bearer {TOKEN}")));
        let instance =
            header("Microsoft-Developer-DCP-Instance-ID").expect("each request names its instance");
        let (version, content_type) = (parameters.get("api-version").cloned(), header("content-type"));
        self.call(Call { name, version, instance, content_type, body });
    }

    fn notify(&self, notifications: &[Value]) {
        let socket = self.socket.lock().unwrap();
        for notification in notifications {
            let frame = Message::Text(format!("{notification}\n").into());
            socket.as_ref().expect("a WebSocket is open").send(Order::Send(frame)).ok().unwrap();
        }
    }
}

async fn answer_info(State(ide): State<Arc<Shared>>, parameters: Parameters, headers: HeaderMap) -> Response {
    ide.request("info", &headers, &parameters, Value::Null);
    let (status, body) = ide.script.info.clone();
    (StatusCode::from_u16(status).unwrap(), body).into_response()
}

async fn answer_put(
    State(ide): State<Arc<Shared>>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    ide.request("put", &headers, &parameters, serde_json::from_slice(&body).expect("the body is JSON"));
    if ide.script.holds_put {
        ide.put.acquire().await.unwrap().forget();
    }
    ide.notify(&ide.script.before_put);
    let (status, location, body) = ide.script.put.clone();
    let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
    response.headers_mut().extend(location.map(|location| (LOCATION, HeaderValue::from_static(location))));
    response
}

async fn answer_delete(
    State(ide): State<Arc<Shared>>,
    Path(id): Path<String>,
    parameters: Parameters,
    headers: HeaderMap,
) -> StatusCode {
    ide.request("delete", &headers, &parameters, json!(id));
    ide.notify(&ide.script.before_delete);
    StatusCode::from_u16(ide.script.delete).unwrap()
}

async fn answer_notify(
    State(ide): State<Arc<Shared>>,
    parameters: Parameters,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if let Some((status, body)) = ide.script.refuse_notify {
        ide.request("notify", &headers, &parameters, Value::Null);
        return (StatusCode::from_u16(status).unwrap(), body).into_response();
    }
    upgrade.on_upgrade(async move |socket| {
        let (orders, received) = unbounded_channel();
        *ide.socket.lock().unwrap() = Some(orders);
        ide.request("notify", &headers, &parameters, Value::Null);
        serve(&ide, socket, received).await;
    })
}

async fn serve(ide: &Shared, mut socket: WebSocket, mut orders: tokio::sync::mpsc::UnboundedReceiver<Order>) {
    loop {
        tokio::select! {
            order = orders.recv() => match order {
                // An orchestrator that is gone is noticed below.
                Some(Order::Send(message)) => drop(socket.send(message).await),
                Some(Order::Stall) => std::future::pending().await,
                Some(Order::Drop) | None => return,
            },
            frame = socket.recv() => match frame {
                Some(Ok(Message::Ping(_))) => ide.frame("ping"),
                Some(Ok(Message::Pong(_))) => ide.frame("pong"),
                Some(Ok(Message::Close(_))) => ide.frame("close"),
                Some(Ok(frame)) => panic!("the orchestrator sends nothing but control frames: {frame:?}"),
                Some(Err(_)) => return ide.frame("lost"),
                None => return,
            },
        }
    }
}

/// A `breakroom bridge run`.
pub struct Running {
    process: Child,
    lines: Receiver<Value>,
    stderr: Option<JoinHandle<String>>,
}

impl Running {
    pub fn start(mut command: Command) -> Running {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = process.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut stderr = process.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        Running { process, lines, stderr: Some(stderr) }
    }

    /// The next line on stdout.
    pub fn line(&self) -> Value {
        self.lines.recv_timeout(LONG).expect("another notification is printed")
    }

    pub fn signal(&self, kind: Signal) {
        signal(self.process.id().cast_signed(), kind);
    }

    pub fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    /// Waits for its end. Gives the status, what is left on stdout, and stderr.
    pub fn finish(mut self) -> (ExitStatus, Vec<Value>, String) {
        let status = wait::for_exit(&mut self.process, LONG).expect("`bridge run` ends");
        let stderr = self.stderr.take().unwrap().join().unwrap();
        (status, self.lines.iter().collect(), stderr)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
