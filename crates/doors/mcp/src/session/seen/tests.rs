//! What concerns several parts of what was seen.

use super::*;
use crate::session::moves::Move;
use serde_json::json;

fn live() -> Seen {
    let mut seen = Seen::default();
    seen.life.connected();
    seen.life.configured();
    seen.life.begun();
    seen
}

fn stop(thread: i64) -> Stop {
    Stop { thread: thread.into(), ..Stop::default() }
}

fn deed(deed: &str) -> Value {
    json!({"client": "Editor", "deed": deed, "threadId": 1})
}

#[test]
fn a_stop_knows_whether_somebody_stepped_to_it() {
    let mut seen = live();
    let body = json!({"threadId": 1, "reason": "breakpoint"});
    seen.note_deed(&deed("stepped"));
    assert!(seen.stopped(&body).in_step);
    assert!(!seen.stopped(&body).in_step);
    seen.note_deed(&deed("stepped"));
    seen.note_deed(&deed("resumed"));
    assert!(!seen.stopped(&body).in_step);
    seen.threads.steps(1.into(), true);
    assert!(seen.stopped(&json!({"threadId": 2, "allThreadsStopped": true})).in_step);
}

#[test]
fn whoever_goes_on_does_not_wish_to_stand_any_more() {
    let mut seen = live();
    seen.threads.tell(Stop { told: Told::Shown, ..stop(1) });
    let stop = seen.threads.active().expect("it stands");
    seen.threads.pausing.ask(1.into(), "");
    assert!(seen.threads.set_off(&stop, Move::Continue, None).is_some());
    assert!(!seen.threads.pausing.has(&stop));
    seen.note_deed(&deed("paused"));
    assert!(seen.threads.pausing.has(&stop));
    seen.note_deed(&deed("resumed"));
    assert!(!seen.threads.pausing.has(&stop));
}

#[test]
fn a_session_is_paused_as_long_as_anybody_stands() {
    let mut seen = live();
    assert_eq!(seen.state(), State::Running);
    seen.threads.tell(stop(1));
    assert_eq!(seen.state(), State::Paused);
    seen.resumed(Going::alone(1.into()));
    assert_eq!(seen.state(), State::Running);
}

#[test]
fn the_end_is_one_stop_behind_the_last_however_often_it_is_heard_of() {
    let mut seen = live();
    seen.threads.tell(stop(1));
    let last = seen.threads.epoch();
    seen.end();
    seen.lose("the hub is gone".to_owned());
    assert_eq!((seen.state(), seen.threads.epoch()), (State::Ended, last.next()));
    assert!(seen.threads.stops().is_empty());
    let mut seen = live();
    seen.lose("the hub is gone".to_owned());
    assert_eq!((seen.state(), seen.threads.epoch()), (State::Failed, Epoch::default().next()));
}

#[test]
fn what_went_on_untold_is_told_later_unless_others_are_there() {
    let mut seen = live();
    seen.threads.tell(Stop { reason: "breakpoint".to_owned(), ..stop(1) });
    seen.resumed(Going { thread: 1.into(), all: true });
    assert_eq!(seen.journal.take_deeds(), ["thread 1 stopped (breakpoint) and went on untold"]);
    seen.note_deed(&deed("resumed"));
    seen.threads.tell(stop(1));
    seen.resumed(Going { thread: 1.into(), all: true });
    assert_eq!(seen.journal.take_deeds(), ["Editor resumed"]);
}
