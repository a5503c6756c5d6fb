//! Continue, steps and pause: at most one is at work with the runtime at a time, the others wait.
//!
//! A request is settled by its response, or by an event that says that the program's state changed.

use std::collections::VecDeque;
use std::io::Write;

use breakroom_adapter::Request;
use breakroom_remote_runtime::{Command, Response, StepKind};
use serde_json::{Value, json};

use crate::adapter::{Adapter, Purpose};

#[derive(Debug, Default)]
pub struct RunControl {
    waiting: VecDeque<Order>,
    in_flight: Option<(i64, Order)>,
    /// The runtime refused to pause. It is not asked again.
    cannot_pause: Option<String>,
}

#[derive(Debug)]
struct Order {
    /// Without one, it accompanies another order.
    request: Option<Request>,
    command: Command,
    /// The answer to the client on success.
    body: Value,
}

impl<W: Write> Adapter<W> {
    pub fn control(&mut self, request: Request) -> std::io::Result<()> {
        match self.orders(request) {
            Ok(orders) => {
                self.run.waiting.extend(orders);
                self.send_next_order()
            }
            Err((request, why)) => self.client.fail(&request, &why),
        }
    }

    fn orders(&self, request: Request) -> Result<Vec<Order>, (Request, String)> {
        if request.command == "pause" {
            return match &self.run.cannot_pause {
                Some(why) => Err((request, format!("the runtime cannot pause: {why}"))),
                None => {
                    Ok(vec![Order { request: Some(request), command: Command::Pause, body: Value::Null }])
                }
            };
        }
        let thread = request.arguments["threadId"].as_i64().ok_or_else(|| "`threadId` is missing".to_owned());
        let thread = match thread.and_then(|id| self.threads.get(id)) {
            Ok(thread) => thread.runtime_id,
            Err(why) => return Err((request, why)),
        };
        let step = |kind: StepKind| Command::Step {
            thread_id: thread,
            step_kind: kind.name().to_owned(),
            step_unit: "STEP_LINE".to_owned(),
        };
        let one = |request, command, body| Ok(vec![Order { request: Some(request), command, body }]);
        match request.command.as_str() {
            "next" => one(request, step(StepKind::Over), Value::Null),
            "stepIn" => one(request, step(StepKind::Into), Value::Null),
            "stepOut" => one(request, step(StepKind::Out), Value::Null),
            _ => {
                let is_single = request.arguments["singleThread"] == true;
                let mut others = self.threads.stopped();
                others.retain(|other| *other != thread && !is_single);
                let resume = |thread_id| Command::Continue { thread_id };
                let body = json!({"allThreadsContinued": !is_single});
                let mut orders = vec![Order { request: Some(request), command: resume(thread), body }];
                orders.extend(others.into_iter().map(|other| Order {
                    request: None,
                    command: resume(other),
                    body: Value::Null,
                }));
                Ok(orders)
            }
        }
    }

    fn send_next_order(&mut self) -> std::io::Result<()> {
        if self.run.in_flight.is_some() {
            return Ok(());
        }
        if let Some(order) = self.run.waiting.pop_front()
            && let Some(seq) = self.ask(&order.command, Purpose::RunControl)
        {
            self.run.in_flight = Some((seq, order));
        }
        Ok(())
    }

    /// The one in flight has its response.
    pub fn on_run_control(&mut self, response: Result<Response, String>) -> std::io::Result<()> {
        let Some((_, order)) = self.run.in_flight.take() else { return Ok(()) };
        let result = response.and_then(|response| response.result);
        self.finish_order(order, result.map(drop))?;
        self.send_next_order()
    }

    /// An event says that the program's state changed, so the one in flight was accepted.
    pub fn settle_by_event(&mut self) -> std::io::Result<()> {
        let Some((seq, order)) = self.run.in_flight.take() else { return Ok(()) };
        if let Some(link) = &mut self.link {
            link.repurpose(seq, Purpose::Settled);
        }
        self.finish_order(order, Ok(()))?;
        self.send_next_order()
    }

    fn finish_order(&mut self, order: Order, result: Result<(), String>) -> std::io::Result<()> {
        let Order { request, command, body } = order;
        match (&command, &result) {
            (Command::Continue { thread_id } | Command::Step { thread_id, .. }, Ok(())) => {
                self.mark_running(*thread_id);
            }
            // Whatever the text: it is for people.
            (Command::Pause, Err(why)) => self.run.cannot_pause = Some(why.clone()),
            _ => {}
        }
        match (request, result) {
            (Some(request), result) => self.answer(&request, result.map(|()| body)),
            (None, Err(why)) => self.say(&format!("a thread did not resume: {why}")),
            (None, Ok(())) => Ok(()),
        }
    }

    /// Marks a thread as running; whether it was stopped.
    pub fn mark_running(&mut self, thread: i64) -> bool {
        self.handles.forget(thread);
        let Some(known) = self.threads.by_runtime_id(thread) else { return false };
        known.exception = None;
        std::mem::take(&mut known.is_stopped)
    }

    pub fn fail_queued_run_control(&mut self, why: &str) -> std::io::Result<()> {
        let orders = std::mem::take(&mut self.run.waiting);
        let requests = orders.into_iter().filter_map(|order| order.request);
        for request in requests {
            self.client.fail(&request, why)?;
        }
        Ok(())
    }
}
