//! The executables that the tests of this crate need: a guard, and a hub that can be killed.
//!
//! `guard` is what the real binary does with that argument; `hub COMMAND...` starts one engine and waits for its end.

use std::process::ExitCode;
use std::time::Duration;

use breakroom_engines::{AdapterSpec, Context, Mode, guard_main, start};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("guard") => guard_main(),
        Some("hub") => hub(args.collect()),
        _ => ExitCode::FAILURE,
    }
}

fn hub(command: Vec<String>) -> ExitCode {
    let spec = AdapterSpec {
        connection_timeout: Duration::from_secs(60),
        ..AdapterSpec::plain("engine", Mode::Stdio, command)
    };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let Ok(own) = std::env::current_exe() else {
        return ExitCode::FAILURE;
    };
    runtime.block_on(async {
        match start(&spec, &Context::of_this_process(), &own).await {
            Ok(mut engine) => {
                println!("{}", engine.process.pid());
                engine.process.exited().await;
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    })
}
