//! From what a client asks for to the adapter that is started.

use std::os::unix::fs::MetadataExt;

use breakroom_engines::{AdapterSpec, Catalog, Context, Entry};
use breakroom_session::{BareHits, EngineChoice, EngineFacts, FileId, Reach, Setup};
use serde_json::{Map, Value};

/// The adapter for a choice, or the sentence that says why there is none and what to do.
pub(crate) fn choose(choice: EngineChoice, context: &Context) -> Result<(AdapterSpec, EngineFacts), String> {
    let record = match choice {
        EngineChoice::Record(record) => record,
        EngineChoice::Type(kind) => return by_entry(context, |catalog| find_type(catalog, &kind)),
        EngineChoice::File(file) => {
            let file = context.cwd.join(file);
            return by_entry(context, |catalog| catalog.by_file(&file).map_err(|error| error.to_string()));
        }
    };
    let spec: AdapterSpec = serde_json::from_value(record)
        .map_err(|error| format!("\"breakroom\": {{\"adapter\": ...}} cannot be used: {error}."))?;
    let facts = EngineFacts { name: spec.name.clone(), ..EngineFacts::default() };
    Ok((spec, facts))
}

fn by_entry(
    context: &Context,
    find: impl for<'a> Fn(&'a Catalog) -> Result<&'a Entry, String>,
) -> Result<(AdapterSpec, EngineFacts), String> {
    let catalog = Catalog::load(context).map_err(|error| error.to_string())?;
    let entry = find(&catalog)?;
    let found = entry.find(context).map_err(|error| error.to_string())?;
    let bare_hits = match entry.bare_hits {
        breakroom_engines::BareHits::Exactly => BareHits::Exactly,
        breakroom_engines::BareHits::From => BareHits::From,
    };
    let facts = EngineFacts { name: entry.name.clone(), truth: entry.truth.clone(), bare_hits };
    Ok((entry.spec(&found), facts))
}

fn find_type<'a>(catalog: &'a Catalog, kind: &str) -> Result<&'a Entry, String> {
    catalog.by_type(kind).ok_or_else(|| {
        let known = names(catalog.entries()).join(", ");
        format!("there is no debugger for the type \"{kind}\". Known types: {known}. Another one can be given as \"breakroom\": {{\"adapter\": {{\"args\": [...]}}}} or in the user's catalog.")
    })
}

/// What a session knows before an engine is chosen.
pub(crate) fn setup(context: &Context, engine: Option<String>, reach: Reach) -> Setup {
    let catalog = Catalog::load(context).ok();
    let entries = catalog.as_ref().map_or(&[][..], Catalog::entries);
    let base_capabilities = common(entries);
    Setup { engine, known_engines: names(entries), base_capabilities, identify: Some(identify), reach }
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

/// What every recorded adapter can do: a promise that holds whichever is chosen later.
fn common(entries: &[Entry]) -> Map<String, Value> {
    let mut recorded =
        entries.iter().map(|entry| &entry.capabilities).filter(|recorded| !recorded.is_empty());
    let first = recorded.next().cloned().unwrap_or_default();
    let mut common = recorded.fold(first, |mut common, other| {
        common.retain(|key, value| value == &Value::Bool(true) && other.get(key) == Some(value));
        common
    });
    common.insert("supportsConfigurationDoneRequest".into(), true.into());
    // Where an adapter cannot, the hub does.
    common.insert("supportsRestartRequest".into(), true.into());
    common
}
