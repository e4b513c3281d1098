//! Options of formats besides the type of a cell: one row each, for the library, the command line and the
//! documentation.

use super::Dtype;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::CellKind;

/// Option of some formats. [`Format::choices`](super::Format::choices) lists the choices of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// Cells without compression.
    Uncompressed,
    /// An array `a[z, y, x]` of C order, with the same bytes.
    Zyx,
    /// Only the places of occupied cells.
    SparseIndices,
    /// Runs of occupied cells along x.
    SparseRuns,
    /// The grid as it is, not filled up to a cube.
    NoCube,
    /// Only the grid, without smaller levels.
    NoPyramid,
    /// No voxels whose six neighbours are all occupied.
    VoxHull,
    /// Several files where MagicaVoxel cannot show the grid in one.
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
    /// All choices. The choices of one option stand together.
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

    /// Returns the option, its value if it takes one, and its description.
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

    /// Returns the name of the option, such as `sparse`.
    pub const fn option(self) -> &'static str {
        self.row().0
    }

    /// Returns the word after the option. `None` for an option without a value.
    pub const fn value(self) -> Option<&'static str> {
        self.row().1
    }

    /// Returns a short description.
    pub const fn about(self) -> &'static str {
        self.row().2
    }

    /// Returns the kind of cells that a format holds only with this choice.
    pub(super) const fn adds(self) -> Option<CellKind> {
        match self {
            Self::Points => Some(CellKind::Field),
            _ => None,
        }
    }

    /// Returns the type that the choice requires for stored cells. `None` if it leaves the type open.
    pub(super) const fn dtype(self) -> Option<Dtype> {
        match self {
            Self::VdbFog => Some(Dtype::Bool),
            _ => None,
        }
    }

    /// Returns `dtype`, the type that this choice requires for stored cells.
    ///
    /// # Errors
    /// If the cells are a field, or another type is requested.
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
