//! From settings to the rules of one run, with nothing left open.

use super::flags::Flags;
use super::guardrail_keys::{GuardrailSettings, ten_minutes};
use super::keys::{Agent, Fallback, Settings, Snapshot};
use super::plan_keys::ReviewSettings;
use ralph_agents::base_name;
use ralph_core::check::Terms;
use ralph_core::claim::{Completion, PLAN_SUCCESS_REGEX, SUCCESS_REGEX};
use ralph_core::evidence::Extra;
use ralph_core::guardrail::Guardrail;
use ralph_core::id::TaskName;
use ralph_core::plan::PlanPolicy;
use ralph_core::policy::{
    AgentPolicy, HistoryPolicy, Kind, Limits, MemoryPolicy, Passes, Policy, PromptSource, StopCriteria, VerifyPolicy,
};
use ralph_core::protect::ProtectPolicy;
use ralph_core::scm::ScmPolicy;

/// Iterations of a plan in a row that come to nothing.
const PLAN_STALLS_AFTER: u32 = 3;

impl Settings {
    /// The policy of a run for `task`. The flags were laid over the settings before these were
    /// checked; only `--once`, which is no setting, is still asked for here.
    pub fn policy(&self, task: TaskName, prompt: PromptSource, flags: &Flags, config_hash: String) -> Policy {
        Policy {
            kind: Kind::Prompt,
            passes: self.passes(&task, flags),
            task,
            prompt,
            completion: Completion {
                response: self.completion_response.clone(),
                success_regex: self.looping.stop_criteria.success_regex.clone(),
                blocked_regex: self.looping.stop_criteria.blocked_regex.clone(),
            },
            protocol: self.looping.prompt_protocol,
            iteration_line: self.include_iteration_count_in_prompt,
            guardrails: self.guardrails(),
            output_chars: size(self.output_truncate_chars),
            criteria: self.criteria(),
            limits: self.limits(),
            memory: self.memory(),
            agent: self.agent_policy(),
            fallback: self.agents.fallback.iter().map(|other| self.agent(&other.agent())).collect(),
            protect: ProtectPolicy {
                tests: true,
                paths: self.protect.paths.clone(),
                scripts: self.protect.scripts,
                on_change: self.protect.on_change,
            },
            verify: self.verify(),
            scm: ScmPolicy { command: self.scm.command.clone(), tasks: self.scm.tasks.clone() },
            history: HistoryPolicy { prompts: self.history.prompts },
            config_hash,
        }
    }

    /// The same for a run that works through the plan in `dir`. If nobody said when a run is stalled, a plan's is sooner
    /// than that of a prompt: a story that nothing moves costs an agent and a reviewer each time.
    pub fn for_plan(&self, policy: Policy, dir: &str, stall_is_given: bool) -> Policy {
        let settings = &self.plan;
        let mut limits = Limits { max_iterations: settings.maximum_iterations, ..policy.limits };
        if !stall_is_given {
            limits.stall_after = PLAN_STALLS_AFTER;
        }
        let plan = PlanPolicy {
            dir: dir.to_owned(),
            rules: settings.rules(),
            branch: settings.branch,
            reviewer: self.reviewer(&policy.agent),
            verify_timeout: ten_minutes(),
            max_stop_blocks: settings.max_stop_blocks,
            context: settings.context.gauge(),
            commands: Vec::new(),
        };
        let mut completion = policy.completion.clone();
        if completion.success_regex == SUCCESS_REGEX {
            completion.success_regex = PLAN_SUCCESS_REGEX.to_owned();
        }
        Policy { kind: Kind::Plan(Box::new(plan)), limits, completion, ..policy }
    }

    /// Who reviews, if somebody else does.
    fn reviewer(&self, agent: &AgentPolicy) -> Option<AgentPolicy> {
        let ReviewSettings { agent: named, model } = &self.plan.review;
        match (named, model) {
            (None, None) => None,
            (Some(Fallback::Agent(said)), model) => Some(reviewer(&self.agent(said), None, model.as_deref())),
            (Some(Fallback::Command(said)), model) => Some(reviewer(agent, Some(said), model.as_deref())),
            (None, model) => Some(reviewer(agent, None, model.as_deref())),
        }
    }

    /// A hidden one without a name is not called by its command.
    fn guardrails(&self) -> Vec<Guardrail> {
        let all = self.guardrails.iter().flatten().map(|entry| guardrail(&entry.guardrail()));
        let mut nameless = 0;
        let named = all.map(|mut rule| {
            if rule.terms.hidden && rule.name.is_empty() {
                nameless += 1;
                rule.name = format!("hidden check {nameless}");
            }
            rule
        });
        named.collect()
    }

    fn verify(&self) -> VerifyPolicy {
        let commands = self.verify.commands.iter();
        VerifyPolicy {
            live: self.verify.snapshot == Snapshot::Off,
            baseline: self.verify.baseline,
            clean_checkout: self.verify.clean_checkout,
            commands: commands.map(|added| Extra { purpose: added.purpose, words: added.command.clone() }).collect(),
            tree_timeout: self.verify.tree_timeout_ms,
        }
    }

    fn passes(&self, task: &TaskName, flags: &Flags) -> Passes {
        // Tasks stand in settings as people call them, and runs know them by the name of their folder.
        let of_this_task = |(name, settings): (&String, &super::keys::Task)| {
            settings.enabled.filter(|_| TaskName::from_text(name) == *task)
        };
        let loops = self.tasks.iter().find_map(of_this_task).unwrap_or(self.looping.enabled);
        if loops && !flags.once { Passes::Loop } else { Passes::Single }
    }

    fn criteria(&self) -> StopCriteria {
        let criteria = &self.looping.stop_criteria;
        StopCriteria {
            passing_tests: criteria.require_passing_tests,
            lint: criteria.require_lint,
            typecheck: criteria.require_tsc,
            no_errors: criteria.require_no_errors,
            strict: criteria.strict,
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            max_iterations: self.maximum_iterations,
            wall: self.looping.max_wall_time_ms,
            iteration: self.looping.iteration_timeout_ms,
            idle: self.looping.idle_timeout_ms,
            linger: self.limits.linger_ms,
            max_cost_usd: self.limits.max_cost_usd,
            max_tokens: self.limits.max_tokens,
            task_cost_usd: self.limits.task_max_cost_usd,
            task_tokens: self.limits.task_max_tokens,
            wait: self.limits.wait_for_reset,
            stall_after: self.looping.stall_after,
            max_consecutive_failures: self.looping.max_consecutive_failures,
            max_same_failures: self.looping.max_same_failures,
            child_wait: self.limits.child_wait_ms,
        }
    }

    fn memory(&self) -> MemoryPolicy {
        MemoryPolicy {
            enabled: self.memory.enabled,
            max_chars: size(self.memory.max_chars),
            summary_file: self.memory.summary_file_name.clone(),
            feedback_file: self.memory.feedback_file_name.clone(),
            state_file: self.memory.state_file_name.clone(),
            last_messages: size(self.looping.context.include_last_n_messages),
        }
    }

    /// The agent that works.
    pub fn agent_policy(&self) -> AgentPolicy {
        self.agent(&self.agent)
    }

    fn agent(&self, agent: &Agent) -> AgentPolicy {
        AgentPolicy {
            command: agent.command.clone(),
            flags: agent.flags.clone().unwrap_or_default(),
            whole_flags: false,
            dialect: agent.dialect.clone().unwrap_or_default(),
            format: agent.format.clone().unwrap_or_default(),
            model: agent.model.clone().unwrap_or_default(),
            prompt_via: agent.prompt_via,
            env: agent.env.clone(),
            env_remove: agent.env_remove.clone(),
            stream: self.stream_agent_output,
        }
    }
}

/// A reviewer made from another agent: the same with another model, or another program. How to start one program says
/// nothing about another one; only its environment is kept.
pub fn reviewer(base: &AgentPolicy, command: Option<&str>, model: Option<&str>) -> AgentPolicy {
    let mut agent = base.clone();
    if let Some(command) = command {
        if base_name(command) != base_name(&base.command) {
            let AgentPolicy { env, env_remove, stream, .. } = agent;
            agent = AgentPolicy { env, env_remove, stream, ..AgentPolicy::default() };
        }
        agent.command = command.to_owned();
    }
    if let Some(model) = model {
        agent.model = model.to_owned();
    }
    agent
}

fn guardrail(settings: &GuardrailSettings) -> Guardrail {
    Guardrail {
        command: settings.command.clone(),
        fail_action: settings.fail_action,
        hint: settings.hint.clone().unwrap_or_default(),
        timeout: settings.timeout_ms,
        output: settings.output,
        name: settings.name.as_deref().unwrap_or_default().trim().to_owned(),
        terms: Terms {
            judges: settings.judges.clone(),
            work: settings.work.clone(),
            writes: settings.writes,
            keep: settings.keep.clone(),
            caches: settings.caches.clone(),
            hidden: settings.hidden,
        },
    }
}

/// A number of characters or messages, on any machine.
fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_core::evidence::Purpose;
    use ralph_core::guardrail::{FailAction, OutputPart};
    use ralph_core::policy::PromptVia;
    use ralph_core::time::Millis;
    use serde_json::json;

    fn policy(settings: serde_json::Value, task: &str, flags: &Flags) -> Policy {
        let settings: Settings = serde_json::from_value(settings).unwrap();
        settings.policy(TaskName::from_text(task), PromptSource::Text("p".to_owned()), flags, "hash".to_owned())
    }

    #[test]
    fn defaults_become_the_policy_that_the_reference_promises() {
        let policy = policy(json!({"agent": {"command": "c"}}), "t", &Flags::default());
        assert_eq!(policy.passes, Passes::Loop);
        assert_eq!(policy.completion, Completion::default());
        assert!(policy.protocol && !policy.iteration_line && policy.guardrails.is_empty() && policy.agent.stream);
        assert_eq!(policy.output_chars, 5000);
        let limits = Limits {
            max_iterations: 10,
            wall: Millis::from_secs(3600),
            iteration: Millis::from_secs(3600),
            idle: Millis::from_secs(900),
            linger: Millis::from_secs(30),
            max_cost_usd: 0.0,
            max_tokens: 0,
            task_cost_usd: 0.0,
            task_tokens: 0,
            wait: true,
            stall_after: 0,
            max_consecutive_failures: 3,
            max_same_failures: 0,
            child_wait: ralph_core::policy::CHILD_WAIT,
        };
        assert_eq!(policy.limits, limits);
        let criteria =
            StopCriteria { passing_tests: false, lint: false, typecheck: false, no_errors: true, strict: false };
        assert_eq!(policy.criteria, criteria);
        assert_eq!(policy.memory.max_chars, 20_000);
        assert_eq!(policy.memory.last_messages, 0);
        assert_eq!((policy.agent.command.as_str(), policy.agent.prompt_via), ("c", PromptVia::Auto));
        assert_eq!(policy.config_hash, "hash");
    }

    #[test]
    fn a_guardrail_says_what_it_leaves_out_by_defaults() {
        let settings = json!({"guardrails": [
            {"command": "a"}, {"command": "b", "failAction": "replace", "hint": "h", "timeoutMs": 0, "output": "decisive"}
        ]});
        let guardrails = policy(settings, "t", &Flags::default()).guardrails;
        let expected = [
            ("a", FailAction::Append, "", Millis::from_secs(600), OutputPart::First),
            ("b", FailAction::Replace, "h", Millis::ZERO, OutputPart::Decisive),
        ];
        for (guardrail, (command, fail_action, hint, timeout, output)) in guardrails.iter().zip(expected) {
            let (command, hint) = (command.to_owned(), hint.to_owned());
            let expected = Guardrail { command, fail_action, hint, timeout, output, ..Guardrail::default() };
            assert_eq!(*guardrail, expected);
        }
        assert_eq!(guardrails.len(), 2);
    }

    #[test]
    fn a_guardrail_is_a_command_or_says_all_its_terms() {
        let settings = json!({"verify": {"snapshot": "off"}, "guardrails": [
            "make", {"command": "x", "hidden": true}, {"command": "y", "hidden": true, "name": "n"}, {"command": "z", "hidden": true},
            {"command": "w", "name": " fmt ", "judges": ["a"], "work": ["b"], "writes": true, "keep": ["c"], "caches": ["d"]},
        ]});
        let policy = policy(settings, "t", &Flags::default());
        assert!(policy.verify.live);
        let names: Vec<&str> = policy.guardrails.iter().map(Guardrail::shown).collect();
        assert_eq!(names, ["make", "hidden check 1", "n", "hidden check 2", "fmt"]);
        let list = |text: &str| vec![text.to_owned()];
        let (judges, work, keep, caches) = (list("a"), list("b"), list("c"), list("d"));
        assert_eq!(policy.guardrails[4].terms, Terms { judges, work, writes: true, keep, caches, hidden: false });
        assert_eq!(policy.guardrails[0].timeout, Millis::from_secs(600));
    }

    #[test]
    fn commands_of_the_project_count_as_evidence() {
        let settings = json!({"verify": {"commands": [{"purpose": "typecheck", "command": "scripts/ci.sh types"}]}});
        let commands = policy(settings, "t", &Flags::default()).verify.commands;
        assert_eq!(commands, [Extra { purpose: Purpose::Typecheck, words: "scripts/ci.sh types".to_owned() }]);
    }

    #[test]
    fn a_plan_has_limits_rules_and_a_reviewer_of_its_own() {
        let of = |settings: serde_json::Value, stall_is_given| {
            let settings: Settings = serde_json::from_value(settings).unwrap();
            let task = TaskName::from_text("plan");
            let prompt = PromptSource::File("ralph/prompt.md".to_owned());
            settings.for_plan(settings.policy(task, prompt, &Flags::default(), String::new()), "ralph", stall_is_given)
        };
        let agent = json!({"command": "/opt/claude", "flags": ["--x"], "model": "a", "env": {"A": "1"}});
        let policy = of(json!({"maximumIterations": 99, "agent": agent}), false);
        let plan = policy.plan().unwrap();
        assert_eq!((policy.limits.max_iterations, policy.limits.stall_after), (15, 3));
        let expected = PlanPolicy { verify_timeout: Millis::from_secs(600), ..PlanPolicy::default() };
        assert_eq!(*plan, expected);
        assert_eq!(of(json!({"agent": agent}), true).limits.stall_after, 0, "somebody said so");
        let reviewers = [
            (json!({"model": "b"}), ("/opt/claude", "b", &["--x"][..])),
            (json!({"agent": "claude"}), ("claude", "a", &["--x"])),
            (json!({"agent": "codex"}), ("codex", "", &[])),
            (json!({"agent": "codex", "model": "b"}), ("codex", "b", &[])),
            (json!({"agent": {"command": "codex", "flags": ["--y"], "model": "c"}}), ("codex", "c", &["--y"])),
            (json!({"agent": {"command": "codex", "model": "c"}, "model": "d"}), ("codex", "d", &[])),
        ];
        for (review, expected) in reviewers {
            let settings = json!({"agent": agent, "plan": {"review": review, "branch": "create", "reviewCap": 2,
                "skipReview": true, "maxStopBlocks": 0, "context": {"window": 9, "charsPerToken": 2, "thresholds": [7]}}});
            let policy = of(settings, true);
            let plan = policy.plan().unwrap();
            let reviewer = plan.reviewer.as_ref().unwrap();
            assert_eq!((reviewer.command.as_str(), reviewer.model.as_str()), (expected.0, expected.1));
            assert_eq!(reviewer.flags, expected.2);
            assert_eq!((plan.rules.cap.get(), plan.rules.skip_review, plan.max_stop_blocks), (2, true, 0));
            assert_eq!(plan.branch, ralph_core::plan::BranchUse::Create);
            assert_eq!((plan.context.window.get(), plan.context.thresholds.as_slice()), (9, &[7][..]));
        }
    }

    #[test]
    fn the_nearest_word_on_looping_wins() {
        let once = Flags { once: true, ..Flags::default() };
        for (global, task, flags, passes) in [
            (json!(true), json!(null), Flags::default(), Passes::Loop),
            (json!(false), json!(null), Flags::default(), Passes::Single),
            (json!(false), json!(true), Flags::default(), Passes::Loop),
            (json!(true), json!(false), Flags::default(), Passes::Single),
            (json!(true), json!(true), once, Passes::Single),
        ] {
            let settings = json!({"loop": {"enabled": global}, "tasks": {"Fix login!": {"enabled": task}, "b": {"enabled": null}}});
            assert_eq!(policy(settings, "Fix login!", &flags).passes, passes, "{global} {task}");
        }
        let other = json!({"tasks": {"other": {"enabled": false}}});
        assert_eq!(policy(other, "t", &Flags::default()).passes, Passes::Loop);
    }
}
