//! Variants of formats, in addition to the number type. Each variant is one row of a table that the library,
//! the command line and the documentation share.

use super::Dtype;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::CellKind;

/// Variant of a format. [`Format::choices`](super::Format::choices) lists the variants that a format has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// The cells are not compressed.
    Uncompressed,
    /// The array is `a[z, y, x]` in C order. The bytes of the cells are the same.
    Zyx,
    /// Only the indices of occupied cells are stored.
    SparseIndices,
    /// Runs of occupied cells along x are stored.
    SparseRuns,
    /// The grid is not filled up to a cube.
    NoCube,
    /// Only the grid itself is stored, without the smaller levels of a pyramid.
    NoPyramid,
    /// Voxels whose six neighbours are all occupied are left out.
    VoxHull,
    /// A grid that MagicaVoxel cannot show as one file is written to several files.
    VoxSplit,
    /// Occupied cells are stored as the density of a fog volume.
    VdbFog,
    /// Empty cells are marked as free instead of unknown.
    MarkFree,
    /// Adjacent exposed faces are merged into rectangles.
    GreedyFaces,
    /// Points are written in place of faces.
    Points,
}

impl Choice {
    /// All choices. Choices of the same option are adjacent.
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

    /// Returns the name of the option, the value of the option if it takes one, and a description.
    const fn row(self) -> (&'static str, Option<&'static str>, &'static str) {
        match self {
            Self::Uncompressed => ("uncompressed", None, "do not compress the cells"),
            Self::Zyx => ("order", Some("zyx"), "write an array a[z, y, x] in C order"),
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
                "write several files if one is larger than MagicaVoxel can show",
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
                "merge exposed faces of one plane and label into rectangles, with T-junctions",
            ),
            Self::Points => (
                "points",
                None,
                "write the centre of each cell as a point, not faces",
            ),
        }
    }

    /// Returns the name of the command-line option, such as `sparse`.
    pub const fn option(self) -> &'static str {
        self.row().0
    }

    /// Returns the value of the command-line option. `None` if the option takes no value.
    pub const fn value(self) -> Option<&'static str> {
        self.row().1
    }

    /// Returns a short description of the choice.
    pub const fn about(self) -> &'static str {
        self.row().2
    }

    /// Returns a kind of cells that a format can hold only with this choice. `None` if there is none.
    pub(super) const fn adds(self) -> Option<CellKind> {
        match self {
            Self::Points => Some(CellKind::Field),
            _ => None,
        }
    }

    /// Returns the number type that the choice requires. `None` if it requires none.
    pub(super) const fn dtype(self) -> Option<Dtype> {
        match self {
            Self::VdbFog => Some(Dtype::Bool),
            _ => None,
        }
    }

    /// Returns `dtype`, the number type that this choice requires. `wanted` is the type that the user
    /// requested.
    ///
    /// # Errors
    /// Fails if the cells are a field, or if another type was requested.
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
        if let Some(wanted) = wanted
            && wanted != dtype
        {
            let [dtype, other] = [dtype, wanted].map(Dtype::name);
            return Err(Error::usage(format!(
                "'{words}' stores cells as '{dtype}', not '{other}'"
            )));
        }
        Ok(dtype)
    }

    /// Returns the option and its value, such as `sparse indices`.
    pub fn words(self) -> String {
        match self.value() {
            Some(value) => format!("{} {value}", self.option()),
            None => self.option().to_owned(),
        }
    }

    /// Joins several choices, as in `order zyx, uncompressed`.
    pub(super) fn list(choices: &[Self]) -> String {
        let words: Vec<_> = choices.iter().map(|choice| choice.words()).collect();
        words.join(", ")
    }
}
