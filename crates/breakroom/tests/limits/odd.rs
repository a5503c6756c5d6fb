//! Values and stacks that are odd: very deep, not to be shown, or full of characters that mean something to terminals.

use breakroom_testkit::adapters;
use breakroom_testkit::fixtures::marked;
use serde_json::json;

use crate::support::office::Office;

const FRAMES: i64 = 5_000;

const ODD: &str = r#"import sys
sys.setrecursionlimit(20000)
class Bad:
    def __repr__(self):
        raise ValueError('cannot be shown')
class Worse:
    def __getattr__(self, name):
        raise RuntimeError('has no ' + name)
def nest(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value
def sink(n):
    if n == 0:
        bad, worse, deep = Bad(), Worse(), nest(900)
        text = 'zwei\nZeilen\r\n\x1b[31mrot\x1b[0m äöü 日本 😀\u202e\0\ud800'
        odd = {'a\nb': 1, '😀': [1, 2]}
        print('gedruckt \x1b[31mrot\x1b[0m äöü 😀\0')
        return n  # mark: deep
    return sink(n - 1)
sink(5000)
"#;

#[test]
fn five_thousand_frames_are_counted_paged_and_looked_into() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let program = office.write("odd.py", ODD);
    let stop = office.stopped_at(&program, usize::try_from(marked(&program, "deep")).unwrap());
    assert!(stop.text.contains("more: debugger_inspect with what=stack"), "{stop:?}");
    let (mut start, mut seen) = (json!(0), 0);
    while !start.is_null() {
        let inspect = json!({"what": "stack", "start": start, "count": 500, "max_tokens": 20_000});
        let page = office.ok("debugger_inspect", inspect);
        let frames = page.data["stack"].as_array().unwrap().len() as i64;
        assert!(frames > 0, "no page without progress: {page:?}");
        seen += frames;
        start = page.data["next"].clone();
    }
    assert_eq!(seen, FRAMES + 2);
    let deep = office.ok("debugger_evaluate", json!({"expression": "n", "frame_id": FRAMES - 1}));
    assert_eq!(deep.data["result"], (FRAMES - 1).to_string());
    office.failed("debugger_evaluate", json!({"expression": "n", "frame_id": FRAMES + 100}));
    office.failed("debugger_evaluate", json!({"expression": "n", "frame_id": -1}));
    let out = office.ok("debugger_step", json!({"kind": "out", "count": 3, "wait_ms": 45_000}));
    assert_eq!(out.state(), "paused", "{out:?}");
    office.ok("debugger_stop", json!({}));
    office.close();
}

#[test]
fn values_that_are_odd_cost_nothing_but_their_own_line() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let program = office.write("odd.py", &ODD.replace("sink(5000)", "sink(3)"));
    let stop = office.stopped_at(&program, usize::try_from(marked(&program, "deep")).unwrap());
    let local = |name: &str| stop.text.lines().any(|line| line.starts_with(&format!("  {name}: ")));
    for name in ["bad", "worse", "deep", "text", "odd", "n"] {
        assert!(local(name), "{name} is not on a line of its own: {}", stop.text);
    }
    assert!(stop.text.contains("äöü 日本 😀"), "{}", stop.text);
    assert!(stop.text.contains("gedruckt"), "{}", stop.text);
    for expression in ["bad", "worse", "deep", "text", "odd", "'\\n' * 1000", "'😀' * 20000"] {
        for tokens in [100, 2_000, 20_000] {
            office.ok("debugger_evaluate", json!({"expression": expression, "max_tokens": tokens}));
        }
        office.ok("debugger_inspect", json!({"variable": expression}));
    }
    let inside = office.ok("debugger_inspect", json!({"variable": "odd"}));
    assert!(inside.text.contains("'😀'"), "{inside:?}");
    let failed = office.failed("debugger_evaluate", json!({"expression": "1 / 0"}));
    assert!(failed.text.contains("ZeroDivisionError"), "{failed:?}");
    office.failed("debugger_evaluate", json!({"expression": "x".repeat(100_000)}));
    office.failed("debugger_evaluate", json!({"expression": "raise"}));
    let many = office.ok("debugger_evaluate", json!({"expressions": vec!["n"; 300]}));
    assert!(many.data["cursor"].is_string() || many.text.lines().count() == 300, "{many:?}");
    assert_eq!(office.ok("debugger_continue", json!({"wait_ms": 45_000})).state(), "ended");
    office.close();
}
