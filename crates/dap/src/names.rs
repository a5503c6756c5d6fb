//! Names of functions in messages: as people write them, and as engines show them.

/// Whether two names may be one function's. Either may have more words before the name than the other, and parameters.
pub fn mean_the_same(one: &str, other: &str) -> bool {
    let (one, other) = (bare(one), bare(other));
    ends_with(one, other) || ends_with(other, one)
}

/// A name without parameters.
fn bare(name: &str) -> &str {
    let end = name.find('(').filter(|at| *at > 0).unwrap_or(name.len());
    name[..end].trim_start_matches([':', '.']).trim_end()
}

fn ends_with(whole: &str, end: &str) -> bool {
    let before = whole.strip_suffix(end).filter(|_| !end.is_empty());
    before.is_some_and(|before| before.is_empty() || before.ends_with([':', '.', '#', ' ', '>']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_behind_the_words_before_it_and_without_what_follows() {
        for same in [
            ("fizz", "fizz"),
            ("fizz", "fizz(int, char *)"),
            ("fizz", "Fizz.fizz"),
            ("Fizz.fizz", "fizz"),
            ("Object#fizz", "Object#fizz"),
            ("fizz", "shop::till::fizz(int)"),
            ("::fizz", "void fizz()"),
            ("fizz()", "main.fizz"),
        ] {
            assert!(mean_the_same(same.0, same.1), "{same:?}");
        }
        for different in [
            ("fizz", "fizzbuzz"),
            ("fizz", "buzzfizz"),
            ("A.fizz", "B.fizz"),
            ("", "fizz"),
            ("fizz", "(anonymous)"),
        ] {
            assert!(!mean_the_same(different.0, different.1), "{different:?}");
        }
    }
}
