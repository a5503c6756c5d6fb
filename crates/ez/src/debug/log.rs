//! Messages of log points: text with expressions in braces.

pub(super) enum Piece<'a> {
    Text(&'a str),
    Expression(&'a str),
}

/// `a {b} c` in its parts. A brace that is not closed is text, and so are those around nothing.
pub(super) fn pieces(log: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = log;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((expression, behind)) = expression(rest) {
            rest = behind;
            return Some(Piece::Expression(expression));
        }
        let begins = |at: &usize| expression(&rest[*at..]).is_some();
        let end = rest.match_indices('{').map(|(at, _)| at).find(begins).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(end);
        rest = behind;
        Some(Piece::Text(text))
    })
}

/// What is in the braces that the text begins with, and what is behind them.
fn expression(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('{')?;
    let end = closing(inside)?;
    let (expression, behind) = inside.split_at(end);
    (!expression.trim().is_empty()).then_some((expression, &behind[1..]))
}

/// Where the brace is that closes; those in strings, and those of literals, are part of the expression.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            quote @ ('"' | '\'' | '`') => {
                while let Some((_, letter)) = letters.next()
                    && letter != quote
                {
                    if letter == '\\' && quote != '`' {
                        letters.next();
                    }
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(log: &str) -> Vec<String> {
        let shown = |piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Expression(text) => format!("<{text}>"),
        };
        pieces(log).map(shown).collect()
    }

    #[test]
    fn what_is_in_braces_is_an_expression() {
        assert_eq!(told("i is {i}, twice {i * 2}"), ["i is ", "<i>", ", twice ", "<i * 2>"]);
        assert_eq!(told("{a}{b}"), ["<a>", "<b>"]);
        assert_eq!(told("{len({1, 2})} and {m[\"}\"]}"), ["<len({1, 2})>", " and ", "<m[\"}\"]>"]);
    }

    #[test]
    fn braces_without_an_expression_are_text() {
        assert_eq!(told("a { b"), ["a { b"]);
        assert_eq!(told("{} and } ä"), ["{} and } ä"]);
        assert_eq!(told("{ {x}"), ["{ ", "<x>"]);
        assert!(told("").is_empty());
    }
}
