//! What stands at the beginning of a line: emoji, or words for whoever cannot see or hear them.

/// Which marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marks {
    /// As on a modern terminal.
    #[default]
    Emoji,
    /// As in a log, for a screen reader or a locale without them.
    Words,
}

impl Marks {
    /// A tool begins.
    pub fn tool(self) -> &'static str {
        self.pick("⏺", ">")
    }

    /// A check passed.
    pub fn passed(self) -> &'static str {
        self.pick("✓", "[OK]")
    }

    /// A check failed.
    pub fn failed(self) -> &'static str {
        self.pick("✗", "[ERR]")
    }

    /// Something went well.
    pub fn ok(self) -> &'static str {
        self.pick("✅", "[OK]")
    }

    /// Something failed.
    pub fn error(self) -> &'static str {
        self.pick("❌", "[ERR]")
    }

    /// The provider makes the agent wait.
    pub fn wait(self) -> &'static str {
        self.pick("⏸️", "[WAIT]")
    }

    /// A remark.
    pub fn remark(self) -> &'static str {
        self.pick("·", "-")
    }

    /// What belongs to the line above.
    pub fn below(self) -> &'static str {
        self.pick("⎿", "|")
    }

    /// The head of a todo list.
    pub fn todo_list(self) -> &'static str {
        self.pick("📋 Todo List", "Todo List")
    }

    /// The last line of a todo list.
    pub fn progress(self) -> &'static str {
        self.pick("📊 Progress", "Progress")
    }

    /// An item that is done.
    pub fn done(self) -> &'static str {
        self.pick("✅", "[x]")
    }

    /// An item that is being worked on.
    pub fn active(self) -> &'static str {
        self.pick("🔄", "[>]")
    }

    /// An item that is not begun.
    pub fn pending(self) -> &'static str {
        self.pick("⏸️", "[ ]")
    }

    fn pick(self, emoji: &'static str, words: &'static str) -> &'static str {
        match self {
            Marks::Emoji => emoji,
            Marks::Words => words,
        }
    }
}
