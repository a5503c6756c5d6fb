//! `breakroom ls` and `breakroom kill`.

use std::process::ExitCode;

use anyhow::Result;
use breakroom_hub::{Summary, Which};

pub fn list(json: bool) -> Result<ExitCode> {
    let sessions = breakroom_hub::list()?;
    if json {
        println!("{}", serde_json::to_string_pretty(&sessions)?);
    } else if sessions.is_empty() {
        println!("no live sessions");
    } else {
        sessions.iter().for_each(print);
    }
    Ok(ExitCode::SUCCESS)
}

pub fn end(which: Which) -> Result<ExitCode> {
    for Summary { id, name, .. } in breakroom_hub::end(which)? {
        println!("ended {id}  {name}");
    }
    Ok(ExitCode::SUCCESS)
}

fn print(Summary { id, name, state, engine, clients, nodes, version }: &Summary) {
    let engine = engine.as_deref().unwrap_or("-");
    let children = if *nodes > 1 { format!(", {nodes} nodes") } else { String::new() };
    let held = version.as_ref().map(|version| format!("  held by breakroom {version}")).unwrap_or_default();
    println!("{id}  {state:<9} {engine:<10} {name}  ({}{children}){held}", clients.join(", "));
}
