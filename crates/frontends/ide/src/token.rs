//! The bearer token of one IDE endpoint. It is compared in constant time and never written to a log.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// 32 random bytes as text that needs no quoting anywhere.
    pub fn random() -> std::io::Result<Token> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Token(URL_SAFE_NO_PAD.encode(bytes)))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_match_only_themselves() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(one.text().len() == 43 && one.matches(one.text()) && !one.matches(other.text()));
        assert!(!one.matches(&one.text()[..42]) && !one.matches(""));
        assert_eq!(format!("{one:?}"), "Token(..)");
    }
}
