//! Members of a group that ask to be started again, by `restart` in their `terminated`.
//!
//! The member's engine goes first, since two at once could want the same port, and the session lasts meanwhile. What takes
//! its place is a new node: to the clients the old one has ended.

use breakroom_dap::{Edit, Json, Message};
use smallvec::SmallVec;

use super::{FAREWELL, opening};
use crate::ending::{Ending, Fate};
use crate::ids::NodeId;
use crate::io::Effect;
use crate::over::Bond;
use crate::session::Session;
use crate::tree::{Child, Host, Stage};

impl Session {
    /// `terminated` of a child that wants to be started again. False if it is not one that can be.
    pub(crate) fn child_wants_restart(&mut self, id: NodeId, message: &Message, wish: Json) -> bool {
        let child = self.nodes.get_mut(&id).and_then(|node| node.lineage.child_mut());
        let alive =
            |child: &&mut Child| child.host == Host::Own && !matches!(child.stage, Stage::Leaving { .. });
        let Some(child) = child.filter(alive) else { return false };
        let edit = child.request.payload().zip(wish.raw());
        let edit = edit.and_then(|(arguments, wish)| Edit::member(arguments, "__restart", wish));
        let edited = edit.and_then(|edit| child.request.edited(SmallVec::from_iter([edit])).ok());
        child.again = Some(edited.unwrap_or_else(|| child.request.clone()));
        let until = self.now.after(FAREWELL);
        self.take_leave_as(id, Some(message));
        self.ask_child_to_end(id, None, until);
        true
    }

    /// What a child that is gone asked for, unless everything ends.
    pub(super) fn open_again(&mut self, gone: Child) {
        let goes_on = matches!(self.ending, Ending::No)
            && !self.restart.is_under_way()
            && self.bond != Bond::Broken
            && self.nodes.contains_key(&gone.parent);
        let Some(request) = gone.again.filter(|_| goes_on) else { return };
        let Some(announcer) = self.nodes.get(&gone.parent) else { return };
        let Some(configuration) = request.payload() else { return };
        let opening = opening(configuration, &announcer.facts);
        let opening = self.opening_by_given_adapter(opening, gone.parent, configuration);
        let paths = super::paths_of(configuration, announcer);
        let parent = gone.parent;
        let stage = Stage::Coming { until: None, announced: None };
        let program = Fate::Ends;
        let child = Child { request: request.clone(), stage, program, expected: None, again: None, ..gone };
        let node = self.new_child(child, paths);
        self.effect(Effect::OpenChild { node, parent, opening });
    }
}
