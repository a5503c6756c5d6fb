//! From what a client asks for to the adapter that is started.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use breakroom_engines::{
    self as engines, AdapterSpec, Catalog, CatalogError, Context, Entry, Found, Promises,
};
use breakroom_session::{
    Amendments, BareHits, Console, EngineChoice, EngineFacts, EntryStop, ExitWord, FileId, Hover, Part,
    Preparation, Reach, Setup, ThreadList, Unset,
};
use serde_json::{Map, Value};

use crate::sources;

/// An engine that a session asks for.
pub(crate) struct Wanted {
    pub choice: EngineChoice,
    /// What is launched, if that is known already.
    pub arguments: Option<Value>,
}

/// The adapter for a choice, or the sentence that says why there is none and what to do.
pub(crate) fn choose(wanted: Wanted, context: &Context) -> Result<(AdapterSpec, EngineFacts), String> {
    let launch = wanted.arguments.as_ref().and_then(Value::as_object);
    let record = match wanted.choice {
        EngineChoice::Record(record) => record,
        EngineChoice::Type(kind) => {
            return by_entry(context, launch, |catalog| {
                let chosen = catalog.installed_for_type(&kind, context);
                chosen.map_err(|error| with_hint(&error))
            });
        }
        EngineChoice::File(file) => {
            let file = context.cwd.join(file);
            return by_entry(context, launch, |catalog| {
                let chosen = catalog.installed_for_file(&file, context);
                chosen.map_err(|error| error.to_string())
            });
        }
    };
    let spec: AdapterSpec = serde_json::from_value(record)
        .map_err(|error| format!("\"breakroom\": {{\"adapter\": ...}} cannot be used: {error}."))?;
    let kind = launch.and_then(|launch| launch.get("type")).and_then(Value::as_str);
    let mut facts = kind.and_then(|kind| habits(kind, context)).unwrap_or_default();
    facts.kinds.push(spec.name.clone());
    facts.name.clone_from(&spec.name);
    Ok((spec, facts))
}

/// How adapters of a type behave, for one that is not started by the catalog. Its launch is not amended: whoever brings
/// the adapter knows what it needs.
fn habits(kind: &str, context: &Context) -> Option<EngineFacts> {
    let catalog = Catalog::load(context).ok()?;
    let known = facts(catalog.by_type(kind)?, Map::new());
    Some(EngineFacts { amendments: Amendments::default(), ..known })
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
    choose: impl for<'a> Fn(&'a Catalog) -> Result<(&'a Entry, Found), String>,
) -> Result<(AdapterSpec, EngineFacts), String> {
    let catalog = Catalog::load(context).map_err(|error| error.to_string())?;
    let (entry, found) = choose(&catalog)?;
    let spec = entry.spec(&found, launch).map_err(|error| error.to_string())?;
    Ok((spec, facts(entry, entry.defaults_for(launch, context))))
}

/// What the session needs to know of an entry.
fn facts(entry: &Entry, defaults: Map<String, Value>) -> EngineFacts {
    EngineFacts {
        name: entry.name.clone(),
        truth: entry.truth.clone(),
        bare_hits: match entry.bare_hits {
            engines::BareHits::Exactly => BareHits::Exactly,
            engines::BareHits::From => BareHits::From,
            engines::BareHits::After => BareHits::After,
        },
        unset: match entry.unset {
            engines::Unset::Goes => Unset::Goes,
            engines::Unset::Stays => Unset::Stays,
        },
        kinds: entry.types.iter().chain([&entry.name]).cloned().collect(),
        part: match entry.part {
            engines::Part::Debugs => Part::Debugs,
            engines::Part::Coordinates => Part::Coordinates,
        },
        entry: match &entry.entry {
            engines::EntryStop::Native => EntryStop::Native,
            engines::EntryStop::Key(key) => EntryStop::Key(key.clone()),
            engines::EntryStop::Function(name) => EntryStop::Function(name.clone()),
            engines::EntryStop::ByAttach => EntryStop::ByAttach,
            engines::EntryStop::Pause => EntryStop::Pause,
        },
        console: match entry.console {
            engines::Console::Expressions => Console::Expressions,
            engines::Console::Commands => Console::Commands,
        },
        hover: match entry.hover {
            engines::Hover::Expressions => Hover::Expressions,
            engines::Hover::Names => Hover::Names,
        },
        exit: match &entry.exit {
            engines::ExitWord::Event => ExitWord::Event,
            engines::ExitWord::Never => ExitWord::Never,
            engines::ExitWord::OwnEnd => ExitWord::OwnEnd,
            engines::ExitWord::InOutput(lines) => ExitWord::InOutput(lines.clone()),
            engines::ExitWord::AtDisconnect(lines) => ExitWord::AtDisconnect(lines.clone()),
        },
        threads: match entry.threads {
            engines::ThreadList::Always => ThreadList::Always,
            engines::ThreadList::WhenStopped => ThreadList::WhenStopped,
        },
        withdraw: entry.withdraw.clone(),
        amendments: Amendments { defaults, types: entry.type_for.clone() },
        address: None,
    }
}

/// What a session knows before an engine is chosen.
pub(crate) fn setup(context: &Context, engine: Option<String>, reach: Reach) -> Setup {
    let catalog = Catalog::load(context).ok();
    let entries = catalog.as_ref().map_or(&[][..], Catalog::entries);
    let base_capabilities = common(entries);
    Setup {
        engine,
        known_engines: names(entries),
        base_capabilities,
        late_engines: catalog.as_ref().map(late).unwrap_or_default(),
        identify: Some(identify),
        reach,
        preparation: Preparation::ByDriver,
        find: sources::finder(context),
        ..Setup::default()
    }
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
    let mut recorded = asked.map(|entry| &entry.capabilities).filter(|recorded| !recorded.is_empty());
    let first = recorded.next().cloned().unwrap_or_default();
    let common = recorded.fold(first, |mut common, other| {
        common.retain(|key, value| value == &Value::Bool(true) && other.get(key) == Some(value));
        common
    });
    with_ours(common)
}

/// What engines can do that are started with their program, by each of their names.
fn late(catalog: &Catalog) -> BTreeMap<String, Map<String, Value>> {
    let first_choice = |name: &str| catalog.by_type(name).filter(|entry| entry.starts_with_launch());
    let late = |name: String| Some((with_ours(first_choice(&name)?.capabilities.clone()), name));
    let named = names(catalog.entries()).into_iter().filter_map(late);
    named.map(|(capabilities, name)| (name, capabilities)).collect()
}

/// With what the hub does where an adapter cannot.
fn with_ours(mut capabilities: Map<String, Value>) -> Map<String, Value> {
    capabilities.insert("supportsConfigurationDoneRequest".into(), true.into());
    capabilities.insert("supportsRestartRequest".into(), true.into());
    capabilities
}
