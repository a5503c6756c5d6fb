//! Hit conditions: at which of its hits a breakpoint stops.

/// `5` and `== 5`: the fifth; `>= 5`, `> 5`, `< 5`, `<= 5`; `% 5`: every fifth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitCondition {
    comparison: Comparison,
    number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
    EveryNth,
}

/// Longer ones first, as `>` also begins `>=`.
const SIGNS: &[(&str, Comparison)] = &[
    ("==", Comparison::Equal),
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::MoreThan),
    ("<", Comparison::LessThan),
    ("=", Comparison::Equal),
    ("%", Comparison::EveryNth),
    ("", Comparison::Equal),
];

impl HitCondition {
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || format!("`{text}` is no hit condition; write 5, >= 5, < 5 or % 5");
        let (rest, comparison) = SIGNS
            .iter()
            .find_map(|(sign, comparison)| Some((text.strip_prefix(sign)?, *comparison)))
            .ok_or_else(wrong)?;
        let number: u64 = rest.trim().parse().map_err(|_| wrong())?;
        if number == 0 && comparison == Comparison::EveryNth {
            return Err(wrong());
        }
        Ok(Self { comparison, number })
    }

    /// Whether the `hits`-th hit, counted from 1, is one to stop at.
    pub fn holds(self, hits: u64) -> bool {
        match self.comparison {
            Comparison::Equal => hits == self.number,
            Comparison::AtLeast => hits >= self.number,
            Comparison::MoreThan => hits > self.number,
            Comparison::AtMost => hits <= self.number,
            Comparison::LessThan => hits < self.number,
            Comparison::EveryNth => hits.is_multiple_of(self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_condition_names_the_hits_it_stops_at() {
        for (text, hits) in [
            ("3", vec![3]),
            ("== 2", vec![2]),
            (">=3", vec![3, 4, 5]),
            ("> 3", vec![4, 5]),
            ("<2", vec![1]),
            ("<= 2", vec![1, 2]),
            ("% 2", vec![2, 4]),
        ] {
            let condition = HitCondition::parse(text).unwrap();
            let held: Vec<u64> = (1..=5).filter(|hit| condition.holds(*hit)).collect();
            assert_eq!(held, hits, "{text}");
        }
    }

    #[test]
    fn what_is_no_hit_condition_is_refused() {
        for text in ["", "x", "% 0", ">", "-1", "1.5"] {
            assert!(HitCondition::parse(text).is_err(), "{text}");
        }
    }
}
