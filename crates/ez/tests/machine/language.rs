//! What programs compute: one test for each group of instructions.

use crate::support::{main_prints, prints};

#[test]
fn arithmetic_of_every_kind() {
    main_prints(
        "temp a int = 7\ntemp b int = -2\nprintln(a + b, a - b, a * b, a / b, a % b, -a, 3 - a, a * 3, a / 2, a % 4)",
        "5 9 -14 -3 1 -7 -4 21 3 3",
    );
    main_prints("temp a float = 1.5\nprintln(a + 2.0, a * a, a / 0.5, -a, 2 * a)", "3.5 2.25 3.0 -1.5 3.0");
    main_prints("temp a u8 = 200\ntemp b u8 = 55\na += b\nprintln(a)", "255");
    main_prints("temp a u256 = 340282366920938463463374607431768211455\nprintln(a * a % 1000007)", "684338");
    main_prints(
        "temp a uint = 18446744073709551615\nprintln(a, a > 5, a == a, a / 2)",
        "18446744073709551615 true true 9223372036854775807",
    );
    main_prints("temp i int = 5\ntemp j int = i++ + i\nprintln(i, j, i-- - i)", "6 11 1");
    main_prints("temp a [int] = {1, 2}\ntemp i int = 0\na[i] = i++ + 5\nprintln(a, i)", "{5, 2} 1");
}

#[test]
fn comparisons_and_conditions() {
    main_prints(
        "temp a int = 3\ntemp b int = 4\nprintln(a < b, a <= b, a > b, a >= b, a == b, a != b)",
        "true true false false false true",
    );
    main_prints(
        "temp c char = 'b'\nprintln(c < 'c', c == 'b', \"a\" == \"a\", \"a\" != \"b\", 1.5 < 2.5)",
        "true true true true true",
    );
    main_prints(
        "temp a int = 3\nif a > 2 && a < 4 && !(a == 5) || a == 9 { println(\"yes\") }\nprintln(a > 3 || a == 3, a > 3 && a / (a - 3) > 1)",
        "yes\ntrue false",
    );
    main_prints(
        "println({1, 2} == {1, 2}, {1: 2} == {1: 2}, 2 in {1, 2}, 5 not_in range(0, 10, 2), 4 in range(0, 10, 2))",
        "true true true true true",
    );
    main_prints(
        "temp n int = 70000\nif n > 69999 { println(1) }\nif n == 70000 { println(2) }\nif 70001 > n { println(3) }",
        "1\n2\n3",
    );
}

#[test]
fn values_are_copied_and_places_are_changed() {
    main_prints(
        "temp a [[int]] = {{1, 2}, {3}}\ntemp b [[int]] = a\nb[0][1] = 9\nb[0][0] += 5\nprintln(a, b)",
        "{{1, 2}, {3}} {{6, 9}, {3}}",
    );
    main_prints(
        "temp m map[string:[int]] = {\"a\": {1}}\narrays.append(m[\"a\"], 2)\nm[\"b\"] = {}\nm[\"a\"][0] = 7\nprintln(m)",
        "{\"a\": {7, 2}, \"b\": {}}",
    );
    main_prints(
        "temp s string = \"abc\"\ntemp t string = s\ns[0] = 'x'\ns += \"!\"\ns = s + t + s\nprintln(s, t)",
        "xbc!abcxbc! abc",
    );
    prints(
        "const P struct { n int  q [int] }\ndo main() {\ntemp p P = P{n: 1, q: {1}}\ntemp o P = p\no.q[0]++\no.n += 2\nprintln(p, o, p == o)\n}",
        "{n: 1, q: {1}} {n: 3, q: {2}} false",
    );
    prints(
        "temp g [int] = {1, 2}\ntemp w string = \"a\"\ndo main() {\ng[0] = 5\ng[1] += 5\narrays.append(g, 3)\nw += \"b\"\nw = w + \"c\"\ntemp h [int] = g\nh[0] = 0\nprintln(g, h, w, g[2])\n}",
        "{5, 7, 3} {0, 7, 3} abc 3",
    );
}

#[test]
fn references_lead_to_variables_elements_and_fields() {
    prints(
        "do set(&n int, to int) {\nn = to\n}\ndo pass(&n int) {\nset(n, 9)\n}\nconst P struct { n int }\ntemp g int = 0\ndo main() {\ntemp a [int] = {1, 2}\ntemp p P = P{n: 3}\ntemp m map[int:int] = {5: 5}\ntemp x int = 0\nset(a[1], 7)\npass(p.n)\npass(m[5])\nset(x, 1)\nset(g, 2)\nprintln(a, p, m, x, g)\n}",
        "{1, 7} {n: 9} {5: 9} 1 2",
    );
    main_prints(
        "temp a [int] = {1, 2}\ntemp r = ref(a)\ntemp e = ref(r[1])\narrays.append(r, 3)\ne += 10\nprintln(a, len(r), e, r[1] + e)",
        "{1, 12, 3} 3 12 24",
    );
    prints(
        "do add(&s string) {\ns += \"x\"\ns[0] = 'q'\n}\ndo main() {\ntemp t string = \"ab\"\nadd(t)\nadd(t)\nprintln(t)\n}",
        "qbxx",
    );
}

#[test]
fn loops_of_every_kind() {
    main_prints(
        "for i in range(3) { printf(\"${i} \") }\ntemp n int = 3\nfor i in range(n, 0) { printf(\"${i} \") }\nfor i in range(10, 0, -4) { printf(\"${i} \") }\nfor i in range(4, n + 1) { printf(\"never\") }",
        "0 1 2 3 2 1 10 6 2",
    );
    main_prints(
        "temp n int = 9223372036854775806\nfor i in range(n, n + 1) { println(i) }",
        "9223372036854775806",
    );
    main_prints(
        "for_each c in \"aé😀b\" { printf(\"${c}.\") }\nfor_each x in {1, 2, 3} { if x == 2 { continue }\nprintf(\"${x}.\") }",
        "a.é.😀.b.1.3.",
    );
    main_prints(
        "temp a [int] = {1, 2}\nfor_each x in a { a[1] = 9\nprintf(\"${x} \") }\nprintln(a)",
        "1 2 {1, 9}",
    );
    main_prints(
        "temp k int = 0\nloop { k++\nif k == 2 { continue }\nif k > 4 { break }\nprintf(\"${k} \") }",
        "1 3 4",
    );
}

#[test]
fn when_compares_values_and_ranges() {
    let pick = "do pick(n int) -> string {\nwhen n {\nis 1, 2 { return \"low\" }\nis range(3, 9) { return \"mid\" }\ndefault { return \"high\" }\n}\nreturn \"\"\n}\n";
    prints(
        &format!("{pick}do main() {{\nprintln(pick(2), pick(3), pick(8), pick(9))\n}}"),
        "low mid mid high",
    );
    main_prints(
        "temp w string = \"b\"\nwhen w { is \"a\" { println(1) } is \"b\", \"c\" { println(2) } default { println(3) } }",
        "2",
    );
}

#[test]
fn calls_give_several_results_and_take_defaults() {
    prints(
        "do two(n int, by int = 2) -> (int, string) {\nreturn n * by, \"n${n}\"\n}\ndo main() {\ntemp a, b = two(4)\nprintln(a, b)\na, b = two(1, 1)\nprintln(a, b)\ntemp c, _ = two(a)\nprintln(c)\n}",
        "8 n4\n1 n1\n2",
    );
    prints(
        "do fib(n int) -> int {\nif n < 2 { return n }\nreturn fib(n - 1) + fib(n - 2)\n}\ndo main() {\nprintln(fib(15), fib(fib(6)))\n}",
        "610 21",
    );
}

#[test]
fn conversions() {
    main_prints(
        "println(int(\"0x1f\"), int(3.99), int('a'), float(\"1.5\"), string(12) + \"!\", char(98), byte(7), cast({1, 2}, [float]))",
        "31 3 97 1.5 12! b 7 {1.0, 2.0}",
    );
}

#[test]
fn long_chains_need_no_stack() {
    prints(
        "const Node struct { n int  next Node }\ndo main() {\ntemp a Node = Node{n: 0}\ntemp b Node = Node{n: 0}\nfor i in range(200000) {\na = Node{n: i, next: a}\nb = Node{n: i, next: b}\n}\nprintln(a == b, a.next.n)\nb.next.next.n = 5\nprintln(a == b)\n}",
        "true 199998\nfalse",
    );
}

#[test]
fn a_function_too_long_for_short_jumps_is_compiled_with_long_ones() {
    let many = "x += 1\n".repeat(40_000);
    main_prints(
        &format!(
            "temp x int = 0\nfor i in range(2) {{\n{many}}}\nif x == 80000 {{\n{many}}}\nas_long_as x > 119990 {{\nx -= 7\n}}\nprintln(x)"
        ),
        "119986",
    );
}

#[test]
fn large_literals_are_put_together_in_parts() {
    let numbers: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    main_prints(&format!("temp a [int] = {{{}}}\nprintln(len(a), a[999])", numbers.join(", ")), "1000 999");
    let entries: Vec<String> = (0..300).map(|number| format!("{number}: {number}")).collect();
    main_prints(
        &format!("temp m map[int:int] = {{{}}}\nprintln(len(m), m[299])", entries.join(", ")),
        "300 299",
    );
}

#[test]
fn a_global_that_is_used_before_its_turn_is_zero() {
    prints(
        "temp first = peek()\ntemp later = 5\ntemp list = {1}\ndo peek() -> string {\nlater++\narrays.append(list, 3)\nreturn \"${later} ${list}\"\n}\ndo main() {\nprintln(first, peek())\n}",
        "1 {3} 6 {1, 3}",
    );
}

#[test]
fn templates_read_what_they_replace_and_what_their_parts_change() {
    main_prints(
        "temp s string = \"a\"\ns = \"${s}-${s}\"\nprintln(s)\ns += \"<${s}>\"\nprintln(s)\ns = s + \"${len(s)}é\"\nprintln(s, len(s))",
        "a-a\na-a<a-a>\na-a<a-a>8é 10",
    );
    prints(
        "do next(&n int) -> int {\nn += 1\nreturn n\n}\ndo main() {\ntemp n int = 1\nprintln(\"${n} ${next(n)} ${n} ${next(n)}\")\ntemp all string = \"\"\nall += \"${n}${next(n)}\"\nprintln(all)\n}",
        "1 2 2 3\n34",
    );
    main_prints(
        "temp low int = -9223372036854775807\nlow -= 1\nprintln(\"${low} ${9223372036854775807} ${0} ${-7} ${true} ${'x'} ${1.5} ${{1, 2}}\")",
        "-9223372036854775808 9223372036854775807 0 -7 true x 1.5 {1, 2}",
    );
}

#[test]
fn a_text_that_is_made_anew_in_each_round_leaves_the_earlier_ones_alone() {
    main_prints(
        "temp kept [string] = {}\ntemp seen map[string:int] = {:}\nfor i in range(4) {\ntemp word string = \"w${i % 2}\"\nif i < 2 {\narrays.append(kept, word)\n}\nif maps.has(seen, word) {\nseen[word] += 1\n} otherwise {\nseen[word] = 1\n}\n}\nprintln(kept, seen)",
        "{\"w0\", \"w1\"} {\"w0\": 2, \"w1\": 2}",
    );
}

#[test]
fn constants_of_any_size_are_operands() {
    main_prints(
        "temp n int = 70000\nprintln(n * 100000, n / 65536, n % 65536, -n, n - 100000, 100000 - n, n / -1)\nprintln(n < 70001, n <= 70000, n > 70000, n >= 70000, 70001 > n, n == 70000)\nif n <= 69999 || n > 70000 || 70000 < n || n < 70000 {\nprintln(\"no\")\n}\nif n >= 70000 && 70000 >= n && n != 70001 {\nprintln(\"yes\")\n}\nif n <= 9223372036854775807 {\nprintln(\"always\")\n}",
        "7000000000 1 4464 -70000 -30000 30000 -70000\ntrue true false true true true\nyes\nalways",
    );
    main_prints(
        "temp a [bool] = arrays.repeat(false, 3)\ntemp b [bool] = a\na[1] = true\nprintln(a, b)\ntemp f [float] = arrays.repeat(0.5, 2)\nf[0] = 1.5\nprintln(f)",
        "{false, true, false} {false, false, false}\n{1.5, 0.5}",
    );
}
