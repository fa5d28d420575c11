//! How to tell from outside whether an agent program is logged in and new enough, as data. Looking
//! is another room's work: nothing here opens a file or reads a variable, and nobody should ever
//! print what those hold.
//!
//! Signs are hints. A file may hold a token that has expired, and a program may know other ways to
//! log in than the ones its documentation names; only its own answer to a prompt is proof.

/// What is known about one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Login {
    /// The oldest version whose command line and stream this dialect was tried with.
    pub measured: &'static str,
    /// Variables that hold a key or choose a provider: one that is set is enough.
    pub variables: &'static [&'static str],
    /// Files that hold credentials: one that is there is enough.
    pub files: &'static [LoginFile],
    /// Where credentials may lie unseen.
    pub unseen: Unseen,
    /// How to log in, as an order to a person.
    pub how: &'static str,
}

/// A file below a folder that a variable may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginFile {
    /// The variable that names the folder; empty if none does.
    pub variable: &'static str,
    /// The folder below the home folder where that variable is not set.
    pub home: &'static str,
    /// The file in the folder.
    pub name: &'static str,
}

/// Where credentials may lie that nobody can look for, so that seeing none proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// Nowhere: without a sign the program is not logged in.
    Nowhere,
    /// In the keychain of macOS.
    MacKeychain,
    /// In the system's credential store or a configuration of the user's own, on any system.
    Anywhere,
}

const fn file(variable: &'static str, home: &'static str, name: &'static str) -> LoginFile {
    LoginFile { variable, home, name }
}

/// Keys of the large providers, which programs for any model take.
const PROVIDERS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
];

/// The programs by the names of their dialects. Versions are those that the recordings were made with.
const KNOWN: &[(&str, Login)] = &[
    (
        "claude",
        Login {
            measured: "2.1",
            variables: &[
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN",
                "CLAUDE_CODE_USE_BEDROCK",
                "CLAUDE_CODE_USE_VERTEX",
                "CLAUDE_CODE_USE_FOUNDRY",
            ],
            files: &[file("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json")],
            unseen: Unseen::MacKeychain,
            how: "run `claude` once and log in, or export ANTHROPIC_API_KEY",
        },
    ),
    (
        "codex",
        Login {
            measured: "0.166",
            variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
            files: &[file("CODEX_HOME", ".codex", "auth.json")],
            // `cli_auth_credentials_store` can name the system's keyring.
            unseen: Unseen::Anywhere,
            how: "codex login",
        },
    ),
    (
        "gemini",
        Login {
            measured: "0.61",
            variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
            files: &[file("", ".gemini", "oauth_creds.json"), file("", ".gemini", ".env")],
            unseen: Unseen::Anywhere,
            how: "run `gemini` once and log in, or export GEMINI_API_KEY",
        },
    ),
    (
        "qwen",
        Login {
            measured: "0.24",
            variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
            files: &[file("", ".qwen", "oauth_creds.json"), file("", ".qwen", ".env")],
            unseen: Unseen::Anywhere,
            how: "run `qwen` once and log in, or export OPENAI_API_KEY",
        },
    ),
    (
        "opencode",
        Login {
            measured: "1.18",
            variables: PROVIDERS,
            files: &[file("XDG_DATA_HOME", ".local/share", "opencode/auth.json")],
            unseen: Unseen::Anywhere,
            how: "opencode auth login",
        },
    ),
    (
        "copilot",
        Login {
            measured: "1.0",
            variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"],
            files: &[],
            unseen: Unseen::Anywhere,
            how: "run `copilot` once and type /login, or export COPILOT_GITHUB_TOKEN",
        },
    ),
    (
        "amp",
        Login {
            measured: "0.0.1790142911",
            variables: &["AMP_API_KEY"],
            files: &[file("XDG_DATA_HOME", ".local/share", "amp/secrets.json")],
            unseen: Unseen::MacKeychain,
            how: "amp login",
        },
    ),
    (
        "pi",
        Login {
            measured: "0.73",
            variables: PROVIDERS,
            files: &[file("PI_CODING_AGENT_DIR", ".pi/agent", "auth.json")],
            unseen: Unseen::Nowhere,
            how: "run `pi` once and type /login, or export the key of your provider",
        },
    ),
];

/// What is known about the program of this dialect.
pub(crate) fn of(dialect: &str) -> Option<&'static Login> {
    KNOWN.iter().find(|(name, _)| *name == dialect).map(|(_, login)| login)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_a_sign_a_version_and_a_way_to_log_in() {
        for (name, login) in KNOWN {
            assert!(!login.variables.is_empty() || !login.files.is_empty(), "{name}");
            assert!(login.measured.split('.').all(|part| part.parse::<u64>().is_ok()), "{name}");
            assert!(!login.how.is_empty(), "{name}");
            for file in login.files {
                assert!(!file.home.starts_with(['/', '~']) && !file.name.starts_with('/'), "{name}");
            }
        }
    }

    #[test]
    fn every_dialect_of_a_program_is_known_and_the_generic_one_is_not() {
        for dialect in crate::names().filter_map(crate::by_name) {
            assert_eq!(dialect.login().is_some(), dialect.name() != "generic", "{}", dialect.name());
        }
    }
}
