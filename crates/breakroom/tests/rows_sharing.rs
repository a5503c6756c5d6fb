//! Sharing one session: every row of section 6 of the design as tests of the real binary.
//!
//! Three clients share a session of the fake adapter (`support/trio.rs`): one from the start, one that joined late, one
//! that does not read. What the first two hear never waits for the third, and the third finds everything when it reads.
//! What a real debugger must show, time that passes in minutes, and what other files show already is named where it is.
//! `-` stands for what is still to come.
//!
//! | row | clause | test |
//! |---|---|---|
//! | who may drive | everyone by default | `driving::everybody_drives_who_did_not_say_otherwise` |
//! | | `observe`: no resume, no evaluate, no set; breakpoints unverified and not merged | `driving::an_observer_looks_at_everything_and_changes_nothing` |
//! | a resume | reads and second resumes are refused by name; failure restores the stop and its ids | `driving::while_a_resume_is_under_way_reads_and_second_resumes_are_refused_with_the_name_and_a_failed_one_never_was` |
//! | | answer, `continued` or `stopped` commits; one `continued` for the others before any `stopped`; steps, goto, restartFrame, reverse | `driving::every_other_client_hears_of_each_kind_of_resume_exactly_once_before_the_stop_whatever_the_engine_says_first` |
//! | ids | minted: frame, variable, location, target; 31 bits, shared, never reused; stale ones refused | `ids::ids_are_the_hubs_own_shared_never_given_twice_and_refused_when_their_stop_is_over` |
//! | | one thread's resume leaves another's valid | `ids::resuming_one_thread_leaves_the_ids_of_another_valid` |
//! | | thread ids pass as they are if they fit 31 bits | `ids::thread_ids_of_31_bits_pass_as_they_are` |
//! | | other thread ids are minted | `ids::thread_ids_that_no_client_could_hold_are_minted_and_find_back` |
//! | breakpoints | union with owners; identical specs share one | `breakpoints::the_adapter_is_told_the_union_and_each_owner_hears_of_its_own_in_its_own_order_and_numbers` |
//! | | differing specs: one without terms; the hub judges conditions, counts hits, prints, goes on | `breakpoints::where_terms_differ_the_hub_judges_and_goes_on_unseen_or_tells_everybody_whose_stop_it_is`; real ones in `differing.rs` |
//! | | never for another reason, during a step, or if an evaluation fails; says why | `breakpoints::the_hub_never_goes_on_by_itself_for_another_reason_during_a_step_or_if_a_term_cannot_be_judged` |
//! | breakpoint ids | from 1 per owner, stable; each answer lists the asker's own in its order | `breakpoints::the_adapter_is_told_the_union_and_each_owner_hears_of_its_own_in_its_own_order_and_numbers` |
//! | | `hitBreakpointIds` rewritten, or derived from the place; the description names the owner | `breakpoints::the_breakpoints_that_were_hit_have_each_clients_own_numbers_also_if_the_engine_names_none` |
//! | | `new` events for others' breakpoints only to clients with `events` | `only_who_wants_the_hubs_events_hears_of_others_breakpoints` |
//! | sources | (device, inode) | `sources::a_file_is_one_source_through_links_and_spellings` |
//! | | else lexical path | `sources::a_file_that_is_not_here_is_one_source_through_spellings` |
//! | | else the source reference | `sources::a_source_that_only_the_adapter_has_is_told_by_its_reference` |
//! | | each client sees its own spelling | `each_client_sees_its_own_spelling_of_a_source` |
//! | | one `setBreakpoints` under way per source | `sources::one_setting_is_under_way_per_source_and_those_that_wait_are_told_as_one` |
//! | | an unchanged union is not sent again | `breakpoints::the_adapter_is_told_the_union_and_each_owner_hears_of_its_own_in_its_own_order_and_numbers` |
//! | | the same for exception filters | `filters_that_change_nothing_for_the_engine_are_not_told_again` |
//! | | answers by index, then line; short or empty | `sources::answers_are_matched_by_index_then_by_line_and_may_be_short_or_empty` |
//! | | exception filters merge to the strongest | `sources::exception_filters_are_merged_to_the_strongest` |
//! | | data and instruction breakpoints: the first owner wins | `breakpoints::data_and_instruction_breakpoints_are_the_first_owners` |
//! | leaving | with others present only the sender is detached | `leaving::with_others_present_a_disconnect_detaches_its_sender_only_also_the_launchers` |
//! | | the last driver's means what DAP says | `leaving::the_last_drivers_disconnect_is_the_debuggers_and_those_who_only_look_on_are_told`; launched: `ends.rs` `a_disconnect_ends_children_that_forked_twice`; attached: `debugpy.rs`, `lldb.rs` `an_attached_process_lives_on_after_disconnect` |
//! | | `terminate` by a driver ends it, and `terminateDebuggee: true` by the one that launched it | `leaving::terminate_by_any_driver_or_the_launchers_disconnect_that_says_so_ends_it_for_all` |
//! | | `terminateDebuggee: true` of a joiner only detaches it | `leaving::a_joiners_disconnect_that_would_end_the_debuggee_detaches_the_joiner_only` |
//! | | by an observer it does not | `leaving::an_observer_ends_nothing_whatever_it_says` |
//! | | a lost connection keeps the session and its breakpoints | `leaving::a_client_that_is_lost_while_it_stalls_leaves_the_session_and_its_breakpoints`; the last one: `sharing.rs` `an_editor_that_crashed_comes_back_to_its_python_program_and_its_breakpoints` |
//! | | grace time, ten minutes | minutes pass in the core: `session/absence.rs` |
//! | | `onLastLeave`: terminate, detach | `faults_client.rs` `a_crashed_client_ends_what_it_launched_or_lets_go_of_it_as_it_said` |
//! | | an attached process is never killed silently | `debugpy.rs`, `lldb.rs` `an_attached_process_lives_on_when_the_hub_is_killed` |
//! | restart | always offered; replaces the engine without `terminated` | `restarting::a_restart_is_always_offered_and_replaces_the_engine_without_an_end_for_anybody`; real ones in `restart.rs` |
//! | | `terminated.restart` is acted on once | `restarting::a_restart_that_the_engine_asks_for_happens_once` |
//! | reverse requests | `runInTerminal` to the launcher if it declared it; unknown ones to the launcher | `reverse::the_launcher_is_asked_and_nobody_else_also_what_the_hub_does_not_know` |
//! | | else the hub's own pty | `reverse::a_launcher_without_terminals_is_not_asked_nor_is_another_who_has_some` |
//! | | only if it is on the same host | - (every door is on the hub's host) |
//! | | lost client: failed once, never retried | `reverse::a_launcher_that_is_lost_while_it_is_asked_fails_that_request_once_and_nobody_else_is_asked_instead` |
//! | reads | identical ones join in flight and are kept until the stop ends | `reads::identical_reads_cost_the_adapter_one_until_the_stop_ends` |
//! | | 8 MiB a session | `reads::what_is_kept_of_answers_is_bounded` |
//! | | lazy variables never | `reads::a_lazy_variable_is_computed_for_each_who_opens_it` |
//! | | changes flush and send `invalidated` where declared | `reads::whatever_may_change_a_value_ends_what_was_read_and_is_told_to_those_who_declared_it` |
//! | `cancel` | reaches the engine only from the sole waiter | `reads::a_cancel_reaches_the_adapter_only_from_the_sole_waiter` |
//! | slow reader | output is left out and counted; bounded; answers never drop | `slow::one_that_does_not_read_misses_output_and_is_told_how_much_but_no_answer_and_no_change_of_state` |
//! | | module, breakpoint and thread events by key; continued/stopped pairs collapse | `one_that_does_not_read_hears_how_things_are_and_not_how_they_came_to_be`; the core's `slow.rs` |
//! | | above the mark it is not read | `faults_client.rs` `a_client_that_asks_without_end_and_reads_nothing_costs_little_and_is_answered_in_the_end` |
//! | | over the hard limit it is cut off with a reason | `slow::one_that_is_hopelessly_behind_is_let_go_with_the_reason_and_the_others_miss_nothing` |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod commands;
    pub mod rig;
    pub mod trio;
}

mod rows {
    mod breakpoints;
    mod driving;
    mod ids;
    mod leaving;
    mod reads;
    mod restarting;
    mod reverse;
    mod slow;
    mod sources;
}
