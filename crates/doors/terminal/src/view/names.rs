//! Functions as people call them, where a debugger has a compiler's name for one, or its own.
//!
//! What no rule here knows is left as it is. Nothing is looked up.

/// A function's name without what nobody would say: a hash, what a method was called on, letters that a linker cannot have.
pub fn function(name: &str) -> String {
    unescaped(without_receiver(without_hash(name)))
}

/// A function of Rust as its program calls it: `tool::main::h9754cc73d0c13a82` has a hash of the compiler's behind it.
fn without_hash(name: &str) -> &str {
    let is_hash = |hash: &&str| hash.len() == 16 && hash.bytes().all(|letter| letter.is_ascii_hexdigit());
    let named = name.rsplit_once("::h").filter(|(_, hash)| is_hash(hash));
    named.map_or(name, |(named, _)| named)
}

/// A method of JavaScript without what it was called on, where js-debug gives only the beginning of that: `Timeout {.tick`.
fn without_receiver(name: &str) -> &str {
    name.rsplit_once(" {.").map_or(name, |(_, method)| method)
}

/// What the compiler of Rust writes for letters that a linker cannot have, beside `$u7b$` for any by its number.
const ESCAPES: [(&str, char); 8] =
    [("SP", '@'), ("BP", '*'), ("RF", '&'), ("LT", '<'), ("GT", '>'), ("LP", '('), ("RP", ')'), ("C", ',')];

/// `Result$LT$T$C$E$GT$::unwrap` is `Result<T,E>::unwrap`. A name with anything else between two `$` is no such name, nor one
/// of another language: Java has `Outer$C$Inner.run`.
fn unescaped(name: &str) -> String {
    match (name.contains('$') && name.contains("::")).then(|| with_letters(name)).flatten() {
        Some(plain) => plain,
        None => name.to_owned(),
    }
}

fn with_letters(name: &str) -> Option<String> {
    let mut plain = String::new();
    let mut parts = name.split('$');
    let put = |plain: &mut String, text: &str| plain.push_str(&text.replace("..", "::"));
    put(&mut plain, parts.next()?);
    while let Some(escape) = parts.next() {
        let known = ESCAPES.iter().find(|(name, _)| *name == escape).map(|(_, letter)| *letter);
        let number = || char::from_u32(u32::from_str_radix(escape.strip_prefix('u')?, 16).ok()?);
        let letter = known.or_else(number)?;
        // None of a path's parts may begin with an escape, so there is a line before it.
        if plain == "_" || plain.ends_with("::_") {
            plain.pop();
        }
        plain.push(letter);
        put(&mut plain, parts.next()?);
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_person_would_call_a_function_is_left_out() {
        for (name, shown) in [
            ("tool::main::h9754cc73d0c13a82", "tool::main"),
            ("tool::hash", "tool::hash"),
            ("main", "main"),
            ("a::h1::h", "a::h1::h"),
            ("Timeout {.tick", "tick"),
            ("function Module(id = '', parent) {.executeUserEntryPoint", "executeUserEntryPoint"),
            ("global.add", "global.add"),
            ("adds::_$u7b$$u7b$closure$u7d$$u7d$::h9754cc73d0c13a82", "adds::{{closure}}"),
            ("core::result::Result$LT$T$C$E$GT$::unwrap", "core::result::Result<T,E>::unwrap"),
            ("_$LT$a..B$u20$as$u20$c..D$GT$::e", "<a::B as c::D>::e"),
            ("$", "$"),
            ("jQuery$1", "jQuery$1"),
            ("a::a$b$c", "a::a$b$c"),
            ("Outer$C$Inner.run", "Outer$C$Inner.run"),
        ] {
            assert_eq!(function(name), shown);
        }
    }
}
