//! The fake `ez` as a program. Everything is in the library, so that tests can say how it shall behave.

fn main() -> std::process::ExitCode {
    breakroom_testkit::fake_ez::main()
}
