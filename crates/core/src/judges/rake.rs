//! Rakefiles: what of the file counts for the tasks that a check names.
//!
//! A Rakefile is a program, so that only what surely does nothing is left out: a task of plain commands that nothing which
//! counts speaks of. Its body is executed by nobody, and its head holds names alone.

use crate::judges::scripts::pattern;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The task of a Rakefile for which nobody asks by name.
pub(super) const DEFAULT: &str = "default";

/// Some lines: one that is not indented, and those that belong to it.
struct Block<'a> {
    /// The task's name, if this is a task that can be left out.
    task: Option<&'a str>,
    lines: Vec<&'a str>,
}

static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let item = r#"(?::\w+|'[\w:./-]+'|"[\w:./-]+")"#;
    let items = format!(r"(?:{item}|\[\s*(?:{item}\s*(?:,\s*{item}\s*)*)?\])");
    pattern(&format!(
        r#"^(?:task|multitask)[ (]\s*(?:(?::(\w+)|'([\w:]+)'|"([\w:]+)")(?:\s*,\s*\[[\w\s:,]*\])?(?:\s*=>\s*{items})?|(\w+):\s*{items})\s*\)?(\s+do(?:\s*\|[\w\s,]*\|)?)?\s*$"#
    ))
});
/// One plain call: a method that executes, prints or moves files, and literals.
static CALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r#"^\s+(?:sh|ruby|system|puts|print|rm|rm_f|rm_r|rm_rf|mkdir|mkdir_p|cp|cp_r|mv|touch|ln_s|chmod)[ (]\s*(?:'[^'\\]*'|"[^"\\#]*")(?:\s*,\s*(?:'[^'\\]*'|"[^"\\#]*"))*\s*\)?\s*$"#,
    )
});
static DESCRIPTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r#"^desc[ (]\s*(?:'[^'\\]*'|"[^"\\#]*")\s*\)?\s*$"#));

fn is(regex: &LazyLock<Option<Regex>>, line: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(line))
}

/// What of a Rakefile counts for these tasks; nothing can be left out of one that does not end where it seems to.
pub(super) fn counted(text: &str, goals: &[String]) -> Option<String> {
    if text.contains("__END__") || text.contains("=begin") || text.contains("<<") {
        return None;
    }
    let blocks = blocks(text);
    let mut wanted: BTreeSet<&str> = goals.iter().map(String::as_str).collect();
    let mut counts: Vec<bool> = blocks.iter().map(|block| block.task.is_none()).collect();
    loop {
        for (block, counts) in blocks.iter().zip(&mut counts) {
            *counts |= block.task.is_some_and(|task| wanted.contains(task));
            if *counts {
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                let words = block.lines.iter().flat_map(|line| line.split(move |c| !is_part(c)));
                wanted.extend(words.map(|word| word.trim_matches(':')));
            }
        }
        let is_missing =
            |(block, counts): (&Block<'_>, &bool)| !counts && block.task.is_some_and(|task| wanted.contains(task));
        if !blocks.iter().zip(&counts).any(is_missing) {
            break;
        }
    }
    let counting = blocks.iter().zip(&counts).filter(|(_, counts)| **counts);
    Some(counting.flat_map(|(block, _)| &block.lines).map(|line| format!("{line}\n")).collect())
}

/// A description belongs to the task behind it.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut lines = text.lines().map(str::trim_end).filter(|line| !is_idle(line)).peekable();
    while let Some(line) = lines.next() {
        let mut block = vec![line];
        let mut head = line;
        if is(&DESCRIPTION, line)
            && let Some(next) = lines.next_if(|next| is(&HEAD, next))
        {
            block.push(next);
            head = next;
        }
        let captures = HEAD.as_ref().and_then(|regex| regex.captures(head));
        let opens = captures.as_ref().is_some_and(|captures| captures.get(5).is_some());
        let mut is_plain = captures.is_some();
        while let Some(inner) = lines.next_if(|next| next.starts_with([' ', '\t'])) {
            is_plain &= opens && is(&CALL, inner);
            block.push(inner);
        }
        if opens {
            let end = lines.next_if(|next| *next == "end");
            is_plain &= end.is_some();
            block.extend(end);
        }
        let name = captures.and_then(|captures| (1..=4).find_map(|group| captures.get(group)));
        blocks.push(Block { task: name.map(|name| name.as_str()).filter(|_| is_plain), lines: block });
    }
    blocks
}

/// Blank, or a comment that is no instruction to Ruby.
fn is_idle(line: &str) -> bool {
    let comment = line.trim_start().strip_prefix('#');
    let instructs =
        |comment: &str| comment.starts_with('!') || comment.contains("coding") || comment.contains("frozen");
    line.is_empty() || comment.is_some_and(|comment| !instructs(comment))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "require 'rake/testtask'\n\ndesc 'Runs the tests'\ntask :test => [:build] do\n  sh 'sh check.sh'\nend\n\ntask :build do\n  sh 'make'\nend\n\nnamespace :db do\n  task :seed do\n  end\nend\n";

    fn is_same(added: &str) -> bool {
        let goals = ["test".to_owned()];
        counted(&format!("{FILE}{added}"), &goals) == counted(FILE, &goals)
    }

    #[test]
    fn a_task_of_plain_commands_that_nothing_speaks_of_does_not_count() {
        for added in [
            "task :clean do\n  sh 'rm -f *.tmp'\nend\n",
            "\n# For people.\ndesc \"Tidies up\"\ntask :clean do |t, args|\n  rm_rf 'out', 'tmp'\n  puts \"done\"\nend\n",
            "task clean: [:sweep, 'wipe']\n",
            "task 'clean' => :sweep\n",
            "multitask(:all => [:sweep])\n",
        ] {
            assert!(is_same(added), "{added}");
        }
    }

    #[test]
    fn whatever_could_be_executed_or_adds_to_the_check_counts() {
        for added in [
            "task :test do\n  sh 'true'\nend\n",
            "task 'test' => :other\n",
            "task test: :other\n",
            "task :build do\n  sh 'echo'\nend\n",
            "task :clean do\n  sh 'x'; end; task(:test).clear; begin\nend\n",
            "task :clean do\n  end; Rake::Task[:test].clear; begin\nend\n",
            "task :clean => hack do\n  sh 'x'\nend\n",
            "task :clean do\n  sh \"#{exit}\"\nend\n",
            "task :clean\n  hack\n",
            "task :clean do\n  sh 'x'\n",
            "Rake::Task[:test].clear\n",
            "def sh(*)\nend\n",
            "namespace :test do\n  task :x do\n  end\nend\n",
            "exit\n",
            "# coding: utf-7\n",
            "x = <<~A\ntask :clean do\n  sh 'x'\nend\nA\n",
            "__END__\n",
        ] {
            assert!(!is_same(added), "{added}");
        }
    }

    #[test]
    fn what_a_task_needs_counts_however_it_is_called() {
        let goals = ["default".to_owned()];
        let with = |body: &str| {
            counted(
                &format!(
                    "task default: :a\ntask :a do\n  Rake::Task['b'].invoke\nend\ntask :b do\n  sh '{body}'\nend\n"
                ),
                &goals,
            )
        };
        assert_ne!(with("sh check.sh"), with("true"));
    }
}
