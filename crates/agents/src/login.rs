//! The signs of a login and of a version that is too old, as data of each dialect. Somebody else looks for them, and
//! nobody prints what they hold. They are hints: only the program's own answer to a prompt is proof.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Login {
    /// The oldest version whose command line and stream this dialect was tried with.
    pub measured: &'static str,
    /// Variables that hold a key or choose a provider: one that is set is enough.
    pub variables: &'static [&'static str],
    /// Files that hold credentials: one that is there is enough.
    pub files: &'static [LoginFile],
    pub unseen: Unseen,
}

/// A file below a folder that a variable may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginFile {
    /// The variable that names the folder; empty if none does.
    pub variable: &'static str,
    /// The folder below the home folder where that variable is not set.
    pub home: &'static str,
    pub name: &'static str,
}

/// Where credentials may lie that nobody can look for, so that seeing none proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// In the keychain of macOS; on other systems the program is not logged in without a sign.
    MacKeychain,
    /// In the system's credential store or a configuration of the user's own, on any system.
    Anywhere,
}

pub(crate) const fn file(variable: &'static str, home: &'static str, name: &'static str) -> LoginFile {
    LoginFile { variable, home, name }
}

/// Keys of the large providers, which programs for any model take.
pub(crate) const PROVIDERS: &[&str] = &[
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY",
    "XAI_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY",
];

#[cfg(test)]
mod tests {
    use crate::{by_name, names, programs};

    #[test]
    fn every_program_has_a_sign_a_version_and_a_way_to_log_in() {
        assert!(programs().count() > 1 && programs().all(|name| name != "generic"));
        for dialect in names().filter(|name| *name != "generic").filter_map(by_name) {
            let name = dialect.name;
            let login = dialect.login.unwrap();
            assert!(!login.variables.is_empty() || !login.files.is_empty(), "{name}");
            assert!(login.measured.split('.').all(|part| part.parse::<u64>().is_ok()), "{name}");
            assert!(!dialect.help.login.is_empty(), "{name}");
            for file in login.files {
                assert!(!file.home.starts_with(['/', '~']) && !file.name.starts_with('/'), "{name}");
            }
        }
    }
}
