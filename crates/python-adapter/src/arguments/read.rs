//! Values out of a request's arguments, each of the type that is expected there.

use serde_json::Value;

use super::Arguments;

/// Why arguments cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Bad(String);

impl Bad {
    pub fn new(why: impl Into<String>) -> Bad {
        Bad(why.into())
    }
}

pub(crate) struct Reader<'a> {
    arguments: &'a Arguments,
    /// The old way to set properties.
    options: Vec<String>,
}

impl<'a> Reader<'a> {
    pub fn new(arguments: &'a Arguments) -> Result<Self, Bad> {
        let mut reader = Reader { arguments, options: Vec::new() };
        reader.options = reader.texts("debugOptions")?;
        Ok(reader)
    }

    pub fn has(&self, key: &str) -> bool {
        self.arguments.contains_key(key)
    }

    pub fn is_text(&self, key: &str) -> bool {
        self.arguments.get(key).is_some_and(Value::is_string)
    }

    pub fn has_option(&self, option: &str) -> bool {
        self.options.iter().any(|given| given == option)
    }

    pub fn text(&self, key: &str) -> Result<Option<String>, Bad> {
        match self.arguments.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(Bad::new(format!("`{key}` must be a text and is {other}"))),
        }
    }

    pub fn flag(&self, key: &str) -> Result<Option<bool>, Bad> {
        match self.arguments.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(Bad::new(format!("`{key}` must be true or false and is {other}"))),
        }
    }

    /// Numbers are also taken as text: variables of an editor's configuration are nothing else.
    pub fn number(&self, key: &str) -> Result<Option<i64>, Bad> {
        let Some(value) = self.arguments.get(key) else { return Ok(None) };
        let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
        number.map(Some).ok_or_else(|| Bad::new(format!("`{key}` must be a number and is {value}")))
    }

    /// A list of texts, or one text alone.
    pub fn texts(&self, key: &str) -> Result<Vec<String>, Bad> {
        let bad = |value: &Value| Bad::new(format!("`{key}` must be a list of texts and has {value}"));
        match self.arguments.get(key) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(Value::Array(list)) => {
                list.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(|| bad(value))).collect()
            }
            Some(other) => Err(bad(other)),
        }
    }

    /// A property that may also be given as a word in `debugOptions`.
    pub fn property(&self, key: &str, option: &str) -> Result<Option<bool>, Bad> {
        match (self.flag(key)?, self.has_option(option)) {
            (Some(false), true) => {
                Err(Bad::new(format!("`{key}` is false, and `debugOptions` has {option}; give only one")))
            }
            (_, true) => Ok(Some(true)),
            (flag, false) => Ok(flag),
        }
    }

    /// The first is meant if nothing is said.
    pub fn one_of<T: Copy>(&self, key: &str, names: &[(&str, T)]) -> Result<T, Bad> {
        let known = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let name = match self.arguments.get(key) {
            None => names.first().map(|(name, _)| *name).unwrap_or_default(),
            Some(value) => value.as_str().unwrap_or_default(),
        };
        let found = names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        found.ok_or_else(|| Bad::new(format!("`{key}` must be one of {}", known())))
    }

    pub fn variables(&self, key: &str) -> Result<Vec<(String, Option<String>)>, Bad> {
        let bad = |value: &Value| Bad::new(format!("`{key}` must have texts or null and has {value}"));
        match self.arguments.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Object(variables)) => variables
                .iter()
                .map(|(name, value)| match value {
                    Value::String(text) => Ok((name.clone(), Some(text.clone()))),
                    Value::Null => Ok((name.clone(), None)),
                    other => Err(bad(other)),
                })
                .collect(),
            Some(other) => Err(bad(other)),
        }
    }
}
