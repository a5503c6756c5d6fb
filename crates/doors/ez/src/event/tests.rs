//! Events against what the IDE needs of them, with texts of every kind.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn variable(name: &str, value: &str) -> Json {
    Json::Object(vec![("name", name.into()), ("value", value.into()), ("type", "string".into())])
}

fn read(lines: &[String]) -> Vec<Value> {
    for line in lines {
        assert!(line.len() <= LONGEST, "{} bytes", line.len());
        assert_eq!(line.find('\n'), Some(line.len() - 1), "one line, and whole");
    }
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn members_keep_the_order_of_the_document() {
    let location =
        vec![("file", Json::from("/a/test.ez")), ("line", Json::Number(5)), ("column", Json::Number(1))];
    let event = Event::new("stopped").with("reason", "breakpoint").object("location", location);
    let lines = event.with("breakpointId", 1).lines();
    let expected = r#"{"type":"event","event":"stopped","data":{"reason":"breakpoint","location":{"file":"/a/test.ez","line":5,"column":1},"breakpointId":1}}"#;
    assert_eq!(lines, [format!("{expected}\n")]);
    let nothing = Event::new("started").lines();
    assert_eq!(nothing, ["{\"type\":\"event\",\"event\":\"started\",\"data\":{}}\n"]);
}

#[test]
fn what_cannot_be_split_is_shortened_visibly() {
    let long = "x".repeat(10_000);
    let lines = Event::new("evaluateResult").with("expression", "x").with("result", &*long).lines();
    let [event] = &read(&lines)[..] else { panic!("one event") };
    let result = event["data"]["result"].as_str().unwrap();
    assert!(result.len() > 3900 && result.ends_with("x…"), "{} bytes", result.len());
    assert_eq!(event["data"]["expression"], "x");
}

#[test]
fn a_value_longer_than_a_line_does_not_cost_its_neighbours() {
    let list = Json::List(vec![
        variable("a", "1"),
        variable("b", &"\u{1}".repeat(5000)),
        variable(&"c".repeat(9000), "3"),
    ]);
    let events = read(&Event::new("variables").with("frameIndex", 0).with("variables", list).lines());
    let variables: Vec<&Value> =
        events.iter().flat_map(|event| event["data"]["variables"].as_array().unwrap()).collect();
    assert_eq!(variables.len(), 3);
    assert_eq!(variables[0]["value"], "1");
    assert!(variables[1]["value"].as_str().unwrap().ends_with('…'));
    assert_eq!(variables[2]["value"], "3");
}

proptest! {
    #[test]
    fn output_of_any_length_is_whole_again_when_put_together(text in "(?s).{0,3000}", times in 1_usize..5) {
        let text = text.repeat(times);
        let event = Event::new("output").with("category", "stdout").with("text", &*text);
        let lines = event.lines();
        let together: String =
            read(&lines).iter().map(|event| event["data"]["text"].as_str().unwrap().to_owned()).collect();
        prop_assert_eq!(together, text);
    }

    #[test]
    fn every_variable_is_in_one_of_the_lines(
        variables in proptest::collection::vec(("\\PC{0,40}", "(?s).{0,300}"), 0..60)
    ) {
        let list = Json::List(variables.iter().map(|(name, value)| variable(name, value)).collect());
        let lines = Event::new("variables").with("frameIndex", 3).with("variables", list).lines();
        let events = read(&lines);
        let told: Vec<(String, String)> = events
            .iter()
            .flat_map(|event| event["data"]["variables"].as_array().unwrap().clone())
            .map(|one| (one["name"].as_str().unwrap().to_owned(), one["value"].as_str().unwrap().to_owned()))
            .collect();
        prop_assert_eq!(told, variables);
        prop_assert!(events.iter().all(|event| event["data"]["frameIndex"] == 3));
    }

    #[test]
    fn texts_are_written_as_json_has_them(text in "(?s).{0,200}") {
        let mut line = String::new();
        write_text(&mut line, &text);
        prop_assert_eq!(line.len(), encoded_length(&text) + 2);
        prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
    }
}
