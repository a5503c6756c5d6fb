//! What a person should know of a package before it is installed: whose it is, why it is taken, what is changed in it.
//!
//! The steps that install it are in `fix`.

use std::fmt;

use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// With its version and where it comes from.
    pub name: String,
    pub publisher: String,
    /// Why this one is taken.
    pub why: String,
    /// What is changed in it after the download.
    pub changes: String,
    /// Where the project itself offers its downloads.
    pub official: String,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  package:   {}", self.name)?;
        writeln!(f, "  publisher: {}", self.publisher)?;
        writeln!(f, "  why:       {}", self.why)?;
        writeln!(f, "  changes:   {}", self.changes)?;
        write!(f, "  official:  {}", self.official)
    }
}
