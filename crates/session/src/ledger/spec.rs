//! One breakpoint as a client wants it: its own words, and what of them decides whether two are the same.

use breakroom_dap::Json;
use breakroom_dap::json::removal;
use bytes::Bytes;

use super::terms::Terms;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    /// As the client wrote it, vendor fields and all.
    pub raw: Bytes,
    pub place: Place,
    pub terms: Terms,
}

/// Where it is. Two specs at one place are one breakpoint to the engine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Line {
        line: i64,
        column: Option<i64>,
    },
    /// A function, a piece of data or an instruction.
    Named(String),
}

impl Spec {
    /// Reads an element of `breakpoints`; one that names no place is nothing.
    pub fn of(breakpoint: Json) -> Option<Spec> {
        let text = |key: &str| {
            breakpoint.str(key).map(|text| text.into_owned()).filter(|text| !text.trim().is_empty())
        };
        let line = || Some(Place::Line { line: breakpoint.i64("line")?, column: breakpoint.i64("column") });
        let name = || text("name").or_else(|| text("dataId"));
        let instruction =
            || Some(format!("{}+{}", text("instructionReference")?, breakpoint.i64("offset").unwrap_or(0)));
        let place = line().or_else(|| name().or_else(instruction).map(Place::Named))?;
        let terms =
            Terms { condition: text("condition"), hits: text("hitCondition"), log: text("logMessage") };
        Some(Spec { raw: Bytes::copy_from_slice(breakpoint.raw()?), place, terms })
    }

    /// The same without any terms, for an engine that must always stop there.
    pub fn plain(&self) -> Bytes {
        let mut text = self.raw.clone();
        for term in ["condition", "hitCondition", "logMessage"] {
            let cut = Json::first(&text).and_then(|object| removal(object, term));
            if let Some(cut) = cut {
                text = [&text[..cut.start], &text[cut.end..]].concat().into();
            }
        }
        text
    }

    /// A breakpoint of the old list of bare lines.
    pub fn at_line(line: i64) -> Spec {
        Spec {
            raw: format!(r#"{{"line":{line}}}"#).into(),
            place: Place::Line { line, column: None },
            terms: Terms::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_terms_are_no_terms() {
        let text = br#"{"line":3,"condition":"","hitCondition":" ","logMessage":null,"x":1}"#;
        let spec = Spec::of(Json::first(text).unwrap()).unwrap();
        assert_eq!(spec.terms, Terms::default());
        assert_eq!(spec.raw, &text[..]);
        assert_eq!(spec.plain(), r#"{"line":3,"x":1}"#);
    }
}
