//! What Visual Studio waits for: the responses of the front end to its requests, over EZ with a large array.
//!
//! The protocol's document recommends less than 500 ms. Each figure is the best round's median.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Effort;
use super::figure::{Figure, Target};
use super::lab::{Lab, Process};

/// It stops in a loop that never ends.
const PROGRAM: &str = "\
import @std, @arrays
using std

const Point struct {
    x, y int
}

do main() {
    temp many [int] = {}
    for i in range(0, 100000) {
        arrays.append(many, i)
    }
    temp n = 0
    temp point = Point{x: 1, y: 2}
    loop {
        n = (n + point.x) % 1000
    }
}
";
const LINE: i64 = 16;
const ELEMENTS: i64 = 100_000;
const PAGE: i64 = 100;
const RECOMMENDED_MS: f64 = 500.0;

pub fn measure(lab: &Lab, effort: Effort) -> Result<Vec<Figure>> {
    let room = lab.room("vsx")?;
    let program = room.join("program.ez");
    std::fs::write(&program, PROGRAM)?;
    let mut command = lab.breakroom(&room, &["vsx", "--private", "--listen", "127.0.0.1:0"]);
    let (_server, port) = Process::listening(command.arg(&program))?;
    let mut vs = VisualStudio::connect(port)?;
    vs.ask("start", json!({}))?;
    vs.send(
        "set_breakpoint",
        json!({
            "file": program, "line": LINE, "function": "", "functionLineOffset": 0, "enabled": true,
            "conditionType": "none", "condition": "",
        }),
    )?;
    vs.send("ready", json!({}))?;
    vs.wait(|message| message["event"] == "stopped")?;
    vs.send("remove_breakpoint", json!({"file": program, "line": LINE}))?;
    let frame = json!({"threadId": 1, "frameId": 1});
    vs.ask("get_stack", frame.clone())?;
    let scope = vs.ask("get_scope", frame.clone())?;
    let many = scope["variables"].as_array().and_then(|all| all.iter().find(|one| one["name"] == "many"));
    let many = many.context("the array is in the scope")?.clone();
    ensure!(many["size"] == ELEMENTS, "the array is {many}");
    let page = |start: i64, count: i64| {
        json!({
            "threadId": 1, "frameId": 1, "addr": many["addr"], "typeId": many["typeId"],
            "start": start, "count": count,
        })
    };
    let expression = json!({"threadId": 1, "frameId": 1, "expression": "n + point.x"});
    let rows = [
        ("stack", "get_stack", frame.clone()),
        ("scope", "get_scope", frame),
        ("evaluation", "get_evaluation", expression),
        ("page", "get_property", page(ELEMENTS - PAGE, PAGE)),
        ("all-that-fits", "get_property", page(0, 0)),
    ];
    let rounds = effort.pick(20, 200);
    let mut figures = Vec::new();
    for (name, command, fields) in rows {
        let p50 = median(rounds, || vs.ask(command, fields.clone()).map(drop))?;
        figures.push(Figure::new(format!("vsx/{name}/p50"), p50, "ms", Target::AtMost(RECOMMENDED_MS)));
    }
    let step = json!({"threadId": 1, "stepKind": "STEP_OVER", "stepUnit": "STEP_LINE"});
    let p50 = median(rounds, || {
        vs.ask("step", step.clone())?;
        vs.wait(|message| message["event"] == "stopped").map(drop)
    })?;
    figures.push(Figure::new("vsx/step/p50", p50, "ms", Target::AtMost(RECOMMENDED_MS)));
    vs.send("stop", json!({}))?;
    Ok(figures)
}

/// In milliseconds.
fn median(rounds: usize, mut once: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let began = Instant::now();
        once()?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    times.get(rounds / 2).copied().context("nothing was measured")
}

struct VisualStudio {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
    seq: i64,
}

impl VisualStudio {
    fn connect(port: u16) -> Result<VisualStudio> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(VisualStudio { lines: BufReader::new(stream.try_clone()?), stream, seq: 0 })
    }

    fn send(&mut self, command: &str, fields: Value) -> Result<()> {
        self.seq += 1;
        let mut request = json!({"seq": self.seq, "type": "request", "command": command});
        if let (Value::Object(request), Value::Object(fields)) = (&mut request, fields) {
            request.extend(fields);
        }
        Ok(self.stream.write_all(format!("{request}\n").as_bytes())?)
    }

    fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Result<Value> {
        loop {
            let mut line = String::new();
            ensure!(self.lines.read_line(&mut line)? > 0, "the front end closed the connection");
            let message: Value = serde_json::from_str(&line)?;
            if fits(&message) {
                return Ok(message);
            }
        }
    }

    fn ask(&mut self, command: &str, fields: Value) -> Result<Value> {
        self.send(command, fields)?;
        let seq = self.seq;
        let response = self.wait(|message| message["requestSeq"] == seq)?;
        ensure!(response["success"] == true, "{command}: {}", response["message"]);
        Ok(response)
    }
}
