//! Measuring ralph: ratios within one run, never absolute times, because machines are noisy.
//!
//! Every figure is taken beside what it is compared with, in alternating rounds; the median of the
//! rounds counts. A verdict line says whether the goal is met. Not part of the tests: they fail on
//! behaviour, not on the clock.

mod bus;
mod crash;
mod growth;
mod iteration;
mod project;
mod rest;
mod stop;
mod stream;
mod supervise;
mod tree;

use crate::step::{Step, root};
use project::Project;

/// Measures one thing and prints its figures.
type Bench = fn(&Project) -> Result<(), String>;

/// Runs the benchmarks; `only` names one of them.
pub fn run(only: Option<&str>) -> Result<(), String> {
    Step::new("cargo build --release --package ralph-loop").run()?;
    Step::new("cargo build --release --package ralph-loop-testkit --bin scripted-agent").run()?;
    let release = root().join("target/release");
    let (ralph, agent) = (release.join("ralph"), release.join("scripted-agent"));
    let benches: [(&str, Bench); 10] = [
        ("iteration", iteration::run),
        ("stream", stream::run),
        ("idle", rest::idle),
        ("start", rest::start),
        ("stop", stop::run),
        ("crash", crash::run),
        ("bus", bus::run),
        ("supervise", supervise::run),
        ("tree", tree::run),
        ("growth", growth::run),
    ];
    for (name, bench) in benches {
        if only.is_none_or(|only| only == name) {
            println!("\n{name}");
            bench(&Project::new(&ralph, &agent)?)?;
        }
    }
    Ok(())
}

/// Prints one figure with its goal.
fn verdict(what: &str, value: f64, goal: f64, unit: &str) {
    let word = if value <= goal { "met" } else { "MISSED" };
    println!("  {what}: {value:.2}{unit} (goal: at most {goal}{unit}) {word}");
}

/// The middle of some measurements.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn fail(what: &str) -> impl Fn(std::io::Error) -> String {
    let what = what.to_owned();
    move |error| format!("{what}: {error}")
}
