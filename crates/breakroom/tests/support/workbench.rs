//! VS Code as a server, with the packaged extension in it, and Chromium that shows its workbench.
//!
//! Both keep their own files in the test's work folder. It knows no language; what is done in the workbench is a list of
//! steps that `clients/workbench.js` carries out.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use breakroom_testkit::{adapters, wait, write_program};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use super::editor::Desk;

const NEEDS: [&str; 4] = ["vsce", "vscode-server", "playwright", "chromium"];
const SERVER: &str = "code-server/node_modules/code-server/lib/vscode/out/server-main.js";
const LISTENS: &str = "Extension host agent listening on ";

pub fn skipped() -> bool {
    NEEDS.iter().any(|need| adapters::skipped(need))
}

pub struct Workbench<'a> {
    desk: &'a Desk,
    server: Child,
    port: String,
}

impl<'a> Workbench<'a> {
    /// `program` is the value of the setting `breakroom.path`; None: the built binary.
    pub fn new(desk: &'a Desk, program: Option<&str>) -> Workbench<'a> {
        let own = own_folder(desk);
        let settings = json!({
            "breakroom.path": program.map_or_else(|| as_in_sandbox(desk), PathBuf::from),
            "security.workspace.trust.enabled": false,
            "telemetry.telemetryLevel": "off",
            "workbench.startupEditor": "none",
            "git.enabled": false,
        });
        for scope in ["User", "Machine"] {
            let folder = own.join("data").join(scope);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
        }
        let extension = own.join("breakroom.vsix");
        succeeds(cargo(desk, &["xtask", "vsix"]).arg(&extension));
        succeeds(node(desk, &installed(SERVER)).arg("--install-extension").arg(&extension));

        let mut server = node(desk, &installed(SERVER));
        server.args(["--host", "127.0.0.1", "--port", "0", "--without-connection-token"]);
        server.stdout(Stdio::piped()).stderr(fs::File::create(own.join("server.log")).unwrap());
        let mut server = server.spawn().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.find_map(|line| line.strip_prefix(LISTENS).map(str::to_owned));
        // The server continues to write there.
        std::thread::spawn(move || lines.for_each(drop));
        Workbench { desk, server, port: port.expect("the server of VS Code listens") }
    }

    /// What was seen after each step, without the step's name.
    pub fn does(&self, steps: &Value) -> Vec<String> {
        let browser =
            adapters::on_path("chromium").expect("no chromium on the PATH: run `cargo xtask test` once");
        let work = self.desk.sandbox.work();
        let address = format!("http://127.0.0.1:{}/?folder={}", self.port, work.join("project").display());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/workbench.js");
        let mut driver = in_own_folder(self.desk, "node");
        driver
            .arg(script)
            .arg(installed("playwright/node_modules/playwright-core"))
            .arg(browser)
            .arg(address);
        driver
            .arg(std::env::temp_dir().join(format!("breakroom-workbench-{}.png", std::process::id())))
            .arg(steps.to_string());
        let said = succeeds(&mut driver);
        assert!(said.ends_with("done\n"), "{said}");
        said.lines().filter_map(|line| Some(line.split_once(": ")?.1.to_owned())).collect()
    }

    pub fn leave(mut self) {
        let server = Pid::from_child(&self.server);
        rustix::process::kill_process(server, Signal::TERM).unwrap();
        wait::for_exit(&mut self.server, wait::DEADLINE).expect("the server ends when it is told to");
    }
}

/// A file in the folder that is open in the workbench.
pub fn write(desk: &Desk, name: &str, text: &str) -> PathBuf {
    let folder = desk.sandbox.work().join("project");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
    folder.join(name)
}

/// Starts the built binary with the sandbox's folders, which those of VS Code itself are not.
fn as_in_sandbox(desk: &Desk) -> PathBuf {
    let script = desk.sandbox.work().join("bin/breakroom");
    let folders = [("XDG_RUNTIME_DIR", "run"), ("TMPDIR", "tmp")];
    let folders = folders.map(|(name, folder)| format!("{name}='{}'", desk.sandbox.path(folder).display()));
    let binary = desk.sandbox.binary().display();
    write_program(&script, format!("#!/bin/sh\nexec env {} '{binary}' \"$@\"\n", folders.join(" ")));
    script
}

fn node(desk: &Desk, script: &Path) -> Command {
    let own = own_folder(desk);
    let mut command = in_own_folder(desk, "node");
    command.arg(script).arg("--accept-server-license-terms").arg("--server-data-dir").arg(&own);
    command.arg("--extensions-dir").arg(own.join("extensions"));
    command
}

fn cargo(desk: &Desk, arguments: &[&str]) -> Command {
    let mut command = in_own_folder(desk, std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn in_own_folder(desk: &Desk, program: impl AsRef<OsStr>) -> Command {
    let mut command = desk.sandbox.program(program);
    command.env("XDG_RUNTIME_DIR", own_folder(desk)).env("TMPDIR", own_folder(desk)).stdin(Stdio::null());
    command
}

fn own_folder(desk: &Desk) -> PathBuf {
    let folder = desk.sandbox.work().join("vscode");
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn installed(file: &str) -> PathBuf {
    let path = adapters::folder().join(file);
    assert!(path.exists(), "{} is missing: run `cargo xtask test` once", path.display());
    path
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{said}\n{errors}", output.status);
    said.into_owned()
}
