//! Regions of a grid: `voxelize plan`, `voxelize STORE --region I/N` and `voxelize finish`, and
//! `--resume` for all three in one process.

mod finish;
mod plan;
mod region;
mod report;
mod resume;

pub use finish::COMMAND as FINISH;
pub use plan::COMMAND as PLAN;
pub use region::COMMAND as REGION;
pub use resume::resume;
