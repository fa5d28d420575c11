//! What the checks are made of, whether that is known and trusted, and where they would run.

use crate::judging;
use crate::project::Project;
use crate::settings::Settings;
use ralph_view::findings::Finding;
use ralph_view::judges::count;

pub(super) fn findings(project: &Project, settings: Option<&Settings>) -> Vec<Finding> {
    let Some(settings) = settings else { return Vec::new() };
    if settings.guardrails.iter().flatten().next().is_none() {
        let what = "none is configured, so nothing but the agent's word stands behind a claim";
        return vec![Finding::note("checks", what).fix("ralph init")];
    }
    let judging = match judging::look(project, settings) {
        Ok(found) => found.judging,
        Err(error) => return vec![Finding::problem("checks", error.words(), error.code).fix("ralph judges")],
    };
    let missing: Vec<String> = judging.missing_programs().map(|name| format!("{name} cannot be found")).collect();
    let unknown: Vec<String> = judging.unknown_of_shown().map(|what| format!("ralph does not know {what}")).collect();
    let about: Vec<String> = missing.into_iter().chain(unknown).collect();
    let checks = match about.is_empty() {
        true => Finding::ok("checks", count(judging.pins.present(), judging.pins.programs.len())),
        false => Finding::note("checks", about.join("\n")).fix("ralph judges"),
    };
    let snapshots = match judging.live.as_str() {
        "" => Finding::ok("snapshots", "each check gets a copy of the project of its own"),
        why => Finding::note("snapshots", format!("checks run in the project itself: {why}")),
    };
    let changed: Vec<String> = judging.untrusted.iter().map(|untrusted| untrusted.words()).collect();
    let trust = (!changed.is_empty()).then(|| Finding::note("trust", changed.join("\n")).fix("ralph trust --show"));
    [Some(checks), Some(snapshots), trust].into_iter().flatten().collect()
}
