//! Internal interface of the library for the front ends of this repository. It is not stable.

pub use voxelize_core::par::workers::{detached, handed_on, side_by_side};
pub use voxelize_core::text;
pub use voxelize_formats::group::FileGroup;
pub use voxelize_formats::npy::save_numbers;
pub use voxelize_formats::place::{link_target, lock_folder, without_temporaries};
pub use voxelize_formats::several::is_companion;
pub use voxelize_formats::{MAX_PLATE_SIDE, check_plate};
pub use voxelize_formats::{made_by_this_tool, may_be_of_this_tool};
pub use voxelize_formats::{probe_output, save_bytes};

#[cfg(feature = "goldens")]
pub use voxelize_compare::outcome;
