//! The environment of an adapter: the bridge's own, without what holds credentials of the orchestrator.
//!
//! What the handshake configures is added later and may bring a filtered name back.

use breakroom_hub::Context;

/// Variables that begin so are not passed on. The comparison respects case, as names do on Linux.
const CREDENTIALS: [&[u8]; 2] = [b"DEBUG_SESSION", b"DCP_"];

pub fn without_credentials(context: Context) -> Context {
    let is_passed_on = |name: &std::ffi::OsStr| {
        !CREDENTIALS.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix))
    };
    let env = context.env.into_iter().filter(|(name, _)| is_passed_on(name)).collect();
    Context { env, ..context }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_the_orchestrator_are_left_out_and_all_else_is_kept() {
        let names = ["DEBUG_SESSION_TOKEN", "DEBUG_SESSION", "DCP_X", "dcp_x", "PATH", "MY_DCP_"];
        let env = names.iter().map(|name| ((*name).into(), "v".into())).collect();
        let context = without_credentials(Context { cwd: "/".into(), env, umask: 0 });
        let left: Vec<_> = context.env.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(left, ["dcp_x", "PATH", "MY_DCP_"]);
    }
}
