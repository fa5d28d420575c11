//! placeholder
mod row;
pub use row::RunRow;
