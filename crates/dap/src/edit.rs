//! Changing a few places of a message while sharing the rest.
//!
//! A [`Packet`] is a message ready to be framed and sent: shared bytes and a sorted list of edits.
//! A thousand clients of one event share its bytes and differ in one number each.

use std::ops::Range;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::json::Json;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub at: Range<usize>,
    pub with: With,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum With {
    Int(i64),
    /// A whole `"seq":N,` member for a peer that left it out.
    SeqMember(i64),
    Text(Bytes),
}

impl Edit {
    pub fn int(at: Range<usize>, value: i64) -> Self {
        Edit { at, with: With::Int(value) }
    }

    pub fn text(at: Range<usize>, text: impl Into<Bytes>) -> Self {
        Edit { at, with: With::Text(text.into()) }
    }

    /// Gives a member of an object this value, as JSON, whether it is there or not.
    pub fn member(object: Json, key: &str, value: impl AsRef<[u8]>) -> Option<Self> {
        let value = value.as_ref();
        if let Some(there) = object.get(key) {
            return Some(Edit::text(there.span()?, value.to_vec()));
        }
        let inside = object.start() + 1;
        let comma: &[u8] = if object.members().next().is_some() { b"," } else { b"" };
        let text = [b"\"", key.as_bytes(), b"\":", value, comma].concat();
        Some(Edit::text(inside..inside, text))
    }
}

#[derive(Debug, Clone)]
pub struct Packet {
    bytes: Bytes,
    edits: SmallVec<[Edit; 2]>,
}

/// A stretch of a packet: either part of the shared bytes, or a few new ones.
pub enum Part<'a> {
    Shared(&'a Bytes, Range<usize>),
    New(&'a [u8]),
}

impl Packet {
    /// Edits that overlap an earlier one are dropped: the message stays well formed, which matters more.
    pub(crate) fn new(bytes: Bytes, mut edits: SmallVec<[Edit; 2]>) -> Self {
        // At one place an insertion goes before a cut, or the cut would overlap it.
        edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
        let mut end = 0;
        edits.retain(|edit| {
            let fits = edit.at.start >= end && edit.at.end <= bytes.len();
            end = if fits { edit.at.end } else { end };
            fits
        });
        Packet { bytes, edits }
    }

    pub fn len(&self) -> usize {
        let mut scratch = Scratch::default();
        let change = |edit: &Edit| scratch.render(&edit.with).len() as isize - edit.at.len() as isize;
        let change: isize = self.edits.iter().map(change).sum();
        self.bytes.len().saturating_add_signed(change)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Hands out the parts in order.
    pub fn parts(&self, mut each: impl FnMut(Part)) {
        let mut scratch = Scratch::default();
        let mut at = 0;
        for edit in &self.edits {
            if at < edit.at.start {
                each(Part::Shared(&self.bytes, at..edit.at.start));
            }
            each(Part::New(scratch.render(&edit.with)));
            at = edit.at.end;
        }
        if at < self.bytes.len() {
            each(Part::Shared(&self.bytes, at..self.bytes.len()));
        }
    }

    pub fn to_bytes(&self) -> Bytes {
        if self.edits.is_empty() {
            return self.bytes.clone();
        }
        let mut out = Vec::with_capacity(self.len());
        self.parts(|part| match part {
            Part::Shared(bytes, range) => out.extend_from_slice(&bytes[range]),
            Part::New(bytes) => out.extend_from_slice(bytes),
        });
        out.into()
    }
}

/// Room for one rendered number, so that rendering takes no memory: 32 bytes hold `"seq":-9223372036854775808,`.
#[derive(Default)]
struct Scratch {
    text: [u8; 32],
}

impl Scratch {
    /// From the right, by hand: the formatting machinery would be a tenth of what a small message costs.
    fn render<'a>(&'a mut self, with: &'a With) -> &'a [u8] {
        const SEQ: &[u8] = b"\"seq\":";
        let mut at = self.text.len();
        let (value, is_member) = match with {
            With::Text(text) => return text,
            With::Int(value) => (*value, false),
            With::SeqMember(value) => (*value, true),
        };
        let mut put = |byte| {
            at -= 1;
            self.text[at] = byte;
        };
        if is_member {
            put(b',');
        }
        let mut rest = value.unsigned_abs();
        loop {
            put(b'0' + (rest % 10) as u8);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            put(b'-');
        }
        if is_member {
            SEQ.iter().rev().for_each(|byte| put(*byte));
        }
        &self.text[at..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    fn apply(text: &'static str, edits: SmallVec<[Edit; 2]>) -> String {
        let packet = Packet::new(Bytes::from_static(text.as_bytes()), edits);
        let bytes = packet.to_bytes();
        assert_eq!(packet.len(), bytes.len());
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn edits_apply_in_any_order_and_the_rest_stays() {
        let edits = smallvec![
            Edit::int(8..9, 42),
            Edit::text(0..1, &b"<<"[..]),
            Edit { at: 4..4, with: With::SeqMember(-3) },
        ];
        assert_eq!(apply("0123456789", edits), "<<123\"seq\":-3,4567429");
    }

    #[test]
    fn an_insertion_where_a_cut_begins_is_kept_whatever_came_first() {
        assert_eq!(
            apply("0123456789", smallvec![Edit::text(2..5, &b""[..]), Edit::int(2..2, 77)]),
            "017756789"
        );
    }

    #[test]
    fn numbers_of_any_size_are_written() {
        for value in [0, 7, -1, i64::MAX, i64::MIN] {
            assert_eq!(apply("[]", smallvec![Edit::int(1..1, value)]), format!("[{value}]"));
            let member = Edit { at: 0..0, with: With::SeqMember(value) };
            assert_eq!(apply("[]", smallvec![member]), format!("\"seq\":{value},[]"));
        }
    }

    #[test]
    fn an_overlapping_edit_is_dropped() {
        assert_eq!(apply("0123456789", smallvec![Edit::int(2..5, 1), Edit::int(4..6, 2)]), "01156789");
    }
}
