//! Whether a connection may control the session.
//!
//! A token is compared in constant time and can be neither printed nor logged.

use subtle::ConstantTimeEq;

#[derive(Clone)]
pub struct Token(Box<[u8]>);

impl Token {
    pub fn new(secret: impl Into<Box<[u8]>>) -> Self {
        Token(secret.into())
    }

    /// In a time that says nothing about how much of it was right.
    pub fn matches(&self, said: &[u8]) -> bool {
        self.0.ct_eq(said).into()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// What a connection must still show before it may do anything.
#[derive(Debug, Clone)]
pub enum Access {
    /// The driver knows that the peer is the same user.
    Granted,
    /// `launch` or `attach` must bring this token in `"breakroom": {"token": ...}`.
    NeedsToken(Token),
}

impl Access {
    /// Grants access if `said` is the token. Wrong tokens leave everything as it was.
    pub(crate) fn present(&mut self, said: Option<&str>) -> bool {
        if let Access::NeedsToken(token) = self
            && said.is_some_and(|said| token.matches(said.as_bytes()))
        {
            *self = Access::Granted;
        }
        self.is_granted()
    }

    pub(crate) fn is_granted(&self) -> bool {
        matches!(self, Access::Granted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens_and_it_is_never_printed() {
        let mut access = Access::NeedsToken(Token::new(*b"secret"));
        assert!(!format!("{access:?}").contains("secret"));
        assert!(!access.present(None) && !access.present(Some("secre")) && !access.present(Some("secretx")));
        assert!(access.present(Some("secret")));
        assert!(access.present(None), "access stays granted");
    }
}
