//! Processes that the program starts: each has the debugger in it too, connects, and waits until a client comes for it.
//!
//! The client of the parent is told, and opens a connection for the child. Where nobody can be told, the child goes on
//! without being debugged.

use serde_json::{Value, json};

use super::server::Asked;
use super::session::{Asked as AskedClient, Replaced};
use super::{Adapter, ServerId, SessionId};
use crate::arguments::Arguments;
use crate::message;

/// What of a start's arguments is not for a child.
const PARENTS_OWN: [&str; 9] = [
    "processId",
    "listen",
    "preLaunchTask",
    "postDebugTask",
    "request",
    "restart",
    "args",
    "processName",
    "pythonArgs",
];

impl Adapter {
    /// A process has said who it is.
    pub(super) fn on_process(&mut self, id: ServerId, first: bool) {
        let Some(server) = self.servers.get(&id) else { return };
        let (pid, parent) = (server.pid(), server.parent());
        let of = |pid: Option<i64>| {
            let debugs = |session: &super::Session| pid.is_some() && session.pid == pid;
            self.sessions.iter().find(|(_, session)| debugs(session)).map(|(id, _)| *id)
        };
        match of(parent).or_else(|| of(pid)) {
            Some(session) => {
                let same = self.sessions.get(&session).is_some_and(|session| session.pid == pid);
                self.on_child(session, id, same);
            }
            // The first is the program itself, or what somebody waits for.
            None if first || self.is_awaited(id) => {}
            None => self.let_run(id),
        }
        for session in self.session_ids() {
            self.look_for_server(session);
        }
    }

    fn is_awaited(&self, id: ServerId) -> bool {
        use super::session::{Stage, Step, Wanted};
        let pid = self.servers.get(&id).and_then(super::Server::pid);
        self.sessions.values().any(|session| match &session.stage {
            Stage::Starting(_, Step::Server { wanted: Wanted::Any, .. }) => true,
            Stage::Starting(_, Step::Server { wanted: Wanted::Pid(wanted), .. }) => pid == Some(*wanted),
            _ => false,
        })
    }

    fn on_child(&mut self, parent: SessionId, child: ServerId, same_process: bool) {
        let Some(session) = self.sessions.get_mut(&parent) else { return };
        if same_process {
            let Replaced::Awaited { .. } = session.replaced else {
                // Two debuggers in one process.
                if let Some(server) = self.servers.get_mut(&child) {
                    server.link.close();
                }
                return;
            };
            session.replaced = Replaced::Yes;
        }
        self.tell_of_child(parent, child);
        if same_process {
            self.finalize(parent, None, None);
        }
    }

    /// Those that came before the session was ready for them.
    pub(super) fn tell_of_children(&mut self, id: SessionId) {
        let pid = self.sessions.get(&id).and_then(|session| session.pid);
        let children: Vec<ServerId> = self
            .servers
            .iter()
            .filter(|(_, server)| server.session.is_none() && pid.is_some() && server.parent() == pid)
            .map(|(id, _)| *id)
            .collect();
        for child in children {
            self.tell_of_child(id, child);
        }
    }

    fn tell_of_child(&mut self, id: SessionId, child: ServerId) {
        let own = self.doors.clients.local_addr().ok();
        let Some(pid) = self.servers.get(&child).and_then(super::Server::pid) else { return };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        use super::session::Stage;
        let (Stage::Configuring(start) | Stage::Started(start)) = &session.stage else { return };
        if !session.link.is_read() || start.arguments.contains_key("processId") {
            return self.let_run(child);
        }
        if !session.told_of.insert(child) {
            return;
        }
        let configuration = configuration(&start.arguments, pid, own);
        if session.client.as_ref().is_some_and(|client| client.starts_children) {
            let asked = json!({"request": "attach", "configuration": configuration});
            let seq = session.link.request("startDebugging", message::raw(&asked).as_deref());
            session.asked.insert(seq, AskedClient::StartDebugging(child));
        } else {
            let mut body = configuration;
            body.insert("request".to_owned(), json!("attach"));
            session.say("debugpyAttach", body.into());
        }
    }

    /// The debugger in the process waits to be told that it may go on.
    pub(super) fn let_run(&mut self, id: ServerId) {
        let Some(server) = self.servers.get_mut(&id).filter(|server| server.session.is_none()) else {
            return;
        };
        let hello = message::raw(&json!({"adapterID": "debugpy"}));
        let attach = message::raw(&json!({"subProcessId": server.pid()}));
        server.ask("initialize", hello.as_deref(), Asked::Aside);
        server.ask("attach", attach.as_deref(), Asked::Aside);
        server.ask("configurationDone", None, Asked::Aside);
        server.ask("disconnect", None, Asked::Aside);
    }
}

/// What the client attaches to the child with.
fn configuration(arguments: &Arguments, pid: i64, own: Option<std::net::SocketAddr>) -> Arguments {
    let mut child = arguments.clone();
    for key in PARENTS_OWN {
        child.remove(key);
    }
    child.insert("name".to_owned(), json!(format!("Subprocess {pid}")));
    child.insert("subProcessId".to_owned(), json!(pid));
    let (host, port) = (child.remove("host"), child.remove("port"));
    let connect = child.entry("connect").or_insert_with(|| json!({}));
    if let Value::Object(connect) = connect {
        let own_host = own.map_or_else(|| "127.0.0.1".to_owned(), |own| own.ip().to_string());
        connect.entry("host").or_insert_with(|| host.unwrap_or_else(|| json!(own_host)));
        connect.entry("port").or_insert_with(|| port.unwrap_or_else(|| json!(own.map(|own| own.port()))));
    }
    child
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_reached_through_our_own_port_unless_the_client_knows_another() {
        let own = "127.0.0.1:99".parse().ok();
        let arguments = json!({"program": "a", "args": ["x"], "justMyCode": false, "request": "launch"});
        let child = configuration(arguments.as_object().unwrap(), 7, own);
        let expected = json!({
            "program": "a", "justMyCode": false, "name": "Subprocess 7", "subProcessId": 7,
            "connect": {"host": "127.0.0.1", "port": 99},
        });
        assert_eq!(Value::Object(child), expected);
        let arguments = json!({"host": "h", "port": 5});
        let child = configuration(arguments.as_object().unwrap(), 7, own);
        assert_eq!(child["connect"], json!({"host": "h", "port": 5}));
    }
}
