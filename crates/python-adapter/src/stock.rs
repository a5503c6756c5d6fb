//! What is left to debugpy's own adapter: only a launch that names the adapter that is to be used.
//!
//! A launch that would open a port to the network goes nowhere: it is refused.

use std::path::PathBuf;

use crate::arguments::Arguments;
use crate::find::Debugpy;

const NAME_THE_ADAPTER: [&str; 2] = ["debugAdapterPath", "debugAdapterPython"];

/// The command of another adapter, if these arguments name one.
pub(crate) fn adapter_for(arguments: &Arguments, debugpy: &Debugpy) -> Option<Vec<PathBuf>> {
    let text = |key: &str| arguments.get(key)?.as_str().map(PathBuf::from);
    NAME_THE_ADAPTER.iter().any(|key| arguments.contains_key(*key)).then(|| {
        let python = text("debugAdapterPython").unwrap_or_else(|| debugpy.python.clone());
        vec![python, text("debugAdapterPath").unwrap_or_else(|| debugpy.stock_adapter())]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_the_table_names_goes_to_the_stock_adapter() {
        let debugpy = Debugpy { python: "py".into(), folder: "/d".into(), version: "1".into() };
        let of = |arguments: serde_json::Value| adapter_for(arguments.as_object().unwrap(), &debugpy);
        assert!(of(json!({"program": "a", "console": "integratedTerminal", "sudo": true})).is_none());
        assert!(of(json!({"debugAdapterHost": "0.0.0.0"})).is_none());
        assert_eq!(of(json!({"debugAdapterPython": "p3"})).unwrap(), ["p3", "/d/adapter"].map(PathBuf::from));
        assert_eq!(of(json!({"debugAdapterPath": "/x"})).unwrap(), ["py", "/x"].map(PathBuf::from));
        let named = json!({"debugAdapterPython": "p3", "debugAdapterPath": "/x"});
        assert_eq!(of(named).unwrap(), ["p3", "/x"].map(PathBuf::from));
    }
}
