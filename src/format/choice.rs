//! What some formats leave to choose beyond the type of a cell: one row each, for the library, the command line and the
//! documentation.

use crate::grid::CellKind;

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
        Self::GreedyFaces,
        Self::Points,
    ];

    /// The option, its value if it has one, and what it does.
    const fn row(self) -> (&'static str, Option<&'static str>, &'static str) {
        match self {
            Self::Uncompressed => ("uncompressed", None, "do not pack the cells"),
            Self::Zyx => ("order", Some("zyx"), "an array a[z, y, x] of C order"),
            Self::SparseIndices => ("sparse", Some("indices"), "x, y, z of each occupied cell"),
            Self::SparseRuns => ("sparse", Some("runs"), "x, y, z and length of runs of cells along x"),
            Self::NoCube => ("no-cube", None, "write the grid as it is, not filled up to a cube"),
            Self::GreedyFaces => (
                "merge",
                Some("greedy"),
                "rectangles of exposed faces of one plane and label, with T-junctions",
            ),
            Self::Points => ("points", None, "a point at the centre of each cell, not faces"),
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

    /// `sparse indices`.
    pub fn words(self) -> String {
        [Some(self.option()), self.value()].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
