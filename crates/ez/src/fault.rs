//! Why a running program cannot go on.

use std::borrow::Cow;

/// A runtime error: its code, such as `E5001`, and a sentence. The machine knows where it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: &'static str,
    pub message: Cow<'static, str>,
    pub help: Option<Cow<'static, str>>,
}

impl Fault {
    #[cold]
    pub fn new(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), help: None }
    }

    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(help.into());
        self
    }
}
