//! What stands at the beginning of a line: emoji, or words for whoever cannot see or hear them.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marks {
    /// As on a modern terminal.
    #[default]
    Emoji,
    /// As in a log, for a screen reader or a locale without them.
    Words,
}

#[derive(Debug, Clone, Copy)]
pub enum Mark {
    Tool,
    CheckPassed,
    CheckFailed,
    Ok,
    Error,
    /// The provider makes the agent wait.
    Wait,
    Remark,
    /// What belongs to the line above.
    Below,
    TodoList,
    /// The last line of a todo list.
    Progress,
    Done,
    Active,
    Pending,
}

impl Marks {
    pub fn of(self, mark: Mark) -> &'static str {
        let (emoji, words) = match mark {
            Mark::Tool => ("⏺", ">"),
            Mark::CheckPassed => ("✓", "[OK]"),
            Mark::CheckFailed => ("✗", "[ERR]"),
            Mark::Ok => ("✅", "[OK]"),
            Mark::Error => ("❌", "[ERR]"),
            Mark::Wait => ("⏸️", "[WAIT]"),
            Mark::Remark => ("·", "-"),
            Mark::Below => ("⎿", "|"),
            Mark::TodoList => ("📋 Todo List", "Todo List"),
            Mark::Progress => ("📊 Progress", "Progress"),
            Mark::Done => ("✅", "[x]"),
            Mark::Active => ("🔄", "[>]"),
            Mark::Pending => ("⏸️", "[ ]"),
        };
        match self {
            Marks::Emoji => emoji,
            Marks::Words => words,
        }
    }
}
