//! Processes that run already, and servers that listen.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use breakroom_testkit::{Request, Strict, adapters, wait};
use serde_json::{Value, json};

use crate::support::editor::{Bystander, Hub};
use crate::support::strangers;
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
    let port = crate::free_port();
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

#[test]
fn a_ruby_program_that_listens_has_its_conditions_judged() {
    if adapters::skipped("rdbg") || adapters::skipped("ruby") {
        return;
    }
    let place = Place::new();
    place.write("slow.rb", "number = 0\nnumber = 1\nloop do\n  number += 1\n  sleep 0.01\nend\n");
    let mut server = place.desk.sandbox.program("ruby");
    server.args(["-r", "debug/open", "slow.rb"]).current_dir(place.path("."));
    server.env("RUBY_DEBUG_PORT", "0").env("RUBY_DEBUG_HOST", "127.0.0.1");
    let mut server = Bystander(server.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(server.0.stderr.take().unwrap());
    let mut text = String::new();
    while !text.contains("wait for debugger connection") {
        assert!(said.read_line(&mut text).unwrap() > 0, "it waits for a debugger");
    }
    let address = text.split_once("can attach via TCP/IP (").and_then(|(_, rest)| rest.split_once(')'));
    let (address, _) = address.unwrap_or_else(|| panic!("no address in {text:?}"));
    let commands = "break slow.rb:2\ncontinue\nbreak slow.rb:5 log \"at {number}\"\nbreak slow.rb:4 if number == 5\ncontinue\nprint number * 7\nprint nosuch\nquit\n";
    let told = place.run(".", &["--attach", address, "--type", "ruby"], commands);
    told.shows(&["at 4\n", "stopped: breakpoint at slow.rb:4 ", "number * 7 = 35"]);
    let all = format!("{}{}", told.out, told.errors);
    assert!(all.contains("NameError: undefined local variable") && !all.contains("nosuch = "), "{told:?}");
    drop(server);
    place.leave(Hub::Private);
}

const SPIN: &str = "let ticks = 0;\nsetInterval(() => {\n  ticks++;\n  console.log(ticks);\n}, 10);\n";

/// A Node.js program that prints numbers, when it has printed one.
fn spinning(place: &Place, options: &[&str]) -> (Bystander, BufReader<std::process::ChildStdout>) {
    let file = place.write("spin.js", SPIN);
    let mut node = place.desk.sandbox.program(needs("node"));
    node.args(options).arg(file).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = node.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    (Bystander(child), lines)
}

#[test]
fn a_program_of_node_is_attached_to_by_its_number_and_left_running() {
    if adapters::skipped("js-debug") || adapters::skipped("node") {
        return;
    }
    let place = Place::new();
    // Not the usual port: another test may have it.
    let (child, mut lines) = spinning(&place, &["--inspect-port=0"]);
    let pid = child.0.id().to_string();
    let commands = "print ticks > 0\nthreads\nquit\n";
    let told = place.run(".", &["--attach", &pid, "--break", "spin.js:4"], commands);
    told.shows(&["stopped: breakpoint at spin.js:4", "ticks > 0 = true"]);
    let thread =
        told.out.lines().find(|line| line.contains("stopped: breakpoint at") && line.starts_with("->"));
    assert!(thread.is_some_and(|line| line.contains(" spin.js ")), "{told:?}");
    assert_eq!(told.code, Some(0), "{told:?}");
    lines.read_line(&mut String::new()).unwrap();
    drop(child);

    let (child, mut lines) = spinning(&place, &["--inspect-port=0"]);
    let configuration = json!({"configurations": [
        {"name": "there", "type": "node", "request": "attach", "processId": child.0.id().to_string()},
    ]});
    place.write(".vscode/launch.json", &configuration.to_string());
    let told = place.run(".", &["-c", "there", "--break", "spin.js:4"], "print ticks > 0\nquit\n");
    told.shows(&["stopped: breakpoint at spin.js:4", "ticks > 0 = true"]);
    lines.read_line(&mut String::new()).unwrap();
    drop(child);
    place.leave(Hub::Private);
}

/// Any user of the machine could use it.
#[test]
fn the_inspector_that_was_opened_for_a_session_is_closed_after_it_however_it_ends() {
    if adapters::skipped("js-debug") || adapters::skipped("node") {
        return;
    }
    let mut place = Place::new();
    place.write("spin.js", SPIN);
    let said = place.path("said");
    // Not in the census: it is to outlive the hub.
    let mut node = std::process::Command::new(needs("node"));
    node.args(["--inspect-port=0", "spin.js"]).current_dir(place.path(".")).stdout(Stdio::piped());
    let mut child = node.stderr(std::fs::File::create(&said).unwrap()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    let child = Bystander(child);
    for (time, is_killed) in [(1, false), (2, true)] {
        let mut client = place.editor(Hub::Shared);
        let request = attach(&mut client, &child);
        attached(&mut client, request);
        let addresses = || {
            let said = std::fs::read_to_string(&said).unwrap();
            let opened = said.lines().filter_map(|line| line.strip_prefix("Debugger listening on ws://"));
            opened.map(|rest| rest.split('/').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let address = addresses().pop().unwrap();
        assert_eq!(addresses().len(), time, "it is opened anew: {:?}", addresses());
        let listens = || std::net::TcpStream::connect(&address).is_ok();
        assert!(listens());
        let census = place.desk.sandbox.census();
        let runs = |words| census.processes().iter().any(|process| process.command_line.contains(words));
        let reached = wait::until(wait::DEADLINE, || runs("node pass").then_some(()));
        reached.expect("js-debug reaches it through us");
        assert!(runs("node close") && !runs("watchdog.js"), "{:?}", census.processes());
        if is_killed {
            place.desk.kill_hub(client);
        } else {
            let_go(client);
        }
        let closed = wait::until(wait::DEADLINE, || (!listens()).then_some(()));
        closed.expect("the inspector is closed");
        // What it had written meanwhile comes first.
        for _ in 0..10 {
            lines.read_line(&mut String::new()).unwrap();
        }
    }
    drop(child);
}

/// Asks for a process by its number, as an editor does.
fn attach(client: &mut Strict, child: &Bystander) -> Request {
    client.allow(&["output", "capabilities", "thread", "process", "loadedSource", "module"]);
    client.request("attach", json!({"type": "node", "processId": child.0.id().to_string()}))
}

fn attached(client: &mut Strict, request: Request) {
    client.event("initialized");
    client.call("configurationDone", Value::Null);
    client.response(request);
}

fn let_go(mut client: Strict) {
    client.allow(&["terminated", "continued"]);
    client.call("disconnect", json!({}));
    client.finish();
}

fn signal(child: &Bystander, name: &str) {
    let told = std::process::Command::new("kill").args([name, &child.0.id().to_string()]).status().unwrap();
    assert!(told.success(), "{name}");
}

/// It is told to open its inspector and cannot, until nobody waits for it any more.
fn attach_in_vain(place: &Place, child: &Bystander) {
    signal(child, "-STOP");
    let told = place.run(".", &["--attach", &child.0.id().to_string()], "");
    told.fails_with(&["was told to let a debugger in and did not"]);
}

/// Its output must not stand in its way.
fn read_on(lines: BufReader<std::process::ChildStdout>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || lines.lines().for_each(drop))
}

/// How many sessions have come to the one that waits for the end of all: each has a socket of that name, and so has it.
fn sessions_at_the_closer(pid: &str) -> usize {
    let (begin, end) = ("@breakroom/closer/", format!("/{pid}"));
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
    sockets.lines().filter(|line| line.contains(begin) && line.ends_with(&end)).count().saturating_sub(1)
}

/// How many wait for the end of the sessions at a process. They outlive the hub, and no census knows them then.
fn closers(pid: &str) -> usize {
    let end = format!("\0node\0close\0{pid}\0");
    let lines = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = lines.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&end)).count()
}

#[test]
fn an_inspector_that_opens_after_its_attach_has_failed_is_closed_again() {
    if adapters::skipped("js-debug") || adapters::skipped("node") {
        return;
    }
    let place = Place::new();
    place.write("spin.js", SPIN);
    let said = place.path("said");
    let mut node = place.desk.sandbox.program(needs("node"));
    node.args(["--inspect-port=0", "spin.js"]).current_dir(place.path(".")).stdout(Stdio::piped());
    let mut child = node.stderr(std::fs::File::create(&said).unwrap()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    let child = Bystander(child);
    let pid = child.0.id().to_string();
    attach_in_vain(&place, &child);
    signal(&child, "-CONT");
    let reading = read_on(lines);
    let address = wait::until(wait::DEADLINE, || {
        let said = std::fs::read_to_string(&said).unwrap();
        let named = said.split_whitespace().find_map(|word| word.strip_prefix("ws://")?.split('/').next());
        named.map(str::to_owned)
    });
    let address = address.expect("it opens its inspector when it goes on");
    let listens = || std::net::TcpStream::connect(&address).is_ok();
    wait::until(wait::DEADLINE, || (!listens()).then_some(())).expect("the inspector is closed");
    wait::until(wait::DEADLINE, || (closers(&pid) == 0).then_some(())).expect("whoever closed it is gone");
    drop(child);
    reading.join().unwrap();
    place.leave(Hub::Private);
}

/// The error says "try again", and that one must not find the door closed by what was to close it for the first.
#[test]
fn a_second_attach_to_a_process_that_was_busy_keeps_its_inspector() {
    if adapters::skipped("js-debug") || adapters::skipped("node") {
        return;
    }
    let place = Place::new();
    let (child, lines) = spinning(&place, &["--inspect-port=0"]);
    let pid = child.0.id().to_string();
    attach_in_vain(&place, &child);
    let mut client = place.editor(Hub::Private);
    let request = attach(&mut client, &child);
    let joined = wait::until(wait::DEADLINE, || (sessions_at_the_closer(&pid) == 1).then_some(()));
    joined.expect("the second comes to the first one's closer");
    signal(&child, "-CONT");
    let reading = read_on(lines);
    attached(&mut client, request);
    client.event("thread");
    assert_eq!(closers(&pid), 1, "the second has the first one's");
    let_go(client);
    wait::until(wait::DEADLINE, || (closers(&pid) == 0).then_some(())).expect("the inspector is closed");
    drop(child);
    reading.join().unwrap();
    place.leave(Hub::Private);
}

/// A program that is busy outside of its own language hears an order to close its inspector when somebody else is there.
#[test]
fn an_attach_that_follows_another_to_a_busy_process_keeps_its_inspector() {
    if adapters::skipped("js-debug") || adapters::skipped("node") {
        return;
    }
    let place = Place::new();
    let waits = "const fs = require('fs'), { spawnSync } = require('child_process');\nconst busy = setInterval(() => {\n  \
                 if (!fs.existsSync('busy')) return;\n  clearInterval(busy);\n  fs.writeFileSync('begun', '');\n  \
                 spawnSync('sh', ['-c', 'until [ -e free ]; do sleep 0.05; done']);\n}, 10);\n";
    place.write("spin.js", &format!("{waits}{SPIN}"));
    let said = place.path("said");
    let mut node = place.desk.sandbox.program(needs("node"));
    node.args(["--inspect-port=0", "spin.js"]).current_dir(place.path(".")).stdout(Stdio::piped());
    let mut child = node.stderr(std::fs::File::create(&said).unwrap()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    let (child, reading) = (Bystander(child), read_on(lines));
    let pid = child.0.id().to_string();
    let mut first = place.editor(Hub::Private);
    let request = attach(&mut first, &child);
    attached(&mut first, request);
    first.event("thread");
    let census = place.desk.sandbox.census();
    let count = |words| census.processes().iter().filter(|each| each.command_line.contains(words)).count();
    place.write("busy", "");
    wait::until(wait::DEADLINE, || place.path("begun").exists().then_some(())).expect("it is busy");
    let_go(first);
    wait::until(wait::DEADLINE, || (count("node pass") == 0).then_some(())).expect("the first has left");
    let closer = wait::until(wait::DEADLINE, || is_visited(&said).then_some(()));
    closer.expect("the closer has come to it");
    let mut second = place.editor(Hub::Private);
    let request = attach(&mut second, &child);
    second.event("initialized");
    second.call("configurationDone", Value::Null);
    let reached = wait::until(wait::DEADLINE, || (count("node pass") > 0).then_some(()));
    reached.expect("the second has come to it");
    place.write("free", "");
    second.response(request);
    second.event("thread");
    let threads = second.call("threads", Value::Null)["body"]["threads"].clone();
    second.call("pause", json!({"threadId": threads[0]["id"]}));
    second.event("stopped");
    let_go(second);
    wait::until(wait::DEADLINE, || (closers(&pid) == 0).then_some(())).expect("the inspector is closed");
    drop(child);
    reading.join().unwrap();
    place.leave(Hub::Private);
}

/// Whether somebody is connected to the inspector of which the program has said where it is.
fn is_visited(said: &std::path::Path) -> bool {
    let said = std::fs::read_to_string(said).unwrap();
    let port =
        said.split_whitespace().find_map(|word| word.strip_prefix("ws://127.0.0.1:")?.split('/').next());
    let end = format!("0100007F:{:04X}", port.unwrap().parse::<u16>().unwrap());
    let rows = std::fs::read_to_string("/proc/net/tcp").unwrap();
    rows.lines().any(|row| {
        let mut words = row.split_whitespace().skip(1);
        words.next() == Some(&end) && words.nth(1) == Some("01")
    })
}

/// js-debug walks on from a pause in Node.js's own code, gives up after 256 steps, and steps out of whatever comes then.
#[test]
fn pause_far_from_the_program_comes_to_the_program() {
    if adapters::skipped("js-debug") || adapters::skipped("node") {
        return;
    }
    let place = Place::new();
    // Each of these ends costs Node.js a dozen lines of its own.
    let file = place.write(
        "spin.js",
        "const { AsyncResource } = require('async_hooks');\nlet ticks = 0;\nsetInterval(() => {\n  ticks++;\n  for (let each = 0; each < 100; each++) new AsyncResource('each').emitDestroy();\n  if (ticks === 1) console.log(ticks);\n}, 10);\n",
    );
    let mut node = place.desk.sandbox.program(needs("node"));
    node.args(["--inspect-port=0", "--inspect-publish-uid=http"]).arg(file).stdout(Stdio::piped());
    let mut child = Bystander(node.stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    let mut client = place.editor(Hub::Private);
    let request = attach(&mut client, &child);
    attached(&mut client, request);
    let thread = client.event("thread")["body"]["threadId"].clone();
    for _ in 0..3 {
        client.call("pause", json!({"threadId": thread}));
        client.event("stopped");
        let stack = client.call("stackTrace", json!({"threadId": thread}));
        let source = &stack["body"]["stackFrames"][0]["source"]["name"];
        let is_of_program = source.as_str().is_some_and(|name| ["spin.js", "program/idle"].contains(&name));
        assert!(is_of_program, "{stack}");
        client.call("continue", json!({"threadId": thread}));
    }
    let_go(client);
    drop(child);
    place.leave(Hub::Private);
}

/// It came by the inspector that the first had opened.
#[test]
fn the_end_of_a_session_leaves_another_at_the_same_process() {
    if adapters::skipped("js-debug") || adapters::skipped("node") {
        return;
    }
    let place = Place::new();
    // Not the usual port: another test may have it. Without one in its words it would not be looked for elsewhere.
    let (child, mut lines) = spinning(&place, &["--inspect-port=0", "--inspect-publish-uid=http"]);
    let come = || {
        let mut client = place.editor(Hub::Private);
        let request = attach(&mut client, &child);
        attached(&mut client, request);
        client.event("thread");
        client
    };
    let (first, mut second) = (come(), come());
    let threads = second.call("threads", Value::Null)["body"]["threads"].clone();
    let (thread, name) = (&threads[0]["id"], threads[0]["name"].as_str().unwrap());
    assert!(name.starts_with("spin.js"), "it is attached to, and not another one launched: {threads}");
    let_go(first);
    // Long enough for whoever would close it.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while std::time::Instant::now() < until {
        lines.read_line(&mut String::new()).unwrap();
    }
    second.call("pause", json!({"threadId": thread}));
    second.event("stopped");
    let_go(second);
    let census = place.desk.sandbox.census();
    let closes = || census.processes().iter().any(|process| process.command_line.contains("node close"));
    let closed = wait::until(wait::DEADLINE, || (!closes()).then_some(()));
    closed.expect("the last one closes the inspector");
    lines.read_line(&mut String::new()).unwrap();
    drop(child);
    place.leave(Hub::Private);
}

#[test]
fn a_program_of_node_that_lets_debuggers_in_is_paused_by_its_address_and_left_running() {
    if adapters::skipped("js-debug") || adapters::skipped("node") {
        return;
    }
    let place = Place::new();
    let port = crate::free_port();
    let address = format!("127.0.0.1:{port}");
    let (child, mut lines) = spinning(&place, &[&format!("--inspect={address}")]);
    let told = place.run(".", &["--attach", &address, "--type", "node"], "bt\nquit\n");
    told.shows(&["stopped: pause"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    lines.read_line(&mut String::new()).unwrap();
    // By its number it is found at the same door.
    let told = place.run(".", &["--attach", &child.0.id().to_string(), "--break", "spin.js:4"], "quit\n");
    told.shows(&["stopped: breakpoint at spin.js:4"]);
    lines.read_line(&mut String::new()).unwrap();
    drop(child);
    place.leave(Hub::Private);
}

/// A process of another user that listens where a debug server was expected, and would run what it likes.
#[test]
fn another_users_server_is_not_attached_to() {
    if !strangers::can_be_played() {
        return;
    }
    let place = Place::new();
    let mut server = Bystander(strangers::server());
    let mut port = String::new();
    BufReader::new(server.0.stdout.as_mut().unwrap()).read_line(&mut port).unwrap();
    let address = format!("127.0.0.1:{}", port.trim());
    let told = place.run(".", &["--attach", &address, "--type", "python"], "");
    drop(server);
    told.fails_with(&["a process of user 65534"]);
    place.leave(Hub::Private);
}
