//! Programs that print or hold far more than an agent could read.

use std::collections::BTreeSet;

use breakroom_testkit::adapters;
use serde_json::{Value, json};

use crate::support::office::{LONGEST_WAIT, Office};
use crate::support::rig::peak;

/// What the door may ever have had, with all that it was sent.
const MOST_MEMORY: u64 = 60 << 20;

const MANY: usize = 1_800;

fn assert_small(office: &Office) {
    let peak = peak(office.agent.pid().cast_signed());
    assert!(peak < MOST_MEMORY, "the door took {} MB", peak >> 20);
}

#[test]
fn of_100_mb_of_output_the_end_is_shown_the_latest_is_kept_and_the_loss_is_told() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let text = "import sys\nline = 'x' * 99 + '\\n'\nfor _ in range(1000):\n    sys.stdout.write(line * 1024)\nprint('the end')\n";
    let program = office.write("prints.py", text);
    let printed = 100 * 1024 * 1000 + 8;
    let reply = office.ok("debugger_start", json!({"program": program, "wait_ms": LONGEST_WAIT}));
    let id = reply.session();
    office.ended(reply);
    let latest =
        office.ok("debugger_inspect", json!({"session_id": id, "what": "output", "max_tokens": 100}));
    assert!(latest.text.trim_end().ends_with("the end"), "{latest:?}");
    assert_eq!(latest.data["cursor"], printed);

    let read = |cursor: u64| {
        let inspect = json!({"session_id": id, "what": "output", "cursor": cursor, "max_tokens": 20_000});
        office.ok("debugger_inspect", inspect)
    };
    let first = read(0);
    assert!(first.text.contains("bytes before are not kept"), "{:.200}", first.text);
    let (mut kept, mut reply) = (0, first);
    let mut last = String::new();
    while let Some(part) = reply.data["output"].as_str().filter(|part| !part.is_empty()) {
        assert!(reply.text.contains(part), "the text says the same as the data");
        kept += part.len();
        last = part.to_owned();
        reply = read(reply.data["cursor"].as_u64().unwrap());
    }
    assert!((512 * 1024..=1024 * 1024).contains(&kept), "{kept} bytes were kept");
    assert!(last.ends_with("xxx\nthe end\n"), "{last:.200}");
    assert_small(&office);
    office.close();
}

#[test]
fn of_1800_variables_each_is_found_by_paging_or_by_its_name() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = Office::new();
    let variables: String = (0..MANY).map(|at| format!("    variable_{at:04} = 'value {at}'\n")).collect();
    let program = office.write("many.py", &format!("def many():\n{variables}    return 1\nmany()\n"));
    let stop = office.stopped_at(&program, MANY + 2);
    let next = stop.data["next_variable"].as_u64().expect("there are more than fit");
    assert_eq!(names(&stop.data["locals"]).len() as u64, next, "text and data show the same ones");
    assert!(stop.text.contains(&format!("start={next}")), "{stop:?}");

    for tokens in [700, 20_000, 1_000_000] {
        let mut found: BTreeSet<String> = names(&stop.data["locals"]).into_iter().collect();
        let mut start = json!(next);
        while !start.is_null() {
            let inspect = json!({"what": "variables", "start": start, "max_tokens": tokens});
            let page = office.ok("debugger_inspect", inspect);
            let shown = names(&page.data["variables"]);
            let missing = shown.iter().find(|name| !page.text.contains(name.as_str()));
            assert_eq!(missing, None, "{page:?}");
            assert!(!shown.is_empty(), "no page without progress: {page:?}");
            found.extend(shown);
            start = page.data["next"].clone();
        }
        assert_eq!(found.len(), MANY, "with {tokens} tokens");
    }
    let few = office.ok("debugger_inspect", json!({"what": "variables", "filter": "VARIABLE_179"}));
    assert_eq!(names(&few.data["variables"]).len(), 10, "{few:?}");
    let none = office.ok("debugger_inspect", json!({"what": "variables", "filter": "nothing like it"}));
    assert!(names(&none.data["variables"]).is_empty(), "{none:?}");
    office.ok("debugger_stop", json!({}));
    assert_small(&office);
    office.close();
}

fn names(members: &Value) -> Vec<String> {
    let members = members.as_array().expect("a list of variables");
    members.iter().map(|member| member["name"].as_str().unwrap().to_owned()).collect()
}

/// Reads what an answer had no room for, until there is no more. The parts of the data and of the text are the same.
fn rests(office: &Office, mut cursor: Value) -> String {
    let mut whole = String::new();
    while let Some(name) = cursor.as_str() {
        let rest = office.ok("debugger_inspect", json!({"cursor": name, "max_tokens": 20_000}));
        let part = rest.data["text"].as_str().expect("the rest is in the data too");
        assert!(rest.text.starts_with(part));
        whole.push_str(part);
        cursor = rest.data["cursor"].clone();
    }
    whole
}

#[test]
fn a_string_of_50_mb_is_shown_in_part_and_the_rest_by_a_cursor() {
    let python = "def hold():\n    s = 'abc' * (50 * 1024 * 1024 // 3)\n    return len(s)\nhold()\n";
    let node = "function hold() {\n  const s = 'abc'.repeat(50 * 1024 * 1024 / 3);\n  return s.length;\n}\nhold();\n";
    for (engine, name, text, length) in
        [("debugpy", "long.py", python, "len(s)"), ("js-debug", "long.js", node, "s.length")]
    {
        if adapters::skipped(engine) {
            continue;
        }
        let office = Office::new();
        let program = office.write(name, text);
        let stop = office.stopped_at(&program, 3);
        assert!(stop.text.contains("s: str") && stop.text.contains("abcabc"), "{stop:?}");
        let count = office.ok("debugger_evaluate", json!({"expression": length}));
        assert_eq!(count.data["result"], "52428798", "{count:?}");
        let value = office.ok("debugger_inspect", json!({"variable": "s"}));
        let shown = value.data["variable"]["value"].as_str().unwrap();
        assert!(value.text.contains(shown), "{value:?}");
        let whole = format!("{shown}{}", rests(&office, value.data["cursor"].clone()));
        assert!(whole.len() > 50_000 && whole.contains(&"abc".repeat(10_000)), "{}", whole.len());
        let several = office.ok("debugger_evaluate", json!({"expressions": ["s", "s", "s"]}));
        assert_eq!(several.data["results"].as_array().unwrap().len(), 3);
        office.ok("debugger_stop", json!({}));
        assert_small(&office);
        office.close();
    }
}

#[test]
fn of_an_array_of_millions_only_what_is_asked_for_is_read() {
    if adapters::skipped("lldb") || adapters::skipped("gcc") || adapters::skipped("js-debug") {
        return;
    }
    let office = Office::new();
    let text = "static int numbers[20 << 20];\nint main(void) {\n    for (int i = 0; i < 20 << 20; i++) numbers[i] = i;\n    int *first = numbers;\n    return first[0];\n}\n";
    let (built, source) = office.build_c("millions", text);
    let start =
        json!({"program": built, "breakpoints": [{"file": source, "line": 5}], "wait_ms": LONGEST_WAIT});
    office.paused(office.ok("debugger_start", start));
    elements(&office, "numbers", "1000000", "[1000000]");
    office.ok("debugger_stop", json!({}));

    let node = office.write(
        "millions.js",
        "function hold() {\n  const numbers = Array.from({length: 200000}, (_, i) => i);\n  return numbers.length;\n}\nhold();\n",
    );
    office.stopped_at(&node, 3);
    elements(&office, "numbers", "100000", "100000");
    office.ok("debugger_stop", json!({}));
    assert_small(&office);
    office.close();
}

/// The first elements come with the value, others by their number, one by its path.
fn elements(office: &Office, array: &str, number: &str, name: &str) {
    let value = office.ok("debugger_evaluate", json!({"expression": array}));
    assert!(value.text.contains("more: debugger_inspect"), "{value:?}");
    let page = office.ok("debugger_inspect", json!({"variable": array, "start": number}));
    assert_eq!(page.data["variables"][0]["name"], name, "{page:?}");
    assert_eq!(page.data["variables"][0]["value"], number, "{page:?}");
    let one = office.ok("debugger_inspect", json!({"variable": format!("{array}[{number}]")}));
    assert_eq!(one.data["variable"]["value"], number, "{one:?}");
    office.failed("debugger_inspect", json!({"variable": array, "filter": "7"}));
}
