//! Table of finding codes with their meanings and advice. A test generates docs/findings.md from this table.
//! Errors, warnings and JSON use these codes. A code never changes its meaning.
//!
//! `S` codes are findings of mesh readers, `M` of the mesh check, `L` of a mesh on its lattice, `R` of
//! regions of a store, `V` of voxel readers, `G` of lists of goldens, and `W` other warnings. Other errors
//! have a word. By default a finding in a mesh file is an error if it could silently change the result;
//! otherwise it is a warning or a note.

use std::fmt;

use super::hint::Step;
use crate::hint;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// The finding has no effect here, but other programs may reject the file. Printed with the details.
    Note,
    /// The result may differ from the intended one; the run continues.
    Warning,
    /// The run ends.
    Error,
}

impl Severity {
    /// Returns the name: `note`, `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Row of [`CODES`].
#[derive(Debug)]
pub struct CodeInfo {
    /// Code.
    pub code: Code,
    /// Name, such as `S004` or `not-found`.
    pub name: &'static str,
    /// Meaning of the finding.
    pub finding: &'static str,
    /// Default severity. `Strict` makes every finding of a mesh an error.
    pub severity: Severity,
    /// Severity under `Lenient`.
    pub lenient: Severity,
    /// Advice. Empty if there is nothing to do.
    pub advice: &'static [Step],
}

/// Generates the enum and the table from one list: variant, name, severity, finding, advice.
macro_rules! codes {
    ($($code:ident $name:literal $severity:ident $finding:literal $advice:expr;)*) => {
        /// Code of an error, a warning or a note. `Display` writes its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!($finding, ".")] $code,)*
        }

        /// All codes in the order of their names.
        pub static CODES: &[CodeInfo] = &[$(CodeInfo {
            code: Code::$code,
            name: $name,
            finding: $finding,
            severity: $severity.0,
            lenient: $severity.1,
            advice: $advice,
        },)*];
    };
}

/// Severity by default and under `Lenient`.
type Severities = (Severity, Severity);
const REFUSED: Severities = (Severity::Error, Severity::Error);
const DAMAGE: Severities = (Severity::Error, Severity::Warning);
const WARNED: Severities = (Severity::Warning, Severity::Warning);
const NOTED: Severities = (Severity::Note, Severity::Note);

type Advice = &'static [Step];
const AGAIN: Advice =
    hint!["export or copy the file again"; "{} keeps its intact triangles" Lenient];
const AGAIN_ALONE: Advice = hint!["export or copy the file again"];
const CENTRE: Advice =
    hint!["move the mesh to the origin in the program that made it, and export it again"];
const COPY: Advice = hint!["save or copy the file again"];
const DROP: Advice = hint!["export the file again"; "{} drops such facets" Lenient];
const EXPORT: Advice = hint!["export binary STL from the program that made it"];
const FORMATS: Advice = hint!["{} lists the formats" Formats];
const LINE: Advice = hint!["correct the line"];
const NOTHING: Advice =
    hint!["only {} refuses it: leave that out, or export the file again for other programs" Strict];
const NUMBERS: Advice =
    hint!["export the file with numbers such as 1.5 or 1.0e+00"; "{} drops such facets" Lenient];
const BIN: Advice =
    hint!["make the bins again: {}, with the words of the plan" Bin = "MESH … --bin"];
const PERMISSIONS: Advice = hint!["check its name and permissions"];
const REMAKE: Advice = hint!["make it again: {}" Region = "I/N"];
const REPAIR: Advice =
    hint!["repair the mesh in the program that made it"; "{} drops such triangles" Lenient];
const SAVE: Advice = hint!["save the file again"];
const SMALLER: Advice = hint!["use smaller cells" | "{} or {}, which keep them" KeepThin, Filled];
const CLOSE: Advice = hint!["close the holes" | "choose a method with {}" Inside];
const UNITE: Advice = hint!["unite the parts where they were made, if other programs refuse them"];

codes! {
    G001 "G001" REFUSED
        "the list of goldens cannot be read"
        hint!["{} creates one" Update = "LIST MESH"];
    G002 "G002" REFUSED
        "the list of goldens is not TOML"
        LINE;
    G003 "G003" REFUSED
        "an unknown key"
        LINE;
    G004 "G004" REFUSED
        "a case without a mesh or without an expected result"
        hint!["add the key that the message names"];
    G005 "G005" REFUSED
        "a value of the wrong kind"
        LINE;
    G006 "G006" REFUSED
        "keys that exclude each other"
        hint!["remove one of them"];
    G007 "G007" REFUSED
        "two cases have the same mesh and options"
        hint!["remove one of them"];
    G008 "G008" REFUSED
        "a list without a case"
        hint!["{} adds one" Update = "LIST MESH"];
    G009 "G009" REFUSED
        "the options of a case are not valid"
        LINE;
    G010 "G010" REFUSED
        "a path in a list leads out of the folder of the list, perhaps through a link"
        hint!["{} accepts it, but use it only for lists that you trust" AllowOutside];
    L001 "L001" WARNED
        "the mesh is far from the origin: 32-bit floats are more than a hundredth of a cell apart there"
        CENTRE;
    M001 "M001" WARNED
        "duplicate triangles: they have the same three vertices as another, in any order"
        hint!["remove the copies"; "{} drops them" Inside = "robust"];
    M002 "M002" NOTED
        "triangles without area: two equal vertices, or three on one line"
        hint!["none for a fill"; "remove them for other programs"];
    M003 "M003" NOTED
        "needles: triangles more than 1000 times as long as high"
        hint!["none for a fill"; "remesh them for other programs"];
    M004 "M004" WARNED
        "open edges: they occur an odd number of times, and form loops"
        CLOSE;
    M005 "M005" WARNED
        "edges of more than two triangles"
        hint!["separate the parts that meet there, for 3MF"];
    M006 "M006" NOTED
        "vertices whose triangles form more than one fan"
        hint!["separate the parts that meet there, if other programs refuse them"];
    M007 "M007" WARNED
        "edges that occur twice in one direction: their triangles are inconsistently oriented"
        hint!["orient them in the program that made them"; "{} orients them for a fill" Inside = "robust"];
    M008 "M008" WARNED
        "closed shells of negative volume that are not cavities: they are inside out"
        hint!["flip them in the program that made them"; "{} flips them for a fill" Inside = "robust"];
    M009 "M009" WARNED
        "pairs of triangles that pass through each other"
        UNITE;
    M010 "M010" NOTED
        "pairs of triangles that touch in a point or a segment other than a shared vertex or edge"
        hint!["none for a fill"; "split the touched triangles for other programs"];
    M011 "M011" WARNED
        "pairs of triangles that overlap in one plane"
        UNITE;
    M012 "M012" WARNED
        "walls thinner than the smallest side of a cell"
        SMALLER;
    M013 "M013" NOTED
        "edges whose vertices coincide, but have different numbers in the file"
        hint!["merge vertices in the program that made it, if another one goes by their numbers"];
    R001 "R001" WARNED
        "a region of a store is missing: no part says that it was made"
        REMAKE;
    R002 "R002" WARNED
        "a region of a store is damaged: its part or a shard is not as it was written"
        REMAKE;
    R003 "R003" WARNED
        "a region of a store is stale: its part is of another plan or mesh"
        REMAKE;
    R004 "R004" REFUSED
        "the mesh is not that of the plan of a store"
        hint!["{} names the file if it lies elsewhere" Mesh = "FILE" | "plan the store again in a new folder"];
    R005 "R005" REFUSED
        "a bin of a store, which has the triangles of a region, is missing or damaged"
        BIN;
    S001 "S001" REFUSED
        "the file is empty"
        AGAIN_ALONE;
    S002 "S002" REFUSED
        "no mesh of a known format: text that is neither ASCII STL, which begins with `solid`, nor OBJ, or bytes that \
            explain neither the count of a binary STL nor its triangles"
        EXPORT;
    S003 "S003" DAMAGE
        "cut short: bytes or words are missing"
        AGAIN;
    S004 "S004" DAMAGE
        "a vertex is NaN or infinite, or too large for a 32-bit float"
        REPAIR;
    S005 "S005" DAMAGE
        "bytes follow the last triangle, or the count is too low"
        AGAIN;
    S006 "S006" DAMAGE
        "text that does not form a facet: a loop of four vertices in ASCII STL, a missing `endfacet`, a polygon of two corners"
        DROP;
    S007 "S007" DAMAGE
        "a number that cannot be read, such as `1,5` or `1.0D+00`"
        NUMBERS;
    S008 "S008" REFUSED
        "the file does not exist or cannot be read"
        PERMISSIONS;
    S009 "S009" REFUSED
        "a known format that is not supported"
        EXPORT;
    S010 "S010" REFUSED
        "a folder without meshes"
        hint!["name a mesh"];
    S011 "S011" REFUSED
        "gzip data that does not decompress, or whose checksum is wrong"
        AGAIN_ALONE;
    S012 "S012" DAMAGE
        "a polygon names a vertex that is not there"
        DROP;
    S101 "S101" NOTED
        "a binary STL whose header begins with `solid`, as in ASCII STL"
        NOTHING;
    S102 "S102" NOTED
        "colours: attribute bytes that are not zero, or a header with `COLOR=` or `MATERIAL=`"
        NOTHING;
    S103 "S103" NOTED
        "a normal that is missing, not a number or infinite"
        NOTHING;
    S104 "S104" NOTED
        "several solids, which are read as one mesh"
        NOTHING;
    S105 "S105" NOTED
        "a solid without a name"
        NOTHING;
    S106 "S106" NOTED
        "unusual text: byte order mark, upper case, CR line ends, a name that is not UTF-8, a facet on the \
            line of `solid`"
        NOTHING;
    S107 "S107" WARNED
        "points, lines, or free-form curves and surfaces, which have no triangles and are left out"
        NOTHING;
    S108 "S108" WARNED
        "skins, morph targets or animations that are not applied as they are: animations are not played, weights that do \
            not sum to 1 are divided by their sum, and a primitive without joints is placed by its node"
        hint!["export the pose that is wanted as a mesh without animation"];
    S109 "S109" WARNED
        "modifiers and supports of a 3MF, which are left out"
        hint!["none: they are no matter of the part" | "make them objects of their own in the slicer"];
    S110 "S110" NOTED
        "a file of materials or a picture that cannot be read, so that colours are not known"
        hint!["keep it beside the mesh; pictures are PNG, JPEG or WebP"];
    S111 "S111" NOTED
        "negative volumes of a slicer, which the rules solid and filled subtract"
        NOTHING;
    S112 "S112" WARNED
        "items of a 3MF that are marked as not printable, which are read"
        hint!["remove them in the program that made the file, if they are not wanted"];
    S113 "S113" WARNED
        "settings of a slicer that cannot be read, or that do not fit the model"
        hint!["save the project again in the slicer"];
    S120 "S120" WARNED
        "nodes of a glTF that are hidden, and are left out"
        hint!["show them and export again, if they belong to the mesh"];
    S121 "S121" WARNED
        "meshes of a glTF that no node of its scene places, and that are left out"
        hint!["place them in the default scene and export again, if they belong to the mesh"];
    V001 "V001" REFUSED
        "neither the content nor the name of the file is that of a known voxel format"
        FORMATS;
    V002 "V002" REFUSED
        "the voxel file ends early"
        COPY;
    V003 "V003" REFUSED
        "a header or a compressed stream of a voxel file is broken"
        COPY;
    V004 "V004" REFUSED
        "a well-formed file without usable cells: another type of number, another number of axes, or voxels in \
            place of a mesh"
        FORMATS;
    V005 "V005" REFUSED
        "the length of the file does not match the size of the grid"
        COPY;
    V006 "V006" REFUSED
        "the sidecar with the size of the grid is missing"
        hint!["copy the sidecar as well"];
    V007 "V007" REFUSED
        "the description of the cells is broken or does not match them"
        SAVE;
    V008 "V008" REFUSED
        "a scene that is not a tree of transforms, groups and shapes"
        SAVE;
    V009 "V009" REFUSED
        "a voxel outside its model or grid"
        SAVE;
    V010 "V010" REFUSED
        "the system could not open or read the file"
        PERMISSIONS;
    W001 "W001" WARNED
        "the mesh extends beyond a grid that was given; the part outside is left out"
        hint!["give a larger grid"];
    W002 "W002" WARNED
        "no cell is occupied: the mesh is outside the grid, lies on its walls, is thinner than the cells, or a flood leaked; \
            or all cells of one of several meshes belong to others"
        hint!["{} has every cell that the mesh overlaps" Filled; "check {}, {} and {}" Bounds, Ties, Inside];
    W003 "W003" WARNED
        "the extension of the output belongs to another format than its content"
        hint!["make {} and {} agree" Output, OutputFormat];
    W004 "W004" WARNED
        "the format may not hold the grid, or programs that read it may not show all of it"
        hint!["make the grid smaller, or save it in another format"];
    W005 "W005" WARNED
        "the output pipe was closed early"
        hint!["none, if this was intended"];
    W006 "W006" WARNED
        "the mesh is not closed, or not consistently oriented where the method needs it: the inside is ambiguous"
        CLOSE;
    W007 "W007" WARNED
        "the flood entered the mesh through a hole larger than a cell, or where the grid cuts the mesh"
        hint!["close the hole" | "use larger cells" | "use {}" CloseHoles | "use another {}" Inside];
    W008 "W008" WARNED
        "the three axes disagree on the inside"
        hint!["{} repairs what it can" Inside = "robust"];
    W009 "W009" WARNED
        "components that solid loses, as they contain no cell centre, or breaks into several pieces"
        SMALLER;
    W010 "W010" WARNED
        "the search for lost features was skipped, as memory is short or regions are made alone"
        hint!["raise {}" MaxMemory | "use {}, which loses nothing" Filled];
    W011 "W011" WARNED
        "thin places that solid loses, such as ribs, at least four cells long"
        SMALLER;
    W012 "W012" WARNED
        "the disk has less free space than the output takes"
        hint!["write elsewhere: {}" Output = "PATH" | "use larger cells"];
    W013 "W013" NOTED
        "every triangle occurs in both directions, so lines through the mesh find nothing inside"
        hint!["none: robust is used, which counts each triangle once"];
    W014 "W014" WARNED
        "more pairs of triangles come close than are examined: counts of pairs that meet, and of thin walls, are lower bounds"
        hint!["{} examines all of them" MaxPairs = "all"];
    W015 "W015" WARNED
        "the mesh has more colours than 255 labels tell apart: those that are alike are merged"
        hint!["none: each cell has the colour that is closest to its own"];
    W016 "W016" WARNED
        "parts of the mesh overlap or are inside out: the winding number is not 0 or 1 in some cells, and their shares are those of the union"
        hint!["unite the parts where they were made" | "{} orients them" Inside = "robust"];
    W017 "W017" WARNED
        "the last layer of cells is reached only by the rounding of coordinates to floats"
        hint!["{} puts walls where the decimals of its low corner are" Origin = "X,Y,Z"];
    W018 "W018" WARNED
        "the axes of the image whose grid is taken run other ways than those of the output, x, y and z, or are not known"
        hint!["resample one file onto the other by their headers before cells are combined"];
    W019 "W019" WARNED
        "programs that read the file take its coordinates as those of another unit, or another axis as up; it cannot say which"
        hint!["voxelize the mesh with {} and {}" Scale, Unit; "or with {}" Axes = "x,-z,y"];
    W020 "W020" WARNED
        "the unit that is given is not that which the file states"
        hint!["{} scales coordinates, {} scales none" Scale, Unit];
    W021 "W021" WARNED
        "the mesh is smaller than a cell along every axis: it may be in another unit than the grid"
        hint!["{} converts it" Scale];
    W022 "W022" WARNED
        "the radius is longer than the mesh: it may be in another unit, and the grid has many cells around the mesh"
        hint!["{} is two cells" Radius = "2vx"];
    W023 "W023" WARNED
        "the mesh has negative volumes, which are not subtracted here: the rules solid and filled subtract them, and fraction where no body overlaps one that is cut"
        hint!["{} or {} subtracts them" Solid, Filled];
    W024 "W024" NOTED
        "parts are closed together, and not each alone: they are filled as one body, and each cell has the label of the nearest face"
        hint!["none, if they are the faces of one body"; "{} has the cells of each part's surface" Rule = "surface"];
    W025 "W025" WARNED
        "the elements of a finite element mesh form several pieces that share no face, or hang together in edges or vertices alone"
        hint!["use smaller cells" | "{}, which has every cell that the mesh overlaps" Filled; "remove small parts of the mesh, which {} lists" Info = "MESH"];
    BadList "bad-list" REFUSED
        "a list of file names that holds other data"
        hint!["write one name per line"; "{} if the names end in NUL" NulNames];
    ClosedPipe "closed-pipe" REFUSED
        "the output pipe was closed early"
        hint!["none: this is not a failure"];
    Exists "exists" REFUSED
        "a file that no option names exists, and has no record that this tool made it"
        hint!["{} replaces it, or names another file" Output = "PATH"];
    Folder "folder" REFUSED
        "a folder where a file is expected"
        hint!["name a file"];
    Internal "internal" REFUSED
        "a bug in voxelize: the work on a mesh, a case or a command stopped unexpectedly"
        hint!["this is a bug: please report it with the command, the file and the version"];
    Interrupted "interrupted" REFUSED
        "a signal or the caller interrupted the run"
        &[];
    NoMeshes "no-meshes" REFUSED
        "the list has no names"
        hint!["write one name per line"];
    NotFound "not-found" REFUSED
        "no such file"
        hint!["check its name"];
    Output "output" REFUSED
        "the output could not be written"
        hint!["write elsewhere: {}" Output = "PATH"];
    TooLarge "too-large" REFUSED
        "the work exceeds the memory, or the grid exceeds a limit of the format"
        hint!["make the cells larger" | "raise {}" MaxMemory];
    Unfit "unfit" REFUSED
        "the mesh is unfit for the rule: it has no triangles, or no size to divide"
        hint!["{} describes it" Info = "MESH"];
    Unreadable "unreadable" REFUSED
        "the system denies access to the file"
        hint!["check its permissions"];
    Usage "usage" REFUSED
        "options that conflict, or a value out of range"
        hint!["{} shows every option" Help];
}

impl Code {
    /// Returns the row of the table for this code.
    pub fn info(self) -> &'static CodeInfo {
        &CODES[self as usize]
    }

    /// Returns the name, such as `S004` or `not-found`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the code with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let row = CODES.iter().find(|row| row.name == name)?;
        Some(row.code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_know_their_rows() {
        assert!(CODES.len() > 10);
        assert!(CODES.windows(2).all(|pair| pair[0].name < pair[1].name));
        for row in CODES {
            assert_eq!(
                (row.code.info().name, Code::from_name(row.name)),
                (row.name, Some(row.code))
            );
        }
    }
}
