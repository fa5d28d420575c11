//! What people have accepted of that by which agents are judged: kept beside the journal, outside of the project.

use crate::git;
use crate::plain_file::{self, Links};
use crate::process::Keeper;
use ralph_core::time::Millis;
use ralph_core::trust::{Committer, Move, Trust};
use rustix::fs::CWD;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

const NAME: &str = "trust.json";
/// Files that git is asked about; of more than this nobody stands behind any.
const MOST_ASKED: usize = 200;
const PATIENCE: Millis = Millis::from_secs(30);

/// What is kept in this state folder; nothing is there before the first run with checks.
pub fn read(state: &Path) -> io::Result<Trust> {
    let mut bytes = Vec::new();
    match plain_file::open(CWD, state.join(NAME), Links::Refuse) {
        Ok(mut file) => file.read_to_end(&mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Trust::default()),
        Err(error) => return Err(error),
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        let said =
            format!("{NAME} is damaged ({error}); look at what judges, then accept it as it stands: ralph trust --yes");
        io::Error::new(io::ErrorKind::InvalidData, said)
    })
}

/// Whether nothing is kept there.
pub fn is_missing(state: &Path) -> bool {
    matches!(state.join(NAME).symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

/// Puts a damaged record out of the way, so that a new one begins; tells where it is then.
pub fn set_aside(state: &Path) -> io::Result<Option<PathBuf>> {
    match read(state) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let aside = state.join(format!("{NAME}.damaged"));
            std::fs::rename(state.join(NAME), &aside).map(|()| Some(aside))
        }
        Err(error) => Err(error),
        Ok(_) => Ok(None),
    }
}

/// Keeps it, whole or not at all.
pub fn write(state: &Path, trust: &Trust) -> io::Result<()> {
    let (place, beside) = (state.join(NAME), state.join(format!("{NAME}.{}", std::process::id())));
    let mut file = File::create(&beside)?;
    file.write_all(&serde_json::to_vec(trust)?)?;
    file.sync_data()?;
    std::fs::rename(beside, place)
}

/// Reads what is kept, changes it, and keeps it, if anything changed.
pub fn update(state: &Path, change: impl FnOnce(&mut Trust)) -> io::Result<()> {
    let before = read(state)?;
    let mut trust = before.clone();
    change(&mut trust);
    if trust == before { Ok(()) } else { write(state, &trust) }
}

/// Who committed the state in which these files of the project stand. Without an answer of git nobody did.
pub async fn committers(
    keeper: &mut Keeper,
    root: &Path,
    paths: &BTreeSet<String>,
    moves: &[Move],
) -> BTreeMap<String, Committer> {
    let mut found = BTreeMap::new();
    for path in paths.iter().filter(|path| !path.starts_with('/')).take(MOST_ASKED) {
        let committer = match last_commit(keeper, root, path).await {
            Some(commit) if is_of_an_agent(keeper, root, &commit, moves).await => Committer::Agent,
            Some(_) => Committer::Person,
            None => Committer::Nobody,
        };
        found.insert(path.clone(), committer);
    }
    found
}

/// The commit that brought a file into the state in which it stands; nothing if it stands otherwise than in HEAD.
async fn last_commit(keeper: &mut Keeper, root: &Path, path: &str) -> Option<String> {
    let committed = ask(keeper, root, &["rev-parse", "--verify", "--quiet", &format!("HEAD:./{path}")]).await?;
    // Contents are compared, and not what the index says about them.
    let standing = ask(keeper, root, &["hash-object", "--no-filters", "--", path]).await?;
    if committed != standing {
        return None;
    }
    ask(keeper, root, &["log", "-1", "--format=%H", "--", path]).await.filter(|commit| !commit.is_empty())
}

async fn is_of_an_agent(keeper: &mut Keeper, root: &Path, commit: &str, moves: &[Move]) -> bool {
    for Move { from, to } in moves.iter().rev() {
        let in_new = contains(keeper, root, to, commit).await;
        if in_new && (from.is_empty() || !contains(keeper, root, from, commit).await) {
            return true;
        }
    }
    false
}

async fn contains(keeper: &mut Keeper, root: &Path, head: &str, commit: &str) -> bool {
    ask(keeper, root, &["merge-base", "--is-ancestor", commit, head]).await.is_some()
}

async fn ask(keeper: &mut Keeper, root: &Path, args: &[&str]) -> Option<String> {
    let said = git::run(keeper, root, args, PATIENCE).await.ok()?;
    Some(String::from_utf8_lossy(&said).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_core::id::RunId;

    #[test]
    fn it_is_kept_whole_and_damage_is_no_trust() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(read(state.path()).unwrap(), Trust::default());
        update(state.path(), |_| ()).unwrap();
        assert!(!state.path().join(NAME).exists(), "nothing is written where nothing changed");
        update(state.path(), |trust| trust.close(&RunId::from_random(1), &["check.sh".to_owned()], [])).unwrap();
        assert_ne!(read(state.path()).unwrap(), Trust::default());
        std::fs::write(state.path().join(NAME), "{").unwrap();
        assert!(read(state.path()).is_err());
    }
}
