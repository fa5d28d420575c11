//! One file per command: its arguments, whose doc comments are the help, and one function.

pub mod bus;
pub mod cancel;
pub mod completions;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod hook;
pub mod init;
pub mod judges;
pub mod logs;
pub mod man;
pub mod pick;
pub mod plan;
pub mod plugin;
pub mod report;
pub mod resume;
pub mod run;
pub mod say;
pub mod show;
pub mod status;
pub mod supervise;
pub mod trust;
