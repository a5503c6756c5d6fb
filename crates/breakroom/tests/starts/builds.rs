//! Source files that are built before they are debugged, and what is told if they cannot be.

use breakroom_testkit::adapters;
use serde_json::json;

use crate::support::editor::Hub;
use crate::{Place, begin, needs, same};

const C: &str = "#include <stdio.h>\nint add(int a, int b) {\n    return a + b;\n}\nint main(int argc, char **argv) {\n    \
                 printf(\"sum %d of %d\\n\", add(40, 2), argc);\n    return 3;\n}\n";

const RUST: &str = "fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\nfn main() {\n    println!(\"NAME {}\", add(40, 2));\n}\n";

fn manifest(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n")
}

#[test]
fn a_c_file_is_compiled_and_debugged() {
    if adapters::skipped("lldb") {
        return;
    }
    let place = Place::new();
    place.write("t.c", C);
    let told = place.run(".", &["--break", "3", "t.c", "one"], "bt\nprint a\ncontinue\n");
    told.shows(&["-g -O0", "t.c:3 in add", "a = 40", "sum 42 of 2", "exit code 3"]);
    assert_eq!(told.code, Some(3), "{told:?}");
    assert!(!place.path("t").exists() && !place.path("a.out").exists(), "nothing is put beside the source");
    place.leave(Hub::Private);
}

#[test]
fn a_compilers_errors_are_the_failure_of_the_launch_and_it_can_be_tried_again() {
    if adapters::skipped("lldb") {
        return;
    }
    let place = Place::new();
    place.write("t.c", &C.replace("a + b;", "a + ;"));
    let mut client = place.editor(Hub::Shared);
    client.allow(&[
        "output",
        "capabilities",
        "process",
        "thread",
        "module",
        "exited",
        "continued",
        "breakpoint",
    ]);
    let launch = json!({"type": "lldb", "program": place.text("t.c")});
    let failed = client.call_failing("launch", launch.clone());
    assert_eq!(failed["body"]["error"]["id"], 9006, "{failed}");
    let reason = failed["message"].as_str().unwrap();
    assert!(reason.contains("t.c:3:16: error: "), "{reason}");
    client.output_containing("t.c:3:16");

    place.write("t.c", C);
    begin(&mut client, "launch", launch);
    client.output_containing("sum 42 of 1");
    client.event("terminated");
    place.part(client, Hub::Shared);
}

#[test]
fn a_rust_file_means_the_program_that_it_is_part_of() {
    if adapters::skipped("lldb") {
        return;
    }
    let place = Place::new();
    place.write("r/Cargo.toml", &manifest("r"));
    place.write("r/src/bin/one.rs", &RUST.replace("NAME", "one"));
    place.write("r/src/bin/two.rs", &RUST.replace("NAME", "two"));
    place.write("r/src/lib.rs", "pub fn nothing() {}\n");
    place.write("r/src/helper.rs", "");
    let told = place.run("r", &["--break", "2", "src/bin/two.rs"], "print a\ncontinue\n");
    told.shows(&["cargo build --bin two", "Compiling r v0.1.0", "two.rs:2 in two::add", "a = 40", "two 42"]);
    place.run("r", &["src/helper.rs"], "").fails_with(&["several programs", "--target", "one", "two"]);
    place.run("r", &["--break", "add", "--target", "one", "src/helper.rs"], "c\n").shows(&["one 42"]);
    place.write("r/src/bin/two.rs", &RUST.replace("a + b", "a + c"));
    place
        .run("r", &["src/bin/two.rs"], "")
        .fails_with(&["src/bin/two.rs:2:9: error[E0425]: cannot find value `c`"]);
    place.leave(Hub::Private);
}

#[test]
fn a_rust_file_in_no_package_is_compiled_by_itself() {
    if adapters::skipped("lldb") {
        return;
    }
    let place = Place::new();
    place.write("lone.rs", RUST);
    place.run(".", &["--break", "2", "lone.rs"], "print a\ncontinue\n").shows(&[
        "lone::add",
        "a = 40",
        "NAME 42",
    ]);
    place.write("lone.rs", "fn main() { x }\n");
    place.run(".", &["lone.rs"], "").fails_with(&["lone.rs:1:13: error"]);
    place.leave(Hub::Private);
}

#[test]
fn go_is_built_by_us_only_for_a_debugger_that_does_not() {
    if adapters::skipped("delve") {
        return;
    }
    let place = Place::without_adapters();
    place.adapter("native", &["gdb"]);
    place.write("x.go", "package main\n\nfunc main() { println(1) }\n");
    let told = place.told("launch", json!({"type": "gdb", "program": place.text("x.go")}));
    assert!(std::fs::read(told["program"].as_str().unwrap()).unwrap().starts_with(b"\x7fELF"));
    place.leave(Hub::Private);
}

#[test]
fn a_java_file_is_compiled_with_the_sources_beside_it() {
    if adapters::skipped("jdi") {
        return;
    }
    needs("javac");
    let place = Place::new();
    place.adapter("java-adapter", &["java"]);
    place.write("src/a/b/Other.java", "package a.b;\nclass Other { static int one() { return 1; } }\n");
    let main =
        "package a.b;\npublic class Main { public static void main(String[] args) { Other.one(); } }\n";
    place.write("src/a/b/Main.java", main);
    let told = place.told("launch", json!({"program": place.text("src/a/b/Main.java")}));
    assert_eq!((&told["type"], &told["mainClass"]), (&json!("java"), &json!("a.b.Main")));
    let classes = std::path::PathBuf::from(told["classpath"].as_str().unwrap());
    assert!(classes.join("a/b/Other.class").is_file());
    place.leave(Hub::Private);
}

/// Writes what a compiler of TypeScript would, with a map that names the source.
const TSC: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
        --showConfig) echo '{"compilerOptions": {}}'; exit 0 ;;
        --outDir) out="$2"; shift ;;
    esac
    shift
done
if grep -q WRONG src/main.ts; then
    echo "src/main.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'."
    exit 2
fi
mkdir -p "$out"
echo '//# sourceMappingURL=main.js.map' > "$out/main.js"
printf '{"version": 3, "sources": ["%s/src/main.ts"]}' "$PWD" > "$out/main.js.map"
echo "TSFILE: $out/main.js"
echo "TSFILE: $out/main.js.map"
"#;

/// As the newest ones do. What it makes of a file lies as deep below `--outDir` as the file does below the root.
const TSC_THAT_WANTS_A_ROOT: &str = r#"#!/bin/sh
for word in "$@"; do
    case "$before" in
        --outDir) out="$word" ;;
        --rootDir) root="$word" ;;
    esac
    before="$word"
    [ "$word" = --listEmittedFiles ] || last="$word"
done
if [ -z "$root" ]; then
    echo "error TS5011: The common source directory is '.'. The 'rootDir' setting must be explicitly set to this or another path."
    exit 2
fi
if [ "$root" != / ]; then
    echo "error TS6059: File '$last' is not under 'rootDir' '$root'."
    exit 2
fi
there="$out${last%/*}"
mkdir -p "$there"
echo '//# sourceMappingURL=lone.js.map' > "$there/lone.js"
printf '{"version": 3, "sourceRoot": "", "sources": ["%s"]}' "$(realpath --relative-to="$there" "$last")" > "$there/lone.js.map"
echo "TSFILE: $there/lone.js"
echo "TSFILE: $there/lone.js.map"
"#;

#[test]
fn a_lone_file_of_typescript_is_compiled_by_one_that_wants_to_know_the_root() {
    let place = Place::new();
    place.adapter("node-adapter", &["pwa-node"]);
    place.write("p/lone.ts", "const x: number = 1;\n");
    place.write_program("p/node_modules/.bin/tsc", TSC_THAT_WANTS_A_ROOT);
    // One that takes no TypeScript itself.
    place.write_program("bin/node", "#!/bin/sh\necho v20.0.0\n");
    let mut client = place.editor(Hub::Private);
    client.allow(&["output"]);
    let launch = json!({"type": "pwa-node", "program": place.text("p/lone.ts"), "runtimeExecutable": place.text("bin/node")});
    place.tell(&mut client, "launch", launch);
    let whole = place.text("p/lone.js");
    same(&place.launched()["program"], &place.path(&format!("p/node_modules/.cache/breakroom{whole}")));
    place.part(client, Hub::Private);
}

#[test]
fn typescript_is_compiled_by_its_projects_own_compiler() {
    let place = Place::new();
    place.adapter("node-adapter", &["pwa-node"]);
    place.write("p/tsconfig.json", "{}");
    place.write("p/package.json", "{\"type\": \"module\"}");
    place.write("p/src/main.ts", "const x: number = 1;\n");
    place.write_program("p/node_modules/.bin/tsc", TSC);
    let mut client = place.editor(Hub::Private);
    client.allow(&["output"]);
    let launch = json!({"type": "pwa-node", "program": place.text("p/src/main.ts")});
    place.write("p/src/main.ts", "WRONG\n");
    let failed = client.call_failing("launch", launch.clone());
    assert!(failed["message"].as_str().unwrap().contains("src/main.ts(1,7): error TS2322"), "{failed}");
    place.write("p/src/main.ts", "const x: number = 1;\n");
    place.tell(&mut client, "launch", launch);
    let arguments = place.launched();
    same(&arguments["program"], &place.path("p/node_modules/.cache/breakroom/main.js"));
    assert_eq!(arguments["sourceMaps"], true);
    assert!(arguments["outFiles"][0].as_str().unwrap().ends_with("/**/*.js"), "{arguments}");
    let beside = std::fs::read_to_string(place.path("p/node_modules/.cache/breakroom/package.json")).unwrap();
    assert!(beside.contains("module"), "what kind of modules they are is kept");
    place.part(client, Hub::Private);
}

#[test]
fn typescript_that_somebody_has_arranged_is_left_alone() {
    let place = Place::new();
    place.adapter("node-adapter", &["pwa-node"]);
    place.write("x.ts", "");
    let arguments =
        json!({"type": "pwa-node", "program": place.text("x.ts"), "runtimeArgs": ["--import", "tsx"]});
    assert_eq!(place.told("launch", arguments.clone()), arguments);
    place.leave(Hub::Private);
}

#[test]
fn a_csharp_file_means_the_assembly_of_its_project() {
    let place = Place::new();
    place.adapter("dotnet-adapter", &["coreclr"]);
    place.write("app/App.csproj", "");
    place.write("app/src/Program.cs", "");
    place.write("app/bin/Debug/App.dll", "");
    place.write_program("bin/dotnet", "#!/bin/sh\necho \"  App -> $PWD/bin/Debug/App.dll\"\n");
    let told = place.told("launch", json!({"type": "coreclr", "program": place.text("app/src/Program.cs")}));
    same(&told["program"], &place.path("app/bin/Debug/App.dll"));
    place.leave(Hub::Private);
}
