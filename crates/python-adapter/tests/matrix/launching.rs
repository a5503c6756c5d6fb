//! The arguments of `launch`.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::talk::{Talk, Which, debugpy, output};
use crate::{Folder, same};

/// A program that runs to its end by itself.
fn runs(mut talk: Talk, launch: Value) -> Vec<Vec<Value>> {
    talk.initialize();
    talk.start("launch", launch, |_| {});
    talk.ended();
    vec![std::mem::take(&mut talk.heard)]
}

const TELLS: &str = "\
import os, sys
print(sys.argv[1:], os.getcwd(), os.environ.get('ADDED'), os.environ.get('LANG'), sys.flags.optimize, __name__)
print(os.environ.get('GEVENT_SUPPORT'), os.environ.get('PYTHONUNBUFFERED'), sys.stdin.read())
";

#[test]
fn programs_modules_and_code_run_the_same() {
    let (folder, file) = Folder::with("tells.py", TELLS);
    let path = folder.path().canonicalize().unwrap();
    let env = json!({"ADDED": "yes", "LANG": null});
    all_run_the_same([
        json!({"program": file, "console": "internalConsole", "args": ["a b", "\"c\""], "env": env}),
        json!({"program": file, "cwd": "/", "pythonArgs": ["-O"]}),
        json!({"module": "tells", "cwd": path, "args": ["x"], "console": "internalConsole"}),
        json!({"code": ["import os", "print(os.getcwd(), 'code')"], "cwd": path, "console": "internalConsole"}),
    ]);
}

#[test]
fn programs_with_options_of_the_debugger_run_the_same() {
    let (folder, file) = Folder::with("tells.py", TELLS);
    let path = folder.path().canonicalize().unwrap();
    all_run_the_same([
        json!({"program": "tells.py", "cwd": path, "redirectOutput": true, "python": ["python3", "-O"]}),
        json!({"program": file, "redirectOutput": false, "console": "internalConsole"}),
        json!({"program": file, "debugOptions": ["RedirectOutput"], "subProcess": false, "qt": "auto"}),
        json!({"program": file, "debugOptions": ["ShowReturnValue", "DebugStdLib"], "noDebug": false, "rules": []}),
    ]);
}

fn all_run_the_same(launches: [Value; 4]) {
    for launch in launches {
        if !same(|talk| runs(talk, launch.clone())) {
            return;
        }
    }
}

#[test]
fn entry_stops_and_steps_into_libraries_are_the_same() {
    let text = "import json\nprint(json.dumps([1]))\nx = 1\nprint(x)\n";
    let (_folder, file) = Folder::with("t.py", text);
    for just_my_code in [true, false] {
        same(|mut talk: Talk| {
            talk.initialize();
            let launch = json!({
                "program": file, "console": "internalConsole", "stopOnEntry": true, "justMyCode": just_my_code,
                "showReturnValue": true, "steppingResumesAllThreads": false,
                "variablePresentation": {"special": "hide", "function": "inline"},
                "pathMappings": [{"localRoot": "/elsewhere", "remoteRoot": "/nowhere"}],
            });
            talk.start("launch", launch, |_| {});
            let thread = talk.stopped();
            for step in ["next", "stepIn"] {
                talk.call(step, json!({"threadId": thread}));
                talk.stopped();
                talk.frame(&thread);
            }
            talk.call("continue", json!({"threadId": thread}));
            talk.ended();
            vec![std::mem::take(&mut talk.heard)]
        });
    }
}

#[test]
fn without_a_debugger_a_program_just_runs() {
    let (_folder, file) = Folder::with("t.py", "import sys\nprint('x')\nsys.exit(4)\n");
    same(|mut talk: Talk| {
        talk.initialize();
        let launch =
            talk.call("launch", json!({"program": file, "console": "internalConsole", "noDebug": true}));
        assert_eq!(launch["success"], true);
        talk.ended();
        vec![std::mem::take(&mut talk.heard)]
    });
}

#[test]
fn arguments_that_make_no_sense_are_refused_by_both() {
    let (_folder, file) = Folder::with("t.py", "print('x')\n");
    same(|mut talk: Talk| {
        talk.call("launch", json!({"program": file}));
        talk.initialize();
        for bad in [
            json!({}),
            json!({"program": file, "module": "m"}),
            json!({"program": 5}),
            json!({"program": file, "args": "a b"}),
            json!({"program": file, "python": "a", "pythonPath": "b"}),
            json!({"program": file, "console": "tv"}),
            json!({"program": file, "noDebug": 1}),
            json!({"program": file, "redirectOutput": false, "debugOptions": ["RedirectOutput"], "sudo": 5}),
            json!({"program": file, "console": "integratedTerminal"}),
        ] {
            let answer = talk.call("launch", bad.clone());
            assert_eq!(answer["success"], false, "{bad}");
        }
        talk.call("configurationDone", json!({}));
        talk.call("attach", json!({"processId": 1, "subProcessId": 2}));
        talk.call("disconnect", json!({}));
        vec![std::mem::take(&mut talk.heard)]
    });
}

/// Plays the client's terminal.
fn in_terminal(mut talk: Talk, launch: Value) -> Vec<Vec<Value>> {
    talk.initialize_with(
        json!({"supportsRunInTerminalRequest": true, "supportsArgsCanBeInterpretedByShell": true}),
    );
    let start = talk.send("launch", launch);
    let asked = talk.event("runInTerminal");
    let words: Vec<&str> =
        asked["arguments"]["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut command = match asked["arguments"]["argsCanBeInterpretedByShell"] == true {
        true => {
            let mut command = Command::new("sh");
            command.args(["-c", &words.join(" ")]);
            command
        }
        false => {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]);
            command
        }
    };
    command.current_dir(asked["arguments"]["cwd"].as_str().unwrap());
    let mut terminal = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    talk.answer(&asked, true);
    talk.event("initialized");
    talk.call("configurationDone", Value::Null);
    talk.response(start);
    talk.ended();
    terminal.wait().unwrap();
    let mut heard = std::mem::take(&mut talk.heard);
    for message in heard.iter_mut().filter(|message| message["command"] == "runInTerminal") {
        // How Python and debugpy were found, and the port.
        for (at, what) in ["PYTHON", "LAUNCHER", "PORT"].into_iter().enumerate() {
            message["arguments"]["args"][at] = json!(what);
        }
    }
    vec![heard]
}

#[test]
fn programs_in_terminals_are_the_same() {
    let (_folder, file) = Folder::with("t.py", "import sys\nprint(sys.argv[1:])\nsys.exit(2)\n");
    for launch in [
        json!({"program": file, "console": "integratedTerminal", "args": ["a b"], "consoleTitle": "mine"}),
        json!({"program": file, "console": "externalTerminal", "args": "$HOME *", "redirectOutput": true}),
        json!({"program": file, "console": "integratedTerminal", "noDebug": false, "waitOnNormalExit": true}),
    ] {
        if !same(|talk| in_terminal(talk, launch.clone())) {
            return;
        }
    }
}

#[test]
fn a_launcher_that_is_named_is_used_without_a_terminal_too() {
    let (_folder, file) = Folder::with("t.py", "print('by the launcher')\n");
    let launcher = debugpy().join("launcher");
    same(|talk| {
        runs(talk, json!({"program": file, "console": "internalConsole", "debugLauncherPath": launcher}))
    });
}

#[test]
fn a_terminal_that_the_client_cannot_open_fails_the_launch_at_once() {
    let (_folder, file) = Folder::with("t.py", "print('x')\n");
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize_with(json!({"supportsRunInTerminalRequest": true}));
    let start = talk.send("launch", json!({"program": file, "console": "integratedTerminal"}));
    let asked = talk.event("runInTerminal");
    talk.answer(&asked, false);
    let answer = talk.response(start);
    assert_eq!(answer["success"], false);
    assert!(answer["message"].as_str().unwrap().contains("in a terminal: no"), "{answer}");
    talk.call("disconnect", json!({}));
}

#[test]
fn a_python_that_does_not_start_fails_the_launch_at_once_and_says_why() {
    let (_folder, file) = Folder::with("t.py", "print('x')\n");
    for (more, part) in [
        (json!({"python": "no-such-python"}), "`no-such-python` cannot be started"),
        (json!({"pythonArgs": ["--no-such-option"]}), "before its debugger connected"),
        (json!({"cwd": "/no/such/folder"}), "/no/such/folder"),
    ] {
        let mut talk = Talk::with(&Which::Ours);
        talk.initialize();
        let mut launch = json!({"program": file, "console": "internalConsole"});
        launch.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = talk.call("launch", launch);
        assert!(answer["message"].as_str().unwrap().contains(part), "{answer}");
        // Another try is as good as the first.
        talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
        talk.ended();
        assert_eq!(output(&talk.heard, "stdout"), "x\n");
    }
}

#[test]
fn an_adapter_that_the_launch_names_serves_it_instead_of_ours() {
    let (_folder, file) = Folder::with("t.py", "print('by the other')\n");
    let adapter = debugpy().join("adapter");
    same(|mut talk| {
        talk.initialize();
        let launch = json!({"program": file, "console": "internalConsole", "debugAdapterPath": adapter});
        talk.start("launch", launch, |talk| {
            talk.breakpoints(&file, json!([{"line": 1}]));
        });
        let thread = talk.stopped();
        talk.call("continue", json!({"threadId": thread}));
        talk.ended();
        vec![std::mem::take(&mut talk.heard)]
    });
}

/// A client that cannot give any has its program find the end at once, as with debugpy's adapter.
#[test]
fn a_program_reads_what_its_client_gives_it() {
    let text = "import sys\nname = input('name? ')\nprint('hello', name)\nprint(len(sys.stdin.read()))\n";
    let (_folder, file) = Folder::with("t.py", text);
    let launch = json!({"program": file, "console": "internalConsole"});
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize_with(json!({"supportsBreakroomInput": true}));
    talk.start("launch", launch.clone(), |_| {});
    assert_eq!(talk.call("breakroom/input", json!({"text": "Ann\n"}))["success"], true);
    assert_eq!(talk.call("breakroom/input", json!({}))["success"], false);
    assert_eq!(talk.call("breakroom/input", json!({"text": "abc", "end": true}))["success"], true);
    assert_eq!(talk.call("breakroom/input", json!({"text": "x"}))["success"], false);
    talk.ended();
    assert_eq!(output(&talk.heard, "stdout"), "name? hello Ann\n3\n");

    let mut other = Talk::with(&Which::Ours);
    other.initialize();
    other.start("launch", launch, |_| {});
    other.ended();
    assert!(output(&other.heard, "stderr").contains("EOFError"));
}

#[test]
fn a_traceback_shows_the_programs_frames_only() {
    let (_folder, file) = Folder::with("t.py", "def f():\n    raise ValueError('boom')\nf()\n");
    let folder = file.parent().unwrap();
    let code = "import sys; sys.path.insert(0, '.'); import t";
    for (launch, first) in [
        (json!({"program": file}), format!("  File \"{}\", line 3, in <module>", file.display())),
        (
            json!({"module": "t", "cwd": folder}),
            format!("  File \"{}\", line 3, in <module>", file.display()),
        ),
        (json!({"code": code, "cwd": folder}), "  File \"<string>\", line 1, in <module>".to_owned()),
    ] {
        let mut talk = Talk::with(&Which::Ours);
        talk.initialize();
        let mut launch = launch;
        launch["console"] = json!("internalConsole");
        talk.start("launch", launch.clone(), |_| {});
        talk.ended();
        let printed = output(&talk.heard, "stderr");
        let mut lines = printed.lines().skip_while(|line| !line.starts_with("Traceback"));
        assert_eq!(lines.nth(1), Some(first.as_str()), "{launch}: {printed}");
        assert!(
            printed.ends_with("ValueError: boom\n") && !printed.contains("debugpy"),
            "{launch}: {printed}"
        );
    }
}

#[test]
fn a_port_that_the_network_could_reach_is_refused() {
    let (_folder, file) = Folder::with("t.py", "print('x')\n");
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    let launch = json!({"program": file, "console": "internalConsole", "debugAdapterHost": "0.0.0.0"});
    let answer = talk.call("launch", launch);
    assert!(answer["message"].as_str().unwrap().contains("use 127.0.0.1"), "{answer}");
    talk.call("disconnect", json!({}));
}
