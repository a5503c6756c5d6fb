//! Runs a program for a moment to learn something: whether it works, which version it is.
//!
//! Bounded in time and output, because what PATH holds may hang or never stop talking.
//! Not for adapters: those run under a guard.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::context::Context;

const PATIENCE: Duration = Duration::from_secs(10);
const MOST_OUTPUT: usize = 64 * 1024;

pub(crate) struct Answer {
    pub succeeded: bool,
    /// stdout and stderr as they came.
    pub output: String,
}

/// None if the program cannot be started or does not end in time.
pub(crate) fn run(program: &Path, args: &[String], context: &Context) -> Option<Answer> {
    run_for(PATIENCE, program, args, context).ok().flatten()
}

fn run_for(
    patience: Duration,
    program: &Path,
    args: &[String],
    context: &Context,
) -> io::Result<Option<Answer>> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&reader, OFlags::NONBLOCK)?;
    let mut child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(context.environment(&[]))
        .current_dir(&context.cwd)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()?;
    let mut output = Vec::new();
    let ended = listen(&child, &reader, &mut output, Instant::now() + patience);
    // Also what it left in the background: a check must leave nothing behind. The number cannot have been
    // given to another group yet, since the child has not been waited for.
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    let status = child.wait()?;
    Ok(ended?.then(|| Answer {
        succeeded: status.success(),
        output: String::from_utf8_lossy(&output).into_owned(),
    }))
}

/// Collects output until the program has ended (true) or the time is up (false).
fn listen(child: &Child, reader: &OwnedFd, output: &mut Vec<u8>, deadline: Instant) -> io::Result<bool> {
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or(io::ErrorKind::NotFound)?;
    let end = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    let mut at_eof = false;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut watched = vec![PollFd::new(&end, PollFlags::IN)];
        if !at_eof {
            watched.push(PollFd::from_borrowed_fd(reader.as_fd(), PollFlags::IN));
        }
        match poll(&mut watched, Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let ended = !watched[0].revents().is_empty();
        at_eof = at_eof || drain(reader, output)?;
        if ended {
            return Ok(true);
        }
    }
}

/// Reads what is there; true at the end of the stream.
fn drain(reader: &OwnedFd, output: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    loop {
        match rustix::io::read(reader, &mut buffer) {
            Ok(0) => return Ok(true),
            Ok(read) => {
                let room = MOST_OUTPUT.saturating_sub(output.len());
                output.extend_from_slice(&buffer[..read.min(room)]);
                // The rest is read all the same, so that it does not block, but one talker must not keep us here.
                if room == 0 {
                    return Ok(false);
                }
            }
            Err(rustix::io::Errno::AGAIN) => return Ok(false),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(patience: Duration, script: &str) -> Option<Answer> {
        let args = ["-c".to_string(), script.to_string()];
        run_for(patience, Path::new("/bin/sh"), &args, &Context::of_this_process()).unwrap()
    }

    #[test]
    fn the_answer_has_the_output_and_the_success() {
        let answer = shell(PATIENCE, "echo out; echo err >&2").unwrap();
        assert!(answer.succeeded);
        assert_eq!(answer.output, "out\nerr\n");
        assert!(!shell(PATIENCE, "exit 3").unwrap().succeeded);
    }

    #[test]
    fn a_program_that_hangs_or_leaves_others_behind_does_not_hold_us() {
        let begin = Instant::now();
        assert!(shell(Duration::from_millis(200), "sleep 600").is_none());
        assert_eq!(
            shell(Duration::from_secs(60), "sleep 600 & echo done")
                .unwrap()
                .output,
            "done\n"
        );
        assert!(shell(Duration::from_millis(300), "yes").is_none());
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_program_that_is_not_there_gives_no_answer() {
        assert!(run(Path::new("/nowhere/program"), &[], &Context::of_this_process()).is_none());
    }
}
