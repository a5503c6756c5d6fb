//! Threads, frames and variables as the protocol has them.
//!
//! Ids are tokens of the runtime: any integer is valid, and nothing is derived from one.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    pub id: i64,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    pub id: i64,
    pub name: String,
    pub file: String,
    /// From 1.
    pub line: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Names the variable in `get_property` and `set_variable`. Never 0.
    pub addr: i64,
    pub name: String,
    pub value: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// 0 marks a variable that cannot be set.
    pub type_id: i64,
    /// 0: it has no children; above 0: so many; below 0: some, and only `get_property` tells how many.
    pub size: i64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub elements: Option<Elements>,
}

/// The first elements of an array, sent with the array itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elements {
    pub start: i64,
    pub count: i64,
    pub elements: Vec<Variable>,
}
