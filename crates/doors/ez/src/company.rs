//! Who else is in the session. Whoever is no hub does not know the question, and then nobody is.

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::link::Link;

/// Whether others are in the session of the client with this name.
pub fn is_there(link: &mut Link, name: &str) -> Result<bool, Failure> {
    let body = match link.ask_quietly("breakroom/sessions", json!({})) {
        Ok(body) => body,
        Err(Failure::Refused(_)) => return Ok(false),
        Err(failure) => return Err(failure),
    };
    Ok(has_others(&body["sessions"], name))
}

fn has_others(sessions: &Value, name: &str) -> bool {
    let clients = |session: &Value| session["clients"].as_array().cloned().unwrap_or_default();
    let mut mine = sessions.as_array().into_iter().flatten().map(clients);
    mine.find(|clients| clients.iter().any(|client| client == name)).is_some_and(|clients| clients.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_in_the_same_session_count() {
        let sessions = json!([{"clients": ["Ann", "Bob"]}, {"clients": ["EZ IDE 7"]}, {"clients": []}]);
        assert!(!has_others(&sessions, "EZ IDE 7"));
        assert!(has_others(&sessions, "Ann"));
        assert!(!has_others(&Value::Null, "Ann"));
    }
}
