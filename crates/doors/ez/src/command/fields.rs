//! The parameters of a command, read strictly: what is there must be of the right kind.
//!
//! Null is the same as absent, since some JSON writers say the one for the other.

use serde_json::{Map, Value};

pub struct Fields<'a>(Option<&'a Map<String, Value>>);

impl<'a> Fields<'a> {
    pub fn of(params: Option<&'a Value>) -> Result<Self, String> {
        match params {
            None | Some(Value::Null) => Ok(Fields(None)),
            Some(Value::Object(params)) => Ok(Fields(Some(params))),
            Some(_) => Err("`params` must be an object".to_owned()),
        }
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.0?.get(key).filter(|value| !value.is_null())
    }

    pub fn some_text(&self, key: &str) -> Result<Option<String>, String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.get(key).map(|value| text(value).ok_or(format!("`{key}` must be a string"))).transpose()
    }

    pub fn text(&self, key: &str) -> Result<String, String> {
        self.some_text(key)?.ok_or(format!("`{key}` is missing"))
    }

    pub fn some_number(&self, key: &str) -> Result<Option<i64>, String> {
        let number = |value: &Value| value.as_i64().ok_or(format!("`{key}` must be a whole number"));
        self.get(key).map(number).transpose()
    }

    pub fn number(&self, key: &str) -> Result<i64, String> {
        self.some_number(key)?.ok_or(format!("`{key}` is missing"))
    }

    /// A count is written as a number or, with an operator, as text.
    pub fn some_count(&self, key: &str) -> Result<Option<String>, String> {
        match self.get(key) {
            Some(Value::Number(count)) if count.is_u64() => Ok(Some(count.to_string())),
            Some(Value::String(count)) => Ok(Some(count.clone())),
            None => Ok(None),
            Some(_) => Err(format!("`{key}` must be a string or a whole number")),
        }
    }

    /// Which frame is meant, counted from the innermost.
    pub fn frame(&self) -> Result<usize, String> {
        let index = self.some_number("frameIndex")?.unwrap_or(0);
        usize::try_from(index)
            .map_err(|_| format!("`frameIndex` counts from 0, so there is no frame {index}"))
    }
}
