//! Programs that wait are paused where they wait. debugpy's own adapter has nothing to compare with: there they never stop.

use std::path::Path;

use breakroom_testkit::adapters::skipped;
use serde_json::{Value, json};

use crate::Folder;
use crate::talk::{Talk, Which};

/// Where the program stands once it was paused: file and line of each frame that is shown.
fn paused(talk: &mut Talk) -> Vec<(String, i64)> {
    talk.call("pause", json!({"threadId": 1}));
    let stopped = talk.event("stopped");
    assert_eq!(stopped["body"]["reason"], "pause");
    let stack = talk.call("stackTrace", json!({"threadId": stopped["body"]["threadId"]}));
    let place = |frame: &Value| {
        let path = Path::new(frame["source"]["path"].as_str().unwrap());
        (path.file_name().unwrap().to_string_lossy().into_owned(), frame["line"].as_i64().unwrap())
    };
    stack["body"]["stackFrames"].as_array().unwrap().iter().map(place).collect()
}

#[test]
fn a_program_that_sleeps_or_serves_nobody_is_paused_where_it_waits_and_goes_on() {
    if skipped("debugpy") {
        return;
    }
    let server = "import socketserver\ndef main():\n    server = socketserver.TCPServer(('127.0.0.1', 0), None)\n    print('on', flush=True); server.serve_forever(1000)\nmain()\n";
    let thread = "import threading, time\nthread = threading.Thread(target=time.sleep, args=[1000], daemon=True)\nthread.start()\nprint('on', flush=True); thread.join()\n";
    let read = "import os\nask, answer = os.pipe()\nprint('on', flush=True); os.read(ask, 1)\n";
    // gevent does this: it is no thread's number any more.
    let moved = "import threading, time\nmain = threading.main_thread(); own = bytearray(b'\\1') * 4096; old = main.ident\nmain._ident = id(own); threading._active[main._ident] = threading._active.pop(old)\nprint('on', flush=True); time.sleep(1000)\n";
    for (text, place) in [
        ("import time\nprint('on', flush=True); time.sleep(1000)\n", &[2][..]),
        (moved, &[4]),
        (server, &[4, 5]),
        (thread, &[4]),
        (read, &[3]),
    ] {
        let (_folder, file) = Folder::with("t.py", text);
        let mut talk = Talk::with(&Which::Ours);
        talk.initialize();
        talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
        talk.output("on");
        let place: Vec<_> = place.iter().map(|line| ("t.py".to_owned(), *line)).collect();
        for _ in 0..2 {
            assert_eq!(paused(&mut talk), place, "{text}");
            talk.call("continue", json!({"threadId": 1}));
        }
        talk.call("terminate", json!({}));
        talk.ended();
    }
}

/// The program sleeps on for as long as it wanted to, and a step ends at its next line.
#[test]
fn a_step_out_of_a_pause_in_a_sleep_ends_behind_it() {
    if skipped("debugpy") {
        return;
    }
    let text = "import time\nprint('on', flush=True)\nwhile True:\n    start = time.monotonic()\n    time.sleep(3)\n    slept = time.monotonic() - start\n    del start\n";
    let (_folder, file) = Folder::with("t.py", text);
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
    talk.output("on");
    // One that comes between two sleeps stops there.
    let mut pauses = 0;
    while paused(&mut talk) != [("t.py".to_owned(), 5)] {
        pauses += 1;
        assert!(pauses < 10, "it is never paused where it sleeps");
        talk.call("continue", json!({"threadId": 1}));
    }
    talk.call("next", json!({"threadId": 1}));
    let thread = talk.stopped();
    let stack = talk.call("stackTrace", json!({"threadId": thread}));
    assert_eq!(stack["body"]["stackFrames"][0]["line"], 6, "{stack}");
    talk.call("next", json!({"threadId": 1}));
    let thread = talk.stopped();
    let frame = talk.frame(&thread);
    let slept = talk.call("evaluate", json!({"expression": "slept >= 3", "frameId": frame}));
    assert_eq!(slept["body"]["result"], "True", "{slept}");
    talk.call("terminate", json!({}));
    talk.ended();
}

#[test]
fn a_program_that_waits_in_libraries_only_has_a_line_to_stop_at() {
    if skipped("debugpy") {
        return;
    }
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    let launch =
        json!({"module": "http.server", "args": ["--bind", "127.0.0.1", "0"], "console": "internalConsole"});
    talk.start("launch", launch, |_| {});
    talk.output("Serving");
    assert_eq!(paused(&mut talk), [("idle".to_owned(), 1)]);
    talk.call("continue", json!({"threadId": 1}));
    talk.call("terminate", json!({}));
    talk.ended();
}

/// What a program says of a signal is left to it: then it stops at its next line, as ever.
#[test]
fn a_program_with_a_handler_of_its_own_is_not_disturbed() {
    if skipped("debugpy") {
        return;
    }
    let text = "import signal, time\nsignal.signal(signal.SIGURG, lambda *_: print('urgent', flush=True))\nprint('on', flush=True)\nwhile True:\n    time.sleep(2)\n    x = 1\n";
    let (_folder, file) = Folder::with("t.py", text);
    let mut talk = Talk::with(&Which::Ours);
    talk.initialize();
    talk.start("launch", json!({"program": file, "console": "internalConsole"}), |_| {});
    talk.output("on");
    talk.call("pause", json!({"threadId": 1}));
    talk.stopped();
    talk.call("terminate", json!({}));
    talk.ended();
    assert_eq!(crate::talk::output(&talk.heard, "stdout").trim(), "on");
}
