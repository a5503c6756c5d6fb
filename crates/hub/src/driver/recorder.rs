//! The files that programs' output is recorded into.
//!
//! A file that cannot be written any more is given up with one warning: the session is worth more than its record.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

use breakroom_session::Stream;

/// Two open files, one for each stream.
#[derive(Debug)]
pub struct OutputFiles {
    pub out: OwnedFd,
    pub err: OwnedFd,
}

#[derive(Default)]
pub(super) struct Recorder {
    out: Option<File>,
    err: Option<File>,
}

impl Recorder {
    pub fn new(files: Option<OutputFiles>) -> Self {
        files.map_or_else(Recorder::default, |files| Recorder {
            out: Some(files.out.into()),
            err: Some(files.err.into()),
        })
    }

    pub fn write(&mut self, stream: Stream, text: &str) {
        let file = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        let Some(open) = file else { return };
        if let Err(error) = open.write_all(text.as_bytes()) {
            tracing::warn!("output cannot be recorded any more: {error}");
            *file = None;
        }
    }
}
