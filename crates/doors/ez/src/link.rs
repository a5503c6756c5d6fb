//! Both ends at once: the commands of the IDE and the debugger's answers and events, while one of them is awaited.
//!
//! Commands are read while an answer is awaited, so that `terminate` is heard however long a debugger takes.
//! What a command means is not decided here.

use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use breakroom_client::{Client, Error, Event as DebuggerEvent, Happening, Messages, PATIENCE, Typed, model};
use breakroom_debug_client::{OutputQueue, Requests};
use serde_json::{Value, json};

use crate::command::{Command, Known, Said};
use crate::event::Event;
use crate::failure::Failure;

/// How long answers are awaited that were asked for before `terminate`. The process must be gone after 1 s.
const GRACE: Duration = Duration::from_millis(300);
/// How long after `terminate` the IDE may take to read the last events.
const LAST_WORDS: Duration = Duration::from_millis(800);
/// An IDE that takes each of them within this time reads on, however late it is: a machine may be slow.
const STILL_READS: Duration = Duration::from_millis(100);
/// More commands than these are not read until some of them are done.
const MOST_WAITING: usize = 1000;

pub struct Link {
    pub client: Client,
    out: OutputQueue,
    /// Commands that were read before the last `start` or `continue` was answered. They come before the others.
    held: VecDeque<Said>,
    queue: VecDeque<Said>,
    input: Input,
    /// When `terminate` was heard.
    terminate: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Idle,
    Asked,
    Closed,
}

impl Link {
    pub fn new(input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> Self {
        let mut client = Client::unconnected();
        client.listen_apart(input);
        let waker = client.waker();
        let out = OutputQueue::new(output, move || waker.wake());
        Link {
            client,
            out,
            held: VecDeque::new(),
            queue: VecDeque::new(),
            input: Input::Idle,
            terminate: None,
        }
    }

    /// Calls this in a thread of its own, to learn that nobody reads any more when it returns.
    pub fn notice_deafness(&self, wait: Box<dyn FnOnce() + Send>) {
        let closed = self.out.closed();
        std::thread::spawn(move || {
            wait();
            closed.report();
        });
    }

    pub fn check_that_somebody_reads(&self) -> Result<(), Failure> {
        Ok(self.out.check()?)
    }

    /// Whether the IDE has yet to read much of what it was told.
    pub fn is_behind(&self) -> bool {
        self.out.is_behind()
    }

    /// Waits until all that was said is read, or nobody wants it any more.
    pub fn finish_writing(&mut self) {
        let is_given_up = |link: &Link| link.is_too_late() && link.out.is_stuck(STILL_READS);
        while !self.out.is_done() && !is_given_up(self) {
            self.hear();
            let look_again = Instant::now() + STILL_READS;
            let deadline = self.terminate.map(|heard| look_again.max(heard + LAST_WORDS));
            self.client.wait_for_anything(Messages::Left, deadline);
        }
    }

    fn is_too_late(&self) -> bool {
        self.terminate.is_some_and(|heard| heard.elapsed() >= LAST_WORDS)
    }

    pub fn say(&mut self, event: Event) -> Result<(), Failure> {
        Ok(self.out.push(event.lines())?)
    }

    pub fn refuse(&mut self, known: &Known, why: &str) -> Result<(), Failure> {
        self.say(Event::refusal(&format!("Cannot {}: {why}", known.deed), Some(known.name)))
    }

    /// Takes in what was typed.
    pub fn hear(&mut self) {
        while let Some(typed) = self.client.typed() {
            self.note(typed);
        }
        if self.input == Input::Idle && self.held.len() + self.queue.len() < MOST_WAITING {
            self.client.want_line();
            self.input = Input::Asked;
        }
    }

    fn note(&mut self, typed: Typed) {
        self.input = Input::Idle;
        let said = match typed {
            Typed::Line(line) => Said::read(&line),
            Typed::TooLong => {
                let message = "invalid JSON: the line is longer than 1 MiB".to_owned();
                Said::Nonsense { message, command: None }
            }
            Typed::End | Typed::Broken { .. } => {
                self.input = Input::Closed;
                return;
            }
        };
        if matches!(said, Said::Command(_, Command::Terminate)) {
            self.terminate.get_or_insert_with(Instant::now);
        }
        self.queue.push_back(said);
    }

    /// What was read by now waits for the next stop if it needs one. What is read later does not.
    pub fn hold(&mut self) {
        self.held.append(&mut self.queue);
    }

    /// What is to be done next: of those that are held the first one if it may, else the first that may overtake it; then
    /// the same of the others.
    pub fn next(
        &mut self,
        may_of_held: impl Fn(&Said) -> bool,
        may: impl Fn(&Said) -> bool,
        may_overtake: impl Fn(&Said) -> bool,
    ) -> Option<Said> {
        take(&mut self.held, may_of_held, &may_overtake).or_else(|| take(&mut self.queue, may, &may_overtake))
    }

    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Nothing was said that is not done, and nothing will be.
    pub fn is_done(&self) -> bool {
        self.held.is_empty() && self.queue.is_empty() && self.input == Input::Closed
    }

    /// What still waits will not be done.
    pub fn refuse_the_rest(&mut self, why: &str) -> Result<(), Failure> {
        self.hold();
        for said in std::mem::take(&mut self.held) {
            match said {
                Said::Command(_, Command::Terminate) => {}
                Said::Command(known, _) => self.refuse(known, why)?,
                Said::Nonsense { message, command } => {
                    self.say(Event::refusal(&message, command.as_deref()))?;
                }
            }
        }
        Ok(())
    }

    /// Asks the debugger. What the program printed before the answer is told before it.
    pub fn ask(&mut self, command: &str, arguments: Value) -> Result<Value, Failure> {
        let answer = self.ask_quietly(command, arguments);
        // A program that never stops printing has to wait for the answer to be told.
        let before = self.client.waiting().count();
        for _ in 0..before {
            if self.client.waiting().next().and_then(plain_output).is_none() {
                break;
            }
            if let Some(Happening::Event(DebuggerEvent { body, .. })) = self.client.happened() {
                self.pass_on(&body)?;
            }
        }
        answer
    }

    /// Asks the debugger, and leaves everything else that happens for later.
    pub fn ask_quietly(&mut self, command: &str, arguments: Value) -> Result<Value, Failure> {
        self.ask_within(command, arguments, PATIENCE)
    }

    pub fn ask_within(
        &mut self,
        command: &str,
        arguments: Value,
        patience: Duration,
    ) -> Result<Value, Failure> {
        let id = self.client.send(command, arguments)?;
        let answer = self.until(command, patience, |client| client.take_answer(id, command));
        match answer {
            Ok(answer) => Ok(answer?),
            Err(failure) => {
                self.client.forget(id);
                Err(failure)
            }
        }
    }

    /// Waits until the client has what is looked for.
    pub fn until<T>(
        &mut self,
        what: &str,
        patience: Duration,
        mut look: impl FnMut(&mut Client) -> Option<T>,
    ) -> Result<T, Failure> {
        let deadline = Instant::now() + patience;
        loop {
            self.hear();
            if let Some(found) = look(&mut self.client) {
                return Ok(found);
            }
            // Looking may have taken in what was typed, and then nothing more might come.
            if self.client.has_typed() {
                continue;
            }
            let until = self.terminate.map_or(deadline, |heard| deadline.min(heard + GRACE));
            match self.client.receive(Some(until), what, patience) {
                Err(Error::Silent { .. }) if self.terminate.is_some() => return Err(Failure::Terminated),
                result => result?,
            }
        }
    }

    /// What the program printed, or what a debugger said that is not for the IDE.
    pub fn pass_on(&mut self, body: &Value) -> Result<(), Failure> {
        let category = match body["category"].as_str() {
            None | Some("stdout") => "stdout",
            // There is no third category, and what is important must not be lost.
            Some("stderr" | "important") => "stderr",
            // The IDE has no place to type, so nothing else explains why nothing happens.
            Some(_) if model::waits_for_input(body) => "stderr",
            Some(_) => return Ok(()),
        };
        match body["output"].as_str() {
            None | Some("") => Ok(()),
            Some(text) => self.say(Event::new("output").with("category", category).with("text", text)),
        }
    }

    /// Says goodbye for at most this long.
    pub fn disconnect(&mut self, arguments: Value, patience: Duration) {
        let Ok(id) = self.client.send("disconnect", arguments) else { return };
        let deadline = Instant::now() + patience;
        // Not through `until`: a `terminate` makes it shorter only if the second is over.
        while self.client.take_answer(id, "disconnect").is_none() && !self.is_too_late() {
            self.hear();
            if self.client.receive(Some(deadline), "disconnect", patience).is_err() {
                return;
            }
        }
    }

    /// Leaves it to the hub whether others need what was launched.
    pub fn say_goodbye(&mut self, patience: Duration) {
        self.disconnect(json!({"restart": false}), patience);
    }
}

impl Requests for Link {
    type Error = Failure;

    fn request(
        &mut self,
        command: &'static str,
        arguments: Value,
    ) -> impl Future<Output = Result<Value, Failure>> + Send {
        std::future::ready(self.ask_quietly(command, arguments))
    }

    fn can(&self, capability: &str) -> bool {
        self.client.can(capability)
    }

    fn refusal(&self, why: String) -> Failure {
        Failure::Refused(why)
    }

    fn as_refusal(failure: &Failure) -> Option<&str> {
        match failure {
            Failure::Refused(why) => Some(why),
            Failure::Terminated | Failure::Lost(_) | Failure::Deaf(_) => None,
        }
    }
}

fn take(
    queue: &mut VecDeque<Said>,
    may: impl Fn(&Said) -> bool,
    may_overtake: impl Fn(&Said) -> bool,
) -> Option<Said> {
    if queue.front().is_some_and(may) {
        return queue.pop_front();
    }
    let at = queue.iter().position(may_overtake)?;
    queue.remove(at)
}

/// Output that says nothing but what was printed.
fn plain_output(happening: &Happening) -> Option<&Value> {
    match happening {
        Happening::Event(event) if event.name == "output" => {
            Some(&event.body).filter(|body| body["category"] != "important")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn late(output: impl Write + Send + 'static) -> Link {
        let mut link = Link::new(std::io::empty(), output);
        link.terminate = Instant::now().checked_sub(LAST_WORDS);
        assert!(link.is_too_late());
        link
    }

    #[test]
    fn an_ide_that_reads_is_told_the_end_however_late_it_is() {
        let (mut reads, output) = std::io::pipe().unwrap();
        let mut link = late(output);
        link.say(Event::new("terminated")).unwrap();
        link.finish_writing();
        drop(link);
        let said = std::io::read_to_string(&mut reads).unwrap();
        assert!(said.contains("terminated"), "{said:?}");
    }

    #[test]
    fn an_ide_that_does_not_read_is_not_waited_for_when_it_is_late() {
        let (reads, output) = std::io::pipe().unwrap();
        let mut link = late(output);
        // More than the pipe takes.
        link.say(Event::new("output").with("text", &*"x".repeat(1 << 20))).unwrap();
        link.finish_writing();
        assert!(!link.out.is_done());
        drop(reads);
    }
}
