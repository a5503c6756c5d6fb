//! `breakroom ez debugserver FILE`: what the EZ IDE starts.
//!
//! What is said to the IDE is the EZ door's business; here is only what it cannot know itself.

use std::fs::File;
use std::io::BufReader;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use breakroom_door_dap::Hub;
use breakroom_door_ez::Setup;
use breakroom_engines::Context;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::connecting::{join, open};

/// Which session the program is debugged in.
pub enum In {
    New(Hub),
    Live { wanted: Option<String> },
}

pub fn debugserver(file: &Path, session: In) -> Result<ExitCode> {
    // The IDE tries a file that is not there to find out whether this can debug; the words are what it looks for.
    if let Err(why) = breakroom_door_ez::check(file) {
        eprintln!("Error reading file: {}: {why}", file.display());
        return Ok(ExitCode::FAILURE);
    }
    let context = Context::of_this_process();
    let setup = Setup {
        file: file.to_string_lossy().into_owned(),
        cwd: context.cwd.clone(),
        name: format!("EZ IDE {}", std::process::id()),
        open: Box::new(move |program, folder| {
            let opened = match &session {
                In::New(hub) => open(program, folder, *hub, &context),
                In::Live { wanted } => join(wanted.clone()),
            };
            opened.map_err(|error| crate::sentence(&error))
        }),
        deaf: Box::new(wait_until_nobody_reads),
    };
    // Not `stdout()`, which has a buffer: each line must be one write.
    let output = std::io::stdout().as_fd().try_clone_to_owned().context("stdout is not open")?;
    let code = breakroom_door_ez::run(setup, BufReader::new(std::io::stdin()), File::from(output));
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// An IDE that was killed closes the pipe, which a program that prints nothing would never notice.
fn wait_until_nobody_reads() {
    let stdout = std::io::stdout();
    loop {
        // Asked for nothing, it tells only of errors and the end.
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        match poll(&mut watched, None) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}
