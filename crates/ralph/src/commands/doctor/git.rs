//! Version control: what tells progress, and what commits it.

use super::Setup;
use super::asking::{Answers, Asking, Question};
use super::version::Version;
use crate::project::Project;
use ralph_view::findings::Finding;

pub(super) struct Git {
    version: Question,
    /// Whose name a commit would carry; asked only if there will be commits.
    committer: Option<Question>,
}

pub(super) fn ask(asking: &mut Asking, setup: &Setup) -> Git {
    let scm = setup.usable().map(|settings| &settings.scm);
    let commits = scm.is_some_and(|scm| scm.command == "git" && scm.tasks.iter().any(|task| task == "commit"));
    Git {
        version: asking.add("git", ["--version"]),
        committer: commits.then(|| asking.add("git", ["var", "GIT_COMMITTER_IDENT"])),
    }
}

impl Git {
    pub(super) fn findings(&self, answers: &Answers, project: &Project) -> Vec<Finding> {
        let mut findings = vec![self.repository(answers, project)];
        if let Some(committer) = self.committer {
            findings.push(match answers.text(committer) {
                Some(_) => Finding::ok("git identity", "commits have an author"),
                None => Finding::note("git identity", "commits are configured, and git does not know whose they are")
                    .fix("git config user.name 'Your Name' && git config user.email you@example.com"),
            });
        }
        findings
    }

    fn repository(&self, answers: &Answers, project: &Project) -> Finding {
        let Some(text) = answers.text(self.version) else {
            return Finding::note("git", "git cannot be started: what an iteration changed will not be seen")
                .fix("install git");
        };
        let version = Version::find(text).map_or(String::new(), |version| format!(" {version}"));
        match &project.git_root {
            Some(root) => Finding::ok("git", format!("git{version}, repository {}", root.display())),
            None => {
                let detail = format!("git{version}; no repository here: what an iteration changed will not be seen");
                Finding::note("git", detail).fix("git init")
            }
        }
    }
}
