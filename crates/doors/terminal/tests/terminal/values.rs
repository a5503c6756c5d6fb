//! How deep and how wide values are shown, and what is left out.

use serde_json::{Value, json};

use crate::{FIRST_STOP, play};
use breakroom_testkit::scripted::Say;

/// `tree` is a node with a name, a pair and a list of twelve; everything is asked for by its reference.
fn nested(command: &str, arguments: &Value) -> Option<Vec<Say>> {
    let plain = |name: &str, value: &str| json!({"name": name, "value": value, "variablesReference": 0});
    let with = |name: &str, value: &str, reference: i64| json!({"name": name, "value": value, "variablesReference": reference});
    let answer = |variables: Vec<Value>| Some(vec![Say::Answer(json!({"variables": variables}))]);
    match (command, arguments["variablesReference"].as_i64(), arguments["expression"].as_str()) {
        ("evaluate", _, Some("tree")) => {
            Some(vec![Say::Answer(json!({"result": "<Tree object at 0x7f01>", "variablesReference": 500}))])
        }
        ("evaluate", _, Some("many")) => Some(vec![Say::Answer(
            json!({"result": "int [1000] @ 0x7f", "variablesReference": 504, "indexedVariables": 1000}),
        )]),
        ("evaluate", _, Some("text")) => {
            Some(vec![Say::Answer(json!({"result": "x".repeat(500), "variablesReference": 0}))])
        }
        ("evaluate", _, Some("plain")) => {
            Some(vec![Say::Answer(json!({"result": "[1, 2]", "variablesReference": 500}))])
        }
        ("variables", Some(500), _) => answer(vec![
            json!({"name": "special variables", "value": "", "variablesReference": 9}),
            plain("name", "'oak'"),
            with("left", "<Tree object at 0x7f02>", 501),
            with("pair", "(1, 2)", 502),
        ]),
        ("variables", Some(501), _) => {
            answer(vec![plain("name", "'twig'"), with("left", "<Tree object at 0x7f03>", 503)])
        }
        ("variables", Some(502), _) => answer(vec![plain("0", "1"), plain("1", "2")]),
        ("variables", Some(503), _) => answer(vec![plain("name", "'leaf'")]),
        ("variables", Some(504), _) => {
            let count = arguments["count"].as_i64().unwrap_or(1000);
            answer((0..count).map(|index| plain(&format!("[{index}]"), "0")).collect())
        }
        _ => None,
    }
}

fn shown(commands: &str) -> String {
    let played = play(commands, |_| {}, nested);
    played.shown.strip_prefix(FIRST_STOP).unwrap_or(&played.shown).to_owned()
}

#[test]
fn a_value_that_tells_little_is_shown_with_its_members_and_theirs() {
    assert_eq!(
        shown("p tree\nq\n"),
        "tree = <Tree object at 0x7f01>\n  name = 'oak'\n  left = <Tree object at 0x7f02>\n    name = 'twig'\n    \
         left = <Tree object at 0x7f03> …\n  pair = (1, 2)\n"
    );
    assert_eq!(shown("p plain\nq\n"), "plain = [1, 2]\n", "it says everything itself");
}

#[test]
fn a_depth_that_was_asked_for_shows_every_member_down_to_it() {
    assert_eq!(
        shown("p -d 3 tree\nq\n"),
        "tree = <Tree object at 0x7f01>\n  name = 'oak'\n  left = <Tree object at 0x7f02>\n    name = 'twig'\n    \
         left = <Tree object at 0x7f03>\n      name = 'leaf'\n  pair = (1, 2)\n    0 = 1\n    1 = 2\n"
    );
    assert_eq!(shown("p -d 0 tree\nq\n"), "tree = <Tree object at 0x7f01>\n");
}

#[test]
fn of_many_members_the_first_are_asked_for_and_shown() {
    let text = shown("p many\nq\n");
    assert!(text.starts_with("many = int [1000] @ 0x7f\n  [0] = 0\n"), "{text}");
    assert!(text.ends_with("  [9] = 0\n  and 990 more; `print -d 1 many` shows up to 100\n"), "{text}");
    let played = play("p many\nq\n", |_| {}, nested);
    assert_eq!(played.arguments("variables")["count"], 10, "a million must not be read for ten");
}

/// As gdb's: what has members has no text, and asking for them fails where memory cannot be read.
#[test]
fn one_value_that_cannot_be_read_leaves_the_others_shown() {
    let differ = |command: &str, arguments: &Value| match (command, arguments["variablesReference"].as_i64())
    {
        ("variables", Some(100)) => Some(vec![Say::Answer(json!({"variables": [
            {"name": "a", "value": "40", "variablesReference": 0},
            {"name": "lost", "value": "", "variablesReference": 600},
            {"name": "b", "value": "2", "variablesReference": 0},
        ]}))]),
        ("variables", Some(600)) => Some(vec![Say::Fail("Cannot access memory at address 0x1")]),
        _ => None,
    };
    let played = play("q\n", |_| {}, differ);
    assert!(played.shown.contains("  a = 40\n  lost = {…}\n  b = 2\n"), "{}", played.shown);
    assert!(!played.shown.contains("Cannot access"), "{}", played.shown);
}

/// As lldb's lists of C++; those behind 600 cannot be read, and the others are lists of three lists of two.
fn lists(command: &str, arguments: &Value) -> Option<Vec<Say>> {
    let reference = arguments["variablesReference"].as_i64();
    let list = |name: &str, size: i64, reference: i64| json!({"name": name, "value": format!("size={size}"), "variablesReference": reference});
    let answer = |variables: Vec<Value>| Some(vec![Say::Answer(json!({"variables": variables}))]);
    match (command, reference) {
        ("evaluate", _) => Some(vec![Say::Answer(json!({"result": "size=3", "variablesReference": 600}))]),
        ("variables", Some(100)) => answer(vec![
            json!({"name": "a", "value": "40", "variablesReference": 0}),
            list("lost", 3, 600),
            list("partly", 3, 601),
            json!({"name": "object", "value": "Tree @ 0x7f", "variablesReference": 600}),
            json!({"name": "b", "value": "2", "variablesReference": 0}),
        ]),
        ("variables", Some(600)) => Some(vec![Say::Fail("memory read failed for 0x1")]),
        ("variables", Some(601)) => answer(vec![
            list("[0]", 2, 602),
            list("[1]", 2, 600),
            json!({"name": "[2]", "value": "pair @ 0x7f", "variablesReference": 600}),
        ]),
        ("variables", Some(602)) => answer(
            ["1", "2"].map(|value| json!({"name": "x", "value": value, "variablesReference": 0})).to_vec(),
        ),
        _ => None,
    }
}

#[test]
fn one_list_that_cannot_be_read_stays_as_it_is_told_and_the_others_are_shown() {
    let played = play("locals\np lost\nq\n", |_| {}, lists);
    let stop = "  a = 40\n  lost = size=3\n  partly = [[1, 2], size=2, pair @ 0x7f]\n  object = Tree @ 0x7f\n  b = 2\n";
    let locals = "  a      = 40\n  lost   = size=3\n  partly = [[1, 2], size=2, pair @ 0x7f]\n  object = Tree @ 0x7f\n  b      = 2\n";
    assert!(played.shown.contains(&format!("{stop}{locals}lost = size=3\n")), "{}", played.shown);
    assert!(!played.shown.contains("memory read failed"), "{}", played.shown);
}

#[test]
fn lists_of_lists_cost_a_stop_only_so_many_questions_and_are_all_shown_on_demand() {
    let differ = |command: &str, arguments: &Value| match (command, arguments["variablesReference"].as_i64())
    {
        ("variables", Some(100)) => {
            let list = |index: i64| json!({"name": format!("l{index}"), "value": "size=6", "variablesReference": 700});
            Some(vec![Say::Answer(json!({"variables": (0..20).map(list).collect::<Vec<_>>()}))])
        }
        ("variables", Some(700)) => {
            let inner = json!({"name": "[0]", "value": "size=1", "variablesReference": 701});
            Some(vec![Say::Answer(json!({"variables": vec![inner; 6]}))])
        }
        ("variables", Some(701)) => Some(vec![Say::Answer(
            json!({"variables": [{"name": "[0]", "value": "1", "variablesReference": 0}]}),
        )]),
        _ => None,
    };
    let questions =
        |played: &crate::Played| played.commands().iter().filter(|command| **command == "variables").count();
    let stopped = play("q\n", |_| {}, differ);
    let (open, closed) = (["[1]"; 6].join(", "), ["size=1"; 6].join(", "));
    assert!(stopped.shown.contains(&format!("  l0 = [{open}]\n  l1 = [{closed}]\n")), "{}", stopped.shown);
    assert!(
        stopped.shown.contains(&format!("  l19 = [{closed}]\n")),
        "each is looked into: {}",
        stopped.shown
    );
    assert!(questions(&stopped) <= 1 + 20 + 10, "{}", questions(&stopped));

    let asked = play("locals\nq\n", |_| {}, differ);
    assert!(asked.shown.contains(&format!("  l19 = [{open}]\n")), "{}", asked.shown);
}

#[test]
fn a_long_text_is_cut_and_says_how_to_see_it_all() {
    let cut = shown("p text\nq\n");
    assert!(
        cut.starts_with("text = xxx") && cut.contains("x… (500 characters; `print -d 0 text` shows all)\n"),
        "{cut}"
    );
    let all = shown("p -d 0 text\nq\n");
    assert_eq!(all, format!("text = {}\n", "x".repeat(500)));
}

#[test]
fn an_expression_that_begins_with_a_minus_is_none_of_our_options() {
    for (command, expression) in [("p -d", "-d"), ("p -d * 2", "-d * 2"), ("p -x", "-x")] {
        let played = play(&format!("{command}\nq\n"), |_| {}, |_, _| None);
        assert_eq!(played.arguments("evaluate")["expression"], expression);
    }
}
