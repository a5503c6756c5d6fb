//! Runs a program for a moment to learn something: whether it works, which version it is.
//!
//! Bounded in time and output, because what PATH holds may hang or never stop talking.
//! Away from the project, whose modules a program might otherwise take for its own.
//! Not for adapters: those run under a guard.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::context::Context;
use crate::folders;

/// A program that only has to be loaded still needs its time where many others run.
const PATIENCE: Duration = Duration::from_secs(30);
const MOST_OUTPUT: usize = 64 * 1024;
const MOST_REMEMBERED: usize = 64;

#[derive(Clone)]
pub(crate) struct Answer {
    pub succeeded: bool,
    pub stdout: String,
    pub stderr: String,
}

/// How long an answer is believed: what is installed beside a program changes without a trace in it.
const LIFE: Duration = Duration::from_secs(60);

static KNOWN: Mutex<VecDeque<Remembered>> = Mutex::new(VecDeque::new());

struct Remembered {
    question: Question,
    answer: Answer,
    since: Instant,
}

/// The same as `run`, but what has worked is not run again for a while, as long as the program and its surroundings are the
/// same: some take as long as the adapter itself, and a daemon asks before every session.
pub(crate) fn remembered(program: &Path, args: &[String], context: &Context) -> Option<Answer> {
    remembered_for(LIFE, program, args, context)
}

fn remembered_for(life: Duration, program: &Path, args: &[String], context: &Context) -> Option<Answer> {
    let Some(question) = Question::of(program, args, context) else { return run(program, args, context) };
    let is_it = |known: &&Remembered| known.question == question && known.since.elapsed() < life;
    let before = known().iter().find(is_it).map(|known| known.answer.clone());
    if before.is_some() {
        return before;
    }
    let since = Instant::now();
    let answer = run(program, args, context)?;
    if answer.succeeded {
        let mut known = known();
        known.retain(|other| other.question != question);
        known.truncate(MOST_REMEMBERED - 1);
        known.push_front(Remembered { question, answer: answer.clone(), since });
    }
    Some(answer)
}

/// To be called when an adapter did not start: what is known about it may not be true any more.
pub(crate) fn forget() {
    known().clear();
}

fn known() -> MutexGuard<'static, VecDeque<Remembered>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that an answer can depend on, but for what is installed beside the program.
#[derive(PartialEq, Eq)]
struct Question {
    program: PathBuf,
    /// Which file it is, and when it was last written.
    file: (u64, u64, SystemTime),
    args: Vec<String>,
    env: Vec<(OsString, OsString)>,
}

impl Question {
    fn of(program: &Path, args: &[String], context: &Context) -> Option<Question> {
        let found = std::fs::metadata(program).ok()?;
        let file = (found.dev(), found.ino(), found.modified().ok()?);
        Some(Question { program: program.into(), file, args: args.to_vec(), env: context.env.clone() })
    }
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
    let (mut stdout, stdout_writer) = Stream::open()?;
    let (mut stderr, stderr_writer) = Stream::open()?;
    let mut child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(context.environment(&[]))
        .current_dir(folders::NEUTRAL)
        .stdin(Stdio::null())
        .stdout(stdout_writer)
        .stderr(stderr_writer)
        .process_group(0)
        .spawn()?;
    let ended = listen(&child, [&mut stdout, &mut stderr], Instant::now() + patience);
    // Also what it left in the background: a check must leave nothing behind. The number cannot have been
    // given to another group yet, since the child has not been waited for.
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    let status = child.wait()?;
    Ok(ended?.then(|| Answer { succeeded: status.success(), stdout: stdout.text(), stderr: stderr.text() }))
}

/// Collects output until the program has ended (true) or the time is up (false).
fn listen(child: &Child, mut streams: [&mut Stream; 2], deadline: Instant) -> io::Result<bool> {
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or(io::ErrorKind::NotFound)?;
    let end = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let mut watched = vec![PollFd::new(&end, PollFlags::IN)];
        let open = streams.iter().filter(|stream| !stream.at_eof);
        watched.extend(open.map(|stream| PollFd::new(&stream.reader, PollFlags::IN)));
        match poll(&mut watched, Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let ended = !watched[0].revents().is_empty();
        for stream in &mut streams {
            stream.drain()?;
        }
        if ended {
            return Ok(true);
        }
    }
}

/// One of the program's two streams: a warning on the other must not be taken for the answer.
struct Stream {
    reader: OwnedFd,
    output: Vec<u8>,
    at_eof: bool,
}

impl Stream {
    fn open() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        rustix::fs::fcntl_setfl(&reader, OFlags::NONBLOCK)?;
        let stream = Stream { reader, output: Vec::new(), at_eof: false };
        Ok((stream, writer))
    }

    /// Reads what is there.
    fn drain(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        while !self.at_eof {
            match rustix::io::read(&self.reader, &mut buffer) {
                Ok(0) => self.at_eof = true,
                Ok(read) => {
                    let room = MOST_OUTPUT.saturating_sub(self.output.len());
                    self.output.extend_from_slice(&buffer[..read.min(room)]);
                    // The rest is read all the same, so that it does not block, but one talker must not keep us here.
                    if room == 0 {
                        return Ok(());
                    }
                }
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
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
        assert_eq!((&*answer.stdout, &*answer.stderr), ("out\n", "err\n"));
        assert!(!shell(PATIENCE, "exit 3").unwrap().succeeded);
    }

    #[test]
    fn a_program_that_hangs_or_leaves_others_behind_does_not_hold_us() {
        let begin = Instant::now();
        assert!(shell(Duration::from_millis(200), "sleep 600").is_none());
        assert_eq!(shell(Duration::from_secs(60), "sleep 600 & echo done").unwrap().stdout, "done\n");
        assert!(shell(Duration::from_millis(300), "yes").is_none());
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn nothing_of_the_folder_that_is_debugged_is_within_reach() {
        let project = tempfile::tempdir().unwrap();
        let context = Context { cwd: project.path().to_path_buf(), ..Context::of_this_process() };
        let answer = run(Path::new("/bin/sh"), &["-c".to_string(), "pwd".to_string()], &context).unwrap();
        assert_eq!(answer.stdout, "/\n");
    }

    #[test]
    fn what_has_worked_is_not_run_again_unless_something_changed() {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let script = |code: u8| {
            vec!["-c".to_string(), format!("echo x >> {}; wc -l < {0}; exit {code}", count.display())]
        };
        let mut context = Context::of_this_process();
        let sh = Path::new("/bin/sh");
        let said = |args: &[String], context: &Context| remembered(sh, args, context).unwrap().stdout;
        assert_eq!((&*said(&script(0), &context), &*said(&script(0), &context)), ("1\n", "1\n"));
        context.env.push(("ELSEWHERE".into(), "1".into()));
        assert_eq!(said(&script(0), &context), "2\n");
        assert_eq!((&*said(&script(1), &context), &*said(&script(1), &context)), ("3\n", "4\n"));
        let late = remembered_for(Duration::ZERO, sh, &script(0), &context).unwrap();
        assert_eq!(late.stdout, "5\n", "what was known is too old");
        forget();
        assert_eq!(said(&script(0), &context), "6\n");
    }

    #[test]
    fn a_program_that_is_not_there_gives_no_answer() {
        assert!(run(Path::new("/nowhere/program"), &[], &Context::of_this_process()).is_none());
    }
}
