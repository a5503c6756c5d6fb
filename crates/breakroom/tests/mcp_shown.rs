//! What an agent is shown of a stop and of values, with real debuggers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod agents;
    pub mod editor;
}

use std::time::Duration;

use breakroom_testkit::wait;
use serde_json::{Value, json};
use support::agents::{desk, go_on, leave, patiently, printed, says, start, write};

const PATIENCE: Duration = Duration::from_secs(120);

const SHOP: &str = "\
import json
class Order:
    def __init__(self, id, items):
        self.id = id
        self.items = items

def fall(n):
    left = n - 1
    if left == 0:
        return json.loads('{nonsense')
    return fall(left)

def main():
    def inner(a):
        return a
    order = Order(3, ['tea', 'jam'])
    rows = list(range(10000))
    prices = {'price%d' % n: n for n in range(5000)}
    small = [1, 2, 3]
    inner(small)
    fall(2)

main()
";

/// The lines of a reply that begin with this, without what is around.
fn line_of<'a>(text: &'a str, beginning: &str) -> &'a str {
    text.lines().map(str::trim).find(|line| line.starts_with(beginning)).unwrap_or_default()
}

#[test]
fn a_stop_shows_fields_instead_of_addresses_and_local_functions() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "shop.py", SHOP);
    let stop = start(&agent, json!({"program": program, "breakpoints": [{"text": "inner(small)"}]}));
    says(&stop, &["paused: breakpoint", "> 20", "stack:"]);
    // They are looked into for a while only.
    let told = || {
        let again = agent.ok("debugger_inspect", json!({"what": "stop"}));
        let order = line_of(&again.text, "order: Order");
        (order.contains("id: 3") && order.contains("items: ['tea', 'jam']")).then_some(())
    };
    wait::until(PATIENCE, told).unwrap_or_else(|| panic!("no fields in {}", stop.text));
    assert!(!line_of(&stop.text, "inner: function").is_empty(), "{}", stop.text);
    assert!(stop.data.get("output").is_none(), "{:#}", stop.data);

    // Far behind what the debugger lists.
    let part = agent.ok("debugger_inspect", json!({"variable": "rows", "start": 9997, "count": 3}));
    let values: Vec<&Value> =
        part.data["variables"].as_array().unwrap().iter().map(|element| &element["value"]).collect();
    assert_eq!(values, ["9997", "9998", "9999"], "{part:#?}");
    assert_eq!((&part.data["total"], &part.data["variables"][0]["name"]), (&10_000.into(), &"9997".into()));
    let found = agent.ok("debugger_inspect", json!({"variable": "prices", "filter": "price4321"}));
    assert_eq!(found.data["variables"][0]["value"], "4321", "{found:#?}");

    let small = agent.ok("debugger_evaluate", json!({"expression": "small"}));
    assert_eq!(small.text.trim(), "small: list = [1, 2, 3]");
    let told = || {
        let fields = agent.ok("debugger_evaluate", json!({"expression": ["order", "small"]}));
        (fields.text.contains("id: 3") && fields.text.contains("small = [1, 2, 3]")).then_some(())
    };
    wait::until(PATIENCE, told).expect("a table of fields");
    let assigned = agent.failed("debugger_evaluate", json!({"expression": "small = 5"}));
    says(&assigned, &["debugger_set_variable", "repl"]);
    let both = agent.failed("debugger_evaluate", json!({"expressions": ["nobody", "nothing"]}));
    says(&both, &["nobody = <"]);

    for tokens in [100, 150] {
        let little = agent.ok("debugger_inspect", json!({"what": "stop", "max_tokens": tokens}));
        says(&little, &["> 20", "inner(small)", "order"]);
    }
    // Where a thread stands is asked for a while only.
    let told = || {
        let threads = agent.ok("debugger_inspect", json!({"what": "threads"}));
        threads.text.contains("main shop.py:20 < <module> shop.py:23").then_some(())
    };
    wait::until(PATIENCE, told).expect("the thread tells where it stands");
    leave(desk, agent);
}

#[test]
fn an_exception_in_a_library_is_shown_where_the_project_led_to_it() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "shop.py", SHOP);
    let launch = json!({"justMyCode": false});
    let started = json!({"program": program, "breakpoints": [{"text": "left == 0"}], "launch": launch});
    let stop = start(&agent, started);
    assert_eq!(stop.data["function"], "fall", "{stop:#?}");
    let deeper = go_on(&agent);
    assert!(deeper.data.get("changed").is_none(), "it is another call: {deeper:#?}");
    let stop = go_on(&agent);
    says(&stop, &["paused: exception ·", "exception: ", "JSONDecodeError", "> 10"]);
    assert_eq!((&stop.data["function"], &stop.data["line"]), (&"fall".into(), &10.into()), "{stop:#?}");
    let shown = stop.data["frame_id"].as_i64().unwrap_or(0);
    // Calls without a frame are about the one that was shown.
    let left = agent.ok("debugger_evaluate", json!({"expression": "left"}));
    assert_eq!(left.data["result"], "0", "{left:#?}");
    let same = agent.ok("debugger_evaluate", json!({"expression": "left", "frame_id": shown}));
    assert_eq!(same.data["result"], "0", "{same:#?}");
    leave(desk, agent);
}

const PANIC: &str = "\
fn pick(from: &[i32], at: usize) -> i32 {
    from[at]
}

fn main() {
    let all = vec![1, 2, 3];
    println!(\"{}\", pick(&all, 7));
}
";

#[test]
fn a_panic_is_shown_by_the_line_that_panicked() {
    let Some((desk, agent)) = desk(&["lldb-dap", "codelldb"]) else { return };
    let program = write(&desk, "pan.rs", PANIC);
    let stop = start(&agent, json!({"program": program}));
    says(&stop, &["paused: exception", "> 2", "frames of the runtime or libraries"]);
    let line = (stop.data["line"].as_i64(), stop.data["frame_id"].as_i64().unwrap_or(0) > 0);
    assert_eq!(line, (Some(2), true), "{stop:#?}");
    let at = agent.ok("debugger_evaluate", json!({"expression": "at"}));
    assert_eq!(at.data["result"], "7", "{at:#?}");
    leave(desk, agent);
}

const NODE: &str = "\
const { Worker } = require('worker_threads');
class Cart {
  total() { return 'a body that nobody needs to see'; }
}
function helper(a) {
  return 'another body that nobody needs to see' + a;
}
const count = 3;
console.log(count, helper, Cart, Worker);
";

#[test]
fn a_stop_in_node_shows_neither_bodies_nor_the_loader() {
    let Some((desk, agent)) = desk(&["js-debug"]) else { return };
    let program = write(&desk, "cart.js", NODE);
    let stop = start(&agent, json!({"program": program, "breakpoints": [9]}));
    says(&stop, &["count", "helper", "cart.js:9", "frames of the runtime or libraries"]);
    let locals = stop.text.split("locals:").nth(1).unwrap();
    assert!(!locals.contains("nobody needs"), "{}", stop.text);
    assert!(!stop.text.contains("Module._extensions"), "{}", stop.text);
    assert!(stop.data.to_string().len() < stop.text.len() * 2, "{stop:#?}");
    let end = patiently(&agent, "debugger_continue", json!({}));
    assert_eq!(end.state(), "ended", "{end:#?}");
    leave(desk, agent);
}

/// It says so when both wait for each other's, and has no further line to be paused at.
const LOCKED: &str = "\
import sys, threading
a, b = threading.Lock(), threading.Lock()
both = threading.Barrier(3)
def one():
    with a:
        both.wait()
        b.acquire()
def two():
    with b:
        both.wait()
        a.acquire()
threads = [threading.Thread(target=each, daemon=True) for each in (one, two)]
for thread in threads:
    thread.start()
both.wait()
stands = lambda thread: sys._current_frames()[thread.ident].f_lineno
while [stands(thread) for thread in threads] != [7, 11]: pass
print('locked', flush=True); threads[0].join()
";

#[test]
fn a_deadlock_is_paused_and_every_thread_tells_where_it_stands() {
    let Some((desk, agent)) = desk(&["debugpy"]) else { return };
    let program = write(&desk, "locked.py", LOCKED);
    let begun = agent.ok("debugger_start", json!({"program": program, "wait_ms": 0}));
    printed(&agent, &begun.session(), "locked");
    let paused = patiently(&agent, "debugger_pause", json!({}));
    says(&paused, &["paused: pause", "> 18", "stack:"]);
    // Each is asked for a while only, and the debugger is slow for those that wait for a lock.
    let places = ["<module> locked.py:18", "one locked.py:7", "two locked.py:11"];
    let all_told = || {
        let threads = agent.ok("debugger_inspect", json!({"what": "threads"}));
        places.iter().all(|place| threads.text.contains(place)).then_some(())
    };
    wait::until(PATIENCE, all_told).expect("every thread tells where it stands");
    leave(desk, agent);
}
