//! An adapter that debugs several processes over as many connections, each with a script of its own.
//!
//! It never ends by itself, as js-debug does not: whoever started it has to.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::peer::{Peer, without_delay};
use super::{Options, Play, script, surroundings};

pub fn serve(place: &str, options: &Options) -> ExitCode {
    match place.parse() {
        Ok(port) => {
            let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
            let address = listener.local_addr().expect("a listener has an address");
            println!("listening on {address}");
            let streams = listener.incoming().map(|stream| stream.and_then(without_delay));
            play_each(streams, address.port(), options);
        }
        Err(_) => {
            let listener = UnixListener::bind(place).expect("the socket can be bound");
            play_each(listener.incoming().map(|stream| stream.map(OwnedFd::from)), 0, options);
        }
    }
    ExitCode::SUCCESS
}

fn play_each(streams: impl Iterator<Item = std::io::Result<OwnedFd>>, port: u16, options: &Options) {
    for (number, stream) in streams.enumerate() {
        let stream = stream.expect("connections can be accepted");
        let mut peer = Peer::accepted(stream, port, options.numbering);
        if let Some(log) = &options.log {
            peer.log_to(&log_of(log, number), &surroundings());
        }
        let steps = match &options.play {
            Play::Scripts(paths) => paths.get(number).or(paths.last()).map(|path| script::read(path)),
            Play::Bench | Play::Defaults => None,
        };
        std::thread::spawn(move || script::play(&mut peer, steps.unwrap_or_default()));
    }
}

/// The first connection writes to `PATH`, the others to `PATH.1`, `PATH.2`, ...
pub fn log_of(log: &Path, number: usize) -> PathBuf {
    match number {
        0 => log.to_path_buf(),
        _ => PathBuf::from(format!("{}.{number}", log.display())),
    }
}
