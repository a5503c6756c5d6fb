//! Commands in a pseudo terminal of ours.

use std::path::Path;
use std::time::Duration;

use breakroom_engines::{Context, EnvVar, Exit, StartError, Stop, Terminal, run_in_pty};

use crate::support::{Process, guard, read_all, read_until, within, write};

async fn terminal(script: &str, env: &[EnvVar]) -> Terminal {
    let argv = ["sh".to_string(), "-c".to_string(), script.to_string()];
    run_in_pty(&argv, Some(Path::new("/")), env, &Context::of_this_process(), guard()).await.unwrap()
}

#[tokio::test]
async fn a_command_has_a_real_terminal_and_speaks_through_it() {
    let env = [EnvVar { name: "EXTRA".into(), value: Some("yes".into()) }];
    let script = "tty; stty size; pwd; echo $TERM $EXTRA; read line </dev/tty; echo \"got $line\"; exit 3";
    let mut terminal = terminal(script, &env).await;
    let greeting = read_until(&terminal.master, |text| text.contains("yes\n")).await;
    let lines: Vec<&str> = greeting.lines().collect();
    assert!(lines[0].starts_with("/dev/pts/"), "{greeting}");
    assert_eq!(lines[1..], ["24 80", "/", "dumb yes"]);
    write(&terminal.master, "a line\n");
    assert!(read_all(&terminal.master).await.contains("got a line\n"));
    assert_eq!(within("the end", terminal.process.exited()).await, Exit::Code(3));
}

#[tokio::test]
async fn the_interrupt_key_ends_the_command_and_not_its_guard() {
    let mut terminal = terminal("echo ready; exec sleep 600", &[]).await;
    read_until(&terminal.master, |text| text.contains("ready")).await;
    write(&terminal.master, "\x03");
    assert_eq!(within("the end", terminal.process.exited()).await, Exit::Signal(2));
}

#[tokio::test]
async fn stopping_a_terminal_ends_all_that_runs_in_it() {
    let mut terminal = terminal("setsid sleep 600 & echo $!; trap '' HUP TERM; wait; wait", &[]).await;
    let line = read_until(&terminal.master, |text| text.contains('\n')).await;
    let child = Process::pin(line.trim());
    terminal.process.stop(Stop::End { grace: Duration::ZERO });
    within("the guard's end", terminal.process.gone()).await;
    assert!(!child.is_alive());
}

#[tokio::test]
async fn a_command_that_is_not_there_is_told() {
    let run = |argv: Vec<String>| async move {
        run_in_pty(&argv, None, &[], &Context::of_this_process(), guard()).await
    };
    let error = run(vec!["no-such-command".into()]).await.unwrap_err();
    assert!(matches!(error, StartError::NotFound { .. }), "{error}");
    assert!(matches!(run(vec![]).await.unwrap_err(), StartError::NotFound { .. }));
}
