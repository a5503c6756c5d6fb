//! `breakroom vsx`: from the command line to the Visual Studio front end.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use breakroom_engines::Context;
use breakroom_frontend_vsx::{Listening, Setup};
use clap::{Args, ValueHint};

use crate::cli::{HubArgs, address};
use crate::connecting::{join, open};

#[derive(Args)]
pub struct VsxArgs {
    /// The program to debug. It is launched when Visual Studio sends `start`, and runs from `ready` on.
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "session")]
    file: Option<PathBuf>,
    /// Listen on HOST:PORT; port 0 takes a free one. The first line on stdout says which.
    #[arg(long, value_name = "HOST:PORT", value_parser = address, default_value = "127.0.0.1:9000")]
    listen: SocketAddr,
    /// Take part in a live session instead: its id or name, or nothing if there is only one.
    #[arg(
        long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "",
        conflicts_with_all = ["private", "file"]
    )]
    session: Option<String>,
    /// The folder of the solution, which relative paths are relative to. Without it, the current folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// Begin without `ready` after this many seconds without a request; 0 waits for ever.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    ready_timeout: u64,
    /// Let other users of this machine connect. They can run any code as you.
    #[arg(long)]
    allow_other_users: bool,
    #[command(flatten)]
    hub: HubArgs,
}

pub fn vsx(args: VsxArgs) -> Result<ExitCode> {
    let context = Context::of_this_process();
    let folder = args.folder.map_or_else(|| context.cwd.clone(), |folder| context.cwd.join(folder));
    let listening = Listening::bind(args.listen)?;
    crate::printing::print(&format!("listening on {}\n", listening.address()))?;
    let (file, session, hub) = (args.file.map(|file| context.cwd.join(file)), args.session, args.hub.hub());
    let cwd = folder.clone();
    let open_session = move || {
        let opened = match (&session, &file) {
            (Some(wanted), _) => join(Some(wanted.clone()).filter(|wanted| !wanted.is_empty())),
            (None, Some(file)) => check(file).and_then(|()| open(file, &cwd, hub, &context)),
            (None, None) => Err(anyhow::anyhow!("no program was named")),
        };
        opened.map_err(|error| crate::sentence(&error))
    };
    listening.serve(Setup {
        folder,
        name: format!("Visual Studio {}", std::process::id()),
        open: Box::new(open_session),
        ready_timeout: Some(Duration::from_secs(args.ready_timeout)).filter(|timeout| !timeout.is_zero()),
        other_users: args.allow_other_users,
    });
    Ok(ExitCode::SUCCESS)
}

fn check(file: &std::path::Path) -> Result<()> {
    std::fs::File::open(file).map(drop).with_context(|| format!("cannot open {}", file.display()))
}
