//! Random programs: whatever they do, every statement looks the same whether it is reached by running or by going back.

use proptest::prelude::*;

use crate::support::{Every, Text, picture, text};
use breakroom_ez::machine::{Halt, Machine};

/// Small numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// What every program has; statements are made up for `main`, `change` and `twist`.
fn program(seed: u64) -> String {
    let mut dice = Dice(seed);
    let main = block(&mut dice, 3, 14, Where::Main);
    let change = block(&mut dice, 1, 4, Where::Change);
    let twist = block(&mut dice, 1, 3, Where::Twist);
    format!(
        "const Pair struct {{ n int  list [int]  word string }}
temp total int = 1
temp all [int] = {{5, 6, 7}}
temp seen map[int:int] = {{1: 1}}
do note(what int) {{
    total += what % 7
}}
do change(by int, &x int, &list [int]) -> int {{
    ensure note(by)
    temp y int = by
    {change}
    return (x + y) % 1000
}}
do twist(&p Pair, depth int) {{
    if depth > 0 {{
        twist(p, depth - 1)
    }}
    temp x int = depth
    temp y int = p.n
    {twist}
}}
do main() {{
    temp x int = 3
    temp y int = 4
    temp list [int] = {{1, 2, 3}}
    temp counts map[int:int] = {{0: 9}}
    temp word string = \"abc\"
    temp p Pair = Pair{{n: 1, list: {{8, 9}}, word: \"w\"}}
    temp grid [[int]] = {{{{1, 2}}, {{3, 4}}}}
    temp same = ref(list)
    {main}
    println(x, y, list, counts, word, p, grid, same, total, all, seen)
}}"
    )
}

#[derive(Clone, Copy, PartialEq)]
enum Where {
    Main,
    Change,
    Twist,
}

fn number(dice: &mut Dice, place: Where) -> String {
    let main = [
        "x",
        "y",
        "7",
        "total",
        "list[0]",
        "p.n",
        "grid[1][0]",
        "len(list)",
        "all[1]",
        "len(word)",
        "counts[0]",
    ];
    let change = ["x", "y", "by", "3", "total", "len(list)", "all[0]"];
    let twist = ["x", "y", "depth", "2", "p.n", "len(p.list)", "len(p.word)", "all[2]"];
    let leaf = |dice: &mut Dice| match place {
        Where::Main => dice.one_of(&main),
        Where::Change => dice.one_of(&change),
        Where::Twist => dice.one_of(&twist),
    };
    match dice.below(4) {
        0 => format!("({} + {}) % 100", leaf(dice), leaf(dice)),
        1 => format!("({} * {}) % 50", leaf(dice), leaf(dice)),
        2 if dice.below(12) == 0 => format!("({} / ({} % 5))", leaf(dice), leaf(dice)),
        _ => leaf(dice).to_owned(),
    }
}

fn block(dice: &mut Dice, depth: u32, longest: u64, place: Where) -> String {
    let count = 1 + dice.below(longest);
    let statements: Vec<String> = (0..count).map(|_| statement(dice, depth, place)).collect();
    format!(" {}", statements.join("\n").replace('\n', "\n "))
}

fn statement(dice: &mut Dice, depth: u32, place: Where) -> String {
    let n = number(dice, place);
    if depth > 0 && dice.below(3) == 0 {
        let inner = block(dice, depth - 1, 4, place);
        let other = block(dice, depth - 1, 2, place);
        let name = format!("v{}", dice.below(1_000_000_000));
        return match dice.below(6) {
            0 => format!("for {name} in range({n} % 4) {{\nx = (x + {name}) % 90\n{inner}\n}}"),
            1 => format!("for_each {name} in {{1, 2, {n}}} {{\ny = {name}\n{inner}\n}}"),
            2 => format!("if {n} > 3 {{\n{inner}\n}} or {n} == 1 {{\ny = 2\n}} otherwise {{\n{other}\n}}"),
            3 => format!(
                "when {n} {{\nis 1, 2 {{\n{inner}\n}}\nis range(3, 20) {{\n{other}\n}}\ndefault {{\nx = 1\n}}\n}}"
            ),
            4 => format!(
                "temp {name} int = 3\nas_long_as {name} > 0 {{\n{name}--\nif {name} == 1 {{ continue }}\n{inner}\n}}"
            ),
            _ => format!(
                "for {name} in range(3) {{\ntemp i{name} [int] = {{{name}, {n}}}\ni{name}[0] += 1\nif i{name}[0] > 2 {{ break }}\n{inner}\n}}"
            ),
        };
    }
    let common = [
        format!("x = {n}"),
        format!("y += {n} % 9"),
        format!("total = {n}"),
        "x++".to_owned(),
        "y--".to_owned(),
        format!("all[1] = {n}"),
        format!("arrays.append(all, {n})"),
        format!("seen[{n}] = 2"),
        format!("maps.set(seen, {n}, 4)"),
        "arrays.sort(all)".to_owned(),
        "if len(all) > 3 { total = arrays.shift(all) }".to_owned(),
        format!("if len(all) > 4 {{ arrays.remove(all, {n} % 4) }}"),
        format!("arrays.unshift(all, {n}, 1)"),
        format!("maps.remove(seen, {n} % 5)"),
    ];
    let own = match place {
        Where::Main => vec![
            format!("list[0] = {n}"),
            format!("list[len(list) - 1] += {n}"),
            format!("same[1] = {n}"),
            format!("arrays.append(list, {n})"),
            format!("arrays.insert(same, 1, {n})"),
            format!("arrays.insert(list, {n} % 9, {n})"),
            "if len(list) > 3 { x = arrays.pop(list) }".to_owned(),
            "if len(same) > 3 { y = arrays.shift(same) }".to_owned(),
            format!("arrays.remove(list, {n} % 40)"),
            format!("if len(p.list) > 2 {{ arrays.remove_value(p.list, {n}) }}"),
            "if len(grid) > 2 { grid[0] = arrays.pop(grid) }".to_owned(),
            format!("arrays.unshift(grid[0], {n})"),
            "arrays.insert(grid, 1, list)".to_owned(),
            format!("maps.delete(counts, 1 + {n} % 6)"),
            "list = arrays.reverse(list)".to_owned(),
            format!("counts[{n}] = {n}"),
            "counts[0] += 3".to_owned(),
            format!("maps.set(counts, {n}, 1)"),
            "word += \"xy\"".to_owned(),
            "word = word + \"q\"".to_owned(),
            "word[1] = 'Z'".to_owned(),
            format!("word = word + \"${{{n}}}\""),
            format!("word += \"${{{n}}}-${{x}}\""),
            format!("word = \"w${{{n}}}${{word}}\""),
            format!("word = \"abc${{x}}\""),
            "list[1] = 7".to_owned(),
            format!("x = ({n} * 100003) % 70001"),
            format!("if {n} < 40000 && maps.has(counts, {n}) {{\ny = 40000\n}}"),
            format!("p.n = {n}"),
            format!("p.list[0] += {n}"),
            format!("arrays.append(p.list, {n})"),
            "p.word += \"!\"".to_owned(),
            "p.word[0] = 'k'".to_owned(),
            format!("grid[0][1] = {n}"),
            "arrays.append(grid, {5, 6})".to_owned(),
            format!("arrays.append(grid[1], {n})"),
            format!("x = change({n}, y, list)"),
            format!("y = change({n}, list[1], p.list)"),
            format!("x = change({n}, grid[1][0], grid[0])"),
            format!("twist(p, {n} % 3)"),
            "all = list".to_owned(),
            "list = all".to_owned(),
            "p = Pair{n: x, list: list, word: word}".to_owned(),
        ],
        Where::Change => vec![
            format!("x = {n}"),
            format!("list[0] = {n}"),
            format!("arrays.append(list, {n})"),
            "all = list".to_owned(),
            format!("x += {n} % 4"),
            format!("arrays.insert(list, len(list), {n})"),
            "if len(list) > 3 { y = arrays.shift(list) }".to_owned(),
        ],
        Where::Twist => vec![
            format!("p.n = {n}"),
            format!("p.list[0] = {n}"),
            "p.word += \"t\"".to_owned(),
            "p.word[0] = 'j'".to_owned(),
            format!("arrays.append(p.list, {n})"),
            "p = Pair{n: 1, list: {2, 3}, word: \"new\"}".to_owned(),
        ],
    };
    let choice = dice.below((common.len() + own.len() * 2) as u64) as usize;
    match choice < common.len() {
        true => common[choice].clone(),
        false => own[(choice - common.len()) % own.len()].clone(),
    }
}

/// So many statements are enough of a program that goes on for long.
const MOST: usize = 3000;

/// A picture of every statement in the order of time, taken while running without history. A fault is gone on from.
fn pictures(program: &Text) -> (Vec<String>, String, bool) {
    let (mut machine, printed) = program.machine();
    let mut pictures = vec![picture(&machine)];
    while pictures.len() < MOST {
        match machine.run_traced(&mut Every) {
            Halt::Statement => pictures.push(picture(&machine)),
            Halt::Exited(_) => return (pictures, printed.take(), true),
            Halt::Fault(_) | Halt::Attention => {}
        }
    }
    (pictures, printed.take(), false)
}

/// From the end of a program to the beginning of the window and back.
fn go_through(machine: &mut Machine, pictures: &[String], source: &str) -> Result<(), TestCaseError> {
    while !matches!(machine.run(), Halt::Exited(_)) {}
    let now = picture(machine);
    let mut position = pictures.len();
    while machine.back() {
        position -= 1;
        prop_assert_eq!(&picture(machine), &pictures[position], "going back to {} of\n{}", position, source);
        prop_assert!(machine.in_past());
    }
    while machine.forward() {
        position += 1;
        prop_assert_eq!(
            &picture(machine),
            &pictures[position],
            "going forward to {} of\n{}",
            position,
            source
        );
    }
    prop_assert!(!machine.in_past());
    prop_assert_eq!(picture(machine), now, "back in the present of\n{}", source);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_statement_looks_the_same_from_the_future(seed: u64) {
        let source = program(seed);
        let program = text(&source);
        let (pictures, printed, finished) = pictures(&program);
        let (mut machine, again) = program.machine();
        machine.keep_history(64 << 20);
        if finished {
            go_through(&mut machine, &pictures, &source)?;
            prop_assert_eq!(again.take(), printed);
            let steps = (0..).take_while(|_| machine.back()).count();
            prop_assert_eq!(steps, pictures.len(), "the whole program fits the window:\n{}", source);
        }
    }

    #[test]
    fn a_small_window_shows_the_last_statements(seed: u64, bytes in 500usize..20_000) {
        let source = program(seed);
        let program = text(&source);
        let (pictures, _, finished) = pictures(&program);
        let (mut machine, _) = program.machine();
        machine.keep_history(bytes);
        if finished {
            go_through(&mut machine, &pictures, &source)?;
        }
    }

    #[test]
    fn looking_back_now_and_then_changes_nothing(seed: u64, every in 1usize..40) {
        let source = program(seed);
        let program = text(&source);
        let (pictures, printed, finished) = pictures(&program);
        let (mut machine, again) = program.machine();
        machine.keep_history(1 << 20);
        let mut position = 0;
        while position + 1 < pictures.len() {
            match machine.run_traced(&mut Every) {
                Halt::Statement => position += 1,
                Halt::Fault(_) => continue,
                other => prop_assert!(false, "{:?}", other),
            }
            prop_assert_eq!(&picture(&machine), &pictures[position], "{}", source);
            if position % every == 0 {
                let steps = (0..every).take_while(|_| machine.back()).count();
                prop_assert_eq!(&picture(&machine), &pictures[position - steps], "{}", source);
            }
        }
        if finished {
            while !matches!(machine.run(), Halt::Exited(_)) {}
            prop_assert_eq!(again.take(), printed);
        }
    }
}
