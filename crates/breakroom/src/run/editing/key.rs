//! Which key a terminal means by the bytes that it sends.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Letter(char),
    Enter,
    /// Ctrl-D.
    End,
    Delete,
    Backspace,
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    LineEnd,
    CutToEnd,
    CutToHome,
    CutWord,
    Up,
    Down,
    Search,
    Cancel,
    Complete,
    ClearScreen,
    /// One that means nothing here.
    Other,
}

/// Control characters, by the byte.
const CONTROLS: [(u8, Key); 19] = [
    (0x01, Key::Home),
    (0x02, Key::Left),
    (0x04, Key::End),
    (0x05, Key::LineEnd),
    (0x06, Key::Right),
    (0x07, Key::Cancel),
    (0x08, Key::Backspace),
    (b'\t', Key::Complete),
    (b'\n', Key::Enter),
    (0x0b, Key::CutToEnd),
    (0x0c, Key::ClearScreen),
    (b'\r', Key::Enter),
    (0x0e, Key::Down),
    (0x10, Key::Up),
    (0x12, Key::Search),
    (0x15, Key::CutToHome),
    (0x17, Key::CutWord),
    (0x1a, Key::Other),
    (0x7f, Key::Backspace),
];

/// What follows `ESC [` or `ESC O`, without what says which other keys were held.
const SEQUENCES: [(&[u8], Key); 15] = [
    (b"A", Key::Up),
    (b"B", Key::Down),
    (b"C", Key::Right),
    (b"D", Key::Left),
    (b"F", Key::LineEnd),
    (b"H", Key::Home),
    (b"1~", Key::Home),
    (b"3~", Key::Delete),
    (b"4~", Key::LineEnd),
    (b"7~", Key::Home),
    (b"8~", Key::LineEnd),
    (b"1;5C", Key::WordRight),
    (b"1;5D", Key::WordLeft),
    (b"1;3C", Key::WordRight),
    (b"1;3D", Key::WordLeft),
];

const ESCAPE: u8 = 0x1b;

/// The bytes of a key that is not complete yet.
#[derive(Default)]
pub struct Keyboard(Vec<u8>);

impl Keyboard {
    pub fn feed(&mut self, byte: u8) -> Option<Key> {
        self.0.push(byte);
        let key = key_of(&self.0)?;
        self.0.clear();
        Some(key)
    }
}

fn key_of(bytes: &[u8]) -> Option<Key> {
    match bytes {
        [ESCAPE] | [ESCAPE, b'[' | b'O'] => None,
        [ESCAPE, b'[' | b'O', rest @ ..] => {
            let is_complete = rest.last().is_some_and(|last| (0x40..=0x7e).contains(last));
            // No key is that long.
            (is_complete || rest.len() > 16).then(|| found(&SEQUENCES, |sequence| *sequence == rest))
        }
        [ESCAPE, b'b'] => Some(Key::WordLeft),
        [ESCAPE, b'f'] => Some(Key::WordRight),
        [ESCAPE, 0x7f | 0x08] => Some(Key::CutWord),
        [ESCAPE, ..] => Some(Key::Other),
        [control] if *control < 0x20 || *control == 0x7f => Some(found(&CONTROLS, |byte| byte == control)),
        letter => match std::str::from_utf8(letter) {
            Ok(text) => Some(text.chars().next().map_or(Key::Other, Key::Letter)),
            Err(error) if error.error_len().is_none() => None,
            Err(_) => Some(Key::Other),
        },
    }
}

fn found<T>(table: &[(T, Key)], is_it: impl Fn(&T) -> bool) -> Key {
    table.iter().find(|(bytes, _)| is_it(bytes)).map_or(Key::Other, |(_, key)| *key)
}
