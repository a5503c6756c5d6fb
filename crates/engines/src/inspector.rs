//! The door for debuggers that a running program opens when it is told to by a signal (Node.js: its inspector).
//!
//! A program that would die of the signal is not sent it. What is spoken behind the door is none of this file's business.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use breakroom_ports as ports;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::time::Instant;

use self::closer::Closer;
use self::doors::{Doors, Ports, USUAL_PORT};

pub(crate) mod closer;
mod doors;

/// How long a program that is told to may take to listen. One that computes looks at its signals between two instructions
/// of its own, but on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a program that can be told to open its inspector may take to say that it is open.
const SOON: Duration = Duration::from_millis(500);

/// Where a process lets debuggers in.
#[derive(Debug)]
pub struct OpenInspector {
    pub address: SocketAddr,
    /// Of one that may have been opened by us, now or at an earlier try. One that was open stays so.
    pub closer: Option<Closer>,
}

/// Where this process lets debuggers in, opened if it is not open yet. Only one that executes one of these programs is told
/// to: to any other the signal means something else. `ourselves` is what closes it again. The error is a sentence for people.
pub async fn open_inspector(
    pid: u32,
    programs: &[String],
    ourselves: &Path,
) -> Result<OpenInspector, String> {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| format!("{pid} is no number of a process."))?;
    let unseen = |error: io::Error| format!("process {pid} cannot be looked at: {error}.");
    // All that is found out below is about this process, and no other that gets its number meanwhile is told anything.
    let pinned = pidfd_open(process, PidfdFlags::empty()).map_err(|error| unseen(error.into()))?;
    if !is_in_our_network(pid).map_err(unseen)? {
        return Err(format!(
            "process {pid} is in a network of its own, as in a container: its ports cannot be reached from here. Start it with --inspect and a port that is reachable, and attach to that."
        ));
    }
    // Before anything is found: one that waits for the door of an earlier try would close it under this one.
    let closer = Closer::of(pid).await;
    let before = listening(pid).map_err(unseen)?;
    let ports = Ports::of(pid);
    let (known, others): (HashSet<_>, HashSet<_>) = before.iter().partition(|door| ports.has(door));
    let mut doors = Doors::default();
    doors.ask(known);
    let tellable = can_be_told(pid, programs, unseen);
    // One that is open and hears the signal does nothing, so who can be told is not waited for long.
    let patience = if tellable.is_ok() { SOON } else { PATIENCE };
    if let Some(address) = doors.inspector(Instant::now() + patience).await {
        return told(closer, pid, address);
    }
    tellable?;
    // What has closed meanwhile was not there before.
    let before = listening(pid).map_err(unseen)?.intersection(&before).copied().collect();
    // The closer is there before the door can be open: from then on we may be killed, or have given up.
    let started = closer.map_or_else(|| Closer::start(ourselves, pid, &before), Ok);
    let closer =
        started.map_err(|error| format!("nobody would close the door of process {pid} again: {error}."))?;
    pidfd_send_signal(&pinned, Signal::USR1)
        .map_err(|error| format!("process {pid} cannot be told to let a debugger in: {error}."))?;
    let opened = doors.opened(pid, &others, Instant::now() + PATIENCE).await;
    let address = opened.map_err(|error| format!("process {pid} is gone: {error}."))?.ok_or_else(|| {
        format!(
            "process {pid} was told to let a debugger in and did not: it may still be busy, or another one may listen at 127.0.0.1:{USUAL_PORT}. Try again, or start it with --inspect=0 to let it find a port of its own."
        )
    })?;
    told(Some(closer), pid, address)
}

/// The closer knows which were open before, and leaves them.
fn told(mut closer: Option<Closer>, pid: u32, address: SocketAddr) -> Result<OpenInspector, String> {
    let heard = closer.as_mut().map_or(Ok(()), |closer| closer.is_open_at(address));
    heard.map_err(|error| format!("the door of process {pid} is closed again: {error}."))?;
    Ok(OpenInspector { address, closer })
}

/// Whether the process may be sent the signal.
fn can_be_told(pid: u32, programs: &[String], unseen: impl Fn(io::Error) -> String) -> Result<(), String> {
    let executable = executable_of(pid).map_err(unseen)?;
    if !programs.contains(&executable) {
        let programs = programs.join(" or ");
        return Err(format!(
            "process {pid} lets no debugger in: it executes `{executable}`, and only {programs} can be told to."
        ));
    }
    if !catches(pid, Signal::USR1) {
        return Err(format!(
            "process {pid} lets no debugger in: it would end if it were told to. Start it with --inspect, or debug it from its start."
        ));
    }
    Ok(())
}

/// The name of what a process executes, without the version behind it.
pub fn executable_of(pid: u32) -> io::Result<String> {
    let executable = std::fs::read_link(format!("/proc/{pid}/exe"))?;
    let name = executable.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // So the kernel writes it when the file was replaced meanwhile, as an update of the system does.
    let name = name.strip_suffix(" (deleted)").unwrap_or(&name);
    Ok(name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.').to_owned())
}

/// Whether an address means the same place to the process as it does here.
fn is_in_our_network(pid: u32) -> io::Result<bool> {
    let network = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net"));
    Ok(network("self")? == network(&pid.to_string())?)
}

/// Whether the process has a handler of its own for the signal, and does not end by it.
fn catches(pid: u32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    caught & (1 << (signal.as_raw() - 1)) != 0
}

/// Where the process listens.
pub fn listening(pid: u32) -> io::Result<HashSet<SocketAddr>> {
    listening_in(&format!("/proc/{pid}"))
}

/// Where the process listens, of the places at which it opens its inspector.
pub fn inspector_doors(pid: u32) -> io::Result<HashSet<SocketAddr>> {
    let ports = Ports::of(pid);
    Ok(listening(pid)?.into_iter().filter(|door| ports.has(door)).collect())
}

/// Nothing is left out because it could not be read: what was not there before is taken to be new.
fn listening_in(process: &str) -> io::Result<HashSet<SocketAddr>> {
    let mut sockets = HashSet::new();
    for descriptor in std::fs::read_dir(format!("{process}/fd"))? {
        let target = match std::fs::read_link(descriptor?.path()) {
            // It was closed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            target => target?.to_string_lossy().into_owned(),
        };
        let number = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
        sockets.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    let mut found = HashSet::new();
    ports::find(&format!("{process}/net"), |row| {
        let is_its_own = row.owner.is_some_and(|owner| sockets.contains(&owner.socket));
        found.extend((row.state == ports::LISTENING && is_its_own).then_some(row.local));
        None::<()>
    })?;
    Ok(found)
}

/// Who is connected to a door of this machine: the other ends.
pub fn visitors(door: SocketAddr) -> io::Result<HashSet<SocketAddr>> {
    let is_there = |local: SocketAddr| {
        local.port() == door.port() && (door.ip().is_unspecified() || local.ip() == door.ip().to_canonical())
    };
    let mut found = HashSet::new();
    ports::find("/proc/self/net", |row| {
        found.extend((row.state == ports::ESTABLISHED && is_there(row.local)).then_some(row.remote));
        None::<()>
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_testkit::wait;
    use std::io::Read;
    use std::net::TcpListener;

    #[test]
    fn what_a_process_listens_at_is_found() {
        let here = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(listening(std::process::id()).unwrap().contains(&here.local_addr().unwrap()));
    }

    #[test]
    fn who_is_connected_to_a_door_is_found_until_it_leaves() {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = door.local_addr().unwrap();
        assert_eq!(visitors(address).unwrap(), HashSet::new());
        let visitor = std::net::TcpStream::connect(address).unwrap();
        let (_inside, _) = door.accept().unwrap();
        let wild = SocketAddr::from(([0, 0, 0, 0], address.port()));
        for door in [address, wild] {
            assert!(visitors(door).unwrap().contains(&visitor.local_addr().unwrap()));
        }
        drop(visitor);
        // The kernel may take its time to tell the other end.
        let left = || visitors(address).unwrap().is_empty().then_some(());
        wait::until(wait::DEADLINE, left).expect("nobody is connected any more");
    }

    /// A process of a shell that runs this and has said that it does.
    fn shell(script: &str) -> std::process::Child {
        let mut command = std::process::Command::new("/bin/sh");
        let mut shell = command.args(["-c", script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut said = [0; 1];
        shell.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
        shell
    }

    #[tokio::test]
    async fn no_stranger_is_signalled() {
        use std::os::unix::process::ExitStatusExt;
        for script in [
            "trap 'exit 3' USR1; echo x; while :; do sleep 0.05; done",
            "echo x; while :; do sleep 0.05; done",
        ] {
            let mut stranger = shell(script);
            let error = open_inspector(stranger.id(), &["node".to_owned()], Path::new("/bin/false"))
                .await
                .unwrap_err();
            stranger.kill().unwrap();
            let status = stranger.wait().unwrap();
            assert_eq!(status.signal(), Some(9), "{script}: {error}");
            assert!(error.contains("lets no debugger in"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_process_in_another_network_is_told_so() {
        let mut command = std::process::Command::new("unshare");
        let command = command.args(["--map-root-user", "--net", "sh", "-c", "echo x; exec sleep 60"]);
        let mut far = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut said = [0; 1];
        // Not every machine lets us make one.
        let made = far.stdout.as_mut().unwrap().read_exact(&mut said).is_ok();
        let answer = open_inspector(far.id(), &["sleep".to_owned()], Path::new("/bin/false")).await;
        far.kill().unwrap();
        far.wait().unwrap();
        assert!(!made || answer.unwrap_err().contains("a network of its own"));
    }

    #[test]
    fn where_a_process_listens_is_not_nowhere_because_it_cannot_be_read() {
        let process = tempfile::tempdir().unwrap();
        let path = process.path().to_str().unwrap();
        assert!(listening_in(path).is_err(), "it is gone");
        std::fs::create_dir(process.path().join("fd")).unwrap();
        assert_eq!(listening_in(path).unwrap(), HashSet::new());
        std::fs::create_dir_all(process.path().join("net/tcp")).unwrap();
        assert!(listening_in(path).is_err(), "a table that cannot be read");
        std::fs::remove_dir(process.path().join("net/tcp")).unwrap();
        std::fs::write(process.path().join("fd/3"), "").unwrap();
        assert!(listening_in(path).is_err(), "a descriptor that cannot be read");
    }
}
