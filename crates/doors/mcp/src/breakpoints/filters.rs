//! Filters for exceptions: which a debugger has, and which of them are meant by what an agent says.

use breakroom_client::{Request, model, usual_filters};
use serde_json::Value;

use crate::failure::Failure;
use crate::session::Session;

/// Filters for what leaves the project's own code, as debuggers call them.
const FOR_TESTS: [&str; 2] = ["userUnhandled", "user-unhandled"];

/// What a debugger can stop at, in its own words.
pub struct Filters {
    told: Value,
    request: Request,
}

impl Filters {
    /// Nothing if it can stop at no exceptions.
    pub fn of(session: &Session) -> Option<Filters> {
        let told = session.seen().capabilities.get("exceptionBreakpointFilters").cloned()?;
        let filters = Filters { told, request: session.request };
        (!filters.names().is_empty()).then_some(filters)
    }

    pub fn names(&self) -> Vec<String> {
        model::list(&self.told, |filter| filter["filter"].as_str().map(str::to_owned))
    }

    /// Those that are on if nothing else is said.
    pub fn usual(&self) -> Vec<String> {
        usual_filters(&self.told, self.request)
    }

    /// Those that are on: the chosen ones, or the usual ones. What runs tests catches what they raise, so where it does the
    /// end of the project's own code counts as the end.
    pub fn on(&self, chosen: Option<Vec<String>>, runs_tests: bool) -> Result<Vec<String>, Failure> {
        let Some(words) = chosen else {
            let for_tests =
                self.names().into_iter().filter(|name| runs_tests && FOR_TESTS.contains(&&**name));
            return Ok(self.usual().into_iter().chain(for_tests).collect());
        };
        self.meant(words)
    }

    /// Two words mean something with every debugger: `uncaught` and `all`.
    pub fn meant(&self, words: Vec<String>) -> Result<Vec<String>, Failure> {
        let known = self.names();
        let mut meant: Vec<String> = Vec::new();
        for word in words.into_iter().filter(|word| !word.is_empty() && word != "none") {
            match word.as_str() {
                _ if known.contains(&word) => meant.push(word),
                "uncaught" => meant.extend(self.usual()),
                "all" | "raised" => meant.extend(known.clone()),
                _ => {
                    let known = known.join(", ");
                    let what = format!("this debugger has no exception filter `{word}`, only {known}");
                    return Err(Failure::new(what).next("Name some of these, or `uncaught` or `all`."));
                }
            }
        }
        // In the order of the debugger, each once: `all` has those in it that were named before.
        Ok(known.into_iter().filter(|name| meant.contains(name)).collect())
    }
}

/// Which of these are on and which are not, in words.
pub fn on_and_off(known: &[String], on: &[String]) -> String {
    let off: Vec<&str> = known.iter().filter(|name| !on.contains(name)).map(String::as_str).collect();
    let on = match on.is_empty() {
        true => "stops at no exceptions".to_owned(),
        false => format!("stops at exceptions: {}", on.join(", ")),
    };
    match off.is_empty() {
        true => on,
        false => format!("{on} · off: {}", off.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_filter_is_one_that_the_debugger_has_or_a_word_for_some_of_them() {
        let told = json!([{"filter": "cpp_throw"}, {"filter": "rust_panic", "default": true}]);
        let filters = Filters { told, request: Request::Launch };
        let meant = |words: &[&str]| filters.meant(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(meant(&["cpp_throw"]), Ok(vec!["cpp_throw".to_owned()]));
        assert_eq!(meant(&["uncaught"]), Ok(vec!["rust_panic".to_owned()]));
        assert_eq!(meant(&["all"]).map(|meant| meant.len()), Ok(2));
        assert_eq!(meant(&["none"]), Ok(Vec::new()));
        let each_once = vec!["cpp_throw".to_owned(), "rust_panic".to_owned()];
        assert_eq!(meant(&["rust_panic", "all", "uncaught"]), Ok(each_once));
        assert_eq!(filters.on(Some(Vec::new()), true), Ok(Vec::new()));
        assert_eq!(filters.on(None, true), Ok(vec!["rust_panic".to_owned()]));
        let told = json!([{"filter": "uncaught", "default": true}, {"filter": "userUnhandled"}]);
        let python = Filters { told, request: Request::Launch };
        let both = vec!["uncaught".to_owned(), "userUnhandled".to_owned()];
        assert_eq!(python.on(None, true), Ok(both.clone()));
        assert_eq!(python.on(None, false), Ok(both[..1].to_vec()));
        let unknown = meant(&["nonsense"]).map_err(|failure| failure.text());
        assert!(unknown.is_err_and(|text| text.contains("`nonsense`") && text.contains("rust_panic")));
    }
}
