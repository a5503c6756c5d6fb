//! What an IDE says that it can do.

use serde::{Deserialize, Serialize};

use crate::Version;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    pub protocols_supported: Vec<String>,
    /// The types of launch configurations. An IDE that names none serves .NET projects.
    #[serde(default = "only_projects")]
    pub supported_launch_configurations: Vec<String>,
}

fn only_projects() -> Vec<String> {
    vec!["project".to_owned()]
}

impl Info {
    /// Every version that is known here, with these types of launch configurations.
    pub fn new(types: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Info {
            protocols_supported: Version::KNOWN.map(|version| version.to_string()).to_vec(),
            supported_launch_configurations: types.into_iter().map(Into::into).collect(),
        }
    }

    /// The highest version that both sides know.
    pub fn common_version(&self) -> Option<Version> {
        let is_common = |version: &Version| self.protocols_supported.contains(&version.to_string());
        Version::KNOWN.into_iter().rev().find(is_common)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(offered: &[&str]) -> Option<Version> {
        let protocols_supported = offered.iter().map(|version| (*version).to_owned()).collect();
        Info { protocols_supported, supported_launch_configurations: Vec::new() }.common_version()
    }

    #[test]
    fn highest_version_that_both_know_is_taken() {
        assert_eq!(common(&["2024-03-03", "2025-10-01"]), Some(Version::V2025_10_01));
        assert_eq!(common(&["2099-01-01", "2026-02-01", "2024-03-03"]), Some(Version::V2026_02_01));
        assert_eq!(common(&["2026-02-1"]), None);
        assert_eq!(common(&[]), None);
    }

    #[test]
    fn ide_that_names_no_types_serves_projects() {
        let info: Info = serde_json::from_str(r#"{"protocols_supported": [], "more": 1}"#).unwrap();
        assert_eq!(info.supported_launch_configurations, ["project"]);
    }

    #[test]
    fn every_known_version_is_announced() {
        let text = serde_json::to_string(&Info::new(["python"])).unwrap();
        let expected = r#"{"protocols_supported":["2024-03-03","2024-04-23","2025-10-01","2026-02-01"],"supported_launch_configurations":["python"]}"#;
        assert_eq!(text, expected);
    }
}
