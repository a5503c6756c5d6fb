//! Function breakpoints of engines that answer them in an order of their own, and without their names (lldb-dap 19).
//!
//! Such an engine is told one new name after the other, so that the one number that nobody knows is the new name's. Its
//! last answer is then put into the order in which it was asked. What cannot be told apart stays as it came.

use breakroom_dap::{Edit, Json, Message, request};
use serde_json::json;
use smallvec::SmallVec;

use crate::ids::NodeId;
use crate::ledger::ShelfId;
use crate::node::{Lane, Pending, Purpose, Waiting};
use crate::session::Session;

const COMMAND: &str = "setFunctionBreakpoints";

/// The numbers that an engine has given to the functions it was told.
#[derive(Debug, Default)]
pub(crate) struct Functions(Vec<(String, i64)>);

/// What an answer to one telling is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// Only to learn a number.
    OnTheWay,
    Whole,
}

impl Functions {
    fn number(&self, name: &str) -> Option<i64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, number)| *number)
    }

    /// An answer came to a list of these names.
    fn learn(&mut self, names: &[String], message: &Message) {
        self.0.retain(|(known, _)| names.contains(known));
        let is_new = |number: &i64| !self.0.iter().any(|(_, known)| known == number);
        let mut numbers =
            elements(message).into_iter().filter_map(|element| element.i64("id")).filter(is_new);
        let mut unknown = names.iter().filter(|name| self.number(name).is_none());
        if let (Some(number), None, Some(name), None) =
            (numbers.next(), numbers.next(), unknown.next(), unknown.next())
        {
            let learned = (name.clone(), number);
            self.0.push(learned);
        }
    }

    /// The same answer in the order of the names, if each of its elements is known.
    fn in_order(&self, names: &[String], message: &Message) -> Option<Message> {
        let there = elements(message);
        let of = |name: &String| {
            let number = self.number(name)?;
            there.iter().find(|element| element.i64("id") == Some(number))?.raw()
        };
        let sorted: Vec<&[u8]> = names.iter().map(of).collect::<Option<_>>()?;
        let at = message.payload()?.get("breakpoints")?.span()?;
        let text = [b"[", sorted.join(&b","[..]).as_slice(), b"]"].concat();
        (there.len() == names.len())
            .then(|| message.edited(SmallVec::from_iter([Edit::text(at, text)])).ok())?
    }
}

impl Session {
    /// Tells an engine a whole list, and before it as much of it as shows which number is whose.
    pub(crate) fn tell_functions(&mut self, node: NodeId, whole: Message) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        let list = whole.payload().and_then(|arguments| arguments.get("breakpoints"));
        let wanted: Vec<Json> = list.map(|list| list.elements().collect()).unwrap_or_default();
        let name = |element: &Json| element.str("name").unwrap_or_default().into_owned();
        let names: Vec<String> = wanted.iter().map(name).collect();
        let is_new = |name: &&String| known.functions.number(name).is_none();
        let new: Vec<String> = names.iter().filter(is_new).cloned().collect();
        for count in 1..new.len() {
            let later = &new[count..];
            let part = || wanted.iter().filter(|element| !later.contains(&name(element)));
            let told: Vec<serde_json::Value> =
                part().filter_map(|element| serde_json::from_slice(element.raw()?).ok()).collect();
            let purpose =
                Purpose::Functions { names: part().map(name).collect(), telling: Telling::OnTheWay };
            let pending = Pending { command: COMMAND.into(), purpose };
            let message = request(COMMAND, json!({"breakpoints": told}));
            known.push(Lane::Normal, Waiting::new(message, SmallVec::new(), Some(pending)));
        }
        let purpose = Purpose::Functions { names, telling: Telling::Whole };
        let pending = Pending { command: COMMAND.into(), purpose };
        known.push(Lane::Normal, Waiting::new(whole, SmallVec::new(), Some(pending)));
    }

    pub(crate) fn on_functions_answered(
        &mut self,
        node: NodeId,
        (names, telling): (Vec<String>, Telling),
        message: &Message,
        success: bool,
    ) {
        let Some(known) = self.nodes.get_mut(&node) else { return };
        if success {
            known.functions.learn(&names, message);
        }
        if telling == Telling::Whole {
            let sorted = known.functions.in_order(&names, message);
            self.on_shelf_answered(node, ShelfId::Functions, sorted.as_ref().unwrap_or(message), success);
        }
    }
}

fn elements(message: &Message) -> Vec<Json<'_>> {
    let list = message.payload().and_then(|body| body.get("breakpoints"));
    list.map(|list| list.elements().collect()).unwrap_or_default()
}
