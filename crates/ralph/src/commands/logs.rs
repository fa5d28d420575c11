//! stub
#[derive(Debug, clap::Args)] pub struct LogsArgs {}
/// stub
pub fn run(_: &crate::cli::Global, _: &LogsArgs) -> Result<u8, crate::error::CommandError> { Ok(0) }
