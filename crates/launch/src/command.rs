//! A command line of a language's own tool, as what it would run: whoever debugs a test names it as they would run it.
//!
//! Only words that decide what is run are understood. What has others is left to whoever knows the program by its name.

mod go;

use breakroom_engines::Context;
use serde_json::{Map, Value, json};

use crate::build::Arguments;
use crate::failure::Failure;
use crate::tool;
pub use go::{is_go_test, of_go_tests};

/// What a command line comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Meant {
    /// A file or a tool, as if it had been named itself, with more for its launch.
    Program { program: String, args: Vec<String>, launch: Arguments },
    /// A launch that says all, its type included.
    Launch(Arguments),
}

/// What pytest puts between a file and a test in it.
const IN_FILE: &str = "::";

/// Modules of Python that people name as if they were tools.
const MODULES: [&str; 2] = ["pytest", "unittest"];

type Read = fn(&str, &[String], &Context) -> Result<Option<Meant>, Failure>;

const TOOLS: &[(&[&str], Read)] = &[
    (&["go"], |_, words, context| go::read(words, context)),
    (&["cargo"], |_, words, _| Ok(cargo(words))),
    (&["node", "nodejs"], |_, words, _| Ok(script(words, NODE))),
    (&["ruby"], |_, words, _| Ok(script(words, RUBY))),
    (&["perl"], |_, words, _| Ok(plain(words, ""))),
    (&["java"], |_, words, _| Ok(plain(words, ".java"))),
    (&["npm", "pnpm", "yarn"], |tool, words, _| Ok(Some(by_package_manager(tool, words)))),
    (&["npx"], |tool, words, _| Ok(wrapped(tool, words))),
    (&["bundle"], |tool, words, _| Ok(behind("exec", tool, words))),
    (&["uv", "poetry", "pipenv", "pdm", "hatch"], |tool, words, _| Ok(behind("run", tool, words))),
];

/// What is meant by something that is no file, if it is a command line.
pub fn meant(program: &str, args: &[String], context: &Context) -> Result<Option<Meant>, Failure> {
    let all = |first: &[String]| [first, args].concat();
    if let Some((file, _)) = program.split_once(IN_FILE)
        && context.cwd.join(file).is_file()
        && file.ends_with(".py")
    {
        return Ok(Some(named("pytest", all(&[program.to_owned()]))));
    }
    if let [first, rest @ ..] = split(program).as_slice()
        && !rest.is_empty()
        && (row(first).is_some()
            || MODULES.contains(&&**first)
            || tool::find(first, context).is_some()
            || first.contains('/') && context.cwd.join(first).is_file())
    {
        return Ok(Some(named(first, all(rest))));
    }
    match row(program) {
        Some(read) => read(program, args, context),
        None => Ok(None),
    }
}

/// What is behind Python if this is no tool: a module that is known, or that is here.
pub fn module(name: &str, args: &[String], context: &Context) -> Option<Vec<String>> {
    let place = context.cwd.join(name.replace('.', "/"));
    let is_here = place.with_extension("py").is_file() || place.join("__main__.py").is_file();
    let is_one = MODULES.contains(&name) || (is_here && !name.contains('/'));
    is_one.then(|| [&["-m".to_owned(), name.to_owned()], args].concat())
}

fn row(tool: &str) -> Option<Read> {
    TOOLS.iter().find(|(names, _)| names.contains(&tool)).map(|(_, read)| *read)
}

fn named(program: &str, args: Vec<String>) -> Meant {
    Meant::Program { program: program.to_owned(), args, launch: Map::new() }
}

/// The words of a line, as a shell reads them.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Options with a value behind them of tools that run another one.
const WRAPPERS_WITH_VALUE: [(&str, &str); 6] = [
    ("npx", "-p --package -w --workspace --prefix --cache --registry --loglevel"),
    ("bundle", "--gemfile"),
    (
        "uv",
        "-w --with --with-editable --with-requirements -p --python --extra --no-extra --group --no-group --only-group \
         --package --project --directory --env-file --index --default-index -i --index-url --extra-index-url \
         -f --find-links --cache-dir --config-file --color",
    ),
    ("poetry", "-C --directory -P --project"),
    ("pipenv", "--python --pypi-mirror"),
    ("pdm", "-p --project --venv"),
];

/// A tool that runs another one, which is looked for where it would look.
fn wrapped(wrapper: &str, words: &[String]) -> Option<Meant> {
    let with_value =
        WRAPPERS_WITH_VALUE.iter().find(|(name, _)| *name == wrapper).map_or("", |(_, all)| *all);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            return Some(named(word, rest.cloned().collect()));
        }
        if with_value.split_whitespace().any(|option| option == word) {
            rest.next();
        }
    }
    None
}

fn behind(verb: &str, wrapper: &str, words: &[String]) -> Option<Meant> {
    let (first, rest) = words.split_first()?;
    (first == verb).then(|| wrapped(wrapper, rest)).flatten()
}

/// What it runs is in `package.json`, and may be anything.
fn by_package_manager(tool: &str, words: &[String]) -> Meant {
    let launch = json!({"type": "pwa-node", "name": tool, "runtimeExecutable": tool, "runtimeArgs": words});
    Meant::Launch(members(launch))
}

fn members(launch: Value) -> Arguments {
    launch.as_object().cloned().unwrap_or_default()
}

/// Options of what runs scripts.
struct Interpreter {
    with_value: &'static [&'static str],
    /// With these it runs no file.
    without_file: &'static [&'static str],
    /// They only say that what follows is to be found and run one by one.
    runs_each: &'static [&'static str],
}

const NODE: Interpreter = Interpreter {
    with_value: &["-r", "--require", "--import", "--loader", "-C", "--conditions"],
    without_file: &["-e", "--eval", "-p", "--print", "-c", "--check"],
    runs_each: &["--test"],
};
const RUBY: Interpreter =
    Interpreter { with_value: &["-I", "-r", "-C"], without_file: &["-e", "-c"], runs_each: &[] };

fn script(words: &[String], interpreter: Interpreter) -> Option<Meant> {
    let mut options = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let is = |list: &[&str]| list.contains(&word.as_str());
        if is(interpreter.without_file) {
            return None;
        }
        if !word.starts_with('-') {
            let mut launch = Map::new();
            if !options.is_empty() {
                launch.insert("runtimeArgs".to_owned(), options.into());
            }
            return Some(Meant::Program { program: word.clone(), args: rest.cloned().collect(), launch });
        }
        if is(interpreter.with_value) {
            options.extend([word.clone(), rest.next()?.clone()]);
        } else if !is(interpreter.runs_each) {
            options.push(word.clone());
        }
    }
    None
}

/// A file as the first word; with options of its interpreter it is left to whoever knows them.
fn plain(words: &[String], ending: &str) -> Option<Meant> {
    let (file, args) = words.split_first()?;
    (!file.starts_with('-') && file.ends_with(ending)).then(|| named(file, args.to_vec()))
}

/// Options of cargo with a value behind them.
const CARGO_WITH_VALUE: [&str; 18] = [
    "--bench",
    "--bin",
    "--color",
    "--config",
    "--example",
    "--exclude",
    "--features",
    "-F",
    "--jobs",
    "-j",
    "--manifest-path",
    "--package",
    "-p",
    "--profile",
    "--target",
    "--target-dir",
    "--test",
    "-Z",
];

fn cargo(words: &[String]) -> Option<Meant> {
    let (verb, rest) = words.split_first()?;
    let (is_test, mut own) = match verb.as_str() {
        "test" | "t" => (true, vec!["test".to_owned(), "--no-run".to_owned()]),
        "run" | "r" => (false, vec!["build".to_owned()]),
        _ => return None,
    };
    let mut args = Vec::new();
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--" => break,
            option if CARGO_WITH_VALUE.contains(&option) => own.extend([word.clone(), rest.next()?.clone()]),
            option if option.starts_with('-') => own.push(word.clone()),
            _ => {
                args.push(word.clone());
                if !is_test {
                    break;
                }
            }
        }
    }
    args.extend(rest.cloned());
    let cargo = json!({"args": own, "tests": is_test});
    let name = format!("cargo {verb}");
    Some(Meant::Launch(members(json!({"type": "rust", "name": name, "cargo": cargo, "args": args}))))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn read(line: &str, context: &Context) -> Option<Meant> {
        let mut words = split(line).into_iter();
        let program = words.next().unwrap();
        meant(&program, &words.collect::<Vec<_>>(), context).unwrap_or_else(|failure| panic!("{failure}"))
    }

    pub fn program(name: &str, args: &[&str], launch: Value) -> Option<Meant> {
        let args = args.iter().map(|&word| word.to_owned()).collect();
        Some(Meant::Program { program: name.to_owned(), args, launch: members(launch) })
    }

    pub fn nowhere() -> Context {
        Context { cwd: "/nowhere".into(), env: Vec::new(), umask: 0o022 }
    }

    #[test]
    fn a_script_is_what_its_interpreter_would_run() {
        let here = nowhere();
        let node = json!({"runtimeArgs": ["-r", "x", "--no-warnings"]});
        assert_eq!(read("node -r x --no-warnings a.js -p 1", &here), program("a.js", &["-p", "1"], node));
        assert_eq!(read("node --test a.test.js", &here), program("a.test.js", &[], json!({})));
        let ruby = json!({"runtimeArgs": ["-Itest"]});
        assert_eq!(read("ruby -Itest t.rb -n x", &here), program("t.rb", &["-n", "x"], ruby));
        for line in
            ["node -e 1", "node --test", "node", "ruby -I", "go build", "go", "cargo build", "uv pip x"]
        {
            assert_eq!(read(line, &here), None, "{line}");
        }
    }

    #[test]
    fn a_tool_that_runs_another_is_that_one_and_a_line_is_its_words() {
        let here = nowhere();
        for line in [
            "npx --yes jest -t adds",
            "npx -p jest --package=x jest -t adds",
            "uv run jest -t adds",
            "uv run --with x -p 3.12 -- jest -t adds",
            "bundle exec jest -t adds",
        ] {
            assert_eq!(read(line, &here), program("jest", &["-t", "adds"], json!({})), "{line}");
        }
        let line = meant("node 'my file.js' \"a b\"", &["c".to_owned()], &here).unwrap();
        assert_eq!(line, program("node", &["my file.js", "a b", "c"], json!({})));
        assert_eq!(meant("pytest t.py", &[], &here).unwrap(), program("pytest", &["t.py"], json!({})));
        assert_eq!(meant("my file.js", &[], &here).unwrap(), None, "a file that is not there");
        assert_eq!(read("perl tally.pl -v", &here), program("tally.pl", &["-v"], json!({})));
        assert_eq!(read("java Bank.java 7", &here), program("Bank.java", &["7"], json!({})));
        assert_eq!((read("perl -w x.pl", &here), read("java -jar x.jar", &here)), (None, None));
        let folder = tempfile::tempdir().unwrap();
        let here = Context { cwd: folder.path().into(), ..nowhere() };
        std::fs::write(folder.path().join("spin"), "").unwrap();
        assert_eq!(meant("./spin -n 3", &[], &here).unwrap(), program("./spin", &["-n", "3"], json!({})));
        assert_eq!(meant("./none -n 3", &[], &here).unwrap(), None);
        let npm =
            json!({"type": "pwa-node", "name": "npm", "runtimeExecutable": "npm", "runtimeArgs": ["test"]});
        assert_eq!(read("npm test", &here), Some(Meant::Launch(members(npm))));
        assert_eq!(module("unittest", &["-v".to_owned()], &here).unwrap(), ["-m", "unittest", "-v"]);
        assert_eq!(module("jest", &[], &here), None);
    }

    #[test]
    fn cargo_is_told_to_build_what_it_would_run() {
        let launch = json!({
            "type": "rust", "name": "cargo test", "args": ["adds", "--nocapture"],
            "cargo": {"args": ["test", "--no-run", "--test", "whole", "-q"], "tests": true},
        });
        let line = "cargo test --test whole adds -q -- --nocapture";
        assert_eq!(read(line, &nowhere()), Some(Meant::Launch(members(launch))));
        for which in ["--bin", "--example"] {
            let launch = json!({
                "type": "rust", "name": "cargo run", "args": ["x", "-q", "--", "y"],
                "cargo": {"args": ["build", which, "a", "--color", "never"], "tests": false},
            });
            let line = format!("cargo run {which} a --color never x -q -- y");
            assert_eq!(read(&line, &nowhere()), Some(Meant::Launch(members(launch))));
        }
    }

    #[test]
    fn a_test_behind_its_file_is_run_by_pytest() {
        let folder = tempfile::tempdir().unwrap();
        let here = Context { cwd: folder.path().into(), ..nowhere() };
        std::fs::write(folder.path().join("t.py"), "").unwrap();
        let args = ["-q".to_owned()];
        let meant = |program: &str| meant(program, &args, &here).unwrap();
        assert_eq!(meant("t.py::T::test_x"), program("pytest", &["t.py::T::test_x", "-q"], json!({})));
        assert_eq!((meant("no.py::test_x"), meant("t.py:3")), (None, None));
        std::fs::create_dir(folder.path().join("shop")).unwrap();
        std::fs::write(folder.path().join("shop/cli.py"), "").unwrap();
        assert_eq!(module("shop.cli", &args, &here).unwrap(), ["-m", "shop.cli", "-q"]);
        assert_eq!((module("shop.no", &[], &here), module("shop/cli", &[], &here)), (None, None));
    }
}
