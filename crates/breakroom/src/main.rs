//! `breakroom`: the command line, and the only place that knows everything.

mod bridge;
mod cli;
mod connecting;
mod demo;
mod doctor;
mod easydotnet;
mod ez;
mod fixing;
mod ide;
mod local;
mod log;
mod mcp;
mod node;
mod printing;
mod python;
mod relay;
mod run;
mod serve;
mod sessions;
mod stderr;
mod vsx;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The guard runs once for every engine and needs nothing that the rest does.
    if std::env::args_os().nth(1).is_some_and(|command| command == "guard") {
        return breakroom_engines::guard_main();
    }
    let arguments: Vec<_> = std::env::args_os().collect();
    let cli = easydotnet::parse(&arguments).unwrap_or_else(|| Ok(ez::parse(arguments)));
    let performed = cli.and_then(|cli| {
        start_log(cli.log.as_deref().or(cli.command.log()), cli.command.is_mcp_on_stdio());
        cli.command.perform()
    });
    match performed {
        Ok(code) => code,
        Err(error) => {
            // Where nobody hears it, the code says it.
            let sentence = sentence(&error);
            let _ = writeln!(std::io::stderr(), "breakroom: {}", breakroom_wire::visible_lines(&sentence));
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes, each said once: most of our errors name their cause themselves.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Logs go to stderr: stdout belongs to the protocol or the answer. Many MCP clients do not read the stderr of a server that
/// they start, and some show it to the user as an error.
fn start_log(level: Option<&str>, is_mcp_on_stdio: bool) {
    use std::io::IsTerminal;
    use tracing_subscriber::fmt::writer::BoxMakeWriter;
    let (usual, writer) = match is_mcp_on_stdio {
        true => ("error", BoxMakeWriter::new(|| stderr::LossyStderr)),
        false => ("warn", BoxMakeWriter::new(std::io::stderr)),
    };
    let filter = match level {
        Some(level) => tracing_subscriber::EnvFilter::new(level),
        None => tracing_subscriber::EnvFilter::try_from_default_env()
            .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(usual)),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
