//! Solutions and project files, as far as they can be read without the SDK: which projects there are, and which can run.

use std::path::{Path, PathBuf};

/// Extensions of projects that a debugger of .NET can debug.
const PROJECTS: [&str; 3] = ["csproj", "fsproj", "vbproj"];
const SOLUTIONS: [&str; 2] = ["sln", "slnx"];
/// SDKs whose projects are programs, whatever else they say.
const PROGRAM_SDKS: [&str; 3] =
    ["Microsoft.NET.Sdk.Web", "Microsoft.NET.Sdk.Worker", "Microsoft.NET.Sdk.BlazorWebAssembly"];

/// How far below a folder projects are looked for, and where they are not.
const DEEPEST: usize = 3;
const NOT_SOURCE: [&str; 3] = ["bin", "obj", "node_modules"];

pub fn is_project(path: &Path) -> bool {
    has_extension(path, &PROJECTS)
}

pub fn is_solution(path: &Path) -> bool {
    has_extension(path, &SOLUTIONS)
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    path.extension().is_some_and(|extension| known.iter().any(|one| extension.eq_ignore_ascii_case(one)))
}

/// The projects of a folder itself.
pub fn projects_in(folder: &Path) -> Vec<PathBuf> {
    files_in(folder, is_project)
}

pub fn solutions_in(folder: &Path) -> Vec<PathBuf> {
    files_in(folder, is_solution)
}

/// Whether a folder itself has projects or a solution.
pub fn is_in(folder: &Path) -> bool {
    !projects_in(folder).is_empty() || !solutions_in(folder).is_empty()
}

fn files_in(folder: &Path, is_wanted: fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = entries.filter(|path| is_wanted(path)).collect();
    files.sort();
    files
}

/// The projects that a solution names and that exist.
pub fn projects_of(solution: &Path) -> Vec<PathBuf> {
    let folder = solution.parent().unwrap_or(solution);
    let text = std::fs::read_to_string(solution).unwrap_or_default();
    // In both formats the path of a project stands between double quotes.
    let named = text.lines().filter(|line| line.trim_start().trim_start_matches('<').starts_with("Project"));
    let paths = named.flat_map(|line| line.split('"')).map(|word| folder.join(word.replace('\\', "/")));
    let mut projects: Vec<PathBuf> = Vec::new();
    for path in paths.filter(|path| is_project(path) && path.is_file()) {
        if !projects.contains(&path) {
            projects.push(path);
        }
    }
    projects
}

/// The projects of a folder or solution that are programs; all of them, if none says so.
pub fn programs_of(place: &Path) -> Vec<PathBuf> {
    let mut projects = match (is_solution(place), &solutions_in(place)[..]) {
        (true, _) => projects_of(place),
        (false, [solution]) => projects_of(solution),
        (false, _) => Vec::new(),
    };
    if projects.is_empty() && !is_solution(place) {
        projects = projects_below(place, DEEPEST);
    }
    let programs: Vec<_> = projects.iter().filter(|project| is_program(project)).cloned().collect();
    if programs.is_empty() { projects } else { programs }
}

/// The projects of a folder, or if it has none, those of the folders below.
fn projects_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let projects = projects_in(folder);
    if !projects.is_empty() || depth == 0 {
        return projects;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let is_source = |name: &str| !name.starts_with('.') && !NOT_SOURCE.contains(&name);
    let folders = folders.filter(|folder| folder.file_name().to_str().is_some_and(is_source));
    let mut folders: Vec<_> = folders.map(|folder| folder.path()).collect();
    folders.sort();
    folders.iter().flat_map(|folder| projects_below(folder, depth - 1)).collect()
}

/// Whether a project file says that a program comes of it.
fn is_program(project: &Path) -> bool {
    let text = std::fs::read_to_string(project).unwrap_or_default();
    let output = text.split("<OutputType>").nth(1).and_then(|rest| rest.split('<').next()).map(str::trim);
    let has_sdk = |sdk: &&str| text.contains(&format!("\"{sdk}\""));
    output.is_some_and(|output| output.eq_ignore_ascii_case("Exe") || output.eq_ignore_ascii_case("WinExe"))
        || (output.is_none() && PROGRAM_SDKS.iter().any(has_sdk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_of_both_formats_name_their_projects() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let exe = "<Project Sdk=\"Microsoft.NET.Sdk\"><OutputType>Exe</OutputType></Project>";
        let app = write("app/App.csproj", exe);
        let web = write("web/Web.fsproj", "<Project Sdk=\"Microsoft.NET.Sdk.Web\"/>");
        write("lib/Lib.csproj", "<Project Sdk=\"Microsoft.NET.Sdk\"/>");
        let sln = write(
            "all.sln",
            "Project(\"{FAE0}\") = \"App\", \"app\\App.csproj\", \"{1}\"\nEndProject\n\
             Project(\"{FAE0}\") = \"Lib\", \"lib\\Lib.csproj\", \"{2}\"\nEndProject\n\
             Project(\"{2150}\") = \"docs\", \"docs\", \"{3}\"\nEndProject\n",
        );
        assert_eq!(projects_of(&sln).len(), 2);
        assert_eq!(programs_of(&sln), std::slice::from_ref(&app));
        assert_eq!(programs_of(folder.path()), std::slice::from_ref(&app));
        std::fs::remove_file(&sln).unwrap();
        let slnx = write(
            "all.slnx",
            "<Solution>\n  <Project Path=\"app/App.csproj\" />\n  <Project Path=\"web/Web.fsproj\" />\n</Solution>\n",
        );
        assert_eq!(programs_of(&slnx), [app, web]);
        let lib = folder.path().join("lib");
        assert_eq!(programs_of(&lib), [lib.join("Lib.csproj")], "nothing else can be meant");
    }
}
