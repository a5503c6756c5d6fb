//! Java, as somebody sees it who only names a file.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use breakroom_testkit::{adapters, wait};
use serde_json::json;

use crate::support::editor::{Bystander, Hub};
use crate::support::strangers;
use crate::{Place, begin, needs};

const MAIN: &str = r#"package a.b;

import java.util.ArrayList;
import java.util.List;

public class Main {
    static int add(int a, int b) {
        int total = a + b;
        return total;
    }

    public static void main(String[] args) {
        List<String> items = new ArrayList<>();
        items.add("one");
        items.add("two");
        int sum = add(40, 2);
        System.out.println(Other.greeting() + sum);
        if (args.length > 0) {
            throw new IllegalStateException("thrown");
        }
        System.exit(sum - 39);
    }
}
"#;

const OTHER: &str = r#"package a.b;

class Other {
    static String greeting() {
        String text = "the sum is ";
        return text;
    }
}
"#;

/// A source tree as Maven has it.
fn place() -> Option<Place> {
    if adapters::skipped("jdi") || adapters::skipped("java") {
        return None;
    }
    let place = Place::new();
    place.write("src/main/java/a/b/Main.java", MAIN);
    place.write("src/main/java/a/b/Other.java", OTHER);
    Some(place)
}

const FILE: &str = "src/main/java/a/b/Main.java";

#[test]
fn it_begins_in_main() {
    let Some(place) = place() else { return };
    let told = place.run(".", &[FILE], "next\nbt\ncontinue\n");
    told.shows(&["stopped: entry at ", "Main.java:13 in ", "Main.java:14", "the sum is 42", "exit code 3"]);
    told.shows(&["->   13          List<String> items = new ArrayList<>();"]);
    assert!(!told.out.contains("Listening for transport"), "{told:?}");
    assert_eq!(told.code, Some(3), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_method_that_is_called_for_a_value_leaves_the_frames_usable() {
    let Some(place) = place() else { return };
    let commands = "print items.get(0)\nprint items.size()\nprint items.get(0).length() + items.get(1).length()\nprint \
                    sum\nlocals\nnext\ncontinue\n";
    let told = place.run(".", &["--break", "Main.java:17", FILE], commands);
    told.shows(&[
        "items.get(0) = \"one\"",
        "items.size() = 2",
        "items.get(0).length() + items.get(1).length() = 6",
        "sum = 42",
        "Main.java:18",
        "exit code 3",
    ]);
    assert!(!told.out.contains("resumed") && !told.errors.contains("resumed"), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_step_that_a_breakpoint_cuts_short_is_forgotten() {
    let Some(place) = place() else { return };
    // Over the call, into the breakpoint in it, on from there, and out.
    let commands = "next\nnext\nout\ncontinue\n";
    let words = ["--break", "Main.java:16", "--break", "Main.java:8", FILE];
    let told = place.run(".", &words, commands);
    told.shows(&["Main.java:8 in ", "Main.java:9 in ", "Main.java:16 in ", "the sum is 42", "exit code 3"]);
    let said = format!("{}{}", told.out, told.errors);
    assert!(!said.contains("Step error"), "{told:?}");
    assert_eq!(said.matches("stopped: step").count(), 2, "none of them stops later: {told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_step_in_goes_into_the_programs_own_methods_only() {
    let Some(place) = place() else { return };
    let told = place.run(".", &["--break", "Main.java:14", FILE], "step\nstep\nstep\nbt\ncontinue\n");
    told.shows(&[
        "step at Main.java:15 in ",
        "step at Main.java:16 in ",
        "step at Main.java:8 in ",
        "exit code 3",
    ]);
    place.leave(Hub::Private);
}

#[test]
fn a_breakpoint_in_a_class_that_is_not_loaded_yet_waits_and_an_exception_stops_it() {
    let Some(place) = place() else { return };
    let told =
        place.run(".", &["--break", "Other.java:6", FILE, "word"], "print text\ncontinue\nbt\ncontinue\n");
    told.shows(&[
        "Other.java:6 in ",
        "text = \"the sum is \"",
        "IllegalStateException",
        "thrown",
        "exit code 1",
    ]);
    assert_eq!(told.code, Some(1), "{told:?}");
    place.leave(Hub::Private);
}

const SHELVES: &str = r#"import java.util.*;

public class Shelves {
    enum Size { SMALL, LARGE }

    static int shared = 1;
    int own = 2;

    void look() {
        List<String> list = new ArrayList<>(List.of("one", "two"));
        Map<String, Integer> map = new HashMap<>();
        map.put("a", 1);
        map.put("b", 2);
        Map<String, List<Integer>> sorted = new TreeMap<>(Map.of("z", List.of(1, 2, 3)));
        Set<Integer> kept = new LinkedHashSet<>(List.of(9));
        kept.add(7);
        Deque<Integer> line = new ArrayDeque<>(List.of(5, 6));
        List<Integer> linked = new LinkedList<>(List.of(3, 4));
        List<Integer> many = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            many.add(i);
        }
        Integer boxed = 41;
        float part = 1;
        Size size = Size.SMALL;
        int[][] table = {{1, 2}, {3}};
        String text = "before";
        System.out.println(list + " " + boxed + " " + part + " " + table[1][0] + " " + text + " " + own + " " + shared);
    }

    public static void main(String[] args) {
        new Shelves().look();
    }
}
"#;

const LAST: &str = "Shelves.java:28";

#[test]
fn collections_show_what_is_in_them() {
    let Some(place) = place() else { return };
    place.write("Shelves.java", SHELVES);
    let names = ["list", "map", "sorted", "kept", "line", "linked", "many", "boxed", "size", "table"];
    let asked: String = names.iter().map(|name| format!("print {name}\n")).collect();
    let told = place.run(".", &["--break", LAST, "Shelves.java"], &(asked + "continue\n"));
    told.shows(&[
        "list = [one, two]",
        "map = {a=1, b=2}",
        "sorted = {z=[1, 2, 3]}",
        "kept = [9, 7]",
        "line = [5, 6]",
        "linked = [3, 4]",
        "many = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ... 84 more]",
        "boxed = 41",
        "size = SMALL",
        "table = int[2][]",
    ]);
    assert!(!told.out.contains("modCount") && !told.out.contains("elementData"), "{told:?}");
    place.leave(Hub::Private);
}

const ODD: &str = r#"import java.util.*;
import java.util.concurrent.ConcurrentHashMap;

public class Odd {
    public static void main(String[] args) {
        Properties settings = new Properties();
        settings.setProperty("colour", "green");
        Object lock = new Object();
        List<Object> linked = new LinkedList<>(Arrays.asList("a", lock, "b"));
        Deque<Object> line = new ArrayDeque<>(List.of(lock, lock));
        List<Object> pair = List.of("x", lock);
        Set<Object> single = Set.of("y");
        Map<Integer, Integer> busy = new ConcurrentHashMap<>();
        for (int i = 0; i < 20; i++) {
            busy.put(i, i);
        }
        System.out.println(settings.size() + linked.size() + line.size() + pair.size() + single.size() + busy.size());
    }
}
"#;

#[test]
fn nothing_that_is_in_a_collection_is_left_out() {
    let Some(place) = place() else { return };
    place.write("Odd.java", ODD);
    let names = ["settings", "linked", "line", "pair", "single", "busy"];
    let asked: String = names.iter().map(|name| format!("print {name}\n")).collect();
    let told = place.run(".", &["--break", "Odd.java:17", "Odd.java"], &(asked + "continue\n"));
    told.shows(&["settings = {colour=green}", "single = [y]", "15=15, ... 4 more}"]);
    let shown = |name: &str| {
        let line = told.out.lines().find_map(|line| line.split_once(&format!("{name} = "))).unwrap().1;
        // Its number is another each time.
        line.split(", ").map(|part| part.split('@').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown("linked"), ["[a", "java.lang.Object", "b]"]);
    assert_eq!(shown("line"), ["[java.lang.Object", "java.lang.Object"]);
    assert_eq!(shown("pair"), ["[x", "java.lang.Object"]);
    place.leave(Hub::Private);
}

/// While a value is computed its place in the map is taken, by nothing that is in the map.
#[test]
fn a_map_that_is_about_to_get_an_entry_shows_those_that_it_has() {
    let Some(place) = place() else { return };
    let text = "import java.util.*;\n\nclass Held {\n    static int computed(Map<String, Integer> map) {\n        \
                return map.size();\n    }\n\n    public static void main(String[] args) {\n        Map<String, \
                Integer> map = new java.util.concurrent.ConcurrentHashMap<>();\n        map.put(\"z\", 1);\n        \
                map.computeIfAbsent(\"a\", key -> computed(map));\n    }\n}\n";
    place.write("Held.java", text);
    let told = place.run(".", &["--break", "Held.java:5", "Held.java"], "print map\ncontinue\n");
    told.shows(&["Held.java:5 in ", "map = {z=1}"]);
    place.leave(Hub::Private);
}

const LARGE: &str = r#"import java.util.*;
import java.util.concurrent.ConcurrentHashMap;

public class Large {
    public static void main(String[] args) {
        Map<Integer, Integer> wide = new HashMap<>(1 << 22);
        wide.put(1, 1);
        wide.put(4_000_000, 2);
        Map<Integer, Integer> busy = new ConcurrentHashMap<>();
        Deque<Integer> line = new ArrayDeque<>();
        for (int i = 0; i < 400_000; i++) {
            busy.put(i, i);
            line.add(i);
        }
        line.removeFirst();
        Set<Integer> fixed = Set.copyOf(line);
        System.out.println(wide.size() + busy.size() + line.size() + fixed.size());
    }
}
"#;

/// The bridge's Java has room for little: whatever reads all of them ends it.
#[test]
fn of_a_large_collection_no_more_is_read_than_is_shown() {
    let Some(place) = place() else { return };
    let java = needs("java");
    place.write_program("bin/java", &format!("#!/bin/sh\nexec {} -Xmx24m \"$@\"\n", java.display()));
    place.write("Large.java", LARGE);
    let commands = "locals\nprint wide\nprint busy\nprint line\nprint fixed\ncontinue\n";
    let words = ["--launch", "vmArgs=\"-Xmx512m\"", "--break", "Large.java:17", "Large.java"];
    let told = place.run(".", &words, commands);
    told.shows(&[
        "wide = {1=1, 4000000=2}",
        "busy = {0=0, 1=1, ",
        "... 399984 more}",
        "line = [1, 2, ",
        "16, ... 399983 more]",
        "fixed = [",
        "1200000",
    ]);
    place.leave(Hub::Private);
}

/// Who does not ask for a part of it gets what can be read, and how much is left.
#[test]
fn a_large_collection_can_be_opened_without_saying_how_much_of_it() {
    let Some(place) = place() else { return };
    let java = needs("java");
    place.write_program("bin/java", &format!("#!/bin/sh\nexec {} -Xmx48m \"$@\"\n", java.display()));
    let file = place.write("Large.java", LARGE);
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "capabilities", "process", "thread", "breakpoint", "continued"]);
    let launched = client.request("launch", json!({"type": "java", "program": file, "vmArgs": ["-Xmx512m"]}));
    client.event("initialized");
    client.call("setBreakpoints", json!({"source": {"path": file}, "breakpoints": [{"line": 17}]}));
    client.call("configurationDone", json!({}));
    client.response(launched);
    let thread = client.event("stopped")["body"]["threadId"].clone();
    let stack = client.call("stackTrace", json!({"threadId": thread}));
    let frame = stack["body"]["stackFrames"][0]["id"].clone();
    for (name, count) in [("busy", 400_000), ("line", 399_999), ("fixed", 399_999)] {
        let opened = client.call("evaluate", json!({"expression": name, "frameId": frame}))["body"].clone();
        assert_eq!(opened["indexedVariables"], count, "{opened}");
        let reference = &opened["variablesReference"];
        let all = client.call("variables", json!({"variablesReference": reference}));
        let all = all["body"]["variables"].as_array().unwrap();
        assert_eq!(all.len(), 10_001, "{name}");
        assert_eq!(all[10_000]["value"], format!("{} more", count - 10_000), "{name}");
        let part = json!({"variablesReference": reference, "filter": "indexed", "start": 10_000, "count": 3});
        let part = client.call("variables", part);
        assert_eq!(part["body"]["variables"].as_array().unwrap().len(), 3, "{name}: {part}");
    }
    client.call("continue", json!({"threadId": thread}));
    client.allow(&["exited"]);
    client.event("terminated");
    place.part(client, Hub::Private);
}

/// It waits in a native method, above which there may be more of the library.
#[test]
fn a_step_over_from_a_pause_in_what_waits_ends_in_the_programs_own_line() {
    let Some(place) = place() else { return };
    for waiting in [
        "Thread.sleep(200);",
        "new java.util.concurrent.LinkedBlockingQueue<String>().poll(200, java.util.concurrent.TimeUnit.MILLISECONDS);",
    ] {
        let text = format!(
            "class Naps {{\n    static int naps;\n\n    static void nap() throws Exception {{\n        {waiting}\n        naps++;\n    }}\n\n    \
             public static void main(String[] args) throws Exception {{\n        System.out.println(\"naps\");\n        \
             while (naps >= 0) {{\n            nap();\n        }}\n    }}\n}}\n"
        );
        let file = place.write("Naps.java", &text);
        let mut client = place.editor(Hub::Private);
        client.allow(&["output", "capabilities", "process", "thread", "breakpoint", "continued"]);
        begin(&mut client, "launch", json!({"type": "java", "program": file}));
        client.output_containing("naps");
        let threads = client.call("threads", json!({}))["body"]["threads"].clone();
        let is_main = |thread: &&serde_json::Value| thread["name"] == "main";
        let thread =
            threads.as_array().unwrap().iter().find(is_main).expect("it has a main thread")["id"].clone();
        let paused = wait::until(wait::DEADLINE, || {
            client.call("pause", json!({"threadId": thread}));
            client.event("stopped");
            let stack = client.call("stackTrace", json!({"threadId": thread}));
            let frames = stack["body"]["stackFrames"].as_array().unwrap().clone();
            let waits =
                frames[0]["name"] != "Naps.nap" && frames.iter().any(|frame| frame["name"] == "Naps.nap");
            if waits && frames[0]["line"] == -1 {
                return Some(());
            }
            client.call("continue", json!({"threadId": thread}));
            None
        });
        paused.expect("it mostly waits");
        client.call("next", json!({"threadId": thread}));
        assert_eq!(client.event("stopped")["body"]["reason"], "step");
        let stack = client.call("stackTrace", json!({"threadId": thread}));
        let top = stack["body"]["stackFrames"][0].clone();
        assert!(
            top["name"] == "Naps.nap" && [5, 6].iter().any(|line| top["line"] == *line),
            "{waiting}: {stack}"
        );
        client.allow(&["exited", "terminated"]);
        client.call("disconnect", json!({"terminateDebuggee": true}));
        client.finish();
    }
    place.leave(Hub::Private);
}

#[test]
fn whatever_java_could_assign_can_be_set() {
    let Some(place) = place() else { return };
    place.write("Shelves.java", SHELVES);
    let commands = "set boxed = 40 + 2\nset part = 2.5\nset table[1][0] = 8\nset text = \"after\"\nset this.own = -7\nset shared = \
                    own\nset part = \"no number\"\nset nothing = 1\ncontinue\n";
    let told = place.run(".", &["--break", LAST, "Shelves.java"], commands);
    told.shows(&["[one, two] 42 2.5 8 after -7 -7"]);
    let said = format!("{}{}", told.out, told.errors);
    assert!(said.contains("does not fit into float"), "{told:?}");
    assert!(said.contains("there is no variable `nothing`"), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_question_is_seen_before_it_is_answered() {
    let Some(place) = place() else { return };
    let text = "class Asks {\n    public static void main(String[] args) throws java.io.IOException {\n        \
                System.out.print(\"name? \");\n        System.out.flush();\n        int first = System.in.read();\n        \
                System.out.println((char) first);\n    }\n}\n";
    place.write("Asks.java", text);
    let mut client = place.editor_that(Hub::Private, json!({"supportsBreakroomInput": true}));
    client.allow(&["output", "capabilities", "process", "thread", "breakpoint"]);
    let program = place.path("Asks.java");
    begin(&mut client, "launch", json!({"type": "java", "program": program}));
    client.output_containing("name? ");
    client.call("breakroom/input", json!({"text": "Ann\n"}));
    client.output_containing("A\n");
    client.allow(&["exited"]);
    client.event("terminated");
    place.part(client, Hub::Private);
}

/// The program's Java is replaced by a script that waits, so that what is there before it runs can be looked at.
#[test]
fn nobody_else_can_debug_the_program() {
    let Some(place) = place() else { return };
    let java = needs("java");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > words.new && mv words.new words\nuntil [ -e go ]; do sleep 0.02; done\nexec {} \"$@\"\n",
        java.display()
    );
    place.write_program("waits", &script);
    place.write("Own.java", "class Own {\n    public static void main(String[] args) {\n        System.out.println(\"ran\");\n    }\n}\n");
    let mut client = place.editor(Hub::Private);
    client.allow(&["output", "capabilities", "process", "thread", "breakpoint", "exited"]);
    let (program, folder) = (place.path("Own.java"), place.desk.sandbox.work());
    let arguments =
        json!({"type": "java", "program": program, "javaPath": place.path("waits"), "cwd": folder});
    let launch = client.request("launch", arguments);
    let words = wait::until(wait::DEADLINE, || std::fs::read_to_string(place.path("words")).ok());
    let words = words.expect("the program is started");
    let address = words.split_once("address=").expect("it is debugged").1.lines().next().unwrap();
    assert!(words.contains("server=n") && address.starts_with("127.0.0.1:"), "{words}");
    if strangers::can_be_played() {
        let said = strangers::says(address.parse().unwrap(), b"JDWP-Handshake", 3);
        assert_eq!(said, "", "another user is spoken to in the program's place");
    }
    place.write("go", "");
    client.event("initialized");
    client.call("configurationDone", json!({}));
    client.response(launch);
    client.output_containing("ran");
    client.event("terminated");
    place.part(client, Hub::Private);
}

#[test]
fn a_java_that_does_not_begin_is_told_at_once() {
    let Some(place) = place() else { return };
    let words = ["--launch", "vmArgs=\"-XX:NoSuchThing\"", FILE];
    let told = place.run(".", &words, "");
    let said = format!("{}{}", told.out, told.errors);
    assert!(said.contains("Java ended with exit code 1") && said.contains("NoSuchThing"), "{told:?}");
    place.leave(Hub::Private);
}

#[test]
fn a_folder_and_an_environment_are_the_programs() {
    let Some(place) = place() else { return };
    let text = "class Own {\n    public static void main(String[] args) {\n        System.out.println(System.getenv(\"WORD\") \
                + \" in \" + new java.io.File(\"\").getAbsoluteFile().getName());\n    }\n}\n";
    place.write("Own.java", text);
    std::fs::create_dir(place.path("below")).unwrap();
    let below = format!("cwd={:?}", place.text("below"));
    let words = ["--launch", below.as_str(), "--launch", "env={\"WORD\": \"said\"}", "Own.java"];
    place.run(".", &words, "continue\n").shows(&["said in below"]);
    place.leave(Hub::Private);
}

#[test]
fn a_machine_that_waits_for_a_debugger_is_at_its_entry_and_goes_on_from_there() {
    let Some(place) = place() else { return };
    let mut compiler = place.desk.sandbox.program(needs("javac"));
    compiler.args(["-g", "-d", "classes", "-sourcepath", "src/main/java", FILE]).current_dir(place.path("."));
    assert!(compiler.status().unwrap().success());
    let line = format!("{FILE}:17");
    for (words, commands, shown) in [
        (
            &["--break", line.as_str()][..],
            "continue\nprint sum\ncontinue\n",
            &["stopped: breakpoint at Main.java:17 in ", "sum = 42"][..],
        ),
        // Whoever names no line wants it to stop, and it does already.
        (&[], "step\ncontinue\n", &["stopped: step at Main.java:13 in "]),
    ] {
        let mut machine = place.desk.sandbox.program(needs("java"));
        // The machine chooses the port and says which.
        machine.arg("-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:0");
        machine.args(["-cp", "classes", "a.b.Main"]).current_dir(place.path(".")).stdout(Stdio::piped());
        let mut machine = machine.spawn().unwrap();
        let mut printed = BufReader::new(machine.stdout.take().unwrap());
        let mut machine = Bystander(machine);
        let mut listens = String::new();
        printed.read_line(&mut listens).unwrap();
        let address = format!("127.0.0.1:{}", listens.rsplit(':').next().unwrap().trim());
        let told = place.run(".", &[&["--attach", &address, "--type", "java"], words].concat(), commands);
        told.shows(&["stopped: entry"]);
        told.shows(shown);
        assert!(!told.out.contains("stopped too") && !told.errors.contains("error"), "{told:?}");
        let mut rest = String::new();
        printed.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "the sum is 42\n", "{told:?}");
        assert_eq!(machine.0.wait().unwrap().code(), Some(3), "{told:?}");
    }
    place.leave(Hub::Private);
}

#[test]
fn a_configuration_that_says_nothing_of_classes_is_built_like_its_file() {
    let Some(place) = place() else { return };
    let configurations = json!({"configurations": [
        {"name": "Main", "type": "java", "request": "launch", "mainClass": "a.b.Main", "projectName": "p_1"},
        {"name": "Current File", "type": "java", "request": "launch", "mainClass": "${file}"},
    ]});
    place.write(".vscode/launch.json", &configurations.to_string());
    for words in [&["-c", "Main"][..], &["-c", "Current File", FILE]] {
        let told = place.run(".", words, "continue\n");
        told.shows(&["stopped: entry at Main.java:13", "the sum is 42"]);
        assert_eq!(told.code, Some(3), "{told:?}");
    }
    place.leave(Hub::Private);
}
