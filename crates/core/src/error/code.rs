//! Table of finding codes, with their meanings and advice. Errors, warnings and JSON reports use these codes.
//! The meaning of a code never changes. A test generates docs/reference/findings.md from this table.
//!
//! The letter of a code names its source: `S` mesh readers, `M` the check of meshes, `L` the position of a
//! mesh relative to its lattice, `R` regions of a store, `V` voxel readers, `G` lists of golden digests, and
//! `W` other warnings. Other errors have a word as their code. By default a finding in a mesh file is an
//! error if it could silently change the result. Otherwise it is a warning or a note.

use std::fmt;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// The finding does not affect the result, but other programs may reject the file. Notes are printed only
    /// with the details.
    Note,
    /// The result may differ from the intended one. The run continues.
    Warning,
    /// The run stops.
    Error,
}

impl Severity {
    /// Returns the name of the severity: `note`, `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Entry in the table [`CODES`].
#[derive(Debug)]
pub struct CodeInfo {
    /// Code of the finding.
    pub code: Code,
    /// Name of the code, such as `S004` or `not-found`.
    pub name: &'static str,
    /// Meaning of the code, as a phrase.
    pub finding: &'static str,
    /// Default severity. With the tolerance `Strict`, every finding about a mesh is an error.
    pub severity: Severity,
    /// Severity with the tolerance `Lenient`.
    pub lenient: Severity,
    /// Steps of the [`Hint`](crate::Hint) for this code. Empty if there is no advice.
    pub advice: &'static [&'static str],
}

/// Generates the enum and the table from one list. Each entry has the variant, the name, the severity, the
/// finding and the advice.
macro_rules! codes {
    ($($code:ident $name:literal $severity:ident $finding:literal $advice:expr;)*) => {
        /// Code of an error, a warning or a note. `Display` writes its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!($finding, ".")] $code,)*
        }

        /// All codes, sorted by name.
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

/// Default severity, and severity with the tolerance `Lenient`.
type Severities = (Severity, Severity);
const REFUSED: Severities = (Severity::Error, Severity::Error);
const DAMAGE: Severities = (Severity::Error, Severity::Warning);
const WARNED: Severities = (Severity::Warning, Severity::Warning);
const NOTED: Severities = (Severity::Note, Severity::Note);

type Advice = &'static [&'static str];
const AGAIN: Advice = &[
    "export or copy the file again",
    "`--lenient` keeps its intact triangles",
];
const AGAIN_ALONE: Advice = &["export or copy the file again"];
const CENTRE: Advice =
    &["move the mesh to the origin in the program that made it, and export it again"];
const COPY: Advice = &["save or copy the file again"];
const DROP: Advice = &["export the file again", "`--lenient` drops such facets"];
const EXPORT: Advice = &["export binary STL from the program that made it"];
const FORMATS: Advice = &["`voxelize formats` lists the formats"];
const LINE: Advice = &["correct the line"];
const NOTHING: Advice = &[
    "only `--strict` refuses the file: omit `--strict`, or export the file again if other programs refuse it",
];
const NUMBERS: Advice = &[
    "export the file with numbers such as 1.5 or 1.0e+00",
    "`--lenient` drops such facets",
];
const BIN: Advice =
    &["make the bins again: `voxelize plan MESH … --bin`, with the arguments of the plan"];
const PERMISSIONS: Advice = &["check its name and permissions"];
const MAKE: Advice = &["make the region: `voxelize STORE --region I/N`"];
const REMAKE: Advice = &["make the region again: `voxelize STORE --region I/N`"];
const REPAIR: Advice = &[
    "repair the mesh in the program that made it",
    "`--lenient` drops such triangles",
];
const SAVE: Advice = &["save the file again"];
const SMALLER: Advice = &[
    "use smaller cells",
    "or `--keep-thin` or `--filled`, which keep them",
];
const CLOSE: Advice = &["close the holes", "or choose a method with `--inside`"];
const UNITE: Advice =
    &["unite the parts in the program that made them, if other programs refuse the mesh"];

codes! {
    G001 "G001" REFUSED
        "the list of goldens cannot be read"
        &["`voxelize verify --update LIST MESH` creates one"];
    G002 "G002" REFUSED
        "the list of goldens is not TOML"
        LINE;
    G003 "G003" REFUSED
        "an unknown key"
        LINE;
    G004 "G004" REFUSED
        "a case without a mesh or without an expected result"
        &["add the key that the message names"];
    G005 "G005" REFUSED
        "a value of the wrong kind"
        LINE;
    G006 "G006" REFUSED
        "keys that exclude each other"
        &["remove one of them"];
    G007 "G007" REFUSED
        "two cases have the same mesh and options"
        &["remove one of them"];
    G008 "G008" REFUSED
        "a list without a case"
        &["`voxelize verify --update LIST MESH` adds one"];
    G009 "G009" REFUSED
        "the options of a case are not valid"
        LINE;
    G010 "G010" REFUSED
        "a path in a list leads out of the folder of the list, perhaps through a link"
        &["`--allow-outside` accepts it, but use it only for lists that you trust"];
    L001 "L001" WARNED
        "the mesh is far from the origin: 32-bit floats are more than a hundredth of a cell apart there"
        CENTRE;
    M001 "M001" WARNED
        "duplicate triangles: they have the same three vertices as another triangle, in any order"
        &["remove the copies", "`--inside robust` drops them"];
    M002 "M002" NOTED
        "triangles without area: two equal vertices, or three on one line"
        &["nothing, if the mesh is only filled", "remove them if other programs refuse them"];
    M003 "M003" NOTED
        "needles: triangles more than 1000 times as long as high"
        &["nothing, if the mesh is only filled", "remesh them if other programs refuse them"];
    M004 "M004" WARNED
        "open edges: edges that occur in an odd number of triangles; they form loops"
        CLOSE;
    M005 "M005" WARNED
        "edges shared by more than two triangles"
        &["for 3MF, separate the parts that meet there"];
    M006 "M006" NOTED
        "vertices whose triangles form more than one fan"
        &["separate the parts that meet there, if other programs refuse them"];
    M007 "M007" WARNED
        "edges whose numbers of occurrences in the two directions differ by at least two: their triangles are inconsistently oriented"
        &["orient them in the program that made them", "`--inside robust` orients them for a fill"];
    M008 "M008" WARNED
        "closed shells of negative volume that are not cavities: they are inside out"
        &["flip them in the program that made them", "`--inside robust` flips them for a fill"];
    M009 "M009" WARNED
        "pairs of triangles that pass through each other"
        UNITE;
    M010 "M010" NOTED
        "pairs of triangles that touch in a point or a segment other than a shared vertex or edge"
        &["nothing, if the mesh is only filled", "split the touched triangles if other programs refuse them"];
    M011 "M011" WARNED
        "pairs of triangles that overlap in one plane"
        UNITE;
    M012 "M012" WARNED
        "walls thinner than the smallest side of a cell"
        SMALLER;
    M013 "M013" NOTED
        "edges whose vertices have equal coordinates but different indices in the file"
        &["merge the vertices in the program that made the mesh, if another program identifies vertices by index"];
    R001 "R001" WARNED
        "a region of a store is missing: it has no record in `parts/`"
        MAKE;
    R002 "R002" WARNED
        "a region of a store is damaged: its record or one of its shards was changed or lost after it was written"
        REMAKE;
    R003 "R003" WARNED
        "a region of a store is stale: its record belongs to another plan or mesh"
        REMAKE;
    R004 "R004" REFUSED
        "the mesh differs from the mesh of the plan of a store"
        &["`--mesh FILE` names the original mesh if it has moved", "or plan a store of this mesh in a new folder"];
    R005 "R005" REFUSED
        "a bin of a store, which has the triangles of a region, is missing or damaged"
        BIN;
    S001 "S001" REFUSED
        "the file is empty"
        AGAIN_ALONE;
    S002 "S002" REFUSED
        "no known mesh format: the file is text that is neither ASCII STL, which begins with `solid`, nor OBJ, or it is \
            binary and its length does not match a binary STL"
        EXPORT;
    S003 "S003" DAMAGE
        "the file is cut short: bytes or words are missing"
        AGAIN;
    S004 "S004" DAMAGE
        "a vertex is NaN or infinite, or too large for a 32-bit float"
        REPAIR;
    S005 "S005" DAMAGE
        "bytes follow the last triangle, or the stated number of triangles is too low"
        AGAIN;
    S006 "S006" DAMAGE
        "text that is not a valid facet, such as a loop of four vertices in ASCII STL, a missing `endfacet` or a polygon with \
            two corners"
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
        &["name a mesh"];
    S011 "S011" REFUSED
        "gzip data that does not decompress, or whose checksum is wrong"
        AGAIN_ALONE;
    S012 "S012" DAMAGE
        "a polygon refers to a vertex that does not exist"
        DROP;
    S101 "S101" NOTED
        "a binary STL whose header begins with `solid`, as in ASCII STL"
        NOTHING;
    S102 "S102" NOTED
        "colours in a binary STL: attribute bytes that are not zero, or a header with `COLOR=` or `MATERIAL=`"
        NOTHING;
    S103 "S103" NOTED
        "a normal that is missing, malformed, NaN or infinite"
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
        "skins, morph targets or animations that are applied only in part: animations are not played, weights that do \
            not sum to 1 are divided by their sum, and a primitive without joints is placed by its node"
        &["export the mesh in the desired pose, without animation"];
    S109 "S109" WARNED
        "modifiers and supports of a 3MF, which are left out"
        &["nothing, if they do not belong to the part", "otherwise make them separate objects in the slicer"];
    S110 "S110" NOTED
        "a material file or a texture cannot be read, so colours are unknown"
        &["keep the file next to the mesh", "textures must be PNG, JPEG or WebP"];
    S111 "S111" NOTED
        "negative volumes of a slicer, which the rules solid and filled subtract"
        NOTHING;
    S112 "S112" WARNED
        "items of a 3MF that are marked as not printable, and are read anyway"
        &["remove them in the program that made the file, if they are not wanted"];
    S113 "S113" WARNED
        "settings of a slicer that cannot be read, or that do not fit the model"
        &["save the project again in the slicer"];
    S120 "S120" WARNED
        "hidden nodes of a glTF, which are left out"
        &["make them visible and export again, if they belong to the mesh"];
    S121 "S121" WARNED
        "meshes of a glTF that are not used in its default scene, and are left out"
        &["add them to the default scene and export again, if they belong to the mesh"];
    V001 "V001" REFUSED
        "neither the content nor the name of the file belongs to a known voxel format"
        FORMATS;
    V002 "V002" REFUSED
        "the voxel file ends early"
        COPY;
    V003 "V003" REFUSED
        "a header or a compressed stream of a voxel file is broken"
        COPY;
    V004 "V004" REFUSED
        "a valid file without usable cells: its numbers have an unsupported type, it has an unsupported number of axes, \
            or it has voxels where a mesh is expected"
        FORMATS;
    V005 "V005" REFUSED
        "the length of the file does not match the size of the grid"
        COPY;
    V006 "V006" REFUSED
        "the sidecar with the size of the grid is missing"
        &["copy the sidecar as well"];
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
        "the mesh extends beyond the given grid; the part outside is left out"
        &["give a larger grid"];
    W002 "W002" WARNED
        "no cell is occupied: the mesh is outside the grid, lies on its walls, is thinner than the cells, or a flood leaked; \
            or one of several meshes has no cells, because they are all assigned to other meshes"
        &["`--filled` occupies every cell that the mesh overlaps", "check `--bounds`, `--ties` and `--inside`"];
    W003 "W003" WARNED
        "the file extension of the output belongs to another format than its content"
        &["make `-o` and `-f` agree"];
    W004 "W004" WARNED
        "the format may be unable to store the grid, or programs that read it may not show all of it"
        &["make the grid smaller, or save it in another format"];
    W005 "W005" WARNED
        "the output pipe was closed early"
        &["nothing, if this was intended"];
    W006 "W006" WARNED
        "the mesh is not closed, or not consistently oriented where the method needs it: the inside is ambiguous"
        CLOSE;
    W007 "W007" WARNED
        "the flood entered the mesh through a hole larger than a cell, or where the grid cuts the mesh"
        &["close the hole", "or use larger cells", "or use `--close-holes`", "or use another `--inside`"];
    W008 "W008" WARNED
        "rays along the three axes disagree about what is inside"
        &["`--inside robust` repairs the mesh as far as possible"];
    W009 "W009" WARNED
        "components that the rule solid loses because they contain no cell centre, or that it splits into several pieces"
        SMALLER;
    W010 "W010" WARNED
        "the search for lost features was skipped: there is too little memory, or each region is made without its neighbours"
        &["raise `--max-memory`", "or use `--filled`, which loses nothing"];
    W011 "W011" WARNED
        "thin places at least four cells long, such as ribs, that the rule solid loses"
        SMALLER;
    W012 "W012" WARNED
        "the disk has less free space than the output takes"
        &["write elsewhere: `-o PATH`", "or use larger cells"];
    W013 "W013" NOTED
        "every triangle occurs in both orientations, so they cancel and nothing is inside"
        &["nothing: robust is used, which counts each triangle once"];
    W014 "W014" WARNED
        "the maximum number of pairs of triangles was examined: the counts of meeting pairs and of thin walls are lower bounds"
        &["`--max-pairs all` examines all of them"];
    W015 "W015" WARNED
        "the mesh has more colours than 255 labels can distinguish: similar colours are merged"
        &["nothing: each cell has the label whose colour is closest to its own"];
    W016 "W016" WARNED
        "parts of the mesh overlap or are inside out: the winding number in some cells is neither 0 nor 1. These cells get the \
            share that the union of the parts occupies"
        &["unite the parts in the program that made them", "or use `--inside robust`, which orients them"];
    W017 "W017" WARNED
        "the mesh reaches the last layer of cells, or with `--filled` another layer, only because coordinates are rounded to floats"
        &["give the lowest corner of the mesh, or 0,0,0, in decimals with `--origin X,Y,Z`, so that cell walls coincide with faces"];
    W018 "W018" WARNED
        "the image whose grid is used has other axes than the output (x, y, z), or its axes are unknown"
        &["save as `.nii.gz` or `.nrrd`, which keep the array of the scan"];
    W019 "W019" WARNED
        "programs that read the file assume another unit of its coordinates or another axis as up; the format cannot record them"
        &["voxelize the mesh with `--scale` and `--unit`", "or with `--axes x,-z,y`"];
    W020 "W020" WARNED
        "the given unit differs from the unit that the file states"
        &["use `--scale` to convert coordinates", "`--unit` only states the unit"];
    W021 "W021" WARNED
        "the mesh is smaller than a cell along every axis: it may be in another unit than the grid"
        &["`--scale` converts coordinates"];
    W022 "W022" WARNED
        "the radius is longer than the mesh: it may be in another unit, and the grid has many cells around the mesh"
        &["`--radius 2vx` sets the radius to two cells"];
    W023 "W023" WARNED
        "the mesh has negative volumes, which are not subtracted here. The rules solid and filled subtract them. The rule \
            fraction does too, unless a body with negative volumes may overlap another body"
        &["`--solid` or `--filled` subtracts them"];
    W024 "W024" NOTED
        "the parts are closed only together, or share open edges: they are filled as one body, and each cell has the label of the nearest face"
        &["nothing, if they are the faces of one body", "`--rule surface` marks the surface of each part"];
    W025 "W025" WARNED
        "the elements of a finite element mesh form several pieces that share no face, or are connected only at edges or vertices"
        &["use smaller cells", "or `--filled`, which occupies every cell that the mesh overlaps", "remove small parts of the mesh, which `voxelize info MESH` lists"];
    W026 "W026" NOTED
        "the mesh has colours, materials or objects, and the output could hold them, but they are left out"
        &["`--labels colour` keeps the colours", "`--labels material` keeps the materials", "`--labels object` keeps the objects", "nothing, if only the shape matters"];
    BadList "bad-list" REFUSED
        "a list of file names that contains other data"
        &["write one name per line", "or use `-0` if the names end in NUL"];
    BadScene "bad-scene" REFUSED
        "the file of `--scene` is not a list of meshes with their poses"
        &["write [[mesh]] tables with file, name, rotate, translate and the other keys of a pose"];
    ClosedPipe "closed-pipe" REFUSED
        "the output pipe was closed early"
        &["nothing: this is not a failure"];
    Exists "exists" REFUSED
        "the default output file already exists, and nothing in it shows that voxelize wrote it"
        &["`-o PATH` replaces the file, or writes another one"];
    Folder "folder" REFUSED
        "a folder where a file is expected"
        &["name a file"];
    Internal "internal" REFUSED
        "a bug in voxelize: the work on a mesh, a case or a command stopped unexpectedly"
        &["this is a bug: please report it with the command, the file and the version"];
    Interrupted "interrupted" REFUSED
        "a signal or the caller interrupted the run"
        &[];
    NoMeshes "no-meshes" REFUSED
        "the list has no names"
        &["write one name per line"];
    NotFound "not-found" REFUSED
        "no such file"
        &["check its name"];
    Output "output" REFUSED
        "the output could not be written"
        &["write elsewhere: `-o PATH`"];
    TooLarge "too-large" REFUSED
        "the work exceeds the memory, or the grid exceeds a limit of the format"
        &["make the cells larger", "or raise `--max-memory`"];
    Unfit "unfit" REFUSED
        "the mesh is unfit for the rule: it has no triangles, or its bounding box has no extent"
        &["export the mesh again", "`voxelize info MESH` describes the mesh"];
    Unreadable "unreadable" REFUSED
        "the system denies access to the file"
        &["check its permissions"];
    Usage "usage" REFUSED
        "options that conflict, or a value out of range"
        &["`voxelize --help` shows every option"];
}

impl Code {
    /// Returns the entry of this code in the table.
    pub fn info(self) -> &'static CodeInfo {
        &CODES[self as usize]
    }

    /// Returns the name of the code, such as `S004` or `not-found`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the code with this name. `None` if there is no such code.
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
