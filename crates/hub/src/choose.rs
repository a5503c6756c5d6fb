//! From what a client asks for to the adapter that is started, with what its session has to know of it.
//!
//! Nothing is started here. What is made of an adapter's habits is the session's business.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use breakroom_engines::{
    self as engines, AdapterSpec, Catalog, CatalogError, Context, Entry, Found, Maker, Promises,
};
use breakroom_session::habits::{Ending, EntryStop, Starting, Symbols};
use breakroom_session::{
    Amendments, DefaultsWhen, EngineChoice, EngineFacts, FileId, Fits, Preparation, Reach, Remark, Setup,
    Stdin,
};
use serde_json::{Map, Value};

use crate::hello::FixedAdapter;
use crate::makers::Makers;
use crate::sources;

/// An engine that a session asks for.
pub(crate) struct Wanted {
    pub choice: EngineChoice,
    /// What is launched, if that is known already.
    pub arguments: Option<Value>,
}

/// The adapter for a choice, or the sentence that says why there is none and what to do.
pub(crate) fn choose(
    wanted: Wanted,
    context: &Context,
    makers: &Makers,
) -> Result<(AdapterSpec, EngineFacts), String> {
    let launch = wanted.arguments.as_ref().and_then(Value::as_object);
    let record = match wanted.choice {
        EngineChoice::Record(record) => record,
        EngineChoice::Type(kind) => {
            return by_entry(context, launch, makers, |catalog| {
                let chosen = catalog.installed_for_type(&kind, context);
                chosen.map_err(|error| with_hint(&error))
            });
        }
        EngineChoice::File(file) => {
            let file = context.cwd.join(file);
            return by_entry(context, launch, makers, |catalog| {
                let chosen = catalog.installed_for_file(&file, context);
                chosen.map_err(|error| error.to_string())
            });
        }
    };
    let is_named = record.get("name").is_some_and(|name| !name.is_null());
    let mut spec: AdapterSpec = serde_json::from_value(record)
        .map_err(|error| format!("\"breakroom\": {{\"adapter\": ...}} cannot be used: {error}."))?;
    spec.fill(launch).map_err(|problem| format!("\"breakroom\": {{\"adapter\": ...}}: {problem}."))?;
    let kind = launch.and_then(|launch| launch.get("type")).and_then(Value::as_str);
    let attaches = launch.and_then(|launch| launch.get("request")).and_then(Value::as_str) == Some("attach");
    let known = match kind {
        Some(kind) => habits(kind, context),
        None if attaches => habits(&spec.name, context).map(of_attached),
        // A launch that brings a record without a type gets a plain adapter.
        None if launch.is_none() => match &spec.kind {
            Some(kind) => habits(kind, context).map(as_it_came),
            None => recognized(&mut spec, is_named, context),
        },
        None => None,
    };
    let mut facts = known.unwrap_or_default();
    facts.kinds.push(spec.name.clone());
    facts.name.clone_from(&spec.name);
    Ok((spec, facts))
}

/// How an adapter behaves that is known by its command line, what it prints beside the protocol, and what it leaves behind.
/// Its client's launch goes to it as it came, so the stop on entry is the adapter's own.
fn recognized(spec: &mut AdapterSpec, is_named: bool, context: &Context) -> Option<EngineFacts> {
    let catalog = Catalog::load(context).ok()?;
    let entry = catalog.by_command(&spec.args)?;
    if !is_named {
        spec.name.clone_from(&entry.name);
    }
    spec.debuggee_stdio = entry.debuggee_stdio;
    spec.banner.clone_from(&entry.banner);
    spec.litter.clone_from(&entry.litter);
    spec.held_litter.clone_from(&entry.held_litter);
    habits(&entry.name, context).map(as_it_came)
}

/// Of an adapter that gets its client's launch as it came. The stop on entry is its own.
fn as_it_came(known: EngineFacts) -> EngineFacts {
    EngineFacts { starting: Starting { entry: EntryStop::Native, ..known.starting }, ..known }
}

/// How adapters of a type behave, for one that is not started by the catalog. Its launch is not amended: whoever brings
/// the adapter knows what it needs.
fn habits(kind: &str, context: &Context) -> Option<EngineFacts> {
    let catalog = Catalog::load(context).ok()?;
    let known = facts(catalog.by_type(kind)?, Map::new(), context, &Makers::default());
    Some(EngineFacts { amendments: Amendments::default(), ..known })
}

/// What holds of a debugger that serves a program which somebody else started: how it is asked and what it answers, but
/// nothing about how its program begins, reads and ends. How it is left is asked as well.
fn of_attached(known: EngineFacts) -> EngineFacts {
    EngineFacts {
        breakpoints: known.breakpoints,
        running: known.running,
        raising: known.raising,
        expressions: known.expressions,
        claims: known.claims,
        starting: Starting { attached: known.starting.attached, ..Starting::default() },
        ending: Ending { detach: known.ending.detach, leavable: known.ending.leavable, ..Ending::default() },
        ..EngineFacts::default()
    }
}

fn with_hint(error: &CatalogError) -> String {
    match error {
        CatalogError::UnknownType { .. } => format!(
            "{error} Another one can be given as \"breakroom\": {{\"adapter\": {{\"args\": [...]}}}} or in the user's catalog."
        ),
        other => other.to_string(),
    }
}

fn by_entry(
    context: &Context,
    launch: Option<&Map<String, Value>>,
    makers: &Makers,
    choose: impl for<'a> Fn(&'a Catalog) -> Result<(&'a Entry, Found), String>,
) -> Result<(AdapterSpec, EngineFacts), String> {
    let catalog = Catalog::load(context).map_err(|error| error.to_string())?;
    let (entry, found) = choose(&catalog)?;
    let spec = entry.spec(&found, launch).map_err(|error| error.to_string())?;
    if let Some(launch) = launch {
        makers.look_for(entry, launch, &context.cwd);
    }
    Ok((spec, facts(entry, entry.defaults_for(launch, context), context, makers)))
}

/// What the session needs to know of an entry.
fn facts(entry: &Entry, defaults: Map<String, Value>, context: &Context, makers: &Makers) -> EngineFacts {
    EngineFacts {
        name: entry.name.clone(),
        kinds: entry.types.iter().chain([&entry.name]).cloned().collect(),
        address: None,
        part: entry.part,
        stdin: match entry.input {
            engines::InputSource::ItsOwn => Stdin::Others,
            engines::InputSource::AdaptersStdin
            | engines::InputSource::Pipe
            | engines::InputSource::Commands { .. } => Stdin::Hubs,
        },
        no_input: entry.no_input.clone(),
        unnamed: entry.unnamed.clone(),
        amendments: Amendments {
            defaults,
            defaults_when: entry
                .defaults_when
                .iter()
                .map(|when| for_programs(when, context, makers))
                .collect(),
            types: entry.type_for.clone(),
            args_line: entry.args_line.clone(),
            before: match &entry.input {
                engines::InputSource::Commands { key, run } => Some((key.clone(), run.clone())),
                engines::InputSource::ItsOwn
                | engines::InputSource::AdaptersStdin
                | engines::InputSource::Pipe => None,
            },
        },
        starting: Starting { entry: stop_on_entry(&entry.starting.entry, context), ..entry.starting.clone() },
        breakpoints: entry.breakpoints.clone(),
        running: entry.running.clone(),
        raising: entry.raising.clone(),
        expressions: entry.expressions.clone(),
        ending: entry.ending.clone(),
        claims: entry.claims.clone(),
        chatter: entry.chatter.clone(),
        remark: match entry.starting.symbols {
            Symbols::MissedSilently => about_programs(context, makers),
            Symbols::ItsBusiness => Remark::default(),
        },
    }
}

/// What is to be said of programs whose lines no debugger knows. To debuggers it is none of their business.
fn about_programs(context: &Context, makers: &Makers) -> Remark {
    let (folder, makers) = (context.cwd.clone(), makers.clone());
    Remark(Some(Arc::new(move |program: &str| {
        let words = format!(
            "no debug symbols in {program}: breakpoints in its source stay pending; build it with -g and without -s"
        );
        makers.newly_without_lines(&folder.join(program)).then_some(words)
    })))
}

fn for_programs(when: &engines::DefaultsWhen, context: &Context, makers: &Makers) -> DefaultsWhen {
    let (folder, ingredients, makers) = (context.cwd.clone(), when.ingredients(), makers.clone());
    let fits = move |program: Option<&str>| {
        let may_have = |program: &str, one| makers.of(&folder.join(program), one) != Maker::Others;
        program.is_none_or(|program| ingredients.iter().all(|one| may_have(program, one)))
    };
    DefaultsWhen { fits: Fits(Arc::new(fits)), arguments: when.arguments.clone() }
}

/// Where the script of a preload cannot be written, the adapter's own way is better than none.
fn stop_on_entry(how: &EntryStop, context: &Context) -> EntryStop {
    let EntryStop::Preload(preload) = how else { return how.clone() };
    match engines::preloaded(preload, context) {
        Ok(preload) => EntryStop::Preload(preload),
        Err(error) => {
            tracing::warn!("the script for the stop on entry cannot be written: {error}");
            EntryStop::Native
        }
    }
}

/// What a session knows before an engine is chosen, and what is to be found out about its programs.
pub(crate) fn setup(context: &Context, adapter: Option<FixedAdapter>, reach: Reach) -> (Setup, Makers) {
    let catalog = Catalog::load(context).ok();
    let entries = catalog.as_ref().map_or(&[][..], Catalog::entries);
    let base_capabilities = common(entries);
    let makers = Makers::that_matter(entries);
    let preparation = match adapter {
        // Its launch is the client's own business.
        Some(FixedAdapter::Record(_)) => Preparation::None,
        Some(FixedAdapter::Type(_)) | None => Preparation::ByDriver,
    };
    let setup = Setup {
        engine: adapter.map(|adapter| match adapter {
            FixedAdapter::Type(name) => EngineChoice::Type(name),
            FixedAdapter::Record(record) => EngineChoice::Record(record),
        }),
        known_engines: names(entries),
        base_capabilities,
        late_engines: catalog.as_ref().map(late).unwrap_or_default(),
        identify: Some(identify),
        reach,
        preparation,
        find: sources::finder(context),
        ..Setup::default()
    };
    (setup, makers)
}

/// Which file a path means, through links and spellings.
fn identify(path: &str) -> Option<FileId> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(FileId { device: metadata.dev(), inode: metadata.ino() })
}

fn names(entries: &[Entry]) -> Vec<String> {
    let mut names: Vec<_> =
        entries.iter().flat_map(|entry| entry.types.iter().chain([&entry.name])).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|name| name.to_lowercase()).collect()
}

/// What most recorded adapters can do. What the chosen one cannot is taken back as soon as it is there, so those that can
/// do little are not asked: with them nothing would be left to promise.
fn common(entries: &[Entry]) -> Map<String, Value> {
    let asked = entries.iter().filter(|entry| entry.promises == Promises::Count);
    let mut recorded = asked.map(capabilities).filter(|recorded| !recorded.is_empty());
    let first = recorded.next().unwrap_or_default();
    let common = recorded.fold(first, |mut common, other| {
        common.retain(|key, value| value == &Value::Bool(true) && other.get(key) == Some(value));
        common
    });
    with_ours(common)
}

/// What engines can do that are started with their program, by each of their names.
fn late(catalog: &Catalog) -> BTreeMap<String, Map<String, Value>> {
    let first_choice = |name: &str| catalog.by_type(name).filter(|entry| entry.starts_with_launch());
    let late = |name: String| Some((with_ours(offered(first_choice(&name)?)), name));
    let named = names(catalog.entries()).into_iter().filter_map(late);
    named.map(|(capabilities, name)| (name, capabilities)).collect()
}

/// What an engine can do, whether it says so or not.
fn capabilities(entry: &Entry) -> Map<String, Value> {
    let unsaid = entry.claims.add.iter().map(|key| (key.clone(), Value::Bool(true)));
    entry.capabilities.clone().into_iter().chain(unsaid).collect()
}

/// What an engine can do together with the hub, which judges what it cannot.
fn offered(entry: &Entry) -> Map<String, Value> {
    let judged =
        entry.breakpoints.judged.iter().map(|term| (term.capability().to_owned(), Value::Bool(true)));
    capabilities(entry).into_iter().chain(judged).collect()
}

/// With what the hub does where an adapter cannot.
fn with_ours(mut capabilities: Map<String, Value>) -> Map<String, Value> {
    capabilities.insert("supportsConfigurationDoneRequest".into(), true.into());
    capabilities.insert("supportsRestartRequest".into(), true.into());
    capabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_for_one_compilers_programs_goes_to_those_and_to_the_unknown() {
        let this = std::env::current_exe().unwrap();
        let context = Context { cwd: this.parent().unwrap().to_path_buf(), env: Vec::new(), umask: 0o022 };
        let catalog = Catalog::built_in(&context).unwrap();
        let mut entry = catalog.by_type("lldb-dap").unwrap().clone();
        let when = ["rust", "another compiler"].map(|name| engines::DefaultsWhen {
            made_by: Some(name.to_owned()),
            links: None,
            arguments: Map::new(),
        });
        entry.defaults_when = when.into();
        let makers = Makers::that_matter(&[entry.clone()]);
        let fits = |made_by: &str, program: Option<&str>| {
            let when =
                entry.defaults_when.iter().find(|when| when.made_by.as_deref() == Some(made_by)).unwrap();
            for_programs(when, &context, &makers).fits.0(program)
        };
        let name = this.file_name().and_then(|name| name.to_str());
        // The session's thread reads nothing, so what nobody has looked at is not known.
        assert!(fits("rust", name) && fits("another compiler", name));
        for program in [name, this.to_str(), Some("no such program"), Some("/"), None] {
            let launch = serde_json::json!({"type": "LLDB-DAP", "program": program});
            assert_eq!(makers.are_wanted_for(&launch), program.is_some());
            makers.look_for_type(&launch, &context.cwd);
        }
        assert!(!makers.are_wanted_for(&serde_json::json!({"type": "python", "program": name})));
        assert!(fits("rust", name) && fits("rust", this.to_str()));
        assert!(!fits("another compiler", name));
        for unknown in [None, Some("no such program"), Some("/")] {
            assert!(fits("rust", unknown) && fits("another compiler", unknown), "{unknown:?}");
        }
    }

    /// An executable with one section, which has no name.
    fn without_lines(folder: &std::path::Path) -> std::path::PathBuf {
        let mut bytes = vec![0; 128];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (bytes[0x28], bytes[0x3c]) = (64, 1);
        let program = folder.join("plain");
        std::fs::write(&program, bytes).unwrap();
        program
    }

    #[test]
    fn missing_symbols_are_said_once_and_only_where_the_debugger_misses_them_silently() {
        let folder = tempfile::tempdir().unwrap();
        let context = Context { cwd: folder.path().to_path_buf(), env: Vec::new(), umask: 0o022 };
        let program = without_lines(folder.path());
        let launch = serde_json::json!({"program": program});
        let launch = launch.as_object().unwrap();
        let catalog = Catalog::built_in(&context).unwrap();
        let silent = ["lldb-dap", "lldb", "cppdbg", "gdb"].map(|kind| (kind, true));
        for (kind, is_said) in silent.into_iter().chain([("go", false), ("python", false)]) {
            let entry = catalog.by_type(kind).unwrap();
            let makers = Makers::that_matter(std::slice::from_ref(entry));
            // As often as it is restarted, each time with a new engine.
            let said = [(); 3].map(|()| {
                makers.look_for(entry, launch, &context.cwd);
                let remark = facts(entry, Map::new(), &context, &makers).remark;
                remark.0.and_then(|about| about(program.to_str().unwrap())).is_some()
            });
            assert_eq!(said, [is_said, false, false], "{kind}");
        }
    }

    #[test]
    fn lldb_is_told_about_a_language_only_where_that_may_be_met() {
        let context = Context { cwd: "/".into(), env: Vec::new(), umask: 0o022 };
        let catalog = Catalog::built_in(&context).unwrap();
        let entry = catalog.by_type("lldb-dap").unwrap();
        let amendments =
            facts(entry, entry.defaults_for(None, &context), &context, &Makers::default()).amendments;
        assert!(!amendments.defaults.contains_key("postRunCommands"));
        let [rust, cpp] = &amendments.defaults_when[..] else { panic!("{amendments:?}") };
        assert!(rust.arguments["postRunCommands"][0].as_str().unwrap().contains("lldb_lookup"));
        assert!(cpp.arguments["postRunCommands"][0].as_str().unwrap().contains("gnu_libstdcpp"));
    }
}
