//! `go test` and `go run`: which package is meant, and whose each word is: the build's, the tests' or the program's.
//!
//! Options are told apart by what go knows, as go does it. What go does not know is the tests' own.

use std::path::Path;

use breakroom_engines::Context;
use serde_json::Map;

use super::Meant;
use crate::failure::Failure;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Build,
    /// The tests know it by `test.` before its name.
    Tests,
    Both,
    /// It asks for something that is no debugging, or that keeps a debugger from finding the sources.
    Nobody,
}

/// Options of go: whose they are, whether a value is behind them, and their names.
const OPTIONS: [(Whose, bool, &str); 7] = [
    (Whose::Build, false, "a asan cover linkshared modcacherw msan race"),
    (
        Whose::Build,
        true,
        "asmflags covermode coverpkg gcflags installsuffix ldflags mod modfile overlay p pgo tags vet",
    ),
    (Whose::Tests, false, "benchmem failfast fullpath short v"),
    (
        Whose::Tests,
        true,
        "bench benchtime blockprofile blockprofilerate count cpu cpuprofile fuzz fuzzminimizetime fuzztime list \
         memprofile memprofilerate mutexprofile mutexprofilefraction outputdir parallel run shuffle skip timeout trace",
    ),
    // Only a build for it counts what is covered.
    (Whose::Both, true, "coverprofile"),
    (Whose::Nobody, false, "c i json n trimpath work x"),
    (Whose::Nobody, true, "C buildmode buildvcs compiler exec gccgoflags o pkgdir toolexec"),
];

/// Behind it nothing is go's.
const ARGS: &str = "-args";

pub fn read(words: &[String], context: &Context) -> Result<Option<Meant>, Failure> {
    match words.split_first() {
        Some((verb, rest)) if verb == "run" => run(rest, context).map(Some),
        Some((verb, rest)) if verb == "test" => test(rest, context).map(Some),
        _ => Ok(None),
    }
}

fn run(words: &[String], context: &Context) -> Result<Meant, Failure> {
    let (mut build, mut rest) = (Vec::new(), words);
    while let Some((word, option, more)) = first_option(rest) {
        match whose(word) {
            Some(Whose::Build) => build.extend_from_slice(option),
            _ => return Err(refusal("run", word)),
        }
        rest = more;
    }
    let files = rest.iter().take_while(|word| word.ends_with(".go")).count();
    let (named, args) = rest.split_at(files.max(1).min(rest.len()));
    let program = match named {
        [one, ..] if !one.contains("...") => one.clone(),
        _ => return Err(not_one("run", named)),
    };
    // Delve takes one file and builds it with the flags right before it, which is where go reads further files.
    let further = named.iter().skip(1).map(|file| context.cwd.join(file).to_string_lossy().into_owned());
    build.extend(further);
    Ok(meant(program, args.to_vec(), &build))
}

fn test(words: &[String], context: &Context) -> Result<Meant, Failure> {
    let (mut build, mut args, mut packages) = (Vec::new(), Vec::new(), Vec::new());
    let (mut are_all_named, mut rest) = (false, words);
    loop {
        let Some((word, option, more)) = first_option(rest) else {
            match rest.split_first().filter(|_| !are_all_named) {
                Some((package, more)) => {
                    packages.push(package.clone());
                    rest = more;
                    continue;
                }
                None => break,
            }
        };
        if is_end(word) {
            rest = more;
            break;
        }
        are_all_named |= !packages.is_empty();
        match whose(word) {
            Some(Whose::Nobody) => return Err(refusal("test", word)),
            Some(Whose::Build) => build.extend_from_slice(option),
            Some(Whose::Tests) => args.extend_from_slice(option),
            Some(Whose::Both) => {
                build.extend_from_slice(option);
                args.extend_from_slice(option);
            }
            None => {
                // What follows may be its value as well as a package, and go takes it for the former.
                are_all_named = true;
                args.extend_from_slice(option);
            }
        }
        rest = more;
    }
    if !rest.is_empty() {
        args.push(ARGS.to_owned());
        args.extend_from_slice(rest);
    }
    let package = match packages.as_slice() {
        [] => ".",
        [one] if !one.contains("...") => one,
        _ => return Err(not_one("test", &packages)),
    };
    Ok(meant(a_test_of(package, context)?, args, &build))
}

fn meant(program: String, args: Vec<String>, build: &[String]) -> Meant {
    let mut launch = Map::new();
    if !build.is_empty() {
        let flags: Vec<String> = build.iter().map(|word| quoted(word)).collect();
        launch.insert("buildFlags".to_owned(), flags.join(" ").into());
    }
    Meant::Program { program, args, launch }
}

/// As Delve reads the words of its flags.
fn quoted(word: &str) -> String {
    match word.is_empty() || word.contains(|letter: char| letter.is_whitespace() || letter == '\'') {
        true => format!("'{}'", word.replace('\\', "\\\\").replace('\'', "\\'")),
        false => word.to_owned(),
    }
}

fn refusal(verb: &str, word: &str) -> Failure {
    let name = word.split('=').next().unwrap_or(word);
    Failure::said(format!("`{name}` of `go {verb}` cannot be kept under a debugger: leave it out."))
}

fn not_one(verb: &str, packages: &[String]) -> Failure {
    let named = packages.join(" ");
    Failure::said(format!("`go {verb} {named}` is not one program: name the folder of one package."))
}

/// Any file of a package's tests stands for them all.
fn a_test_of(package: &str, context: &Context) -> Result<String, Failure> {
    let folder = context.cwd.join(package);
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut tests: Vec<_> = files.filter(|file| is_go_test(file)).collect();
    tests.sort();
    let first = tests.into_iter().next().map(|file| file.to_string_lossy().into_owned());
    first.ok_or_else(|| {
        Failure::said(format!("{} has no tests of Go: name the folder of a package.", folder.display()))
    })
}

pub fn is_go_test(file: &Path) -> bool {
    file.to_string_lossy().ends_with("_test.go")
}

/// Words of `go test` as the tests themselves know them.
pub fn of_go_tests(words: &[String]) -> Vec<String> {
    let (mut own, mut rest) = (Vec::new(), words);
    while let Some((word, option, more)) = first_option(rest) {
        rest = more;
        if is_end(word) {
            break;
        }
        let is_known = matches!(whose(word), Some(Whose::Tests | Whose::Both));
        let bare = word.trim_start_matches('-');
        own.push(match is_known && !bare.starts_with(OF_TESTS) {
            true => format!("-{OF_TESTS}{bare}"),
            false => word.to_owned(),
        });
        own.extend(option.iter().skip(1).cloned());
    }
    own.extend_from_slice(rest);
    own
}

const OF_TESTS: &str = "test.";

/// The option that the words begin with: itself, with its value, and the words behind both.
fn first_option(words: &[String]) -> Option<(&str, &[String], &[String])> {
    let word = words.first().filter(|word| name(word).is_some())?;
    let has_value = row(word).is_some_and(|(_, has_value, _)| *has_value) && !word.contains('=');
    let (option, more) = words.split_at(if has_value { 2.min(words.len()) } else { 1 });
    Some((word, option, more))
}

fn whose(word: &str) -> Option<Whose> {
    row(word).map(|(whose, ..)| *whose)
}

fn row(word: &str) -> Option<&'static (Whose, bool, &'static str)> {
    let name = name(word)?;
    let name = name.strip_prefix(OF_TESTS).unwrap_or(name);
    OPTIONS.iter().find(|(.., names)| names.split_whitespace().any(|known| known == name))
}

fn is_end(word: &str) -> bool {
    name(word) == name(ARGS)
}

/// `-run`, `--run` and `-run=x` are all `run`.
fn name(word: &str) -> Option<&str> {
    let name = word.strip_prefix('-')?;
    let name = name.strip_prefix('-').unwrap_or(name);
    name.split('=').next()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{nowhere, program, read};
    use super::*;
    use serde_json::json;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn refused(line: &str, context: &Context) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        super::super::meant("go", &words, context).unwrap_err().to_string()
    }

    #[test]
    fn tests_are_those_of_their_package_and_each_word_goes_to_whom_it_is_for() {
        let folder = tempfile::tempdir().unwrap();
        let here = Context { cwd: folder.path().into(), ..nowhere() };
        std::fs::create_dir(folder.path().join("store")).unwrap();
        std::fs::write(folder.path().join("store/b_test.go"), "").unwrap();
        let file = here.cwd.join("./store").join("b_test.go").to_string_lossy().into_owned();
        for (line, build, args) in [
            (
                "-race -tags x -run TestAdd ./store -v -args -run",
                "-race -tags x",
                &["-run", "TestAdd", "-v", "-args", "-run"][..],
            ),
            ("-vet=off -cover -cpuprofile x ./store", "-vet=off -cover", &["-cpuprofile", "x"]),
            ("-coverprofile c.out ./store", "-coverprofile c.out", &["-coverprofile", "c.out"]),
            ("-ldflags '-s -w' ./store -mine", "-ldflags '-s -w'", &["-mine"]),
            ("-p 2 ./store -mine x -race", "-p 2", &["-mine", "-args", "x", "-race"]),
        ] {
            let wanted = program(&file, args, json!({"buildFlags": build}));
            assert_eq!(read(&format!("go test {line}"), &here), wanted, "{line}");
        }
        for (line, why) in [
            ("test ./...", "name the folder"),
            ("test ./store ./more", "name the folder"),
            ("test", "has no tests of Go"),
            ("test -mine ./store", "has no tests of Go"),
            ("test -json ./store", "`-json`"),
            ("test --exec=x ./store", "`--exec`"),
        ] {
            let refusal = refused(line, &here);
            assert!(refusal.contains(why), "{line}: {refusal}");
        }
    }

    #[test]
    fn tests_know_the_words_by_another_name_up_to_those_that_are_the_programs() {
        let own = |words: &[&str]| of_go_tests(&owned(words));
        assert_eq!(
            own(&["-run", "-v", "--count=1", "-v", "-mine", "-test.short", "-args", "-v", "-args"]),
            ["-test.run", "-v", "-test.count=1", "-test.v", "-mine", "-test.short", "-v", "-args"]
        );
        assert_eq!(own(&["-v", "x", "-v"]), ["-test.v", "x", "-v"]);
        assert_eq!(own(&["-run"]), ["-test.run"]);
    }

    #[test]
    fn a_program_is_a_package_or_all_its_files_and_what_follows_is_its_own() {
        let here = nowhere();
        assert_eq!(read("go run ./cmd -run x", &here), program("./cmd", &["-run", "x"], json!({})));
        let flags = json!({"buildFlags": "-race /nowhere/util.go '/nowhere/my own.go'"});
        assert_eq!(
            read("go run -race main.go util.go 'my own.go' x y.go", &here),
            program("main.go", &["x", "y.go"], flags)
        );
        for (line, why) in [
            ("run", "name the folder"),
            ("run ./...", "name the folder"),
            ("run -trimpath .", "`-trimpath`"),
            ("run -nosuch .", "`-nosuch`"),
        ] {
            let refusal = refused(line, &here);
            assert!(refusal.contains(why), "{line}: {refusal}");
        }
    }
}
