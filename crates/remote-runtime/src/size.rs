//! How long a line may be: texts and lists are cut before they make one too long.

use serde::Serialize;

/// A list of more bytes is cut, so that its line has less than 1,000,000: Visual Studio gets slow with longer ones.
const MOST_LIST_BYTES: usize = 850_000;
/// A text of more bytes is cut. Escaped as JSON it has at most six times as many.
const LONGEST_TEXT: usize = 100_000;

/// The text, with a mark where it was cut.
pub fn cut(text: String) -> String {
    if text.len() <= LONGEST_TEXT {
        return text;
    }
    let end = boundary(&text);
    format!("{}… ({} of {} bytes)", &text[..end], end, text.len())
}

/// The end of the last character that is within the limit.
fn boundary(text: &str) -> usize {
    (0..=LONGEST_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// A long text in parts that can each be sent.
pub fn pieces(mut text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while text.len() > LONGEST_TEXT {
        let (piece, rest) = text.split_at(boundary(text));
        pieces.push(piece);
        text = rest;
    }
    pieces.push(text);
    pieces
}

/// Drops what is too much at the end of a list; whether it did.
pub fn fit_list<T: Serialize>(list: &mut Vec<T>) -> bool {
    let mut bytes = 0;
    let fitting = list.iter().take_while(|one| {
        bytes += serde_json::to_vec(one).map_or(0, |text| text.len() + 1);
        bytes <= MOST_LIST_BYTES
    });
    let fitting = fitting.count();
    let is_cut = fitting < list.len();
    list.truncate(fitting);
    is_cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_lists_that_are_too_long_are_cut() {
        assert_eq!(cut("ü".to_owned()), "ü");
        let long = "ü".repeat(LONGEST_TEXT);
        let text = cut(long.clone());
        assert!(
            text.len() < LONGEST_TEXT + 40 && text.ends_with("(100000 of 200000 bytes)"),
            "{}",
            text.len()
        );
        assert_eq!(pieces(&long).concat(), long);
        let mut list = vec!["x".repeat(1000); 2000];
        assert!(fit_list(&mut list) && list.len() > 800 && list.len() < 850, "{}", list.len());
        assert!(!fit_list(&mut list));
    }
}
