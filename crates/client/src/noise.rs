//! What debuggers print on their consoles and nobody needs to read here: words for their own prompts, that they are still at
//! it, and that the program has ended, which is told next for all of them alike.
//!
//! It is only not shown. Whoever else is in the session hears it as it was said.

/// The debugger, and its line with `#` for each number.
const NOISE: [(&str, &str); 10] = [
    ("lldb-dap", "Process # exited with status = # (#)"),
    // By its debugger, because somebody left or restarts it.
    ("lldb-dap", "Process # exited with status = # (#) killed"),
    ("CodeLLDB", "Process exited with code #."),
    ("delve", "Type 'dlv help' for list of commands."),
    ("delve", "Process # has exited with status #"),
    ("delve", "Detaching"),
    ("delve", "Detaching and terminating target process"),
    ("debugpy", "Attaching to PID: # (elapsed: #.#s)."),
    ("gdb", "[Inferior # (process #) exited normally]"),
    ("gdb", "[Inferior # (process #) exited with code #]"),
];

pub fn is_noise(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || NOISE.iter().any(|(_, noise)| *noise == without_numbers(line))
}

/// Decimal and hexadecimal ones alike.
fn without_numbers(line: &str) -> String {
    let mut rest = line;
    let mut shape = String::new();
    while let Some(letter) = rest.chars().next() {
        let (prefix, is_digit): (_, fn(char) -> bool) = match rest.strip_prefix("0x") {
            Some(_) => ("0x", |letter| letter.is_ascii_hexdigit()),
            None => ("", |letter| letter.is_ascii_digit()),
        };
        let digits = &rest[prefix.len()..];
        let end = digits.find(|letter| !is_digit(letter)).unwrap_or(digits.len());
        match end {
            0 => {
                shape.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
            _ => {
                shape.push('#');
                rest = &digits[end..];
            }
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_next_anyway_and_empty_lines_are_noise_and_nothing_else_is() {
        for noise in [
            "",
            "  ",
            "Process 4711 exited with status = 11 (0x0000000b) ",
            "Process 4711 exited with status = 9 (0x00000009) killed",
            "Process exited with code 0.",
            "Process 23091 has exited with status 0",
            "Detaching",
            "[Inferior 1 (process 17) exited with code 03]",
            "Attaching to PID: 4179 (elapsed: 1.01s).\n",
        ] {
            assert!(is_noise(noise), "{noise:?}");
        }
        for word in [
            "Process 4711 exited with status = 6 (0x00000006) aborted",
            "Process 4711 stopped",
            "Detaching from it",
            "Attaching to PID: 4179 failed",
            "0x, and über 0x1g",
            "/usr/bin/node ./a.js",
        ] {
            assert!(!is_noise(word), "{word:?}");
        }
        assert_eq!(without_numbers("0x, and über 0x1g 10"), "0x, and über #g #");
    }
}
