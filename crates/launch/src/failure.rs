//! Why a launch could not be prepared, and what compilers say about it.
//!
//! Of a build that failed the first errors are told with their places, since that is what a person mends next.

/// Errors that are told in full; the rest are counted.
const TOLD: usize = 5;
/// Lines that are told of a command that names no place.
const LAST_LINES: usize = 15;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Said(String),
    /// Whoever asked does not want it any more.
    #[error("the launch was called off")]
    CalledOff,
}

impl Failure {
    pub fn said(text: impl Into<String>) -> Self {
        Failure::Said(text.into())
    }
}

/// What is told of a build that failed: its first errors, or its last lines if it named none.
pub fn of_build(what: &str, exit: breakroom_engines::Exit, errors: &[String], output: &str) -> Failure {
    let mut told: Vec<String> = errors.iter().take(TOLD).cloned().collect();
    if errors.len() > TOLD {
        told.push(format!("and {} more", errors.len() - TOLD));
    }
    if told.is_empty() {
        let lines: Vec<&str> = output.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        told.extend(lines[lines.len().saturating_sub(LAST_LINES)..].iter().map(|line| (*line).to_owned()));
    }
    if told.is_empty() {
        told.push("it wrote nothing".to_owned());
    }
    Failure::Said(format!("{what} failed ({exit}):\n{}", told.join("\n")))
}

/// Lines of the form `file:line: error: text`, as compilers of C, Java and others write them.
pub fn marked_errors(output: &str) -> Vec<String> {
    let marks = [": error: ", ": fatal error: ", ": error[", ": error ", "undefined reference to"];
    let is_error = |line: &&str| marks.iter().any(|mark| line.contains(mark));
    let mut errors: Vec<String> = Vec::new();
    for line in output.lines().filter(is_error).map(str::trim) {
        // Some tools say them once more at the end.
        if !errors.iter().any(|known| known == line) {
            errors.push(line.to_owned());
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakroom_engines::Exit;

    #[test]
    fn the_first_errors_are_told_with_their_places() {
        let output = "x.c: In function 'main':\nx.c:3:5: error: expected ';'\n  3 |\nx.c:9:1: warning: unused\nx.c:7:2: fatal error: no.h: none\n";
        let errors = marked_errors(output);
        let failure = of_build("cc", Exit::Code(1), &errors, output).to_string();
        assert_eq!(
            failure,
            "cc failed (exit code 1):\nx.c:3:5: error: expected ';'\nx.c:7:2: fatal error: no.h: none"
        );
        let many: Vec<_> = (0..9).map(|line| format!("a:{line}: error: x")).collect();
        assert!(of_build("cc", Exit::Code(1), &many, "").to_string().ends_with("a:4: error: x\nand 4 more"));
    }

    #[test]
    fn a_command_without_errors_is_told_by_its_last_lines() {
        assert!(of_build("make", Exit::Code(2), &[], "one\n\ntwo\n").to_string().ends_with(":\none\ntwo"));
        assert!(of_build("make", Exit::Code(2), &[], "\n").to_string().contains("wrote nothing"));
    }
}
