//! Every behaviour with every adapter, through the real binary: what differs between adapters is data.
//!
//! One test for each adapter runs all rows, each in a session and a sandbox of its own, and names those that failed;
//! the thread that panicked is called `ADAPTER: ROW`. Where an adapter cannot do something, its record says so with the
//! reason, and the row checks that a client is told. `MATRIX=ROW` runs only the rows whose name contains it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/editor.rs"]
mod editor;
#[path = "support/strangers.rs"]
mod strangers;

mod matrix {
    pub mod adapter;
    pub mod breakpoints;
    pub mod compiled;
    pub mod ending;
    pub mod failing;
    pub mod intruder;
    pub mod lacking;
    pub mod looking;
    pub mod native;
    pub mod program;
    pub mod running;
    pub mod scripts;
    pub mod session;
    pub mod strangers;
}

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use matrix::adapter::{Adapter, Row};
use matrix::strangers as foreign;
use matrix::{breakpoints, compiled, ending, failing, intruder, lacking, looking, native, running, scripts};

const ROWS: &[Row] = &[
    Row { name: "launch", run: running::launch },
    Row { name: "entry stop", run: running::entry_stop },
    Row { name: "line breakpoint", run: breakpoints::line },
    Row { name: "conditional breakpoint", run: breakpoints::conditional },
    Row { name: "hit-count breakpoint", run: breakpoints::hit_count },
    Row { name: "log breakpoint", run: breakpoints::log },
    Row { name: "function breakpoint", run: breakpoints::function },
    Row { name: "steps", run: running::steps },
    Row { name: "pause", run: running::pause },
    Row { name: "threads", run: running::threads },
    Row { name: "variables", run: looking::variables },
    Row { name: "set variable", run: looking::set_variable },
    Row { name: "evaluate", run: looking::evaluate },
    Row { name: "exceptions", run: looking::exceptions },
    Row { name: "output", run: running::output },
    Row { name: "stdin", run: running::stdin },
    Row { name: "exit code", run: ending::exit_code },
    Row { name: "restart", run: ending::restart },
    Row { name: "terminate", run: ending::terminate },
    Row { name: "disconnect", run: ending::disconnect },
    Row { name: "ends where it is", run: ending::ends_where_it_is },
    Row { name: "kill", run: ending::kill },
    Row { name: "lost hub", run: ending::hub_is_lost },
    Row { name: "VS Code's test client", run: foreign::vscode },
    Row { name: "another user", run: intruder::is_not_answered },
    Row { name: "failed launch: no such program", run: failing::missing },
    Row { name: "failed launch: broken program", run: failing::broken },
    Row { name: "failed launch: bad arguments", run: failing::bad_arguments },
];

/// Runs every row with one adapter, as many at once as there are cores.
fn every_row(adapter: &'static Adapter) {
    if adapter.skipped() {
        return;
    }
    adapter.has_only_known_rows(ROWS);
    let wanted = std::env::var("MATRIX").unwrap_or_default();
    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.name.contains(&wanted)).collect();
    assert!(!rows.is_empty(), "MATRIX={wanted}: no row has that in its name");
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let cores = thread::available_parallelism().map_or(2, std::num::NonZero::get);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(reason) = run(adapter, row) {
                        failures.lock().unwrap().push(format!("  {}: {reason}", row.name));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let (bad, all) = (failures.len(), rows.len());
    assert!(failures.is_empty(), "{bad} of {all} rows fail with {}:\n{}", adapter.name, failures.join("\n"));
}

/// One row in a thread of its own, which panics under the row's name.
fn run(adapter: &'static Adapter, row: &'static Row) -> Result<(), String> {
    let thread = thread::Builder::new().name(format!("{}: {}", adapter.name, row.name));
    let running = thread.spawn(move || match adapter.lack(row.name) {
        None => (row.run)(adapter),
        Some(lack) => lacking::is_told(adapter, lack),
    });
    running.expect("a thread can be started").join().map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
        // The whole text, with the timeline, is above under the thread's name.
        text.lines().take(2).collect::<Vec<_>>().join(" ")
    })
}

#[test]
fn python_with_debugpy() {
    every_row(&scripts::DEBUGPY);
}

#[test]
fn python_with_debugpys_own_adapter() {
    every_row(&scripts::DEBUGPY_STOCK);
}

#[test]
fn javascript_with_js_debug() {
    every_row(&scripts::JS_DEBUG);
}

#[test]
fn ruby_with_rdbg() {
    every_row(&scripts::RDBG);
}

#[test]
fn cpp_with_lldb() {
    every_row(&native::LLDB);
}

#[test]
fn cpp_with_codelldb() {
    every_row(&native::CODELLDB);
}

#[test]
fn cpp_with_a_gdb_that_speaks_the_protocol() {
    every_row(&native::GDB);
}

#[test]
fn cpp_with_an_older_gdb_and_cdt() {
    every_row(&native::CDT_GDB);
}

#[test]
fn go_with_delve() {
    every_row(&compiled::DELVE);
}

#[test]
fn java_with_jdi() {
    every_row(&compiled::JDI);
}

#[test]
fn a_lost_hub_ends_programs_in_its_terminals_where_they_are() {
    [&scripts::JS_DEBUG, &compiled::JDI].into_iter().for_each(ending::hub_is_lost_with_terminals);
}

#[test]
fn perl_with_its_language_server() {
    every_row(&scripts::PERL);
}

#[test]
fn cmake_with_its_own_debugger() {
    every_row(&scripts::CMAKE);
}

#[test]
fn ez_with_the_engine_that_is_built_in() {
    every_row(&scripts::EZ);
}
