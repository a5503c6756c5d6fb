//! Threads that stop and go on, put together by hand.

use super::*;
use serde_json::json;

fn thread(number: i64) -> Thread {
    Thread::from(number)
}

fn with_all(number: i64) -> Going {
    Going { thread: thread(number), all: true }
}

fn stop(number: i64) -> Stop {
    Stop { thread: thread(number), ..Stop::default() }
}

fn thread_of(stop: Option<Stop>) -> Option<i64> {
    stop?.thread.number()
}

fn show(threads: &mut Threads, awaited: Awaited) -> Option<i64> {
    let stop = threads.find(awaited)?;
    threads.show(&stop);
    stop.thread.number()
}

#[test]
fn the_active_thread_is_the_one_that_was_shown_although_others_have_stopped_since() {
    let mut threads = Threads::default();
    threads.tell(stop(1));
    assert_eq!(show(&mut threads, Awaited::New), Some(1));
    threads.tell(stop(2));
    assert_eq!(thread_of(threads.active()), Some(1));
    threads.resumed(Going::alone(thread(1)));
    assert_eq!(thread_of(threads.find(Awaited::New)), Some(2));
    assert_eq!(thread_of(threads.active()), Some(2));
}

#[test]
fn where_nobody_was_chosen_calls_are_about_the_stop_that_is_told_next() {
    let mut threads = Threads::default();
    threads.tell(stop(1));
    threads.tell(stop(2));
    assert_eq!(thread_of(threads.active()), Some(1));
    assert_eq!(show(&mut threads, Awaited::Next(Epoch(2))), Some(1));
    // Whoever joins looks where the others do.
    let mut joined = Threads::default();
    joined.tell(stop(1));
    joined.tell(stop(2));
    assert_eq!(thread_of(joined.find(Awaited::Latest)), Some(2));
}

#[test]
fn a_step_is_over_with_its_thread_and_with_a_refusal() {
    let is_in_step = |threads: &mut Threads| {
        threads.stopped(&json!({"threadId": 9, "reason": "breakpoint", "allThreadsStopped": true})).in_step
    };
    for ends in [Threads::gone, Threads::stay] {
        let mut threads = Threads::default();
        threads.tell(stop(1));
        let stands = threads.active().unwrap();
        threads.show(&stands);
        assert!(threads.set_off(&stands, Move::Over, None).is_some());
        ends(&mut threads, thread(1));
        assert!(!is_in_step(&mut threads));
    }
}

#[test]
fn a_stop_that_is_being_left_is_nobodys_and_comes_back_only_if_nothing_was_heard_of_it() {
    let mut threads = Threads::default();
    threads.tell(stop(1));
    threads.leave(thread(1));
    assert_eq!(threads.active(), None);
    threads.stay(thread(1));
    assert_eq!(threads.active().map(|stop| stop.epoch), Some(Epoch(1)));
    threads.leave(thread(1));
    // Somebody else resumed it first, which is why it failed.
    threads.resumed(Going::alone(thread(1)));
    threads.stay(thread(1));
    assert_eq!(threads.active(), None);
}

#[test]
fn a_stop_of_before_is_never_the_next_one() {
    let mut threads = Threads::default();
    threads.tell(stop(1));
    let before = threads.epoch;
    assert_eq!(threads.find(Awaited::Behind(before)), None);
    threads.tell(stop(1));
    assert_eq!(threads.find(Awaited::Behind(before)).map(|stop| stop.epoch), Some(Epoch(2)));
    assert_eq!(threads.stops.len(), 1);
}

#[test]
fn no_stop_is_passed_over_by_one_that_is_shown_first() {
    let mut threads = Threads::default();
    for thread in [1, 2, 3] {
        threads.tell(stop(thread));
    }
    let behind = threads.epoch;
    threads.resumed(Going::alone(thread(3)));
    let awaited = Awaited::Step { thread: thread(3), behind };
    assert_eq!(threads.find(awaited), None, "the others stood before");
    threads.tell(Stop { reason: "step".to_owned(), ..stop(3) });
    assert_eq!(show(&mut threads, awaited), Some(3));
    assert_eq!(show(&mut threads, Awaited::New), Some(1));
    assert_eq!(show(&mut threads, Awaited::New), Some(2));
    assert_eq!(threads.find(Awaited::New), None);
}

#[test]
fn a_step_ends_with_what_stops_all_threads_and_not_with_another_process() {
    let mut threads = Threads::default();
    threads.tell(stop(2));
    assert_eq!(threads.find(Awaited::Step { thread: thread(1), behind: Epoch(0) }), None);
    threads.tell(Stop { all: true, ..stop(3) });
    assert_eq!(thread_of(threads.find(Awaited::Step { thread: thread(1), behind: Epoch(0) })), Some(3));
}

#[test]
fn a_thread_stands_with_one_that_stopped_all_until_anything_goes_on() {
    let mut threads = Threads::default();
    threads.tell(stop(1));
    assert_eq!(threads.of(thread(7)), None);
    threads.tell(Stop { all: true, ..stop(2) });
    assert_eq!(threads.of(thread(7)).map(|stop| (stop.thread, stop.epoch)), Some((thread(7), Epoch(2))));
    threads.resumed(Going::alone(thread(1)));
    assert_eq!(threads.of(thread(7)), None);
}

#[test]
fn of_two_that_wait_each_is_told_of_the_stop() {
    let mut threads = Threads::default();
    threads.tell(stop(1));
    assert_eq!(show(&mut threads, Awaited::New), Some(1));
    let before = threads.epoch;
    threads.resumed(with_all(1));
    threads.tell(stop(2));
    assert_eq!(show(&mut threads, Awaited::Behind(before)), Some(2));
    assert_eq!(show(&mut threads, Awaited::Next(before)), Some(2));
    assert_eq!(threads.find(Awaited::Next(threads.epoch)), None, "it is known by now");
}

#[test]
fn whoever_joins_looks_where_the_others_do() {
    let mut threads = Threads::default();
    threads.tell(Stop { reason: "pause".to_owned(), ..stop(1) });
    threads.tell(stop(2));
    threads.tell(Stop { told: Told::Aside, ..stop(3) });
    assert_eq!(show(&mut threads, Awaited::Latest), Some(2));
}

#[test]
fn a_stop_without_a_thread_gets_its_name_later() {
    let mut threads = Threads::default();
    let stop = threads.stopped(&json!({"reason": "pause", "allThreadsStopped": true}));
    threads.tell(stop);
    assert_eq!(threads.active().map(|stop| stop.thread), Some(Thread::Unnamed));
    assert_eq!(show(&mut threads, Awaited::New), None);
    threads.name(Epoch(1), thread(7));
    assert_eq!(thread_of(threads.active()), Some(7));
}

#[test]
fn a_thread_that_only_stands_with_another_is_no_news() {
    let mut threads = Threads::default();
    threads.tell(stop(1));
    let mut aside = json!({"threadId": 2, "reason": "pause", "preserveFocusHint": true});
    assert_eq!(
        Threads::default().stopped(&aside).told,
        Told::Not,
        "somebody paused it, and nobody else stands"
    );
    aside["breakroom"] = json!({"with": "another"});
    let aside = threads.stopped(&aside);
    threads.tell(aside);
    assert_eq!(thread_of(threads.active()), Some(1));
    assert_eq!(show(&mut threads, Awaited::New), Some(1));
    assert_eq!(threads.find(Awaited::New), None);
    // Unless it is the one that was to stop.
    assert_eq!(thread_of(threads.find(Awaited::Pause { thread: thread(2), behind: Epoch(1) })), Some(2));
    assert_eq!(threads.find(Awaited::Pause { thread: thread(3), behind: Epoch(1) }), None);
}

#[test]
fn a_pause_that_was_asked_for_is_news_whatever_is_said_of_it() {
    let mut threads = Threads::default();
    threads.pausing.ask(thread(1), "");
    let body = |thread: i64| json!({"threadId": thread, "reason": "pause", "preserveFocusHint": true});
    let (first, second) = (threads.stopped(&body(1)), body(2));
    threads.tell(first);
    let second = threads.stopped(&second);
    threads.tell(second);
    assert_eq!(show(&mut threads, Awaited::New), Some(1));
    assert_eq!(threads.find(Awaited::New), None);
}

#[test]
fn a_breakpoint_of_another_thread_is_news_although_it_is_not_in_focus() {
    let mut threads = Threads::default();
    threads.tell(Stop { all: true, ..stop(1) });
    assert_eq!(show(&mut threads, Awaited::New), Some(1));
    let body =
        json!({"threadId": 2, "reason": "breakpoint", "preserveFocusHint": true, "allThreadsStopped": true});
    let second = threads.stopped(&body);
    threads.tell(second);
    let news = |threads: &Threads, named| threads.has_news(&threads.active().expect("it stands"), named);
    assert!(
        news(&threads, None) && news(&threads, Some(thread(1))),
        "it would go on with the one that is named"
    );
    assert!(!threads.has_news(&threads.of(thread(2)).expect("it stands"), Some(thread(2))));
    assert_eq!(show(&mut threads, Awaited::New), Some(2));
    assert!(!news(&threads, None));
}

#[test]
fn the_end_of_a_thread_leaves_those_standing_that_stand_with_it() {
    let mut threads = Threads::default();
    threads.tell(Stop { all: true, ..stop(1) });
    threads.gone(thread(5));
    assert!(threads.of(thread(7)).is_some());
    threads.gone(thread(1));
    assert_eq!(threads.active(), None);
}

#[test]
fn a_chosen_thread_is_the_active_one_as_long_as_it_stands() {
    let mut threads = Threads::default();
    threads.tell(Stop { all: true, ..stop(1) });
    assert_eq!(show(&mut threads, Awaited::New), Some(1));
    threads.choose(thread(2));
    assert_eq!(thread_of(threads.active()), Some(2));
    // To look at it tells nothing of the one that it stands with.
    threads.tell(Stop { all: true, ..stop(3) });
    let beside = threads.active().expect("it stands");
    threads.show(&beside);
    assert_eq!(thread_of(threads.find(Awaited::New)), Some(3));
    threads.resumed(with_all(1));
    threads.tell(Stop { all: true, ..stop(1) });
    assert_eq!(thread_of(threads.active()), Some(1), "the choice was of another stop");
    threads.choose(thread(2));
    threads.leave(thread(2));
    assert_eq!(thread_of(threads.active()), Some(1));
}

#[test]
fn whoever_is_refused_is_where_it_was() {
    let mut threads = Threads::default();
    [1, 2].into_iter().for_each(|thread| threads.tell(stop(thread)));
    assert_eq!(show(&mut threads, Awaited::New), Some(1));
    threads.leave(thread(1));
    threads.stay(thread(1));
    assert_eq!(thread_of(threads.active()), Some(1));
}

#[test]
fn what_was_judged_when_all_went_on_is_over_and_what_came_since_is_not() {
    let mut threads = Threads::default();
    threads.tell(Stop { told: Told::Shown, ..stop(1) });
    let first = threads.active().expect("it stands");
    let over = threads.judge(stop(2));
    let before = threads.set_off(&first, Move::Continue, None).expect("nothing is to be told");
    let since = threads.judge(stop(3));
    threads.went(with_all(1), before);
    assert!(!threads.judging.is_on(&over) && threads.judging.is_on(&since));
}

#[test]
fn a_stop_is_untold_until_it_is_shown() {
    let mut threads = Threads::default();
    [1, 2].into_iter().for_each(|thread| threads.tell(stop(thread)));
    let first = threads.find(Awaited::New).expect("it stands");
    assert!(threads.is_untold(&first));
    threads.show(&first);
    let second = threads.find(Awaited::New).expect("it stands");
    assert!(!threads.is_untold(&first) && threads.is_untold(&second));
}
