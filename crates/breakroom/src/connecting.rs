//! Sessions for front ends of this program that are DAP clients: a new one, or one that others are in.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Result;
use breakroom_client::Request;
use breakroom_debug_client::Connection;
use breakroom_door_dap::{Hub, Session};
use breakroom_engines::{Catalog, Context};
use serde_json::{Value, json};

use crate::local::Local;

/// How long the end of a session is awaited. The EZ IDE takes a process that stays longer for a crash.
const MOMENT: Duration = Duration::from_millis(500);

/// A new session that debugs a program in this working folder.
pub fn open(program: &Path, folder: &Path, hub: Hub, context: &Context) -> Result<Connection> {
    let context = Context { cwd: folder.to_owned(), ..context.clone() };
    let catalog = Catalog::load(&context)?;
    // Asked here already, so that a missing debugger is told before anything is started.
    let (entry, _) = catalog.installed_for_file(program, &context)?;
    let launch = Value::Object(entry.launch_for(program, &[], &context));
    connect(hub, Session::New { engine: Some(entry.name.clone()) }, entry.kind(), Request::Launch, launch)
}

/// A session that others are in. `wanted` is its id or name, which is not needed if there is only one.
pub fn join(wanted: Option<String>) -> Result<Connection> {
    connect(Hub::Daemon, Session::Live { wanted }, "", Request::Join, json!({}))
}

fn connect(hub: Hub, session: Session, adapter: &str, request: Request, launch: Value) -> Result<Connection> {
    let local = Local::connect(hub, session)?;
    Ok(Connection {
        reader: Box::new(local.stream.try_clone()?),
        writer: Box::new(local.stream.try_clone()?),
        adapter: adapter.to_owned(),
        request,
        launch,
        close: Box::new(|| finish_soon(local)),
    })
}

/// Waits for the hub for a moment; why it ended the session, if that was not in order.
fn finish_soon(local: Local) -> Option<String> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(local.finish().err().map(|error| crate::sentence(&error))));
    told.recv_timeout(MOMENT).ok().flatten()
}
