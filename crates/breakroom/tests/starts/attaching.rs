//! Processes that run already, and servers that listen.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use breakroom_testkit::{adapters, wait};

use crate::support::editor::{Bystander, Hub};
use crate::{Place, needs};

#[test]
fn a_process_is_attached_to_by_its_number_and_left_running() {
    if adapters::skipped("lldb") {
        return;
    }
    let place = Place::new();
    let source = "#include <stdio.h>\n#include <unistd.h>\nint ticks = 1;\nint main(void) {\n    puts(\"ready\");\n    \
                  fflush(stdout);\n    for (;;) { ticks++; usleep(1000); }\n}\n";
    let file = place.write("spin.c", source);
    let made = std::process::Command::new(needs("cc"))
        .arg("-g")
        .arg("-o")
        .arg(place.path("spin"))
        .arg(file)
        .status();
    assert!(made.unwrap().success());
    let mut child = place.desk.sandbox.program(place.path("spin")).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut child = Bystander(child);
    let told = place.run(".", &["--attach", &child.0.id().to_string()], "print ticks > 0\nquit\n");
    told.shows(&["stopped:", "ticks > 0 = true"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    child.assert_runs_free();
    drop(child);
    place.leave(Hub::Private);
}

#[test]
fn a_server_that_listens_is_attached_to_by_its_address() {
    let Some(_) = adapters::debugpy() else { return };
    let place = Place::new();
    place.write("slow.py", "import time\nfor number in range(100000):\n    time.sleep(0.01)\n");
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let address = format!("127.0.0.1:{port}");
    let mut server = place.desk.sandbox.program("python3");
    server.args(["-m", "debugpy", "--listen", &address, "--wait-for-client", "slow.py"]);
    server.env("PYTHONPATH", adapters::folder().join("debugpy")).current_dir(place.path("."));
    let server = Bystander(server.stderr(Stdio::null()).spawn().unwrap());
    let listens = || std::net::TcpStream::connect(&address).ok().map(drop);
    let told = wait::until(wait::DEADLINE, || {
        // Seen without being spoken to: it serves one client after the other.
        let text = std::fs::read_to_string("/proc/net/tcp").ok()?;
        text.contains(&format!("0100007F:{port:04X} 00000000:0000 0A")).then_some(())
    });
    told.or_else(listens).expect("the server listens");
    let told = place.run(
        ".",
        &["--attach", &address, "--type", "python", "--break", "slow.py:3"],
        "print number\nquit\n",
    );
    told.shows(&["stopped: breakpoint at slow.py:3", "number = 0"]);
    drop(server);
    place.run(".", &["--attach", &address], "").fails_with(&["--type"]);
    let nobody = place.run(".", &["--attach", "127.0.0.1:1", "--type", "python"], "");
    nobody.fails_with(&["nothing answers at 127.0.0.1:1"]);
    place.leave(Hub::Private);
}
