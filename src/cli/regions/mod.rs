//! Regions of a grid: `voxelize plan`, `voxelize STORE --region I/N` and `voxelize finish`, and all three in one process,
//! `--resume`.

mod finish;
mod plan;
mod region;
mod report;
mod resume;

pub use finish::COMMAND as FINISH;
pub use plan::COMMAND as PLAN;
pub use region::COMMAND as REGION;
pub use resume::resume;
