//! The world of a program that runs by itself: this process's terminal, clock, environment and folder.

use std::io::{BufRead, BufWriter, IsTerminal, Write};
use std::time::Duration;

use crate::world::{Stream, Surroundings, Waited, World};

/// What a shell calls a program that SIGPIPE ended.
const GONE: i32 = 141;

pub struct ProcessWorld {
    out: BufWriter<std::io::Stdout>,
    /// A person sees each line as it is printed; a file need not.
    is_watched: bool,
    surroundings: Surroundings,
}

impl ProcessWorld {
    pub fn new(arguments: Vec<String>) -> std::io::Result<Self> {
        Ok(Self {
            out: BufWriter::with_capacity(64 * 1024, std::io::stdout()),
            is_watched: std::io::stdout().is_terminal(),
            surroundings: Surroundings::of_this_process(arguments)?,
        })
    }

    fn flush(&mut self) {
        let flushed = self.out.flush();
        self.mind(flushed);
    }

    /// A program whose reader is gone ends, as one that does not ignore SIGPIPE would: it might print for ever.
    fn mind(&self, written: std::io::Result<()>) {
        if written.is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
            std::process::exit(GONE);
        }
    }
}

impl Drop for ProcessWorld {
    fn drop(&mut self) {
        self.flush();
    }
}

impl World for ProcessWorld {
    fn print(&mut self, stream: Stream, text: &str) {
        match stream {
            Stream::Out => {
                let written = self.out.write_all(text.as_bytes());
                self.mind(written);
                if self.is_watched {
                    self.flush();
                }
            }
            Stream::Err => {
                // What was printed before is seen before.
                self.flush();
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
        }
    }

    fn read_line(&mut self) -> Waited<Option<String>> {
        self.flush();
        let mut line = Vec::new();
        match std::io::stdin().lock().read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Waited::Done(None),
            Ok(_) => {
                Waited::Done(Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned()))
            }
        }
    }

    fn sleep(&mut self, time: Duration) -> Waited<()> {
        self.flush();
        std::thread::sleep(time);
        Waited::Done(())
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn surroundings_mut(&mut self) -> &mut Surroundings {
        &mut self.surroundings
    }
}
