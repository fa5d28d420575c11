//! stub
#[derive(Debug, clap::Args)] pub struct CancelArgs {}
/// stub
pub fn run(_: &crate::cli::Global, _: &CancelArgs) -> Result<u8, crate::error::CommandError> { Ok(0) }
