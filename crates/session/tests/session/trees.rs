//! Session trees: children that engines announce, opened by the hub and shown to each client in its own way.

mod breakpoints;
mod capabilities;
mod ending;
mod failing;
mod flat;
mod group;
mod journal;
mod judged;
mod killing;
mod lasting;
mod members;
mod no_room;
mod numbers;
mod opening;
mod order;
mod paths;
mod pausing;
mod progress;
mod properties;
mod random;
mod stage;
mod standing_still;
mod too_late;
mod unanswered;
mod unseen;
mod views;
