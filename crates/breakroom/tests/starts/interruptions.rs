//! What comes between in a program that is run from its source: breakpoints in the midst of a step, signals, and stops while
//! output is on its way.

use breakroom_testkit::adapters;
use serde_json::json;

use crate::Place;
use crate::support::editor::Hub;

const CALLS: [(&str, &str, &str); 2] = [
    (
        "perl",
        "p.pl",
        "my $first = 1; sub inner { my $n = shift;
    my $twice = $n * 2;
    return $twice;
}
sub outer { my $sum = 0;
    $sum += inner($_) for 1 .. 3;
    return $sum;
}
my $all = outer();
print \"all $all\\n\";
",
    ),
    (
        "cmake",
        "m.cmake",
        "function(inner n)
  math(EXPR twice \"${n} * 2\")
  set(other 1)
endfunction()
function(outer)
  foreach(n 1 2 3)
    inner(${n})
  endforeach()
endfunction()
outer()
message(STATUS \"all\")
",
    ),
];

#[test]
fn a_step_goes_on_from_a_breakpoint_in_what_it_calls_that_only_says_something() {
    let place = Place::new();
    for (adapter, file, text) in CALLS {
        if adapters::skipped(adapter) {
            continue;
        }
        place.write(file, text);
        let last = text.lines().count();
        let value = if adapter == "perl" { "$twice" } else { "twice" };
        // From the last call but one, and out of what it calls.
        for (from, step) in [(last - 1, "next"), (last - 5, "out")] {
            let commands = format!(
                "break {from}\ncontinue\ndelete 1\nbreak 3 log \"is {{{value}}}\"\n{step}\ncontinue\n"
            );
            let told = place.run(".", &[file], &commands);
            told.shows(&[
                &format!("stopped: breakpoint at {file}:{from} "),
                "is 2\n",
                "is 4\n",
                "is 6\n",
                &format!("stopped: step at {file}:{last} "),
                "the program ended",
            ]);
            assert_eq!(told.out.matches("stopped: ").count(), 3, "{told:?}");
        }
    }
    place.leave(Hub::Private);
}

#[test]
fn what_a_perl_program_prints_before_it_stops_is_told_before() {
    if adapters::skipped("perl") {
        return;
    }
    let place = Place::new();
    let file = place.write(
        "p.pl",
        "for my $n (1 .. 20) {\n    print \"o$n \"; print STDERR \"e$n \";\n    my $m = $n;\n}\n",
    );
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "capabilities", "process", "thread", "continued", "loadedSource", "breakpoint"]);
    let launched = client.request("launch", json!({"type": "perl", "program": file}));
    client.event("initialized");
    client.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": [{"line": 3}]}));
    client.call("configurationDone", json!({}));
    client.response(launched);
    for _ in 1..=20 {
        let thread = client.event("stopped")["body"]["threadId"].clone();
        client.call("continue", json!({"threadId": thread}));
    }
    client.event("exited");
    client.event("terminated");
    let (mut printed, mut stops) = (String::new(), 0);
    for message in client.timeline().received() {
        printed += message["body"]["output"].as_str().unwrap_or_default();
        if message["event"] == "stopped" {
            stops += 1;
            let last = [format!("o{stops} "), format!("e{stops} ")];
            assert!(last.iter().all(|text| printed.contains(text)), "stop {stops} comes after {printed:?}");
        }
    }
    assert_eq!(stops, 20);
    place.part(client, Hub::Private);
}

/// What it prints is there faster than it is passed on.
#[test]
fn a_perl_program_that_prints_without_end_is_interrupted() {
    if adapters::skipped("perl") {
        return;
    }
    let place = Place::new();
    let file = place.write(
        "p.pl",
        "$| = 1;\nmy $many = \"one of many lines\\n\" x 4000;\nwhile (1) {\n    print $many;\n}\n",
    );
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "capabilities", "process", "thread", "continued", "loadedSource", "breakpoint"]);
    let launched = client.request("launch", json!({"type": "perl", "program": file}));
    client.event("initialized");
    client.call("configurationDone", json!({}));
    client.response(launched);
    client.event("output");
    client.call("pause", json!({"threadId": 1}));
    client.event("stopped");
    place.part(client, Hub::Private);
}

/// SIGINT is how perl's debugger interrupts a program.
#[test]
fn a_program_that_a_signal_ends_has_the_exit_code_of_a_shell() {
    let place = Place::new();
    for (adapter, file, text, signals) in [
        ("rdbg", "r.rb", "Process.kill('SIGNAL', Process.pid)\nsleep 60\n", &["INT", "TERM", "KILL"][..]),
        ("perl", "p.pl", "kill 'SIGNAL', $$;\nsleep 60;\n", &["TERM", "KILL"][..]),
        (
            "debugpy",
            "p.py",
            "import os, signal, time\nos.kill(os.getpid(), signal.SIGSIGNAL)\ntime.sleep(60)\n",
            &["INT", "TERM", "KILL"][..],
        ),
    ] {
        if adapters::skipped(adapter) {
            continue;
        }
        for signal in signals {
            place.write(file, &text.replace("SIGNAL", signal));
            let told = place.run(".", &[file], "continue\ncontinue\n");
            let code = if *signal == "INT" {
                130
            } else if *signal == "TERM" {
                143
            } else {
                137
            };
            told.shows(&[&format!("the program ended with exit code {code}")]);
            assert_eq!(told.code, Some(code), "{file}, {signal}: {told:?}");
        }
    }
    place.leave(Hub::Private);
}
