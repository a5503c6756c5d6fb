//! A client's `launch` or `attach` on its way to the engine: without what is the hub's, with what the engine cannot do
//! without.
//!
//! What the client says stays as it wrote it, but for the name of the type. What it left out is added, and commands of ours
//! come before its own.

use breakroom_dap::json::removal;
use breakroom_dap::{Edit, Json, Message};
use serde_json::{Map, Value};
use smallvec::SmallVec;

use crate::facts::{Amendments, DefaultsWhen};

/// The hub's own member: it may hold a token, and says nothing to an engine.
const OWN: &str = "breakroom";
/// The default that is the name of the request itself.
const REQUEST: &str = "{{request}}";

/// The edits that make the engine's launch of a client's.
pub(crate) fn amended(message: &Message, amendments: &Amendments) -> SmallVec<[Edit; 2]> {
    let Some(arguments) = message.payload().filter(|arguments| arguments.is_object()) else {
        return SmallVec::new();
    };
    let mut edits: SmallVec<[Edit; 2]> =
        removal(arguments, OWN).map(|cut| Edit::text(cut, "")).into_iter().collect();
    let mut missing = String::new();
    let mut add = |key: &str, value: &Value| match value == REQUEST {
        true => missing.push_str(&format!("{}:{},", Value::from(key), Value::from(message.command()))),
        false => missing.push_str(&format!("{}:{value},", Value::from(key))),
    };
    let fits = |when: &&DefaultsWhen| {
        when.arguments.keys().any(|key| arguments.get(key).is_none())
            && when.fits.0(arguments.str("program").as_deref())
    };
    let mut defaults = amendments.defaults.clone();
    for when in amendments.defaults_when.iter().filter(fits) {
        when.arguments.iter().for_each(|(key, value)| join(&mut defaults, key, value));
    }
    for (key, value) in defaults.iter().filter(|(key, _)| arguments.get(key).is_none()) {
        add(key, value);
    }
    let key = amendments.args_line.as_ref().filter(|key| arguments.get(key).is_none());
    if let Some((key, args)) = key.zip(arguments.get("args").filter(|args| args.is_array())) {
        add(key, &shell_line(args).into());
    }
    let before = amendments.before.as_ref().filter(|_| message.command() == Some("launch"));
    if let Some((key, commands)) = before {
        match arguments.get(key).filter(|said| said.is_array()) {
            Some(theirs) => {
                let at = theirs.start() + 1;
                let comma = if theirs.elements().next().is_some() { "," } else { "" };
                let list = Value::from(commands.as_slice()).to_string();
                let list = &list[1..list.len() - 1];
                edits.push(Edit::text(at..at, format!("{list}{comma}")));
            }
            // One command alone is a text to some.
            None if arguments.get(key).is_some() => {}
            None => add(key, &Value::from(commands.as_slice())),
        }
    }
    let said = arguments.str("type");
    let known = said.as_deref().and_then(|said| amendments.types.get(&said.to_lowercase()));
    // A type that the engine itself goes by stays as it is.
    let own = |said: &str| amendments.types.values().any(|name| name == said);
    let name = known.or_else(|| amendments.types.get("*").filter(|_| !said.as_deref().is_some_and(own)));
    match (name, arguments.get("type").and_then(Json::span)) {
        (Some(name), Some(there)) => edits.push(Edit::text(there, Value::from(name.as_str()).to_string())),
        (Some(name), None) => add("type", &Value::from(name.as_str())),
        (None, _) => {}
    }
    let others = arguments.members().any(|(key, _)| !key.is(OWN));
    if !others {
        missing.pop();
    }
    if !missing.is_empty() {
        let inside = arguments.start() + 1;
        edits.push(Edit::text(inside..inside, missing));
    }
    edits
}

/// A program of two languages is given the commands for both.
fn join(defaults: &mut Map<String, Value>, key: &str, value: &Value) {
    match (defaults.get_mut(key), value) {
        (Some(Value::Array(there)), Value::Array(more)) => there.extend_from_slice(more),
        (Some(_), _) => {}
        (None, value) => drop(defaults.insert(key.to_owned(), value.clone())),
    }
}

/// A line that a shell takes for these arguments. What is no text is there as it is written: a port is often a number.
fn shell_line(args: Json) -> String {
    let written = |arg: Json| arg.raw().map(|raw| String::from_utf8_lossy(raw).into_owned());
    let texts = args.elements().filter_map(|arg| arg.as_str().map(Into::into).or_else(|| written(arg)));
    let quoted: Vec<_> = texts.map(|arg: String| format!("'{}'", arg.replace('\'', r"'\''"))).collect();
    quoted.join(" ")
}

/// The arguments for the driver, which starts some engines with them.
pub(crate) fn for_driver(message: &Message) -> Option<Value> {
    let mut arguments: Value = serde_json::from_slice(message.payload()?.raw()?).ok()?;
    arguments.as_object_mut()?.remove(OWN);
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Fits;
    use serde_json::json;
    use std::sync::Arc;

    fn launch(arguments: &str, defaults: Value, types: &[(&str, &str)]) -> Value {
        let types = types.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        let defaults = defaults.as_object().unwrap().clone();
        start("launch", arguments, &Amendments { defaults, types, ..Amendments::default() })
    }

    fn start(command: &str, arguments: &str, amendments: &Amendments) -> Value {
        let text = format!(r#"{{"seq":1,"type":"request","command":"{command}","arguments":{arguments}}}"#);
        let message = Message::from_client(text.into_bytes().into()).unwrap();
        let edits = amended(&message, amendments);
        let edited = message.edited(edits).unwrap();
        serde_json::from_slice(edited.payload().unwrap().raw().unwrap()).unwrap()
    }

    const NODE: [(&str, &str); 2] = [("node", "pwa-node"), ("*", "pwa-node")];

    #[test]
    fn what_the_client_says_wins_over_the_default() {
        let defaults = json!({"terminal": "console", "localfs": true});
        let arguments = r#"{"program":"x","terminal":null,"breakroom":{"token":"t"}}"#;
        assert_eq!(
            launch(arguments, defaults, &[]),
            json!({"program": "x", "terminal": null, "localfs": true})
        );
    }

    #[test]
    fn an_engine_that_looks_there_is_told_in_the_arguments_which_request_it_is() {
        let defaults = json!({"request": "{{request}}"}).as_object().unwrap().clone();
        let amendments = Amendments { defaults, ..Amendments::default() };
        for command in ["launch", "attach"] {
            assert_eq!(start(command, r#"{"port":1}"#, &amendments), json!({"port": 1, "request": command}));
        }
        let said = r#"{"request":"attach"}"#;
        assert_eq!(start("launch", said, &amendments), json!({"request": "attach"}));
    }

    #[test]
    fn what_is_for_certain_programs_is_given_to_those_that_do_not_say_it() {
        let fits = Fits(Arc::new(|program| program.is_none_or(|program| program == "a")));
        let arguments = json!({"run": ["x"]}).as_object().unwrap().clone();
        let defaults_when = vec![DefaultsWhen { fits, arguments }];
        let amendments = Amendments { defaults_when, ..Amendments::default() };
        for (said, told) in [
            (r#"{"program":"a"}"#, json!({"program": "a", "run": ["x"]})),
            (r#"{"program":"b"}"#, json!({"program": "b"})),
            (r#"{"program":"a","run":[]}"#, json!({"program": "a", "run": []})),
            (r#"{"pid":1}"#, json!({"pid": 1, "run": ["x"]})),
        ] {
            assert_eq!(start("launch", said, &amendments), told, "{said}");
        }
    }

    #[test]
    fn commands_for_several_kinds_of_programs_are_all_told() {
        let when = |run: &'static str| {
            let fits = Fits(Arc::new(move |program| program.is_none_or(|program| program.contains(run))));
            DefaultsWhen { fits, arguments: json!({"run": [run]}).as_object().unwrap().clone() }
        };
        let defaults = json!({"run": ["x"]}).as_object().unwrap().clone();
        let defaults_when = vec![when("a"), when("b")];
        let amendments = Amendments { defaults, defaults_when, ..Amendments::default() };
        for (program, run) in
            [("ab", json!(["x", "a", "b"])), ("b", json!(["x", "b"])), ("none", json!(["x"]))]
        {
            let said = json!({"program": program}).to_string();
            assert_eq!(start("launch", &said, &amendments)["run"], run, "{program}");
        }
    }

    #[test]
    fn arguments_are_one_line_where_the_engine_takes_them_so() {
        let amendments = Amendments { args_line: Some("line".to_owned()), ..Amendments::default() };
        for (said, line) in [
            (r#"{"args":["a","it's b",""]}"#, json!(r"'a' 'it'\''s b' ''")),
            (r#"{"args":["--port",8080,true]}"#, json!("'--port' '8080' 'true'")),
            (r#"{"args":["a"],"line":"b"}"#, json!("b")),
            (r#"{"args":["-p",8080,1.50,true,null]}"#, json!("'-p' '8080' '1.50' 'true' 'null'")),
            (r#"{"args":[{"it": "'s"},["a"]]}"#, json!(r#"'{"it": "'\''s"}' '["a"]'"#)),
            (r#"{"args":"a b"}"#, Value::Null),
        ] {
            assert_eq!(start("launch", said, &amendments)["line"], line, "{said}");
        }
    }

    #[test]
    fn a_launch_with_nothing_of_its_own_stays_well_formed() {
        for arguments in ["{}", r#"{"breakroom":{}}"#, "{ }"] {
            let amended = launch(arguments, json!({"a": 1, "b": [2]}), &NODE);
            assert_eq!(amended, json!({"a": 1, "b": [2], "type": "pwa-node"}), "{arguments}");
        }
        assert_eq!(launch(r#"{"breakroom":{}}"#, json!({}), &[]), json!({}));
    }

    #[test]
    fn commands_come_before_those_of_the_client_and_only_where_a_program_is_started() {
        let before = Some(("init".to_owned(), vec!["a".to_owned(), "b \"c\"".to_owned()]));
        let amendments = Amendments { before, ..Amendments::default() };
        for (said, told) in [
            (r#"{"program":"x"}"#, json!({"program": "x", "init": ["a", "b \"c\""]})),
            (r#"{"breakroom":{}}"#, json!({"init": ["a", "b \"c\""]})),
            (r#"{"init":[]}"#, json!({"init": ["a", "b \"c\""]})),
            (r#"{"init":[ "d"]}"#, json!({"init": ["a", "b \"c\"", "d"]})),
        ] {
            assert_eq!(start("launch", said, &amendments), told, "{said}");
        }
        assert_eq!(start("attach", r#"{"pid":1}"#, &amendments), json!({"pid": 1}));
    }

    #[test]
    fn the_type_is_what_the_engine_calls_it() {
        for (said, told) in [
            (r#"{"type":"node"}"#, "pwa-node"),
            (r#"{"type":"Node"}"#, "pwa-node"),
            (r#"{"type":"pwa-node"}"#, "pwa-node"),
            (r#"{"type":"breakroom"}"#, "pwa-node"),
            (r#"{"program":"x"}"#, "pwa-node"),
        ] {
            assert_eq!(launch(said, json!({}), &NODE)["type"], told, "{said}");
        }
        assert_eq!(launch(r#"{"type":"go"}"#, json!({}), &[])["type"], "go");
    }
}
