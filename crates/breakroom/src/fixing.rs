//! `breakroom doctor --fix NAME`: says what would be done to install a debugger, asks, does it and looks again.
//!
//! The steps are data of the catalog. Nothing is run that was not shown before, and packages of the system only as root.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Result, bail};
use breakroom_engines::{Catalog, CatalogError, Context, Entry, Installed, Installer, Progress, Step};

/// Who says yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Whoever sits at the terminal.
    Ask,
    /// It was given on the command line.
    Given,
}

pub fn fix(names: &[String], consent: Consent, installed: Installed) -> Result<ExitCode> {
    let context = Context::of_this_process();
    let catalog = Catalog::load(&context)?;
    let entry = |name: &String| catalog.by_type(name).ok_or_else(|| catalog.unknown_type(name));
    // A name that is not known is told before anything is installed.
    let entries = names.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    for entry in entries {
        let steps = entry.steps(&context, installed)?;
        if !steps.is_empty() {
            describe(entry, &steps);
            if consent == Consent::Ask && !agreed(&entry.name)? {
                return Ok(ExitCode::FAILURE);
            }
            carry_out(&steps, &context)?;
        }
        report(entry, &context)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Offers to install what is missing, to a person at a terminal. True if it is there now, false if nobody could be asked.
pub fn offer(error: &CatalogError, catalog: &Catalog, context: &Context) -> Result<bool> {
    let (CatalogError::NotInstalled { name, .. } | CatalogError::NoneInstalled { first: name, .. }) = error
    else {
        return Ok(false);
    };
    let Some(entry) = catalog.by_type(name).filter(|entry| !entry.fix.is_empty() && is_interactive()) else {
        return Ok(false);
    };
    let steps = entry.steps(context, Installed::Anywhere)?;
    eprintln!("{}\n", breakroom_wire::visible_lines(&error.to_string()));
    describe(entry, &steps);
    if !agreed(&entry.name)? {
        // What is missing was said, and how to get it.
        bail!("{} was not installed, so nothing was started", entry.name);
    }
    carry_out(&steps, context)?;
    report(entry, context)?;
    Ok(true)
}

fn describe(entry: &Entry, steps: &[Step]) {
    eprintln!("To install {}:", entry.name);
    if let Some(package) = &entry.package {
        eprintln!("{package}");
    }
    for step in steps {
        eprintln!("  {}", step.place());
        step.commands().iter().for_each(|command| eprintln!("    {command}"));
    }
}

fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn agreed(name: &str) -> Result<bool> {
    if !is_interactive() {
        bail!("nobody is here to say yes; to do this, run: breakroom doctor --fix {name} --yes");
    }
    eprint!("Do this now? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn carry_out(steps: &[Step], context: &Context) -> Result<()> {
    // What a person cannot do in the middle is told before the beginning is done.
    let root = rustix::process::geteuid().is_root();
    if let Some(step) = steps.iter().find(|step| step.needs_root() && !root) {
        bail!(
            "packages of the system can only be installed by root. Run this, and then this command again:\n  sudo {}",
            step.commands().join(" && sudo ")
        );
    }
    let progress = if std::io::stderr().is_terminal() { Progress::Shown } else { Progress::Kept };
    let mut installer = Installer::new(context, progress);
    for step in steps {
        installer.carry_out(step)?;
    }
    Ok(())
}

fn report(entry: &Entry, context: &Context) -> Result<()> {
    match entry.find(context) {
        Ok(found) => {
            let version = entry.version(&found, context).unwrap_or_else(|| "version unknown".to_owned());
            println!("{} {version} is at {}", entry.name, found.path.display());
            Ok(())
        }
        Err(error) if entry.fix.is_empty() => {
            bail!("{} is in no registry that could be used. {error}", entry.name)
        }
        Err(error) => bail!("{} was installed but is still not found. {error}", entry.name),
    }
}
