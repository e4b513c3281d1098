//! What the front ends of this repository share with the library and no other program should use: it has no promise.

pub use crate::format::npy::save_numbers;
pub use crate::format::open::{made_by_this_tool, may_be_of_this_tool};
pub use crate::format::place::lock_folder;
pub use crate::format::save::{probe_output, save_bytes};
pub use crate::par::workers::{detached, handed_on, side_by_side};

/// Numbers and sizes in words, and text without control characters.
pub mod text {
    pub use crate::text::*;
}

/// Reports of test cases as JUnit XML.
#[cfg(feature = "goldens")]
pub mod junit {
    pub use crate::compare::junit::*;
}

/// Outcomes of golden cases.
#[cfg(feature = "goldens")]
pub mod outcome {
    pub use crate::compare::outcome::*;
}
