//! Output in whole lines, as notifications carry it.

/// A line that is longer is passed on in parts.
const LONGEST: usize = 64 << 10;

/// What was printed since the end of the last whole line.
#[derive(Debug, Default)]
pub struct Lines(String);

impl Lines {
    /// Takes what was printed, and gives the lines that are whole now, without their newlines.
    pub fn push(&mut self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for part in text.split_inclusive('\n') {
            self.0.push_str(part);
            if part.ends_with('\n') || self.0.len() >= LONGEST {
                lines.extend(self.rest());
            }
        }
        lines
    }

    /// What was printed behind the last newline, if anything was.
    pub fn rest(&mut self) -> Option<String> {
        let mut line = std::mem::take(&mut self.0);
        if line.is_empty() {
            return None;
        }
        if line.ends_with('\n') {
            line.pop();
        }
        if line.ends_with('\r') {
            line.pop();
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_04_r5_lines_are_whole_and_lose_one_newline() {
        let mut lines = Lines::default();
        assert!(lines.push("a").is_empty());
        assert_eq!(lines.push("b\nc\r\n\nd"), ["ab", "c", ""]);
        assert_eq!(lines.rest().as_deref(), Some("d"));
        assert_eq!(lines.rest(), None);
    }

    #[test]
    fn line_without_an_end_is_not_kept_for_ever() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(&"x".repeat(LONGEST)).len(), 1);
        assert_eq!(lines.rest(), None);
    }
}
