//! What the person sees: the program's own output and ours, in one stream.
//!
//! The program's output is passed on as it is; ours always begins on a new line.

use std::io::Write;

use crate::error::Error;
use crate::view::Paint;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    LineStart,
    InLine,
    /// Behind the prompt, perhaps with something typed.
    AtPrompt,
}

pub struct Screen<'a, O> {
    output: &'a mut O,
    pub paint: Paint,
    cursor: Cursor,
}

impl<'a, O: Write> Screen<'a, O> {
    pub fn new(output: &'a mut O, paint: Paint) -> Self {
        Self { output, paint, cursor: Cursor::LineStart }
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
        self.begin_line()?;
        self.write(text)?;
        self.begin_line()
    }

    /// One line about others, or about what does not matter much.
    pub fn murmur(&mut self, text: &str) -> Result<(), Error> {
        self.say(&self.paint.dim(text))
    }

    pub fn complain(&mut self, text: &str) -> Result<(), Error> {
        self.say(&self.paint.alarm(&format!("error: {text}")))
    }

    /// Leaves the cursor behind the prompt, if it is not there.
    pub fn prompt(&mut self, text: &str) -> Result<(), Error> {
        if self.cursor == Cursor::AtPrompt {
            return Ok(());
        }
        self.begin_line()?;
        self.write(text)?;
        self.cursor = Cursor::AtPrompt;
        Ok(())
    }

    pub fn is_at_prompt(&self) -> bool {
        self.cursor == Cursor::AtPrompt
    }

    /// A line was typed, which ended with the person's own newline.
    pub fn typed(&mut self) {
        if self.cursor == Cursor::AtPrompt {
            self.cursor = Cursor::LineStart;
        }
    }

    /// Leaves what is half typed where it is.
    pub fn begin_line(&mut self) -> Result<(), Error> {
        match self.cursor {
            Cursor::LineStart => Ok(()),
            Cursor::InLine | Cursor::AtPrompt => self.put("\n"),
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        if self.is_at_prompt() && !text.is_empty() {
            self.begin_line()?;
        }
        self.put(text)
    }

    fn put(&mut self, text: &str) -> Result<(), Error> {
        let Some(last) = text.chars().last() else {
            return Ok(());
        };
        self.cursor = if last == '\n' { Cursor::LineStart } else { Cursor::InLine };
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
        screen.typed();
        screen.complain("no").unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), "sum: 42\nstopped\na\nb\n| one\n| two\n> error: no\n");
    }

    #[test]
    fn what_comes_at_the_prompt_begins_below_it() {
        let mut output = Vec::new();
        let mut screen = Screen::new(&mut output, Paint::Plain);
        screen.prompt("> ").unwrap();
        screen.prompt("> ").unwrap();
        screen.program("sum").unwrap();
        screen.prompt("> ").unwrap();
        screen.begin_line().unwrap();
        screen.prompt("> ").unwrap();
        screen.say("stopped").unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), "> \nsum\n> \n> \nstopped\n");
    }
}
