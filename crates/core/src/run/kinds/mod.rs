//! The kinds of loop. Each file holds what only runs of its kind do; `seams` says where it comes in.

mod plan;
mod prompt;
mod supervised;

pub(super) use plan::{PlanInspection, Planned};
pub(super) use supervised::{Children, Supervised};

use crate::plan::Unjudged;
use crate::policy::Kind;
use serde::{Deserialize, Serialize};

/// What only runs of one kind remember.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum KindState {
    Prompt,
    Supervised(Supervised),
    Plan(Box<Planned>),
}

impl KindState {
    pub(super) fn of(kind: &Kind, unjudged: Option<&Unjudged>) -> KindState {
        match kind {
            Kind::Prompt => KindState::Prompt,
            Kind::Supervised(_) => KindState::Supervised(Supervised::default()),
            Kind::Plan(_) => KindState::Plan(Box::new(unjudged.map_or_else(Planned::default, Planned::after))),
        }
    }
}
