//! How adapters are started and met over each transport, and how a failed start is told.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use breakroom_engines::{Context, EnvVar, Exit, Mode, StartError, Stop, start};

use crate::support::{guard, launch, read_all, read_line, shell, spec, within, write};

const LISTEN: &str = "
import socket, sys
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
print('listening', flush=True)
print('to stderr', file=sys.stderr, flush=True)
connection = server.accept()[0]
connection.sendall(b'hello\\n' + connection.recv(100))
sys.stdin.read()
";

#[tokio::test]
async fn a_stdio_adapter_is_spoken_to_over_its_pipes() {
    let mut engine = launch(Mode::Stdio, &["cat"]).await.unwrap();
    write(&engine.writer, "to and fro\n");
    assert_eq!(read_line(&engine.reader).await, "to and fro");
    assert!(engine.stdout.is_none());
    drop(engine.writer);
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(0));
    assert_eq!(read_all(&engine.reader).await, "");
    assert_eq!(read_all(&engine.stderr).await, "");
}

#[tokio::test]
async fn a_tcp_connect_adapter_is_dialled_when_it_listens() {
    let engine = launch(Mode::TcpConnect, &["python3", "-c", LISTEN, "{{port}}"]).await.unwrap();
    write(&engine.writer, "there\n");
    assert_eq!(read_line(&engine.reader).await, "hello");
    assert_eq!(read_line(engine.stdout.as_ref().unwrap()).await, "listening");
    assert_eq!(read_line(&engine.stderr).await, "to stderr");
}

#[tokio::test]
async fn a_tcp_callback_adapter_calls_us() {
    let script = "
import socket, sys
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
connection.sendall(b'hello\\n' + connection.recv(100))
";
    let mut engine = launch(Mode::TcpCallback, &["python3", "-c", script, "{{port}}"]).await.unwrap();
    write(&engine.writer, "there\n");
    assert_eq!(read_all(&engine.reader).await, "hello\nthere\n");
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(0));
}

#[tokio::test]
async fn a_unix_adapter_is_met_in_a_folder_that_goes_with_it() {
    let script = "
import os, socket, sys
folder = os.stat(os.path.dirname(sys.argv[1]))
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
server.accept()[0].sendall(b'%s %o\\n' % (sys.argv[1].encode(), folder.st_mode & 0o777))
";
    let mut engine = launch(Mode::Unix, &["python3", "-c", script, "{{socket}}"]).await.unwrap();
    let line = read_line(&engine.reader).await;
    let (path, mode) = line.rsplit_once(' ').unwrap();
    assert_eq!(mode, "700");
    // rdbg complains if it cannot remove its own socket.
    assert!(Path::new(path).exists());
    engine.process.stop(Stop::End { grace: Duration::ZERO });
    within("the guard's end", engine.process.gone()).await;
    assert!(
        !Path::new(path).parent().unwrap().exists(),
        "the guard removes it, whether or not the hub lives"
    );
}

#[tokio::test]
async fn an_adapter_that_dies_before_it_is_met_is_told_at_once_with_its_last_lines() {
    for mode in [Mode::TcpConnect, Mode::TcpCallback, Mode::Unix] {
        let place = if mode == Mode::Unix { "{{socket}}" } else { "{{port}}" };
        let begin = Instant::now();
        let error = launch(mode, &["sh", "-c", "echo no licence >&2; exit 3", place]).await.unwrap_err();
        assert!(begin.elapsed() < Duration::from_secs(50), "{mode:?} waited for the timeout");
        let StartError::Died { exit: Exit::Code(3), tail, .. } = &error else { panic!("{error}") };
        assert_eq!(tail.0, "no licence");
        assert!(error.to_string().contains("exit code 3"), "{error}");
    }
}

#[tokio::test]
async fn an_adapter_that_complains_on_stdout_is_quoted_too() {
    let error = launch(Mode::TcpCallback, &["sh", "-c", "echo bad option; kill -9 $$", "{{port}}"])
        .await
        .unwrap_err();
    assert!(error.to_string().contains("signal 9 (SIGKILL)"), "{error}");
    assert!(error.to_string().contains("bad option"), "{error}");
}

#[tokio::test]
async fn an_adapter_that_never_comes_is_given_up_with_its_last_lines() {
    for (mode, place) in
        [(Mode::TcpConnect, "{{port}}"), (Mode::TcpCallback, "{{port}}"), (Mode::Unix, "{{socket}}")]
    {
        let mut spec = spec(mode, &["sh", "-c", "echo thinking >&2; exec sleep 600", place]);
        // One that is given up before it has said a word is no fault: it is tried again with more time for that.
        let mut said = String::new();
        for limit in [1, 8, 40] {
            spec.connection_timeout = Duration::from_secs(limit);
            let error = start(&spec, &Context::of_this_process(), guard()).await.unwrap_err();
            assert!(error.to_string().contains("connectionTimeoutSeconds"), "{error}");
            let StartError::Timeout { seconds, tail, .. } = error else { panic!("{error}") };
            assert_eq!(seconds, Duration::from_secs(limit).as_secs_f64());
            said = tail.0;
            if !said.is_empty() {
                break;
            }
        }
        assert_eq!(said, "thinking", "{mode:?}");
    }
}

#[tokio::test]
async fn a_port_taken_by_somebody_else_is_given_up_for_another() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("tried");
    let script = format!(
        "import os, sys
if not os.path.exists({marker:?}):
    open({marker:?}, 'w')
    sys.exit('OSError: [Errno 98] Address already in use')
{LISTEN}"
    );
    let engine = launch(Mode::TcpConnect, &["python3", "-c", &script, "{{port}}"]).await.unwrap();
    write(&engine.writer, "there\n");
    assert_eq!(read_line(&engine.reader).await, "hello");
}

#[tokio::test]
async fn what_cannot_be_started_is_told_with_the_reason() {
    let error = launch(Mode::Stdio, &["no-such-adapter"]).await.unwrap_err();
    assert!(
        matches!(&error, StartError::NotFound { program, .. } if program == "no-such-adapter"),
        "{error}"
    );
    let error = launch(Mode::Stdio, &["./no-such-adapter"]).await.unwrap_err();
    assert!(error.to_string().contains("seen from"), "{error}");

    let nowhere = Context { cwd: PathBuf::from("/no/such/folder"), ..Context::of_this_process() };
    let error = start(&spec(Mode::Stdio, &["cat"]), &nowhere, guard()).await.unwrap_err();
    assert!(error.to_string().contains("/no/such/folder does not exist"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("garbage");
    breakroom_testkit::write_program(&garbage, [0; 100]);
    let error = launch(Mode::Stdio, &[garbage.to_str().unwrap()]).await.unwrap_err();
    assert!(matches!(error, StartError::Spawn { .. }), "{error}");

    let error = launch(Mode::TcpConnect, &["cat"]).await.unwrap_err();
    assert!(matches!(&error, StartError::BadSpec { .. }), "{error}");
    let error = start(&spec(Mode::Stdio, &["cat"]), &Context::of_this_process(), Path::new("/no/guard"))
        .await
        .unwrap_err();
    assert!(matches!(&error, StartError::Guard { .. }), "{error}");
    let error = start(&spec(Mode::Stdio, &["cat"]), &Context::of_this_process(), Path::new("/bin/false"))
        .await
        .unwrap_err();
    assert!(matches!(&error, StartError::GuardLost { .. }), "{error}");
}

#[tokio::test]
async fn the_adapter_runs_in_the_launchers_folder_environment_and_umask() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let raw = OsStr::from_bytes(b"\xff\xfe=x").to_os_string();
    let context = Context {
        cwd: folder.clone(),
        env: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("RAW".into(), raw),
            ("BREAKROOM_TOKEN".into(), "secret".into()),
            ("GONE".into(), "x".into()),
            ("EMPTY".into(), OsString::new()),
        ],
        umask: 0o027,
    };
    let mut spec = spec(Mode::Stdio, &["sh", "-c", "pwd; umask; env > env; echo \"[$1]\"", "sh", "a b"]);
    spec.env = vec![
        EnvVar { name: "GONE".into(), value: None },
        EnvVar { name: "EXTRA".into(), value: Some("1".into()) },
    ];
    let engine = start(&spec, &context, guard()).await.unwrap();
    let output = read_all(&engine.reader).await;
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines, [folder.to_str().unwrap(), "0027", "[a b]"]);
    let environment = std::fs::read(folder.join("env")).unwrap();
    let mut variables: Vec<&[u8]> = environment
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty() && !line.starts_with(b"PWD="))
        .collect();
    variables.retain(|line| {
        !line.starts_with(b"_=") && !line.starts_with(b"SHLVL=") && !line.starts_with(b"OLDPWD=")
    });
    variables.sort();
    assert_eq!(variables, [&b"EMPTY="[..], b"EXTRA=1", b"PATH=/usr/bin:/bin", b"RAW=\xff\xfe=x"]);
}

#[tokio::test]
async fn a_large_environment_arrives_whole() {
    let mut context = Context::of_this_process();
    context.env.extend((0..40).map(|n| (format!("BIG_{n}").into(), "x".repeat(40_000).into())));
    let script = "awk 'BEGIN { n = 0; for (name in ENVIRON) if (name ~ /^BIG_/) n += length(ENVIRON[name]); print n }'";
    let engine = start(&spec(Mode::Stdio, &["sh", "-c", script]), &context, guard()).await.unwrap();
    assert_eq!(read_all(&engine.reader).await.trim(), "1600000");
}

#[tokio::test]
async fn all_output_is_there_after_the_end() {
    let mut engine = shell("seq 1 20000; echo last >&2").await;
    let output = read_all(&engine.reader).await;
    assert_eq!(within("the end", engine.process.exited()).await, Exit::Code(0));
    assert_eq!(output.lines().count(), 20_000);
    assert_eq!(read_all(&engine.stderr).await, "last\n");
}

/// Numbers of descriptors that this process was itself born with and hands on to everything it starts.
fn inheritable_descriptors() -> Vec<String> {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    let names = std::fs::read_dir("/proc/self/fdinfo").unwrap().map(|entry| entry.unwrap().file_name());
    let is_inheritable = |name: &String| {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{name}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        flags.is_some_and(|flags| u32::from_str_radix(flags.trim(), 8).unwrap() & CLOSE_ON_EXEC == 0)
    };
    names.map(|name| name.into_string().unwrap()).filter(is_inheritable).collect()
}

#[tokio::test]
async fn the_adapter_gets_no_descriptor_of_ours_but_its_streams() {
    let known = inheritable_descriptors();
    let engine = launch(Mode::Stdio, &["python3", "-c", "import os; print(*os.listdir('/proc/self/fd'))"])
        .await
        .unwrap();
    let listed = read_all(&engine.reader).await;
    // The last one is the listing itself.
    let strange: Vec<&str> =
        listed.split_whitespace().filter(|fd| !known.iter().any(|known| known == fd)).collect();
    assert!(strange.len() <= 1, "{strange:?} of {listed}");
}

/// Only root can make a listener of another user; everybody else is at least shown that one's own is accepted.
#[tokio::test]
async fn a_listener_of_another_user_is_not_spoken_to() {
    let as_nobody = format!("import os, socket, sys\nif os.getuid() == 0: os.setuid(65534)\n{LISTEN}");
    let result = launch(Mode::TcpConnect, &["python3", "-c", &as_nobody, "{{port}}"]).await;
    if rustix::process::getuid().is_root() {
        let error = result.unwrap_err();
        assert!(error.to_string().contains("a process of user 65534"), "{error}");
    } else {
        assert!(result.is_ok());
    }
}
