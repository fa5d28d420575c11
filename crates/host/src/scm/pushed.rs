//! Where a push goes, and whether it went there when the run began.
//!
//! Remotes are the agent's to add and to change; but what people meant by the task `push` is the place that it meant
//! before the first agent.

use crate::git::{self, GitError, answer, root_command};
use crate::process::Keeper;
use ralph_core::protect::GitSetting;
use ralph_core::text;
use ralph_core::time::Millis;
use std::collections::BTreeMap;
use std::path::Path;

/// Options of `git push` that take the next word as their value.
const VALUED: [&str; 5] = ["-o", "--push-option", "--receive-pack", "--exec", "--repo"];
/// What git takes where nothing names a remote.
const USUAL: &str = "origin";

/// Everything that decides where pushes go. Addresses may hold passwords, so that only their hashes are known.
pub type Ways = BTreeMap<String, String>;

/// The ways out of a repository as they are now, by these settings of it.
pub(crate) async fn ways(
    keeper: &mut Keeper,
    root: &Path,
    settings: &[GitSetting],
    patience: Millis,
) -> Result<Ways, GitError> {
    let mut ways = Ways::new();
    for setting in settings {
        let (section, key) = (setting.name.split('.').next(), setting.name.rsplit('.').next());
        match (section.unwrap_or_default(), key.unwrap_or_default()) {
            ("remote", "pushdefault" | "push" | "mirror")
            | ("branch", "remote" | "pushremote" | "merge")
            | ("push", "default") => add(&mut ways, &setting.name, &setting.value),
            ("url", _) => add(&mut ways, "url", &text::hash(format!("{} {}", setting.name, setting.value).as_bytes())),
            ("remote", "url" | "pushurl") => {
                let name = setting.name.strip_prefix("remote.").and_then(|rest| rest.rsplit_once('.'));
                ways.entry(format!("remote {}", name.map_or("", |(name, _)| name))).or_default();
            }
            _ => {}
        }
    }
    let remotes: Vec<String> = ways.keys().filter_map(|key| key.strip_prefix("remote ")).map(str::to_owned).collect();
    for remote in remotes {
        let asked = root_command(root, ["remote", "get-url", "--push", "--all", &remote]);
        let urls = match answer(keeper, &asked, b"", patience).await {
            Ok(urls) => text::hash(&urls),
            // A remote without an address leads nowhere.
            Err(GitError::Refused(_)) => String::new(),
            Err(error) => return Err(error),
        };
        ways.insert(format!("remote {remote}"), urls);
    }
    Ok(ways)
}

fn add(ways: &mut Ways, name: &str, value: &str) {
    let values = ways.entry(name.to_owned()).or_default();
    values.push_str(value);
    values.push('\n');
}

/// Why a push would not go where it went when the run began; `None` if it would. The words are those behind `git`.
pub async fn leads_elsewhere(
    keeper: &mut Keeper,
    root: &Path,
    before: &Ways,
    words: &[String],
    patience: Millis,
) -> Result<Option<String>, GitError> {
    let now = git::ways(keeper, root, patience).await?;
    let asked = root_command(root, ["symbolic-ref", "--short", "--quiet", "HEAD"]);
    let branch = match answer(keeper, &asked, b"", patience).await {
        Ok(branch) => String::from_utf8_lossy(&branch).trim().to_owned(),
        // No branch is checked out.
        Err(GitError::Refused(_)) => String::new(),
        Err(error) => return Err(error),
    };
    Ok(elsewhere(before, &now, &branch, words))
}

fn elsewhere(before: &Ways, now: &Ways, branch: &str, words: &[String]) -> Option<String> {
    let named = named_remote(words);
    let [then, now] = [before, now].map(|ways| destination(ways, branch, named));
    (then != now).then(|| {
        format!(
            "the push would not go where it went when the run began ({}); look at git remote --verbose and git config \
             --list, and push it yourself",
            now.remote
        )
    })
}

/// Where a push goes.
#[derive(PartialEq, Eq)]
struct Destination<'a> {
    remote: &'a str,
    /// Its addresses, and what is pushed to it under which name.
    how: Vec<Option<&'a str>>,
}

fn destination<'a>(ways: &'a Ways, branch: &str, named: Option<&'a str>) -> Destination<'a> {
    let one = |key: String| ways.get(&key).map(|value| value.trim_end_matches('\n').lines().last().unwrap_or_default());
    let own = |key: &str| one(format!("branch.{branch}.{key}")).filter(|_| !branch.is_empty());
    let usual = || own("pushremote").or(one("remote.pushdefault".to_owned())).or(own("remote"));
    let remote = named.or_else(usual).unwrap_or(USUAL);
    let urls = ways.get(&format!("remote {remote}"));
    let all = |key: &str| ways.get(&format!("remote.{remote}.{key}")).map(String::as_str);
    // What is told anew for a new branch, by its own name, is what git does anyway.
    let merge = own("merge").filter(|name| name.strip_prefix("refs/heads/") != Some(branch));
    // An address that is no remote's is rewritten by rules alone.
    let rules = if urls.is_none() { ways.get("url") } else { None };
    let how =
        vec![urls.or(rules).map(String::as_str), all("push"), all("mirror"), one("push.default".to_owned()), merge];
    Destination { remote, how }
}

/// The remote that a push names, or the address.
fn named_remote(words: &[String]) -> Option<&str> {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--repo" => return words.next().map(String::as_str),
            option if VALUED.contains(&option) => _ = words.next(),
            option if option.starts_with("--repo=") => return option.strip_prefix("--repo="),
            option if option.starts_with('-') => {}
            remote => return Some(remote),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(pairs: &[(&str, &str)]) -> Ways {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_push_goes_where_it_went_as_long_as_its_own_remote_and_names_are_the_same() {
        let before = ways(&[("remote origin", "a"), ("remote fork", "f"), ("branch.main.remote", "origin\n")]);
        let with = |pairs: &[(&str, &str)]| before.clone().into_iter().chain(ways(pairs)).collect::<Ways>();
        let is_elsewhere = |now: &Ways, branch: &str, task: &str| {
            let words: Vec<String> = task.split_whitespace().map(str::to_owned).collect();
            elsewhere(&before, now, branch, &words).is_some()
        };
        for (pairs, branch, task, expected) in [
            (&[][..], "main", "push", false),
            (&[("remote origin", "b")], "main", "push", true),
            (&[("remote origin", "b")], "main", "push fork", false),
            (&[("remote origin", "b")], "main", "push -u origin main", true),
            (&[("remote origin", "b")], "main", "push --push-option origin fork main", false),
            (&[("remote origin", "b")], "main", "push --repo=origin", true),
            (&[("remote upstream", "u")], "main", "push", false),
            (&[("remote.pushdefault", "fork\n")], "main", "push", true),
            (&[("remote.pushdefault", "fork\n")], "main", "push origin", false),
            (&[("branch.main.pushremote", "fork\n")], "main", "push", true),
            (&[("branch.new.remote", "origin\n"), ("branch.new.merge", "refs/heads/new\n")], "new", "push", false),
            (&[("branch.new.merge", "refs/heads/other\n")], "new", "push", true),
            (&[("remote.origin.push", "main:junk\n")], "main", "push", true),
            (&[("push.default", "upstream\n")], "main", "push", true),
            (&[("url", "x\n")], "main", "push https://example.org/a.git", true),
            (&[("url", "x\n")], "main", "push", false),
        ] {
            assert_eq!(is_elsewhere(&with(pairs), branch, task), expected, "{pairs:?} {branch} {task}");
        }
    }
}
