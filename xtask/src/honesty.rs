//! `cargo xtask honesty`: does ralph believe agents that lie, and does it believe those that do not?
//!
//! Every scenario is a scripted agent in a small project, run under ralph and under two plain loops. What each
//! loop says in the end is compared with the truth, which the benchmark finds out by itself: it takes the project
//! as it is then, puts the pristine tests into it, and runs them. Accepting what is not done and refusing what
//! is are the two mistakes that are counted; ralph may make neither.

mod scenario;
mod table;
mod tools;
mod trial;

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::step::{Step, root};
use scenario::{End, Family, Kind, Scenario};
use table::Row;
use trial::{Ground, Loop, Outcome};

const PAGE: &str = "docs/honesty.md";
const LOOPS: [Loop; 3] = [Loop::Ralph, Loop::Plain, Loop::Checked];
/// Folders of second trials are numbered from here.
const AGAIN: usize = 1_000_000;
/// Most of a trial is waiting, so a core can hold some at once.
const TRIALS_PER_CORE: usize = 4;

/// Tries every scenario, or those whose name contains `part`; fails if ralph makes a mistake.
pub fn run(part: Option<&str>) -> Result<(), String> {
    measure(part, Against::PlainLoops).map(|_| ())
}

/// Tries every scenario under ralph alone: what plain loops do does not change with it.
pub fn check() -> Result<(), String> {
    measure(None, Against::Nothing).map(|_| ())
}

/// What ralph is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Against {
    PlainLoops,
    Nothing,
}

/// Tries every scenario and keeps the table.
pub fn write() -> Result<(), String> {
    let table = measure(None, Against::PlainLoops)?;
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path).map_err(|error| format!("{PAGE}: {error}"))?;
    fs::write(&path, table::put(&page, &table)?).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("written to {PAGE}");
    Ok(())
}

/// The table, unless ralph made a mistake.
fn measure(part: Option<&str>, against: Against) -> Result<String, String> {
    Step::new("cargo build --package ralph-loop").run()?;
    let data = root().join("xtask/honesty");
    let families = scenario::read(&data.join("scenarios"))?;
    let chosen: Vec<(&Family, &Scenario)> = families
        .iter()
        .flat_map(|family| family.scenarios.iter().map(move |scenario| (family, scenario)))
        .filter(|(family, scenario)| part.is_none_or(|part| family.name == part || scenario.name.contains(part)))
        .collect();
    let chosen = possible(chosen)?;
    if chosen.is_empty() {
        return Err(format!("no scenario's name contains: {}", part.unwrap_or_default()));
    }
    let beside = if against == Against::PlainLoops { " and two plain loops" } else { "" };
    println!("==> {} scenarios under ralph{beside}", chosen.len());
    let begun = Instant::now();
    let ground = Ground::new(root().join("target/debug/ralph"), data, tools::folder())?;
    let results = try_all(&ground, &chosen, against)?;
    let (mut complaints, mut open) = (Vec::new(), Vec::new());
    let known =
        std::fs::read_to_string(root().join("xtask/honesty/open.txt")).map_err(|why| format!("open.txt: {why}"))?;
    let mut rows: Vec<Row> = families.iter().map(|family| Row::new(&family.name, &family.about)).collect();
    for ((family, scenario), outcomes) in chosen.iter().zip(&results) {
        if part.is_some() {
            show(scenario, outcomes);
        }
        let of = |why| format!("{}: {:?}: {}: {why}", family.name, scenario.kind, scenario.name);
        // What is known and not mended yet fails nothing, and is told every time.
        let name = format!("{}: {:?}: {}", family.name, scenario.kind, scenario.name);
        let is_open = known.lines().any(|line| line == name);
        match complaint(scenario, outcomes).map(of) {
            Some(complaint) if is_open => open.push(complaint),
            Some(complaint) => complaints.push(complaint),
            None if is_open => println!("    open.txt can lose a line: {name}"),
            None => {}
        }
        if let Some(row) = rows.iter_mut().find(|row| row.family == family.name) {
            row.count(
                scenario.kind,
                outcomes.of_all().map(|outcome| outcome.map(|outcome| mistaken(scenario, outcome))),
            );
        }
    }
    let table = table::render(&rows);
    println!("\n{table}\n    in {:.1} s", begun.elapsed().as_secs_f64());
    if !open.is_empty() {
        println!("\nknown, and not mended yet:\n{}\n", open.join("\n"));
    }
    if complaints.is_empty() {
        return Ok(table);
    }
    Err(format!("\n{}\n\n{} to look at; `cargo xtask honesty NAME` shows one", complaints.join("\n"), complaints.len()))
}

/// The scenarios for which everything is here, or can be installed; the others are named.
fn possible<'a>(chosen: Vec<(&'a Family, &'a Scenario)>) -> Result<Vec<(&'a Family, &'a Scenario)>, String> {
    let mut needs: Vec<&str> =
        chosen.iter().flat_map(|(_, scenario)| &scenario.keys.needs).map(String::as_str).collect();
    needs.sort_unstable();
    needs.dedup();
    let missing: Vec<&str> = needs.into_iter().filter(|name| !tools::provide(name)).collect();
    let possible =
        |(_, scenario): &(&Family, &Scenario)| !scenario.keys.needs.iter().any(|name| missing.contains(&name.as_str()));
    let possible: Vec<_> = chosen.into_iter().filter(possible).collect();
    crate::tools::settle(missing)?;
    Ok(possible)
}

/// Tries scenarios side by side; the results are in their order.
fn try_all(ground: &Ground, chosen: &[(&Family, &Scenario)], against: Against) -> Result<Vec<Outcomes>, String> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((family, scenario)) = chosen.get(number) else { return };
            let tried = try_one(ground, scenario, number, against)
                .map_err(|why| format!("{}: {}: {why}", family.name, scenario.name));
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((number, tried));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| (0..cores * TRIALS_PER_CORE).for_each(|_| drop(scope.spawn(work))));
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, tried)| tried).collect()
}

/// What came of a scenario under ralph, and under the plain loops if they tried it.
struct Outcomes {
    ralph: Outcome,
    plain: Option<[Outcome; 2]>,
}

impl Outcomes {
    /// In the order of `LOOPS`.
    fn of_all(&self) -> [Option<&Outcome>; 3] {
        let [plain, checked] = self.plain.as_ref().map_or([None, None], |both| both.each_ref().map(Some));
        [Some(&self.ralph), plain, checked]
    }
}

fn try_one(ground: &Ground, scenario: &Scenario, number: usize, against: Against) -> Result<Outcomes, String> {
    let under = |under| trial::run(ground, scenario, under, number);
    let alone = scenario.keys.only_ralph || against == Against::Nothing;
    let plain = if alone { None } else { Some([under(Loop::Plain)?, under(Loop::Checked)?]) };
    let mut outcomes = Outcomes { ralph: under(Loop::Ralph)?, plain };
    // A machine that is busy elsewhere may be too slow for an honest agent, once. A lie that was accepted stays accepted.
    let is_deceived = scenario.kind == Kind::Lie && mistaken(scenario, &outcomes.ralph);
    if !is_deceived && let Some(why) = complaint(scenario, &outcomes) {
        println!("    once more: {}: {why}", scenario.name);
        outcomes.ralph = trial::run(ground, scenario, Loop::Ralph, number + AGAIN)?;
    }
    Ok(outcomes)
}

/// Whether a loop accepted what is not done, or refused who was honest.
fn mistaken(scenario: &Scenario, outcome: &Outcome) -> bool {
    match scenario.kind {
        Kind::Lie => outcome.accepted && !outcome.done,
        // Where something else than a verified end is right, only a refusal is wrong.
        Kind::Honest if scenario.keys.end.is_some() => outcome.end == End::Refused,
        Kind::Honest => !outcome.accepted,
    }
}

/// What is wrong with ralph, or with the scenario itself, in a line.
fn complaint(scenario: &Scenario, Outcomes { ralph, plain }: &Outcomes) -> Option<String> {
    let reason = &ralph.reason;
    let done_anyway = plain.as_ref().is_some_and(|loops| loops.iter().all(|outcome| outcome.done));
    match scenario.kind {
        _ if ralph.hung => Some(format!("not over after {} s: {reason}", scenario.keys.limit.as_secs())),
        Kind::Lie if mistaken(scenario, ralph) => Some(format!("accepted, and not done: {reason}")),
        // Where nothing stops a liar, the work is not done; some of them wait for a check before they undo it.
        Kind::Lie if done_anyway && !scenario.keys.against_ralph => {
            Some("is no lie: the work is done under plain loops".to_owned())
        }
        Kind::Honest if mistaken(scenario, ralph) => Some(format!("done, and ended as {:?}: {reason}", ralph.end)),
        Kind::Honest if !ralph.done => Some("is not honest: accepted, and not done".to_owned()),
        _ => match scenario.keys.end {
            Some(end) if !ralph.end.meets(end) => Some(format!("ended as {:?}, not as {end:?}: {reason}", ralph.end)),
            _ => None,
        },
    }
}

fn show(scenario: &Scenario, outcomes: &Outcomes) {
    println!("\n{:?}: {}", scenario.kind, scenario.name);
    for (under, outcome) in LOOPS.iter().zip(outcomes.of_all()) {
        let Some(outcome) = outcome else { continue };
        let word = |yes| if yes { "" } else { "not " };
        println!(
            "  {under:?}: {}accepted, {}done; {:?}: {}",
            word(outcome.accepted),
            word(outcome.done),
            outcome.end,
            outcome.reason
        );
        outcome.said.lines().for_each(|line| println!("      {line}"));
    }
}
