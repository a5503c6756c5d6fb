//! How a session's breakpoints come to its debugger, and what became of them comes back.

use breakroom_client::breakpoints::Group;
use breakroom_client::model;
use serde_json::{Value, json};

use super::{Breakpoint, Breakpoints, Place, State, Truth, Wish, is_line};
use crate::failure::Failure;
use crate::session::Session;
use crate::session::seen::{Stop, Thread, Told};

impl Session {
    /// Tells all of them, when the debugger is ready for them. The program can be debugged without those it refuses.
    pub async fn set_all(&self) {
        let mut breakpoints = self.breakpoints.lock().await;
        let is_told = |breakpoint: &&Breakpoint| breakpoint.hub.is_some();
        // A function may be in another file now, and is to be gone from this one.
        let told: Vec<Group> = breakpoints.all.iter().filter(is_told).filter_map(Breakpoint::group).collect();
        for breakpoint in &mut breakpoints.all {
            self.prepare(breakpoint).await;
        }
        if breakpoints.all.iter().any(|breakpoint| breakpoint.capture.is_some()) {
            self.count_of_others().await;
        }
        self.tell_groups(&mut breakpoints, told).await;
    }

    /// Puts those that are still there back to how they were: the program that they were for goes on.
    pub async fn set_as_before(&self, before: Vec<Breakpoint>) {
        let mut breakpoints = self.breakpoints.lock().await;
        let told = breakpoints.groups();
        for old in before {
            if let Some(breakpoint) = breakpoints.all.iter_mut().find(|new| new.number == old.number) {
                *breakpoint = old;
            }
        }
        self.tell_groups(&mut breakpoints, told).await;
    }

    /// Tells the debugger of each group that there is, or that it was told of before.
    async fn tell_groups(&self, breakpoints: &mut Breakpoints, told: Vec<Group>) {
        let mut groups = breakpoints.groups();
        groups.extend(told.into_iter().filter(|group| !breakpoints.groups().contains(group)));
        for group in groups {
            if let Err(failure) = self.set_group(breakpoints, &group).await {
                breakpoints.reject(&group, &failure.what);
            }
        }
        // A program that ends at once leaves nobody to ask.
        if !breakpoints.all.is_empty() {
            let _ = self.learn(breakpoints).await;
        }
    }

    /// Finds the function that the debugger cannot find, and refuses what it would not understand.
    async fn prepare(&self, breakpoint: &mut Breakpoint) {
        (breakpoint.found, breakpoint.refused, breakpoint.is_reached) = (None, None, false);
        let (knows_functions, knows_conditions) = {
            let seen = self.seen();
            (seen.can("supportsFunctionBreakpoints"), seen.can("supportsConditionalBreakpoints"))
        };
        if let (Place::Function(name), false) = (&breakpoint.place, knows_functions) {
            match self.definition(name.clone(), breakpoint.file.clone()).await {
                Ok(found) => breakpoint.found = Some(found),
                Err(failure) => breakpoint.refuse(failure),
            }
        }
        if breakpoint.is_of_this_run() {
            breakpoint.refuse(Failure::new("what it watched was of the run before").next("Set it again."));
        }
        if breakpoint.terms.condition.is_some() && !knows_conditions {
            breakpoint
                .refuse(Failure::new("this debugger knows no conditions").next(
                    "Set it without one; `capture` shows every hit with the values that would decide.",
                ));
        }
    }

    /// Adds one and tells the debugger, if it is ready. If that refuses it, everything is as it was.
    pub async fn set(&self, wish: Wish) -> Result<u32, Failure> {
        let mut breakpoints = self.breakpoints.lock().await;
        if wish.capture.is_some() && self.seen().life.is_connected() {
            self.count_of_others().await;
        }
        let before = breakpoints.all.clone();
        let number = breakpoints.add(wish);
        if self.seen().life.is_connected()
            && let Some(new) = breakpoints.all.last_mut().filter(|new| !new.is_of_this_run())
        {
            self.prepare(new).await;
            if let Some(failure) = new.refused.take() {
                breakpoints.all = before;
                return Err(failure);
            }
        }
        let group = breakpoints.get(number).and_then(Breakpoint::group);
        if let Some(group) = group.filter(|_| self.seen().life.is_connected())
            && let Err(failure) = self.set_group(&mut breakpoints, &group).await
        {
            breakpoints.all = before;
            self.watch_captures(&breakpoints);
            return Err(failure);
        }
        // It is set, whether or not anybody can say what became of it.
        let _ = self.learn(&mut breakpoints).await;
        Ok(number)
    }

    /// Takes away those that are meant, and says how many. If the debugger refuses that, what it still has stays.
    pub async fn remove(&self, is_meant: impl Fn(&Breakpoint) -> bool) -> Result<usize, Failure> {
        let mut breakpoints = self.breakpoints.lock().await;
        let mut groups = breakpoints.groups();
        let gone = breakpoints.take(is_meant);
        groups.retain(|group| gone.iter().any(|one| one.group().as_ref() == Some(group)));
        if !self.seen().life.is_connected() || self.seen().is_over() {
            return Ok(gone.len());
        }
        for (at, group) in groups.iter().enumerate() {
            if let Err(failure) = self.set_group(&mut breakpoints, group).await {
                let is_kept = |one: &Breakpoint| one.group().is_some_and(|own| groups[at..].contains(&own));
                breakpoints.put_back(gone.into_iter().filter(is_kept));
                self.watch_captures(&breakpoints);
                return Err(failure);
            }
        }
        Ok(gone.len())
    }

    /// What others' breakpoints were hit before anything captures is no hit of theirs beside it. Asked before that is set:
    /// whatever is hit from then on is.
    async fn count_of_others(&self) {
        // At worst it stops once where nobody wanted it to.
        let Ok(body) = self.link.request("breakroom/breakpoints", json!({})).await else { return };
        let listed = body["breakpoints"].as_array().into_iter().flatten();
        let others = listed.filter(|one| one["own"] != Value::Bool(true));
        self.watched.change(|seen| others.for_each(|other| seen.run.others.know(other)));
    }

    /// Takes away what was only there to run to: it has stopped, there or elsewhere.
    pub async fn arrive(&self) {
        let there = std::mem::take(&mut self.seen().running_to);
        if !there.is_empty() {
            // The stop is worth telling even if one stays.
            let _ = self.remove(|breakpoint| there.contains(&breakpoint.number)).await;
        }
    }

    async fn set_group(&self, breakpoints: &mut Breakpoints, group: &Group) -> Result<(), Failure> {
        let captures = breakpoints.all.iter().filter(|one| one.capture.is_some());
        let numbers: Vec<u32> = captures.map(|one| one.number).collect();
        if !numbers.is_empty() {
            self.watched.expect_capturing();
        }
        self.watched.change(|seen| seen.run.set_capturing(&numbers));
        let is_set = self.tell_group(breakpoints, group).await;
        self.watch_captures(breakpoints);
        is_set
    }

    /// Whose stops are to be judged from now on, and whose hits written down.
    fn watch_captures(&self, breakpoints: &Breakpoints) {
        let (capturing, others): (Vec<_>, Vec<_>) =
            breakpoints.all.iter().partition(|breakpoint| breakpoint.capture.is_some());
        let own: Vec<u32> = capturing.iter().map(|one| one.number).collect();
        self.watched.change(|seen| seen.run.set_capturing(&own));
        let numbers = |list: Vec<&Breakpoint>| list.into_iter().filter_map(|one| one.hub).collect();
        self.watched.set_capturing(numbers(capturing), numbers(others));
    }

    /// A debugger takes all of a file at once, so each change sends the whole group again.
    async fn tell_group(&self, breakpoints: &mut Breakpoints, group: &Group) -> Result<(), Failure> {
        let of_group = |breakpoint: &&Breakpoint| breakpoint.group().as_ref() == Some(group);
        let requests = breakpoints.all.iter().filter(of_group).map(Breakpoint::request).collect();
        let (command, arguments) = group.request(requests);
        if breakpoints.all.iter().filter(of_group).any(|one| one.terms.condition.is_some()) {
            self.stop_at_mistakes().await;
        }
        let body = self.link.request(command, arguments).await?;
        let answers = body["breakpoints"].as_array().cloned().unwrap_or_default();
        let ours = breakpoints.all.iter_mut().filter(|breakpoint| breakpoint.group().as_ref() == Some(group));
        for (breakpoint, answer) in ours.zip(answers) {
            breakpoint.hub = model::integer(&answer["id"]);
        }
        // Where the answer has no numbers, the list of the hub has them.
        if breakpoints.all.iter().any(|breakpoint| breakpoint.hub.is_none() && breakpoint.refused.is_none()) {
            // They are set, whether or not anybody can say how they are called.
            let _ = self.learn(breakpoints).await;
        }
        Ok(())
    }

    /// Reads what became of each.
    pub async fn learn(&self, breakpoints: &mut Breakpoints) -> Result<Vec<Value>, Failure> {
        breakpoints.count_in(self.seen().run.number());
        if !self.seen().life.is_connected() || self.seen().is_over() {
            let seen = self.seen();
            breakpoints.all.iter_mut().for_each(|breakpoint| breakpoint.hear(seen.run.hits()));
            return Ok(Vec::new());
        }
        self.look_at_unshown().await;
        let body = self.link.request("breakroom/breakpoints", json!({})).await?;
        self.seen().children_run_freely = body["children"] == "run-freely";
        let listed = body["breakpoints"].as_array().cloned().unwrap_or_default();
        let (own, others): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|one| one["own"] == Value::Bool(true));
        for breakpoint in &mut breakpoints.all {
            let is_it = |one: &&Value| match breakpoint.hub {
                Some(hub) => model::integer(&one["id"]) == Some(hub),
                // Ruby's debugger answers without numbers.
                None => match &breakpoint.found {
                    Some(found) => is_line(one, &found.file, found.line),
                    None => breakpoint.place.is_of(one),
                },
            };
            // Numbers are of one kind of breakpoint.
            let kind = [breakpoint.line().is_some(), breakpoint.is_of_this_run()];
            let of_its_kind = |one: &&Value| [one["source"].is_object(), one["dataId"].is_string()] == kind;
            if breakpoint.refused.is_some() {
                continue;
            }
            if let Some(listed) = own.iter().filter(of_its_kind).find(is_it) {
                breakpoint.hub = model::integer(&listed["id"]);
                // The hub hears of no hit that the debugger does not tell.
                let seen = breakpoint.hub.and_then(|hub| self.seen().run.hits().get(&hub).copied());
                let hits = model::integer(&listed["hits"]).unwrap_or_default();
                breakpoint.truth = Truth {
                    state: State::read(&model::text(&listed["state"])),
                    line: model::integer(&listed["actualLine"]),
                    reason: listed["reason"].as_str().map(str::to_owned),
                    hits: hits.max(seen.unwrap_or_default()),
                };
            }
        }
        Ok(others)
    }

    /// A hit that the debugger does not name is counted when somebody looks at it, which nobody may have done yet.
    async fn look_at_unshown(&self) {
        let is_unnamed = |stop: &&Stop| stop.hit.is_empty() && stop.reason.ends_with("breakpoint");
        let is_unshown = |stop: &&Stop| stop.told == Told::Not && is_unnamed(stop);
        let threads: Vec<Thread> =
            self.seen().threads.stops().iter().filter(is_unshown).map(|stop| stop.thread).collect();
        for thread in threads {
            // Where it went on meanwhile there is nothing to look at.
            let _ = self.stack(thread, 0, 1).await;
        }
    }
}
