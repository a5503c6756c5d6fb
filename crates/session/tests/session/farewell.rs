//! The last words of a program: `exited` and then `terminated`, each once, whatever the engine says in which order.

use breakroom_session::habits::{DyingWords, ExitWord, SignalCode};
use breakroom_session::{ClientId, EngineFacts, Input, NodeId};
use serde_json::{Value, json};

use crate::engines::{facts_of, facts_with};
use crate::rig::Rig;

fn running(facts: EngineFacts) -> (Rig, ClientId, NodeId) {
    let (mut rig, client, node) = Rig::with_engine(facts);
    rig.start(client, node, "launch");
    (rig, client, node)
}

fn plain() -> EngineFacts {
    facts_of("perl")
}

#[test]
fn an_exit_code_that_comes_behind_the_end_is_told_before_it() {
    let (mut rig, client, node) = running(plain());
    rig.tell(node, "terminated", json!({"x": 1}));
    assert!(rig.names(client).is_empty());
    rig.tell(node, "thread", json!({"reason": "exited", "threadId": 1}));
    rig.tell(node, "exited", json!({"exitCode": 3}));
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["thread", "exited", "terminated"]);
    assert_eq!(heard[2].json["body"], json!({"x": 1}), "in the engine's own words");
    rig.finish(client, node);
}

#[test]
fn an_end_without_an_exit_code_waits_a_second_and_no_longer() {
    let (mut rig, client, node) = running(plain());
    rig.tell(node, "terminated", json!({}));
    assert!(rig.names(client).is_empty());
    rig.advance(1);
    assert_eq!(rig.names(client), ["terminated"]);
    rig.tell(node, "exited", json!({"exitCode": 3}));
    assert!(rig.names(client).is_empty(), "too late to be legal");
    rig.finish(client, node);
}

#[test]
fn an_end_without_an_exit_code_is_told_when_the_engine_is_gone() {
    let (mut rig, client, node) = running(plain());
    rig.tell(node, "terminated", json!({"x": 1}));
    rig.node_ended(node, "exit code 0", "");
    assert_eq!(rig.event(client, "terminated")["body"], json!({"x": 1}));
    rig.request(client, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn an_engine_that_dies_when_its_program_is_over_is_a_matter_for_the_log() {
    let dump = "free(): invalid pointer\n#0 0x00 lldb-dap";
    let ways: [&[(&str, Value)]; 3] = [
        &[("exited", json!({"exitCode": 0})), ("terminated", json!({}))],
        &[("exited", json!({"exitCode": 0}))],
        &[("terminated", json!({}))],
    ];
    for said in ways {
        let (mut rig, client, node) = running(plain());
        for (name, body) in said {
            rig.tell(node, name, body.clone());
        }
        rig.node_ended(node, "signal 6 (SIGABRT)", dump);
        let names = rig.names(client);
        assert!(!names.contains(&"output".to_owned()), "{names:?}");
        assert_eq!(names.last().map(String::as_str), Some("terminated"), "{names:?}");
        rig.request(client, "disconnect", json!({}));
        rig.assert_over();
    }
    // A program that nobody has heard the end of is lost with its engine.
    let (mut rig, client, node) = running(plain());
    rig.node_ended(node, "signal 6 (SIGABRT)", dump);
    let told = rig.event(client, "output")["body"]["output"].clone();
    assert!(told.as_str().unwrap().contains("SIGABRT") && told.as_str().unwrap().contains(dump), "{told}");
    rig.request(client, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn an_engine_that_never_tells_an_exit_code_is_not_waited_for() {
    let (mut rig, client, node) = running(facts_of("js-debug-child"));
    rig.tell(node, "terminated", json!({}));
    assert_eq!(rig.names(client), ["terminated"]);
    rig.finish(client, node);
}

#[test]
fn an_engine_whose_exit_code_never_comes_behind_the_end_is_not_waited_for() {
    let (mut rig, client, node) = running(facts_with(|facts| facts.ending.exit = ExitWord::InOrder));
    rig.tell(node, "terminated", json!({}));
    assert_eq!(rig.names(client), ["terminated"]);
    rig.finish(client, node);
}

#[test]
fn everything_is_said_once_and_behind_it_nothing_of_a_program_that_is_over() {
    let (mut rig, client, node) = running(plain());
    for event in ["exited", "exited", "terminated", "terminated", "exited"] {
        rig.tell(node, event, json!({"exitCode": 3}));
    }
    assert_eq!(rig.names(client), ["exited", "terminated"]);
    for event in ["debugpySockets", "stopped", "continued", "module", "output"] {
        rig.tell(node, event, json!({"threadId": 1, "output": "x"}));
    }
    assert_eq!(rig.names(client), ["debugpySockets", "output"]);
    rig.finish(client, node);
}

#[test]
fn an_engine_that_is_the_program_ends_with_its_exit_code() {
    let ends = [(false, "exit code 0", 0), (false, "exit code 3", 3), (true, "exit code 3", 3)];
    let signals = [(false, "signal 11 (SIGSEGV)", 139), (true, "signal 15 (SIGTERM)", 143)];
    for (says, end, code) in ends.into_iter().chain(signals) {
        let (mut rig, client, node) = running(facts_of("rdbg-1.4"));
        if says {
            rig.tell(node, "terminated", json!({}));
        }
        rig.node_ended(node, end, "DEBUGGER: Disconnected.");
        let heard = rig.heard(client);
        let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
        assert_eq!(names, ["exited", "terminated"], "a program may end with {end}");
        assert_eq!(heard[0].json["body"]["exitCode"], code);
        rig.request(client, "disconnect", json!({}));
        rig.assert_over();
    }
}

#[test]
fn an_engine_that_tells_the_code_when_it_is_let_go_is_let_go_first() {
    let (mut rig, client, node) = running(facts_of("dlv-1.20"));
    rig.tell(node, "terminated", json!({}));
    assert!(rig.names(client).is_empty());
    let disconnect = rig.got(node, "disconnect");
    rig.tell(
        node,
        "output",
        json!({"category": "console", "output": "Process 7 has exited with status 3\n"}),
    );
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["output", "exited", "terminated"]);
    assert_eq!(heard[1].json["body"]["exitCode"], 3);
    // The client has yet to say so, and the engine is gone by then.
    rig.answer(node, &disconnect, json!({}));
    rig.tell(node, "terminated", json!({}));
    rig.node_ended(node, "exit code 0", "");
    let seq = rig.request(client, "disconnect", json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.assert_over();
}

#[test]
fn an_engine_that_takes_its_time_to_be_let_go_is_waited_for_until_it_agrees() {
    for tells in [true, false] {
        let (mut rig, client, node) = running(facts_of("dlv-1.20"));
        rig.tell(node, "terminated", json!({"x": 1}));
        let disconnect = rig.got(node, "disconnect");
        rig.advance(3);
        assert!(rig.names(client).is_empty(), "it may still tell the code");
        if tells {
            let said = "Process 7 has exited with status 3\n";
            rig.tell(node, "output", json!({"category": "console", "output": said}));
            assert_eq!(rig.names(client), ["output", "exited", "terminated"]);
        }
        rig.answer(node, &disconnect, json!({}));
        if !tells {
            assert_eq!(
                rig.event(client, "terminated")["body"],
                json!({"x": 1}),
                "what agreed has no more to say"
            );
        }
        assert!(rig.names(client).is_empty());
        rig.node_ended(node, "exit code 0", "");
        rig.request(client, "disconnect", json!({}));
        rig.assert_over();
    }
}

#[test]
fn an_engine_that_never_agrees_to_be_let_go_is_waited_for_no_longer_than_any() {
    let (mut rig, client, node) = running(facts_of("dlv-1.20"));
    rig.tell(node, "terminated", json!({}));
    rig.got(node, "disconnect");
    rig.advance(5);
    assert_eq!(rig.names(client), ["terminated"]);
    rig.node_ended(node, "exit code 0", "");
    rig.request(client, "disconnect", json!({}));
    rig.assert_over();
}

#[test]
fn an_engine_that_missed_the_end_tells_no_code_of_it() {
    let (mut rig, client, node) = running(facts_of("dlv-1.20"));
    rig.tell(node, "terminated", json!({}));
    let disconnect = rig.got(node, "disconnect");
    let missed = "Process 7 has exited with status -1\n";
    rig.tell(node, "output", json!({"category": "console", "output": missed}));
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["output", "terminated"]);
    rig.answer(node, &disconnect, json!({}));
    rig.node_ended(node, "exit code 0", "");
    let seq = rig.request(client, "disconnect", json!({}));
    assert_eq!(rig.response(client, seq)["success"], true);
    rig.assert_over();
}

#[test]
fn a_code_in_the_output_is_told_when_the_program_is_over() {
    let (mut rig, client, node) = running(facts_of("cdt-gdb13-c"));
    let line = |text: &str| json!({"category": "stdout", "output": text});
    rig.tell(node, "output", line("[Inferior 1 (process 7) exited normally]\n"));
    assert_eq!(rig.names(client), ["output"], "the program may have written that");
    rig.tell(node, "output", line("[Inferior 1 (process 7) exited with code 013]\n"));
    rig.tell(node, "terminated", json!({}));
    rig.event(client, "output");
    let heard = rig.heard(client);
    let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
    assert_eq!(names, ["exited", "terminated"]);
    assert_eq!(heard[0].json["body"]["exitCode"], 11);
    rig.finish(client, node);
}

#[test]
fn an_end_by_the_signal_that_stopped_the_program_has_the_code_of_a_shell() {
    let stop = |words: Value| {
        let mut stop = json!({"reason": "exception", "threadId": 1, "allThreadsStopped": true});
        stop.as_object_mut().unwrap().extend(words.as_object().unwrap().clone());
        stop
    };
    for (words, code, told) in [
        (json!({"description": "signal SIGSEGV: address not mapped to object"}), 11, 139),
        (json!({"text": "signal SIGABRT"}), 6, 134),
        (json!({"reason": "SIGSEGV"}), 0, 0),
        // Debuggers keep these to themselves: they interrupt programs by them.
        (json!({"reason": "SIGINT"}), 2, 2),
        (json!({"description": "signal SIGTRAP"}), 5, 5),
        (json!({"description": "signal SIGSEGV"}), 3, 3),
        (json!({"reason": "breakpoint"}), 11, 11),
        // A program may have a handler for it, and exit with that number later.
        (json!({"description": "signal SIGUSR1"}), 10, 10),
        (json!({"reason": "breakpoint"}), -9, -9),
        (json!({"reason": "breakpoint"}), 255, 255),
    ] {
        let mut facts = plain();
        facts.ending.signals = SignalCode::Bare;
        let (mut rig, client, node) = running(facts);
        rig.tell(node, "stopped", stop(words.clone()));
        rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true}));
        rig.tell(node, "exited", json!({"exitCode": code}));
        assert_eq!(rig.event(client, "exited")["body"]["exitCode"], told, "{words} {code}");
        rig.tell(node, "terminated", json!({}));
        rig.event(client, "terminated");
        rig.finish(client, node);
    }
}

#[test]
fn a_code_below_zero_is_a_signal_only_if_the_engine_means_it_so() {
    for (signals, code, told) in [
        (SignalCode::AsAny, -1, -1),
        (SignalCode::Bare, -9, -9),
        (SignalCode::Negative, -9, 137),
        (SignalCode::Negative, -65, -65),
        (SignalCode::Negative, 9, 9),
    ] {
        let mut facts = plain();
        facts.ending.signals = signals;
        let (mut rig, client, node) = running(facts);
        rig.tell(node, "exited", json!({"exitCode": code}));
        assert_eq!(rig.event(client, "exited")["body"]["exitCode"], told, "{signals:?} {code}");
        rig.tell(node, "terminated", json!({}));
        rig.event(client, "terminated");
        rig.finish(client, node);
    }
}

#[test]
fn a_stop_of_no_thread_behind_a_signal_is_the_end() {
    let (mut rig, client, node) = running(facts_of("cdt-gdb13-c"));
    rig.tell(node, "stopped", json!({"reason": "SIGSEGV", "threadId": 1, "allThreadsStopped": true}));
    rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true}));
    rig.event(client, "stopped");
    rig.tell(node, "stopped", json!({"reason": "generic", "threadId": null}));
    assert_eq!(rig.event(client, "exited")["body"]["exitCode"], 139);
    rig.event(client, "terminated");
    rig.finish(client, node);
}

#[test]
fn a_stop_of_no_thread_is_the_end_whatever_stopped_the_program_before() {
    let line = "\nProgram terminated with signal |SIGKILL, Killed.\n";
    for (stop, said, told) in [
        (None, line, Some(137)),
        (Some("breakpoint"), line, Some(137)),
        (Some("SIGINT"), line, Some(137)),
        (Some("SIGSEGV"), line, Some(137)),
        (None, "\nProgram terminated with signal SIG34, Real-time event 34.\n", Some(162)),
        (None, "The program is not being run.\n", None),
    ] {
        let (mut rig, client, node) = running(facts_of("cdt-gdb13-c"));
        if let Some(reason) = stop {
            rig.tell(node, "stopped", json!({"reason": reason, "threadId": 1, "allThreadsStopped": true}));
            rig.tell(node, "continued", json!({"threadId": 1, "allThreadsContinued": true}));
        }
        for piece in said.split('|') {
            rig.tell(node, "output", json!({"category": "stdout", "output": piece}));
        }
        rig.heard(client);
        rig.tell(node, "stopped", json!({"reason": "generic", "threadId": null}));
        let heard = rig.heard(client);
        let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
        match told {
            Some(code) => {
                assert_eq!(names, ["exited", "terminated"], "{stop:?} {said}");
                assert_eq!(heard[0].json["body"]["exitCode"], code, "{stop:?} {said}");
            }
            None => assert_eq!(names, ["terminated"], "{said}"),
        }
        rig.finish(client, node);
    }
}

#[test]
fn one_who_joins_after_the_end_is_told_it_in_the_same_order() {
    let (mut rig, client, node) = running(plain());
    rig.tell(node, "terminated", json!({}));
    rig.tell(node, "exited", json!({"exitCode": 3}));
    let late = rig.join_late();
    rig.request(late, "initialize", json!({"adapterID": "python"}));
    rig.request(late, "attach", json!({}));
    rig.request(late, "configurationDone", json!({}));
    let names = rig.names(late);
    assert!(names.ends_with(&["exited".into(), "terminated".into()]), "{names:?}");
    rig.request(late, "disconnect", json!({}));
    rig.finish(client, node);
}

#[test]
fn by_default_an_exit_code_is_waited_for() {
    assert_eq!(EngineFacts::default().ending.exit, ExitWord::Event);
}

#[test]
fn what_an_engine_still_owes_when_its_program_is_over_is_refused_after_a_second() {
    let (mut rig, client, node) = running(plain());
    rig.tell(node, "stopped", json!({"reason": "breakpoint", "threadId": 1, "allThreadsStopped": true}));
    rig.event(client, "stopped");
    let out = rig.request(client, "stepOut", json!({"threadId": 1}));
    let late = rig.request(client, "source", json!({"sourceReference": 1}));
    rig.got(node, "stepOut");
    rig.tell(node, "exited", json!({"exitCode": 255}));
    rig.tell(node, "terminated", json!({}));
    assert_eq!(rig.names(client), ["exited", "terminated"]);
    let source = rig.got(node, "source");
    rig.answer(node, &source, json!({"content": ""}));
    rig.response(client, late);
    rig.advance(1);
    let refused = rig.response(client, out);
    assert_eq!(refused["success"], false);
    assert!(refused["message"].as_str().unwrap().contains("the program is over"), "{refused}");
    rig.finish(client, node);
}

/// What it writes in a terminal of the hub's is not its engine's output, where the code is looked for otherwise.
#[test]
fn the_code_of_a_program_in_a_terminal_is_the_terminals_whichever_end_is_told_first() {
    let words = vec!["Process exited with code {}".to_owned()];
    for terminal_first in [true, false] {
        let (mut rig, client, node) =
            running(facts_with(|facts| facts.ending.exit = ExitWord::InOutput(words.clone())));
        rig.ask(node, "runInTerminal", json!({"args": ["x"], "cwd": "/"}));
        let (ticket, _) = rig.terminals.pop().unwrap();
        rig.on(Input::Terminal { ticket, result: Ok(7) });
        rig.heard(client);
        let ended = Input::TerminalEnded { node, code: 3 };
        if terminal_first {
            rig.on(ended);
            rig.tell(node, "terminated", json!({}));
        } else {
            rig.tell(node, "terminated", json!({}));
            rig.on(ended);
        }
        let heard = rig.heard(client);
        let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
        assert_eq!(names, ["exited", "terminated"], "{terminal_first}");
        assert_eq!(heard[0].json["body"], json!({"exitCode": 3}));
    }
}

#[test]
fn an_engine_that_is_the_programs_process_and_fails_itself_is_told_with_its_words() {
    let facts = || {
        facts_with(|facts| {
            facts.name = "rdbg".into();
            facts.ending.exit = ExitWord::OwnEnd;
            facts.ending.failure =
                DyingWords { from: vec!["SESSION@{}> terminated".into()], to: vec!["\tfrom ".into()] };
        })
    };
    let failure = "#<Thread SESSION@server run> terminated\nx.rb:1: boom\n\tfrom y.rb\n";
    for (exit, said, told) in [
        ("exit code 1", failure, &["output", "exited", "terminated"][..]),
        ("exit code 1", "x.rb:1: boom\n", &["exited", "terminated"][..]),
        // What a program says of that thread.
        ("exit code 1", "[#<Thread SESSION@server run>]\n", &["exited", "terminated"][..]),
        ("exit code 0", failure, &["exited", "terminated"][..]),
    ] {
        let (mut rig, client, node) = running(facts());
        rig.node_ended(node, exit, said);
        let heard = rig.heard(client);
        let names: Vec<_> = heard.iter().map(|heard| heard.name()).collect();
        assert_eq!(names, told, "{said}");
        if told.len() == 3 {
            let why = "rdbg itself failed, and the program with it: #<Thread SESSION@server run> terminated x.rb:1: boom";
            assert_eq!(heard[0].json["body"]["data"]["engineEnded"], why);
        }
        rig.request(client, "disconnect", json!({}));
        rig.assert_over();
    }
}
