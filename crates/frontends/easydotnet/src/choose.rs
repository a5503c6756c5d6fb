//! What is meant if the client does not say it: the program, the launch profile or the process, chosen by the user.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::client::Call;
use crate::message::RpcError;
use crate::peer::CallError;
use crate::targets::Wanted;

/// The program to debug: the client's file, or what its project has. None if the user dismissed the choice.
pub fn target(
    call: &Call,
    wanted: &Wanted,
    file: Option<PathBuf>,
    use_default: bool,
) -> Result<Option<PathBuf>, RpcError> {
    let client = &call.client;
    let no_root = || RpcError::failed("the client named neither a file nor a project root");
    let root = match (&wanted.root, &file) {
        (Some(root), _) => root.clone(),
        (None, Some(file)) => file.parent().map(PathBuf::from).unwrap_or_default(),
        (None, None) => return Err(no_root()),
    };
    let solution = client.project().solution.clone();
    let mut candidates = client
        .options()
        .targets
        .candidates(&solution.unwrap_or_else(|| root.clone()), file.as_deref())
        .map_err(RpcError::failed)?;
    match candidates.len() {
        0 => Err(RpcError::failed(format!("there is nothing to debug in {}", root.display()))),
        1 => Ok(candidates.pop().map(|candidate| candidate.path)),
        _ => {
            let chosen = client.chosen_target(&root).filter(|_| use_default);
            if let Some(before) = candidates.iter().find(|candidate| Some(&candidate.path) == chosen.as_ref())
            {
                return Ok(Some(before.path.clone()));
            }
            let choices = candidates
                .iter()
                .map(|candidate| (candidate.path.to_string_lossy().into_owned(), candidate.display.clone()));
            let picked = prompt(call, "Pick a project to debug", choices.collect())?;
            let picked =
                picked.and_then(|id| candidates.into_iter().find(|one| one.path.to_string_lossy() == id));
            if let Some(picked) = &picked {
                client.choose_target(&root, &picked.path);
            }
            Ok(picked.map(|candidate| candidate.path))
        }
    }
}

/// The launch profile of a project. None if it has none.
pub fn profile(call: &Call, wanted: &Wanted, use_default: bool) -> Result<Option<String>, RpcError> {
    let profiles = call.client.options().targets.profiles(&wanted.target).map_err(RpcError::failed)?;
    let mut names: Vec<String> = profiles.into_iter().map(|(name, _)| name).collect();
    if names.len() > 1 && !use_default {
        let choices = names.iter().map(|name| (name.clone(), name.clone())).collect();
        return prompt(call, "Pick a launch profile", choices);
    }
    Ok((!names.is_empty()).then(|| names.remove(0)))
}

pub fn process(call: &Call) -> Result<Option<u32>, RpcError> {
    let processes = call.client.options().targets.processes();
    if processes.is_empty() {
        return Err(RpcError::failed("there is no process to attach to"));
    }
    let choices = processes.into_iter().map(|process| (process.pid.to_string(), process.display)).collect();
    let picked = prompt(call, "Pick a process to attach to", choices)?;
    Ok(picked.and_then(|pid| pid.parse().ok()))
}

/// Lets the user choose. None if the choice was dismissed, which the plugin may say by not answering.
fn prompt(call: &Call, prompt: &str, choices: Vec<(String, String)>) -> Result<Option<String>, RpcError> {
    let choices: Vec<Value> =
        choices.into_iter().map(|(id, display)| json!({"id": id, "display": display})).collect();
    let params = json!({"prompt": prompt, "choices": choices});
    match call.client.peer.call("promptSelection", params, call.client.options().client_timeout) {
        Ok(Value::String(id)) => Ok(Some(id)),
        Ok(_) | Err(CallError::Silent { .. }) => Ok(None),
        Err(error) => Err(RpcError::failed(error.to_string())),
    }
}
