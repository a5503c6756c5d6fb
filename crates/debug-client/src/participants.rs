//! Who else is in the session. A debugger that is not a hub does not know the question, and then there are no others.

use serde_json::{Value, json};

use crate::Requests;

/// Whether others are in the session of the client with this name.
pub async fn has_others<R: Requests>(to: &mut R, name: &str) -> Result<bool, R::Error> {
    match to.request("breakroom/sessions", json!({})).await {
        Ok(body) => Ok(has_others_in(&body["sessions"], name)),
        Err(error) if R::as_refusal(&error).is_some() => Ok(false),
        Err(error) => Err(error),
    }
}

fn has_others_in(sessions: &Value, name: &str) -> bool {
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
        assert!(!has_others_in(&sessions, "EZ IDE 7"));
        assert!(has_others_in(&sessions, "Ann"));
        assert!(!has_others_in(&Value::Null, "Ann"));
    }
}
