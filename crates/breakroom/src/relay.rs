//! `breakroom relay HOST:PORT`: stdin and stdout of a server that is there already, so that the hub can have it as an engine.
//!
//! No byte is looked at. It ends when either side does. A server on this machine has to be the user's own: any other user
//! could listen there, and would be told all that the session says.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use breakroom_engines::owner_at;

pub fn relay(address: &str) -> Result<ExitCode> {
    let server = TcpStream::connect(address).with_context(|| format!("nothing answers at {address}"))?;
    let (local, peer) = (server.local_addr()?, server.peer_addr()?);
    // From one of the machine's addresses to itself.
    if peer.ip().to_canonical().is_loopback() || local.ip() == peer.ip() {
        // What root forwards, as containers do, is as good as what the system does.
        match owner_at(local, peer) {
            Some(uid) if uid == 0 || uid == rustix::process::getuid().as_raw() => {}
            Some(uid) => bail!("{address} is a process of user {uid}, and not of yours: it is not debugged"),
            None => bail!("it cannot be found out whose process {address} is, so it is not debugged"),
        }
    }
    // Requests are small, and each is waited for.
    let _ = server.set_nodelay(true);
    let mut to_server = server.try_clone()?;
    std::thread::spawn(move || {
        // A server that is gone is noticed by whoever reads from it.
        let _ = pass(&mut std::io::stdin(), &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    let _ = pass(&mut &server, &mut std::io::stdout());
    Ok(ExitCode::SUCCESS)
}

/// Each piece is handed on before the next is waited for.
fn pass(from: &mut impl Read, to: &mut impl Write) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => {
                to.write_all(&buffer[..read])?;
                to.flush()?;
            }
        }
    }
}
