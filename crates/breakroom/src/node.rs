//! `breakroom node`: what stands between js-debug and the inspectors of Node.js processes.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::{Context, Result};
use breakroom_node_relay::{Sight, Watched};
use clap::Subcommand;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

#[derive(Subcommand)]
pub enum Node {
    /// Bring a process to js-debug, as its own watchdog does, but without its delays. Reads NODE_INSPECTOR_INFO.
    Watch,
    /// Carry bytes between stdout, which is a socket, and an inspector.
    Pass { host: String, port: u16 },
    /// Close the inspector of a process when nobody has the other end of stdin any more, nor any that came later, and nobody
    /// else uses it. Where it is comes on stdin, or it is none of those that were there before.
    Close { process: u32, before: Vec<SocketAddr> },
}

impl Node {
    pub fn perform(self) -> Result<ExitCode> {
        match self {
            Node::Watch => {
                let info = std::env::var("NODE_INSPECTOR_INFO").context("NODE_INSPECTOR_INFO is not set")?;
                breakroom_node_relay::watch(&Watched::read(&info)?)?;
            }
            Node::Pass { host, port } => {
                const NOT_A_STANDARD_STREAM: i32 = 3;
                let stdout = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), NOT_A_STANDARD_STREAM)
                    .context("stdout cannot be used")?;
                breakroom_node_relay::pass(UnixStream::from(stdout), &host, port)?;
            }
            Node::Close { process, before } => {
                let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
                let pid = pid.with_context(|| format!("{process} is no number of a process"))?;
                let pinned = pidfd_open(pid, PidfdFlags::empty())
                    .with_context(|| format!("process {process} cannot be looked at"))?;
                // Not reachable for others, it still does what it is for.
                let meeting = breakroom_engines::meeting_place(process).ok();
                let sight = Sight {
                    doors: &|| breakroom_engines::inspector_doors(process),
                    listening: &|| breakroom_engines::listening(process),
                    before: &before.into_iter().collect(),
                    visitors: &breakroom_engines::visitors,
                    meeting: meeting.as_ref(),
                };
                let session =
                    std::io::stdin().as_fd().try_clone_to_owned().context("stdin cannot be used")?;
                breakroom_node_relay::close_after(session, &pinned, &sight)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
