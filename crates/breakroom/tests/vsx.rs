//! The Visual Studio front end against the statements of its protocol: a strict Visual Studio, the real binary, EZ programs.
//!
//! Names begin with the number of the statement. Python programs are in `vsx_python.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod visual_studio;
}

#[path = "visual_studio/session.rs"]
mod session;

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
