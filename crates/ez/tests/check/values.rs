//! Literals, elements, fields, calls and conversions.

use crate::bodies;

#[test]
fn arrays_and_maps_have_elements_of_one_type() {
    bodies(&[
        (
            "temp a = {1, 2, 3}\ntemp b = {\"a\": 1, \"b\": 2}\ntemp c [u8] = {1, 2}\ntemp d [[int]] = {{1}, {}, {2, 3}}",
            "",
        ),
        ("temp a = {1, \"a\"}", "E3001@1"),
        ("temp a [string] = {\"a\", 1}", "E3001@1"),
        ("temp a [u8] = {1, 300}", "E3020@1"),
        ("temp m = {\"a\": 1, 2: 3}", "E3001@1"),
        ("temp m = {\"a\": 1, \"b\": \"c\"}", "E3001@1"),
        ("temp m = {\"a\": 1, \"a\": 2}", "E3044@1"),
        ("temp m = {1.5: 2}", "E3009@1"),
        ("temp m map[string:[int]] = {\"a\": {}, \"b\": {1}}", ""),
        ("temp m map[string:int] = {:}\ntemp n map[string:int] = {}", ""),
        ("temp m = {:}", "E3010@1"),
        ("temp a [int] = {:}", "E3010@1"),
        ("temp a [int] = {1, 2}\ntemp b [string] = a", "E3001@2"),
        ("temp a [int] = PRIMES", ""),
        ("temp p [Point] = {nil, Point{x: 1}}", ""),
    ]);
}

#[test]
fn indexes_and_keys_are_of_the_right_type() {
    bodies(&[
        ("temp a = PRIMES[0] + 1\ntemp c char = \"abc\"[1]\ntemp b u8 = 1\nprintln(PRIMES[b])", ""),
        ("temp a = PRIMES[\"x\"]", "E3005@1"),
        ("temp a = PRIMES[1.5]", "E3005@1"),
        ("temp a = PRIMES[3]", "E9001@1"),
        ("temp a = PRIMES[-1]", "E9001@1"),
        ("temp a [int] = {1}\nprintln(a[-1])", "E9001@2"),
        ("temp a = counter[0]", "E3004@1"),
        ("counter[0] = 1", "E3004@1"),
        ("temp m = {\"a\": 1}\nm[\"b\"] = m[\"a\"] + 1", ""),
        ("temp m = {\"a\": 1}\nm[1] = 2", "E3001@2"),
        ("temp m = {\"a\": 1}\nm[\"b\"] = \"x\"", "E3001@2"),
        ("temp s = \"abc\"\ns[0] = 'x'", ""),
        ("temp s = \"abc\"\ns[0] = \"x\"", "E3001@2"),
        ("temp a [[int]] = {{1}}\na[0][0] = 2\na[0] = {3, 4}", ""),
        ("temp a [[int]] = {{1}}\na[0] = 2", "E3001@2"),
    ]);
}

#[test]
fn structs_have_the_fields_they_have() {
    bodies(&[
        (
            "temp p = Point{x: 1, y: 2, name: \"a\"}\np.x = p.y + 1\nprintln(p.next.x)\np.next.name = \"b\"",
            "",
        ),
        ("temp p = Point{}\ntemp q = new(Point)\nq = p", ""),
        ("temp p = Point{z: 1}", "E3006@1"),
        ("temp p = Point{x: 1, x: 2}", "E3029@1"),
        ("temp p = Point{x: \"a\"}", "E3001@1"),
        ("temp p = Point{}\np.z = 1", "E3006@2"),
        ("temp p = Point{}\nprintln(p.z)", "E3006@2"),
        ("println(counter.x)", "E3006@1"),
        ("temp p = new(int)", "E3008@1"),
        ("temp p = Nowhere{a: 1}", "E3008@1"),
        ("temp p = Color{}", "E3008@1"),
        ("temp e = Error{message: \"a\", code: 2}\nprintln(e.message)", ""),
    ]);
}

#[test]
fn calls_pass_what_is_asked_for() {
    bodies(&[
        ("temp n = 1\nraise(n, 2)", ""),
        ("raise()", "E3035@1"),
        ("temp n = 1\nraise(n, 1, 2)", "E3035@2"),
        ("temp n = 1\nraise(n, \"x\")", "E3001@2"),
        ("temp a int = give()", ""),
        ("temp a string = give()", "E3001@1"),
        ("println(nothing())", "E3011@1"),
        ("println(pair())", "E3011@1"),
        ("println()", ""),
        ("println(1, \"a\", 'c', nil, PRIMES, Color.RED, Point{})", ""),
    ]);
}

#[test]
fn natives_take_what_their_signatures_say() {
    bodies(&[
        ("temp n int = len(\"abc\") + len(PRIMES)", ""),
        ("temp n = len(1)", "E3001@1"),
        ("temp n = len()", "E3035@1"),
        ("temp s string = strings.upper(\"a\")", ""),
        ("temp s = strings.upper(1)", "E3001@1"),
        ("temp s int = strings.upper(\"a\")", "E3001@1"),
        ("temp a [string] = {}\narrays.append(a, \"x\")", ""),
        ("temp a [string] = {}\narrays.append(a, 1)", "E3001@2"),
        ("temp a [u8] = {}\narrays.append(a, 1)", ""),
        ("temp a [u8] = {}\narrays.append(a, 300)", "E3020@2"),
        ("temp a [[int]] = {}\narrays.append(a, {})", ""),
        ("temp m = {\"a\": 1}\ntemp k [string] = maps.keys(m)\ntemp v [int] = maps.values(m)", ""),
        ("temp m = {\"a\": 1}\ntemp k [int] = maps.keys(m)", "E3001@2"),
        ("temp f float = math.sqrt(16)\ntemp g float = math.sqrt(2.0)", ""),
        ("temp e error = error(\"x\")\ntemp f error = error(\"x\", 3)", ""),
        ("temp t string = typeof(counter)", ""),
        ("temp c = random.choice({\"a\", \"b\"})\nc = \"x\"", ""),
        ("temp p Point, err = json.decode(\"{}\")\nprintln(p.x, err)", ""),
        ("temp p, err = json.decode(\"{}\")", "E3010@1"),
        ("temp s = strings.join({\"a\"}, 1)", "E3001@1"),
    ]);
}

#[test]
fn conversions_are_asked_for() {
    bodies(&[
        (
            "temp a int = int(\"1\")\ntemp b float = float(1)\ntemp c string = string(1.5)\ntemp d char = char(65)\ntemp e byte = byte(1)",
            "",
        ),
        ("temp a int = int(1.5)\ntemp b u8 = u8(a)\ntemp c f32 = f32(a)\ntemp d int = int('a')", ""),
        ("temp a int = int(true)\ntemp b bool = cast(\"true\", bool)", ""),
        ("temp a = float(true)", "E3021@1"),
        ("temp a = int(PRIMES)", "E3021@1"),
        ("temp a = float('a')", "E3021@1"),
        ("temp a = int()", "E3035@1"),
        ("temp a = int(1, 2)", "E3035@1"),
        ("temp a u8 = cast(counter, u8)\ntemp b [string] = cast(PRIMES, [string])", ""),
        ("temp a = cast(PRIMES, int)", "E3021@1"),
        ("temp a Color = cast(1, Color)", ""),
        ("temp a int = Color.RED\ntemp b Color = 1\ntemp s string = Size.SMALL", ""),
        ("temp a string = Color.RED", "E3001@1"),
        ("temp a Color = Mode.READ", "E3001@1"),
        ("temp s = \"${counter} ${Color.RED} ${PRIMES[0] + 1}\"", ""),
        ("temp s = \"${nowhere}\"", "E4001@1"),
        ("temp s = \"${nothing()}\"", "E3011@1"),
    ]);
}

#[test]
fn the_first_element_of_a_literal_says_what_the_others_are_and_one_mistake_is_told() {
    bodies(&[
        ("temp a = {1, \"a\", \"b\", 'c'}", "E3001@1"),
        ("temp a = {\n1,\n\"a\",\n2,\n\"b\"}", "E3001@3"),
        ("temp a = {\"a\",\n1,\n2}", "E3001@2"),
        ("temp a = {1,\n2.5}", "E3001@2"),
        ("temp b u8 = 1\ntemp a = {1, b}\ntemp _ [u8] = a", ""),
        ("temp a = {nil, Point{x: 1}}", ""),
        ("temp m = {\"a\": 1,\n2: \"b\",\n3: 4}", "E3001@2 E3001@2"),
    ]);
}
