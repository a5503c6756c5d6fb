//! A real adapter on stdio with a witness in between: every byte of both directions is written down as it passes.
//!
//! It knows nothing of messages, so that what it writes can be used to judge those who do.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

pub fn run(path: &Path, command: &[String]) -> ExitCode {
    let [program, arguments @ ..] = command else {
        eprintln!("fake-adapter: `record PATH --` needs a command");
        return ExitCode::from(2);
    };
    let mut child = Command::new(program);
    let mut child = child
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the recorded adapter can be started");
    let (to, from) = (child.stdin.take(), child.stdout.take());
    let (to, from) = to.zip(from).expect("both were asked for");
    let told = File::create(path.with_extension("to")).expect("the recording can be written");
    let said = File::create(path.with_extension("from")).expect("the recording can be written");
    // Not joined: the hub's end of stdin may outlive the adapter.
    std::thread::spawn(move || copy(std::io::stdin(), to, told));
    copy(from, std::io::stdout(), said);
    let code = child.wait().expect("a child of ours can be waited for").code().unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Ends with either side; dropping the other passes that on. The record is written first, so it is never behind.
fn copy(mut from: impl Read, mut to: impl Write, mut record: File) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..read];
        record.write_all(bytes).expect("the recording can be written");
        if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}
