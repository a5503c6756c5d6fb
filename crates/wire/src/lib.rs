//! Framing: where one message ends and the next begins.
//!
//! Three framings share one shape: the owner reads bytes into `spare()` and takes frames with `next()`.
//! Nothing here does I/O or looks into a message, so a malformed body costs one message and not the connection.
//! Every limit is checked before memory is taken for what it limits. What a program has not read yet is counted the same way.

mod buffer;
mod content_length;
mod error;
pub mod header;
mod header_block;
mod json_lines;
mod length_prefix;
#[cfg(test)]
mod properties;
mod unread;
mod visible;

use bytes::Bytes;

pub use content_length::ContentLength;
pub use error::FrameError;
pub use json_lines::JsonLines;
pub use length_prefix::LengthPrefix;
pub use unread::{Reads, Refused, Unread};
pub use visible::{visible, visible_lines};

/// One framing's decoder.
///
/// The owner reads bytes into [`spare`](Decode::spare) and then takes frames with [`next`](Decode::next) until it
/// yields `None`. After an error the framing is lost: the decoder repeats that error for ever.
pub trait Decode {
    /// Where the next bytes are appended; it always has spare capacity.
    ///
    /// For a large body of known length it is a vector of exactly that capacity, so a big message is read straight
    /// into its own memory and never past its end.
    fn spare(&mut self) -> &mut Vec<u8>;

    fn next(&mut self) -> Result<Option<Frame>, FrameError>;

    /// To be called at the end of the stream, once `next` has yielded `None`.
    ///
    /// A message that was cut short is an error and never delivered in part.
    fn finish(&mut self) -> Result<Option<Frame>, FrameError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    Message(Bytes),
    /// What an adapter printed between messages. One text may come in several pieces.
    Junk(Bytes),
}

/// Who writes the stream that is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A client that sends anything but messages has lost the framing.
    Client,
    /// Adapters print banners and warnings on the stream of their messages, so these are passed on as junk.
    Adapter,
}

/// How often a peer did what we tolerate but a strict peer would not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Messages whose header name was not spelled `Content-Length`.
    pub odd_case: u64,
    /// Header lines other than `Content-Length`.
    pub other_headers: u64,
    /// Messages with a header line that ended in `\n` alone.
    pub bare_newline: u64,
    /// Blank lines between messages.
    pub blank_lines: u64,
    /// Texts between messages, however many pieces they were delivered in.
    pub junk: u64,
    pub byte_order_mark: u64,
}
