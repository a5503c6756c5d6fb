//! Paths to what is inside of variables, such as `user.items[3]`: by the names that the debugger lists.

use std::pin::Pin;

use breakroom_client::model::{Frame, VariablesReference};
use breakroom_client::scopes::{self, Member};

use crate::failure::Failure;
use crate::session::Session;
use crate::telling::briefs::is_text;
use crate::telling::values::{MOST_ELEMENTS, elements_of};

/// A variable that was found by its path, and the value that holds it, if it is in one.
pub struct Found {
    pub member: Member,
    pub holder: Option<VariablesReference>,
}

type Finding<'a> = Pin<Box<dyn Future<Output = Result<Option<Found>, Failure>> + Send + 'a>>;

impl Session {
    /// The longest name of a member that the path begins with, and then what is inside of that.
    pub fn find<'a>(
        &'a self,
        members: Vec<Member>,
        holder: Option<VariablesReference>,
        path: &'a str,
    ) -> Finding<'a> {
        Box::pin(async move {
            if let Some(at) = members.iter().position(|member| is_named(path, &member.variable.name)) {
                return Ok(members.into_iter().nth(at).map(|member| Found { member, holder }));
            }
            for member in members {
                let Some(rest) = rest_of(path, &member.variable.name) else { continue };
                // One of many elements the debugger finds faster itself.
                let is_long = elements_of(&member) > MOST_ELEMENTS || is_text(&member.variable.value);
                let Some(mut reference) = member.children.filter(|_| !is_long) else { continue };
                let mut inside = self.members(reference).await?;
                if let Some(there) = behind_pointer(&inside) {
                    (inside, reference) = (self.members(there).await?, there);
                }
                if let Some(found) = self.find(inside, Some(reference), rest).await? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        })
    }

    /// The scope or value that holds what a path names, and what it is called in there: the innermost.
    pub async fn holder(
        &self,
        frame: &Frame,
        path: &str,
    ) -> Result<Option<(VariablesReference, String)>, Failure> {
        let all = self.scopes(frame).await?;
        let (locals, globals) = (scopes::of_locals(all.clone()), scopes::of_globals(all));
        let shown = self.secrets.redact(path.to_owned());
        for scope in locals.into_iter().chain(globals) {
            let mut members = self.members(scope.reference).await?;
            let inside = Member::own_group_of(&scope, &members);
            if let Some(inside) = inside {
                members = self.members(inside).await?;
            }
            let of_scope = inside.unwrap_or(scope.reference);
            match self.find(members, None, &shown).await? {
                Some(Found { member, holder: Some(holder) }) => {
                    return Ok(Some((holder, member.variable.name)));
                }
                // Its name may be one that is not shown.
                Some(_) => return Ok(Some((of_scope, path.to_owned()))),
                None => {}
            }
        }
        Ok(None)
    }
}

/// Delve lists what a pointer is at as one member without a name, which no path has in it.
fn behind_pointer(inside: &[Member]) -> Option<VariablesReference> {
    match inside {
        [one] if one.variable.name.is_empty() => one.children,
        _ => None,
    }
}

/// What is behind this name at the beginning of a path. Debuggers call an element `[3]` or `3`; a word in brackets is an
/// expression, and no name.
fn behind<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    let is_number = name.bytes().all(|digit| digit.is_ascii_digit());
    let in_brackets = || path.strip_prefix('[')?.strip_prefix(name)?.strip_prefix(']');
    path.strip_prefix(name).or_else(|| in_brackets().filter(|_| is_number))
}

fn is_named(path: &str, name: &str) -> bool {
    behind(path, name) == Some("")
}

/// `b.c` of the path `a.b.c` if this is the name `a`, and `[3]` of `a[3]`.
fn rest_of<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    let rest = behind(path, name)?;
    match rest.chars().next()? {
        '.' => Some(&rest[1..]),
        '[' => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart_at_dots_and_brackets_behind_a_name() {
        assert_eq!(rest_of("user.items", "user"), Some("items"));
        assert_eq!(rest_of("list[3].x", "list"), Some("[3].x"));
        assert_eq!(rest_of("username", "user"), None);
        assert_eq!(rest_of("a.b.c", "a.b"), Some("c"));
        assert_eq!((rest_of("[3].x", "[3]"), rest_of("[3].x", "3")), (Some("x"), Some("x")));
        assert!(is_named("[3]", "[3]") && is_named("[3]", "3") && is_named("x", "x"));
        assert!(!is_named("[31]", "3") && !is_named("xy", "x") && !is_named("", "x"));
        assert!(!is_named("[key]", "key"));
    }
}
