//! Writing the few bytes that go before a message.
//!
//! The body is not touched: the owner writes header and body together without copying the body.

use crate::FrameError;

/// Appends `Content-Length: N\r\n\r\n`.
pub fn write_content_length(out: &mut Vec<u8>, len: usize) {
    const DIGITS_OF_U64: usize = 20;
    let mut digits = [0u8; DIGITS_OF_U64];
    let mut first = DIGITS_OF_U64;
    let mut rest = len;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(b"Content-Length: ");
    out.extend_from_slice(&digits[first..]);
    out.extend_from_slice(b"\r\n\r\n");
}

/// The four bytes before a message of `len` bytes.
pub fn length_prefix(len: usize) -> Result<[u8; 4], FrameError> {
    u32::try_from(len)
        .map(u32::to_be_bytes)
        .map_err(|_| FrameError::TooLarge { length: len.to_string(), limit: u32::MAX as usize })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_length_header_is_appended_to_what_is_there() {
        for (len, header) in [
            (0, "Content-Length: 0\r\n\r\n".to_owned()),
            (7, "Content-Length: 7\r\n\r\n".to_owned()),
            (1_234_567_890, "Content-Length: 1234567890\r\n\r\n".to_owned()),
            (usize::MAX, format!("Content-Length: {}\r\n\r\n", usize::MAX)),
        ] {
            let mut out = b"before".to_vec();
            write_content_length(&mut out, len);
            assert_eq!(out, format!("before{header}").into_bytes());
        }
    }

    #[test]
    fn a_length_that_does_not_fit_four_bytes_is_refused() {
        assert_eq!(length_prefix(258), Ok([0, 0, 1, 2]));
        assert_eq!(length_prefix(u32::MAX as usize), Ok([255; 4]));
        assert!(matches!(length_prefix(u32::MAX as usize + 1), Err(FrameError::TooLarge { .. })));
    }
}
