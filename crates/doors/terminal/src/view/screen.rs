//! What the person sees: the program's own output and ours, in one stream.
//!
//! The program's output is passed on as it is; ours always begins on a new line.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

use crate::Prompts;
use crate::error::Error;
use crate::view::Paint;
use breakroom_client::noise::is_noise;
use breakroom_wire::visible_lines;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    LineStart,
    InLine,
    /// Behind the prompt, perhaps with something typed.
    AtPrompt,
}

/// Who shows the prompt and keeps what is half typed.
enum Prompting {
    /// This screen, and the terminal echoes what is typed.
    Written,
    /// Somebody who prints our output above it.
    Edited(Arc<dyn Prompts>),
}

pub struct Screen<'a, O> {
    output: &'a mut O,
    pub paint: Paint,
    cursor: Cursor,
    prompting: Prompting,
    /// The debugger's last words, so that they are not said twice.
    words: VecDeque<String>,
    minds: Minds,
}

/// What is remembered of what is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Minds {
    /// A program may print without end.
    Debugger,
    Everything,
}

/// More lines of a build than these are not remembered.
const MOST_WORDS: usize = 1000;

impl<'a, O: Write> Screen<'a, O> {
    pub fn new(output: &'a mut O, paint: Paint) -> Self {
        Self {
            output,
            paint,
            cursor: Cursor::LineStart,
            prompting: Prompting::Written,
            words: VecDeque::new(),
            minds: Minds::Debugger,
        }
    }

    /// What the program printed.
    pub fn program(&mut self, text: &str) -> Result<(), Error> {
        if self.minds == Minds::Everything {
            text.lines().for_each(|line| self.remember(line));
        }
        self.write(text)
    }

    /// There is no program, so whatever is printed as its output are words of the debugger.
    pub fn mind_output(&mut self) {
        self.minds = Minds::Everything;
    }

    fn remember(&mut self, line: &str) {
        if self.words.len() == MOST_WORDS {
            self.words.pop_front();
        }
        self.words.push_back(line.trim().to_owned());
    }

    /// What the debugger printed.
    pub fn console(&mut self, text: &str) -> Result<(), Error> {
        for line in text.lines() {
            self.remember(line);
            if is_noise(line) {
                continue;
            }
            self.say(&self.paint.dim(&format!("| {line}")))?;
        }
        Ok(())
    }

    /// The last lines that the debugger has printed.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// Whether the debugger has printed this line.
    pub fn has_shown(&self, line: &str) -> bool {
        self.words().any(|word| word == line.trim())
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

    /// One line about others, or about what does not matter much. The others choose their names.
    pub fn murmur(&mut self, text: &str) -> Result<(), Error> {
        self.say(&self.paint.dim(&visible_lines(text)))
    }

    pub fn complain(&mut self, text: &str) -> Result<(), Error> {
        self.say(&self.paint.alarm(&format!("error: {}", visible_lines(text))))
    }

    /// Leaves the cursor behind the prompt, if it is not there.
    pub fn prompt(&mut self, text: &str) -> Result<(), Error> {
        if self.cursor == Cursor::AtPrompt {
            return Ok(());
        }
        self.begin_line()?;
        match &self.prompting {
            Prompting::Written => self.write(text)?,
            Prompting::Edited(prompts) => prompts.ask(text),
        }
        self.cursor = Cursor::AtPrompt;
        Ok(())
    }

    pub fn let_prompts_be_shown_by(&mut self, prompts: Arc<dyn Prompts>) {
        self.prompting = Prompting::Edited(prompts);
    }

    pub fn is_at_prompt(&self) -> bool {
        self.cursor == Cursor::AtPrompt
    }

    /// A line was typed, which ended with the person's own newline.
    pub fn typed(&mut self) {
        if self.cursor == Cursor::AtPrompt {
            self.cursor = Cursor::LineStart;
        }
        if let Prompting::Edited(prompts) = &self.prompting {
            prompts.answered();
        }
    }

    /// What is half typed is given up.
    pub fn drop_line(&mut self) -> Result<(), Error> {
        match &self.prompting {
            Prompting::Edited(prompts) if self.is_at_prompt() => {
                prompts.drop_line();
                Ok(())
            }
            Prompting::Edited(_) | Prompting::Written => self.begin_line(),
        }
    }

    /// Leaves what is half typed where it is.
    pub fn begin_line(&mut self) -> Result<(), Error> {
        match self.cursor {
            Cursor::LineStart => Ok(()),
            // What is printed above it has lines of its own.
            Cursor::AtPrompt if matches!(self.prompting, Prompting::Edited(_)) => Ok(()),
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
        self.cursor = match (self.cursor, &self.prompting) {
            (Cursor::AtPrompt, Prompting::Edited(_)) => Cursor::AtPrompt,
            _ if last == '\n' => Cursor::LineStart,
            _ => Cursor::InLine,
        };
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
    fn names_of_others_do_not_steer_the_terminal() {
        let mut output = Vec::new();
        let mut screen = Screen::new(&mut output, Paint::Plain);
        screen.murmur("\x1b]0;x\x07Ann joined").unwrap();
        screen.complain("\u{202e}Ann resumed it").unwrap();
        let shown = "\\u{1b}]0;x\\u{7}Ann joined\nerror: \\u{202e}Ann resumed it\n";
        assert_eq!(String::from_utf8(output).unwrap(), shown);
    }

    struct Asked(std::sync::Mutex<Vec<String>>);

    impl Prompts for Asked {
        fn ask(&self, prompt: &str) {
            self.0.lock().unwrap().push(prompt.to_owned());
        }

        fn answered(&self) {
            self.0.lock().unwrap().push("answered".to_owned());
        }

        fn drop_line(&self) {
            self.0.lock().unwrap().push("dropped".to_owned());
        }
        fn sight(&self) -> Arc<crate::Sight> {
            Arc::default()
        }
    }

    #[test]
    fn a_prompt_that_somebody_else_shows_stays_below_what_comes() {
        let asked = Arc::new(Asked(std::sync::Mutex::new(Vec::new())));
        let mut output = Vec::new();
        let mut screen = Screen::new(&mut output, Paint::Plain);
        screen.let_prompts_be_shown_by(asked.clone());
        screen.program("sum").unwrap();
        screen.prompt("> ").unwrap();
        screen.say("stopped").unwrap();
        screen.program("a\n").unwrap();
        assert!(screen.is_at_prompt());
        screen.drop_line().unwrap();
        screen.typed();
        screen.say("done").unwrap();
        assert_eq!(
            String::from_utf8(output).unwrap(),
            "sum\nstoppeda\ndone\n",
            "the other ends its lines itself"
        );
        assert_eq!(*asked.0.lock().unwrap(), ["> ", "dropped", "answered"]);
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
