//! What some formats leave to choose beyond the type of a cell: one row each, for the library, the command line and the
//! documentation.

use super::Dtype;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::CellKind;

/// A choice that some formats give; [`Format::choices`](super::Format::choices) are those of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// Cells as they are, not packed.
    Uncompressed,
    /// An array a[z, y, x] of C order, the bytes being the same.
    Zyx,
    /// The places of occupied cells alone.
    SparseIndices,
    /// Runs of occupied cells along x.
    SparseRuns,
    /// The grid as it is, not filled up to a cube.
    NoCube,
    /// The grid alone, without smaller levels.
    NoPyramid,
    /// Without voxels whose six neighbours are all occupied.
    VoxHull,
    /// Several files, each a part that is shown.
    VoxSplit,
    /// Occupied cells as the density of a fog volume.
    VdbFog,
    /// Empty cells are free, not unknown.
    MarkFree,
    /// Rectangles of exposed faces.
    GreedyFaces,
    /// Points in place of faces.
    Points,
}

impl Choice {
    /// All of them; those of one option stand together.
    pub const ALL: &[Self] = &[
        Self::Uncompressed,
        Self::Zyx,
        Self::SparseIndices,
        Self::SparseRuns,
        Self::NoCube,
        Self::NoPyramid,
        Self::VoxHull,
        Self::VoxSplit,
        Self::VdbFog,
        Self::MarkFree,
        Self::GreedyFaces,
        Self::Points,
    ];

    /// The option, its value if it has one, and what it does.
    const fn row(self) -> (&'static str, Option<&'static str>, &'static str) {
        match self {
            Self::Uncompressed => ("uncompressed", None, "do not pack the cells"),
            Self::Zyx => ("order", Some("zyx"), "an array a[z, y, x] of C order"),
            Self::SparseIndices => ("sparse", Some("indices"), "x, y, z of each occupied cell"),
            Self::SparseRuns => (
                "sparse",
                Some("runs"),
                "x, y, z and length of runs of cells along x",
            ),
            Self::NoCube => (
                "no-cube",
                None,
                "write the grid as it is, not filled up to a cube",
            ),
            Self::NoPyramid => (
                "no-pyramid",
                None,
                "write the grid alone, without smaller levels",
            ),
            Self::VoxHull => (
                "vox-hull",
                None,
                "leave out voxels whose six neighbours are all occupied",
            ),
            Self::VoxSplit => (
                "vox-split",
                None,
                "several files where one would be more than MagicaVoxel shows",
            ),
            Self::VdbFog => (
                "vdb",
                Some("fog"),
                "occupied cells as density 1.0 of a fog volume",
            ),
            Self::MarkFree => ("mark-free", None, "mark empty cells as free, not unknown"),
            Self::GreedyFaces => (
                "merge",
                Some("greedy"),
                "rectangles of exposed faces of one plane and label, with T-junctions",
            ),
            Self::Points => (
                "points",
                None,
                "a point at the centre of each cell, not faces",
            ),
        }
    }

    /// The name of the option, such as `sparse`.
    pub const fn option(self) -> &'static str {
        self.row().0
    }

    /// The word after the option; none if the option alone is the choice.
    pub const fn value(self) -> Option<&'static str> {
        self.row().1
    }

    /// What it does, in a few words.
    pub const fn about(self) -> &'static str {
        self.row().2
    }

    /// The kind of cells that a format holds with this choice and not without.
    pub(super) const fn adds(self) -> Option<CellKind> {
        match self {
            Self::Points => Some(CellKind::Field),
            _ => None,
        }
    }

    /// The type that cells are stored as with it; none if it leaves that open.
    pub(super) const fn dtype(self) -> Option<Dtype> {
        match self {
            Self::VdbFog => Some(Dtype::Bool),
            _ => None,
        }
    }

    /// The type that cells are stored as with a choice that leaves no other.
    ///
    /// # Errors
    /// If they are a field, or another type is wanted.
    pub(super) fn check(
        self,
        kind: CellKind,
        dtype: Dtype,
        wanted: Option<Dtype>,
    ) -> Result<Dtype> {
        let words = self.words();
        if kind == CellKind::Field {
            return Err(Error::usage(format!(
                "'{words}' is for bits and labels, not for fields"
            )));
        }
        match wanted.filter(|wanted| *wanted != dtype) {
            None => Ok(dtype),
            Some(other) => {
                let [dtype, other] = [dtype, other].map(Dtype::name);
                Err(Error::usage(format!(
                    "'{words}' stores cells as '{dtype}', not '{other}'"
                )))
            }
        }
    }

    /// `sparse indices`.
    pub fn words(self) -> String {
        [Some(self.option()), self.value()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// `order zyx, uncompressed`: several of them.
    pub(super) fn list(choices: &[Self]) -> String {
        choices
            .iter()
            .map(|choice| choice.words())
            .collect::<Vec<_>>()
            .join(", ")
    }
}
