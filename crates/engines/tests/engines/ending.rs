//! How engines end: by themselves, by order, and when whoever held them is gone. Nothing may be left, nor hit by mistake.

use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use breakroom_engines::{Engine, Exit, Force, Heard, Held, Mode, Stop, WhenLost, Whom};
use rustix::process::Signal;

use crate::support::{Process, guard, launch, read_line, read_until, shell, until, within};

/// Prints the number of a child and of a daemon that forked twice into a session of its own, then stays.
const FAMILY: &str = r#"
    sleep 601 & child=$!
    daemon=$(setsid sh -c 'sleep 602 >/dev/null 2>&1 & echo $!')
    echo "$child $daemon"
    wait"#;

async fn family(engine: &Engine) -> (Process, Process) {
    let line = read_line(&engine.reader).await;
    let (child, daemon) = line.split_once(' ').unwrap();
    (Process::pin(child), Process::pin(daemon))
}

#[tokio::test]
async fn dropping_the_hand_ends_children_and_daemons_and_nobody_else() {
    let mut stranger = Command::new("sleep").arg("600").spawn().unwrap();
    let engine = shell(FAMILY).await;
    let (child, daemon) = family(&engine).await;
    let adapter = Process::pin(&engine.process.pid().to_string());
    assert!(child.is_alive() && daemon.is_alive() && adapter.is_alive());
    drop(engine);
    for process in [adapter, child, daemon] {
        process.gone().await;
    }
    assert!(stranger.try_wait().unwrap().is_none());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[tokio::test]
async fn a_hub_that_is_killed_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    rustix::fs::mknodat(rustix::fs::CWD, &pids, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let script = FAMILY
        .replace("echo \"$child", "echo \"$$ $child")
        .replace("$daemon\"", &format!("$daemon\" > {}", pids.display()));
    let mut hub =
        Command::new(guard()).args(["hub", "sh", "-c", &script]).stdout(Stdio::null()).spawn().unwrap();
    let line =
        within("the numbers", tokio::task::spawn_blocking(move || std::fs::read_to_string(pids))).await;
    let family: Vec<Process> = line.unwrap().unwrap().split_whitespace().map(Process::pin).collect();
    assert_eq!(family.len(), 3);
    hub.kill().unwrap();
    hub.wait().unwrap();
    for process in family {
        process.gone().await;
    }
}

#[tokio::test]
async fn the_end_is_reported_and_can_be_asked_for_again() {
    let mut engine = shell("exit 7").await;
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(7));
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(7));
    let mut engine = shell("kill -SEGV $$").await;
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Signal(11));
}

#[tokio::test]
async fn waiting_for_the_end_can_be_given_up_and_taken_up_again() {
    let mut engine = shell("read line; exit 4").await;
    for _ in 0..20 {
        assert!(tokio::time::timeout(Duration::from_millis(1), engine.process.exited()).await.is_err());
    }
    drop(engine.writer);
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(4));
}

#[tokio::test]
async fn descendants_outlive_the_adapter_until_the_end_is_ordered() {
    let mut engine = shell("sleep 600 & echo $!; exit 0").await;
    let child = Process::pin(&read_line(&engine.reader).await);
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(0));
    assert!(child.is_alive());
    engine.process.stop(Stop::End { grace: Duration::ZERO });
    within("the guard's end", engine.process.gone()).await;
    assert!(!child.is_alive());
}

#[tokio::test]
async fn a_natural_end_within_the_grace_is_not_disturbed() {
    let mut engine = shell("trap 'echo disturbed; exit 1' TERM; read line; echo done; exit 5").await;
    engine.process.stop(Stop::End { grace: Duration::from_secs(600) });
    drop(engine.writer);
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(5));
    within("the guard's end", engine.process.gone()).await;
    assert_eq!(read_until(&engine.reader, |_| false).await, "done\n");
}

#[tokio::test]
async fn after_the_grace_the_adapter_is_asked_to_go_before_it_is_killed() {
    let mut engine = shell("trap 'echo tidied; exit 6' TERM; echo ready; while :; do sleep 0.05; done").await;
    read_line(&engine.reader).await;
    engine.process.stop(Stop::End { grace: Duration::from_millis(10) });
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(6));
    within("the guard's end", engine.process.gone()).await;
    assert!(read_until(&engine.reader, |_| false).await.contains("tidied"));
}

#[tokio::test]
async fn a_kill_meets_what_was_started_and_the_adapter_only_if_it_is_meant() {
    let mut engine = shell(&FAMILY.replace("wait", "wait; read nothing")).await;
    let (child, daemon) = family(&engine).await;
    let adapter = Process::pin(&engine.process.pid().to_string());
    engine.process.kill(Whom::Below, Force::Kill);
    assert_eq!(within("the kill", engine.process.hears()).await, Heard::Killed);
    child.gone().await;
    daemon.gone().await;
    assert!(adapter.is_alive());
    engine.process.kill(Whom::All, Force::Kill);
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Signal(9));
}

#[tokio::test]
async fn what_is_asked_to_go_may_tidy_up_and_is_not_waited_for_in_vain() {
    let script = "(trap 'echo tidied; exit 0' TERM; echo ready; while :; do sleep 0.05; done) & \
                  (trap '' TERM; echo ready; while :; do sleep 0.05; done) & trap 'echo asked' TERM; wait; read nothing";
    let mut engine = shell(script).await;
    read_until(&engine.reader, |text| text.lines().count() == 2).await;
    engine.process.kill(Whom::Below, Force::Ask);
    assert_eq!(within("the word that it is done", engine.process.hears()).await, Heard::Killed);
    assert_eq!(read_line(&engine.reader).await, "tidied");
    engine.process.kill(Whom::Below, Force::Kill);
    assert_eq!(within("the kill", engine.process.hears()).await, Heard::Killed);
    engine.process.stop(Stop::End { grace: Duration::ZERO });
    within("the end", engine.process.exited()).await;
}

/// The guard keeps the connection of a stdio adapter open.
fn hold(engine: &Engine) {
    engine.process.hold(Held::Connection(1), &[engine.reader.as_fd(), engine.writer.as_fd()]);
}

/// How many descriptors of the adapter's connection its guard has.
fn held(engine: &Engine, guard: &Process) -> usize {
    let file = |process: &str, number: &str| std::fs::read_link(format!("/proc/{process}/fd/{number}")).ok();
    let connection = [&engine.reader, &engine.writer].map(|end| file("self", &end.as_raw_fd().to_string()));
    let guard = guard.number().to_string();
    let numbers = std::fs::read_dir(format!("/proc/{guard}/fd")).unwrap();
    let files = numbers.filter_map(|number| Some(file(&guard, number.ok()?.file_name().to_str()?)));
    files.filter(|file| file.is_some() && connection.contains(file)).count()
}

#[tokio::test]
async fn an_adapter_sees_the_loss_of_the_hub_when_its_program_is_no_more() {
    let folder = tempfile::tempdir().unwrap();
    // What the adapter says would go nowhere by then.
    let seen = folder.path().join("seen");
    let script = format!(
        "sleep 600 & echo $!; read line; \
         while read what how; do [ $what != State: ] || echo $how > {}; done < /proc/$!/status",
        seen.display()
    );
    for _ in 0..8 {
        let engine = shell(&script).await;
        let program = Process::pin(&read_line(&engine.reader).await);
        let adapter = Process::pin(&engine.process.pid().to_string());
        engine.process.when_lost(WhenLost::Kill(Whom::Below));
        hold(&engine);
        drop(engine);
        adapter.gone().await;
        program.gone().await;
        // On a machine that is busy it may be ended before it has looked.
        let state = std::fs::read_to_string(&seen).unwrap_or_default();
        assert!(state.is_empty() || state.contains("zombie"), "the program was there: {state}");
    }
}

/// It reads what the program writes, which would die of its absence.
#[tokio::test]
async fn an_adapter_whose_program_is_to_be_spared_outlives_the_hub_as_long_as_the_program_does() {
    let released = |engine: &mut Engine| {
        engine.process.stop(Stop::Release { grace: Duration::from_secs(600) });
    };
    let orders: [fn(&mut Engine); 2] = [|_| {}, released];
    for order in orders {
        let mut engine = shell("sleep 600 & echo $!; wait; exec sleep 600").await;
        let program = Process::pin(&read_line(&engine.reader).await);
        let adapter = Process::pin(&engine.process.pid().to_string());
        let guard = Process::parent_of(engine.process.pid());
        engine.process.when_lost(WhenLost::Spare);
        order(&mut engine);
        drop(engine);
        // Longer than it would be given. A slow machine can only make it miss something.
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(program.is_alive() && adapter.is_alive());
        program.signal(Signal::KILL);
        for process in [program, adapter, guard] {
            process.gone().await;
        }
    }
}

#[tokio::test]
async fn what_was_let_go_of_ends_when_the_hub_closes_it() {
    let orders: [fn(&mut Engine); 3] = [
        |engine| engine.process.let_go(Held::Connection(1)),
        |engine| engine.process.stop(Stop::End { grace: Duration::from_secs(600) }),
        |engine| engine.process.stop(Stop::Release { grace: Duration::from_secs(600) }),
    ];
    for order in orders {
        let mut engine = shell("read line; exit 3").await;
        let guard = Process::parent_of(engine.process.pid());
        engine.process.when_lost(WhenLost::Kill(Whom::Below));
        // Held once, however often it is said.
        hold(&engine);
        hold(&engine);
        until(|| held(&engine, &guard) == 2).await;
        order(&mut engine);
        until(|| held(&engine, &guard) == 0).await;
        drop(engine.writer);
        assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(3));
    }
}

#[tokio::test]
async fn an_adapter_that_ignores_requests_to_go_is_killed_with_its_children() {
    let mut engine = shell("trap '' TERM INT HUP; sleep 600 & echo $!; while :; do wait; done").await;
    let child = Process::pin(&read_line(&engine.reader).await);
    engine.process.stop(Stop::End { grace: Duration::ZERO });
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Signal(9));
    within("the guard's end", engine.process.gone()).await;
    assert!(!child.is_alive());
}

#[tokio::test]
async fn a_stopped_process_is_woken_to_see_that_it_should_go() {
    let mut engine =
        shell("trap 'exit 8' TERM; echo ready; kill -STOP $$; while :; do sleep 0.05; done").await;
    read_line(&engine.reader).await;
    engine.process.stop(Stop::End { grace: Duration::from_millis(200) });
    let exit = within("the end", engine.process.exited()).await;
    assert!(matches!(exit, Exit::Code(8) | Exit::Signal(9)), "{exit}");
}

#[tokio::test]
async fn a_later_order_can_shorten_the_time_but_not_lengthen_it() {
    let begin = Instant::now();
    let mut engine = shell("exec sleep 600").await;
    engine.process.stop(Stop::End { grace: Duration::from_secs(600) });
    engine.process.stop(Stop::End { grace: Duration::ZERO });
    engine.process.stop(Stop::End { grace: Duration::from_secs(600) });
    within("the guard's end", engine.process.gone()).await;
    assert!(begin.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_release_ends_the_adapter_and_spares_its_children() {
    let mut engine = shell("trap '' TERM; sleep 600 & echo $!; while :; do wait; done").await;
    let child = Process::pin(&read_line(&engine.reader).await);
    engine.process.stop(Stop::Release { grace: Duration::from_millis(10) });
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Signal(9));
    within("the guard's end", engine.process.gone()).await;
    drop(engine);
    assert!(child.is_alive());
    child.signal(Signal::KILL);
    child.gone().await;
}

#[tokio::test]
async fn a_release_holds_even_if_the_hub_is_gone_at_once() {
    let mut engine = shell("sleep 600 & echo $!; wait").await;
    let child = Process::pin(&read_line(&engine.reader).await);
    let adapter = Process::pin(&engine.process.pid().to_string());
    let guard = Process::parent_of(engine.process.pid());
    engine.process.stop(Stop::Release { grace: Duration::ZERO });
    drop(engine);
    adapter.gone().await;
    guard.gone().await;
    assert!(child.is_alive());
    child.signal(Signal::KILL);
    child.gone().await;
}

#[tokio::test]
async fn the_guard_survives_the_signals_of_a_terminal_and_tidies_up_on_sigterm() {
    // The shell must not end by itself when its child is told first.
    let mut engine = shell("sleep 600 & echo $!; while :; do wait; done").await;
    let child = Process::pin(&read_line(&engine.reader).await);
    let guard = Process::parent_of(engine.process.pid());
    for signal in [Signal::INT, Signal::QUIT, Signal::HUP, Signal::TSTP, Signal::TTOU] {
        guard.signal(signal);
    }
    assert!(child.is_alive());
    guard.signal(Signal::TERM);
    within("the guard's end", engine.process.gone()).await;
    assert!(!child.is_alive());
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Signal(15));
}

#[tokio::test]
async fn a_guard_that_is_killed_leaves_neither_the_adapter_nor_the_hub_waiting() {
    let mut engine = shell("sleep 600 & echo $!; wait").await;
    let child = Process::pin(&read_line(&engine.reader).await);
    let adapter = Process::pin(&engine.process.pid().to_string());
    Process::parent_of(engine.process.pid()).signal(Signal::KILL);
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Signal(9));
    within("the guard's end", engine.process.gone()).await;
    adapter.gone().await;
    child.gone().await;
}

#[tokio::test]
async fn a_killed_guard_leaves_no_daemon_and_ends_nothing_of_others() {
    let mut stranger = Command::new("setsid").args(["sleep", "600"]).spawn().unwrap();
    let other = shell(FAMILY).await;
    let others = family(&other).await;
    let mut released = shell("setsid sleep 600 & echo $!; wait").await;
    let spared = Process::pin(&read_line(&released.reader).await);
    released.process.stop(Stop::Release { grace: Duration::ZERO });
    within("the release", released.process.gone()).await;
    let mut engine = shell(&FAMILY.replace("sleep 602", "env -i sleep 602")).await;
    let (child, daemon) = family(&engine).await;
    let adapter = Process::pin(&engine.process.pid().to_string());
    Process::parent_of(engine.process.pid()).signal(Signal::KILL);
    within("the guard's end", engine.process.gone()).await;
    assert_eq!(engine.process.exited().await, Exit::Signal(9));
    for process in [adapter, child, daemon] {
        process.gone().await;
    }
    assert!(stranger.try_wait().unwrap().is_none());
    assert!(others.0.is_alive() && others.1.is_alive() && spared.is_alive());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    spared.signal(Signal::KILL);
    drop(other);
    others.1.gone().await;
}

/// The adapter ends its guard itself, before the hub can know that it runs.
#[tokio::test]
async fn a_guard_that_is_killed_during_the_start_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..5 {
        let pids = folder.path().join(number.to_string());
        let script = format!(
            "daemon=$(setsid sh -c 'sleep 603 >/dev/null 2>&1 & echo $!'); echo $$ $daemon > {0}.new; mv {0}.new {0}; \
             kill -9 $PPID; exec sleep 604",
            pids.display()
        );
        // Whether it counts as started is a matter of luck.
        let started = launch(Mode::Stdio, &["sh", "-c", &script]).await;
        until(|| pids.exists()).await;
        let family: Vec<_> =
            std::fs::read_to_string(&pids).unwrap().split_whitespace().map(Process::pin).collect();
        if let Ok(mut engine) = started {
            within("the guard's end", engine.process.gone()).await;
        }
        for process in family {
            process.gone().await;
        }
    }
}

#[tokio::test]
async fn a_killed_guard_leaves_alone_what_was_to_be_released() {
    let mut engine = shell("trap '' TERM; setsid sleep 600 & echo $!; while :; do wait; done").await;
    let child = Process::pin(&read_line(&engine.reader).await);
    let guard = Process::parent_of(engine.process.pid());
    engine.process.stop(Stop::Release { grace: Duration::from_secs(600) });
    guard.signal(Signal::KILL);
    within("the guard's end", engine.process.gone()).await;
    assert!(child.is_alive());
    child.signal(Signal::KILL);
    child.gone().await;
}
