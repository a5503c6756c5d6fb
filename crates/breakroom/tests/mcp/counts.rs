//! Hit counts mean the same with every debugger, alone and beside a condition.

use breakroom_testkit::adapters;
use serde_json::{Value, json};

use super::languages::{
    CDT_GDB_C, CODELLDB_C, EZ, Fizz, GDB_C, GO, JAVA, JAVASCRIPT, LLDB_C, PATIENTLY, PERL, PYTHON, RUBY,
    patiently,
};
use super::place::Place;

/// The line that calls is come to five times, with 1 to 5; `condition` holds for what is greater than 2.
const COUNTS: [(&str, bool, &[&str]); 6] = [
    ("2", false, &["2"]),
    (">=4", false, &["4", "5"]),
    ("%2", false, &["2", "4"]),
    ("<3", false, &["1", "2"]),
    ("2", true, &["4"]),
    (">1", true, &["4", "5"]),
];

/// Writes down what each hit count comes to, one run after the other.
fn mean_the_same(fizz: &Fizz) {
    if fizz.needs.iter().any(|need| adapters::skipped(need)) {
        return;
    }
    let place = Place::new();
    let agent = place.agent();
    let program = fizz.program(&place);
    let mut came = Vec::new();
    for (count, is_beside, _) in COUNTS {
        let mut breakpoint =
            json!({"line": fizz.line("call"), "hit_count": count, "capture": [fizz.counter]});
        if is_beside {
            breakpoint["condition"] = format!("{} > 2", fizz.counter).into();
        }
        let mut start = json!({"program": program, "breakpoints": [breakpoint], "wait_ms": PATIENTLY});
        if let Some(language) = fizz.language {
            start["language"] = language.into();
        }
        let end = patiently(&agent, agent.ok("debugger_start", start));
        assert_eq!(end.state(), "ended", "{count}: {end:#?}");
        let rows = end.data["captured"].as_array().cloned().unwrap_or_default();
        let all = |row: &Value| {
            let times = row["times"].as_u64().unwrap_or(1);
            vec![row["values"][fizz.counter].as_str().unwrap_or_default().to_owned(); times as usize]
        };
        came.push((count, is_beside, rows.iter().flat_map(all).collect::<Vec<_>>()));
    }
    let wanted: Vec<_> = COUNTS
        .iter()
        .map(|(count, is_beside, rows)| {
            (*count, *is_beside, rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(came, wanted);
    place.leave(agent);
}

#[test]
fn of_python() {
    mean_the_same(&PYTHON);
}

#[test]
fn of_javascript() {
    mean_the_same(&JAVASCRIPT);
}

#[test]
fn of_ruby() {
    mean_the_same(&RUBY);
}

#[test]
fn of_go() {
    mean_the_same(&GO);
}

#[test]
fn of_java() {
    mean_the_same(&JAVA);
}

#[test]
fn of_perl() {
    mean_the_same(&PERL);
}

#[test]
fn of_ez() {
    mean_the_same(&EZ);
}

#[test]
fn of_c_with_lldb() {
    mean_the_same(&LLDB_C);
}

#[test]
fn of_c_with_codelldb() {
    mean_the_same(&CODELLDB_C);
}

#[test]
fn of_c_with_a_gdb_that_speaks_the_protocol() {
    mean_the_same(&GDB_C);
}

#[test]
fn of_c_with_an_older_gdb_and_cdt() {
    mean_the_same(&CDT_GDB_C);
}
