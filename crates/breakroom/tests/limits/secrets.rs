//! What the environment holds in confidence is in no answer, whole or in part, unless whoever runs the door wants it.

use breakroom_testkit::mcp::Reply;
use breakroom_testkit::{Mcp, adapters};
use serde_json::{Value, json};

use crate::support::office::{LONGEST_WAIT, Office};
use crate::support::rig::Rig;

const OF_THE_DOOR: &str = "ghp_doorDoorDoor0123";
const OF_THE_START: &str = "sk-startStart456789";
const OF_SEVERAL_LINES: &str = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----";
/// Parts that no other text has: half a secret is one too.
const PARTS: [&str; 6] = ["ghp_door", "DoorDoor0", "sk-start", "Start456", "MIIEvQIB", "ADANBgkq"];

const LEAKY: &str = r#"import os
token = os.environ['GITHUB_TOKEN']
secret = os.environ['APP_SECRET']
key = os.environ['SIGNING_PRIVATE_KEY']
everything = dict(os.environ)
keyed = {'k' * at + token: at for at in range(0, 60)}
padded = ['x' * at + token + secret for at in range(120, 170)]
print(token, secret, key)
for at in range(200):
    print('y' * at + token + secret)
class Told(Exception):
    pass
def tell():
    note = 'z' * 150 + secret
    raise Told('z' * 390 + secret + token)
tell()
"#;

fn office(arguments: &[&str]) -> Office {
    let rig = Rig::new();
    let mut command = rig.sandbox.command(["mcp"].iter().chain(arguments));
    command.current_dir(rig.sandbox.work()).env("GITHUB_TOKEN", OF_THE_DOOR);
    let agent = Mcp::spawn(command);
    agent.initialize();
    Office { rig, agent }
}

fn start(office: &Office) -> Reply {
    let program = office.write("leaky.py", LEAKY);
    let env = json!({"APP_SECRET": OF_THE_START, "SIGNING_PRIVATE_KEY": OF_SEVERAL_LINES});
    let start = json!({
        "program": program, "env": env, "exceptions": ["raised"], "breakpoints": [{"text": "tell()", "line": 16}],
        "wait_ms": LONGEST_WAIT,
    });
    office.paused(office.ok("debugger_start", start))
}

/// Everything that could show them, at several budgets so that they are cut at many places.
fn look(office: &Office, session: &str) -> Vec<String> {
    let mut said = Vec::new();
    for tokens in [100, 333, 1_000, 2_000, 7_777, 20_000] {
        for (tool, mut arguments) in [
            ("debugger_inspect", json!({})),
            ("debugger_inspect", json!({"what": "variables"})),
            ("debugger_inspect", json!({"what": "globals"})),
            ("debugger_inspect", json!({"variable": "padded"})),
            ("debugger_inspect", json!({"variable": "key"})),
            ("debugger_inspect", json!({"variable": "keyed"})),
            ("debugger_inspect", json!({"what": "output"})),
            ("debugger_evaluate", json!({"expression": "everything"})),
            ("debugger_evaluate", json!({"expression": "key"})),
            ("debugger_evaluate", json!({"expression": "''.join(padded)"})),
            ("debugger_evaluate", json!({"expressions": ["token", "secret", "key", "padded"]})),
            ("debugger_evaluate", json!({"expression": "{}[secret + token]"})),
            ("debugger_evaluate", json!({"expression": "print(padded)", "context": "repl"})),
            ("debugger_script", json!({"steps": [{"tool": "evaluate", "expressions": ["padded", "key"]}]})),
        ] {
            arguments["max_tokens"] = tokens.into();
            arguments["session_id"] = session.into();
            let reply = office.call(tool, arguments);
            let mut cursor = reply.data["cursor"].clone();
            said.push(format!("{}{}", reply.text, reply.data));
            while let Some(name) = cursor.as_str() {
                let rest = json!({"session_id": session, "cursor": name, "max_tokens": tokens});
                let rest = office.call("debugger_inspect", rest);
                cursor = rest.data["cursor"].clone();
                said.push(format!("{}{}", rest.text, rest.data));
            }
        }
        // The output again, from its beginning, in parts that end anywhere.
        let mut cursor = json!(0);
        loop {
            let part =
                json!({"session_id": session, "what": "output", "cursor": cursor, "max_tokens": tokens});
            let part = office.ok("debugger_inspect", part);
            said.push(format!("{}{}", part.text, part.data));
            cursor = part.data["cursor"].clone();
            if part.data["left"] == 0 {
                break;
            }
        }
    }
    for what in ["state", "output"] {
        let uri = format!("debugger://sessions/{session}/{what}");
        said.push(office.agent.request("resources/read", json!({"uri": uri})).to_string());
    }
    said
}

fn nothing_is_shown(said: &[String]) {
    for said in said {
        for part in PARTS {
            let at = said.find(part);
            let around = at.map(|at| said.chars().skip(at.saturating_sub(60)).take(160).collect::<String>());
            assert_eq!(around, None, "an answer shows `{part}`");
        }
    }
}

#[test]
fn no_answer_shows_a_secret_of_the_environment_or_a_part_of_one() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = office(&[]);
    let stop = start(&office);
    let id = stop.session();
    let mut said = vec![format!("{}{}", stop.text, stop.data)];
    said.extend(look(&office, &id));
    // The exception has them in its words.
    let raised = office.paused(office.ok("debugger_continue", json!({"wait_ms": LONGEST_WAIT})));
    assert_eq!(raised.data["reason"], "exception", "{raised:?}");
    said.push(format!("{}{}", raised.text, raised.data));
    said.extend(look(&office, &id));
    let missing = json!({"program": format!("/no/{OF_THE_START}"), "env": {"APP_SECRET": OF_THE_START}});
    let missing = office.call("debugger_start", missing);
    said.push(format!("{}{}", missing.text, missing.data));
    nothing_is_shown(&said);
    assert!(said.iter().any(|said| said.contains("[GITHUB_TOKEN redacted]")));
    assert!(said.iter().any(|said| said.contains("[APP_SECRET redacted]")));
    office.ok("debugger_stop", json!({"session_id": id}));
    office.close();
}

#[test]
fn they_are_shown_to_whoever_asks_for_that() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = office(&["--show-secrets"]);
    let stop = start(&office);
    for (expression, value) in [("token", OF_THE_DOOR), ("secret", OF_THE_START)] {
        let reply = office.ok("debugger_evaluate", json!({"expression": expression}));
        assert_eq!(reply.data["result"], Value::from(format!("'{value}'")));
    }
    let output = json!({"what": "output", "session_id": stop.session(), "cursor": 0});
    let output = office.ok("debugger_inspect", output);
    assert!(output.text.contains(OF_THE_DOOR) && output.text.contains(OF_SEVERAL_LINES), "{output:?}");
    office.ok("debugger_stop", json!({}));
    office.close();
}

#[test]
fn what_an_editors_configuration_gives_the_program_is_hidden_too() {
    for (adapter, kind, name, text, token, secret) in [
        (
            "debugpy",
            "debugpy",
            "configured.py",
            "import os\nprint([item for item in os.environ.items() if item[0] in ('APP_SECRET', 'GITHUB_TOKEN')])\nos.getpid()\n",
            "os.environ['GITHUB_TOKEN']",
            "os.environ['APP_SECRET'] * 3",
        ),
        (
            "rdbg",
            "rdbg",
            "configured.rb",
            "puts ENV.slice('APP_SECRET', 'GITHUB_TOKEN')\nputs 1\nputs 2\n",
            "ENV['GITHUB_TOKEN']",
            "ENV['APP_SECRET'] * 3",
        ),
    ] {
        if adapters::skipped(adapter) {
            continue;
        }
        let office = Office::new();
        office.write(".env", &format!("GITHUB_TOKEN={OF_THE_DOOR}\n"));
        let program = office.write(name, text);
        std::fs::create_dir_all(office.rig.sandbox.work().join(".vscode")).unwrap();
        let launch = json!({"configurations": [{
            "name": "it", "type": kind, "request": "launch", "program": program,
            "env": {"APP_SECRET": OF_THE_START}, "envFile": "${workspaceFolder}/.env",
        }]});
        office.write(".vscode/launch.json", &launch.to_string());
        let start = json!({
            "configuration": "it", "wait_ms": LONGEST_WAIT, "breakpoints": [{"file": program, "line": 3}],
        });
        let stop = office.paused(office.ok("debugger_start", start));
        let mut said = vec![format!("{}{}", stop.text, stop.data)];
        for (expression, variable) in [(token, "GITHUB_TOKEN"), (secret, "APP_SECRET")] {
            let reply = office.ok("debugger_evaluate", json!({"expression": expression}));
            assert!(reply.text.contains(&format!("[{variable} redacted]")), "{adapter}: {reply:?}");
            said.push(format!("{}{}", reply.text, reply.data));
        }
        let output = office.ok("debugger_inspect", json!({"what": "output", "cursor": 0}));
        assert!(output.text.contains("[APP_SECRET redacted]"), "{adapter}: {output:?}");
        said.push(format!("{}{}", output.text, output.data));
        nothing_is_shown(&said);
        office.ok("debugger_stop", json!({}));
        office.close();
    }
}

#[test]
fn the_secrets_of_a_session_that_somebody_else_began_are_hidden_too() {
    if adapters::skipped("debugpy") {
        return;
    }
    let office = office(&[]);
    let stop = start(&office);
    // Another agent, in whose environment none of them is.
    let other = Mcp::new(&office.rig.sandbox);
    let joined = other.ok("debugger_attach", json!({"session_id": stop.session(), "wait_ms": LONGEST_WAIT}));
    let mut said = vec![format!("{}{}", joined.text, joined.data)];
    for (expression, variable) in
        [("token", "GITHUB_TOKEN"), ("secret", "APP_SECRET"), ("padded", "APP_SECRET")]
    {
        let reply = other.ok("debugger_evaluate", json!({"expression": expression}));
        assert!(reply.text.contains(&format!("[{variable} redacted]")), "{reply:?}");
        said.push(format!("{}{}", reply.text, reply.data));
    }
    nothing_is_shown(&said);
    assert!(other.finish().success());
    office.ok("debugger_stop", json!({}));
    office.close();
}

/// Everything in it is written otherwise in some language, in quotes or in what holds it.
const IN_QUOTES: &str = "Kä\"q7Z'x\\w4V#{tt5";
const PARTS_IN_QUOTES: [&str; 3] = ["q7Z", "w4V", "tt5"];

/// Programs that hold it in several ways, and print them.
const WRITTEN: [(&str, &str, &str); 4] = [
    (
        "debugpy",
        "written.py",
        "import json, os\nplain = os.environ['APP_SECRET']\nheld = {'a': plain, 'b': [plain]}\n\
         again = json.dumps(held)\ntwice = [again]\nother = plain.encode()\n\
         print(plain, held, again, twice, other)\nos.getpid()  # HERE\n",
    ),
    (
        "js-debug",
        "written.js",
        "const plain = process.env.APP_SECRET;\nconst held = {a: plain, b: [plain]};\n\
         const again = JSON.stringify(held);\nconst twice = [again];\nconst other = {at: 'x'.repeat(60) + plain};\n\
         console.log(plain, held, again, twice, other);\nprocess.pid; // HERE\n",
    ),
    (
        "rdbg",
        "written.rb",
        "require 'json'\nplain = ENV['APP_SECRET']\nheld = {a: plain, b: [plain]}\n\
         again = held.to_json\ntwice = [again]\nother = plain.bytes.pack('c*')\n\
         puts plain, held, again, twice.inspect, other\nputs 1 # HERE\n",
    ),
    (
        "perl",
        "written.pl",
        "my $plain = $ENV{APP_SECRET};\nmy $held = {a => $plain, b => [$plain]};\nmy $again = \"'$plain'\";\n\
         my $twice = [$again];\nmy $other = $held->{a};\nprint \"$plain $again\\n\";\nprint 1; # HERE\n",
    ),
];

#[test]
fn a_secret_is_hidden_however_its_language_writes_it() {
    for (adapter, name, text) in WRITTEN {
        if adapters::skipped(adapter) {
            continue;
        }
        let office = Office::new();
        let program = office.write(name, text);
        let start = json!({
            "program": program, "env": {"APP_SECRET": IN_QUOTES}, "wait_ms": LONGEST_WAIT,
            "breakpoints": [{"text": "HERE"}],
        });
        let stop = office.paused(office.ok("debugger_start", start));
        let mut said = vec![stop];
        let sigil = if adapter == "perl" { "$" } else { "" };
        for variable in ["plain", "held", "again", "twice", "other"] {
            let expression = format!("{sigil}{variable}");
            let value = office.ok("debugger_evaluate", json!({"expression": expression}));
            assert!(value.text.contains("[APP_SECRET redacted]"), "{adapter}: {value:?}");
            said.push(value);
        }
        said.push(office.ok("debugger_inspect", json!({"what": "variables"})));
        said.push(office.ok("debugger_inspect", json!({"what": "output", "cursor": 0})));
        for reply in said {
            let whole = format!("{}{}", reply.text, reply.data);
            let shown = PARTS_IN_QUOTES.iter().find(|part| whole.contains(**part));
            assert_eq!(shown, None, "{adapter}: {}", reply.text);
        }
        office.ok("debugger_stop", json!({}));
        office.close();
    }
}

#[test]
fn the_secrets_of_a_process_that_is_attached_to_are_hidden_too() {
    if adapters::skipped("lldb") {
        return;
    }
    let office = Office::new();
    let source = "#include <stdlib.h>\n#include <unistd.h>\nint main() {\n  char *secret = getenv(\"APP_SECRET\");\n  for (;;) usleep(1000);\n  return secret[0];\n}\n";
    let (program, file) = office.build_c("waits", source);
    let mut process = std::process::Command::new(program).env("APP_SECRET", OF_THE_START).spawn().unwrap();
    let attach =
        json!({"pid": process.id(), "wait_ms": LONGEST_WAIT, "breakpoints": [{"file": file, "line": 5}]});
    let attached = office.paused(office.ok("debugger_attach", attach));
    let reply = office.ok("debugger_evaluate", json!({"expression": "secret"}));
    assert!(reply.text.contains("[APP_SECRET redacted]"), "{reply:?}");
    nothing_is_shown(&[
        format!("{}{}", attached.text, attached.data),
        format!("{}{}", reply.text, reply.data),
    ]);
    office.ok("debugger_stop", json!({}));
    process.kill().unwrap();
    process.wait().unwrap();
    office.close();
}
