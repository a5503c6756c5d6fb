//! What may be changed: constants, parameters, references.

use crate::{bodies, programs};

#[test]
fn constants_stay_what_they_are() {
    bodies(&[
        ("counter = 1\ncounter += 2\ncounter++", ""),
        ("LIMIT = 1", "E3024@1"),
        ("LIMIT += 1", "E3024@1"),
        ("LIMIT++", "E3024@1"),
        ("PRIMES[0] = 1", "E3024@1"),
        ("const x = 1\nx = 2", "E3024@2"),
        ("const p = Point{x: 1}\np.x = 2", "E3024@2"),
        ("const m map[string:int] = {\"a\": 1}\nm[\"a\"] = 2", "E3024@2"),
        ("const s = \"abc\"\ns[0] = 'x'", "E3024@2"),
        ("const a [int, 2] = {1, 2}\narrays.sort(a)", "E3024@2"),
        ("const n = 1\nraise(n)", "E3024@2"),
        ("temp n = 1\nraise(n)\nraise(n, 3)", ""),
        ("const m map[string:int] = {\"a\": 1}\nmaps.delete(m, \"a\")", "E3024@2"),
        ("give() = 1", "E3023@1"),
        ("give = 1", "E3023@1"),
        ("Color.RED = 1", "E3023@1"),
    ]);
}

#[test]
fn what_was_passed_by_value_stays_what_it_is() {
    programs(&[
        ("do f(&n int) {\n n = 2\n}", ""),
        ("do f(n int) {\n n = 2\n}", "E3025@2"),
        ("import @arrays\ndo f(a [int]) {\n arrays.append(a, 1)\n}", "E3025@3"),
        ("import @arrays\ndo f(&a [int]) {\n arrays.append(a, 1)\n}", ""),
        ("do f(a [int]) {\n a[0] = 1\n}", "E3025@2"),
        ("do f(&a [int]) {\n a[0] = 1\n}", ""),
        ("do f(&a [int]) {\n g(a)\n}\ndo g(&a [int]) {\n f(a)\n}", ""),
        ("do f(a [int]) {\n g(a)\n}\ndo g(&a [int]) { }", "E3025@2"),
        ("do f(n int) {\n n++\n}", "E3025@2"),
        ("const P struct { x int }\ndo f(p P) {\n p.x = 1\n}", "E3025@3"),
        ("do f(n int) {\n temp m = n\n m = 2\n}", "W1001@2"),
    ]);
}

#[test]
fn a_reference_parameter_takes_a_place_of_its_type() {
    bodies(&[
        ("temp a [int] = {1}\nchange(a)", ""),
        ("change({1})", "E3023@1"),
        ("raise(1)", "E3023@1"),
        ("raise(give())", "E3023@1"),
        ("temp f = 1.5\nraise(f)", "E3001@2"),
        ("temp b u8 = 1\nraise(b)", "E3001@2"),
        ("temp a [int] = {1, 2}\nraise(a[0])", ""),
        ("temp p = Point{x: 1}\nraise(p.x)", ""),
        ("temp m map[string:int] = {\"a\": 1}\nraise(m[\"a\"])", ""),
        ("temp a [int, 2] = {1, 2}\nchange(a)", "E3001@2"),
        ("arrays.append({1}, 2)", "E3023@1"),
        ("temp a [int, 2] = {1, 2}\narrays.append(a, 3)", "E3037@2"),
        ("temp a [int, 2] = {1, 2}\narrays.sort(a)", ""),
    ]);
}

#[test]
fn references_are_made_by_declarations_only() {
    bodies(&[
        ("temp x = 1\ntemp r = ref(x)\nr = 2\nprintln(r + 1)", ""),
        ("temp a [int] = {1}\ntemp r = ref(a[0])\nr++", ""),
        ("temp x = 1\ntemp r string = ref(x)", "E3001@2"),
        ("temp x = 1\nconst r = ref(x)\nr = 2", "E3024@3"),
        ("const x = 1\ntemp r = ref(x)\nr = 2", "E3024@3"),
        ("temp x = 1\nprintln(ref(x))", "E3034@2"),
        ("temp x = 1\ntemp y = 2\ny = ref(x)", "E3034@3"),
        ("temp r = ref(1)", "E3023@1"),
        ("temp r = ref(nowhere)", "E4001@1"),
    ]);
}
