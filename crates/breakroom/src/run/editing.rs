//! A line that can be edited, with history and completion, below whatever else is shown.
//!
//! While a prompt is there, keys are read one by one and output is printed above it. Without one the terminal is left as it
//! is, so that what is typed is for the program and looks as ever. Ctrl-C stays the terminal's.

mod key;
mod line;

use std::io::{self, BufRead, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use breakroom_door_terminal::{END_OF_TYPING, Prompts, Sight, command_names};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Signal;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use tokio::signal::unix::{SignalKind, signal};

use line::{Line, Outcome};

/// Terminals whose cursor does not move.
const DUMB: [&str; 4] = ["", "dumb", "cons25", "emacs"];
/// Where a terminal does not say how wide it is.
const USUAL_WIDTH: usize = 80;
const ERASED: &str = "\r\x1b[K";

/// The ends of one terminal: what is typed, what is shown, and whether there is a prompt.
pub struct Editing {
    pub keys: Keys,
    pub desk: Arc<Desk>,
    pub found: Found,
}

impl Editing {
    /// `None` where lines cannot be edited.
    pub fn begin() -> Option<Self> {
        let can_move = std::env::var("TERM").is_ok_and(|term| !DUMB.contains(&&*term));
        let found = Found(tcgetattr(io::stdin()).ok().filter(|_| can_move)?);
        let (wake, woken) = UnixStream::pair().ok()?;
        wake.set_nonblocking(true).ok()?;
        woken.set_nonblocking(true).ok()?;
        let desk = Arc::new(Desk { state: Mutex::default(), wake, sight: Arc::default() });
        desk.watch_for_going_on().ok()?;
        let keys = Keys { desk: desk.clone(), woken, came: Vec::new(), line: Vec::new(), taken: 0 };
        Some(Self { keys, desk, found })
    }
}

/// How the terminal was found.
pub struct Found(Termios);

impl Found {
    /// Leaves it so, once nothing more is shown.
    pub fn restore(&self, desk: &Desk) {
        // A prompt that nobody will answer.
        let _ = desk.state().erase();
        // If it fails the terminal is gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &self.0);
    }
}

/// What reading and showing share.
pub struct Desk {
    state: Mutex<State>,
    /// Whoever waits for keys looks up when it is written to.
    wake: UnixStream,
    sight: Arc<Sight>,
}

#[derive(Default)]
struct State {
    /// The one that is wanted, if one is.
    prompt: Option<String>,
    asked: Asked,
    line: Line,
    drawn: Drawn,
    /// The terminal's modes while keys are read one by one.
    at_once: Option<Termios>,
}

/// What whoever shows something believes of the prompt: it may not be drawn yet, or a line may have come that was not
/// taken.
#[derive(Default, PartialEq, Eq)]
enum Asked {
    #[default]
    No,
    Yes,
}

#[derive(Default, PartialEq, Eq)]
enum Drawn {
    #[default]
    No,
    /// The prompt and the line are the last thing on the screen.
    Yes,
}

impl Desk {
    /// Who was stopped and goes on finds the terminal as the shell left it.
    fn watch_for_going_on(self: &Arc<Self>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut goes_on = {
            let _inside = runtime.enter();
            signal(SignalKind::from_raw(Signal::CONT.as_raw()))?
        };
        let desk = self.clone();
        std::thread::spawn(move || {
            runtime.block_on(async {
                while goes_on.recv().await.is_some() {
                    let mut state = desk.state();
                    if let Some(at_once) = &state.at_once {
                        // If it fails, so does what is read or shown next.
                        let _ = tcsetattr(io::stdin(), OptionalActions::Now, at_once);
                        let _ = state.draw();
                    }
                }
            });
        });
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn draw(&mut self) -> io::Result<()> {
        let prompt = self.prompt.clone().unwrap_or_default();
        let width = tcgetwinsize(io::stdout()).ok().map_or(0, |size| usize::from(size.ws_col));
        let width = if width == 0 { USUAL_WIDTH } else { width };
        let before = prompt.chars().count();
        let (text, column) = self.line.visible(width.saturating_sub(before));
        self.drawn = Drawn::Yes;
        put(&format!("{ERASED}{prompt}{text}\r\x1b[{}C", before + column))
    }

    fn erase(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.drawn) {
            Drawn::Yes => put(ERASED),
            Drawn::No => Ok(()),
        }
    }

    /// Prints above the prompt, if that is there.
    fn print(&mut self, text: &str) -> io::Result<()> {
        let text = self.in_whole_lines(text);
        if self.drawn == Drawn::No {
            return put(&text);
        }
        self.erase()?;
        put(&text)?;
        self.draw()
    }

    /// What is printed above a prompt ends its line, also while that is still to be drawn.
    fn in_whole_lines(&self, text: &str) -> String {
        let is_apart = self.drawn == Drawn::Yes || self.asked == Asked::Yes;
        let end = if is_apart && !text.ends_with('\n') { "\n" } else { "" };
        format!("{text}{end}")
    }

    /// The line as it was typed stays on the screen.
    fn leave_line(&mut self, text: &str, end: &str) -> io::Result<()> {
        let prompt = self.prompt.clone().unwrap_or_default();
        self.erase()?;
        put(&format!("{prompt}{text}{end}\n"))
    }
}

fn put(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

impl Prompts for Desk {
    fn ask(&self, prompt: &str) {
        let mut state = self.state();
        state.prompt = Some(prompt.to_owned());
        state.asked = Asked::Yes;
        drop(state);
        // If it is full, somebody is about to look anyway.
        let _ = (&self.wake).write(&[1]);
    }

    fn answered(&self) {
        let mut state = self.state();
        state.prompt = None;
        state.asked = Asked::No;
    }

    fn sight(&self) -> Arc<Sight> {
        self.sight.clone()
    }

    fn drop_line(&self) {
        let mut state = self.state();
        if state.drawn == Drawn::Yes {
            let text = state.line.text();
            state.line.clear();
            // If it cannot be shown, that is found out by the next output.
            let _ = state.leave_line(&text, "^C").and_then(|()| state.draw());
        }
    }
}

/// What is shown, above the prompt if there is one.
pub struct Shown(pub Arc<Desk>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.state().print(&String::from_utf8_lossy(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is typed, a line at a time.
pub struct Keys {
    desk: Arc<Desk>,
    woken: UnixStream,
    /// Bytes behind the end of the last line.
    came: Vec<u8>,
    line: Vec<u8>,
    taken: usize,
}

impl Keys {
    fn next_line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if self.desk.state().prompt.is_some() {
                return self.edited_line();
            }
            if !self.came.is_empty() || self.is_typed_to()? {
                return self.plain_line();
            }
        }
    }

    /// With the keys of a terminal that is told to give them at once.
    fn edited_line(&mut self) -> io::Result<Vec<u8>> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin)?;
        let mut at_once = before.clone();
        at_once.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        at_once.input_modes.remove(InputModes::ICRNL | InputModes::IXON);
        at_once.special_codes[SpecialCodeIndex::VMIN] = 1;
        at_once.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&stdin, OptionalActions::Now, &at_once)?;
        self.desk.state().at_once = Some(at_once);
        let line = self.keys_to_the_end_of_a_line();
        let mut state = self.desk.state();
        state.at_once = None;
        tcsetattr(&stdin, OptionalActions::Now, &before)?;
        drop(state);
        line
    }

    fn keys_to_the_end_of_a_line(&mut self) -> io::Result<Vec<u8>> {
        let words: Vec<&str> = command_names().collect();
        self.desk.state().draw()?;
        loop {
            if self.came.is_empty() {
                let mut piece = [0; 1024];
                let count = match rustix::io::read(io::stdin(), &mut piece) {
                    Err(rustix::io::Errno::INTR) => continue,
                    read => read?,
                };
                if count == 0 {
                    self.desk.state().erase()?;
                    return Ok(END_OF_TYPING.to_vec());
                }
                self.came.extend_from_slice(&piece[..count]);
                if self.desk.state().line.text().is_empty() {
                    self.desk.sight.begin();
                }
            }
            let byte = self.came.remove(0);
            let mut state = self.desk.state();
            match state.line.feed(byte, &words) {
                None => {}
                // What follows at once is drawn with it.
                Some(Outcome::Changed) if !self.came.is_empty() => {}
                Some(Outcome::Changed) => state.draw()?,
                Some(Outcome::Entered(text)) => {
                    state.leave_line(&text, "")?;
                    state.prompt = None;
                    return Ok(format!("{text}\n").into_bytes());
                }
                Some(Outcome::Ended) => {
                    state.leave_line("", "")?;
                    state.prompt = None;
                    return Ok(END_OF_TYPING.to_vec());
                }
                Some(Outcome::Choices(choices)) => state.print(&choices.join("  "))?,
                Some(Outcome::Cleared) => {
                    put("\x1b[H\x1b[2J")?;
                    state.draw()?;
                }
            }
        }
    }

    /// As the terminal gives it, behind what came with the line before it.
    fn plain_line(&mut self) -> io::Result<Vec<u8>> {
        let ends = |byte: &u8| [b'\r', b'\n'].contains(byte);
        let mut line = match self.came.iter().position(ends) {
            Some(end) => {
                let mut line: Vec<u8> = self.came.drain(..=end).collect();
                line.pop();
                line.push(b'\n');
                return Ok(line);
            }
            None => std::mem::take(&mut self.came),
        };
        let is_new = line.is_empty();
        io::stdin().lock().read_until(b'\n', &mut line)?;
        if is_new {
            self.desk.sight.begin();
        }
        Ok(if line.is_empty() { END_OF_TYPING.to_vec() } else { line })
    }

    /// Waits; false if a prompt may be wanted now.
    fn is_typed_to(&mut self) -> io::Result<bool> {
        let stdin = io::stdin();
        let (typed, woken) = (stdin.as_fd(), self.woken.as_fd());
        let mut ends = [&typed, &woken].map(|end| PollFd::new(end, PollFlags::IN));
        match poll(&mut ends, None) {
            Err(rustix::io::Errno::INTR) => return Ok(false),
            polled => polled?,
        };
        let [typed, woken] = ends.map(|end| !end.revents().is_empty());
        if woken {
            // How often it was woken does not matter.
            let _ = self.woken.read(&mut [0; 64]);
        }
        Ok(typed && !woken)
    }
}

impl BufRead for Keys {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken >= self.line.len() {
            self.line = self.next_line()?;
            self.taken = 0;
        }
        Ok(self.line.get(self.taken..).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.taken += count;
    }
}

impl Read for Keys {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_beside_a_prompt_ends_its_line_whether_or_not_that_is_drawn() {
        let state = |asked, drawn| State { asked, drawn, ..State::default() };
        for (state, shown) in [
            (state(Asked::No, Drawn::No), "half"),
            (state(Asked::Yes, Drawn::No), "half\n"),
            (state(Asked::Yes, Drawn::Yes), "half\n"),
            (state(Asked::No, Drawn::Yes), "half\n"),
        ] {
            assert_eq!(state.in_whole_lines("half"), shown);
            assert_eq!(state.in_whole_lines("whole\n"), "whole\n");
        }
    }
}
