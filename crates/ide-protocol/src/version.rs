//! The versions of the protocol, which are dates.

use std::fmt;

/// A version that is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    V2024_03_03,
    V2024_04_23,
    V2025_10_01,
    /// The first with the debug bridge.
    V2026_02_01,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedVersion {
    #[error("version {0:?} is no date of the form YYYY-MM-DD")]
    Malformed(String),
    #[error("version {given} is older than {oldest}, the oldest that is supported")]
    TooOld { given: String, oldest: Version },
}

impl Version {
    pub const KNOWN: [Version; 4] =
        [Version::V2024_03_03, Version::V2024_04_23, Version::V2025_10_01, Version::V2026_02_01];

    fn date(self) -> &'static str {
        match self {
            Version::V2024_03_03 => "2024-03-03",
            Version::V2024_04_23 => "2024-04-23",
            Version::V2025_10_01 => "2025-10-01",
            Version::V2026_02_01 => "2026-02-01",
        }
    }

    /// Whether a run session may be debugged through a debug bridge.
    pub fn has_bridge(self) -> bool {
        self >= Version::V2026_02_01
    }

    /// The version by which a request of that version is read: the newest known one that is not newer.
    pub fn for_request(given: &str) -> Result<Version, UnsupportedVersion> {
        if !is_date(given) {
            return Err(UnsupportedVersion::Malformed(given.to_owned()));
        }
        // Dates of this form are in the order of their texts.
        let known = Version::KNOWN.into_iter().rev().find(|version| version.date() <= given);
        known.ok_or_else(|| UnsupportedVersion::TooOld {
            given: given.to_owned(),
            oldest: Version::V2024_03_03,
        })
    }
}

fn is_date(text: &str) -> bool {
    let shape =
        |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(shape)
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.date())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_read_by_the_newest_known_version_that_is_not_newer() {
        for version in Version::KNOWN {
            assert_eq!(Version::for_request(&version.to_string()), Ok(version));
        }
        assert_eq!(Version::for_request("2025-01-01"), Ok(Version::V2024_04_23));
        assert_eq!(Version::for_request("2030-01-01"), Ok(Version::V2026_02_01));
    }

    #[test]
    fn version_that_is_too_old_or_no_date_is_refused_with_its_value() {
        let error = Version::for_request("2023-12-31").unwrap_err().to_string();
        assert!(error.contains("2023-12-31") && error.contains("2024-03-03"), "{error}");
        for text in ["", "latest", "2026-2-1", "2026-02-01 ", "20260201xx"] {
            let error = Version::for_request(text).unwrap_err();
            assert_eq!(error, UnsupportedVersion::Malformed(text.to_owned()));
        }
    }
}
