//! Reading a request's arguments, with errors that name what is wrong.

use serde::de::DeserializeOwned;
use serde_json::Value;

pub fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    let arguments = if arguments.is_null() { &Value::Object(serde_json::Map::new()) } else { arguments };
    T::deserialize(arguments).map_err(|error| format!("the arguments are wrong: {error}"))
}
