//! Programs made up from a list of choices: nearly all of them pass the checker, so that what runs is looked at.
//!
//! They have a few variables of each kind of value, functions that change what they are given, loops, faults and ensured
//! calls. They know nothing of the standard modules but how to print and to append.

/// What is chosen, until it runs out: then everything is the first of its kind, so programs end.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                usize::from(*first) % limit
            }
            None => 0,
        }
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How deep statements and expressions go into each other.
const DEEPEST: usize = 3;

const HEAD: &str = "import @std\nimport @arrays\nusing std\n
const Point struct { x int  names [string]  by map[string:int]  next Point }
const Mode enum { A  B  C }
temp total int = 0
temp seen [int] = {}

do note(text string) { println(text, total) }
do change(&p Point, &list [int], by int) -> int {
    ensure note(\"left\")
    p.x += by
    arrays.append(p.names, \"n${by}\")
    if by > 2 { return p.x }
    arrays.append(list, p.x)
    return change(p, list, by + 1)
}
do pair(a int) -> (int, string) { return a * 2, \"${a}\" }
";

/// Every variable is there from the beginning, so that any statement can use any of them.
const VARIABLES: &str = "    temp i int = 1\n    temp j i8 = 100\n    temp u u256 = 7\n    temp f float = 0.5
    temp s string = \"abc\"\n    temp c char = 'x'\n    temp b bool = true\n    temp m map[string:int] = {\"a\": 1}
    temp l [int] = {1, 2, 3}\n    temp g [[int]] = {{1}, {2, 3}}\n    temp p Point = Point{x: 1, by: {\"k\": 0}}
    temp q Point = p\n    temp e Mode = Mode.A\n";

pub fn program(choices: &[u8]) -> String {
    let mut choices = Choices(choices);
    let mut text = HEAD.to_owned();
    for name in ["helper", "main"] {
        let before = if name == "main" { "helper()" } else { "" };
        text += &format!("do {name}() {{\n{VARIABLES}    {before}\n");
        let count = 1 + choices.below(12);
        for _ in 0..count {
            statement(&mut choices, &mut text, 0);
        }
        text += "    println(i, j, u, f, s, c, b, m, l, g, p, q, e, total, seen)\n}\n";
    }
    text
}

fn statement(choices: &mut Choices<'_>, text: &mut String, depth: usize) {
    if choices.is_empty() {
        return;
    }
    // No two variables of one name may be in each other's blocks.
    let inner = format!("n{}", text.len());
    let number = |choices: &mut Choices<'_>| number(choices, depth);
    let line = match choices.below(if depth < DEEPEST { 30 } else { 22 }) {
        0 => format!("i = {}", number(choices)),
        1 => format!("i {} {}", choices.pick(&["+=", "-=", "*=", "/=", "%="]), number(choices)),
        2 => choices.pick(&["i++", "i--", "j++", "j += 20", "j--", "u *= u", "u -= 5", "total++"]).to_owned(),
        3 => format!("l[{}] = {}", index(choices), number(choices)),
        4 => format!("l[{}] {} 3", index(choices), choices.pick(&["+=", "-=", "*="])),
        5 => format!("m[{}] = {}", key(choices), number(choices)),
        6 => format!("m[{}] += {}", key(choices), number(choices)),
        7 => format!("arrays.append(l, {})", number(choices)),
        8 => format!("arrays.append(g[{}], {})", index(choices), number(choices)),
        9 => format!("g[{}][{}] = {}", index(choices), index(choices), number(choices)),
        10 => format!("p.x = {}", number(choices)),
        11 => format!("p.by[{}] = {}", key(choices), number(choices)),
        12 => choices
            .pick(&["q = p", "p = q", "p.next = q", "q.next = p", "q = copy(p)", "p.next.x = 5"])
            .to_owned(),
        13 => format!(
            "s {} \"{}\"",
            choices.pick(&["=", "+="]),
            choices.pick(&["é", "xyz", "", "${i}", "${p}"])
        ),
        14 => format!("s[{}] = c", index(choices)),
        15 => format!("i = change(p, l, {})", index(choices)),
        16 => format!("i, s = pair({})", number(choices)),
        17 => choices
            .pick(&["i, _ = pair(2)", "seen = l", "l = seen", "g[0] = l", "l = g[1]", "b = !b"])
            .to_owned(),
        18 => format!("arrays.append(seen, {})", number(choices)),
        19 => choices
            .pick(&["f /= 3.0", "f *= f", "c = s[0]", "e = Mode.B", "e = Mode.C", "f = cast(i, float)"])
            .to_owned(),
        20 => "ensure note(s)".to_owned(),
        21 => choices
            .pick(&["arrays.pop(l)", "arrays.clear(l)", "l = arrays.reverse(l)", "println(p)"])
            .to_owned(),
        22 => {
            return block(
                choices,
                text,
                depth,
                &format!("for {inner} in range(0, 3) {{"),
                &format!("total += {inner}"),
            );
        }
        23 => {
            return block(
                choices,
                text,
                depth,
                &format!("for_each {inner} in l {{"),
                &format!("total += {inner}"),
            );
        }
        24 => {
            return block(
                choices,
                text,
                depth,
                &format!("for_each {inner} in s {{"),
                &format!("c = {inner}"),
            );
        }
        25 => return block(choices, text, depth, "as_long_as i < 20 {", "i += 3"),
        26 => return block(choices, text, depth, "loop {", "i += 7 if i > 90 { break }"),
        27 => {
            let head =
                format!("if {} {} {} {{", number(choices), choices.pick(&["<", "==", ">="]), number(choices));
            return block(choices, text, depth, &head, "");
        }
        28 => return block(choices, text, depth, "when e { is Mode.A, Mode.C {", "} default { i = 0 }"),
        _ => {
            let to = choices.pick(&["i", "l", "p", "m"]);
            let change = match to {
                "i" => format!("{inner} += 1"),
                "l" => format!("arrays.append({inner}, 4)"),
                "p" => format!("{inner}.x = 9"),
                _ => format!("{inner}[\"r\"] = 2"),
            };
            return block(choices, text, depth, &format!("if b {{ temp {inner} = ref({to})"), &change);
        }
    };
    *text += &format!("    {line}\n");
}

fn block(choices: &mut Choices<'_>, text: &mut String, depth: usize, head: &str, last: &str) {
    *text += &format!("    {head}\n");
    for _ in 0..choices.below(4) {
        statement(choices, text, depth + 1);
    }
    *text += &format!("    {last}\n    }}\n");
}

fn number(choices: &mut Choices<'_>, depth: usize) -> String {
    let plain = ["1", "0", "i", "p.x", "len(l)", "total", "-3", "9223372036854775807", "q.x"];
    match choices.below(if depth < DEEPEST { 16 } else { 9 }) {
        9 => format!("l[{}]", index(choices)),
        10 => format!("m[{}]", key(choices)),
        11 => format!("g[{}][{}]", index(choices), index(choices)),
        12 => "len(s)".to_owned(),
        13 | 14 => {
            let left = number(choices, depth + 1);
            format!("({left} {} {})", choices.pick(&["+", "-", "*", "/", "%"]), number(choices, depth + 1))
        }
        15 => format!("change(q, seen, {})", number(choices, depth + 1)),
        simple => plain[simple].to_owned(),
    }
}

fn index(choices: &mut Choices<'_>) -> &'static str {
    choices.pick(&["0", "1", "2", "i", "len(l) - 1", "i - 9", "total"])
}

fn key(choices: &mut Choices<'_>) -> &'static str {
    choices.pick(&["\"a\"", "\"k\"", "s", "\"${i}\"", "\"\""])
}
