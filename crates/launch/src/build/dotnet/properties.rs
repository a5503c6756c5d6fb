//! Properties of a .NET project, evaluated by its SDK.
//!
//! SDK 8 and later print them for `-getProperty`. An older one evaluates a target of ours, whose messages carry them. No
//! property has a default here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use breakroom_engines::Context;
use serde_json::Value;

use super::Wanted;
use crate::cache;
use crate::failure::{self, Failure};
use crate::workshop::{Command, Shown, Workshop};

const NAMES: [&str; 12] = [
    "AssemblyName",
    "Configuration",
    "OutDir",
    "OutputPath",
    "OutputType",
    "ProjectDir",
    "ProjectName",
    "RunWorkingDirectory",
    "TargetDir",
    "TargetFramework",
    "TargetFrameworks",
    "TargetPath",
];
/// Begins the messages of our target.
const MARK: &str = "breakroom-property:";
/// What MSBuild says of an option that it does not know.
const UNKNOWN_OPTION: &str = "MSB1001";

pub type Properties = BTreeMap<String, String>;

/// Those that are not empty.
pub async fn evaluate(
    project: &Path,
    wanted: &Wanted<'_>,
    workshop: &Workshop<'_>,
) -> Result<Properties, Failure> {
    let names = format!("-getProperty:{}", NAMES.join(","));
    let command = command(project, wanted).and([names]);
    let finished = workshop.run(&command, Shown::Nothing).await?;
    if finished.succeeded() {
        return Ok(of_json(&finished.stdout));
    }
    let output = [finished.stdout.as_str(), finished.stderr.as_str()].concat();
    if !output.contains(UNKNOWN_OPTION) {
        return Err(failure::of_build(
            "dotnet msbuild",
            finished.exit,
            &failure::marked_errors(&output),
            &output,
        ));
    }
    let target = target_file(project, workshop.context)?;
    let option = format!("-p:CustomAfterMicrosoftCommonTargets={}", target.display());
    let command = self::command(project, wanted).and(["-t:BreakroomProperties".to_owned(), option]);
    let finished = workshop.run(&command, Shown::Nothing).await?;
    let output = [finished.stdout.as_str(), finished.stderr.as_str()].concat();
    match finished.succeeded() {
        true => Ok(of_messages(&output)),
        false => {
            Err(failure::of_build("dotnet msbuild", finished.exit, &failure::marked_errors(&output), &output))
        }
    }
}

fn command(project: &Path, wanted: &Wanted<'_>) -> Command {
    let folder = project.parent().unwrap_or(project);
    let framework = wanted.framework.map(|framework| format!("-p:TargetFramework={framework}"));
    Command::new(folder, &["dotnet", "msbuild", "-nologo", "-nodeReuse:false"])
        .and([project.to_string_lossy()])
        .and([format!("-p:Configuration={}", wanted.configuration)])
        .and(framework)
        .with("DOTNET_CLI_TELEMETRY_OPTOUT", "1")
        .with("DOTNET_NOLOGO", "1")
}

/// A file with the target, in a folder of ours.
fn target_file(project: &Path, context: &Context) -> Result<PathBuf, Failure> {
    let message = |name: &&str| {
        format!(
            "    <Message Importance=\"high\" Text=\"{MARK}{name}=$({name})\" Condition=\"'$({name})' != ''\" />\n"
        )
    };
    let messages: String = NAMES.iter().map(message).collect();
    let text =
        format!("<Project>\n  <Target Name=\"BreakroomProperties\">\n{messages}  </Target>\n</Project>\n");
    let folder = cache::folder_for(project, context)?;
    let (path, beside) = (folder.join("breakroom.targets"), folder.join(format!(".{}", cache::unique())));
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &path));
    written.map_err(|error| Failure::said(format!("cannot write {}: {error}", path.display())))?;
    Ok(path)
}

/// Several properties are printed as JSON.
fn of_json(text: &str) -> Properties {
    let printed: Value = serde_json::from_str(text.trim()).unwrap_or_default();
    let properties = printed["Properties"].as_object().into_iter().flatten();
    let known = properties.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    known.filter(|(_, value)| !value.is_empty()).collect()
}

fn of_messages(text: &str) -> Properties {
    let property = |line: &str| {
        let (name, value) = line.trim().strip_prefix(MARK)?.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    text.lines().filter_map(property).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_from_both_forms() {
        let json = r#"{"Properties": {"TargetPath": "/p/App.dll", "TargetFrameworks": ""}}"#;
        let messages = "\n  breakroom-property:TargetPath=/p/App.dll\n  something else\n";
        let expected = Properties::from([("TargetPath".to_owned(), "/p/App.dll".to_owned())]);
        assert_eq!(of_json(json), expected);
        assert_eq!(of_messages(messages), expected);
        assert!(of_json("App -> /p/App.dll").is_empty());
    }
}
