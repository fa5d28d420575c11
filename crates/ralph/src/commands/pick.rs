//! Which run and which iteration somebody means.

use super::resume;
use crate::error::CommandError;
use crate::live::Live;
use crate::missing::{self, Beside};
use crate::project::Project;
use crate::runs::{self, Listing};
use ralph_core::event::{Entry, Event, Started};
use ralph_core::id::RunId;
use ralph_core::outcome::exit;
use ralph_core::run::{ReplayError, Run, RunRow};
use ralph_host::clock::Clock;
use ralph_store::{Store, StoreError, Which};
use ralph_view::explanation::Explanation;
use ralph_view::missing::{Missing, REPAIR};
use ralph_view::run_view::{Prompts, RunView};

/// `RUN`, `RUN/ITERATION` or `/ITERATION`, as somebody typed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The run, or the beginning of its id, which nothing typed at all is not; `None` for the newest.
    pub run: Option<String>,
    /// The iteration; `None` for the newest.
    pub iteration: Option<u32>,
}

impl std::str::FromStr for Wanted {
    type Err = String;

    fn from_str(typed: &str) -> Result<Wanted, String> {
        let (run, iteration) = match typed.split_once('/') {
            Some((run, number)) => (run, Some(number)),
            None => (typed, None),
        };
        let iteration = match iteration {
            None | Some("") => None,
            Some(number) => match number.parse() {
                Ok(0) | Err(_) => {
                    return Err(format!("`{number}` is no iteration: write it like 7f3a9k2m/3, counted from 1"));
                }
                Ok(number) => Some(number),
            },
        };
        let run = Some(run.trim()).filter(|run| !run.is_empty() || typed.trim().is_empty()).map(str::to_owned);
        Ok(Wanted { run, iteration })
    }
}

/// Opens what is stored about this project, without making anything.
pub fn store(project: &Project) -> Result<Store, CommandError> {
    Store::open_existing(&project.state)?.ok_or_else(|| no_runs(project, None))
}

/// The run that is meant, or the newest.
pub fn run(store: &Store, typed: Option<&str>, project: &Project) -> Result<RunRow, CommandError> {
    let row = match typed {
        Some(typed) => runs::row(store, &resume::find(store, typed)?)?,
        None => {
            let newest = missing::newest(store)?;
            missing::tell(project, &Live::look(project), store, &newest)?;
            newest.runs.into_iter().next()
        }
    };
    row.ok_or_else(|| no_runs(project, Some(store)))
}

/// A run as its journal has made it: what was kept of it, and the entries behind that.
pub fn machine(store: &Store, run: &RunId) -> Result<Run, CommandError> {
    let kept: Option<Run> = store.snapshot(run);
    let behind = store.follow(run, kept.as_ref().map_or(0, Run::seq))?;
    Run::fold(kept, &behind).map_err(|error| unreadable(run, &error))
}

pub fn started(store: &Store, run: &RunId) -> Result<Started, CommandError> {
    match store.first(run)? {
        Some(Entry { event: Event::Started(started), .. }) => Ok(*started),
        _ => Err(unreadable(run, &ReplayError::NoStart)),
    }
}

pub fn view(store: &Store, run: &RunId, prompts: Prompts) -> Result<RunView, CommandError> {
    RunView::of(store.entries(run)?, prompts).map_err(|error| unreadable(run, &error))
}

/// Why the run that is meant, or the newest, is where it is.
pub fn explanation(project: &Project, typed: Option<&str>) -> Result<Explanation, CommandError> {
    let store = self::store(project)?;
    let row = run(&store, typed, project)?;
    let view = view(&store, &row.run, Prompts::None)?;
    let state = Live::look(project).state(&row);
    Ok(Explanation::of(view, row, state, Clock::start().now()))
}

/// A journal that is not one of a run.
fn unreadable(run: &RunId, error: &ReplayError) -> CommandError {
    CommandError::new(exit::IO, format!("the journal of run {run} cannot be read back"))
        .because(error)
        .hint(format!("put it aside and keep what is left: {REPAIR}"))
}

/// Moved projects that are worth naming.
const NAMESAKES: usize = 3;

/// Adds what the state folder tells of runs that the journal does not know.
pub fn with_missing(error: CommandError, project: &Project, store: Option<&Store>) -> CommandError {
    let look = || -> Result<Missing, StoreError> {
        let newest = store.map(missing::newest).transpose()?.unwrap_or_default();
        missing::look(project, &Live::look(project), store, &newest, Beside::Carried)
    };
    // Where even that cannot be read, there is an error to tell already.
    let missing = look().unwrap_or_default();
    missing.lines().into_iter().chain(namesakes(project)).fold(error, CommandError::hint)
}

/// Projects of the same name that are not where they were: this may be one of them, on another disk.
pub fn namesakes(project: &Project) -> Vec<String> {
    let gone = project.homeless().into_iter().filter(|(_, was)| was.file_name() == project.root.file_name());
    let told = gone.filter_map(|(folder, was)| {
        let store = Store::open_existing(&folder).ok()??;
        let newest = Listing::newest(&store, Which::All, 1).ok()?.runs.pop()?.run;
        Some(format!(
            "{} is gone; if it was moved here, go on with its newest run: ralph resume {newest}",
            was.display()
        ))
    });
    told.take(NAMESAKES).collect()
}

fn no_runs(project: &Project, store: Option<&Store>) -> CommandError {
    let told = CommandError::usage(format!("there are no runs in {} yet", project.root.display()))
        .hint("begin one: ralph run -p 'make the tests pass'");
    with_missing(told, project, store)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_iterations_are_read_as_they_are_typed() {
        let wanted = |run: Option<&str>, iteration| Wanted { run: run.map(str::to_owned), iteration };
        for (typed, expected) in [
            ("7f3a", wanted(Some("7f3a"), None)),
            ("7f3a/3", wanted(Some("7f3a"), Some(3))),
            ("/12", wanted(None, Some(12))),
            ("7f3a/", wanted(Some("7f3a"), None)),
            ("", wanted(Some(""), None)),
        ] {
            assert_eq!(typed.parse(), Ok(expected), "{typed}");
        }
        for typed in ["7f3a/0", "7f3a/x", "7f3a/-1", "7f3a/3/4", "7f3a/99999999999"] {
            assert!(typed.parse::<Wanted>().is_err(), "{typed}");
        }
    }
}
