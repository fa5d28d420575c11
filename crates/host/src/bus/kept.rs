//! Requests and acknowledgements as trusted state keeps them: a bus of its own for each bus, where no agent and no
//! `git clean` comes by. The bus in the project stays the place where people read.

use super::{Bus, BusError, Durability};
use ralph_core::bus::{Kind, Message};
use ralph_core::text;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// The folder in the state directory.
const FOLDER: &str = "requests";

impl Bus {
    /// What trusted state keeps of this bus.
    pub fn kept_in(&self, state: &Path) -> Bus {
        let folder = super::folder(&self.path);
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let path = folder.join(self.path.file_name().unwrap_or_default());
        let name = text::hash(path.as_os_str().as_encoded_bytes());
        Bus::at(state.join(FOLDER).join(format!("{}.md", text::prefix(&name, 16))))
    }

    /// Keeps a message of this bus in trusted state, if a run must not miss it: whoever posted it may rely on it even
    /// if the bus is deleted or edited before it was heard.
    pub fn keep(&self, message: &Message, state: &Path, durability: Durability) -> Result<(), BusError> {
        if message.kind != Kind::USER_REQUEST && message.kind != Kind::ACK {
            return Ok(());
        }
        let kept = self.kept_in(state);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(super::folder(&kept.path));
        made.map_err(kept.failed("made"))?;
        kept.post(std::slice::from_ref(message), durability)
    }
}
