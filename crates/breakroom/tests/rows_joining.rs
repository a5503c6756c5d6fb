//! Starting and joining: every rule of section 5 of the design as tests of the real binary.
//!
//! The fake adapter says exactly what a test needs and writes down what it is asked. What other files show already is
//! named where it is; `-` stands for what is still to come.
//!
//! | rule | clause | test |
//! |---|---|---|
//! | Hello | versions, and what a caller of another one may do | `daemon.rs` `callers_of_other_versions_may_list_and_end_and_are_told_why_nothing_else` |
//! | | folder and environment are the launcher's | `ends.rs` `an_adapter_lives_in_its_own_launchers_folder_and_environment` |
//! | | with umask, down to the program | `debugpy.rs` `the_launchers_folder_environment_and_umask_reach_the_program_though_the_hub_has_others` |
//! | | relative paths and PATH look-up too | `hello::a_relative_adapter_and_one_on_the_path_are_found_where_the_launcher_is` |
//! | | and what runs in a terminal, whoever joined | `hello::a_terminal_of_the_hub_has_the_launchers_surroundings_and_not_those_of_one_who_joined` |
//! | | the daemon sits in `/` with a minimal environment | `ends.rs` `the_daemon_keeps_nothing_of_whoever_started_it` |
//! | | another mount namespace gets `--private` | `hello::a_caller_in_another_mount_namespace_gets_a_hub_of_its_own` |
//! | | another network namespace | `doors.rs` `a_caller_in_another_network_namespace_gets_a_hub_of_its_own` |
//! | | the socket carries the version; `ls` asks all | `daemon.rs` `sessions_of_other_versions_are_listed_and_ended_and_joining_them_says_which_version_to_use` |
//! | | the starter binds under a lock | `ends.rs` `doors_that_start_the_daemon_at_the_same_moment_share_one` |
//! | No extra hop | stdin, stdout and accepted sockets are passed | `hello::no_byte_of_a_session_passes_through_its_door` |
//! | | a door's death is its client's loss | `hello::a_door_that_dies_is_the_loss_of_its_client_though_the_clients_own_pipes_stay_open` |
//! | | terminals and files are relayed | `doors.rs` `a_terminal_is_relayed`, `requests_from_a_file_are_all_answered` |
//! | `initialize` | `--type` or a known `adapterID` fixes the engine | `debugpy.rs` `every_way_to_choose_leads_to_debugpy` |
//! | | so does `--session` | `joining::a_joiner_is_answered_then_shown_all_at_once_in_order_and_the_engine_is_asked_nothing` |
//! | | else the base set, and the exact one before `initialized` | `starting::without_a_known_engine_the_base_set_is_answered_at_once_and_the_exact_one_follows_before_initialized` |
//! | | not to clients known to die on it | table `KNOWS_ONLY` in `edge.rs`; `undeclared_events_are_not_wanted` and the Helix model of the simulator |
//! | | the hub's own words to the engine | `starting::the_engine_hears_the_hubs_own_introduction_whatever_its_clients_can_do` |
//! | | what a client did not declare is filtered | `starting::what_a_client_did_not_declare_is_kept_from_it_and_told_to_those_who_did` |
//! | | 0-based and URI clients are translated | `starting::clients_that_count_and_name_differently_share_one_breakpoint_and_see_it_each_in_its_own_way` |
//! | Launch | by `type`, by file | `debugpy.rs` `every_way_to_choose_leads_to_debugpy` |
//! | | by a record, in each mode | `starting::the_record_of_a_launch_says_how_its_adapter_is_reached` |
//! | | `env` of a record | `ends.rs` `an_adapter_lives_in_its_own_launchers_folder_and_environment` |
//! | | `connectionTimeoutSeconds` | `faults_engine_life.rs` `an_adapter_that_never_listens_is_given_up_with_its_output` |
//! | | `name` | `joining::a_launch_names_its_session_and_its_clients_are_listed_by_name` |
//! | | `role` | `rows_sharing.rs` |
//! | | `onLastLeave` | `faults_client.rs` `a_crashed_client_ends_what_it_launched_or_lets_go_of_it_as_it_said` |
//! | | `token` | `intruders.rs` `another_user_needs_the_token_and_never_sees_it` |
//! | | `events` | `sharing.rs` `three_take_part_one_by_attach_one_as_an_observer` |
//! | | the launch's answer is not awaited | `starting::an_engine_that_answers_its_launch_only_when_it_is_configured_is_not_waited_for` |
//! | Join | the order, one whole picture, nothing asked of the engine | `joining::a_joiner_is_answered_then_shown_all_at_once_in_order_and_the_engine_is_asked_nothing` |
//! | | nothing live precedes it | `joining::nothing_live_precedes_the_picture_and_nothing_is_lost_between_the_two` |
//! | | one that joins and stalls | `hello::one_that_joins_and_does_not_read_delays_nobody_who_joins_after_it` |
//! | | only the launcher's `configurationDone` | `joining::the_engine_gets_the_launchers_configuration_done_and_nobody_elses` |
//! | | or the next client's | `joining::if_the_launcher_dies_before_it_configured_the_next_clients_word_counts` |
//! | | `launch` of a live session; `ifRunning` | `joining::a_launch_that_names_a_live_session_is_refused_unless_it_would_rather_join` |
//! | Verbs | `breakroom/breakpoints`, unknown ones | `joining::the_hubs_verbs_are_answered_by_the_hub_and_unknown_ones_refused` |
//! | | `breakroom/sessions`, `breakroom/kill` | `sessions_are_listed_and_ended_over_dap` |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod commands;
    pub mod listening;
    pub mod rig;
    pub mod strangers;
    pub mod trio;
}

mod rows {
    mod hello;
    mod joining;
    mod starting;
}
