//! Looking into a stopped program and changing it.

use serde_json::{Value, json};

use crate::support::visual_studio::{Server, VisualStudio, property};

/// Stops at the line that ends with `// here`.
const VALUES: &str = "\
import @std, @arrays
using std

const Point struct {
    x, y int
}

const Shape struct {
    name string
    corners [Point]
}

temp counter int = 7

do inner(a int) -> int {
    temp deep = a + 1
    return deep // here
}

do main() {
    temp few = {10, 20, 30, 40, 50}
    temp many [int] = {}
    for i in range(0, 100000) {
        arrays.append(many, i)
    }
    temp empty [int] = {}
    temp shape = Shape{name: \"tri\", corners: {Point{x: 0, y: 0}, Point{x: 3, y: 4}}}
    temp ages = {\"a\": 1, \"b\": 2}
    temp word = \"grüße\"
    temp flag = true
    temp number = 5
    temp got = inner(number) // call
    println(got, len(few), len(many), len(empty), shape.name, ages[\"a\"], word, flag, number) // after
}
";

fn line(mark: &str) -> i64 {
    let mark = format!("// {mark}");
    i64::try_from(VALUES.lines().position(|line| line.ends_with(&mark)).unwrap()).unwrap() + 1
}

/// Stopped at the call, in `main`.
fn stopped() -> (Server, VisualStudio) {
    let server = Server::over("v.ez", VALUES);
    let mut vs = server.connect();
    vs.begin("v.ez", &[line("call")]);
    assert_eq!(vs.stopped("breakpoint"), line("call"));
    (server, vs)
}

fn names(list: &Value) -> Vec<String> {
    let all = list.as_array().unwrap();
    all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn s066_stack_has_the_frames_from_the_innermost_by_depth() {
    let (server, mut vs) = stopped();
    vs.step(1, "STEP_INTO");
    let stack = vs.call("get_stack", json!({"threadId": 1}));
    assert_eq!(stack["threadId"], 1);
    assert_eq!(names(&stack["frames"]), ["inner", "main"]);
    let ids: Vec<i64> =
        stack["frames"].as_array().unwrap().iter().map(|frame| frame["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(stack["frames"][1]["line"], line("call"));
    let outer = vs.call("get_scope", json!({"threadId": 1, "frameId": 2}));
    assert!(names(&outer["variables"]).contains(&"number".to_owned()));
    vs.stop();
    server.end();
}

#[test]
fn s067_s072_s020_unknown_threads_and_frames_are_refused_by_name() {
    let (server, mut vs) = stopped();
    assert_eq!(vs.refused("get_stack", json!({"threadId": 99})), "thread not found: 99");
    assert_eq!(vs.refused("get_stack", json!({"threadId": -1})), "thread not found: -1");
    for frame in [0, -3, 99] {
        let why = vs.refused("get_scope", json!({"threadId": 1, "frameId": frame}));
        assert_eq!(why, format!("frame not found: {frame}"));
    }
    let why = vs.refused("get_scope", json!({"threadId": 98, "frameId": 1}));
    assert_eq!(why, "thread not found: 98");
    vs.stop();
    server.end();
}

#[test]
fn s068_s069_s070_s099_scope_tells_values_types_and_what_can_be_expanded() {
    let (server, mut vs) = stopped();
    let variables = vs.variables(1);
    for (name, value, size) in [("number", "5", 0), ("flag", "true", 0)] {
        let variable = &variables[name];
        assert_eq!((&variable["value"], &variable["size"]), (&json!(value), &json!(size)), "{variable}");
    }
    assert!(variables["word"]["value"].as_str().unwrap().contains("grüße"));
    assert_eq!((&variables["few"]["size"], &variables["many"]["size"]), (&json!(5), &json!(100_000)));
    assert_eq!(variables["empty"]["size"], 0, "{}", variables["empty"]);
    for name in ["shape", "ages"] {
        assert_ne!(variables[name]["size"], 0, "{name}");
    }
    assert_ne!(variables["number"]["typeId"], variables["flag"]["typeId"]);
    let addresses: std::collections::HashSet<i64> =
        variables.values().map(|one| one["addr"].as_i64().unwrap()).collect();
    assert_eq!(addresses.len(), variables.len());
    vs.stop();
    server.end();
}

#[test]
fn s071_short_arrays_bring_their_elements_and_long_ones_do_not() {
    let (server, mut vs) = stopped();
    let variables = vs.variables(1);
    let few = &variables["few"];
    assert_eq!((&few["start"], &few["count"]), (&json!(0), &json!(5)), "{few}");
    let values: Vec<&Value> = few["elements"].as_array().unwrap().iter().map(|one| &one["value"]).collect();
    assert_eq!(values, ["10", "20", "30", "40", "50"]);
    assert!(variables["many"].get("elements").is_none());
    vs.stop();
    server.end();
}

#[test]
fn s073_s074_s075_s076_s077_properties_are_all_or_a_part() {
    let (server, mut vs) = stopped();
    let variables = vs.variables(1);
    let few = &variables["few"];
    for (start, count, values) in [
        (0, 0, vec!["10", "20", "30", "40", "50"]),
        (0, -1, vec!["10", "20", "30", "40", "50"]),
        (1, 2, vec!["20", "30"]),
        (4, 10, vec!["50"]),
        (5, 3, vec![]),
    ] {
        let answer = vs.expand(1, few, start, count);
        let found: Vec<&str> = answer["properties"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["value"].as_str().unwrap())
            .collect();
        assert_eq!(found, values);
        assert_eq!((&answer["size"], &answer["start"]), (&json!(5), &json!(start)));
        assert_eq!((&answer["addr"], &answer["typeId"]), (&few["addr"], &few["typeId"]));
    }
    let shape = vs.expand(1, &variables["shape"], 0, 0);
    assert_eq!(names(&shape["properties"]), ["name", "corners"]);
    assert_eq!((&shape["size"], &shape["count"]), (&json!(2), &json!(2)));
    let leaf = vs.expand(1, &variables["number"], 0, 0);
    assert_eq!((&leaf["size"], &leaf["count"]), (&json!(0), &json!(0)));
    vs.stop();
    server.end();
}

#[test]
fn s078_children_are_expanded_by_their_own_address() {
    let (server, mut vs) = stopped();
    let variables = vs.variables(1);
    let shape = vs.expand(1, &variables["shape"], 0, 0);
    let corners = vs.expand(1, &shape["properties"][1], 0, 0);
    assert_eq!(corners["size"], 2);
    let point = vs.expand(1, &corners["properties"][1], 0, 0);
    assert_eq!(names(&point["properties"]), ["x", "y"]);
    assert_eq!(point["properties"][1]["value"], "4");
    vs.stop();
    server.end();
}

#[test]
fn s079_s080_wrong_addresses_types_and_ranges_are_refused() {
    let (server, mut vs) = stopped();
    let few = vs.variables(1)["few"].clone();
    let asked = |change: Value| {
        let mut fields = property(1, &few, 0, 0);
        crate::support::editor::extend(&mut fields, change);
        fields
    };
    for (change, part) in [
        (json!({"addr": 123_456_789}), "invalid addr: 123456789"),
        (json!({"addr": 0}), "invalid addr: 0"),
        (json!({"typeId": 4_194_307}), "invalid typeId: 4194307"),
        (json!({"start": -1}), "invalid start index: -1"),
        (json!({"start": 99}), "invalid start index: 99"),
        (json!({"frameId": 17}), "frame not found: 17"),
        (json!({"threadId": null}), "threadId"),
        (json!({"frameId": null}), "frameId"),
    ] {
        let why = vs.refused("get_property", asked(change.clone()));
        assert!(why.contains(part), "{change}: {why}");
    }
    vs.stop();
    server.end();
}

#[test]
fn s118_s006_part_of_a_long_array_is_quick_and_all_of_it_fits_into_a_line() {
    let (server, mut vs) = stopped();
    let many = vs.variables(1)["many"].clone();
    let answer = vs.expand(1, &many, 99_990, 20);
    assert_eq!((&answer["count"], &answer["size"]), (&json!(10), &json!(100_000)));
    assert_eq!(answer["properties"][9]["value"], "99999");
    // The emulator fails on a line of 1 MB or more.
    let answer = vs.expand(1, &many, 0, 0);
    let count = answer["count"].as_i64().unwrap();
    assert!(count > 1000 && count < 100_000, "{count}");
    vs.output("warn", &format!("the next begins at {count}"));
    let next = vs.expand(1, &many, count, 1);
    assert_eq!(next["properties"][0]["value"], count.to_string());
    vs.stop();
    server.end();
}

#[test]
fn s081_s082_expressions_have_a_value_or_a_reason() {
    let (server, mut vs) = stopped();
    let result = vs.evaluate(1, "number + 2");
    assert_eq!((&result["value"], &result["name"]), (&json!("7"), &json!("number + 2")));
    let shape = vs.evaluate(1, "shape");
    let expanded = vs.expand(1, &shape, 0, 0);
    assert_eq!(names(&expanded["properties"]), ["name", "corners"]);
    assert_eq!(vs.evaluate(1, "few")["elements"].as_array().unwrap().len(), 5);
    let fields = json!({"threadId": 1, "frameId": 1, "expression": "no_such_name"});
    assert!(vs.refused("get_evaluation", fields).contains("no_such_name"));
    vs.stop();
    server.end();
}

#[test]
fn s083_s084_variables_are_set_by_text_of_their_type() {
    let (server, mut vs) = stopped();
    let variables = vs.variables(1);
    let assign = |variable: &Value, value: &str| {
        json!({
            "threadId": 1, "frameId": 1, "addr": variable["addr"], "typeId": variable["typeId"], "value": value,
        })
    };
    for (name, value, now) in
        [("number", "12", "12"), ("flag", "false", "false"), ("word", "new text", "\"new text\"")]
    {
        let answer = vs.call("set_variable", assign(&variables[name], value));
        assert_eq!(
            (&answer["addr"], &answer["typeId"]),
            (&variables[name]["addr"], &variables[name]["typeId"])
        );
        assert_eq!(vs.evaluate(1, name)["value"], now);
    }
    let shape = vs.expand(1, &variables["shape"], 0, 0);
    let corners = vs.expand(1, &shape["properties"][1], 0, 0);
    let point = vs.expand(1, &corners["properties"][1], 0, 0);
    vs.call("set_variable", assign(&point["properties"][1], "44"));
    assert_eq!(vs.evaluate(1, "shape.corners[1].y")["value"], "44");
    let why = vs.refused("set_variable", assign(&variables["number"], "abc"));
    assert!(why.contains("abc"), "{why}");
    vs.stop();
    server.end();
}

#[test]
fn s085_what_cannot_be_set_is_refused() {
    let (server, mut vs) = stopped();
    let number = vs.variables(1)["number"].clone();
    let fields = |change: Value| {
        let mut fields = json!({
            "threadId": 1, "frameId": 1, "addr": number["addr"], "typeId": number["typeId"], "value": "1",
        });
        crate::support::editor::extend(&mut fields, change);
        fields
    };
    for (change, part) in [
        (json!({"frameId": 99}), "frame not found: 99"),
        (json!({"addr": 5_000}), "invalid addr: 5000"),
        (json!({"typeId": 5_000}), "invalid typeId: 5000"),
        (json!({"value": 3}), "invalid"),
    ] {
        let why = vs.refused("set_variable", fields(change));
        assert!(why.contains(part), "{why}");
    }
    vs.stop();
    server.end();
}

#[test]
fn s097_variables_of_an_earlier_stop_are_refused_and_frames_by_depth_go_on() {
    let (server, mut vs) = stopped();
    let few = vs.variables(1)["few"].clone();
    let into = vs.step(1, "STEP_INTO");
    assert!(into < line("call"));
    // Visual Studio does not ask for the stack again if the place is the same.
    let scope = vs.call("get_scope", json!({"threadId": 1, "frameId": 1}));
    assert!(names(&scope["variables"]).contains(&"a".to_owned()), "{scope}");
    let why = vs.refused("get_property", property(1, &few, 0, 0));
    assert!(why.contains("invalid addr"), "{why}");
    assert!(vs.refused("get_scope", json!({"threadId": 1, "frameId": 3})).contains("frame not found"));
    vs.call("continue", json!({"threadId": 1}));
    vs.event("program_exited");
    assert!(vs.refused("get_scope", json!({"threadId": 1, "frameId": 1})).contains("exited"));
    vs.stop();
    server.end();
}

#[test]
fn s064_expression_that_never_ends_is_refused_after_a_deadline() {
    let text = "import @std\nusing std\n\ndo spin(n int) -> int {\n    temp i = n\n    as_long_as i >= 0 {\n        i = (i + 1) % 10\n    }\n    return i\n}\n\ndo main() {\n    temp x = 1\n    println(x) // 14\n    if x > 5 {\n        println(spin(x))\n    }\n}\n";
    let server = Server::over("s.ez", text);
    let mut vs = server.connect();
    vs.begin("s.ez", &[14]);
    assert_eq!(vs.stopped("breakpoint"), 14);
    let fields = json!({"threadId": 1, "frameId": 1, "expression": "spin(1)"});
    let why = vs.refused("get_evaluation", fields);
    assert!(why.contains("timeout"), "{why}");
    // The debugger works on.
    assert_eq!(vs.evaluate(1, "x + 1")["value"], "2");
    vs.call("continue", json!({"threadId": 1}));
    vs.event("program_exited");
    vs.stop();
    server.end();
}
