//! How languages write a text in quotes, as debuggers and programs show it.

/// A text in one way to write it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spelled {
    pub text: String,
    /// How much of it is too much to be shown.
    pub beginning: usize,
}

/// What gets a backslash, beside the backslash itself, what of ASCII is a code, and how what is no letter of ASCII is
/// written.
struct Spelling {
    marked: &'static [&'static str],
    coded: (&'static str, Wide),
    wide: Wide,
}

enum Wide {
    AsItIs,
    /// `\u00e4`, in two halves beyond the first 65,536.
    Units,
    /// `\u00E4`
    UpperUnits,
    /// `\xc3\xa4`
    Bytes,
    /// `\xC3\xA4`
    UpperBytes,
    /// `\303\244`
    Octal,
}

/// In Ruby these would be more than a text.
const OF_RUBY: &[&str] = &["\"", "#{", "#$", "#@"];

/// Where the quotes around it are others than those in it.
const PLAIN: Spelling = Spelling { marked: &[], coded: ("", Wide::Units), wide: Wide::AsItIs };

const SPELLINGS: [Spelling; 13] = [
    PLAIN,
    // JSON, C++, Go, Java and Rust.
    Spelling { marked: &["\""], ..PLAIN },
    // JSON of Python.
    Spelling { marked: &["\""], wide: Wide::Units, ..PLAIN },
    // C by gdb.
    Spelling { marked: &["\""], wide: Wide::Octal, ..PLAIN },
    // JSON of Java.
    Spelling { marked: &["\""], wide: Wide::UpperUnits, ..PLAIN },
    // JSON that may stand in a page: of Go and Rails, of Gson, and of .NET.
    Spelling { marked: &["\""], coded: ("&<>", Wide::Units), ..PLAIN },
    Spelling { marked: &["\""], coded: ("&<>='", Wide::Units), ..PLAIN },
    Spelling { coded: ("&<>+'\"`", Wide::UpperUnits), wide: Wide::UpperUnits, ..PLAIN },
    // Ruby, where it knows that these are letters, and where it does not.
    Spelling { marked: OF_RUBY, ..PLAIN },
    Spelling { marked: OF_RUBY, wide: Wide::UpperUnits, ..PLAIN },
    Spelling { marked: OF_RUBY, wide: Wide::UpperBytes, ..PLAIN },
    // Python, JavaScript and Perl.
    Spelling { marked: &["'"], ..PLAIN },
    // Bytes of Python.
    Spelling { marked: &["'"], wide: Wide::Bytes, ..PLAIN },
];

/// A text as it is, in quotes, and in quotes in a text in quotes. Most texts look the same in all of them.
pub fn of(text: Spelled) -> Vec<Spelled> {
    let once = distinct(SPELLINGS.iter().map(|spelling| spelling.write(&text)).collect());
    let twice = once.iter().flat_map(|once| SPELLINGS.iter().map(|spelling| spelling.write(once))).collect();
    distinct([vec![text], once, twice].concat())
}

fn distinct(mut all: Vec<Spelled>) -> Vec<Spelled> {
    all.sort_unstable();
    all.dedup_by(|one, other| one.text == other.text);
    all
}

impl Spelling {
    fn write(&self, from: &Spelled) -> Spelled {
        let mut written = String::with_capacity(from.text.len());
        let mut beginning = None;
        for (at, letter) in from.text.char_indices() {
            if at == from.beginning {
                beginning = Some(written.len());
            }
            match letter {
                '\\' => written.push_str("\\\\"),
                '\n' => written.push_str("\\n"),
                '\r' => written.push_str("\\r"),
                '\t' => written.push_str("\\t"),
                ' '..='~' if self.coded.0.contains(letter) => self.coded.1.write(letter, &mut written),
                ' '..='~' => {
                    if self.marked.iter().any(|mark| from.text[at..].starts_with(mark)) {
                        written.push('\\');
                    }
                    written.push(letter);
                }
                wide => self.wide.write(wide, &mut written),
            }
        }
        Spelled { beginning: beginning.unwrap_or(written.len()), text: written }
    }
}

impl Wide {
    fn write(&self, letter: char, to: &mut String) {
        let mut bytes = [0; 4];
        let bytes = letter.encode_utf8(&mut bytes).bytes();
        let mut units = [0; 2];
        let units = letter.encode_utf16(&mut units).iter();
        match self {
            Wide::AsItIs => to.push(letter),
            Wide::Units => units.for_each(|unit| *to += &format!("\\u{unit:04x}")),
            Wide::UpperUnits => units.for_each(|unit| *to += &format!("\\u{unit:04X}")),
            Wide::Bytes => bytes.for_each(|byte| *to += &format!("\\x{byte:02x}")),
            Wide::UpperBytes => bytes.for_each(|byte| *to += &format!("\\x{byte:02X}")),
            Wide::Octal => bytes.for_each(|byte| *to += &format!("\\{byte:03o}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Spelled {
        Spelled { text: text.to_owned(), beginning: text.len() }
    }

    #[test]
    fn a_text_of_letters_is_spelled_one_way() {
        let all: Vec<_> = of(whole("ghp_0123-AB.cd")).into_iter().map(|spelled| spelled.text).collect();
        assert_eq!(all, ["ghp_0123-AB.cd"]);
        assert_eq!(of(whole("a\nb")).len(), 3);
    }

    #[test]
    fn a_text_is_spelled_as_languages_do() {
        let text = whole("\"'#$ä😀\\<=+");
        let written: Vec<_> = SPELLINGS.iter().map(|spelling| spelling.write(&text).text).collect();
        assert_eq!(
            written,
            [
                r#""'#$ä😀\\<=+"#,
                r#"\"'#$ä😀\\<=+"#,
                r#"\"'#$\u00e4\ud83d\ude00\\<=+"#,
                r#"\"'#$\303\244\360\237\230\200\\<=+"#,
                r#"\"'#$\u00E4\uD83D\uDE00\\<=+"#,
                r#"\"'#$ä😀\\\u003c=+"#,
                r#"\"\u0027#$ä😀\\\u003c\u003d+"#,
                r#"\u0022\u0027#$\u00E4\uD83D\uDE00\\\u003C=\u002B"#,
                r#"\"'\#$ä😀\\<=+"#,
                r#"\"'\#$\u00E4\uD83D\uDE00\\<=+"#,
                r#"\"'\#$\xC3\xA4\xF0\x9F\x98\x80\\<=+"#,
                r#""\'#$ä😀\\<=+"#,
                r#""\'#$\xc3\xa4\xf0\x9f\x98\x80\\<=+"#,
            ]
        );
    }

    #[test]
    fn a_beginning_is_as_many_letters_however_they_are_written() {
        let all = of(Spelled { text: "\"ä#{x".to_owned(), beginning: "\"ä#".len() });
        let begins: Vec<_> = all.iter().map(|spelled| &spelled.text[..spelled.beginning]).collect();
        for written in
            [r#""ä#"#, r#"\"\u00e4#"#, r#"\"\303\244#"#, r#"\u0022\u00E4#"#, r#"\"ä\#"#, r#"\\\"ä\\#"#]
        {
            assert!(begins.contains(&written), "{written}: {begins:?}");
        }
    }
}
