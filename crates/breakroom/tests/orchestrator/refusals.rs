//! Everything that keeps a run from starting: the environment, the file, the certificate, and what the IDE refuses.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::rig::Rig;
use crate::support::scripted_ide::{Running, ScriptedIde, info};

fn body() -> Value {
    json!({"launch_configurations": [{"type": "python"}]})
}

/// Asserts a failure with each of these parts on stderr, and nothing on stdout.
fn fails(run: Running, parts: &[&str]) {
    let (status, lines, stderr) = run.finish();
    assert_eq!((status.code(), lines), (Some(1), Vec::new()), "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "no {part:?} in: {stderr}");
    }
}

#[test]
fn missing_variable_is_named_with_who_sets_it() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|_| {});
    for name in ["DEBUG_SESSION_PORT", "DEBUG_SESSION_TOKEN"] {
        let run = ide.run_with(&rig, &body(), |command| {
            command.env_remove(name);
        });
        fails(run, &[name, "is not set", "breakroom ide"]);
    }
}

#[test]
fn file_that_is_no_run_session_is_refused_before_the_ide_is_asked() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|_| {});
    for (text, part) in [
        ("[]", "must be a JSON object"),
        ("{", "not valid JSON"),
        (r#"{"debug_session_id": "x"}"#, "debug_session_id"),
        (r#"{"debug_bridge_socket_path": "/s"}"#, "debug_bridge_socket_path"),
    ] {
        let file = rig.sandbox.work().join("bad.json");
        std::fs::write(&file, text).unwrap();
        fails(Running::start(ide.command(&rig, ["bridge".into(), "run".into(), file])), &[part, "bad.json"]);
    }
    let missing = ide.command(&rig, ["bridge", "run", "/no/such/file"].map(PathBuf::from));
    fails(Running::start(missing), &["cannot read", "/no/such/file"]);
}

#[test]
fn run_session_is_read_from_stdin() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| script.info = info(&["2025-10-01"]));
    let mut command = ide.command(&rig, ["bridge", "run", "-"].map(PathBuf::from));
    let (reader, mut writer) = std::io::pipe().unwrap();
    command.stdin(Stdio::from(reader));
    let run = Running::start(command);
    write!(writer, "{}", body()).unwrap();
    drop(writer);
    assert_eq!(ide.started().body, body());
    ide.notify(&json!({"notification_type": "sessionTerminated", "session_id": "run-1", "exit_code": 0}));
    assert!(run.finish().0.success());
}

#[test]
fn r1_other_certificate_is_not_trusted() {
    let rig = Rig::new();
    let (ide, other) = (ScriptedIde::start(|_| {}), ScriptedIde::start(|_| {}));
    let run = ide.run_with(&rig, &body(), |command| {
        command.env("DEBUG_SESSION_SERVER_CERTIFICATE", &other.certificate);
    });
    fails(run, &["no TLS connection", "DEBUG_SESSION_SERVER_CERTIFICATE"]);
}

#[test]
fn r1_certificate_that_cannot_be_decoded_is_an_error_and_not_plain_http() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| script.has_tls = false);
    for certificate in ["no base64!", "AAAA"] {
        let run = ide.run_with(&rig, &body(), |command| {
            command.env("DEBUG_SESSION_SERVER_CERTIFICATE", certificate);
        });
        fails(run, &["DEBUG_SESSION_SERVER_CERTIFICATE"]);
    }
}

#[test]
fn r1_without_a_certificate_plain_http_is_spoken() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| {
        script.has_tls = false;
        script.info = info(&["2025-10-01"]);
    });
    let run = ide.run(&rig, &body());
    ide.started();
    ide.notify(&json!({"notification_type": "sessionTerminated", "session_id": "run-1", "exit_code": 2}));
    assert_eq!(run.finish().0.code(), Some(2));
}

#[test]
fn r4_ide_that_refuses_info_or_has_no_common_version_ends_the_run() {
    let rig = Rig::new();
    let refusal = json!({"error": {"code": "InvalidToken", "message": "no"}}).to_string();
    for (answer, parts) in [
        (info(&["2031-01-01", "1.0"]), &["no version", "2031-01-01, 1.0", "2024-03-03"][..]),
        (info(&[]), &["no version", "none"]),
        ((401, refusal), &["GET /info", "401", "\nInvalidToken: no"]),
        ((200, "<html>".to_owned()), &["GET /info"]),
    ] {
        let ide = ScriptedIde::start(|script| script.info = answer);
        fails(ide.run(&rig, &body()), parts);
    }
}

#[test]
fn ide_that_is_not_there_is_named_with_its_address() {
    let rig = Rig::new();
    let mut ide = ScriptedIde::start(|_| {});
    ide.stop();
    fails(ide.run(&rig, &body()), &["no IDE can be reached", &format!("localhost:{}", ide.port)]);
}

#[test]
fn web_socket_that_is_refused_ends_the_run_before_put() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| script.refuse_notify = Some((403, "not you")));
    fails(ide.run(&rig, &body()), &["WebSocket", "403", "not you"]);
    ide.call("info");
    ide.call("notify");
    assert!(rig.daemon_now().is_none());
}

#[test]
fn r3_run_session_that_is_refused_is_shown_with_its_details() {
    let rig = Rig::new();
    let error = json!({"error": {
        "code": "UnsupportedLaunchConfiguration", "message": "cobol cannot be debugged",
        "details": [{"code": "Known", "message": "python, node"}],
    }});
    let parts =
        ["PUT /run_session", "400", "\nUnsupportedLaunchConfiguration: cobol", "\n  Known: python, node\n"];
    for (answer, parts) in [
        ((400, None, error.to_string()), &parts[..]),
        ((500, None, "it broke".to_owned()), &["500", "\nit broke"]),
        ((201, None, String::new()), &["PUT /run_session", "Location"]),
        ((201, Some("/run_session/"), String::new()), &["PUT /run_session", "Location"]),
    ] {
        let ide = ScriptedIde::start(|script| script.put = answer);
        fails(ide.run(&rig, &body()), parts);
    }
}

#[test]
fn request_that_is_not_answered_in_time_ends_the_run() {
    let rig = Rig::new();
    let ide = ScriptedIde::start(|script| script.holds_put = true);
    let run = ide.run_with(&rig, &body(), |command| {
        command.env("DCP_IDE_REQUEST_TIMEOUT_SECONDS", "1");
    });
    fails(run, &["did not answer PUT /run_session within 1 s"]);
}
