//! What is left to debugpy's own adapter: few things, in one table, each with the reason.

use std::path::PathBuf;

use crate::arguments::Arguments;
use crate::find::Debugpy;

/// An argument that is not served here.
pub(crate) struct Left {
    argument: &'static str,
    why: Why,
}

#[derive(Clone, Copy)]
enum Why {
    /// The user names the adapter that is to be used.
    NamesTheAdapter,
    /// Everybody on the network could reach what we open; debugpy does that, we do not.
    OpensToTheNetwork,
}

const LEFT: [Left; 3] = [
    Left { argument: "debugAdapterPath", why: Why::NamesTheAdapter },
    Left { argument: "debugAdapterPython", why: Why::NamesTheAdapter },
    Left { argument: "debugAdapterHost", why: Why::OpensToTheNetwork },
];

/// The command of another adapter, if these arguments need one.
pub(crate) fn adapter_for(arguments: &Arguments, debugpy: &Debugpy) -> Option<Vec<PathBuf>> {
    let text = |key: &str| arguments.get(key)?.as_str().map(PathBuf::from);
    let left = LEFT.iter().any(|left| match left.why {
        Why::NamesTheAdapter => arguments.contains_key(left.argument),
        Why::OpensToTheNetwork => {
            text(left.argument).is_some_and(|host| !is_loopback(&host.to_string_lossy()))
        }
    });
    left.then(|| {
        let python = text("debugAdapterPython").unwrap_or_else(|| debugpy.python.clone());
        vec![python, text("debugAdapterPath").unwrap_or_else(|| debugpy.stock_adapter())]
    })
}

pub(crate) fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
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
        assert!(of(json!({"debugAdapterHost": "127.0.0.1"})).is_none());
        assert_eq!(
            of(json!({"debugAdapterHost": "0.0.0.0"})).unwrap(),
            ["py", "/d/adapter"].map(PathBuf::from)
        );
        assert_eq!(of(json!({"debugAdapterPath": "/x"})).unwrap(), ["py", "/x"].map(PathBuf::from));
        let named = json!({"debugAdapterPython": "p3", "debugAdapterPath": "/x"});
        assert_eq!(of(named).unwrap(), ["p3", "/x"].map(PathBuf::from));
    }
}
