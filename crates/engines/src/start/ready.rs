//! When a started adapter can be met.
//!
//! Most say a word as soon as they listen, so whatever they write is the sign to try again, and so is a socket that appears
//! in its folder; one that gives no sign is tried again after a pause. Some must not be met before they say that they wait:
//! rdbg loses its program if it is connected to while that begins. What they say is only looked at, and stays in the pipes
//! for whoever reads it later.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fs::inotify;
use rustix::pipe::{PipeFlags, SpliceFlags};

/// An adapter may have been told to say less.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at what was said, if the system does not tell that there is more.
const PAUSE: Duration = Duration::from_millis(50);
/// It is among the first that they say.
const MOST: usize = 16 * 1024;

/// The streams of an adapter that is not met yet.
pub(super) struct Signs {
    /// Tells only what is new: nothing is taken out of the pipes, so what was said before would be told for ever.
    news: Arc<OwnedFd>,
    /// Where its socket will be.
    folder: Option<OwnedFd>,
}

impl Signs {
    pub fn of(streams: [&OwnedFd; 2]) -> io::Result<Self> {
        let news = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for stream in streams {
            watch(&news, stream)?;
        }
        Ok(Signs { news: Arc::new(news), folder: None })
    }

    /// A file that appears in this folder is a sign too. The system may have no watch left for it.
    pub fn or_in(mut self, folder: &Path) -> Self {
        let watched = || -> io::Result<OwnedFd> {
            let watcher = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
            let appears = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
            inotify::add_watch(&watcher, folder, appears)?;
            watch(&self.news, &watcher)?;
            Ok(watcher)
        };
        self.folder = watched().ok();
        self
    }

    /// Returns when the adapter has written something since the last time, or after the pause.
    pub async fn next(&mut self, pause: Duration) {
        let news = self.news.clone();
        let pause = Timespec { tv_sec: pause.as_secs().cast_signed(), tv_nsec: pause.subsec_nanos().into() };
        // Watching a descriptor of ours with the runtime needs unsafe code; a thread that waits does not.
        let wait = move || epoll::wait(&*news, spare_capacity(&mut Vec::with_capacity(2)), Some(&pause));
        let _ = tokio::task::spawn_blocking(wait).await;
    }
}

impl Drop for Signs {
    /// The kernel closes such a watch when everybody who looks at any is done with it, which takes milliseconds where much is
    /// going on. The adapter is met by then, and nobody must wait for it.
    fn drop(&mut self) {
        if let (Some(folder), Ok(runtime)) = (self.folder.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn_blocking(move || drop(folder));
        }
    }
}

fn watch(news: &OwnedFd, stream: &OwnedFd) -> io::Result<()> {
    let whenever = epoll::EventFlags::IN | epoll::EventFlags::ET;
    Ok(epoll::add(news, stream, epoll::EventData::new_u64(0), whenever)?)
}

/// Waits until the adapter has said this on its stderr, or has had time enough to.
pub(super) async fn has_said(line: &str, stderr: &OwnedFd, signs: &mut Signs) {
    let said = async {
        while !seen(stderr).is_some_and(|text| contains(&text, line.as_bytes())) {
            signs.next(PAUSE).await;
        }
    };
    if tokio::time::timeout(PATIENCE, said).await.is_err() {
        tracing::warn!("an adapter has not said {line:?}, and is connected to all the same");
    }
}

/// What is in the pipe.
fn seen(pipe: &OwnedFd) -> Option<Vec<u8>> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
    let size = rustix::pipe::tee(pipe, &write, MOST, SpliceFlags::NONBLOCK).ok()?;
    let mut text = vec![0; size];
    let size = rustix::io::read(&read, &mut text).ok()?;
    text.truncate(size);
    Some(text)
}

fn contains(text: &[u8], line: &[u8]) -> bool {
    text.windows(line.len()).any(|part| part == line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn what_an_adapter_says_is_seen_and_stays_where_it_is() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        let (other, _other) = rustix::pipe::pipe().unwrap();
        let mut signs = Signs::of([&read, &other]).unwrap();
        rustix::io::write(&write, b"Debugger can attach\nwait").unwrap();
        assert_eq!(seen(&read).unwrap(), b"Debugger can attach\nwait");
        rustix::io::write(&write, b" for it...\n").unwrap();
        has_said("wait for it", &read, &mut signs).await;
        let mut text = [0; 64];
        let size = rustix::io::read(&read, &mut text).unwrap();
        assert_eq!(&text[..size], b"Debugger can attach\nwait for it...\n");
    }

    #[tokio::test]
    async fn every_word_of_an_adapter_is_a_sign_and_its_end_is_one_only_once() {
        let (stdout, out) = rustix::pipe::pipe().unwrap();
        let (stderr, error) = rustix::pipe::pipe().unwrap();
        let mut signs = Signs::of([&stdout, &stderr]).unwrap();
        let began = Instant::now();
        for pipe in [&out, &error, &out] {
            rustix::io::write(pipe, b"a word\n").unwrap();
            signs.next(LONG).await;
        }
        drop(out);
        signs.next(LONG).await;
        assert!(began.elapsed() < LONG, "nothing was read, and yet the next word is a sign");
        let (began, pause) = (Instant::now(), Duration::from_millis(20));
        signs.next(pause).await;
        assert!(began.elapsed() >= pause);
    }

    #[test]
    fn nobody_waits_until_the_kernel_has_closed_a_watch() {
        use std::os::fd::AsRawFd;
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        let (ends, waits) = std::sync::mpsc::channel::<()>();
        // Whatever takes long comes behind this.
        runtime.spawn_blocking(move || waits.recv());
        let (quiet, _quiet) = rustix::pipe::pipe().unwrap();
        let (silent, _silent) = rustix::pipe::pipe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let _entered = runtime.enter();
        let signs = Signs::of([&quiet, &silent]).unwrap().or_in(folder.path());
        let Some(watch) = &signs.folder else { return };
        let watch = format!("/proc/self/fd/{}", watch.as_raw_fd());
        drop(signs);
        assert_eq!(std::fs::read_link(watch).unwrap().to_str(), Some("anon_inode:inotify"));
        drop(ends);
    }

    #[tokio::test]
    async fn a_socket_that_appears_is_a_sign() {
        let (quiet, _quiet) = rustix::pipe::pipe().unwrap();
        let (silent, _silent) = rustix::pipe::pipe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut signs = Signs::of([&quiet, &silent]).unwrap().or_in(folder.path());
        let began = Instant::now();
        for name in ["s", "another"] {
            let _listener = std::os::unix::net::UnixListener::bind(folder.path().join(name)).unwrap();
            signs.next(LONG).await;
        }
        assert!(began.elapsed() < LONG);
    }
}
