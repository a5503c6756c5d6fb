//! What the IDE answers to a request that failed.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// The body of every answer that is no success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorDetail {
    #[serde(default, deserialize_with = "null_as_default")]
    pub code: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub message: String,
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<ErrorDetail>,
}

/// Some IDEs write `null` for a member that others leave out.
pub(crate) fn null_as_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

impl ErrorBody {
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        ErrorBody { error: ErrorDetail::new(code, message) }
    }
}

impl ErrorDetail {
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        ErrorDetail { code: code.into(), message: message.into(), details: Vec::new() }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        write!(f, "{:indent$}{}: {}", "", self.code, self.message)?;
        self.details.iter().try_for_each(|detail| {
            writeln!(f)?;
            detail.write(f, indent + 2)
        })
    }
}

/// `code: message`, and each detail on a line of its own.
impl fmt::Display for ErrorDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn member_that_is_null_counts_as_absent() {
        let text = r#"{"error": {"code": "A", "message": null, "details": null}}"#;
        let body: ErrorBody = serde_json::from_str(text).unwrap();
        assert_eq!(body, ErrorBody::new("A", ""));
    }

    #[test]
    fn details_are_indented_below_what_they_belong_to() {
        let text =
            r#"{"error": {"code": "A", "message": "one", "details": [{"code": "B", "message": "two"}]}}"#;
        let body: ErrorBody = serde_json::from_str(text).unwrap();
        assert_eq!(body.error.to_string(), "A: one\n  B: two");
        let plain = serde_json::to_string(&ErrorBody::new("A", "one")).unwrap();
        assert_eq!(plain, r#"{"error":{"code":"A","message":"one"}}"#);
    }
}
