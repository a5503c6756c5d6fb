//! Orders of resumes, answers and stops that real engines produce.

use super::*;

const ME: ClientId = ClientId(1);
const OTHER: ClientId = ClientId(2);

fn stopped(thread: i64) -> Threads {
    let mut threads = Threads::default();
    threads.on_stopped(Some(thread), true);
    threads
}

#[test]
fn a_resume_ends_the_references_of_its_stop_even_if_the_engine_counts_anew() {
    let mut threads = stopped(1);
    let life = threads.life(1);
    assert_eq!(threads.check(life), Ok(()));
    let resume = threads.begin_resume(Some(1), false, ME).unwrap();
    assert_eq!(threads.check(life), Err(Some(ResumedBy(ME))));
    threads.commit_resume(Some(1), true, resume);
    threads.on_stopped(Some(1), true);
    assert_eq!(threads.check(life), Err(None));
    assert_eq!(threads.check(threads.life(1)), Ok(()));
}

#[test]
fn a_failed_resume_brings_the_references_back() {
    let mut threads = stopped(1);
    let life = threads.life(1);
    let resume = threads.begin_resume(Some(1), false, ME).unwrap();
    threads.abort_resume(resume);
    assert_eq!(threads.check(life), Ok(()));
}

#[test]
fn the_second_of_two_resumes_is_refused_with_the_name_of_the_first() {
    let mut threads = stopped(1);
    let resume = threads.begin_resume(Some(1), false, ME).unwrap();
    assert_eq!(threads.begin_resume(Some(1), false, OTHER), Err(ResumedBy(ME)));
    threads.commit_resume(Some(1), true, resume);
    assert_eq!(threads.begin_resume(Some(1), false, OTHER), Err(ResumedBy(ME)));
}

#[test]
fn a_client_may_resume_a_thread_that_its_own_step_is_only_thought_to_have_resumed() {
    let mut threads = Threads::default();
    threads.on_stopped(Some(1), false);
    threads.on_stopped(Some(2), false);
    let step = threads.begin_resume(Some(1), false, ME).unwrap();
    threads.commit_resume(Some(1), true, step);
    assert!(threads.begin_resume(Some(2), false, ME).is_ok());
    assert!(threads.begin_resume(Some(2), false, OTHER).is_err());
}

#[test]
fn resuming_one_thread_leaves_the_references_of_another() {
    let mut threads = stopped(1);
    let other = threads.life(2);
    let resume = threads.begin_resume(Some(1), true, ME).unwrap();
    threads.commit_resume(Some(1), false, resume);
    assert_eq!(threads.check(other), Ok(()));
    assert!(threads.check(threads.life(1)).is_ok());
}

#[test]
fn continue_that_turns_out_to_resume_one_thread_restores_the_rest() {
    let mut threads = stopped(1);
    let (one, two) = (threads.life(1), threads.life(2));
    let resume = threads.begin_resume(Some(1), false, ME).unwrap();
    threads.commit_resume(Some(1), false, resume);
    assert!(threads.check(one).is_err());
    assert_eq!(threads.check(two), Ok(()));
}

#[test]
fn a_stop_that_overtakes_the_answer_of_its_step_commits_it() {
    let mut threads = stopped(1);
    let resume = threads.begin_resume(Some(1), false, ME).unwrap();
    threads.on_stopped(Some(1), true);
    let (life, whole) = (threads.life(1), threads.life_of_this_stop());
    threads.commit_resume(Some(1), true, resume);
    assert_eq!((threads.check(life), threads.check(whole)), (Ok(()), Ok(())));
}

#[test]
fn two_resumes_of_one_client_are_committed_and_aborted_apart() {
    let mut threads = stopped(1);
    let (one, two) = (threads.life(1), threads.life(2));
    let first = threads.begin_resume(Some(1), true, ME).unwrap();
    let second = threads.begin_resume(Some(2), true, ME).unwrap();
    threads.abort_resume(second);
    assert_eq!((threads.check(one), threads.check(two)), (Err(Some(ResumedBy(ME))), Ok(())));
    let second = threads.begin_resume(Some(2), true, ME).unwrap();
    threads.commit_resume(Some(1), false, first);
    assert_eq!(threads.check(two), Err(Some(ResumedBy(ME))));
    threads.commit_resume(Some(2), false, second);
    assert!(!threads.is_alive(one) && !threads.is_alive(two));
}

#[test]
fn a_resume_of_all_takes_along_a_thread_whose_own_resume_failed() {
    for fails_first in [true, false] {
        let mut threads = stopped(1);
        let own = threads.begin_resume(Some(1), true, ME).unwrap();
        let all = threads.begin_resume(Some(2), false, OTHER).unwrap();
        if fails_first {
            threads.abort_resume(own);
        }
        threads.commit_resume(Some(2), true, all);
        threads.abort_resume(own);
        assert!(!threads.is_stopped(Some(1)) && !threads.any_stopped());
    }
}

#[test]
fn a_stop_of_all_that_overtakes_a_resume_of_all_leaves_everything_stopped() {
    let mut threads = stopped(1);
    let own = threads.begin_resume(Some(1), true, ME).unwrap();
    let all = threads.begin_resume(Some(2), false, OTHER).unwrap();
    threads.abort_resume(own);
    threads.on_stopped(Some(2), true);
    threads.commit_resume(Some(2), true, all);
    assert!(threads.is_stopped(Some(1)) && threads.is_stopped(Some(2)) && threads.is_stopped(None));
}

#[test]
fn a_resume_that_was_asked_of_a_running_thread_ends_the_stop_that_came_first() {
    let mut threads = Threads::default();
    let early = threads.begin_resume(Some(1), false, ME).unwrap();
    threads.on_stopped(Some(1), true);
    let life = threads.life(1);
    let late = threads.begin_resume(Some(1), false, OTHER).unwrap();
    threads.commit_resume(Some(1), true, early);
    threads.abort_resume(late);
    assert!(!threads.is_alive(life));
    assert!(threads.begin_resume(Some(1), false, ME).is_ok(), "and nobody is locked out");
}

#[test]
fn what_belongs_to_the_whole_stop_is_not_read_while_any_thread_resumes() {
    let mut threads = stopped(1);
    let life = threads.life_of_this_stop();
    let resume = threads.begin_resume(Some(2), true, ME).unwrap();
    assert_eq!(threads.check(life), Err(Some(ResumedBy(ME))));
    assert!(threads.is_alive(life));
    threads.abort_resume(resume);
    assert_eq!(threads.check(life), Ok(()));
}

#[test]
fn one_stop_announced_once_per_thread_keeps_what_was_read_in_between() {
    let mut threads = stopped(1);
    let life = threads.life(1);
    threads.on_stopped(Some(2), true);
    assert_eq!(threads.check(life), Ok(()));
}

#[test]
fn an_engine_that_ran_by_itself_ends_the_references_at_its_next_stop() {
    let mut threads = stopped(1);
    let life = threads.life(1);
    threads.on_stopped(Some(1), true);
    assert_eq!(threads.check(life), Err(None));
}
