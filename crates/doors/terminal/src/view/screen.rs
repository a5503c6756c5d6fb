//! What the person sees: the program's own output and ours, in one stream.
//!
//! The program's output is passed on as it is; ours always begins on a new line.

use std::io::Write;

use crate::error::Error;
use crate::view::Paint;

pub struct Screen<'a, O> {
    output: &'a mut O,
    pub paint: Paint,
    at_line_start: bool,
}

impl<'a, O: Write> Screen<'a, O> {
    pub fn new(output: &'a mut O, paint: Paint) -> Self {
        Self { output, paint, at_line_start: true }
    }

    /// What the program printed.
    pub fn program(&mut self, text: &str) -> Result<(), Error> {
        self.write(text)
    }

    /// What the debugger printed.
    pub fn console(&mut self, text: &str) -> Result<(), Error> {
        text.lines().try_for_each(|line| self.say(&self.paint.dim(&format!("| {line}"))))
    }

    /// One or more lines of ours.
    pub fn say(&mut self, text: &str) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        if !self.at_line_start {
            self.write("\n")?;
        }
        self.write(text)?;
        if !self.at_line_start {
            self.write("\n")?;
        }
        Ok(())
    }

    pub fn complain(&mut self, text: &str) -> Result<(), Error> {
        self.say(&self.paint.alarm(&format!("error: {text}")))
    }

    /// Leaves the cursor behind the prompt; what is typed ends with the person's own newline.
    pub fn prompt(&mut self, text: &str) -> Result<(), Error> {
        if !self.at_line_start {
            self.write("\n")?;
        }
        self.write(text)?;
        self.at_line_start = true;
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        let Some(last) = text.chars().last() else {
            return Ok(());
        };
        self.at_line_start = last == '\n';
        self.output
            .write_all(text.as_bytes())
            .and_then(|()| self.output.flush())
            .map_err(|source| Error::Show { source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_lines_begin_on_a_new_line_and_the_programs_output_is_not_changed() {
        let mut output = Vec::new();
        let mut screen = Screen::new(&mut output, Paint::Plain);
        screen.program("sum").unwrap();
        screen.program(": 42").unwrap();
        screen.say("stopped").unwrap();
        screen.program("a\nb\n").unwrap();
        screen.console("one\ntwo\n").unwrap();
        screen.prompt("> ").unwrap();
        screen.complain("no").unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), "sum: 42\nstopped\na\nb\n| one\n| two\n> error: no\n");
    }
}
