//! Trust: which state of that by which agents are judged a person has accepted, over all runs of a project.
//!
//! What stands there when nobody has said anything yet is accepted. What changes between runs is a person's doing. What
//! an agent changed is accepted by nobody until it is put back, a person commits it, or says `ralph trust`; and no later
//! run is verified by it.

use crate::id::RunId;
use crate::protect::{GIT, GIT_SETTING};
use crate::time::WallTime;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// More moves of HEAD than this are forgotten, the oldest first.
const MOST_MOVES: usize = 500;
/// Runs whose seals are kept; one that rests longer than that begins anew.
const MOST_SEALS: usize = 200;
/// Spans of work that are told apart.
const MOST_SPANS: usize = 200;

/// What is kept of a project in trusted state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trust {
    /// Of each judge the state that was accepted last, by its key.
    accepted: BTreeMap<String, String>,
    /// Paths that an agent changed and nobody has accepted since, with the run.
    left: BTreeMap<String, RunId>,
    /// How HEAD moved while an iteration was open.
    moves: Vec<Move>,
    /// Runs that have begun and did not say yet what they leave.
    begun: Vec<Open>,
    /// By what the journals of runs are known again, the oldest first.
    seals: Vec<Seal>,
    /// When agents worked, the oldest first: what was made or changed then outside of the project nobody has accepted.
    worked: Vec<Span>,
}

/// From when to when.
pub type Span = (WallTime, WallTime);

/// A run that works on the project, and the commit that HEAD named when it began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    run: RunId,
    head: String,
    /// When its agents began to work; earlier versions did not say.
    #[serde(default)]
    at: Option<WallTime>,
}

/// By what the journal of a run is known again when the run goes on. It is kept beside the journal, so that whoever
/// rewrites one of the two is found out by the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    pub run: RunId,
    /// The version of ralph: another one may write the same rules otherwise.
    pub version: String,
    /// The print of its rules.
    pub rules: String,
    /// The print of what it pinned; empty before that.
    pub pins: String,
}

/// HEAD before and after an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    pub from: String,
    pub to: String,
}

/// One thing that judges, as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub path: String,
    /// What tells it from other parts of the same file.
    pub key: String,
    /// Equal for equal states.
    pub print: String,
}

/// Who committed the state in which a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committer {
    /// It is in no commit.
    Nobody,
    /// The commit was first seen while an iteration was open.
    Agent,
    Person,
}

/// Something that judges and that an agent changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untrusted {
    pub path: String,
    /// The run whose agent changed it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

impl Untrusted {
    /// As the part of a sentence.
    pub fn words(&self) -> String {
        match &self.run {
            Some(run) => format!("{} was changed by the agent of run {run}", self.path),
            None => format!("{} was changed by a commit of an agent", self.path),
        }
    }
}

impl Trust {
    /// Paths that do not stand as they were accepted; who committed them matters.
    pub fn differing(&self, now: &[Standing]) -> BTreeSet<String> {
        let differs = |standing: &&Standing| {
            self.accepted.get(&standing.key).map_or(self.left.contains_key(&standing.path), |a| *a != standing.print)
        };
        now.iter().filter(differs).map(|standing| standing.path.clone()).collect()
    }

    /// These, and of what is only told while it is there, what is gone since it was accepted.
    pub fn with_gone(&self, mut now: Vec<Standing>) -> Vec<Standing> {
        let is_gone = |key: &&String| key.starts_with(GIT_SETTING) && !now.iter().any(|standing| standing.key == **key);
        let gone = self.accepted.keys().filter(is_gone);
        let gone: Vec<Standing> =
            gone.map(|key| Standing { path: key.clone(), key: key.clone(), print: String::new() }).collect();
        now.extend(gone);
        now
    }

    /// Why nobody can believe the rules of a run that goes on, one part of a sentence each. `weaker` is what the settings
    /// ask for and the run does not, as far as they are a witness: those that an agent changed are none.
    pub fn doubts(&self, now: &Seal, settings: &[Standing], weaker: Vec<String>) -> Vec<String> {
        let said = |text: &str| vec![text.to_owned()];
        let Some(seal) = self.seals.iter().find(|seal| seal.run == now.run) else {
            // What is pinned later is sealed then.
            return if now.pins.is_empty() {
                weaker
            } else {
                said("no record is kept of the rules with which this run began")
            };
        };
        let is_comparable = seal.version == now.version;
        if is_comparable && seal.rules != now.rules {
            return said("the journal of this run was rewritten: its rules are not those with which it began");
        }
        if is_comparable && !now.pins.is_empty() && seal.pins != now.pins {
            return said("the journal of this run was rewritten: what it pinned is not what stood there when it began");
        }
        match (self.differing(settings).iter().find(|path| self.left.contains_key(*path)), is_comparable) {
            (None, _) => weaker,
            (Some(_), true) => Vec::new(),
            (Some(path), false) => {
                vec![format!("another version of ralph began this run, and an agent changed {path} since")]
            }
        }
    }

    /// Remembers by what a run's journal is known again.
    pub fn seal(&mut self, seal: Seal) {
        self.seals.retain(|other| other.run != seal.run);
        self.seals.push(seal);
        let surplus = self.seals.len().saturating_sub(MOST_SEALS);
        self.seals.drain(..surplus);
    }

    /// The print of the state that a person accepted last.
    pub fn accepted(&self, key: &str) -> Option<&String> {
        self.accepted.get(key)
    }

    /// How HEAD moved while an iteration was open.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// A run begins. If one before it was never closed, it crashed, and whatever differs now is its doing.
    pub fn begin(&mut self, run: &RunId, head: &str, now: &[Standing]) {
        // What of git was not there when something of git was accepted came later.
        let knows_git = self.accepted.keys().any(|key| key.starts_with(GIT));
        let is_new = |one: &&Standing| knows_git && one.key.starts_with(GIT) && !self.accepted.contains_key(&one.key);
        let new: Vec<String> = now.iter().filter(is_new).map(|standing| standing.path.clone()).collect();
        for crashed in std::mem::take(&mut self.begun) {
            for path in self.differing(now).into_iter().chain(new.iter().cloned()) {
                self.left.entry(path).or_insert_with(|| crashed.run.clone());
            }
            self.note_move(Move { from: crashed.head, to: head.to_owned() });
        }
        self.go_on(run, head);
    }

    /// The agents of a run begin to work. Those of runs that crashed have worked until then.
    pub fn works_since(&mut self, run: &RunId, at: WallTime) {
        let crashed: Vec<WallTime> =
            self.begun.iter().filter(|open| open.run != *run).filter_map(|open| open.at).collect();
        crashed.into_iter().for_each(|from| self.note_work((from, at)));
        self.begun.iter_mut().filter(|open| open.run == *run).for_each(|open| open.at = Some(at));
    }

    /// Agents have worked from then to then.
    pub fn note_work(&mut self, span: Span) {
        self.worked.push(span);
        while self.worked.len() > MOST_SPANS {
            let (from, _) = self.worked.remove(0);
            // What lies between counts too, so that nothing is forgotten.
            self.worked.first_mut().into_iter().for_each(|first| first.0 = from);
        }
    }

    /// When agents worked whose doings outside of the project nobody has accepted.
    pub fn worked(&self) -> &[Span] {
        &self.worked
    }

    /// The record was lost: what a run pinned when it began is what counts, and whatever differs since is its doing.
    pub fn restored(run: &RunId, head: &str, pinned: &[Standing], changed: &[String]) -> Trust {
        let mut trust = Trust::default();
        trust.accept(pinned.iter());
        trust.left.extend(changed.iter().map(|path| (path.clone(), run.clone())));
        trust.go_on(run, head);
        trust
    }

    /// Whether a run has begun and not ended.
    pub fn is_open(&self, run: &RunId) -> bool {
        self.begun.iter().any(|open| open.run == *run)
    }

    /// A run goes on with what it pinned when it began.
    pub fn go_on(&mut self, run: &RunId, head: &str) {
        if !self.is_open(run) {
            self.begun.push(Open { run: run.clone(), head: head.to_owned(), at: None });
        }
    }

    /// A run ends: what its agents have changed and not put back, and where HEAD was seen behind them.
    pub fn close(&mut self, run: &RunId, changed: &[String], heads: impl IntoIterator<Item = String>) {
        let begun = self.begun.iter().position(|open| open.run == *run).map(|at| self.begun.remove(at));
        self.left.retain(|path, by| by != run || changed.contains(path));
        for path in changed {
            self.left.entry(path.clone()).or_insert_with(|| run.clone());
        }
        if let Some(Open { head: from, .. }) = begun {
            heads.into_iter().for_each(|to| self.note_move(Move { from: from.clone(), to }));
        }
    }

    /// Accepts what stands there, but for what only an agent stands behind, which is returned.
    pub fn settle(&mut self, now: &[Standing], committer: impl Fn(&str) -> Committer) -> Vec<Untrusted> {
        let differing = self.differing(now);
        let is_distrusted = |path: &String| match committer(path) {
            Committer::Person => false,
            Committer::Agent => true,
            Committer::Nobody => self.left.contains_key(path),
        };
        let distrusted: BTreeSet<String> = differing.into_iter().filter(is_distrusted).collect();
        let untrusted = |path: &String| Untrusted { path: path.clone(), run: self.left.get(path).cloned() };
        let found = distrusted.iter().map(untrusted).collect();
        self.accept(now.iter().filter(|standing| !distrusted.contains(&standing.path)));
        found
    }

    /// What agents left changed, with the run, whether it still judges or not.
    pub fn left(&self) -> impl Iterator<Item = (&str, &RunId)> {
        self.left.iter().map(|(path, run)| (path.as_str(), run))
    }

    /// A person accepts everything as it stands now, whoever changed it.
    pub fn accept_all(&mut self, now: &[Standing]) {
        self.accept(now.iter());
        self.left.clear();
        self.worked.clear();
    }

    /// Accepts this, whoever changed it.
    fn accept<'a>(&mut self, now: impl Iterator<Item = &'a Standing>) {
        for standing in now {
            self.left.remove(&standing.path);
            self.accepted.insert(standing.key.clone(), standing.print.clone());
        }
    }

    fn note_move(&mut self, moved: Move) {
        if moved.from != moved.to && !self.moves.contains(&moved) {
            self.moves.push(moved);
        }
        let surplus = self.moves.len().saturating_sub(MOST_MOVES);
        self.moves.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_did_outside_is_theirs_until_a_person_accepts_it() {
        let mut trust = Trust::default();
        let (first, second) = (RunId::from_random(1), RunId::from_random(2));
        trust.begin(&first, "c1", &[]);
        trust.works_since(&first, WallTime(10));
        // It crashed, and the next one begins.
        trust.works_since(&second, WallTime(20));
        assert_eq!(trust.worked(), [(WallTime(10), WallTime(20))]);
        for number in 0..300 {
            trust.note_work((WallTime(100 + number), WallTime(101 + number)));
        }
        assert_eq!((trust.worked().len(), trust.worked().first().map(|span| span.0)), (MOST_SPANS, Some(WallTime(10))));
        trust.accept_all(&[]);
        assert!(trust.worked().is_empty());
    }

    fn standing(path: &str, print: &str) -> Standing {
        Standing { path: path.to_owned(), key: path.to_owned(), print: print.to_owned() }
    }

    fn settle(trust: &mut Trust, print: &str, committer: Committer) -> usize {
        trust.settle(&[standing("check.sh", print)], |_| committer).len()
    }

    #[test]
    fn what_an_agent_changed_is_believed_by_no_later_run_until_a_person_says_so() {
        let (mut trust, run) = (Trust::default(), RunId::from_random(1));
        assert_eq!(settle(&mut trust, "old", Committer::Nobody), 0, "what stands there at first is accepted");
        trust.close(&run, &["check.sh".to_owned()], []);
        for _ in 0..3 {
            assert_eq!(settle(&mut trust, "forged", Committer::Nobody), 1, "saying it once is not enough");
        }
        assert_eq!(settle(&mut trust, "forged and edited", Committer::Nobody), 1);
        assert_eq!(settle(&mut trust, "forged", Committer::Agent), 1);
        for (print, committer) in [("old", Committer::Nobody), ("forged", Committer::Person)] {
            let mut trust = trust.clone();
            assert_eq!(settle(&mut trust, print, committer), 0, "put back, or committed by a person");
            assert_eq!(settle(&mut trust, print, Committer::Nobody), 0, "and that stays");
        }
        trust.close(&run, &["gone.sh".to_owned()], []);
        trust.accept_all(&[standing("check.sh", "forged")]);
        assert_eq!(settle(&mut trust, "forged", Committer::Nobody), 0);
        assert_eq!(trust.left().count(), 0, "what judges no more is accepted too");
    }

    #[test]
    fn what_changes_between_runs_is_a_persons_doing_unless_an_agents_commit_brought_it() {
        let mut trust = Trust::default();
        settle(&mut trust, "old", Committer::Nobody);
        assert_eq!(settle(&mut trust, "new", Committer::Nobody), 0);
        assert_eq!(settle(&mut trust, "by a commit", Committer::Agent), 1);
        assert_eq!(settle(&mut trust, "by a commit", Committer::Person), 0);
    }

    #[test]
    fn a_change_that_the_same_run_undid_is_forgotten() {
        let (mut trust, run) = (Trust::default(), RunId::from_random(1));
        settle(&mut trust, "old", Committer::Nobody);
        trust.close(&run, &["check.sh".to_owned()], []);
        trust.close(&RunId::from_random(2), &[], []);
        assert_eq!(settle(&mut trust.clone(), "new", Committer::Nobody), 1);
        trust.close(&run, &[], []);
        assert_eq!(settle(&mut trust, "new", Committer::Nobody), 0);
    }

    #[test]
    fn a_run_that_crashed_is_answerable_for_whatever_differs_afterwards() {
        let (mut trust, run) = (Trust::default(), RunId::from_random(1));
        let stands = |print| [standing("check.sh", print)];
        trust.begin(&run, "c1", &stands("old"));
        settle(&mut trust, "old", Committer::Nobody);
        trust.go_on(&run, "c9");
        assert!(trust.left.is_empty(), "a run that goes on is the same run");
        trust.begin(&RunId::from_random(2), "c2", &stands("new"));
        assert_eq!(trust.moves(), [Move { from: "c1".to_owned(), to: "c2".to_owned() }]);
        assert_eq!(settle(&mut trust, "new", Committer::Nobody), 1);
    }

    #[test]
    fn a_run_that_goes_on_and_crashes_is_answerable_too() {
        let (mut trust, run) = (Trust::default(), RunId::from_random(1));
        let stands = |print| [standing("check.sh", print)];
        trust.begin(&run, "c1", &stands("old"));
        settle(&mut trust, "old", Committer::Nobody);
        trust.close(&run, &[], []);
        trust.go_on(&run, "c1");
        let mut again = trust.clone();
        again.begin(&run, "c1", &stands("new"));
        assert_eq!(
            settle(&mut again, "new", Committer::Nobody),
            1,
            "and nobody pins twice what an agent changed between"
        );
        trust.begin(&RunId::from_random(2), "c2", &stands("new"));
        assert_eq!(trust.moves().len(), 1);
        assert_eq!(settle(&mut trust, "new", Committer::Nobody), 1);
    }

    #[test]
    fn a_journal_that_was_rewritten_is_believed_by_nobody() {
        let seal = |version: &str, rules: &str, pins: &str| Seal {
            run: RunId::from_random(1),
            version: version.to_owned(),
            rules: rules.to_owned(),
            pins: pins.to_owned(),
        };
        let weaker = || vec!["weaker".to_owned()];
        let mut trust = Trust::default();
        let doubts = |trust: &Trust, now: &Seal, settings: &str| {
            trust.doubts(now, &[standing("settings.json", settings)], weaker()).concat()
        };
        assert!(doubts(&trust, &seal("1", "r", "p"), "s").starts_with("no record"));
        assert_eq!(doubts(&trust, &seal("1", "r", ""), "s"), "weaker", "what is not pinned yet is sealed later");
        trust.accept_all(&[standing("settings.json", "s")]);
        trust.seal(seal("1", "r", "p"));
        assert_eq!(doubts(&trust, &seal("1", "r", "p"), "s"), "weaker");
        assert!(doubts(&trust, &seal("1", "forged", "p"), "s").contains("its rules"));
        assert!(doubts(&trust, &seal("1", "r", "forged"), "s").contains("what it pinned"));
        assert_eq!(doubts(&trust, &seal("2", "other", "other"), "s"), "weaker", "another version writes otherwise");
        trust.close(&RunId::from_random(1), &["settings.json".to_owned()], []);
        assert_eq!(doubts(&trust, &seal("1", "r", "p"), "changed"), "", "what an agent changed is no witness");
        assert!(doubts(&trust, &seal("2", "r", "p"), "changed").contains("an agent changed settings.json"));
        (0..MOST_SEALS as u64)
            .for_each(|number| trust.seal(Seal { run: RunId::from_random(9 + number), ..seal("1", "", "") }));
        assert!(doubts(&trust, &seal("1", "r", "p"), "s").starts_with("no record"));
    }

    #[test]
    fn what_a_crashed_run_added_to_git_and_what_a_lost_record_held_is_an_agents_doing() {
        let run = RunId::from_random(1);
        let of_git = |name: &str| standing(&format!("{GIT}file {name}"), "x");
        let mut trust =
            Trust::restored(&run, "c1", &[of_git("hook"), standing("check.sh", "old")], &["settings".to_owned()]);
        let now = [
            of_git("hook"),
            of_git("added"),
            standing("check.sh", "new"),
            standing("settings", "s"),
            standing("other", "o"),
        ];
        trust.begin(&RunId::from_random(2), "c1", &now);
        let found = trust.settle(&now, |_| Committer::Nobody);
        let paths: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["check.sh", "git's file added", "settings"]);
        assert!(found.iter().all(|one| one.run.as_ref() == Some(&run)));
    }

    #[test]
    fn a_setting_of_git_that_an_agent_removed_counts_as_changed() {
        let mut trust = Trust::default();
        let setting = format!("{GIT_SETTING}core.eol");
        trust.accept_all(&[standing(&setting, "lf"), standing("check.sh", "old")]);
        let left = trust.with_gone(vec![standing("check.sh", "old")]);
        assert_eq!(left.last(), Some(&standing(&setting, "")));
        assert_eq!(trust.differing(&left).len(), 1);
        assert_eq!(trust.with_gone(vec![standing(&setting, "lf")]).len(), 1);
    }

    #[test]
    fn moves_are_kept_once_and_not_without_end() {
        let mut trust = Trust::default();
        for number in (0..MOST_MOVES + 9).chain([MOST_MOVES + 8]) {
            trust.note_move(Move { from: "a".to_owned(), to: number.to_string() });
        }
        let oldest = trust.moves().first().map(|moved| moved.to.as_str());
        assert_eq!((trust.moves().len(), oldest), (MOST_MOVES, Some("9")));
    }

    #[test]
    fn the_move_of_a_run_is_noted_when_that_run_is_closed_and_not_another() {
        let (mut trust, run) = (Trust::default(), RunId::from_random(1));
        trust.begin(&run, "c1", &[]);
        trust.close(&RunId::from_random(2), &[], ["c2".to_owned()]);
        assert_eq!(trust.moves(), []);
        trust.close(&run, &[], ["c3".to_owned()]);
        assert_eq!(trust.moves(), [Move { from: "c1".to_owned(), to: "c3".to_owned() }]);
    }

    #[test]
    fn the_accepted_state_is_the_last_that_a_person_stood_behind() {
        let (mut trust, run) = (Trust::default(), RunId::from_random(1));
        assert_eq!(trust.accepted("check.sh"), None);
        settle(&mut trust, "old", Committer::Nobody);
        trust.close(&run, &["check.sh".to_owned()], []);
        let untrusted = trust.settle(&[standing("check.sh", "forged")], |_| Committer::Nobody);
        assert_eq!(trust.accepted("check.sh").map(String::as_str), Some("old"));
        let words = format!("check.sh was changed by the agent of run {run}");
        assert_eq!(untrusted.iter().map(Untrusted::words).collect::<Vec<_>>(), [words]);
    }
}
