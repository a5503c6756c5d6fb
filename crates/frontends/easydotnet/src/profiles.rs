//! `launch-profiles`, and the fetching of results that are streams.

use serde_json::{Value, json};

use crate::client::Call;
use crate::message::{RpcError, code};
use crate::params::Params;

pub fn launch_profiles(call: &Call, params: &Params) -> Result<Value, RpcError> {
    let target = params.string("targetPath")?;
    let root = call.client.project().root.clone().unwrap_or_default();
    let profiles = call.client.options().targets.profiles(&root.join(target)).map_err(RpcError::failed)?;
    let values = profiles.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    Ok(json!({"token": call.client.open_stream(values)}))
}

/// Gives the whole rest of a stream, because the values are in memory already.
pub fn next(call: &Call, params: &Params) -> Result<Value, RpcError> {
    let token = params.integer("token")?;
    let unknown = || RpcError::new(code::UNKNOWN_TOKEN, format!("there is no stream {token}"));
    let values = call.client.take_stream(token).ok_or_else(unknown)?;
    Ok(json!({"values": values, "finished": true}))
}
