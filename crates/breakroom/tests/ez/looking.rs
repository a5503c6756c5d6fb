//! What a program that stands still shows.

use serde_json::{Value, json};

use crate::support::ez_engine::Engine;

const ZOO: &str = "\
import @std
import @arrays
using std

const Color enum {
    RED
    GREEN
}

const Point struct {
    x, y int
}

const Shape struct {
    name string
    corners [Point]
    sizes map[string:int]
}

const LIMIT = 3
temp counter int = 7

do inner(a int, &p Point, list [int]) -> int {
    temp local = a + p.x
    if a > 0 { // @if
        temp deeper = local * 2 // @deeper
        for i in range(0, 1) { // @for
            temp deepest = \"x\"
            println(deepest, deeper, i) // @deep
        }
    }
    return local // @return
}

do main() {
    temp point = Point{x: 1, y: 2}
    temp shape = Shape{name: \"tri\", corners: {Point{x: 0, y: 0}, Point{x: 3, y: 4}}, sizes: {\"a b\": 1, \"c\": 2}}
    temp many [int] = {}
    for i in range(0, 100000) {
        arrays.append(many, i)
    }
    temp empty [int] = {}
    temp letter = 'z'
    temp flag = true
    temp real = 2.5
    temp color = Color.GREEN
    temp numbers map[int:string] = {1: \"one\", 2: \"two\"}
    temp nothing Point = nil
    temp got = inner(5, point, many) // @call
    println(got, shape.name, len(empty), letter, flag, real, color, numbers, nothing == nil) // @print
}
";

#[test]
fn the_stack_has_names_and_lines_and_can_be_had_in_parts() {
    let mut engine = Engine::at(ZOO, "deep");
    engine.is_at(&[("inner", "deep"), ("main", "call")]);
    let part = engine.client.call("stackTrace", json!({"threadId": 1, "startFrame": 1, "levels": 1}));
    let frames = part["body"]["stackFrames"].as_array().unwrap();
    assert_eq!(
        (frames.len(), &frames[0]["name"], &part["body"]["totalFrames"]),
        (1, &json!("main"), &json!(2))
    );
    assert_eq!(frames[0]["source"], json!({"name": "main.ez", "path": engine.program}));
    assert_eq!(
        engine.client.call("threads", Value::Null)["body"]["threads"],
        json!([{"id": 1, "name": "main"}])
    );
    engine.leave();
}

#[test]
fn scopes_are_blocks_the_function_and_the_globals() {
    let mut engine = Engine::at(ZOO, "deep");
    let scopes = engine.scopes(0);
    let names: Vec<&str> = scopes.iter().map(|(name, _)| name.as_str()).collect();
    let blocks = ["for", "deeper"].map(|mark| format!("Block of line {}", engine.line(mark)));
    assert_eq!(names, [blocks[0].as_str(), blocks[1].as_str(), "Locals", "Globals"]);
    let shown: Vec<Vec<String>> = scopes.iter().map(|(_, reference)| engine.shown(reference)).collect();
    assert_eq!(shown[0], ["i = 0", "deepest = \"x\""]);
    assert_eq!(shown[1], ["deeper = 12"]);
    assert_eq!(shown[2][..2], ["a = 5", "p = Point{x: 1, y: 2}"]);
    assert_eq!(shown[2][3], "local = 6");
    assert_eq!(shown[3], ["LIMIT = 3", "counter = 7"]);
    engine.leave();
}

#[test]
fn variables_show_only_once_they_are_declared() {
    let mut engine = Engine::at(ZOO, "if");
    let locals = engine.scope("Locals");
    assert_eq!(engine.variables(&locals).len(), 4);
    engine.step("stepOut");
    let locals = engine.scope("Locals");
    assert_eq!(engine.variable(&locals, "got")["value"], "6");
    engine.leave();
}

#[test]
fn structured_variables_have_children_and_types() {
    let mut engine = Engine::at(ZOO, "call");
    let locals = engine.scope("Locals");
    let shape = engine.variable(&locals, "shape");
    assert_eq!((&shape["type"], &shape["namedVariables"]), (&json!("Shape"), &json!(3)));
    let inside = engine.shown(&shape["variablesReference"]);
    assert_eq!(inside[0], "name = \"tri\"");
    let corners = engine.variable(&shape["variablesReference"], "corners");
    assert_eq!((&corners["type"], &corners["indexedVariables"]), (&json!("[Point]"), &json!(2)));
    assert_eq!(corners["value"], "[Point{x: 0, y: 0}, Point{x: 3, y: 4}]");
    let second = engine.variable(&corners["variablesReference"], "[1]");
    assert_eq!(engine.shown(&second["variablesReference"]), ["x = 3", "y = 4"]);
    let sizes = engine.variable(&shape["variablesReference"], "sizes");
    assert_eq!(engine.shown(&sizes["variablesReference"]), ["\"a b\" = 1", "\"c\" = 2"]);
    for (name, value, kind) in [
        ("empty", "[]", "[int]"),
        ("letter", "'z'", "char"),
        ("flag", "true", "bool"),
        ("real", "2.5", "float"),
        ("color", "Color.GREEN", "Color"),
        ("numbers", "{1: \"one\", 2: \"two\"}", "map[int:string]"),
        ("nothing", "nil", "Point"),
    ] {
        let variable = engine.variable(&locals, name);
        assert_eq!((&variable["value"], &variable["type"]), (&json!(value), &json!(kind)), "{name}");
    }
    assert_eq!(engine.variable(&locals, "empty")["variablesReference"], 0);
    engine.leave();
}

#[test]
fn every_evaluate_name_leads_to_the_same_value() {
    let mut engine = Engine::at(ZOO, "call");
    let mut pending: Vec<Value> = engine.scopes(0).into_iter().map(|(_, reference)| reference).collect();
    let mut looked_at = 0;
    while let Some(reference) = pending.pop() {
        let arguments = json!({"variablesReference": reference, "start": 0, "count": 5});
        for variable in engine.variables_where(arguments) {
            let name = variable["evaluateName"].as_str().unwrap_or_else(|| panic!("{variable}"));
            let arguments = json!({"expression": name, "frameId": 1, "context": "hover"});
            let answer = engine.client.call("evaluate", arguments);
            assert_eq!(answer["body"]["result"], variable["value"], "{name}");
            looked_at += 1;
            if variable["variablesReference"] != 0 {
                pending.push(variable["variablesReference"].clone());
            }
        }
    }
    assert!(looked_at >= 25, "{looked_at}");
    engine.leave();
}

#[test]
fn a_large_array_is_shown_in_parts() {
    let mut engine = Engine::at(ZOO, "call");
    let locals = engine.scope("Locals");
    let many = engine.variable(&locals, "many");
    assert_eq!(many["indexedVariables"], 100_000);
    assert!(many["value"].as_str().unwrap().len() < 2000);
    let of = &many["variablesReference"];
    let part = engine.variables_where(
        json!({"variablesReference": of, "filter": "indexed", "start": 99_998, "count": 50}),
    );
    let names: Vec<(&Value, &Value)> = part.iter().map(|one| (&one["name"], &one["value"])).collect();
    assert_eq!(names, [(&json!("[99998]"), &json!("99998")), (&json!("[99999]"), &json!("99999"))]);
    assert_eq!(engine.variables_where(json!({"variablesReference": of, "filter": "named"})).len(), 0);
    assert_eq!(
        engine.variables_where(json!({"variablesReference": of, "start": 200_000, "count": 5})).len(),
        0
    );
    let first = engine.variables(of);
    assert_eq!(first.len(), 1001);
    assert_eq!(first[1000]["value"], "99000 more, which `start` and `count` of a request lead to");
    engine.leave();
}

#[test]
fn references_of_another_stop_lead_nowhere() {
    let mut engine = Engine::at(ZOO, "call");
    let locals = engine.scope("Locals");
    engine.step("next");
    let answer = engine.client.call_failing("variables", json!({"variablesReference": locals}));
    assert_eq!(answer["message"], format!("there is no variablesReference {locals} at this stop"));
    for (command, arguments) in [
        ("scopes", json!({"frameId": 9})),
        ("scopes", json!({"frameId": "x"})),
        ("scopes", json!({})),
        ("variables", json!({"variablesReference": -1})),
        ("variables", json!({})),
        ("evaluate", json!({"expression": "1", "frameId": 3})),
    ] {
        engine.client.call_failing(command, arguments);
    }
    engine.leave();
}

#[test]
fn names_are_completed_as_far_as_they_are_known() {
    let mut engine = Engine::at(ZOO, "deep");
    let mut labels = |text: &str| -> Vec<String> {
        let column = text.chars().count() + 1;
        let arguments = json!({"frameId": 1, "text": text, "column": column});
        let answer = engine.client.call("completions", arguments);
        let targets = answer["body"]["targets"].as_array().unwrap().clone();
        targets.iter().map(|target| target["label"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(labels("1 + deep"), ["deeper", "deepest"]);
    assert_eq!(labels("in"), ["inner"]);
    assert!(labels("").contains(&"counter".to_owned()));
    assert!(labels("p.de").is_empty());
    engine.leave();
}

#[test]
fn an_outer_variable_of_the_same_name_shows_its_own_value() {
    let program = "\
import @std
using std

do main() {
    temp n = {1, 2}
    if len(n) > 0 {
        temp n = {7, 8}
        println(n) // @inner
    }
    println(n) // @outer
}
";
    let mut engine = Engine::at(program, "inner");
    let (block, locals) = (engine.scope("Block"), engine.scope("Locals"));
    assert_eq!(engine.variable(&block, "n")["evaluateName"], "n");
    let outer = engine.variable(&locals, "n");
    assert_eq!(outer["value"], "[1, 2]");
    // `n` means the inner one here.
    assert!(outer["evaluateName"].is_null());
    engine.set(&outer["variablesReference"], "[0]", "100");
    assert_eq!(engine.shown(&outer["variablesReference"]), ["[0] = 100", "[1] = 2"]);
    engine.set(&locals, "n", "{5, 6, 7}");
    assert_eq!(engine.variable(&locals, "n")["value"], "[5, 6, 7]");
    assert_eq!(engine.variable(&block, "n")["value"], "[7, 8]");
    assert_eq!(engine.run_out(), "{7, 8}\n{5, 6, 7}\n");
}

#[test]
fn variables_of_every_module_are_shown_and_changed_from_everywhere() {
    let main = "\
import @std
import s\"./shapes\"
using std

temp own int = 1
temp list [int] = {1, 2}

do main() {
    println(s.area(2, 3), own, list) // @call
}
";
    let shapes = "\
module shapes

private temp secret int = 4
temp open int = 5

do area(width int, height int) -> int {
    return width * height + secret + open // @area
}
";
    let mut engine = Engine::with_files(&[("main.ez", main), ("shapes.ez", shapes)]);
    engine.launch(json!({}));
    let line = engine.line_in("shapes.ez", "area");
    let wish = json!({"line": line, "condition": "own == 1 && secret == 4"});
    assert_eq!(engine.set_breakpoints("shapes.ez", vec![wish])[0]["verified"], true);
    engine.begin();
    engine.stopped("breakpoint");
    for frame in 0..2 {
        let globals = engine.scopes(frame).pop().unwrap().1;
        let mut names = Vec::new();
        for variable in engine.variables(&globals) {
            let name = variable["evaluateName"].as_str().unwrap();
            assert_eq!(engine.evaluate_in(frame, name), variable["value"].as_str().unwrap(), "{name}");
            names.push(variable["name"].as_str().unwrap().to_owned());
        }
        names.sort();
        assert_eq!(names, ["list", "own", "shapes.open", "shapes.secret"]);
        for name in ["own", "shapes.open", "shapes.secret"] {
            assert_eq!(
                engine.set(&globals, name, &format!("{}", 10 * (frame + 1)))["value"],
                json!(format!("{}", 10 * (frame + 1)))
            );
        }
        let list = engine.variable(&globals, "list");
        engine.set(&list["variablesReference"], "[0]", "own");
    }
    engine.go("continue");
    assert_eq!(engine.ended(0), "46 20 {20, 2}\n");
}
