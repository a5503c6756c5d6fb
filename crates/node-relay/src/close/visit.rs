//! A visit to an inspector that is to be closed. It is asked first whether the program hears us, and only then told.
//!
//! What an inspector was told cannot be taken back, not even by leaving: a program that is busy hears it later, when somebody
//! else may be there. So the order counts only for a moment after the answer, by the program's own clock.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::quick::Quick;
use crate::target::{Address, enter};
use crate::websocket::{Heard, Reader, end, text};

const QUESTION: u32 = 1;
const ORDER: u32 = 2;
/// No other clock is changed as seldom, neither by people nor by programs that test themselves.
const CLOCK: &str = "process.uptime()";
/// In seconds. Whoever has just answered is not busy.
const COUNTS_FOR: f64 = 1.0;
/// Ends with the connection that it comes by, so only an order that came too late is answered.
const CLOSE: &str = "process._debugEnd()";

pub(super) struct Visit {
    stream: Quick,
    reader: Reader<Quick>,
}

#[derive(Deserialize)]
struct Answer {
    id: Option<u32>,
    #[serde(default)]
    result: Evaluated,
}

#[derive(Default, Deserialize)]
struct Evaluated {
    #[serde(default)]
    result: Value,
}

#[derive(Default, Deserialize)]
struct Value {
    value: Option<serde_json::Value>,
}

impl Visit {
    /// Whoever is silent for so long is given up, but for an answer to the question.
    pub fn begin(address: &Address, patience: Duration) -> io::Result<Visit> {
        let (stream, reader) = enter(address, "localhost", patience)?;
        let mut visit = Visit { stream, reader };
        visit.say(QUESTION, CLOCK)?;
        Ok(visit)
    }

    /// Our own end of the connection.
    pub fn near(&self) -> io::Result<SocketAddr> {
        self.stream.near()
    }

    /// What the program's clock says, when it has come to the question. None if it has no such clock, and no such order.
    pub fn clock(&mut self) -> io::Result<Option<f64>> {
        Ok(self.answer(QUESTION)?.result.result.value.and_then(|value| value.as_f64()))
    }

    /// Whether the inspector is closed. Otherwise it will not be by this order, even if nobody has said so.
    pub fn close(&mut self, clock: f64) -> io::Result<bool> {
        let until = clock + COUNTS_FOR;
        self.say(ORDER, &format!("{CLOCK} < {until} && {CLOSE}"))?;
        Ok(self.answer(ORDER).is_err_and(|error| !super::is_late(&error)))
    }

    pub fn leave(mut self) {
        // One that is gone need not be told.
        let _ = self.stream.write_all(&end());
        self.stream.finish();
    }

    fn say(&mut self, id: u32, expression: &str) -> io::Result<()> {
        let request =
            json!({ "id": id, "method": "Runtime.evaluate", "params": { "expression": expression } });
        self.stream.write_all(&text(request.to_string().as_bytes()))
    }

    fn answer(&mut self, id: u32) -> io::Result<Answer> {
        loop {
            match self.reader.hear()? {
                Heard::End => return Err(io::ErrorKind::UnexpectedEof.into()),
                Heard::Text(words) => {
                    let answer: Option<Answer> = serde_json::from_slice(&words).ok();
                    if let Some(answer) = answer.filter(|answer| answer.id == Some(id)) {
                        return Ok(answer);
                    }
                }
                Heard::Ping(_) => {}
            }
        }
    }
}

impl AsFd for Visit {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
