//! Tests' part of an inspector: what it is told, read off the connection.

use std::io::Read;

use serde_json::Value;

/// The next text that is said to the inspector.
pub(crate) fn told(inspector: &mut impl Read) -> Value {
    let mut head = [0; 2];
    inspector.read_exact(&mut head).unwrap();
    let mut longer = [0; 2];
    let length = match head[1] & 0x7F {
        0x7E => {
            inspector.read_exact(&mut longer).unwrap();
            usize::from(u16::from_be_bytes(longer))
        }
        short => usize::from(short),
    };
    let mut content = vec![0; 4 + length];
    inspector.read_exact(&mut content).unwrap();
    serde_json::from_slice(&content[4..]).unwrap()
}
