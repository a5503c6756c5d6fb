//! The fake adapter as a program. Everything is in the library, so that tests can write its scripts.

fn main() -> std::process::ExitCode {
    breakroom_testkit::fake::main()
}
