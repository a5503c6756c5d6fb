//! Binding of parameters: the forms in which clients write them, and which field is wrong.
//!
//! A field is found in any case, as StreamJsonRpc does. What a method does with its parameters is not known here.

use serde_json::{Map, Value};

use crate::message::RpcError;

/// How a method takes its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One object under this name, or the first of a list.
    Named(&'static str),
    /// The members of the object itself. An empty list, null and no parameters are an empty object.
    Flat,
}

/// The parameters of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    fields: Map<String, Value>,
    /// What stands before a field's name in an error.
    prefix: String,
}

impl Params {
    pub fn bind(params: Value, form: Form) -> Result<Params, RpcError> {
        match form {
            Form::Named(name) => {
                let wanted = match params {
                    Value::Object(mut members) => take(&mut members, name),
                    Value::Array(mut list) if list.len() == 1 => list.pop(),
                    Value::Array(list) if list.len() > 1 => {
                        let count = list.len();
                        return Err(RpcError::invalid_params(format!(
                            "there is one parameter, `{name}`, and not {count}"
                        )));
                    }
                    _ => None,
                };
                match wanted {
                    Some(Value::Object(fields)) => Ok(Params { fields, prefix: format!("{name}.") }),
                    None | Some(Value::Null) => {
                        Err(RpcError::invalid_params(format!("the parameter `{name}` is missing")))
                    }
                    Some(_) => {
                        Err(RpcError::invalid_params(format!("the parameter `{name}` must be an object")))
                    }
                }
            }
            Form::Flat => {
                let fields = match params {
                    Value::Object(fields) => fields,
                    Value::Null => Map::new(),
                    Value::Array(mut list) if list.len() < 2 => match list.pop() {
                        None | Some(Value::Null) => Map::new(),
                        Some(Value::Object(fields)) => fields,
                        Some(_) => return Err(RpcError::invalid_params("the parameters must be an object")),
                    },
                    _ => return Err(RpcError::invalid_params("the parameters must be an object")),
                };
                Ok(Params { fields, prefix: String::new() })
            }
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let exact = self.fields.get(name);
        let any_case =
            || self.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        exact.or_else(any_case).filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, what: &str) -> RpcError {
        RpcError::invalid_params(format!("`{}{name}` {what}", self.prefix))
    }

    /// A string that must be there.
    pub fn string(&self, name: &str) -> Result<String, RpcError> {
        self.optional_string(name)?.ok_or_else(|| self.wrong(name, "is missing; it must be a string"))
    }

    /// A string that may be null or absent.
    pub fn optional_string(&self, name: &str) -> Result<Option<String>, RpcError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(name, "must be a string")),
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool, RpcError> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(name, "must be true or false")),
        }
    }

    pub fn integer(&self, name: &str) -> Result<i64, RpcError> {
        let number = self.get(name).and_then(Value::as_i64);
        number.ok_or_else(|| self.wrong(name, "must be an integer"))
    }

    /// An object that may be absent; without it every field of it is.
    pub fn object(&self, name: &str) -> Result<Params, RpcError> {
        let prefix = format!("{}{name}.", self.prefix);
        match self.get(name) {
            None => Ok(Params { fields: Map::new(), prefix }),
            Some(Value::Object(fields)) => Ok(Params { fields: fields.clone(), prefix }),
            Some(_) => Err(self.wrong(name, "must be an object")),
        }
    }
}

fn take(members: &mut Map<String, Value>, name: &str) -> Option<Value> {
    let key = members.keys().find(|key| key.eq_ignore_ascii_case(name)).cloned()?;
    members.remove(&key)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn named_parameter_is_bound_in_both_forms_and_missed_by_its_name() {
        for params in [json!({"request": {"a": "x"}}), json!([{"a": "x"}]), json!({"Request": {"A": "x"}})] {
            let bound = Params::bind(params.clone(), Form::Named("request")).unwrap();
            assert_eq!(bound.string("a").unwrap(), "x", "{params}");
        }
        for params in
            [json!({}), json!([]), Value::Null, json!({"req": {}}), json!({"request": 3}), json!([{}, {}])]
        {
            let error = Params::bind(params.clone(), Form::Named("request")).unwrap_err();
            assert_eq!(error.code, -32602, "{params}");
            assert!(error.message.contains("`request`"), "{error}");
        }
    }

    #[test]
    fn no_parameters_are_written_in_four_ways() {
        for params in [json!([]), json!({}), json!({"_": ""}), Value::Null] {
            let bound = Params::bind(params, Form::Flat).unwrap();
            assert_eq!(bound.optional_string("filePath").unwrap(), None);
        }
        assert_eq!(Params::bind(json!("x"), Form::Flat).unwrap_err().code, -32602);
    }

    #[test]
    fn wrong_field_is_named() {
        let params = json!({"request": {"n": 5, "flag": "yes"}});
        let bound = Params::bind(params, Form::Named("request")).unwrap();
        for error in [bound.string("n").unwrap_err(), bound.optional_string("n").unwrap_err()] {
            assert!(error.code == -32602 && error.message.contains("`request.n`"), "{error}");
        }
        assert!(bound.string("targetPath").unwrap_err().message.contains("`request.targetPath`"));
        assert!(bound.flag("flag").is_err() && !bound.flag("absent").unwrap());
    }
}
