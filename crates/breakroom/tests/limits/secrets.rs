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
    for said in &said {
        for part in PARTS {
            let at = said.find(part);
            let around = at.map(|at| said.chars().skip(at.saturating_sub(60)).take(160).collect::<String>());
            assert_eq!(around, None, "an answer shows `{part}`");
        }
    }
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
