//! Many starts in one process leave nothing in it. Alone in its executable, since it counts what the process holds.

// The lint knows only functions marked as tests; what they share may fail as loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::time::Duration;

use breakroom_engines::{AdapterSpec, Context, Mode, Stop, run_in_pty, start};
use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions};

const STARTS: usize = 50;

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn spec(mode: Mode, args: &[&str]) -> AdapterSpec {
    let args = args.iter().map(|arg| arg.to_string()).collect();
    AdapterSpec {
        connection_timeout: Duration::from_secs(60),
        ..AdapterSpec::plain("test-adapter", mode, args)
    }
}

#[tokio::test]
async fn fifty_starts_of_each_kind_leave_no_descriptor_process_or_folder() {
    let context = Context::of_this_process();
    let guard = Path::new(env!("CARGO_BIN_EXE_guard-probe"));
    let mut before = None;
    for _ in 0..STARTS {
        let mut engine = start(&spec(Mode::Stdio, &["cat"]), &context, guard).await.unwrap();
        engine.process.stop(Stop::End { grace: Duration::ZERO });
        engine.process.gone().await;
        let argv = ["true".to_string()];
        let mut terminal = run_in_pty(&argv, None, &[], &context, guard).await.unwrap();
        terminal.process.stop(Stop::End { grace: Duration::from_secs(60) });
        terminal.process.gone().await;
        for (mode, place) in [(Mode::TcpConnect, "{{port}}"), (Mode::Unix, "{{socket}}")] {
            start(&spec(mode, &["sh", "-c", "exit 1", place]), &context, guard).await.unwrap_err();
        }
        drop((engine, terminal));
        // The first round opens what the process keeps for good.
        before.get_or_insert_with(open_descriptors);
    }
    // A failed start may still be ending in a thread of its own, before as now. Fifty that stay are many more than that.
    let before = before.unwrap();
    let waited = tokio::time::timeout(Duration::from_secs(60), async {
        while open_descriptors() > before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let left = || format!("{before} descriptors became {}", open_descriptors());
    waited.await.unwrap_or_else(|_| panic!("{}", left()));

    // Failed starts are waited for by threads of their own: they too must come to an end.
    // Looked at without being waited for, since the waiting is what is tested.
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let waited = tokio::time::timeout(Duration::from_secs(60), async {
        while !matches!(rustix::process::waitid(WaitId::All, look), Err(Errno::CHILD)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    waited.await.unwrap();
    let runtime = breakroom_engines::folders::runtime_dir().unwrap();
    let own = format!("adapter-{}-", std::process::id());
    let left = std::fs::read_dir(runtime)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(&own));
    assert_eq!(left.count(), 0);
}
