//! Complete jobs: they transform the mesh, choose the lattice, make the cells at once or in slabs, and report
//! findings.

mod drain;
pub mod findings;
mod label_fields;
mod measure;
mod paint;
mod palette;
mod part_colours;
mod parts;
mod plan;
mod pose;
mod prepared;
pub mod regions;
mod request;
mod run;
mod slabs;
mod stated;
pub mod system;
mod target;
mod transform;
mod turn;
mod voxelizer;

pub use self::drain::{Drain, DrainHole};
pub use self::label_fields::{LabelFieldSum, SharedShares};
pub use self::measure::{Measure, WrittenBand, WrittenIso, WrittenLength, WrittenShell};
pub use self::parts::{NamedObject, OpenObjects, PartChoice, objects, part_sizes};
pub use self::plan::{MemoryPhase, MemoryPlan};
pub use self::pose::{MeshPose, PosedName};
pub use self::prepared::{JobResult, JobTimes, NearestSink, Prepared};
pub use self::request::{
    DEFAULT_RES, OPTIONS, OptionValues, Request, RequestOption, ResolvedRequest, option_of_field,
};
pub use self::slabs::{Made, SharedCells, Slabs};
pub use self::stated::{check_unit_of_grid, one_unit, one_up, other_unit};
pub use self::target::Target;
pub use self::transform::{AxisOrder, Transform};
pub use self::turn::{Matrix, Rotation};
pub use self::voxelizer::{Extras, JobLabels, Voxelized, Voxelizer};
pub use voxelize_meshes::{UnitOfLength, UpAxis};
