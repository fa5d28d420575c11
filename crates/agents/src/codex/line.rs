//! The shapes of Codex's stream, as far as they are read.

use crate::complaint::ErrorObject;
use crate::json::{List, Loose, Raw};
use crate::todo::Todo;
use serde::Deserialize;

/// One object of the stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Raw<'a>,
    #[serde(borrow)]
    pub(super) thread_id: Raw<'a>,
    #[serde(borrow)]
    pub(super) item: Loose<Item<'a>>,
    #[serde(borrow)]
    pub(super) message: Raw<'a>,
    #[serde(borrow)]
    pub(super) error: Loose<ErrorObject<'a>>,
    #[serde(borrow)]
    pub(super) usage: Loose<Usage<'a>>,
}

/// Something that the agent says or does.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow)]
    pub(super) id: Raw<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Raw<'a>,
    #[serde(borrow)]
    pub(super) text: Raw<'a>,
    #[serde(borrow)]
    pub(super) message: Raw<'a>,
    #[serde(borrow)]
    pub(super) status: Raw<'a>,
    #[serde(borrow)]
    pub(super) command: Raw<'a>,
    #[serde(borrow)]
    pub(super) aggregated_output: Raw<'a>,
    #[serde(borrow)]
    pub(super) exit_code: Raw<'a>,
    #[serde(borrow)]
    pub(super) changes: List<Change<'a>>,
    #[serde(borrow)]
    pub(super) server: Raw<'a>,
    #[serde(borrow)]
    pub(super) tool: Raw<'a>,
    #[serde(borrow)]
    pub(super) query: Raw<'a>,
    #[serde(borrow)]
    pub(super) items: List<Todo<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Change<'a> {
    #[serde(borrow)]
    pub(super) path: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage<'a> {
    #[serde(borrow)]
    pub(super) input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(super) cached_input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(super) cache_write_input_tokens: Raw<'a>,
    #[serde(borrow)]
    pub(super) output_tokens: Raw<'a>,
}
