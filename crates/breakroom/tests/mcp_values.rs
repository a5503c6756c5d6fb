//! What values cost an agent, and how it finds and changes parts of them, with real debuggers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use std::time::Duration;

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::wait;
use serde_json::json;
use support::agents::{desk, ended, go_on, leave, patiently, says, start, value, write};

const PATIENCE: Duration = Duration::from_secs(120);

const CART: &str = "\
class Cart {
  constructor() { this.items = ['tea']; this.paid = false; }
  count() {
    return this.items.length;
  }
}
function plain(a) {
  return a + 1;
}
plain(new Cart().count());
";

/// The line of a variable.
fn line_of<'a>(reply: &'a Reply, name: &str) -> &'a str {
    let beginning = format!("{name}: ");
    reply.text.lines().map(str::trim).find(|line| line.starts_with(&beginning)).unwrap_or_default()
}

#[test]
fn an_object_shows_its_fields_and_what_everything_hangs_on_only_its_name() {
    let Some((desk, agent)) = desk(&["js-debug"]) else { return };
    let program = write(&desk, "cart.js", CART);
    let stop = start(&agent, json!({"program": program, "breakpoints": [4, 8]}));
    says(&stop, &["> 4"]);
    // They are looked into for a while only.
    let told = || {
        let again = agent.ok("debugger_inspect", json!({"what": "stop"}));
        let this = line_of(&again, "this");
        (this.contains("items: (1) ['tea']") && this.contains("paid: false")).then_some(())
    };
    wait::until(PATIENCE, told).unwrap_or_else(|| panic!("no fields in {}", stop.text));
    let stop = go_on(&agent);
    says(&stop, &["return a + 1;"]);
    assert_eq!(line_of(&stop, "this"), "this: global = global", "{}", stop.text);
    let inside = agent.ok("debugger_inspect", json!({"variable": "this", "filter": "setTimeout"}));
    says(&inside, &["setTimeout"]);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}

const CALLS: &str = "\
def add(first, second):
    total = first + second
    return total

def main():
    whole = 0
    for number in range(3):
        whole = add(whole, number)

main()
";

#[test]
fn a_stop_as_data_repeats_nothing() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "calls.py", CALLS);
    let stop = start(&agent, json!({"program": program, "breakpoints": [3]}));
    let frames: Vec<_> =
        stop.data["stack"].as_array().unwrap().iter().map(|frame| &frame["function"]).collect();
    assert_eq!(frames, ["add", "main", "<module>"], "{:#}", stop.data);
    // All of them are in the file that the stop is in.
    assert!(stop.data["stack"][2].get("file").is_none(), "{:#}", stop.data);
    assert!(stop.data.get("changed").is_none(), "{:#}", stop.data);
    let next = go_on(&agent);
    let sizes = (next.data.to_string().len(), next.text.len());
    assert!(sizes.0 < sizes.1 * 5 / 4, "{sizes:?}: {:#}\n{}", next.data, next.text);
    let stack = agent.ok("debugger_inspect", json!({"what": "stack"}));
    assert_eq!(stack.data["stack"][1]["file"], "calls.py", "{:#}", stack.data);
    leave(desk, agent);
}

const TALK: &str = "\
for number in range(500):
    print(f'info: {number}')
    if number % 100 == 7:
        print(f'WARN: {number} is odd', flush=True)
";

#[test]
fn lines_of_the_output_are_found_by_a_part_of_them() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "talk.py", TALK);
    ended(&start(&agent, json!({"program": program})), 0);
    let all = agent.ok("debugger_inspect", json!({"what": "output", "filter": "warn"}));
    let lines: Vec<&str> = all.data["output"].as_str().unwrap().lines().collect();
    assert_eq!(lines.len(), 5, "{all:#?}");
    assert_eq!((lines[0], lines[4]), ("WARN: 7 is odd", "WARN: 407 is odd"));
    assert!(!all.text.contains("info"), "{}", all.text);

    // In little room, part by part.
    let (mut found, mut cursor) = (String::new(), json!(0));
    loop {
        let arguments = json!({"what": "output", "filter": ": 3", "cursor": cursor, "max_tokens": 150});
        let part = agent.ok("debugger_inspect", arguments);
        found.push_str(part.data["output"].as_str().unwrap());
        cursor = part.data["cursor"].clone();
        if part.data["left"] == 0 {
            break;
        }
    }
    let wanted = |number: &u32| number.to_string().starts_with('3');
    let info = |number: u32| match number {
        307 => "info: 307\nWARN: 307 is odd\n".to_owned(),
        _ => format!("info: {number}\n"),
    };
    assert_eq!(found, (0..500).filter(wanted).map(info).collect::<String>());
    leave(desk, agent);
}

const PARTS: &str = "\
#include <stdio.h>
struct place { int x; int steps[2]; };
int main(void) {
    int b[3] = {1, 2, 3};
    struct place p = {4, {5, 6}};
    printf(\"%d %d %d\\n\", b[0], p.x, p.steps[1]);
    return 0;
}
";

#[test]
fn elements_and_fields_are_set_by_every_debugger_of_c() {
    for debugger in ["codelldb", "lldb-dap", "gdb"] {
        let Some((desk, agent)) = desk(&[debugger]) else { continue };
        let program = write(&desk, "parts.c", PARTS);
        let language = if debugger == "lldb-dap" { "lldb" } else { debugger };
        let stop = start(&agent, json!({"program": program, "language": language, "breakpoints": [6]}));
        says(&stop, &["> 6"]);
        for (name, new) in [("b[0]", "70"), ("p.x", "71"), ("p.steps[1]", "72")] {
            agent.ok("debugger_set_variable", json!({"name": name, "value": new}));
            assert_eq!(value(&agent, name), new, "{name} with {debugger}");
        }
        let end = patiently(&agent, "debugger_continue", json!({}));
        ended(&end, 0);
        says(&end, &["70 71 72"]);
        leave(desk, agent);
    }
}

/// The program is asked for those in the midst, and a list's begin to count anew there.
#[test]
fn keys_of_a_large_dictionary_are_its_own_and_elements_of_a_list_are_numbered() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let text = "users = {10_000 + k: f'user{k}' for k in range(600)}\nnames = list(users.values())\nprint(len(names))\n";
    let program = write(&desk, "large.py", text);
    start(&agent, json!({"program": program, "breakpoints": [3]}));
    let page = |variable: &str| {
        let arguments = json!({"variable": variable, "start": 300, "count": 2});
        agent.ok("debugger_inspect", arguments)
    };
    says(&page("users"), &["10300: str = 'user300'", "10301: str = 'user301'"]);
    says(&page("names"), &["300: str = 'user300'", "301: str = 'user301'"]);
    ended(&go_on(&agent), 0);
    leave(desk, agent);
}
