//! Session trees: children that engines announce, opened by the hub and shown to each client in its own way.

mod breakpoints;
mod ending;
mod flat;
mod journal;
mod members;
mod numbers;
mod opening;
mod random;
mod stage;
mod standing_still;
mod too_late;
mod unanswered;
mod views;
