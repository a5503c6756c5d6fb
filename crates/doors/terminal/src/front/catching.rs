//! At which exceptions the program stops: the filters that its debugger has for them.

use std::io::Write;

use crate::error::Error;
use crate::front::Front;
use breakroom_client::{Client, model};

/// One of a debugger's filters: its name and what it is called.
type Filter = (String, String);

/// Whose choice it is which filters are on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Filters {
    Usual,
    Chosen,
}

/// The word for no filter at all.
pub(super) const NONE: &str = "none";

fn filters_of(client: &Client) -> Vec<Filter> {
    let known = client.capability("exceptionBreakpointFilters");
    model::list(known, |filter| Some((filter["filter"].as_str()?.to_owned(), model::text(&filter["label"]))))
}

/// Those that are on from the start, if some were named.
pub(super) fn choose(wanted: Vec<String>, client: &mut Client) -> Result<(), Error> {
    if wanted.is_empty() {
        return Ok(());
    }
    let known = filters_of(client);
    let is_unknown = |name: &&String| *name != NONE && !known.iter().any(|(known, _)| known == *name);
    if let Some(unknown) = wanted.iter().find(is_unknown) {
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        let advice = match names.is_empty() {
            true => "this debugger has none".to_owned(),
            false => format!("this debugger has {}", names.join(", ")),
        };
        return Err(Error::Missing { what: format!("filter `{unknown}`"), advice });
    }
    client.choose_filters(wanted.into_iter().filter(|name| name != NONE).collect());
    Ok(())
}

impl<O: Write> Front<'_, O> {
    fn known_filters(&self) -> Vec<Filter> {
        filters_of(&self.client)
    }

    /// Those that are on have an arrow.
    pub(super) fn list_filters(&mut self) -> Result<(), Error> {
        let filters = self.known_filters();
        if filters.is_empty() {
            return self.screen.say("this debugger has no filters for exceptions");
        }
        let width = filters.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, label) in filters {
            let text = format!("{name:width$}  {label}");
            let line = match self.client.caught().contains(&name) {
                true => self.screen.paint.mark(&format!("-> {text}")),
                false => format!("   {text}"),
            };
            self.screen.say(line.trim_end())?;
        }
        Ok(())
    }

    pub(super) fn catch(&mut self, filters: Vec<String>) -> Result<(), Error> {
        let known = self.known_filters();
        let unknown = filters.iter().find(|name| !known.iter().any(|(known, _)| known == *name));
        if let Some(unknown) = unknown {
            return Err(Error::Missing {
                what: format!("filter `{unknown}`"),
                advice: "`catch` lists those there are".to_owned(),
            });
        }
        self.client.catch(filters)?;
        self.filters = Filters::Chosen;
        Ok(())
    }
}
