//! Every code a finding may have, what it means and what to do about it: docs/findings.md is made of
//! this table, and errors, warnings and JSON use these codes. A code never changes its meaning.
//!
//! `S` are findings of the readers of meshes, `L` of a mesh on its lattice, `V` of the readers of voxels,
//! `G` of lists of goldens, `W` what else is worth a warning; errors of other kinds have words. What is
//! odd in a mesh file is refused by default if it could change the result without a word, else it is said.

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

/// What becomes of a finding. [`Strict`](crate::mesh::read::Tolerance::Strict) refuses every one of a mesh.
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

const fn warned(code: &'static str, finding: &'static str, advice: &'static str) -> Code {
    Code { code, finding, usual: Outcome::Warned, lenient: Outcome::Warned, advice }
}

const fn noted(code: &'static str, finding: &'static str) -> Code {
    let advice = "`--strict` refuses it; other programs may, too";
    Code { code, finding, usual: Outcome::Noted, lenient: Outcome::Noted, advice }
}

const AGAIN: &str = "export it again, or copy it again whole; `--lenient` takes what is whole";
const EXPORT: &str = "export binary STL from the program that made it";

/// Every code, by name.
pub static CODES: &[Code] = &[
    refused("G001", "the list of goldens cannot be read", "`voxelize verify --update LIST MESH` makes one"),
    refused("G002", "the list of goldens is no TOML", "mend the line"),
    refused("G003", "a key that is not known", "mend the line"),
    refused("G004", "a case without a mesh, or nothing to compare with", "add what is named"),
    refused("G005", "a value of the wrong kind", "mend the line"),
    refused("G006", "keys that exclude each other", "remove one of them"),
    refused("G007", "two cases are the same", "remove one of them"),
    refused("G008", "a list without a case", "`voxelize verify --update LIST MESH` adds one"),
    refused("G009", "the options of a case make no sense", "mend the line"),
    warned(
        "L001",
        "the mesh is far from the origin: 32-bit floats are more than a hundredth of a cell apart there",
        CENTRE,
    ),
    refused("S001", "the file is empty", AGAIN_ALONE),
    refused("S002", "neither binary nor ASCII STL: text that does not begin with `solid`", EXPORT),
    damage("S003", "cut short: bytes or words are missing", AGAIN),
    damage("S004", "a vertex is NaN or infinite, or too large for a 32-bit float", REPAIR),
    damage("S005", "bytes follow the last triangle, or the count is too low", AGAIN),
    damage("S006", "words of ASCII that are no facet: a loop of four vertices, no `endfacet`", DROP),
    damage("S007", "a number that cannot be read, such as `1,5` or `1.0D+00`", NUMBERS),
    refused("S008", "the file does not exist or cannot be read", "check its name and permissions"),
    refused("S009", "another known format, which is not read", EXPORT),
    refused("S010", "a folder without meshes", "name a mesh"),
    refused("S011", "gzip data that does not decompress, or whose check sum is wrong", AGAIN_ALONE),
    noted("S101", "a binary STL whose header begins with `solid`, as ASCII does"),
    noted("S102", "colours: attribute bytes that are not zero, or a header with `COLOR=` or `MATERIAL=`"),
    noted("S103", "a normal that is missing, no number, NaN or infinite"),
    noted("S104", "several solids, which are read as one mesh"),
    noted("S105", "a solid without a name"),
    noted(
        "S106",
        "unusual text: byte order mark, upper case, CR line ends, a name that is no UTF-8, all on one line",
    ),
    refused("V001", "neither content nor name is of a voxel format that is known", FORMATS),
    refused("V002", "the voxel file ends early", COPY),
    refused("V003", "a header or a compressed stream of a voxel file is broken", COPY),
    refused(
        "V004",
        "well formed, but without cells: another type, another number of axes, or voxels for a mesh",
        FORMATS,
    ),
    refused("V005", "the length is not what the size of the grid asks for", COPY),
    refused("V006", "the sidecar that says the size is missing", "copy it as well"),
    refused("V007", "what describes the cells is broken or does not fit them", "save the file again"),
    refused("V008", "a scene that is not a tree of transforms, groups and shapes", "save the file again"),
    refused("V009", "a voxel outside its model or grid", "save the file again"),
    refused("V010", "the system could not open or read the file", "check its name and permissions"),
    warned(
        "W001",
        "the mesh goes beyond the grid of `--like`; what is there is left out",
        "give a larger grid",
    ),
    warned(
        "W002",
        "no cell is occupied: the mesh is outside the grid, or lies on its walls",
        "check `--bounds` and `--ties`",
    ),
    warned(
        "W003",
        "the extension of the output is that of another format than its content",
        "let `-o` and `-f` agree",
    ),
    warned(
        "W004",
        "the format holds the grid, but programs that read it may not show all of it",
        "make it smaller, or save as another format",
    ),
    warned("W005", "output pipe closed early", "none, if that was intended"),
    warned(
        "W006",
        "the mesh is not closed, or inconsistently oriented where that counts, so the inside is uncertain",
        "close the holes, or choose how inside is told with `--inside`",
    ),
    warned(
        "W007",
        "the flood enters the mesh, through a hole that is larger than cells or where the grid cuts the mesh",
        "close the hole, `--close-holes` closes small ones, make the cells larger, or take another `--inside`",
    ),
    warned("W008", "vote: the three axes disagree on some cells", "`--inside robust` repairs what it can"),
    warned(
        "W009",
        "lost components: they contain no cell centre, or are thinner than a cell and only partly filled",
        "`--keep-thin` keeps them; so do `--filled` and smaller cells",
    ),
    warned(
        "W010",
        "the search for lost features was skipped, as memory is short, or not all is kept, as the mesh is not closed",
        "raise `--max-memory`, close the mesh, or take `--filled`, which loses nothing",
    ),
    warned(
        "W011",
        "lost thin places, such as ribs: cells that share volume with the mesh, where no cell centre nearby is \
         inside or the solid cells fall apart",
        "`--keep-thin` keeps them; so do `--filled` and smaller cells",
    ),
    refused(
        "bad-list",
        "a list of names that holds something else",
        "one name a line; `-0` if NUL ends them",
    ),
    refused("closed-pipe", "the reader of the output went away", "nothing: it is no failure"),
    refused("folder", "a folder where a file is wanted", "name a file"),
    refused("interrupted", "someone asked to stop", ""),
    refused("no-meshes", "a list without names", "one name a line"),
    refused("not-found", "no such file", "check its name"),
    refused("output", "the output could not be written", "write elsewhere: `-o PATH`"),
    refused(
        "too-large",
        "it does not fit: memory, or a limit of the format",
        "make cells larger, or raise `--max-memory`",
    ),
    refused(
        "unfit",
        "the mesh is unfit for what was asked: it has no triangles, or no size to divide",
        "`voxelize info MESH` describes it",
    ),
    refused("unreadable", "the system does not let it be read", "check its permissions"),
    refused("usage", "options that conflict, or a value out of range", "`voxelize -h` shows every option"),
];

const CENTRE: &str = "move it to the origin in the program that made it, and export it again";
const REPAIR: &str = "repair it where it was made; `--lenient` drops such triangles";
const DROP: &str = "export it again; `--lenient` drops such facets";
const NUMBERS: &str = "export it with numbers as in `1.5` and `1.0e+00`; `--lenient` drops such facets";
const COPY: &str = "save it again, or copy it again whole";
const FORMATS: &str = "`voxelize formats` lists what is read";
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
