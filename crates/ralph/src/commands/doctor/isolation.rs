//! What this machine offers to isolate an agent, found out by trying, and never a reason not to run.

use super::asking::{Answers, Asking, Question};
use super::version::Version;
use crate::project::{self, Project};
use ralph_host::probe::Answer;
use ralph_host::process::isolation::Isolation;
use ralph_view::findings::Finding;

/// The hidden command whose process tries what only a child can try.
const CHILD: &str = "__isolation";

pub(super) struct Trials {
    child: Option<Question>,
    bubblewrap: Option<Bubblewrap>,
    docker: Option<Question>,
    others: Vec<&'static str>,
}

struct Bubblewrap {
    version: Question,
    trial: Question,
}

/// An empty command in as much isolation as an agent would get.
const TRIAL: [&str; 14] = [
    "--unshare-user", "--unshare-pid", "--unshare-net", "--cap-drop", "ALL", "--die-with-parent", "--ro-bind", "/",
    "/", "--dev", "/dev", "--proc", "/proc", "true",
];

pub(super) fn ask(asking: &mut Asking, project: &Project) -> Trials {
    let is_there = |name: &str| project::program(name, &project.root).is_ok();
    let this = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    Trials {
        child: this.filter(|_| cfg!(target_os = "linux")).map(|this| asking.add(&this, [CHILD])),
        bubblewrap: is_there("bwrap")
            .then(|| Bubblewrap { version: asking.add("bwrap", ["--version"]), trial: asking.add("bwrap", TRIAL) }),
        docker: is_there("docker").then(|| asking.add("docker", ["version", "--format", "{{.Server.Version}}"])),
        others: ["sbx", "podman", "sandbox-exec"].into_iter().filter(|name| is_there(name)).collect(),
    }
}

impl Trials {
    pub(super) fn findings(&self, answers: &Answers) -> Vec<Finding> {
        let mut findings = Vec::new();
        if cfg!(target_os = "linux") {
            findings.extend(self.kernel(answers));
            findings.push(self.bubblewrap(answers));
        }
        if let Some(question) = self.docker {
            findings.push(match answers.text(question) {
                Some(version) => Finding::ok("docker", format!("its daemon answers, version {}", first_line(version))),
                None => Finding::note("docker", "there is a client, but no daemon answers").fix("docker info"),
            });
        }
        findings.extend(self.others.iter().map(|name| Finding::ok(*name, "is there")));
        findings
    }

    fn kernel(&self, answers: &Answers) -> Vec<Finding> {
        let text = self.child.and_then(|question| answers.text(question));
        let Some(tried) = text.and_then(|text| serde_json::from_str::<Isolation>(text).ok()) else {
            return vec![
                Finding::note("kernel", "what it offers for isolation could not be tried").fix("ralph doctor"),
            ];
        };
        let namespaces = match tried.namespaces {
            Ok(()) => Finding::ok("namespaces", "users, mounts and the network can be kept apart"),
            Err(why) => Finding::note("namespaces", format!("none for this user: {why}")).fix(
                "sudo sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0",
            ),
        };
        let landlock = match tried.landlock {
            Ok(version) => Finding::ok("landlock", format!("version {version}")),
            Err(why) => Finding::note("landlock", format!("this kernel offers none: {why}"))
                .fix("boot with lsm=landlock added to the kernel's command line (Linux 5.13 or newer)"),
        };
        let group = if tried.control_group {
            Finding::ok("control group", "each run has one of its own")
        } else {
            let detail = "a run cannot have one of its own; its processes are found by their tree and environment";
            Finding::note("control group", detail).fix("systemd-run --user --scope -p Delegate=yes ralph run …")
        };
        vec![namespaces, landlock, group]
    }

    fn bubblewrap(&self, answers: &Answers) -> Finding {
        let Some(bubblewrap) = &self.bubblewrap else {
            return Finding::note("bubblewrap", "bwrap is not there")
                .fix("install your system's package, such as: sudo apt-get install bubblewrap");
        };
        let version = answers.text(bubblewrap.version).and_then(Version::find);
        let version = version.map_or(String::new(), |version| format!(" {version}"));
        match answers.to(bubblewrap.trial) {
            Answer::Said { code: 0, .. } => Finding::ok("bubblewrap", format!("bwrap{version} isolates")),
            Answer::Said { text, .. } => {
                Finding::note("bubblewrap", format!("bwrap{version} fails: {}", first_line(text)))
                    .fix("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
            }
            Answer::NotStarted { reason } => Finding::note("bubblewrap", reason.clone()).fix("bwrap --version"),
            Answer::Silent => {
                Finding::note("bubblewrap", format!("bwrap{version} did not answer")).fix("bwrap --version")
            }
        }
    }
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}
