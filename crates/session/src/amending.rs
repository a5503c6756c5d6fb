//! A client's `launch` or `attach` on its way to the engine: without what is the hub's, with what the engine cannot do
//! without.
//!
//! What the client says stays as it wrote it. Only what it left out, and the name of the type, may be changed.

use breakroom_dap::json::removal;
use breakroom_dap::{Edit, Json, Message};
use serde_json::Value;
use smallvec::SmallVec;

use crate::io::Amendments;

/// The hub's own member: it may hold a token, and says nothing to an engine.
const OWN: &str = "breakroom";

/// The edits that make the engine's launch of a client's.
pub(crate) fn amended(message: &Message, amendments: &Amendments) -> SmallVec<[Edit; 2]> {
    let Some(arguments) = message.payload().filter(|arguments| arguments.is_object()) else {
        return SmallVec::new();
    };
    let mut edits: SmallVec<[Edit; 2]> =
        removal(arguments, OWN).map(|cut| Edit::text(cut, "")).into_iter().collect();
    let mut missing = String::new();
    let mut add = |key: &str, value: &Value| {
        missing.push_str(&format!("{}:{value},", Value::from(key)));
    };
    for (key, value) in &amendments.defaults {
        if arguments.get(key).is_none() {
            add(key, value);
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

/// The arguments for the driver, which starts some engines with them.
pub(crate) fn for_driver(message: &Message) -> Option<Value> {
    let mut arguments: Value = serde_json::from_slice(message.payload()?.raw()?).ok()?;
    arguments.as_object_mut()?.remove(OWN);
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn launch(arguments: &str, defaults: Value, types: &[(&str, &str)]) -> Value {
        let types = types.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        let amendments = Amendments { defaults: defaults.as_object().unwrap().clone(), types };
        let text = format!(r#"{{"seq":1,"type":"request","command":"launch","arguments":{arguments}}}"#);
        let message = Message::from_client(text.into_bytes().into()).unwrap();
        let edits = amended(&message, &amendments);
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
    fn a_launch_with_nothing_of_its_own_stays_well_formed() {
        for arguments in ["{}", r#"{"breakroom":{}}"#, "{ }"] {
            let amended = launch(arguments, json!({"a": 1, "b": [2]}), &NODE);
            assert_eq!(amended, json!({"a": 1, "b": [2], "type": "pwa-node"}), "{arguments}");
        }
        assert_eq!(launch(r#"{"breakroom":{}}"#, json!({}), &[]), json!({}));
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
