//! The shapes of Codex's stream, as far as they are read.

use crate::complaint::ErrorObject;
use crate::json::{List, Loose, fields};
use crate::todo::Todo;

fields! {
    pub(super) struct Line<'a> {
        kind = "type", thread_id,
        item: Loose<Item<'a>>,
        message,
        error: Loose<ErrorObject<'a>>,
        usage: Loose<Usage<'a>>,
    }

    pub(super) struct Item<'a> {
        id, kind = "type", text, message, status, command, aggregated_output, exit_code,
        changes: List<Change<'a>>,
        server, tool, query,
        items: List<Todo<'a>>,
        result: Loose<CallResult<'a>>,
        error,
    }

    pub(super) struct CallResult<'a> {
        content,
    }

    pub(super) struct Change<'a> {
        path,
    }

    pub(super) struct Usage<'a> {
        input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens,
    }
}
