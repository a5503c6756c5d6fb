//! Types of values: which goes where, and what operators make of them.

use crate::bodies;

#[test]
fn declarations_and_assignments_keep_types() {
    bodies(&[
        (
            "temp a int = 1\ntemp b float = 1.5\ntemp c string = \"x\"\ntemp d bool = true\ntemp e char = 'x'\ntemp f byte = 7",
            "",
        ),
        ("temp a int = \"x\"", "E3001@1"),
        ("temp a int = 1.5", "E3001@1"),
        ("temp a float = 1", "E3001@1"),
        ("temp a string = 'x'", "E3001@1"),
        ("temp a char = \"x\"", "E3001@1"),
        ("temp a bool = 1", "E3001@1"),
        ("temp a = 1\na = \"x\"", "E3001@2"),
        ("temp a = \"x\"\na = \"y\"", ""),
        ("temp a f32 = 1.5\ntemp b f64 = a\ntemp c float = b", ""),
        ("temp a = nothing()", "E3011@1"),
        ("temp a = pair()", "E3011@1"),
        ("temp a, b = pair()\na = 2\nb = \"x\"", ""),
        ("temp a, b = pair()\na = b", "E3001@2"),
        ("temp a, b, c = pair()", "E3014@1"),
        ("temp a, b = give()", "E3014@1"),
        ("temp a, b = nothing()", "E3014@1"),
        ("temp a string, b string = pair()", "E3001@1"),
        ("temp a int, b string = pair()", ""),
        ("temp a = 0\ntemp b = \"\"\na, b = pair()\na, _ = pair()", ""),
        ("temp a = 0\na, a = pair()", "E3001@2"),
        ("temp v, err = fail()\nif err != nil { println(err.message, err.code, v) }", ""),
    ]);
}

#[test]
fn integers_fit_their_types() {
    bodies(&[
        ("temp a u8 = 255\ntemp b i8 = -128\ntemp c u64 = 18446744073709551615", ""),
        ("temp a u8 = 300", "E3020@1"),
        ("temp a u8 = -1", "E3020@1"),
        ("temp a i8 = -129", "E3020@1"),
        ("temp a byte = 256", "E3020@1"),
        ("temp a = 9223372036854775808", "E3020@1"),
        ("temp a u128 = 9223372036854775808", ""),
        ("temp a u8 = 200 + 100", "E3020@1"),
        ("temp a u8 = 200 + 55", ""),
        ("temp a i32 = 5\ntemp b i64 = a\ntemp c i8 = b\ntemp d uint = c", ""),
        ("temp a byte = 5\ntemp b int = a\na = b", ""),
        ("const BIG int = 300\ntemp a u8 = BIG", "E3020@2"),
        ("temp a u8 = 1\na = a + 1\na += 300", "E3020@3"),
        ("temp a u8 = 1\nif a < 300 { }", ""),
        ("println(u8(300))", "E3020@1"),
    ]);
}

#[test]
fn nil_is_for_arrays_maps_structs_and_errors() {
    bodies(&[
        (
            "temp a [int] = nil\ntemp b map[string:int] = nil\ntemp c Point = nil\ntemp d error = nil\nc = nil",
            "",
        ),
        ("temp a int = nil", "E3007@1"),
        ("temp a string = nil", "E3007@1"),
        ("temp a = nil", "E3010@1"),
        ("temp c Point\nif c == nil { }\nif nil != c { }", ""),
        ("if counter == nil { }", "E3002@1"),
        ("temp p = Point{next: nil}", ""),
        ("temp p = Point{x: nil}", "E3007@1"),
    ]);
}

#[test]
fn operators_work_on_what_they_are_for() {
    bodies(&[
        ("temp a = 1 + 2 * 3 - 4 / 2 % 5\ntemp b = 1.5 * 2\ntemp c = 2 / 1.5\ntemp d = \"a\" + \"b\"", ""),
        ("temp a float = counter + 1.5", ""),
        ("temp a int = counter + 1.5", "E3001@1"),
        ("temp a = \"a\" + 1", "E3002@1"),
        ("temp a = \"a\" - \"b\"", "E3002@1"),
        ("temp a = true + false", "E3002@1"),
        ("temp a char = 'a' + 1\ntemp b int = 'b' - 'a'\na += counter", ""),
        ("temp a = 'a' + 'b'", "E3002@1"),
        ("temp a = 1 + 'b'", "E3002@1"),
        ("temp a = 'b' * 2", "E3002@1"),
        ("temp a = 1.5 % 2.0", "E3002@1"),
        ("temp a = PRIMES + PRIMES", "E3002@1"),
        ("temp a = counter / 0", "E5001@1"),
        ("temp a = counter % 0", "E5001@1"),
        ("temp a = 1 / 0", "E5001@1"),
        ("counter /= 0", "E5001@1"),
        ("temp a = -counter\ntemp b = -1.5\ntemp c = -\"x\"", "E3002@3"),
        ("temp a = 1 == 1.0\ntemp b = 'a' < 'b'\ntemp c = \"a\" == \"b\"\ntemp d = true != false", ""),
        ("temp a = \"a\" < \"b\"", "E3002@1"),
        ("temp a = true < false", "E3002@1"),
        ("temp a = 1 == \"1\"", "E3002@1"),
        ("temp a = 'a' == \"a\"", "E3002@1"),
        ("temp a = Color.RED == Color.BLUE\ntemp b = Color.RED == 0\ntemp c = Size.SMALL == \"s\"", ""),
        ("temp a = Color.RED == Mode.READ", "E3002@1"),
        ("temp a = {1, 2} == {1, 2}\ntemp b = Point{} == Point{}", ""),
        ("temp a = {1, 2} == {\"a\"}", "E3001@1"),
        ("temp a = {1} < {2}", "E3002@1"),
        ("temp a = 1 in PRIMES\ntemp b = 2 not_in range(1, 5)\ntemp c = 3 !in {1, 2}", ""),
        ("temp a = \"x\" in PRIMES", "E3001@1"),
        ("temp a = 'x' in \"xyz\"", "E3002@1"),
        ("temp m map[string:int]\ntemp a = \"x\" in m", "E3002@2"),
        ("counter += 1.5", "E3001@1"),
        ("temp s = \"a\"\ns += \"b\"\ns += 1", "E3002@3"),
        ("temp f = 1.5\nf += 1\nf *= counter", ""),
        ("temp b byte = 1\nb += 1\ntemp i int = b + counter", ""),
        ("temp c = Color.RED\nc += 1", "E3001@2"),
        ("temp i int = Color.RED + 1", ""),
    ]);
}

#[test]
fn steps_are_for_integers() {
    bodies(&[
        ("temp a = 1\ntemp b = a++\na--", ""),
        ("temp a = 1.5\na++", "E3022@2"),
        ("temp a = \"x\"\na--", "E3022@2"),
        ("temp a [int] = {1}\na[0]++", ""),
        ("give()++", "E3023@1"),
    ]);
}

#[test]
fn a_mistake_is_told_once() {
    bodies(&[
        (
            "temp a = nowhere\ntemp b = a + 1\nprintln(b.x[1](2))\nif a { }\nfor_each x in a { x = 1 }\na.b = 2",
            "E4001@1",
        ),
        ("temp a Nothing_ = 1\na = \"x\"\nprintln(a.b)", "E3008@1"),
        ("temp a int = \"x\"\na = 2", "E3001@1"),
        ("temp a = {nowhere, 1}\na = {\"x\"}", "E4001@1 E3001@2"),
    ]);
}
