//! A compound of an editor's: several programs, in different languages, as one session.

use breakroom_testkit::adapters;

use crate::Place;
use crate::support::editor::Hub;

const LAUNCH: &str = r#"{
    "configurations": [
        {"name": "scripted", "type": "python", "request": "launch", "program": "${workspaceFolder}/t.py"},
        {"name": "compiled", "type": "lldb", "request": "launch", "program": "${workspaceFolder}/t.c"},
    ],
    "compounds": [{"name": "both", "configurations": ["scripted", "compiled"]}],
}"#;

#[test]
fn a_compound_of_two_languages_is_one_session_that_lasts_as_long_as_its_programs() {
    if adapters::skipped("lldb") || adapters::debugpy().is_none() {
        return;
    }
    let place = Place::new();
    // Python's debugger is where the tests' adapters are.
    let adapters = place.desk.sandbox.path("cache").join("breakroom");
    std::fs::create_dir_all(&adapters).unwrap();
    std::os::unix::fs::symlink(adapters::folder(), adapters.join("adapters")).unwrap();
    place.write(".vscode/launch.json", LAUNCH);
    place.write("t.py", "name = 'python'\nprint('from', name)\n");
    place.write("t.c", "#include <stdio.h>\nint main(void) {\n    int number = 42;\n    printf(\"from C %d\\n\", number);\n    return 0;\n}\n");
    let words = ["-c", "both", "--break", "t.py:2", "--break", "t.c:4"];
    let told = place.run(".", &words, "threads\ncontinue\nthreads\ncontinue\ncontinue\n");
    told.shows(&["stopped: breakpoint at t.py:2", "stopped: breakpoint at t.c:4", "number = 42"]);
    told.shows(&["[scripted]", "[compiled]", "from python", "from C 42", "the program ended"]);
    place.leave(Hub::Private);
}
