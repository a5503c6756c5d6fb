//! The names of types: the protocol's document has a few of its own, whatever the language calls them.

/// What languages call them, and the document. All else keeps the language's name.
const NAMES: [(&str, &str); 8] = [
    ("str", "string"),
    ("list", "array"),
    ("tuple", "array"),
    ("dict", "map"),
    ("boolean", "bool"),
    ("NoneType", "nil"),
    ("Array", "array"),
    ("Hash", "map"),
];

/// As the document would name this type.
pub fn name(kind: &str) -> &str {
    let known = NAMES.iter().find(|(theirs, _)| *theirs == kind).map(|(_, ours)| *ours);
    match kind {
        "" => "any",
        // `[int]`, `[int, 3]`, Go's `[]int`, C's `int[3]`; a map is `map[string:int]`.
        _ if kind.starts_with("map[") => "map",
        _ if kind.starts_with('[') || is_counted(kind) => "array",
        _ => known.unwrap_or(kind),
    }
}

/// `int[]` and `int[3]`, but not Python's `Optional[int]`.
fn is_counted(kind: &str) -> bool {
    let inside = kind.strip_suffix(']').and_then(|start| start.rsplit_once('['));
    inside.is_some_and(|(_, count)| count.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_of_the_document() {
        for (theirs, ours) in [
            ("int", "int"),
            ("str", "string"),
            ("string", "string"),
            ("[int]", "array"),
            ("[string, 3]", "array"),
            ("[]int", "array"),
            ("int[3]", "array"),
            ("char[]", "array"),
            ("Optional[int]", "Optional[int]"),
            ("Error", "Error"),
            ("list", "array"),
            ("map[string:int]", "map"),
            ("map[string][]int", "map"),
            ("Person", "Person"),
            ("", "any"),
        ] {
            assert_eq!(name(theirs), ours, "{theirs}");
        }
    }
}
