//! What an agent is told of breakpoints that can never stop, with every debugger: functions that do not exist, and conditions
//! with a mistake in them.

use std::path::{Path, PathBuf};

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::{Mcp, adapters, fixtures};
use serde_json::{Value, json};

use super::place::Place;

/// The longest that a call may wait. What is expected comes long before.
const LONG: u64 = 45_000;

struct Told {
    /// In the folder `fizz` of the fixtures.
    file: &'static str,
    language: Option<&'static str>,
    needs: &'static [&'static str],
    /// What a breakpoint is called in a function that does not exist.
    nosuch: &'static str,
    /// A condition of a variable that does not exist, and what becomes of it.
    mistake: &'static str,
    then: Then,
}

enum Then {
    /// It is not set, or not taken, because of this.
    Refused(&'static str),
    /// It stops, and says so.
    Stops(&'static str),
    /// It is passed over, and the end says so.
    Ends(&'static str),
}

const UNKNOWN: &str = "cannot be evaluated: ";

const PYTHON: Told = Told {
    file: "fizz.py",
    language: None,
    needs: &["debugpy"],
    nosuch: "pending",
    mistake: "totl > 3",
    then: Then::Stops("cannot be evaluated: NameError: name 'totl' is not defined"),
};

const NATIVE: Told = Told {
    file: "fizz.c",
    needs: &["gcc", "lldb"],
    language: Some("lldb"),
    then: Then::Stops(UNKNOWN),
    ..PYTHON
};

fn patiently(agent: &Mcp, tool: &str, mut arguments: Value) -> Reply {
    arguments["wait_ms"] = LONG.into();
    let mut reply = agent.ok(tool, arguments);
    for _ in 0..4 {
        if !["running", "starting"].contains(&reply.state()) {
            break;
        }
        let more = json!({"session_id": reply.session(), "wait_ms": LONG});
        reply = agent.ok("debugger_wait", more).behind(&reply);
    }
    reply
}

fn copied(place: &Place, file: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/fixtures/fizz");
    let program = place.work().join(file);
    let folder = program.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    for file in std::fs::read_dir(fixtures.join(file).parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() {
            std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
        }
    }
    program
}

fn is_told(told: &Told) {
    if told.needs.iter().any(|need| adapters::skipped(need)) {
        return;
    }
    let place = Place::new();
    let agent = place.agent();
    let program = copied(&place, told.file);
    let mut start = json!({"program": program, "breakpoints": ["fizz", "nosuch"]});
    if let Some(language) = told.language {
        start["language"] = language.into();
    }
    let stop = patiently(&agent, "debugger_start", start);
    assert_eq!(stop.state(), "paused", "in the function that exists: {stop:#?}");
    let [fizz, nosuch] = [0, 1].map(|at| &stop.data["breakpoints"][at]["state"]);
    assert_eq!((fizz, nosuch), (&"verified".into(), &told.nosuch.into()), "{stop:#?}");
    agent.ok("debugger_breakpoints", json!({"remove": "all"}));

    let line = fixtures::marked(&program, "fizz");
    let condition = json!({"file": program, "line": line, "condition": told.mistake});
    let set = agent.call("debugger_set_breakpoint", condition);
    if let Then::Refused(words) = told.then {
        assert!(set.is_error || set.state() == "rejected", "{set:#?}");
        assert!(set.text.contains(words), "no {words:?} in {set:#?}");
        return place.leave(agent);
    }
    assert!(["verified", "pending"].contains(&set.state()), "{set:#?}");
    let end = patiently(&agent, "debugger_continue", json!({}));
    let (state, words) = match told.then {
        Then::Stops(words) => ("paused", words),
        Then::Ends(words) | Then::Refused(words) => ("ended", words),
    };
    assert_eq!(end.state(), state, "{end:#?}");
    assert!(end.text.contains(words), "no {words:?} in {end:#?}");
    place.leave(agent);
}

#[test]
fn by_python() {
    is_told(&PYTHON);
}

#[test]
fn by_python_with_its_own_adapter() {
    is_told(&Told { language: Some("debugpy-stock"), ..PYTHON });
}

#[test]
fn by_node() {
    let then = Then::Ends("breakpoint 3 was not hit");
    is_told(&Told { file: "fizz.js", needs: &["js-debug"], nosuch: "rejected", then, ..PYTHON });
}

#[test]
fn by_ruby() {
    let then = Then::Stops("cannot be judged: NameError");
    is_told(&Told { file: "fizz.rb", needs: &["rdbg"], nosuch: "rejected", then, ..PYTHON });
}

#[test]
fn by_go() {
    let then = Then::Stops("could not find symbol value for totl");
    is_told(&Told { file: "go/main.go", needs: &["delve", "go"], nosuch: "rejected", then, ..PYTHON });
}

#[test]
fn by_java() {
    is_told(&Told { file: "Fizz.java", needs: &["jdi"], then: Then::Stops(UNKNOWN), ..PYTHON });
}

#[test]
fn by_perl() {
    let (mistake, then) = ("$totl > 3", Then::Ends("breakpoint 3 was not hit"));
    is_told(&Told { file: "fizz.pl", needs: &["perl"], nosuch: "rejected", mistake, then, ..PYTHON });
}

#[test]
fn by_cmake() {
    let then = Then::Refused("this debugger knows no conditions");
    is_told(&Told { file: "fizz.cmake", needs: &["cmake"], nosuch: "rejected", then, ..PYTHON });
}

#[test]
fn by_ez() {
    let then = Then::Refused("totl");
    is_told(&Told { file: "fizz.ez", needs: &[], nosuch: "rejected", then, ..PYTHON });
}

#[test]
fn by_lldb() {
    is_told(&NATIVE);
}

#[test]
fn by_codelldb() {
    is_told(&Told { language: Some("codelldb"), needs: &["gcc", "codelldb"], ..NATIVE });
}

#[test]
fn by_a_gdb_that_speaks_the_protocol() {
    let then = Then::Refused("No symbol \"totl\"");
    is_told(&Told { language: Some("gdb"), needs: &["gcc", "gdb"], then, ..NATIVE });
}

#[test]
fn by_an_older_gdb_and_cdt() {
    let (needs, then) = (&["gcc", "cdt-gdb"], Then::Refused("No symbol \"totl\""));
    is_told(&Told { language: Some("cdt-gdb"), needs, nosuch: "rejected", then, ..NATIVE });
}

const CART: &str = "\
const { price } = require('./prices');
class Cart {
  total(items) {
    // All of them.
    return items.map((item) => price(item)).reduce((a, b) => a + b, 0);
  }
}
class Bill {
  total() {
    return new Cart().total(['tea', 'jam']);
  }
}
const twice = (n) => n * 2;
console.log(twice(new Bill().total()));
";

const PRICES: &str = "\
exports.price = function (item) {
  return item.length;
};
";

#[test]
fn a_function_is_found_in_the_sources_where_the_debugger_knows_none() {
    if adapters::skipped("js-debug") {
        return;
    }
    let place = Place::new();
    let agent = place.agent();
    let write = |name: &str, text: &str| {
        let path = place.work().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (cart, prices) = (write("cart.js", CART), write("prices.js", PRICES));
    let breakpoints = json!(["Cart.total", "price", {"function": "twice", "capture": ["n"]}, "total"]);
    let stop = patiently(&agent, "debugger_start", json!({"program": cart, "breakpoints": breakpoints}));
    let stands = |stop: &Reply, file: &Path, line: u64| {
        let there = stop.data["file"].as_str().map(|file| Path::new(file).canonicalize().unwrap());
        assert_eq!((there, &stop.data["line"]), (file.canonicalize().ok(), &line.into()), "{stop:#?}");
    };
    stands(&stop, &cart, 5);
    let several = &stop.data["breakpoints"][3];
    assert_eq!(several["state"], "rejected", "{stop:#?}");
    assert!(several["reason"].as_str().unwrap().contains("2 times: cart.js:5, cart.js:10"), "{several:#}");
    let listed = agent.ok("debugger_breakpoints", json!({}));
    assert!(listed.text.contains("breakpoint 1 Cart.total at cart.js:5 · verified · 1 hits"), "{listed:#?}");
    let known = &listed.data["breakpoints"][0];
    assert_eq!((&known["function"], &known["line"]), (&"Cart.total".into(), &5.into()), "{listed:#?}");

    stands(&patiently(&agent, "debugger_continue", json!({})), &prices, 2);
    let nowhere = agent.failed("debugger_set_breakpoint", json!({"function": "nosuch"}));
    assert!(
        nowhere.text.contains("no definition of `nosuch`") && nowhere.text.contains("`text`"),
        "{nowhere:#?}"
    );
    let elsewhere = json!({"function": "price", "file": cart});
    assert!(agent.failed("debugger_set_breakpoint", elsewhere).text.contains("no definition"));

    // What moved meanwhile is found again.
    write("prices.js", &format!("// New.\n\n{PRICES}"));
    stands(&patiently(&agent, "debugger_restart", json!({})), &cart, 5);
    stands(&patiently(&agent, "debugger_continue", json!({})), &prices, 4);
    agent.ok("debugger_breakpoints", json!({"remove": ["2"]}));
    let end = patiently(&agent, "debugger_continue", json!({}));
    assert_eq!((end.state(), &end.data["captured"][0]["values"]["n"]), ("ended", &"6".into()), "{end:#?}");
    place.leave(agent);
}

#[test]
fn a_capture_whose_condition_has_a_mistake_stops_instead_of_capturing() {
    if adapters::skipped("debugpy") {
        return;
    }
    let place = Place::new();
    let agent = place.agent();
    let program = copied(&place, "fizz.py");
    let line = fixtures::marked(&program, "call");
    let capture = json!({"line": line, "condition": "nubmer > 2", "capture": ["number"]});
    let stop = patiently(&agent, "debugger_start", json!({"program": program, "breakpoints": [capture]}));
    assert_eq!((stop.state(), &stop.data["line"]), ("paused", &line.into()), "{stop:#?}");
    assert!(stop.text.contains("condition `nubmer > 2` cannot be evaluated"), "{stop:#?}");
    let again = json!({"line": line, "condition": "number > 2", "capture": ["number"]});
    agent.ok("debugger_set_breakpoint", again);
    let end = patiently(&agent, "debugger_continue", json!({}));
    let captured = end.data["captured"].as_array().unwrap().iter().map(|row| &row["values"]["number"]);
    assert_eq!(captured.collect::<Vec<_>>(), ["3", "4", "5"], "{end:#?}");
    place.leave(agent);
}

/// Starts a program and stops in the line that calls.
fn calling(place: &Place, agent: &Mcp, file: &str, language: &str) -> Reply {
    let program = copied(place, file);
    let breakpoints = [fixtures::marked(&program, "call")];
    let start = json!({"program": program, "language": language, "breakpoints": breakpoints});
    let stop = patiently(agent, "debugger_start", start);
    assert_eq!(stop.state(), "paused", "{stop:#?}");
    stop
}

#[test]
fn a_variable_is_watched_where_the_debugger_can() {
    let all = [("fizz.c", "lldb"), ("fizz.c", "codelldb"), ("fizz.c", "cdt-gdb"), ("fizz.ez", "ez")];
    for (file, language) in all.into_iter().filter(|(_, language)| !adapters::skipped(language)) {
        let place = Place::new();
        let agent = place.agent();
        calling(&place, &agent, file, language);
        let nosuch = agent.failed("debugger_set_breakpoint", json!({"watch": "nosuch"}));
        assert!(nosuch.text.contains("`nosuch` cannot be watched: "), "{language}: {nosuch:#?}");
        let on_terms =
            agent.failed("debugger_set_breakpoint", json!({"watch": "lines", "condition": "lines > 1"}));
        assert!(on_terms.text.contains("`condition` has no effect"), "{language}: {on_terms:#?}");
        let watched = agent.ok("debugger_set_breakpoint", json!({"watch": "lines"}));
        assert_eq!((watched.state(), &watched.data["watch"]), ("verified", &"lines".into()), "{language}");
        agent.ok("debugger_breakpoints", json!({"remove": ["1"]}));
        for expected in ["1", "2"] {
            let stop = patiently(&agent, "debugger_continue", json!({}));
            assert_eq!(stop.state(), "paused", "{language}: {stop:#?}");
            let lines = agent.ok("debugger_evaluate", json!({"expression": "lines"}));
            assert_eq!(lines.data["result"], expected, "{language}: {lines:#?}");
        }
        let end = patiently(&agent, "debugger_restart", json!({}));
        assert_eq!(end.state(), "ended", "nothing is watched any more: {language}: {end:#?}");
        let listed = agent.ok("debugger_breakpoints", json!({}));
        assert!(
            listed.text.contains("changes of lines · rejected: what it watched was of the run before"),
            "{listed:#?}"
        );
        place.leave(agent);
    }
}

#[test]
fn who_cannot_watch_is_told_what_to_do_instead() {
    if adapters::skipped("debugpy") {
        return;
    }
    let place = Place::new();
    let agent = place.agent();
    let program = copied(&place, "fizz.py");
    let early = json!({"program": program, "breakpoints": [{"watch": "lines"}]});
    assert!(agent.failed("debugger_start", early).text.contains("Stop where the variable exists"));
    calling(&place, &agent, "fizz.py", "python");
    let refused = agent.failed("debugger_set_breakpoint", json!({"watch": "lines"}));
    assert!(
        refused.text.contains("watches no variables") && refused.text.contains("`capture`"),
        "{refused:#?}"
    );
    place.leave(agent);
}
