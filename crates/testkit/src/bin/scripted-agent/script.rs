//! The script as text: sections and their lines. What a line means is no concern of this file.

use std::ops::RangeInclusive;

/// A parsed script.
pub struct Script {
    /// Lines before the first section: done first, whichever section follows.
    common: Vec<String>,
    sections: Vec<Section>,
}

struct Section {
    name: Name,
    lines: Vec<String>,
}

enum Name {
    /// `[3]` or `[2-5]`.
    Iterations(RangeInclusive<u32>),
    /// `[*]`: where no numbered section fits.
    Fallback,
    /// `[commit]`: only reached by the action `section commit`.
    Named(String),
}

impl Script {
    /// Splits the text into sections; says which header is wrong.
    pub fn parse(text: &str) -> Result<Script, String> {
        let mut script = Script { common: Vec::new(), sections: Vec::new() };
        for line in text.lines() {
            // Spaces at the end stay: they may be part of what is printed.
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(header) = line.trim_end().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                script.sections.push(Section { name: Name::parse(header.trim())?, lines: Vec::new() });
                continue;
            }
            let lines = script.sections.last_mut().map_or(&mut script.common, |section| &mut section.lines);
            lines.push(line.to_owned());
        }
        Ok(script)
    }

    /// What is done in one iteration: the common lines, then the numbered sections that fit it, else the fallback.
    pub fn for_iteration(&self, iteration: u32) -> Vec<String> {
        let numbered = |name: &Name| matches!(name, Name::Iterations(range) if range.contains(&iteration));
        let mut lines = self.common.clone();
        if self.sections.iter().any(|section| numbered(&section.name)) {
            lines.extend(self.lines_where(numbered));
        } else {
            lines.extend(self.lines_where(|name| matches!(name, Name::Fallback)));
        }
        lines
    }

    /// The lines of a section reached by name.
    pub fn named(&self, wanted: &str) -> Option<Vec<String>> {
        let fits = |name: &Name| matches!(name, Name::Named(name) if name == wanted);
        self.sections.iter().any(|section| fits(&section.name)).then(|| self.lines_where(fits))
    }

    fn lines_where(&self, fits: impl Fn(&Name) -> bool) -> Vec<String> {
        self.sections
            .iter()
            .filter(|section| fits(&section.name))
            .flat_map(|section| section.lines.iter().cloned())
            .collect()
    }
}

impl Name {
    fn parse(header: &str) -> Result<Name, String> {
        if header == "*" {
            return Ok(Name::Fallback);
        }
        if !header.starts_with(|first: char| first.is_ascii_digit()) {
            let plain = !header.is_empty() && header.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            return if plain { Ok(Name::Named(header.to_owned())) } else { Err(format!("wrong section [{header}]")) };
        }
        let (first, last) = header.split_once('-').unwrap_or((header, header));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) => Ok(Name::Iterations(first..=last)),
            _ => Err(format!("wrong section [{header}]")),
        }
    }
}
