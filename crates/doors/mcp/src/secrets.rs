//! Values of the environment that no answer shows: tokens and passwords reach a model's provider with everything else.
//!
//! They are known by the names of their variables. Wherever such a value turns up, in a variable, in what was printed or in
//! an error, the name of its variable stands instead.

use serde_json::Value;

/// What the names of such variables have in them.
const WORDS: [&str; 12] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "AUTH",
    "CONNECTION_STRING",
];
/// And how others end.
const ENDS: [&str; 3] = ["_KEY", "_PAT", "_DSN"];
/// A shorter value is in too many other words.
const SHORTEST: usize = 6;
/// Of a secret of several lines, as keys are, each line of this length is one.
const SHORTEST_LINE: usize = 12;

#[derive(Debug, Clone)]
pub enum Secrets {
    /// Whoever runs the door wants all of them shown.
    Shown,
    /// Values and the names of their variables, the longest first: one may be the beginning of another.
    Hidden(Vec<(String, String)>),
}

impl Default for Secrets {
    fn default() -> Self {
        Secrets::Hidden(Vec::new())
    }
}

impl Secrets {
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Secrets {
        Secrets::default().and(variables)
    }

    /// With those that are given to one program.
    #[must_use]
    pub fn and<'a>(&self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Secrets {
        let mut all = self.clone();
        if let Secrets::Hidden(hidden) = &mut all {
            hidden.extend(secret(variables));
            hidden.sort_by(|one, other| (other.0.len(), &one.0).cmp(&(one.0.len(), &other.0)));
            hidden.dedup_by(|one, other| one.0 == other.0);
        }
        all
    }

    /// With those of an object of variables, as launches have one.
    #[must_use]
    pub fn and_those_in(&self, env: &Value) -> Secrets {
        let variables = env.as_object().into_iter().flatten();
        self.and(variables.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))))
    }

    /// Values and the names of their variables.
    pub fn hidden(&self) -> &[(String, String)] {
        match self {
            Secrets::Shown => &[],
            Secrets::Hidden(hidden) => hidden,
        }
    }

    pub fn redact(&self, text: String) -> String {
        self.hidden().iter().fold(text, |text, (value, name)| match text.contains(value) {
            true => text.replace(value, &format!("[{name} redacted]")),
            false => text,
        })
    }
}

/// Each as it is, as debuggers write it in quotes, and line by line.
fn secret<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, value) in variables.into_iter().filter(|(name, _)| is_secret(name)) {
        let quoted = Value::from(value).to_string();
        let lines = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
        let forms = [value, quoted.trim_matches('"')].into_iter().chain(lines);
        let long = forms.filter(|form| form.len() >= SHORTEST);
        all.extend(long.map(|form| (form.to_owned(), name.to_owned())));
    }
    all
}

fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    // Where a socket or a file is, is no secret.
    let is_a_place = ["_SOCK", "_FILE", "_PATH", "_DIR", "_URL"].iter().any(|end| name.ends_with(end));
    !is_a_place
        && (WORDS.iter().any(|word| name.contains(word)) || ENDS.iter().any(|end| name.ends_with(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_named_instead_of_shown_wherever_it_turns_up() {
        let variables = [
            ("GITHUB_TOKEN", "ghp_0123456789"),
            ("HOME", "/home/ann"),
            ("DB_PASSWORD", "hunter22"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("MY_KEY", "abc"),
            ("STRIPE_KEY", "sk_live_1"),
        ];
        let secrets = Secrets::of(variables);
        let shown =
            secrets.redact("t='ghp_0123456789' p=hunter22 h=/home/ann /run/agent abc sk_live_1".to_owned());
        assert_eq!(
            shown,
            "t='[GITHUB_TOKEN redacted]' p=[DB_PASSWORD redacted] h=/home/ann /run/agent abc [STRIPE_KEY redacted]"
        );
        let more = secrets.and([("APP_SECRET", "s3cr3t!")]);
        assert_eq!(
            more.redact("s3cr3t! hunter22".to_owned()),
            "[APP_SECRET redacted] [DB_PASSWORD redacted]"
        );
    }

    #[test]
    fn a_key_of_several_lines_is_hidden_also_in_quotes_and_in_part() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----\n";
        let secrets = Secrets::of([("SSH_PRIVATE_KEY", key), ("KEY_TOKEN", "MIIEvQIBADANBgkqhk")]);
        for text in [key, &format!("{key:?}"), "a MIIEvQIBADANBgkq b", "MIIEvQIBADANBgkqhk"] {
            let shown = secrets.redact(text.to_owned());
            assert!(!shown.contains("MIIE") && !shown.contains("hk"), "{shown}");
        }
        assert_eq!(Secrets::Shown.redact(key.to_owned()), key);
    }
}
