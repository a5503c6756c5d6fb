//! What was seen, put together by hand.

use super::*;
use serde_json::json;

fn stop(thread: i64) -> Stop {
    Stop { thread, ..Stop::default() }
}

fn live() -> Seen {
    Seen { phase: Phase::Live, ..Seen::default() }
}

fn thread_of(stop: Option<&Stop>) -> Option<i64> {
    stop.map(|stop| stop.thread)
}

fn show(seen: &mut Seen, awaited: Awaited) -> Option<i64> {
    let stop = seen.find(awaited).cloned()?;
    seen.show(&stop);
    Some(stop.thread)
}

#[test]
fn the_active_thread_is_the_one_that_was_shown_although_others_have_stopped_since() {
    let mut seen = live();
    seen.tell(stop(1));
    assert_eq!(show(&mut seen, Awaited::New), Some(1));
    seen.tell(stop(2));
    assert_eq!(thread_of(seen.active()), Some(1));
    seen.resumed(1, false);
    assert_eq!(thread_of(seen.find(Awaited::New)), Some(2));
    assert_eq!(thread_of(seen.active()), Some(2));
}

#[test]
fn a_stop_that_is_being_left_is_nobodys_and_comes_back_only_if_nothing_was_heard_of_it() {
    let mut seen = Seen { phase: Phase::Live, ..Seen::default() };
    seen.tell(stop(1));
    seen.leave(1);
    assert_eq!((seen.active(), seen.state()), (None, "running"));
    seen.stay(1);
    assert_eq!(seen.active().map(|stop| stop.epoch), Some(1));
    seen.leave(1);
    // Somebody else resumed it first, which is why it failed.
    seen.resumed(1, false);
    seen.stay(1);
    assert_eq!(seen.active(), None);
}

#[test]
fn a_stop_of_before_is_never_the_next_one() {
    let mut seen = live();
    seen.tell(stop(1));
    let before = seen.epoch;
    assert_eq!(seen.find(Awaited::Behind(before)), None);
    seen.tell(stop(1));
    assert_eq!(seen.find(Awaited::Behind(before)).map(|stop| stop.epoch), Some(2));
    assert_eq!(seen.stops.len(), 1);
}

#[test]
fn no_stop_is_passed_over_by_one_that_is_shown_first() {
    let mut seen = live();
    for thread in [1, 2, 3] {
        seen.tell(stop(thread));
    }
    let behind = seen.epoch;
    seen.resumed(3, false);
    let awaited = Awaited::Step { thread: 3, behind };
    assert_eq!(seen.find(awaited), None, "the others stood before");
    seen.tell(Stop { reason: "step".to_owned(), ..stop(3) });
    assert_eq!(show(&mut seen, awaited), Some(3));
    assert_eq!(show(&mut seen, Awaited::New), Some(1));
    assert_eq!(show(&mut seen, Awaited::New), Some(2));
    assert_eq!(seen.find(Awaited::New), None);
}

#[test]
fn a_step_ends_with_what_stops_all_threads_and_not_with_another_process() {
    let mut seen = live();
    seen.tell(stop(2));
    assert_eq!(seen.find(Awaited::Step { thread: 1, behind: 0 }), None);
    seen.tell(Stop { all: true, ..stop(3) });
    assert_eq!(thread_of(seen.find(Awaited::Step { thread: 1, behind: 0 })), Some(3));
}

#[test]
fn a_thread_stands_with_one_that_stopped_all_until_anything_goes_on() {
    let mut seen = live();
    seen.tell(stop(1));
    assert_eq!(seen.of_thread(7), None);
    seen.tell(Stop { all: true, ..stop(2) });
    assert_eq!(seen.of_thread(7).map(|stop| (stop.thread, stop.epoch)), Some((7, 2)));
    seen.resumed(1, false);
    assert_eq!(seen.of_thread(7), None);
}

#[test]
fn a_stop_knows_whether_somebody_stepped_to_it() {
    let mut seen = live();
    let deed = |deed: &str| json!({"client": "Editor", "deed": deed, "threadId": 1});
    let body = json!({"threadId": 1, "reason": "breakpoint"});
    seen.note_deed(&deed("stepped"));
    assert!(seen.stopped(&body).in_step);
    assert!(!seen.stopped(&body).in_step);
    seen.note_deed(&deed("stepped"));
    seen.note_deed(&deed("resumed"));
    assert!(!seen.stopped(&body).in_step);
    seen.steps(1, true);
    assert!(seen.stopped(&json!({"threadId": 2, "allThreadsStopped": true})).in_step);
}

#[test]
fn of_two_that_wait_each_is_told_of_the_stop() {
    let mut seen = live();
    seen.tell(stop(1));
    assert_eq!(show(&mut seen, Awaited::New), Some(1));
    let before = seen.epoch;
    seen.resumed(1, true);
    seen.tell(stop(2));
    assert_eq!(show(&mut seen, Awaited::Behind(before)), Some(2));
    assert_eq!(show(&mut seen, Awaited::Next(before)), Some(2));
    assert_eq!(seen.find(Awaited::Next(seen.epoch)), None, "it is known by now");
}

#[test]
fn whoever_joins_looks_where_the_others_do() {
    let mut seen = live();
    seen.tell(Stop { reason: "pause".to_owned(), ..stop(1) });
    seen.tell(stop(2));
    seen.tell(Stop { told: Told::Aside, ..stop(3) });
    assert_eq!(show(&mut seen, Awaited::Latest), Some(2));
}

#[test]
fn a_stop_without_a_thread_gets_its_name_later() {
    let mut seen = live();
    let stop = seen.stopped(&json!({"reason": "pause", "allThreadsStopped": true}));
    seen.tell(stop);
    assert_eq!(show(&mut seen, Awaited::New), Some(UNNAMED));
    seen.name(1, 7);
    assert_eq!(thread_of(seen.active()), Some(7));
}

#[test]
fn a_thread_that_only_stands_with_another_is_no_news() {
    let mut seen = live();
    seen.tell(stop(1));
    let mut aside = json!({"threadId": 2, "reason": "pause", "preserveFocusHint": true});
    assert_eq!(live().stopped(&aside).told, Told::Not, "somebody paused it, and nobody else stands");
    aside["description"] = "stopped with another thread [child]".into();
    let aside = seen.stopped(&aside);
    seen.tell(aside);
    assert_eq!(thread_of(seen.active()), Some(1));
    assert_eq!(show(&mut seen, Awaited::New), Some(1));
    assert_eq!(seen.find(Awaited::New), None);
    // Unless it is the one that was to stop.
    assert_eq!(thread_of(seen.find(Awaited::Pause { thread: 2, behind: 1 })), Some(2));
    assert_eq!(seen.find(Awaited::Pause { thread: 3, behind: 1 }), None);
}

#[test]
fn a_pause_that_was_asked_for_is_news_whatever_is_said_of_it() {
    let mut seen = live();
    seen.is_pausing = true;
    let body = |thread: i64| json!({"threadId": thread, "reason": "pause", "preserveFocusHint": true});
    let (first, second) = (seen.stopped(&body(1)), body(2));
    seen.tell(first);
    let second = seen.stopped(&second);
    seen.tell(second);
    assert_eq!(show(&mut seen, Awaited::New), Some(1));
    assert_eq!(seen.find(Awaited::New), None);
}

#[test]
fn a_breakpoint_of_another_thread_is_news_although_it_is_not_in_focus() {
    let mut seen = live();
    seen.tell(Stop { all: true, ..stop(1) });
    assert_eq!(show(&mut seen, Awaited::New), Some(1));
    let body =
        json!({"threadId": 2, "reason": "breakpoint", "preserveFocusHint": true, "allThreadsStopped": true});
    let second = seen.stopped(&body);
    seen.tell(second);
    assert!(seen.has_news());
    assert_eq!(show(&mut seen, Awaited::New), Some(2));
    assert!(!seen.has_news());
}

#[test]
fn the_end_of_a_thread_leaves_those_standing_that_stand_with_it() {
    let mut seen = live();
    seen.tell(Stop { all: true, ..stop(1) });
    seen.gone(5);
    assert!(seen.of_thread(7).is_some());
    seen.gone(1);
    assert_eq!(seen.active(), None);
}
