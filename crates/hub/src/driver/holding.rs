//! Connections that guards keep open beside the hub, should it be killed.
//!
//! An engine that would let a stopped program run on without us must not see that we are gone before the program is. So every
//! guard that has something to kill then holds our ends of all connections to that engine. Who is killed is said elsewhere.

use breakroom_session::NodeId;

use super::Driver;
use super::node_io::NodeIo;
use crate::supervise::Order;

impl Driver {
    /// Has every guard that kills for this engine hold all connections to it.
    pub(super) fn hold_all(&self, keeper: NodeId) {
        self.connections_to(keeper).for_each(|connection| self.hold(connection));
    }

    /// The same of one connection that was just made.
    pub(super) fn hold(&self, connection: &NodeIo) {
        let keeper = connection.server().keeper;
        if self.dies_with_hub(keeper) {
            self.order_guards(keeper, || held(connection));
        }
    }

    /// What a terminal's guard has to hold, which came when the connections were there.
    pub(super) fn held_for(&self, keeper: NodeId) -> Vec<Order> {
        self.connections_to(keeper).filter_map(held).collect()
    }

    /// Whether what this engine launched is killed if the hub is.
    pub(super) fn dies_with_hub(&self, keeper: NodeId) -> bool {
        self.nodes.iter().any(|node| node.id() == keeper && node.dies_with_hub())
    }

    /// Nodes of which nothing is left are dropped: their descriptors would be kept for as long as the session lasts.
    pub(super) fn forget_gone(&mut self) {
        let gone: Vec<NodeIo> = self.nodes.extract_if(.., |node| node.is_gone()).collect();
        for node in gone.iter().filter(|node| node.host().is_some()) {
            // Closing our end alone means nothing as long as another is open.
            node.cut();
            self.order_guards(node.server().keeper, || Some(Order::LetGo(node.id())));
        }
    }

    fn connections_to(&self, keeper: NodeId) -> impl Iterator<Item = &NodeIo> {
        self.nodes.iter().filter(move |node| node.server().keeper == keeper)
    }

    fn order_guards(&self, keeper: NodeId, order: impl Fn() -> Option<Order>) {
        if let Some(engine) = self.nodes.iter().find(|node| node.id() == keeper) {
            order().into_iter().for_each(|order| engine.order(order));
        }
        for terminal in self.terminals.iter().filter(|terminal| terminal.keeper == keeper) {
            order().into_iter().for_each(|order| drop(terminal.orders.send(order)));
        }
    }
}

fn held(connection: &NodeIo) -> Option<Order> {
    match connection.duplicates() {
        Ok(duplicates) => Some(Order::Hold(connection.id(), duplicates)),
        Err(error) => {
            tracing::warn!(
                "a connection cannot be held, so a program may run on should this hub be killed: {error}"
            );
            None
        }
    }
}
