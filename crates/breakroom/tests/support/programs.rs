//! One program of the language's suite and what is expected of it.
//!
//! Beside `name.ez`, or `main.ez` in a folder for a program of several files, stand:
//! `.out` what it prints, `.err` what it prints to stderr, `.in` its input, `.args` its arguments, one a line, where
//! `{folder}` is the empty folder in which it runs, `.code` its exit code, and `.error` the mistakes that are told.
//! A line of `.error` is `CODE LINE TEXT`: the code or how it begins, the line, and what its message contains; the last
//! two may be missing. With `.error` the exit code is 1, and `.out` is what is printed besides the mistakes.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use breakroom_testkit::wait;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ez/tests/programs")
}

/// The programs of one folder, by name.
pub fn area(name: &str) -> Vec<Program> {
    let mut programs: Vec<Program> = fs::read_dir(folder().join(name))
        .expect("an area is a folder")
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| match path.is_dir() {
            true => Some(path.join("main.ez")),
            false => path.extension().is_some_and(|kind| kind == "ez").then_some(path),
        })
        .map(|path| Program { path })
        .collect();
    programs.sort_by(|one, two| one.path.cmp(&two.path));
    programs
}

pub struct Program {
    path: PathBuf,
}

impl Program {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything that is not as expected.
    pub fn run(&self, binary: &Path) -> Vec<String> {
        let (output, expected) = (self.output(binary), self.beside("out"));
        let mut differences = Vec::new();
        let told = match self.beside("error") {
            None => {
                let expected = expected.unwrap_or_else(|| panic!("{} expects nothing", self.path.display()));
                differences.extend(difference("stdout", &expected, &output.stdout));
                Vec::new()
            }
            Some(text) => {
                let told: Vec<Told> = text.lines().map(Told::parse).collect();
                let (diagnostics, rest) = take_apart(&output.stdout);
                if !matches(&told, &diagnostics) {
                    differences.push(format!("expected mistakes:\n{text}stdout:\n{}", output.stdout));
                }
                differences.extend(difference("output", &expected.unwrap_or_default(), &rest));
                told
            }
        };
        differences.extend(difference("stderr", &self.beside("err").unwrap_or_default(), &output.stderr));
        let fails = told.iter().any(|told| !told.is_warning());
        let code = self.beside("code").map_or(i32::from(fails), |text| text.trim().parse().unwrap());
        if output.code != Some(code) {
            differences.push(format!("exit code {:?} instead of {code}\n", output.code));
        }
        differences
    }

    fn output(&self, binary: &Path) -> Output {
        let folder = tempfile::tempdir().expect("the temp folder is writable");
        let place = folder.path().to_str().expect("a temp folder has a plain name");
        let arguments = self.beside("args").unwrap_or_default().replace("{folder}", place);
        let mut child = Command::new(binary)
            .args(["ez", "run"])
            .arg(&self.path)
            .args(arguments.lines())
            .envs([("EZ_DRINK", "coffee"), ("TZ", "UTC")])
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
        let mut input = child.stdin.take().unwrap();
        // A program that ends without reading everything closes its end: that is no mistake.
        let _ = input.write_all(self.beside("in").unwrap_or_default().as_bytes());
        drop(input);
        let code = end(&mut child);
        Output { stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap(), code }
    }

    fn beside(&self, extension: &str) -> Option<String> {
        fs::read_to_string(self.path.with_extension(extension)).ok()
    }
}

struct Output {
    stdout: String,
    stderr: String,
    code: Option<i32>,
}

fn reader(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.unwrap().read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn end(child: &mut Child) -> Option<i32> {
    if let Some(status) = wait::for_exit(child, wait::DEADLINE) {
        return status.code();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// A mistake as it is expected, or as it was told.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    code: String,
    line: Option<u32>,
    text: String,
}

impl Told {
    fn parse(line: &str) -> Told {
        let mut parts = line.splitn(3, ' ');
        let code = parts.next().unwrap_or_default().to_owned();
        let line = parts.next().map(|number| number.parse().expect("a line of .error is CODE LINE TEXT"));
        Told { code, line, text: parts.next().unwrap_or_default().to_owned() }
    }

    fn is_warning(&self) -> bool {
        self.code.starts_with('W')
    }

    fn fits(&self, told: &Told) -> bool {
        told.code.starts_with(&self.code)
            && (self.line.is_none() || self.line == told.line)
            && told.text.contains(&self.text)
    }
}

/// Warnings count only where one is expected: a program with mistakes may well have those too.
fn matches(expected: &[Told], told: &[Told]) -> bool {
    let warnings = expected.iter().any(Told::is_warning);
    let told: Vec<&Told> = told.iter().filter(|told| warnings || !told.is_warning()).collect();
    expected.len() == told.len() && expected.iter().zip(told).all(|(expected, told)| expected.fits(told))
}

/// The mistakes that were told, and all that was printed besides.
fn take_apart(output: &str) -> (Vec<Told>, String) {
    let (mut diagnostics, mut rest, mut inside) = (Vec::<Told>::new(), String::new(), false);
    for line in output.split_inclusive('\n') {
        let head = ["error[", "warning["].iter().find_map(|kind| line.strip_prefix(kind)?.split_once("]: "));
        if let Some((code, text)) = head {
            inside = true;
            diagnostics.push(Told { code: code.to_owned(), line: None, text: text.trim_end().to_owned() });
        } else if inside && is_of_frame(line) {
            let place = line.trim_start().strip_prefix("--> ").and_then(|place| place.rsplit(':').nth(1));
            if let (Some(line), Some(last)) = (place, diagnostics.last_mut()) {
                last.line = line.parse().ok();
            }
        } else {
            inside = false;
            rest.push_str(line);
        }
    }
    (diagnostics, rest)
}

/// Everything below the head of a mistake is indented but for the source line's number.
fn is_of_frame(line: &str) -> bool {
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.starts_with(' ')
        || line.trim().is_empty()
        || line.starts_with("summary: ")
        || number.starts_with(" |")
}

/// The lines in which two texts differ, between what they begin and end with in common.
fn difference(name: &str, expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let (mut one, mut two): (Vec<&str>, Vec<&str>) =
        (expected.split_inclusive('\n').collect(), found.split_inclusive('\n').collect());
    let same = one.iter().zip(&two).take_while(|(one, two)| one == two).count();
    one.drain(..same);
    two.drain(..same);
    while one.last().is_some() && one.last() == two.last() {
        one.pop();
        two.pop();
    }
    let mut text = format!("{name} differs from line {} on:\n", same + 1);
    for (sign, lines) in [('-', one), ('+', two)] {
        for line in lines {
            let _ = writeln!(text, "{sign} {line:?}");
        }
    }
    Some(text)
}

#[test]
fn mistakes_are_told_apart_from_what_a_program_prints() {
    let frame = "error[E5001]: division by zero\n  --> a:b.ez:8:13\n   |\n8 | x\n   |\n\nsummary: generated 1 error\n";
    let (told, rest) = take_apart(&format!("before\n{frame}after\n"));
    assert_eq!(told, [Told::parse("E5001 8 division by zero")]);
    assert_eq!(rest, "before\nafter\n");
    for (expected, fits) in
        [("E5", true), ("E5001 8", true), ("E5 8 by zero", true), ("E5001 9", false), ("E9", false)]
    {
        assert_eq!(matches(&[Told::parse(expected)], &told), fits, "{expected}");
    }
    assert!(!matches(&[], &told));
}

#[test]
fn only_the_lines_that_differ_are_shown() {
    let text = difference("stdout", "a\nb\nc\n", "a\nx\nc\n").unwrap();
    assert_eq!(text, "stdout differs from line 2 on:\n- \"b\\n\"\n+ \"x\\n\"\n");
    assert_eq!(difference("stdout", "a\n", "a\n"), None);
}
