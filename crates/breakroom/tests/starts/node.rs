//! Programs of Node.js: where they stop first, whatever they are written in, and how they end.

use breakroom_testkit::census::open_descriptors;
use breakroom_testkit::{Strict, adapters, wait};
use serde_json::{Value, json};

use crate::support::editor::Hub;
use crate::{Place, begin};

/// A debugger that only looks for the first place in the text finds it in the function.
const SCRIPT: &str = "#!/usr/bin/env node
'use strict';
function add(left, right) {
  return left + right;
}

const sum = add(40, 2);
console.log('sum ' + sum, this === undefined, process.env.BREAKROOM_ENTRY, process.env.NODE_OPTIONS?.includes('entry.cjs'));
";

const TYPESCRIPT: &str = "// The types are not left in what is run.
interface Pair { left: number; right: number }

function add(pair: Pair): number {
    return pair.left + pair.right;
}

const sum: number = add({ left: 40, right: 2 });
console.log(\"sum \" + sum);
export {};
";

/// What the compiler makes of it.
const COMPILED: &str = "\"use strict\";
Object.defineProperty(exports, \"__esModule\", { value: true });
function add(pair) {
    return pair.left + pair.right;
}
const sum = add({ left: 40, right: 2 });
console.log(\"sum \" + sum);
//# sourceMappingURL=x.js.map";

const MAP: &str = r#"{"version":3,"file":"x.js","sourceRoot":"","sources":["x.ts"],"names":[],"mappings":";;AAGA,SAAS,GAAG,CAAC,IAAU;IACnB,OAAO,IAAI,CAAC,IAAI,GAAG,IAAI,CAAC,KAAK,CAAC;AAClC,CAAC;AAED,MAAM,GAAG,GAAW,GAAG,CAAC,EAAE,IAAI,EAAE,EAAE,EAAE,KAAK,EAAE,CAAC,EAAE,CAAC,CAAC;AAChD,OAAO,CAAC,GAAG,CAAC,MAAM,GAAG,GAAG,CAAC,CAAC"}"#;

#[test]
fn node_stops_at_the_first_statement_that_runs_and_not_in_the_first_function_of_the_text() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    place.write("script.js", SCRIPT);
    place.write("module.mjs", &SCRIPT.replace("function add", "import 'fs';function add"));
    place.write(
        "class.mjs",
        "function f() { return 1; }\nclass A { m() { return f(); } }\nexport const a = await f();\n",
    );
    let told = place.run(".", &["class.mjs"], "continue\n");
    told.shows(&["stopped: entry at class.mjs:3 in "]);
    place.write("typed/package.json", "{\"type\": \"module\"}");
    place.write("typed/m.js", &SCRIPT.replace("function add", "import '../script.js';function add"));
    for (file, strange) in [("script.js", false), ("module.mjs", true), ("typed/m.js", true)] {
        let told = place.run(".", &[file], "step\ncontinue\n");
        let name = file.rsplit('/').next().unwrap();
        told.shows(&[&format!("stopped: entry at {name}:7 in "), &format!("stopped: step at {name}:4 in ")]);
        told.shows(&[&format!("sum 42 {strange} undefined false")]);
        assert_eq!(told.out.matches("stopped:").count(), 2, "{told:?}");
    }
    place.leave(Hub::Private);
}

#[test]
fn typescript_stops_in_its_own_first_statement() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    place.write("t/x.ts", TYPESCRIPT);
    place.write("t/x.js", COMPILED);
    place.write("t/x.js.map", MAP);
    let told = place.run("t", &["x.js"], "next\ncontinue\n");
    told.shows(&["stopped: entry at x.ts:8 in ", "stopped: step at x.ts:9 in ", "sum 42"]);
    place.leave(Hub::Private);
}

#[test]
fn what_the_launch_says_of_the_environment_stays_when_the_program_is_stopped_on_entry() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    let text =
        "function f() { return process.env.A; }\nconst a = f();\nconsole.log(a + Error.stackTraceLimit);\n";
    place.write("s.js", text);
    let environment = r#"env={"A":"own","NODE_OPTIONS":"--stack-trace-limit=7"}"#;
    let told = place.run(".", &["--launch", environment, "s.js"], "continue\n");
    told.shows(&["stopped: entry at s.js:2 ", "own7"]);
    place.leave(Hub::Private);
}

#[test]
fn a_folder_without_a_project_shows_the_programs_in_it() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("t/.git")).unwrap();
    place.write("t/main.ts", TYPESCRIPT);
    place.write("t/notes.txt", "nothing to run\n");
    let told = place.run("t", &[], "");
    assert_eq!(told.code, Some(0), "{told:?}");
    told.shows(&["breakroom run main.ts  JavaScript, TypeScript\n"]);
    assert!(!told.out.contains("notes.txt"), "{told:?}");
    place.leave(Hub::Private);
}

/// js-debug says nothing of a program that ended well, and no code at all where it passes on what a program writes.
#[test]
fn a_program_of_node_ends_with_its_own_exit_code() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    for (text, code) in [
        ("console.log('well')\n", 0),
        ("process.exit(7)\n", 7),
        ("let =\n", 1),
        ("process.kill(process.pid, 'SIGTERM')\nsetTimeout(() => {}, 60000)\n", 143),
        ("process.kill(process.pid, 'SIGKILL')\nsetTimeout(() => {}, 60000)\n", 137),
    ] {
        place.write("x.js", text);
        let told = place.run(".", &["x.js"], "continue\n");
        told.shows(&[&format!("exit code {code}")]);
        assert!(!told.out.contains("breakroom: exit code"), "{told:?}");
        assert_eq!(told.code, Some(code), "{told:?}");
    }
    place.leave(Hub::Private);
}

/// To such a one js-debug speaks without anybody in between.
#[test]
fn a_program_of_node_with_a_port_of_its_own_is_reached_through_us() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    let file = place.write("x.js", "let ticks = 0;\nsetInterval(() => {\n  ticks++;\n}, 10);\n");
    let port = crate::free_port();
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "capabilities", "thread", "process", "loadedSource", "module", "continued"]);
    client.allow(&["breakpoint"]);
    let options = json!([format!("--inspect-brk=127.0.0.1:{port}")]);
    let arguments =
        json!({"type": "node", "program": file, "attachSimplePort": port, "runtimeArgs": options});
    let launched = client.request("launch", arguments);
    client.event("initialized");
    client.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": [{"line": 3}]}));
    client.call("configurationDone", Value::Null);
    client.response(launched);
    assert_eq!(client.event("stopped")["body"]["reason"], "breakpoint");
    let processes = place.desk.sandbox.census().processes();
    let passes = format!("node pass 127.0.0.1 {port}");
    let passing = processes.iter().filter(|process| process.command_line.contains(&passes));
    assert_eq!(passing.count(), 1, "{processes:?}");
    client.allow(&["stopped", "terminated", "exited"]);
    place.part(client, Hub::Private);
}

/// V8 stops at the next line that runs, and a server that nobody visits runs none.
#[test]
fn a_program_of_node_that_is_idle_is_paused_and_says_that_it_is() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    let file = place.write(
        "x.js",
        "globalThis.seen = 41;\nrequire('net').createServer().listen(0, '127.0.0.1', () => setTimeout(() => console.log('up'), 0));\n",
    );
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "capabilities", "thread", "process", "loadedSource", "module", "continued"]);
    // As editors have it, who do not want to see what is Node's own.
    let arguments = json!({"type": "node", "program": file, "skipFiles": ["<node_internals>/**"]});
    begin(&mut client, "launch", arguments);
    client.output_containing("up");
    let until = std::time::Instant::now() + wait::DEADLINE;
    let mut rests = 0;
    while rests < 2 {
        let thread = client.call("threads", Value::Null)["body"]["threads"][0]["id"].clone();
        client.call("pause", json!({"threadId": thread}));
        assert_eq!(client.event("stopped")["body"]["reason"], "pause");
        let stack = client.call("stackTrace", json!({"threadId": thread}));
        let frame = &stack["body"]["stackFrames"][0];
        // What it said was heard before it had come back from saying it.
        if rests == 0 && frame["source"]["name"] == "x.js" && std::time::Instant::now() < until {
            client.call("continue", json!({"threadId": thread}));
            continue;
        }
        assert_eq!(frame["source"]["name"], "program/idle", "{stack}");
        let source =
            json!({"source": frame["source"], "sourceReference": frame["source"]["sourceReference"]});
        let text = client.call("source", source)["body"]["content"].to_string();
        assert!(text.contains("The program is idle"), "{text}");
        let seen = client.call("evaluate", json!({"expression": "seen + 1", "frameId": frame["id"]}));
        assert_eq!(seen["body"]["result"], "42");
        client.call("continue", json!({"threadId": thread}));
        rests += 1;
    }
    client.allow(&["terminated", "exited"]);
    place.part(client, Hub::Private);
}

/// V8 guesses whether anybody will catch it, so that is for people to choose.
#[test]
fn an_editor_hears_which_filters_js_debug_has_on_by_itself() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    let file = place.write("x.js", "Promise.reject(new Error('lost'));\n");
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "thread", "process", "loadedSource", "module", "exited"]);
    let launched = client.request("launch", json!({"type": "node", "program": file}));
    let told = client.event("capabilities");
    let filters = &told["body"]["capabilities"]["exceptionBreakpointFilters"];
    let filters = filters.as_array().expect("js-debug has filters");
    assert!(filters.iter().all(|filter| filter["default"] == false), "{told}");
    client.allow(&["capabilities"]);
    client.event("initialized");
    client.call("configurationDone", Value::Null);
    client.response(launched);
    client.event("terminated");
    place.part(client, Hub::Private);
}

#[test]
fn a_program_of_node_stops_where_it_throws_what_nobody_catches() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    place
        .write("x.js", "try { throw new Error('caught') } catch {}\nlet a = 42;\nthrow new Error('lost');\n");
    let told = place.run(".", &["--break", "x.js:2", "x.js"], "continue\nprint a\ncontinue\n");
    let lost = "stopped: exception at x.js:3 in <anonymous>: Error: lost\n";
    told.shows(&["stopped: breakpoint at x.js:2", lost, "a = 42"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    // What is thrown need not be an error.
    place.write("x.js", "throw 'a text';\n");
    let told = place.run(".", &["--break", "x.js:9", "x.js"], "continue\n");
    told.shows(&["stopped: exception at x.js:1 in <anonymous>: a text\n"]);
    place.leave(Hub::Private);
}

/// It is found by Node's own loader, and stops there.
#[test]
fn a_program_of_node_that_cannot_be_read_says_why_and_stops_nowhere() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    place.write("x.js", "const a = 1;\nlet b = ;\n");
    let told = place.run(".", &["x.js"], "print 1\ncontinue\n");
    told.shows(&["x.js:2\nlet b = ;\n", "SyntaxError: Unexpected token", "exit code 1"]);
    assert!(!told.out.contains("stopped:"), "{told:?}");
    // Here the program has begun, and stands where it asked for the text.
    place.write("y.js", "const a = 1;\nrequire('./x.js');\n");
    let told = place.run(".", &["--break", "y.js:9", "y.js"], "print a\ncontinue\n");
    told.shows(&["stopped: exception at y.js:2 in ", "x.js:2", "SyntaxError: Unexpected token", "a = 1"]);
    place.leave(Hub::Private);
}

/// Each timer has the one before it as its cause, back to the first.
#[test]
fn of_the_timers_that_led_to_a_place_in_node_the_latest_are_enough() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    let text = "let n = 0;
function tick() {
  if (++n < 40) return setTimeout(tick, 1);
  console.log(n);
}
tick();
";
    place.write("x.js", text);
    let told = place.run(".", &["--break", "x.js:4", "x.js"], "bt\nframe 50\nbt\nquit\n");
    told.shows(&["-> #0  x.js:4 in tick\n", "   #19 ", "   and those up to #99; `frame N` looks at one\n"]);
    told.shows(&["\nframe 50: ", "\n-> #50 "]);
    assert!(!told.out.contains("#51 "), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn what_a_function_of_node_uses_of_those_around_it_is_shown_behind_its_locals() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    let text = "function outer(kept) {
  const other = 'unused';
  return function inner(a) {
    const b = a + kept;
    return b;
  };
}
outer(40)(2);
";
    place.write("x.js", text);
    let told = place.run(".", &["--break", "x.js:5", "x.js"], "locals\nset kept = 7\nprint kept\nquit\n");
    told.shows(&["  a = 2\n  b = 42\n", "  kept = 40\n", "kept = 7\n"]);
    let at = |part: &str| told.out.find(part).unwrap();
    assert!(at("  b = 42\n") < at("  kept = 40\n"), "{told:?}");
    assert!(!told.out.contains("globalThis ="), "{told:?}");
    place.leave(Hub::Private);
}

/// The file that is debugged is there, and nothing to run it with.
#[test]
fn without_node_it_is_said_that_node_is_missing_and_how_to_get_it() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    place.write("x.js", "let a = 1;\n");
    let mut command = place.desk.sandbox.command(["run", "--private", "x.js"]);
    place.surroundings(&mut command);
    command.env("PATH", place.path("empty")).current_dir(place.path(".")).stdin(std::process::Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("js-debug runs with node or nodejs, which is not in PATH"), "{output:?}");
    assert!(said.contains("apt-get install nodejs"), "{output:?}");
    place.leave(Hub::Private);
}

/// js-debug itself gives its program a pipe to which it never writes, and which it never ends.
#[test]
fn a_program_of_node_reads_what_it_is_given_and_then_finds_the_end() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    place.write(
        "x.js",
        "const lines = require('readline').createInterface({ input: process.stdin });
lines.on('line', (line) => console.log('got ' + line));
lines.on('close', () => console.log('no more'));
",
    );
    place.write("in.txt", "Ann\nBob");
    let told = place.run(".", &["--input", "in.txt", "x.js"], "continue\n");
    told.shows(&["\ngot Ann\n", "got Bob\n", "no more\n", "exit code 0"]);
    // Nobody gives any.
    let told = place.run(".", &["x.js"], "continue\n");
    told.shows(&["no more\n", "exit code 0"]);
    assert!(!told.out.contains("\ngot "), "{told:?}");
    // While it stands, and while it runs.
    let told = place.run(".", &["x.js"], "input Ann\ncontinue\ninput Bob\n");
    told.shows(&["\ngot Ann\n", "got Bob\n", "no more\n", "exit code 0"]);
    // A restart begins with nothing that was read before.
    let told = place.run(".", &["x.js"], "input Ann\nrestart\ninput Bob\ncontinue\n");
    told.shows(&["\ngot Bob\n", "no more\n", "exit code 0"]);
    assert!(!told.out.contains("\ngot Ann"), "{told:?}");
    place.leave(Hub::Private);
}

/// Writes on and on, until it is told that it is enough.
const LASTS: &str = "const fs = require('fs');
process.on('SIGTERM', () => fs.writeFileSync('signalled', ''));
setInterval(() => {
  process.stdout.write('x');
  fs.appendFileSync('written', 'x');
  if (fs.existsSync('enough')) process.exit();
}, 20);
";

/// An editor that has launched it, when it has written something.
fn lasting(place: &Place, kill_behavior: &str) -> Strict {
    let program = place.write("lasts.js", LASTS);
    let mut client = place.editor(Hub::Shared);
    client.allow(&["output", "capabilities", "thread", "process", "loadedSource", "module", "continued"]);
    let arguments = json!({"type": "node", "program": program, "killBehavior": kill_behavior});
    let request = client.request("launch", arguments);
    client.event("initialized");
    client.call("configurationDone", Value::Null);
    client.response(request);
    wait::until(wait::DEADLINE, || (written(place) > 0).then_some(())).expect("it writes");
    client
}

fn written(place: &Place) -> u64 {
    std::fs::metadata(place.path("written")).map_or(0, |file| file.len())
}

/// It lives on long after whoever read what it writes would be gone, and then nothing outlives it.
fn lives_on(place: &Place) {
    let until = written(place) + 200;
    let lives = wait::until(wait::DEADLINE, || (written(place) > until).then_some(()));
    lives.expect("the program is left alone");
    place.write("enough", "");
}

#[test]
fn a_program_that_is_not_to_be_ended_outlives_its_session_and_nothing_outlives_it() {
    if adapters::skipped("js-debug") {
        return;
    }
    for word in ["none", "polite"] {
        let place = Place::new();
        let mut client = lasting(&place, word);
        client.allow(&["terminated", "exited"]);
        client.call("disconnect", json!({"terminateDebuggee": true}));
        client.finish();
        lives_on(&place);
        assert_eq!(place.path("signalled").exists(), word == "polite");
        place.leave(Hub::Shared);
    }
}

/// What the server has left in the temporary folder.
fn litter(place: &Place) -> Vec<String> {
    let files = std::fs::read_dir(place.desk.sandbox.path("tmp")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let begins = ["node-cdp.", "vscode-js-debug-", "node-debug-callback-"];
    names.filter(|name| begins.iter().any(|begin| name.starts_with(begin))).collect()
}

/// A server that is too busy to tidy up behind itself.
#[test]
fn what_the_server_leaves_in_the_temporary_folder_goes_with_it_even_if_the_hub_is_killed() {
    if adapters::skipped("js-debug") {
        return;
    }
    let mut place = Place::new();
    let client = lasting(&place, "forceful");
    let servers =
        |process: &breakroom_testkit::census::Process| process.command_line.contains("vsDebugServer");
    let server = place.desk.sandbox.census().processes().into_iter().find(servers).expect("a server");
    // The program has left it a letter there, which it finds within a moment. Nobody has that one open.
    let is_read = || {
        let open = open_descriptors(server.pid.cast_unsigned());
        let is_open = |name: &String| open.iter().any(|(_, file)| file.ends_with(name.as_str()));
        litter(&place).iter().filter(|name| name.starts_with("node-debug-callback-")).all(is_open)
    };
    wait::until(wait::DEADLINE, || is_read().then_some(())).expect("it reads what the program left for it");
    let server = rustix::process::Pid::from_raw(server.pid).unwrap();
    rustix::process::kill_process(server, rustix::process::Signal::STOP).unwrap();
    assert!(!litter(&place).is_empty(), "it has something to leave");
    place.desk.kill_hub(client);
    assert_eq!(litter(&place), Vec::<String>::new());
}

/// What it writes there js-debug never sees.
#[test]
fn the_code_of_a_program_in_a_terminal_is_told() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    for (text, code) in [("process.exit(3)", 3), ("process.kill(process.pid, 'SIGKILL')", 137), ("", 0)] {
        place.write("ends.js", &format!("console.log('here');\n{text};\n"));
        let told = place.run(".", &["--launch", "console=\"integratedTerminal\"", "ends.js"], "continue\n");
        told.shows(&["here"]);
        assert_eq!(told.code, Some(code), "{told:?}");
    }
    place.leave(Hub::Private);
}
