//! Programs that are run from their source, where their debuggers need more than a launch: a first line, a way out of a
//! subroutine, conditions that change, a program that cannot be compiled.

use std::os::unix::fs::PermissionsExt;

use breakroom_testkit::{Strict, adapters};
use serde_json::json;

use crate::support::editor::Hub;
use crate::{Place, begin};

const SUM: &str = "my $x = 1;
sub add { my ($left, $right) = @_;
    my $total = $left + $right;
    return $total;
}
my $sum = add($x, 2);
print \"sum $sum\\n\";
print \"name? \";
my $name = <STDIN>;
print \"h\u{e9} $name\";
exit 3;
";

/// Everything that a program has printed by its end.
fn printed_to_the_end(client: &mut Strict) -> String {
    client.event("exited");
    client.event("terminated");
    client.timeline().output()
}

#[test]
fn perl_stops_in_the_first_line_and_steps_out_of_what_was_not_stepped_into() {
    if adapters::skipped("perl") {
        return;
    }
    let place = Place::new();
    place.write("p.pl", SUM);
    let commands = "threads\ncontinue\nout\nprint $sum\nprint nosuch()\nset $sum = 9\nthreads\ninput Zo\u{eb}\ncontinue\n";
    let told = place.run(".", &["--break", "1", "--break", "3", "p.pl"], commands);
    told.shows(&[
        "stopped: breakpoint at p.pl:1 ",
        "stopped: breakpoint at p.pl:3 ",
        "stopped: step at p.pl:7 ",
    ]);
    told.shows(&["$sum = 3", "$sum = 9", "sum 9", "name? h\u{e9} Zo\u{eb}", "exit code 3"]);
    let failure = "cannot evaluate: Undefined subroutine &main::nosuch called";
    assert!(format!("{}{}", told.out, told.errors).contains(failure), "{told:?}");
    let threads = told.out.lines().filter(|line| line.contains("single"));
    let threads: Vec<_> = threads.map(|line| line.split("  ").next()).collect();
    assert!(threads.len() == 2 && threads[0] == threads[1], "one thread has one number: {threads:?}");
    assert_eq!(told.code, Some(3), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn the_last_byte_of_a_perl_program_is_shown_and_its_input_is_bounded() {
    if adapters::skipped("perl") {
        return;
    }
    let place = Place::new();
    let reads =
        "my $all = 1;\nmy @lines = <STDIN>;\nprint 'lines ', scalar @lines, \"\\n\";\nprint \"caf\\xe9\";\n";
    place.write("p.pl", reads);
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "capabilities", "process", "thread", "continued", "loadedSource"]);
    let arguments = json!({"type": "perl", "program": place.text("p.pl"), "stopOnEntry": true});
    begin(&mut client, "launch", arguments);
    let thread = client.event("stopped")["body"]["threadId"].clone();
    // It is stopped and reads nothing, and yet nobody waits.
    let much = "0123456\n".repeat(90_000);
    client.call("breakroom/input", json!({"text": much}));
    let refusal = client.call_failing("breakroom/input", json!({"text": much}));
    assert!(refusal.to_string().contains("has not read"), "{refusal}");
    client.call("breakroom/input", json!({"text": "x\n", "end": true}));
    client.call("continue", json!({"threadId": thread}));
    let printed = printed_to_the_end(&mut client);
    assert!(printed.contains("lines 90001\ncaf\u{fffd}"), "{printed}");
    place.part(client, Hub::Private);
}

#[test]
fn a_breakpoint_that_cuts_a_step_short_in_perl_leaves_nothing_of_the_step() {
    if adapters::skipped("perl") {
        return;
    }
    let place = Place::new();
    place.write("p.pl", &SUM.replace("<STDIN>", "\"Ann\""));
    let told = place.run(".", &["p.pl"], "break 6\ncontinue\nbreak 3\nnext\ncontinue\n");
    told.shows(&["stopped: breakpoint at p.pl:6 ", "stopped: breakpoint at p.pl:3 ", "exit code 3"]);
    assert!(!told.out.contains("p.pl:7"), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_program_that_perl_cannot_compile_is_over_at_once() {
    if adapters::skipped("perl") {
        return;
    }
    let place = Place::new();
    place.write("bad.pl", "use strict;\nmy $x = ;\n");
    let told = place.run(".", &["bad.pl"], "");
    let all = format!("{}{}", told.out, told.errors);
    assert!(all.contains("syntax error at") && all.contains("exit code 255"), "{told:?}");
    assert_eq!(told.code, Some(255), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_condition_in_ruby_can_be_changed_and_taken_away() {
    if adapters::skipped("rdbg") || adapters::skipped("ruby") {
        return;
    }
    let place = Place::new();
    place.write("r.rb", "sum = 0\n(1..9).each do |i|\n  sum += i\nend\nputs \"sum #{sum}\"\n");
    let conditions = "break 3 if i == 2\ncontinue\nprint i * 100\n\
        delete 1\nbreak 3 if i == 4\ncontinue\nprint i * 100\n\
        delete 2\nbreak 3\ncontinue\nprint i * 100\n\
        delete 3\nbreak 3 if i == 8\ncontinue\nprint i * 100\n\
        delete 4\ncontinue\n";
    let told = place.run(".", &["r.rb"], conditions);
    told.shows(&["= 200", "= 400", "= 500", "= 800", "sum 45"]);
    assert_eq!(told.out.matches("stopped: breakpoint").count(), 4, "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_breakpoint_stops_in_a_perl_module_that_was_found_by_a_relative_path() {
    if adapters::skipped("perl") {
        return;
    }
    let place = Place::new();
    place.write("lib/Sum.pm", "package Sum;\nsub of {\n    my @all = @_;\n    return scalar @all;\n}\n1;\n");
    place.write("p.pl", "use lib 'lib';\nrequire Sum;\nprint Sum::of('k\u{f6}ln', 2), \"\\n\";\n");
    let told = place.run(".", &["--break", "lib/Sum.pm:4", "p.pl"], "print $all[0]\nbt\ncontinue\n");
    told.shows(&["Sum.pm:4 in of", "$all[0] = 'k\u{f6}ln'", "return scalar @all", "exit code 0"]);
    place.leave(Hub::Private);
}

const ADD: &str = "def add(a, b)
  c = a + b
  c
end
x = 1
y = add(x, 2)
z = add(y, 3)
puts \"z #{z}\"
puts \"end\"
";

#[test]
fn a_step_in_ruby_goes_on_from_what_nobody_wants_and_is_over_at_what_somebody_does() {
    if adapters::skipped("rdbg") || adapters::skipped("ruby") {
        return;
    }
    let place = Place::new();
    place.write("r.rb", ADD);
    let commands = "break 5 if x == 9\nnext\nprint \"first #{x.inspect}\"\nnext\n\
        break 2 if a == 3\nbreak 3 log \"c is {c}\"\nnext\nprint y * 100\nnext\nprint a * 200\ncontinue\n";
    let told = place.run(".", &["r.rb"], commands);
    // A step ends at a breakpoint whose condition is false, goes on over one in what is called, and prints what that says.
    told.shows(&["stopped: step at r.rb:5 ", "first nil", "stopped: step at r.rb:6 ", "c is 3\n"]);
    told.shows(&[
        "stopped: step at r.rb:7 ",
        "y * 100 = 300",
        "stopped: breakpoint at r.rb:2 ",
        "a * 200 = 600",
    ]);
    told.shows(&["c is 6\n", "z 6", "exit code 0"]);
    assert_eq!(told.out.matches("stopped: ").count(), 5, "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn what_a_ruby_expression_raises_is_no_value_and_an_exception_is_one() {
    if adapters::skipped("rdbg") || adapters::skipped("ruby") {
        return;
    }
    let place = Place::new();
    place.write("r.rb", "e = 1\nbegin\n  raise ArgumentError, 'odd'\nrescue => e\n  puts 'rescued'\nend\n");
    let commands = "print nosuch\nprint 1 +\nset e = 1 / 0\nset e = 7\nprint e * 3\nbreak 5\ncontinue\nprint e\ncontinue\n";
    let told = place.run(".", &["r.rb"], commands);
    let all = format!("{}{}", told.out, told.errors);
    for failure in ["NameError: undefined local variable or method `nosuch'", "syntax error", "divided by 0"]
    {
        assert!(all.contains(failure), "{failure}: {told:?}");
    }
    assert!(!all.contains("nosuch = "), "{told:?}");
    told.shows(&["e * 3 = 21", "e = #<ArgumentError: odd>", "rescued", "exit code 0"]);
    place.leave(Hub::Private);
}

#[test]
fn what_a_ruby_program_asks_is_seen_at_once_and_what_it_starts_runs_freely() {
    if adapters::skipped("rdbg") || adapters::skipped("ruby") {
        return;
    }
    let place = Place::new();
    place.write(
        "r.rb",
        "print 'name? '\nname = gets\nsystem('ruby', '-e', 'puts 6 * 7')\nputs \"hi #{name}\"\n",
    );
    let mut client = place.editor_that(Hub::Private, json!({"supportsBreakroomInput": true}));
    client.allow(&["output", "capabilities", "process", "thread", "continued"]);
    begin(&mut client, "launch", json!({"type": "ruby", "program": place.text("r.rb")}));
    // It waits for the answer, so it does not end before it is asked.
    while !client.timeline().output().contains("name? ") {
        client.event("output");
    }
    client.call("breakroom/input", json!({"text": "Ann\n"}));
    let printed = printed_to_the_end(&mut client);
    assert!(printed.contains("42\nhi Ann\n"), "{printed}");
    place.part(client, Hub::Private);
}

#[test]
fn variables_of_cmake_are_listed_and_one_that_is_not_set_is_no_empty_one() {
    if adapters::skipped("cmake") {
        return;
    }
    let place = Place::new();
    place.write("m.cmake", "set(apple 1)\nset(e \"\")\nmessage(STATUS \"a ${apple}\")\n");
    let commands = "locals\nprint nosuch\nprint ${apple}\nprint e\ncontinue\n";
    let told = place.run(".", &["--break", "3", "m.cmake"], commands);
    let all = format!("{}{}", told.out, told.errors);
    assert!(all.contains("cannot evaluate: no variable of that name is set"), "{told:?}");
    told.shows(&["\n  apple = 1\n", "${apple} = 1"]);
    assert!(told.out.find("\n  CMAKE_ARGC = ") > told.out.find("\n  apple = "), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_perl_program_stops_where_it_dies_unless_something_catches_it() {
    if adapters::skipped("perl") {
        return;
    }
    let place = Place::new();
    let dies = "eval { die \"caught\\n\" };\nprint \"after $@\";\nsub f { my $x = shift;\n    die \"bad $x\";\n}\nf(7);\n";
    place.write("p.pl", dies);
    let told = place.run(".", &["p.pl"], "continue\nprint $x * 3\nbt\ncontinue\n");
    told.shows(&[
        "after caught",
        "stopped: exception at p.pl:4 in f: bad 7 at",
        "$x * 3 = 21",
        "p.pl:6 in <main>",
    ]);
    assert!(format!("{}{}", told.out, told.errors).contains("\nbad 7 at "), "{told:?}");
    assert_eq!(told.out.matches("stopped: exception").count(), 1, "{told:?}");
    assert_eq!(told.code, Some(255), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_child_that_a_perl_program_forked_dies_by_itself() {
    if adapters::skipped("perl") {
        return;
    }
    let place = Place::new();
    let forks = "my $child = fork;\nif (!$child) { die \"no good\\n\" }\nwaitpid $child, 0;\n\
        print 'child ', $? >> 8, \"\\n\";\ndie \"own end\\n\";\n";
    place.write("p.pl", forks);
    let told = place.run(".", &["p.pl"], "continue\ncontinue\n");
    told.shows(&["child 255", "stopped: exception at p.pl:5 "]);
    assert_eq!(told.out.matches("stopped: exception").count(), 1, "{told:?}");
    assert!(format!("{}{}", told.out, told.errors).contains("no good"), "{told:?}");
    assert_eq!(told.code, Some(255), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn what_rdbg_says_of_its_breakpoints_is_not_what_the_program_prints() {
    if adapters::skipped("rdbg") || adapters::skipped("ruby") {
        return;
    }
    let place = Place::new();
    place.write("later.rb", "def add(a, b)\n  a + b\nend\n");
    place.write("r.rb", "warn 'warned'\nrequire_relative 'later'\nputs \"sum #{add(40, 2)}\"\n");
    let told = place.run(".", &["--break", "later.rb:2", "r.rb"], "print a\ncontinue\n");
    told.shows(&["stopped: breakpoint at later.rb:2 ", "a = 40", "sum 42", "exit code 0"]);
    let all = format!("{}{}", told.out, told.errors);
    assert!(all.contains("warned") && !all.contains("DEBUGGER"), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_ruby_program_is_debugged_whoever_starts_it() {
    if adapters::skipped("rdbg") || adapters::skipped("ruby") {
        return;
    }
    let place = Place::new();
    place.write(
        "r.rb",
        "x = (at ||= 1)\ny = x + (runs ||= 1)\nsystem('ruby', '-e', 'puts 6 * 7')\nputs \"y #{y}\"\n",
    );
    place.write("executes", "#!/usr/bin/env ruby\nexec 'ruby', *ARGV\n");
    place.write("starts", "#!/usr/bin/env ruby\nexit system(*ARGV)\n");
    place.write("loads", "#!/usr/bin/env ruby\nputs 'loads'\nload ARGV.shift\n");
    place.write("could", "#!/usr/bin/env ruby\n# It could exec it.\nload ARGV.shift\n");
    for (runtime, words) in
        [("executes", &[][..]), ("starts", &["ruby"][..]), ("loads", &[][..]), ("could", &[][..])]
    {
        let file = place.text(runtime);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut client = place.editor(Hub::Private);
        client.allow(&["output", "capabilities", "process", "thread", "continued"]);
        let launch = json!({"type": "ruby", "program": place.text("r.rb"), "runtimeExecutable": file,
            "runtimeArgs": words});
        let launched = client.request("launch", launch);
        client.event("initialized");
        client.call(
            "setBreakpoints",
            json!({"source": {"path": place.text("r.rb")}, "breakpoints": [{"line": 2}]}),
        );
        client.call("configurationDone", json!({}));
        client.response(launched);
        let stop = client.event("stopped");
        assert_eq!(stop["body"]["reason"], "breakpoint", "{runtime}: {stop}");
        client.call("continue", json!({"threadId": stop["body"]["threadId"]}));
        let exited = client.event("exited");
        assert_eq!(exited["body"]["exitCode"], 0, "{runtime}");
        client.event("terminated");
        let printed = client.timeline().output();
        assert!(printed.ends_with("42\ny 2\n") && !printed.contains("can attach"), "{runtime}: {printed}");
        client.call("disconnect", json!({}));
        client.finish();
    }
    place.leave(Hub::Private);
}

#[test]
fn a_breakpoint_in_the_first_line_of_a_ruby_program_is_hit_on_its_terms() {
    if adapters::skipped("rdbg") || adapters::skipped("ruby") {
        return;
    }
    let place = Place::new();
    place.write("r.rb", "x = 1\nputs 'end'\n");
    let log = json!({"logMessage": "x is {x.inspect}"});
    for (terms, asked, stops, logged) in [
        (json!({}), false, Some("breakpoint"), ""),
        (json!({"condition": "x.nil?"}), false, Some("breakpoint"), ""),
        (json!({"condition": "x"}), false, None, ""),
        (json!({"hitCondition": "2"}), false, None, ""),
        (log.clone(), false, None, "x is nil\n"),
        (log, true, Some("entry"), "x is nil\n"),
        (json!({}), true, Some("entry"), ""),
    ] {
        let mut client = place.editor(Hub::Private);
        client.allow(&["output", "capabilities", "process", "thread", "continued"]);
        let launch = json!({"type": "ruby", "program": place.text("r.rb"), "stopOnEntry": asked});
        let launched = client.request("launch", launch);
        client.event("initialized");
        let mut breakpoint = terms.clone();
        breakpoint["line"] = json!(1);
        let arguments = json!({"source": {"path": place.text("r.rb")}, "breakpoints": [breakpoint]});
        client.call("setBreakpoints", arguments);
        client.call("configurationDone", json!({}));
        client.response(launched);
        if let Some(reason) = stops {
            let stop = client.event("stopped");
            assert_eq!(stop["body"]["reason"], reason, "{terms}: {stop}");
            client.call("continue", json!({"threadId": stop["body"]["threadId"]}));
        }
        assert_eq!(printed_to_the_end(&mut client), format!("{logged}end\n"), "{terms}");
        client.call("disconnect", json!({}));
        client.finish();
    }
    place.leave(Hub::Private);
}

#[test]
fn a_breakpoint_in_the_first_line_of_a_ruby_program_is_hit_after_a_restart_too() {
    if adapters::skipped("rdbg") || adapters::skipped("ruby") {
        return;
    }
    let place = Place::new();
    place.write("r.rb", "x = 1\nputs 'end'\n");
    for terms in [json!({}), json!({"condition": "x.nil?"})] {
        let mut client = place.editor(Hub::Private);
        client.allow(&["output", "capabilities", "process", "thread", "continued", "breakpoint"]);
        let launched = client.request("launch", json!({"type": "ruby", "program": place.text("r.rb")}));
        client.event("initialized");
        let mut breakpoint = terms.clone();
        breakpoint["line"] = json!(1);
        let arguments = json!({"source": {"path": place.text("r.rb")}, "breakpoints": [breakpoint]});
        client.call("setBreakpoints", arguments);
        client.call("configurationDone", json!({}));
        client.response(launched);
        client.event("stopped");
        client.call("restart", json!({}));
        let stop = client.event("stopped");
        assert_eq!(stop["body"]["reason"], "breakpoint", "{terms}: {stop}");
        client.call("continue", json!({"threadId": stop["body"]["threadId"]}));
        assert_eq!(printed_to_the_end(&mut client), "end\n", "{terms}");
        client.call("disconnect", json!({}));
        client.finish();
    }
    place.leave(Hub::Private);
}

#[test]
fn what_a_breakpoint_says_in_the_midst_of_a_step_is_printed() {
    let place = Place::new();
    place.write("p.pl", &SUM.replace("<STDIN>", "\"Ann\""));
    let function = "function(add)\n  set(total 3)\n  set(other 1)\n  message(STATUS \"in ${total}\")\nendfunction()\nadd()\n";
    place.write("m.cmake", function);
    for (adapter, file, value) in [("perl", "p.pl", "$total"), ("cmake", "m.cmake", "total")] {
        if adapters::skipped(adapter) {
            continue;
        }
        let commands = format!("break 6\ncontinue\nbreak 4 log \"is {{{value}}}\"\nnext\ncontinue\n");
        let told = place.run(".", &[file], &commands);
        told.shows(&[&format!("stopped: breakpoint at {file}:6 "), "is 3\n", "the program ended"]);
    }
    place.leave(Hub::Private);
}
