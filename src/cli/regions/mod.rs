//! Grids that are made in regions: `voxelize plan`, `voxelize STORE --region I/N` and `voxelize finish`.
//! `--resume` does the work of all three in one process.

mod finish;
mod plan;
mod region;
mod report;
mod resume;

pub use finish::COMMAND as FINISH;
pub use plan::COMMAND as PLAN;
pub use region::COMMAND as REGION;
pub use resume::resume;
