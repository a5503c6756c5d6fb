//! The arguments of `launch`, as far as they say how a process is started. What is about debugging is left for the debugger
//! in the process, which gets them all.
//!
//! Nothing is started here. What stock debugpy refuses is refused, with the reason.

mod read;

use serde_json::{Map, Value, json};

pub(crate) use read::{Bad, Reader};

pub(crate) type Arguments = Map<String, Value>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Console {
    Internal,
    Integrated,
    External,
}

impl Console {
    const NAMES: [(&str, Console); 3] = [
        ("internalConsole", Console::Internal),
        ("integratedTerminal", Console::Integrated),
        ("externalTerminal", Console::External),
    ];

    /// As `runInTerminal` calls it. None for what needs no terminal.
    pub fn kind(self) -> Option<&'static str> {
        match self {
            Console::Internal => None,
            Console::Integrated => Some("integrated"),
            Console::External => Some("external"),
        }
    }
}

/// What goes between the adapter and the program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// The program is started by us.
    Nothing,
    /// debugpy's own launcher is needed: in a terminal, behind sudo, or because the launch names one.
    Launcher { python: Option<String>, path: Option<String>, sudo: bool },
}

/// What becomes of the program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Captured,
    Left,
}

#[derive(Debug)]
pub(crate) struct Launch {
    /// The interpreter and its own arguments; empty means the usual one.
    pub python: Vec<String>,
    /// The program and its arguments, as Python takes them.
    pub words: Vec<String>,
    pub name: String,
    pub console: Console,
    pub title: String,
    /// The words are for a shell to expand.
    pub shell: bool,
    pub quote: String,
    pub cwd: Option<String>,
    /// Variables to set, or to unset if they have no value.
    pub env: Vec<(String, Option<String>)>,
    pub output: Output,
    pub between: Between,
    /// For the debugger in the process: what goes between its own name and the program's.
    pub debugpy_args: Vec<String>,
    pub sub_process: bool,
    pub qt: String,
    pub host: Option<String>,
    pub no_debug: bool,
}

/// Whether `terminate` interrupts the program, so that it can end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnTerminate {
    Kill,
    Interrupt,
}

impl OnTerminate {
    pub fn of(arguments: &Arguments) -> OnTerminate {
        match arguments.get("onTerminate").and_then(Value::as_str) {
            Some("KeyboardInterrupt") => OnTerminate::Interrupt,
            _ => OnTerminate::Kill,
        }
    }
}

impl Launch {
    pub fn read(arguments: &Arguments, client_expands: bool) -> Result<Launch, Bad> {
        let reader = Reader::new(arguments)?;
        let (name, mut words) = target(&reader)?;
        let more = reader.texts("args")?;
        let shell = !more.is_empty() && reader.is_text("args");
        let console = reader.one_of("console", &Console::NAMES)?;
        if shell && !client_expands {
            return Err(Bad::new(
                "`args` is one text, and this client cannot have a shell expand it; give a list",
            ));
        }
        if shell && console == Console::Internal {
            return Err(Bad::new(
                "`args` is one text, and only a terminal has a shell to expand it; give a list",
            ));
        }
        words.extend(more);
        let program = arguments.get("program").and_then(Value::as_str);
        let cwd = match reader.text("cwd")? {
            Some(cwd) => Some(cwd),
            None => program.and_then(folder_of),
        };
        let mut launch = Launch {
            python: python(&reader)?,
            words,
            name,
            console,
            title: reader.text("consoleTitle")?.unwrap_or_else(|| "Python Debug Console".to_owned()),
            shell,
            quote: reader.text("terminalQuoteCharacter")?.unwrap_or_else(|| "\"".to_owned()),
            cwd,
            env: reader.variables("env")?,
            output: output(&reader, console)?,
            between: between(&reader, console)?,
            debugpy_args: reader.texts("debugpyArgs")?,
            sub_process: reader.flag("subProcess")?.unwrap_or(true),
            qt: reader.one_of("qt", &QT)?.to_owned(),
            host: reader.text("debugAdapterHost")?,
            no_debug: reader.flag("noDebug")?.unwrap_or(false),
        };
        launch.surroundings(&reader)?;
        Ok(launch)
    }

    fn surroundings(&mut self, reader: &Reader<'_>) -> Result<(), Bad> {
        if reader.flag("gevent")?.unwrap_or(false) {
            self.env.push(("GEVENT_SUPPORT".to_owned(), Some("True".to_owned())));
        }
        // Children are started without the option that keeps modules from being frozen, and the debugger in each of them
        // would complain of that in their own output, which their parent may read.
        let own = |(name, _): &(String, Option<String>)| name == WARNINGS;
        if self.sub_process && !self.no_debug && !self.env.iter().any(own) {
            self.env.push((WARNINGS.to_owned(), Some("1".to_owned())));
        }
        if self.output == Output::Captured {
            // What Python keeps back, or writes in another encoding, could not be shown as it is printed.
            self.env.push(("PYTHONUNBUFFERED".to_owned(), Some("1".to_owned())));
            self.env.push(("PYTHONIOENCODING".to_owned(), Some("utf-8".to_owned())));
        }
        for (property, option) in
            [("waitOnNormalExit", "WaitOnNormalExit"), ("waitOnAbnormalExit", "WaitOnAbnormalExit")]
        {
            if reader.property(property, option)? == Some(true) && self.console == Console::Internal {
                return Err(Bad::new(format!(
                    "`{property}` needs a terminal, and `console` is internalConsole"
                )));
            }
        }
        Ok(())
    }

    /// What the debugger in the process is told: everything, and what was made of it.
    pub fn told(&self, arguments: &Arguments, python: &[String]) -> Arguments {
        let mut told = arguments.clone();
        told.insert("python".to_owned(), json!(python));
        told.insert("pythonArgs".to_owned(), json!(python.get(1..).unwrap_or_default()));
        told.insert("processName".to_owned(), json!(self.name));
        told
    }
}

/// What keeps the debugger from saying in the program's output how it was started.
const WARNINGS: &str = "PYDEVD_DISABLE_FILE_VALIDATION";
const QT: [(&str, &str); 6] = [
    ("none", "none"),
    ("auto", "auto"),
    ("pyside", "pyside"),
    ("pyside2", "pyside2"),
    ("pyqt4", "pyqt4"),
    ("pyqt5", "pyqt5"),
];

fn target(reader: &Reader<'_>) -> Result<(String, Vec<String>), Bad> {
    let program = reader.text("program")?.map(|program| (program.clone(), vec![program]));
    let module = reader.text("module")?.map(|module| (module.clone(), vec!["-m".to_owned(), module]));
    let code = match reader.has("code") {
        true => Some(("-c".to_owned(), vec!["-c".to_owned(), reader.texts("code")?.join("\n")])),
        false => None,
    };
    let mut named = [program, module, code].into_iter().flatten();
    match (named.next(), named.next()) {
        (Some(target), None) => Ok(target),
        (None, _) => Err(Bad::new("there is nothing to run: give `program`, `module` or `code`")),
        (Some(_), Some(_)) => Err(Bad::new("give only one of `program`, `module` and `code`")),
    }
}

fn python(reader: &Reader<'_>) -> Result<Vec<String>, Bad> {
    if reader.has("python") && reader.has("pythonPath") {
        return Err(Bad::new("`pythonPath` is the old name of `python`; give only `python`"));
    }
    let key = if reader.has("python") { "python" } else { "pythonPath" };
    let mut python = reader.texts(key)?;
    let own = reader.texts("pythonArgs")?;
    if python.is_empty() && !own.is_empty() {
        // The usual interpreter's place; whoever starts it fills it in.
        python.push(String::new());
    }
    python.extend(own);
    Ok(python)
}

fn output(reader: &Reader<'_>, console: Console) -> Result<Output, Bad> {
    let wanted = reader.property("redirectOutput", "RedirectOutput")?;
    Ok(match wanted.unwrap_or(console == Console::Internal) {
        true => Output::Captured,
        false => Output::Left,
    })
}

fn between(reader: &Reader<'_>, console: Console) -> Result<Between, Bad> {
    let sudo = reader.property("sudo", "Sudo")?.unwrap_or(false);
    let (python, path) = (reader.text("debugLauncherPython")?, reader.text("debugLauncherPath")?);
    let needed = sudo || python.is_some() || path.is_some() || console != Console::Internal;
    Ok(if needed { Between::Launcher { python, path, sudo } } else { Between::Nothing })
}

fn folder_of(program: &str) -> Option<String> {
    let (folder, _) = program.rsplit_once('/')?;
    Some(if folder.is_empty() { "/".to_owned() } else { folder.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: Value) -> Result<Launch, String> {
        Launch::read(arguments.as_object().unwrap(), false).map_err(|bad| bad.to_string())
    }

    #[test]
    fn a_program_runs_in_its_folder_with_its_output_captured() {
        let launch = read(json!({"program": "/a/b.py", "args": ["x", "y"]})).unwrap();
        assert_eq!(launch.words, ["/a/b.py", "x", "y"]);
        assert_eq!((launch.cwd.as_deref(), launch.output), (Some("/a"), Output::Captured));
        assert_eq!(launch.between, Between::Nothing);
        assert!(launch.env.contains(&("PYTHONUNBUFFERED".to_owned(), Some("1".to_owned()))));
        assert!(launch.env.contains(&(WARNINGS.to_owned(), Some("1".to_owned()))));
        let own = read(json!({"program": "/a/b.py", "env": {WARNINGS: "0"}})).unwrap();
        assert!(!own.env.contains(&(WARNINGS.to_owned(), Some("1".to_owned()))), "{:?}", own.env);
        let bare = read(json!({"program": "b.py", "redirectOutput": false})).unwrap();
        assert_eq!((bare.cwd, bare.output), (None, Output::Left));
    }

    #[test]
    fn modules_and_code_are_named_as_python_takes_them() {
        assert_eq!(read(json!({"module": "m", "args": ["x"]})).unwrap().words, ["-m", "m", "x"]);
        assert_eq!(read(json!({"code": ["a=1", "b=2"]})).unwrap().words, ["-c", "a=1\nb=2"]);
    }

    #[test]
    fn the_interpreter_may_have_arguments_of_its_own() {
        let launch = read(json!({"program": "b.py", "python": "py", "pythonArgs": ["-I"]})).unwrap();
        assert_eq!(launch.python, ["py", "-I"]);
        let list = read(json!({"program": "b.py", "pythonPath": ["py", "-O"]})).unwrap();
        assert_eq!(list.python, ["py", "-O"]);
        assert_eq!(read(json!({"program": "b.py", "pythonArgs": ["-I"]})).unwrap().python, ["", "-I"]);
    }

    #[test]
    fn a_terminal_and_sudo_need_a_launcher() {
        for more in [
            json!({"console": "integratedTerminal"}),
            json!({"sudo": true}),
            json!({"debugOptions": ["Sudo"]}),
        ] {
            let mut arguments = json!({"program": "b.py"});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert!(matches!(read(arguments).unwrap().between, Between::Launcher { .. }));
        }
    }

    #[test]
    fn what_stock_debugpy_refuses_is_refused() {
        for (arguments, part) in [
            (json!({}), "nothing to run"),
            (json!({"program": "a", "module": "b"}), "only one of"),
            (json!({"program": 5}), "`program`"),
            (json!({"program": "a", "args": [1]}), "`args`"),
            (json!({"program": "a", "args": "x y"}), "cannot have a shell"),
            (json!({"program": "a", "python": "x", "pythonPath": "y"}), "old name"),
            (json!({"program": "a", "console": "tv"}), "internalConsole"),
            (json!({"program": "a", "waitOnNormalExit": true}), "needs a terminal"),
            (
                json!({"program": "a", "redirectOutput": false, "debugOptions": ["RedirectOutput"]}),
                "RedirectOutput",
            ),
            (json!({"program": "a", "env": {"A": 1}}), "`env`"),
            (json!({"program": "a", "noDebug": 1}), "`noDebug`"),
        ] {
            let error = read(arguments.clone()).unwrap_err();
            assert!(error.contains(part), "{arguments}: {error}");
        }
    }
}
