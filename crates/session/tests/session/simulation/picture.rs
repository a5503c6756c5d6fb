//! What somebody knows about the program by the events that it heard. The engine keeps one of all it said, which is
//! the truth that every client's is held against.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::traffic::mark_of;

#[derive(Debug, Clone, Default)]
pub struct Picture {
    process: Option<String>,
    /// The threads besides 1 and 2, which come and go.
    threads: BTreeSet<i64>,
    modules: BTreeMap<i64, String>,
    sources: BTreeSet<String>,
    /// The marks of the outputs, in the order in which they came.
    pub output: Vec<i64>,
    progress: BTreeSet<String>,
    steps_back: bool,
    exited: Option<i64>,
    pub terminated: bool,
    /// Which of the two threads are stopped.
    pub stopped: [bool; 2],
    /// The thread of the last stop, as long as it is stopped.
    pub focus: Option<i64>,
    /// The number of the last stop that had one.
    pub stop: Option<i64>,
    /// What the hub printed.
    pub logs: Vec<String>,
}

/// What of a picture can be compared.
#[derive(Clone, Copy)]
pub struct Scope {
    /// It never resumed anything, so it knows what runs from events alone.
    pub runs: bool,
    /// It is shown the stops that last, the latest last.
    pub focus: bool,
    /// It knows only of this engine; nothing takes back what another said of its process and its abilities.
    pub process: bool,
    /// It declared that it can show progress.
    pub progress: bool,
    /// The mark from which on every output counts. None does if some were left out, or are too old to be shown.
    pub output: Option<i64>,
}

impl Picture {
    pub fn note(&mut self, event: &Value) {
        let body = &event["body"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let thread = body["threadId"].as_i64();
        let name = event["event"].as_str().unwrap_or_default();
        // What an engine says of a program that is over is not told, but for its output.
        if self.terminated && name != "output" {
            return;
        }
        match name {
            "process" => self.process = Some(text(&body["name"])),
            "thread" if body["reason"] == "exited" => drop(self.threads.remove(&thread.unwrap())),
            "thread" => drop(self.threads.insert(thread.unwrap())),
            "module" => {
                let id = body["module"]["id"].as_i64().unwrap();
                self.modules.remove(&id);
                if body["reason"] != "removed" {
                    self.modules.insert(id, text(&body["module"]["name"]));
                }
            }
            "loadedSource" if body["reason"] == "removed" => {
                self.sources.remove(&text(&body["source"]["path"]));
            }
            "loadedSource" => drop(self.sources.insert(text(&body["source"]["path"]))),
            "output" => match mark_of(event) {
                Some(mark) => self.output.push(mark),
                None => self.logs.push(text(&body["output"]).trim().to_owned()),
            },
            "progressStart" => drop(self.progress.insert(text(&body["progressId"]))),
            "progressEnd" => drop(self.progress.remove(&text(&body["progressId"]))),
            "capabilities" => {
                if let Some(steps_back) = body["capabilities"]["supportsStepBack"].as_bool() {
                    self.steps_back = steps_back;
                }
            }
            "exited" => self.exited = body["exitCode"].as_i64(),
            "terminated" => self.terminated = true,
            "stopped" => {
                self.run(thread, body["allThreadsStopped"] == true, true);
                self.focus = thread;
                self.stop = body["stop"].as_i64().or(self.stop);
            }
            "continued" => self.run(thread, body["allThreadsContinued"] != false, false),
            _ => {}
        }
    }

    fn run(&mut self, thread: Option<i64>, all: bool, stopped: bool) {
        for (at, known) in self.stopped.iter_mut().enumerate() {
            if all || thread.is_none_or(|thread| thread == at as i64 + 1) {
                *known = stopped;
            }
        }
        if !stopped && (all || thread == self.focus) {
            self.focus = None;
        }
    }

    pub fn has_ended(&self) -> bool {
        self.terminated
    }

    /// In what this one differs from the truth.
    pub fn differs(&self, truth: &Picture, scope: Scope) -> Option<String> {
        let differs = |what: &str, known: &dyn std::fmt::Debug, truth: &dyn std::fmt::Debug| {
            let (known, truth) = (format!("{known:?}"), format!("{truth:?}"));
            (known != truth).then(|| format!("{what}: {known} instead of {truth}"))
        };
        let runs = || differs("what is stopped", &self.stopped, &truth.stopped);
        let focus = || differs("the last stop", &self.focus, &truth.focus);
        let progress = || differs("progress", &self.progress, &truth.progress);
        let output = |from: i64| differs("output", &self.output_from(from), &truth.output_from(from));
        let process = || {
            differs("process", &self.process, &truth.process)
                .or_else(|| differs("capabilities", &self.steps_back, &truth.steps_back))
                .or_else(|| differs("exited", &self.exited, &truth.exited))
        };
        (scope.process.then(process).flatten())
            .or_else(|| differs("threads", &self.threads, &truth.threads))
            .or_else(|| differs("modules", &self.modules, &truth.modules))
            .or_else(|| differs("sources", &self.sources, &truth.sources))
            .or_else(|| differs("terminated", &self.terminated, &truth.terminated))
            .or_else(|| scope.runs.then(runs).flatten())
            .or_else(|| (scope.focus && truth.focus.is_some()).then(focus).flatten())
            .or_else(|| scope.progress.then(progress).flatten())
            .or_else(|| scope.output.and_then(output))
    }

    fn output_from(&self, mark: i64) -> Vec<i64> {
        self.output.iter().copied().filter(|output| *output >= mark).collect()
    }
}
