//! The notifications that wait for a WebSocket, in the order in which they were sent.
//!
//! Only lines of output are ever dropped, the oldest first. A line in their place says how many.

use std::collections::{BTreeMap, VecDeque};

use breakroom_ide_protocol::{Change, Notification};

/// The limit of the waiting output, in bytes.
const MAX_OUTPUT: usize = 4 << 20;
/// What a line costs beside its text.
const OVERHEAD: usize = 128;

#[derive(Default)]
pub struct Queue {
    next: u64,
    returned: Option<Notification>,
    /// Everything but output.
    kept: VecDeque<(u64, Notification)>,
    output: VecDeque<(u64, Notification)>,
    output_bytes: usize,
    /// What was dropped, by the place of the first line.
    dropped: BTreeMap<u64, Dropped>,
}

struct Dropped {
    session_id: String,
    lines: u64,
}

impl Queue {
    pub fn push(&mut self, notification: Notification) {
        let place = self.next;
        self.next += 1;
        match cost(&notification) {
            0 => self.kept.push_back((place, notification)),
            bytes => {
                self.output_bytes += bytes;
                self.output.push_back((place, notification));
                while self.output_bytes > MAX_OUTPUT && self.drop_oldest() {}
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.returned.is_none() && self.kept.is_empty() && self.output.is_empty() && self.dropped.is_empty()
    }

    pub fn take(&mut self) -> Option<Notification> {
        if let Some(returned) = self.returned.take() {
            return Some(returned);
        }
        let kept = self.kept.front().map(|(place, _)| *place);
        let output = self.output.front().map(|(place, _)| *place);
        let dropped = self.dropped.keys().next().copied();
        let first = [kept, output, dropped].into_iter().flatten().min();
        if first.is_some() && first == dropped {
            return self.dropped.pop_first().map(|(_, dropped)| dropped.notification());
        }
        let side = if first == kept { &mut self.kept } else { &mut self.output };
        let (_, taken) = side.pop_front()?;
        self.output_bytes -= cost(&taken);
        Some(taken)
    }

    /// Makes a notification the next one again.
    pub fn put_back(&mut self, notification: Notification) {
        self.returned = Some(notification);
    }

    fn drop_oldest(&mut self) -> bool {
        let Some((place, oldest)) = self.output.pop_front() else { return false };
        self.output_bytes -= cost(&oldest);
        let known = self.dropped.values_mut().find(|dropped| dropped.session_id == oldest.session_id);
        match known {
            Some(dropped) => dropped.lines += 1,
            None => {
                self.dropped.insert(place, Dropped { session_id: oldest.session_id, lines: 1 });
            }
        }
        true
    }
}

impl Dropped {
    fn notification(self) -> Notification {
        let text = format!("[{} lines of output were dropped because they were not read]", self.lines);
        Notification::new(self.session_id, Change::log_line(true, &text))
    }
}

/// What a notification counts against the limit of the output.
fn cost(notification: &Notification) -> usize {
    match &notification.change {
        Change::ServiceLogs { log_message, .. } => log_message.len() + OVERHEAD,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(run: &str, text: &str) -> Notification {
        Notification::new(run, Change::log_line(false, text))
    }

    #[test]
    fn notifications_are_taken_in_their_order_and_once() {
        let mut queue = Queue::default();
        let sent = [
            line("a", "1"),
            Notification::new("a", Change::ProcessRestarted { pid: None }),
            line("b", "2"),
            Notification::new("a", Change::terminated(None)),
        ];
        sent.iter().for_each(|notification| queue.push(notification.clone()));
        let first = queue.take().unwrap();
        queue.put_back(first);
        let taken: Vec<_> = std::iter::from_fn(|| queue.take()).collect();
        assert_eq!(taken, sent);
        assert!(queue.is_empty() && queue.output_bytes == 0);
    }

    #[test]
    fn oldest_output_is_dropped_beyond_the_limit_and_nothing_else() {
        let mut queue = Queue::default();
        let restarted = Notification::new("a", Change::ProcessRestarted { pid: None });
        let ended = Notification::new("a", Change::terminated(None));
        queue.push(restarted.clone());
        let text = "x".repeat(1000);
        (0..10_000).for_each(|_| queue.push(line("a", &text)));
        queue.push(line("b", "last"));
        queue.push(ended.clone());
        assert!(queue.output_bytes <= MAX_OUTPUT);
        let taken: Vec<_> = std::iter::from_fn(|| queue.take()).collect();
        let count = taken.iter().filter(|taken| **taken == line("a", &text)).count();
        assert_eq!(taken[0], restarted);
        let Change::ServiceLogs { is_std_err: true, log_message } = &taken[1].change else { panic!() };
        let said = format!("[{} lines of output were dropped because they were not read]", 10_000 - count);
        assert_eq!((&*taken[1].session_id, log_message), ("a", &said));
        assert_eq!(taken[taken.len() - 2..], [line("b", "last"), ended]);
        assert!(count > 3000 && taken.len() == count + 4);
    }
}
