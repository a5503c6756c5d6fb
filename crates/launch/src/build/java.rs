//! A lone file of Java, compiled with its neighbours of the same source tree.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Arguments, Job, compile, program};
use crate::cache;
use crate::failure::Failure;
use crate::workshop::Command;

pub async fn build(job: Job<'_>) -> Result<Option<Arguments>, Failure> {
    // Somebody who knows the classes has built them.
    if job.arguments.contains_key("mainClass") {
        return Ok(None);
    }
    let source = std::fs::read_to_string(job.file)
        .map_err(|error| Failure::said(format!("{} cannot be read: {error}.", job.file.display())))?;
    let package = package(&source);
    let root = source_root(job.file, package.as_deref());
    let classes = cache::folder_for(job.file, job.workshop.context)?;
    let given = ["classpath", "classPaths"].iter().filter_map(|key| job.arguments.get(*key)).flat_map(texts);
    let classpath: Vec<String> =
        std::iter::once(classes.to_string_lossy().into_owned()).chain(given).collect();
    let classpath = classpath.join(":");
    let command = Command::new(&root, &["javac", "-g", "-d"])
        .and([classes.to_string_lossy()])
        .and(["-sourcepath".into(), root.to_string_lossy(), "-classpath".into(), classpath.as_str().into()])
        .and([job.file.to_string_lossy()]);
    compile(job.workshop, "javac", &command).await?;
    let class = job.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let main = package.map_or_else(|| class.clone(), |package| format!("{package}.{class}"));
    let mut arguments = program(job.file);
    arguments.insert("type".to_owned(), "java".into());
    arguments.insert("mainClass".to_owned(), main.into());
    arguments.insert("classpath".to_owned(), classpath.into());
    if !job.arguments.contains_key("sourcePaths") {
        arguments.insert("sourcePaths".to_owned(), vec![root.to_string_lossy().into_owned()].into());
    }
    Ok(Some(arguments))
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The first declaration of a file, if it is its package's.
fn package(source: &str) -> Option<String> {
    let line = source.lines().map(str::trim).find_map(|line| line.strip_prefix("package "))?;
    let name = line.split(';').next()?.trim();
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "._".contains(letter));
    is_name.then(|| name.to_owned())
}

/// The folder in which the packages are folders.
fn source_root(file: &Path, package: Option<&str>) -> PathBuf {
    let folder = file.parent().unwrap_or(file);
    let steps: Vec<&str> = package.into_iter().flat_map(|package| package.split('.')).collect();
    match folder.ends_with(steps.join("/")) {
        true => folder.ancestors().nth(steps.len()).unwrap_or(folder).to_path_buf(),
        false => folder.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_says_where_the_sources_are() {
        assert_eq!(package("// x\n package a.b ; \nclass C {}").as_deref(), Some("a.b"));
        assert_eq!(package("class C { /* package x */ }"), None);
        let file = Path::new("/p/src/a/b/C.java");
        assert_eq!(source_root(file, Some("a.b")), Path::new("/p/src"));
        assert_eq!(source_root(file, Some("other")), Path::new("/p/src/a/b"));
        assert_eq!(source_root(file, None), Path::new("/p/src/a/b"));
    }
}
