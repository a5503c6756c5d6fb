//! The toy language of the fake `ez`, and running it.
//!
//! `do NAME` to `end` is a function, all other lines are `main`. Statements: `let NAME TYPE VALUE`, `call NAME`,
//! `print TEXT`, `say TEXT` (no newline), `warn TEXT` (stderr), `many COUNT LENGTH` (that many variables), `spin`,
//! `flood` (prints without end), `spawn` (a process that stays), `exit CODE`, `fail MESSAGE`, `die` (by a signal), `wide BYTES` (one long line).

use std::collections::BTreeMap;
use std::process::Command;

const STATEMENTS: [&str; 13] =
    ["let", "call", "print", "say", "warn", "many", "spin", "flood", "spawn", "exit", "fail", "die", "wide"];

#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub line: i64,
    pub word: String,
    pub rest: String,
}

#[derive(Debug)]
pub(super) struct Program {
    pub file: String,
    functions: BTreeMap<String, Vec<Statement>>,
}

/// How a program ends before its last line.
pub(super) enum Ending {
    Code(i32),
    Error { message: String, line: i64 },
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub kind: String,
    pub value: String,
}

/// Who runs a program: is asked before each statement and told what it does.
pub(super) trait Host {
    fn before(&self, line: i64);
    fn enter(&self, function: &str, from: i64);
    fn leave(&self);
    fn declare(&self, variable: Variable);
    fn print(&self, category: &str, text: &str);
    /// Until it is let go on.
    fn spin(&self, line: i64);
}

impl Program {
    /// The line of the first mistake, if there is one.
    pub fn parse(file: &str, text: &str) -> Result<Program, i64> {
        let mut functions: BTreeMap<String, Vec<Statement>> = BTreeMap::new();
        let mut current = "main".to_owned();
        functions.insert(current.clone(), Vec::new());
        for (line, text) in (1..).zip(text.lines()) {
            let (word, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            match word {
                "" | "#" => {}
                "do" => {
                    current = rest.to_owned();
                    functions.insert(current.clone(), Vec::new());
                }
                "end" => current = "main".into(),
                word if STATEMENTS.contains(&word) => {
                    let statement = Statement { line, word: word.into(), rest: rest.into() };
                    functions.entry(current.clone()).or_default().push(statement);
                }
                _ => return Err(line),
            }
        }
        Ok(Program { file: file.into(), functions })
    }

    /// The first line from this one on that has a statement.
    pub fn next_statement(&self, line: i64) -> Option<i64> {
        let lines = self.functions.values().flatten().map(|statement| statement.line);
        lines.filter(|candidate| *candidate >= line).min()
    }

    pub fn run(&self, host: &impl Host) -> Ending {
        match self.call("main", host) {
            Some(ending) => ending,
            None => Ending::Code(0),
        }
    }

    fn call(&self, function: &str, host: &impl Host) -> Option<Ending> {
        for statement in self.functions.get(function)? {
            host.before(statement.line);
            if let Some(ending) = self.execute(statement, host) {
                return Some(ending);
            }
        }
        None
    }

    fn execute(&self, statement: &Statement, host: &impl Host) -> Option<Ending> {
        let rest = statement.rest.as_str();
        match statement.word.as_str() {
            "let" => {
                let mut words = rest.splitn(3, ' ').map(str::to_owned);
                let (name, kind) = (words.next()?, words.next()?);
                host.declare(Variable { name, kind, value: words.next()? });
            }
            "many" => {
                let (count, length) = rest.split_once(' ')?;
                for number in 0..count.parse::<usize>().ok()? {
                    let value = "x".repeat(length.parse().ok()?);
                    host.declare(Variable { name: format!("v{number}"), kind: "string".into(), value });
                }
            }
            "call" => {
                host.enter(rest, statement.line);
                let ending = self.call(rest, host);
                host.leave();
                return ending;
            }
            "print" => host.print("stdout", &format!("{rest}\n")),
            "say" => host.print("stdout", rest),
            "warn" => host.print("stderr", &format!("{rest}\n")),
            "wide" => host.print("stdout", &format!("{{{}\n", "w".repeat(rest.parse().ok()?))),
            "flood" => loop {
                host.print("stdout", "more and more\n");
            },
            "spin" => host.spin(statement.line),
            "spawn" => {
                Command::new("sh").args(["-c", "sleep 600 &"]).status().expect("sh can be started");
            }
            "exit" => return Some(Ending::Code(rest.parse().ok()?)),
            "die" => {
                let own = rustix::process::getpid();
                let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
            }
            _ => return Some(Ending::Error { message: rest.to_owned(), line: statement.line }),
        }
        None
    }
}
