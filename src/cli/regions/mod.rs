//! Regions of a grid on many machines: `voxelize plan`, `voxelize STORE --region I/N` and `voxelize finish`.

mod finish;
mod plan;
mod region;
mod report;

pub use finish::COMMAND as FINISH;
pub use plan::COMMAND as PLAN;
pub use region::COMMAND as REGION;
