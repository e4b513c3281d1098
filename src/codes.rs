//! Every code a finding may have, what it means and what to do about it: docs/findings.md is made of
//! this table, and errors, warnings and JSON use these codes. A code never changes its meaning.
//!
//! `S` are findings of the readers of meshes, `L` of a mesh on its lattice. What is odd in a mesh file
//! is refused by default if it could change the result without a word, else it is said.

/// One code: a row of [`CODES`].
pub struct Code {
    /// Such as `S004`.
    pub code: &'static str,
    /// What was found.
    pub finding: &'static str,
    /// What becomes of it, unless told otherwise.
    pub usual: Outcome,
    /// What becomes of it under [`Lenient`](crate::mesh::read::Tolerance::Lenient).
    pub lenient: Outcome,
    /// What to do about it.
    pub advice: &'static str,
}

/// What becomes of a finding. [`Strict`](crate::mesh::read::Tolerance::Strict) refuses every one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// An error.
    Refused,
    /// What is whole is taken, and a warning says what is not.
    Warned,
    /// It changes nothing here, and is said where details are: other programs may stumble.
    Noted,
}

impl Outcome {
    /// The word for it in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Warned => "a warning",
            Self::Noted => "a note",
        }
    }
}

/// The row of a code.
pub fn of(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|row| row.code == code)
}

const fn refused(code: &'static str, finding: &'static str, advice: &'static str) -> Code {
    Code { code, finding, usual: Outcome::Refused, lenient: Outcome::Refused, advice }
}

const fn damage(code: &'static str, finding: &'static str, advice: &'static str) -> Code {
    Code { code, finding, usual: Outcome::Refused, lenient: Outcome::Warned, advice }
}

const fn noted(code: &'static str, finding: &'static str, advice: &'static str) -> Code {
    Code { code, finding, usual: Outcome::Noted, lenient: Outcome::Noted, advice }
}

const AGAIN: &str = "export it again, or copy it again whole; `--lenient` takes what is whole";
const EXPORT: &str = "export binary STL from the program that made it";
const NOTHING: &str = "nothing";

/// Every code, by name.
pub static CODES: &[Code] = &[
    Code {
        code: "L001",
        finding: "far from the origin: 32-bit floats are coarser there than a hundredth of a cell",
        usual: Outcome::Warned,
        lenient: Outcome::Warned,
        advice: "move the mesh to the origin in the program that made it, and export it again",
    },
    refused("S001", "the file is empty", AGAIN_ALONE),
    refused("S002", "neither binary nor ASCII STL: text that does not begin with `solid`", EXPORT),
    damage("S003", "cut short: bytes or words are missing", AGAIN),
    damage(
        "S004",
        "a vertex is NaN or infinite, or too large for a 32-bit float",
        "repair the mesh where it was made; `--lenient` drops such triangles",
    ),
    damage("S005", "bytes follow the last triangle, or the count is too low", AGAIN),
    damage(
        "S006",
        "ASCII that is not `facet … outer loop … vertex … endloop … endfacet`, such as a loop of four \
         vertices or a missing `endfacet`",
        "export it again; `--lenient` drops such facets",
    ),
    damage(
        "S007",
        "a number that cannot be read, such as `1,5` or `1.0D+00`",
        "export it with decimal points and exponents as in `1.0e+00`; `--lenient` drops such facets",
    ),
    refused("S008", "the file does not exist or cannot be read", "check its name and permissions"),
    refused("S009", "another known format, which is not read", EXPORT),
    refused("S010", "a folder without meshes", "name a mesh, or a folder of them"),
    refused(
        "S011",
        "the gzip data is damaged: it does not decompress, or its check sum is wrong",
        AGAIN_ALONE,
    ),
    noted("S101", "a binary STL whose header begins with `solid`, as ASCII does", NOTHING),
    noted(
        "S102",
        "colours or materials: attribute bytes that are not zero, or a header with `COLOR=`",
        NOTHING,
    ),
    noted("S103", "a normal that is missing, no number, NaN or infinite", NOTHING),
    noted("S104", "several solids, which are read as one mesh", NOTHING),
    noted("S105", "a solid without a name", NOTHING),
    noted(
        "S106",
        "unusual text: a byte order mark, keywords in upper case, lines that end in CR alone, a facet on the \
         line of `solid`, a name that is no UTF-8",
        NOTHING,
    ),
];

const AGAIN_ALONE: &str = "export it again, or copy it again whole";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_alone() {
        assert!(CODES.len() > 10);
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
    }
}
