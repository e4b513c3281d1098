//! What some formats leave to choose beyond the type of a cell: one row each, for the library, the command line and the
//! documentation.

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
    ];

    /// The option, its value if it has one, and what it does.
    const fn row(self) -> (&'static str, Option<&'static str>, &'static str) {
        match self {
            Self::Uncompressed => ("uncompressed", None, "do not pack the cells"),
            Self::Zyx => ("order", Some("zyx"), "an array a[z, y, x] of C order"),
            Self::SparseIndices => ("sparse", Some("indices"), "x, y, z of each occupied cell"),
            Self::SparseRuns => ("sparse", Some("runs"), "x, y, z and length of runs of cells along x"),
            Self::NoCube => ("no-cube", None, "write the grid as it is, not filled up to a cube"),
            Self::NoPyramid => ("no-pyramid", None, "write the grid alone, without smaller levels"),
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

    /// `sparse indices`.
    pub fn words(self) -> String {
        [Some(self.option()), self.value()].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
