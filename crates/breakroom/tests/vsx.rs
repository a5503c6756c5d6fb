//! The Visual Studio front end against the statements of its protocol: a strict Visual Studio, the real binary, EZ programs.
//!
//! Names begin with the number of the statement. Python programs are in `vsx_python.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod visual_studio;
}

#[path = "visual_studio/breakpoints.rs"]
mod breakpoints;
#[path = "visual_studio/execution.rs"]
mod execution;
#[path = "visual_studio/inspection.rs"]
mod inspection;
#[path = "visual_studio/session.rs"]
mod session;
#[path = "visual_studio/transport.rs"]
mod transport;

/// Line numbers are told by the comments.
const PROGRAM: &str = "\
import @std
using std

do double(n int) -> int {
    temp twice = n * 2 // 5
    return twice // 6
}

do main() {
    temp x = 1 // 10
    temp y = double(x) // 11
    println(\"y is ${y}\") // 12
    println(\"done\") // 13
}
";

/// Leaves a file behind, in two steps.
const WRITER: &str = "\
import @std, @io
using std

// It writes two lines.

do main() {
    temp _a, _b = io.append_line(\"log\", \"begin\") // 7
    temp n = 1
    println(n) // 9
    temp _c, _d = io.append_line(\"log\", \"end\")
}
";

/// Runs until it is ended.
const LOOP: &str = "\
import @std
using std

do main() {
    temp n = 0
    println(\"looping\")
    loop {
        n = (n + 1) % 1000 // 8
    }
}
";

#[test]
fn address_of_another_machine_is_refused() {
    let desk = support::editor::Desk::new();
    std::fs::write(desk.sandbox.work().join("g.ez"), PROGRAM).unwrap();
    let mut command = desk.sandbox.command(["vsx", "--listen", "0.0.0.0:0", "g.ez"]);
    let output = command.current_dir(desk.sandbox.work()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("no password"), "{said}");
    desk.leave(support::editor::Hub::Private);
}

#[test]
fn port_that_is_taken_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let desk = support::editor::Desk::new();
    let output = desk.sandbox.command(["vsx", "--listen", &address, "g.ez"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(&format!("cannot listen on {address}")), "{said}");
    desk.leave(support::editor::Hub::Private);
}
