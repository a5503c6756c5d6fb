//! Finds the name that was probably meant.

/// The nearest of the candidates, if it is near enough to be no accident.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Any two names of one letter differ in one.
    let allowed = match name.chars().count() {
        0 | 1 => return None,
        letters => (letters / 3).clamp(1, 3),
    };
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .map(|candidate| (distance(name, candidate, allowed), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        // Of several that are as near, always the same: maps have no order of their own.
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many letters are put in, left out, changed or swapped with their neighbour; `enough + 1` if more than enough.
fn distance(one: &str, two: &str, enough: usize) -> usize {
    let one: Vec<char> = one.to_lowercase().chars().collect();
    let two: Vec<char> = two.to_lowercase().chars().collect();
    if one.len().abs_diff(two.len()) > enough {
        return enough + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (index, letter) in one.iter().enumerate() {
        let mut next = vec![index + 1];
        for (other, candidate) in two.iter().enumerate() {
            let changed = row[other] + usize::from(letter != candidate);
            let mut best = changed.min(row[other + 1] + 1).min(next[other] + 1);
            let swapped = index > 0 && other > 0 && one[index - 1] == *candidate && two[other - 1] == *letter;
            if swapped {
                best = best.min(before[other - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_found_and_a_stranger_is_not() {
        let names = ["println", "printf", "count", "total"];
        for (written, meant) in [
            ("prinltn", Some("println")),
            ("prntln", Some("println")),
            ("print", Some("printf")),
            ("Count", Some("count")),
            ("toatl", Some("total")),
            ("zebra", None),
            ("x", None),
        ] {
            assert_eq!(nearest(written, names), meant, "{written}");
        }
    }
}
