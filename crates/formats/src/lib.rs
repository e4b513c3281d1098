//! Voxel formats: one file each, with its byte layout in a table on top, and the table of them all.
//!
//! Help, sniffing, tests and documentation loop over [`FORMATS`]; a new format is one file and one
//! row. Cells are streamed a block at a time; a grid is never copied as bytes. Every format takes
//! [`CellSource`], so that a grid beyond memory is written as one that is whole.
//!
//! Findings in files that are read have the codes V001 and on of [`CODES`](voxelize_core::CODES).
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(
    not(all(feature = "npz", feature = "vox", feature = "vti")),
    allow(dead_code, reason = "parts that only formats behind features use")
)]

mod ahead;
mod arrays;
mod binvox;
mod bt;
mod choice;
mod comments;
#[cfg(feature = "npz")]
mod container;
mod dense;
mod faces;
mod hexahedra;
mod image;
mod nifti;
#[doc(hidden)]
pub mod npy;
#[cfg(feature = "npz")]
mod npz;
mod nrrd;
mod open;
mod packed;
#[doc(hidden)]
pub mod place;
mod point_cloud;
mod points;
mod raw;
mod room;
mod runs;
mod save;
mod schem;
#[doc(hidden)]
pub mod several;
mod shares;
mod slices;
mod steps;
mod values;
mod vdb;
#[cfg(feature = "vox")]
mod vox;
mod voxels;
#[cfg(feature = "vti")]
mod vti;
mod vtk_xml;
#[doc(hidden)]
pub mod zarr;

use std::io;
use std::path::{Path, PathBuf};

pub use self::choice::Choice;
pub use self::image::{IMAGE_AXES, UNKNOWN_AXES, UNREAD_TYPE};
#[cfg(feature = "npz")]
pub use self::npz::GridStack;
pub use self::open::{Description, describe, open, open_within, read_from, sniff};
#[doc(hidden)]
pub use self::open::{made_by_this_tool, may_be_of_this_tool};
pub use self::save::{PendingNames, save, save_source, write_source_to, write_to};
#[doc(hidden)]
pub use self::save::{probe_output, save_bytes};
pub use self::shares::check_rule as check_rule_of_bytes;
pub use self::voxels::{InMemory, Voxels};

/// The entry of the [metadata](voxelize_core::grid::metadata::Metadata::extra) of a file that names the arrays beside its cells.
pub const ARRAYS: &str = "arrays";

use self::open::VoxelSource;
use self::save::Sink;
use self::several::{Companions, FolderLayout, NewFolder};
use voxelize_core::error::{Error, Finding, Result};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{CellKind, CellSource, CellType, Digest, Lattice, MAX_DIM};
use voxelize_core::par::Progress;

/// One voxel format.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// The file name extensions that mean it, lower case; the first is the usual one.
    pub extensions: &'static [&'static str],
    /// One line about it, for help.
    pub about: &'static str,
    /// Where the lattice is kept.
    pub carries: Carries,
    /// What programs that read it take for granted, as [entries of a record](voxelize_core::grid::Record::transform): the unit, the axis that
    /// points up. The format has no place to say others.
    pub assumes: &'static [(&'static str, &'static str)],
    /// The kinds of cells it holds.
    pub kinds: &'static [CellKind],
    /// The types of numbers for bits and labels; the first is the default. A field is stored as [`Dtype::F32`]; one of
    /// shares of cells as [`Dtype::U8`], too, if it [is asked for](Self::has_bytes_of_shares).
    pub dtypes: &'static [Dtype],
    /// The most bytes that a file may have, where the format has a limit.
    pub max_bytes: Option<u64>,
    /// What it leaves to choose; see [`SaveOptions::choices`].
    pub choices: &'static [Choice],
    /// Slabs to write from have a multiple of so many layers, save the last.
    pub slab_layers: usize,
    /// First bytes by which content is known; none if it has no mark.
    magic: &'static [&'static [u8]],
    /// First bytes that other files have as well: a file of this format has its extension, too.
    weak_magic: &'static [&'static [u8]],
    limits: fn(Option<&Lattice>, &[Choice]) -> Result<()>,
    /// The findings about a lattice, whose cells stand in the file with so many along each axis.
    warnings: fn(&Lattice, [usize; 3]) -> Vec<Finding>,
    /// The size of a file, where that is known.
    size: SizeOf,
    /// What writing takes beside the cells.
    memory: MemoryOf,
    write: Write,
    /// Adds to a sidecar what a reader needs to know of this format.
    annotate: fn(Dtype, &mut Metadata),
    /// How it is read; none if it is only written.
    reader: Option<Reader>,
    /// Recognises a file that this tool wrote by its first 4 KiB. Formats with a reader are recognised by their metadata.
    is_ours: fn(&[u8]) -> bool,
}

/// The size of a file, by dims, type, how many cells are occupied, and choices.
type SizeOf = fn([usize; 3], Dtype, Option<u64>, &[Choice]) -> Option<FileSize>;

/// The memory that writing takes at most beside the cells, in bytes, by dims, type, threads, and choices. Some rows of
/// cells, and [`save`]'s buffer, are not in it.
type MemoryOf = fn([usize; 3], Dtype, usize, &[Choice]) -> u64;

/// How a format is read.
struct Reader {
    cells: fn(&mut VoxelSource) -> Result<Voxels>,
    /// The description of the file, without its cells.
    describe: fn(&mut VoxelSource) -> Result<Metadata>,
}

/// How a format is written.
enum Write {
    /// In one go.
    Forward(fn(&mut dyn CellSource, &mut dyn io::Write, Dtype, &SaveOptions) -> io::Result<()>),
    /// By going back to fill in sizes.
    Seeking(fn(&mut dyn CellSource, &mut dyn Sink, Dtype, &SaveOptions) -> io::Result<()>),
    /// With other files beside it: their paths, and how all are written.
    Several(fn(&Path, &OutputShape) -> Vec<PathBuf>, WriteSeveral),
    /// As files of a folder.
    Folder(
        &'static FolderLayout,
        fn(&mut dyn CellSource, &NewFolder, Dtype, &SaveOptions) -> io::Result<()>,
    ),
}

/// Writes a file, whose path comes with what its companions go to.
type WriteSeveral = fn(
    &mut dyn CellSource,
    &mut dyn Sink,
    Dtype,
    &SaveOptions,
    (&Path, &Companions),
) -> io::Result<()>;

/// What an output is to hold, before it is computed.
#[derive(Debug, Clone, Copy)]
pub struct OutputShape<'a> {
    /// The kind of its cells.
    pub kind: CellKind,
    /// Cells per axis.
    pub dims: [usize; 3],
    /// Whether y points up, not z.
    pub is_y_up: bool,
    /// What is chosen for its format.
    pub choices: &'a [Choice],
}

/// Every voxel format.
pub static FORMATS: &[Format] = &[
    #[cfg(feature = "vox")]
    vox::FORMAT,
    npy::FORMAT,
    #[cfg(feature = "npz")]
    npz::FORMAT,
    nrrd::FORMAT,
    nifti::FORMAT,
    nifti::PACKED,
    #[cfg(feature = "vti")]
    vti::FORMAT,
    vdb::FORMAT,
    binvox::FORMAT,
    points::XYZ,
    points::CSV,
    bt::FORMAT,
    hexahedra::VTU,
    hexahedra::INP,
    schem::FORMAT,
    faces::PLY,
    faces::OBJ,
    faces::STL,
    faces::GLB,
    zarr::FORMAT,
    slices::FORMAT,
    #[cfg(feature = "npz")]
    slices::ZIP,
    raw::FORMAT,
];

/// The slabs of a format that takes the whole grid at once.
const WHOLE: usize = MAX_DIM;

/// Where a format keeps the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carries {
    /// In the file itself.
    InFile,
    /// In the file itself, but as rounded numbers and without the rest; exactly in a sidecar, if one is requested.
    Rounded,
    /// In `NAME.ext.json`, which is always written.
    Sidecar,
    /// Nowhere, unless a sidecar is requested.
    SidecarOnRequest,
}

/// The type of number of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dtype {
    /// A byte of type bool: whether the cell is occupied. Labels lose their values.
    Bool,
    /// A byte of type unsigned integer: 0 for an empty cell, 1 for an occupied one, or its label; of a share of a cell,
    /// the nearest 255th.
    U8,
    /// A byte of type signed integer: the same, for labels up to 127; see [`SaveOptions::values`].
    I8,
    /// One bit: whether the cell is occupied. Labels lose their values.
    Bit,
    /// A 32-bit float, of fields alone.
    F32,
}

/// The size of a file before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSize {
    /// Near this, but for a header.
    About(u64),
    /// Not above this, but for a header.
    AtMost(u64),
}

impl FileSize {
    fn about(bytes: u128) -> Self {
        Self::About(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    fn at_most(bytes: u128) -> Self {
        Self::AtMost(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// The size with so many bytes more, at most.
    #[must_use]
    pub fn and_at_most(self, bytes: u64) -> Self {
        match bytes {
            0 => self,
            _ => Self::AtMost(self.bytes().saturating_add(bytes)),
        }
    }

    /// The number of bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::About(bytes) | Self::AtMost(bytes) => bytes,
        }
    }
}

impl Dtype {
    const ALL: [Self; 5] = [Self::Bool, Self::U8, Self::I8, Self::Bit, Self::F32];

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::Bit => "bit",
            Self::F32 => "f32",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }
}

/// Whether a sidecar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sidecar {
    /// Where the format needs one.
    #[default]
    Auto,
    /// Always.
    Write,
}

/// The faults that a saved file survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A power failure: the file is on the disk before it has its name, and its name before saving ends.
    #[default]
    Synced,
    /// The end of this process, however that comes. Saving is done before the disk is.
    Unsynced,
}

/// The fate of a file that is already at the path of an output.
#[derive(Debug, Clone, Copy, Default)]
pub enum Existing {
    /// It is replaced.
    #[default]
    Replace,
    /// It is replaced if this function of its path says so. Otherwise it stays, even if it appears while the output is
    /// made, and saving fails with [`Code::Exists`](voxelize_core::Code::Exists).
    ReplaceIf(fn(&Path) -> bool),
}

/// How to save. The default is the usual type of the format, a sidecar where it needs one, on the disk, in place of an
/// older file, silence.
#[derive(Clone, Copy)]
pub struct SaveOptions<'a> {
    /// The type of number of a cell; `None` for the default of the format.
    pub dtype: Option<Dtype>,
    /// What else is chosen, of [`Format::choices`].
    pub choices: &'a [Choice],
    /// The numbers that empty cells and labels 1, 2, … are stored as, where [`Format::takes_values`]; of two, the second is
    /// that of all occupied cells. None: 0, 1, 2, ….
    pub values: &'a [i16],
    /// Bits are a segment, which is named after the input: of a path that ends in `.seg.nrrd`.
    pub is_segmentation: bool,
    /// Whether a sidecar is written.
    pub sidecar: Sidecar,
    /// The faults that the files survive.
    pub durability: Durability,
    /// The fate of an older file.
    pub existing: Existing,
    /// Takes the files when they are whole: they are put on the disk and get their names by [`PendingNames::give`]. `None`:
    /// before saving ends.
    pub later: Option<&'a PendingNames>,
    /// Reports progress, and may cancel.
    pub progress: &'a dyn Progress,
}

impl SaveOptions<'_> {
    /// Whether this is chosen.
    fn has(&self, choice: Choice) -> bool {
        self.choices.contains(&choice)
    }
}

impl Default for SaveOptions<'_> {
    fn default() -> Self {
        Self {
            dtype: None,
            choices: &[],
            values: &[],
            is_segmentation: false,
            sidecar: Sidecar::default(),
            durability: Durability::default(),
            existing: Existing::default(),
            later: None,
            progress: &(),
        }
    }
}

/// One file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The path as requested.
    pub path: PathBuf,
    /// The name of the format; `json` for a sidecar.
    pub format: &'static str,
    /// Its length.
    pub bytes: u64,
}

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format that the extension of `path` means, upper or lower case.
pub fn by_path(path: &Path) -> Option<&'static Format> {
    // What is no UTF-8 is before the extension, or there is none of ours.
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let is_named = |extension: &&str| {
        name.strip_suffix(extension)
            .is_some_and(|stem| stem.len() > 1 && stem.ends_with('.'))
    };
    let length = |format: &&Format| {
        format
            .extensions
            .iter()
            .filter(|e| is_named(e))
            .map(|e| e.len())
            .max()
    };
    FORMATS
        .iter()
        .filter(|format| length(format).is_some())
        .max_by_key(length)
}

/// The format that the extension of `path` names.
///
/// # Errors
/// If no format has the extension.
pub fn named_by(path: &Path) -> Result<&'static Format> {
    by_path(path).ok_or_else(|| {
        let known: Vec<_> = FORMATS.iter().map(|format| format.extensions[0]).collect();
        Error::usage("no voxel format has this extension")
            .in_file(path)
            .with_hint(format!("the extensions are .{}", known.join(", .")))
    })
}

/// Whether `format` can hold cells of this kind and lattice; to be checked before computing them.
///
/// # Errors
/// If the format does not hold the kind, the cells are not cubes and it cannot say so, or the type is none of
/// the format's.
pub fn check(
    kind: CellKind,
    lattice: &Lattice,
    format: &Format,
    options: &SaveOptions,
) -> Result<()> {
    format.check_choices(options)?;
    format.dtype(kind, options)?;
    (format.limits)(Some(lattice), options.choices)
}

/// The warnings before a grid is saved in `format`; `stands` are its cells along each axis of the file, which differ from
/// the lattice's where the format turns the grid.
pub fn warnings(lattice: &Lattice, stands: [usize; 3], format: &Format) -> Vec<Finding> {
    (format.warnings)(lattice, stands)
}

impl Format {
    /// What most formats have in common: every kind of cells, a lattice within the file, no limits, no choices, no mark
    /// of the content, and no reader. A format states the rest, and what it has otherwise.
    const BASE: Self = Self {
        name: "",
        extensions: &[],
        about: "",
        carries: Carries::InFile,
        assumes: &[],
        kinds: &CellKind::ALL,
        dtypes: &[],
        max_bytes: None,
        choices: &[],
        slab_layers: 1,
        magic: &[],
        weak_magic: &[],
        limits: |_, _| Ok(()),
        warnings: |_, _| Vec::new(),
        size: |_, _, _, _| None,
        memory: |_, _, _, _| 0,
        write: Write::Forward(|_, _, _, _| unreachable!("every format has a writer")),
        annotate: |_, _| {},
        reader: None,
        is_ours: |_| false,
    };
}

impl Format {
    /// Whether it holds cells of this kind.
    pub fn holds(&self, kind: CellKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether it holds cells of this kind with these choices.
    pub fn holds_with(&self, kind: CellKind, choices: &[Choice]) -> bool {
        let adds = |choice: &Choice| self.choices.contains(choice) && choice.adds() == Some(kind);
        self.holds(kind) || choices.iter().any(adds)
    }

    /// Refuses cells of a kind that it does not hold.
    ///
    /// # Errors
    /// If it does not hold cells of this kind.
    pub fn check_kind(&self, kind: CellKind) -> Result<()> {
        if self.holds(kind) {
            return Ok(());
        }
        let known: Vec<_> = FORMATS
            .iter()
            .filter(|format| format.holds(kind))
            .map(|f| f.name)
            .collect();
        let kind = kind.plural();
        Err(Error::usage(format!("{} does not hold {kind}", self.name))
            .with_hint(format!("{} hold {kind}", known.join(", "))))
    }

    /// The types that keep all that cells of this kind hold; none if it does not hold them, or only a part.
    pub fn dtypes_of(&self, kind: CellKind) -> &'static [Dtype] {
        match kind {
            _ if !self.holds(kind) => &[],
            CellKind::Bits => self.dtypes,
            CellKind::Labels if !self.dtypes.contains(&Dtype::U8) => &[],
            CellKind::Labels => &[Dtype::U8],
            CellKind::Field => &[Dtype::F32],
        }
    }

    /// The size of a file of cells stored as `dtype`, of which so many are occupied; `None` if that decides it
    /// and is not known.
    pub fn size(
        &self,
        dims: [usize; 3],
        dtype: Dtype,
        occupied: Option<u64>,
        choices: &[Choice],
    ) -> Option<FileSize> {
        (self.size)(dims, dtype, occupied, choices)
    }

    /// Whether its files are read, not only written.
    pub fn is_readable(&self) -> bool {
        self.reader.is_some()
    }

    /// Whether an output is a folder.
    pub fn is_folder(&self) -> bool {
        self.folder().is_some()
    }

    fn folder(&self) -> Option<&'static FolderLayout> {
        match self.write {
            Write::Folder(layout, _) => Some(layout),
            _ => None,
        }
    }

    /// The dims of the grids that are held beside a slab while it is written, by the dims of all.
    pub fn pending(&self, dims: [usize; 3], choices: &[Choice]) -> Vec<[usize; 3]> {
        self.folder()
            .map_or_else(Vec::new, |layout| (layout.pending)(dims, choices))
    }

    /// The bytes that writing takes at most beside the cells and those grids.
    pub fn memory(
        &self,
        dims: [usize; 3],
        dtype: Dtype,
        threads: usize,
        choices: &[Choice],
    ) -> u64 {
        (self.memory)(dims, dtype, threads, choices)
    }

    /// The files that are written beside `path`.
    pub fn companions(&self, path: &Path, shape: &OutputShape) -> Vec<PathBuf> {
        match self.write {
            Write::Several(companions, _) => companions(path, shape),
            _ => Vec::new(),
        }
    }

    /// Refuses choices that it does not give.
    fn check_choices(&self, options: &SaveOptions) -> Result<()> {
        let others = |one: &Choice| {
            options
                .choices
                .iter()
                .any(|two| two != one && two.option() == one.option())
        };
        if let Some(one) = options.choices.iter().find(|choice| others(choice)) {
            return Err(Error::usage(format!(
                "'{}' is one of several choices of one kind",
                one.words()
            )));
        }
        let Some(other) = options
            .choices
            .iter()
            .find(|choice| !self.choices.contains(choice))
        else {
            return Ok(());
        };
        let known: Vec<_> = FORMATS
            .iter()
            .filter(|f| f.choices.contains(other))
            .map(|f| f.name)
            .collect();
        Err(
            Error::usage(format!("{} has no choice '{}'", self.name, other.words()))
                .with_hint(format!("{} have it", known.join(", "))),
        )
    }

    /// The type that cells of this kind are stored as: the type in the options, or the usual.
    fn dtype(&self, kind: CellKind, options: &SaveOptions) -> Result<Dtype> {
        if !self.holds_with(kind, options.choices) {
            self.check_kind(kind)?;
        }
        if let Some((choice, dtype)) = options.choices.iter().find_map(|c| Some((*c, c.dtype()?))) {
            return choice.check(kind, dtype, options.dtype);
        }
        let usual = match kind {
            CellKind::Bits => self.dtypes[0],
            CellKind::Labels => Dtype::U8,
            CellKind::Field => Dtype::F32,
        };
        let dtype = options.dtype.unwrap_or(usual);
        if kind == CellKind::Field && dtype == Dtype::U8 {
            self.check_bytes_of_shares(options)?;
            return Ok(dtype);
        }
        if kind == CellKind::Field && dtype != Dtype::F32 {
            return Err(Error::usage(format!(
                "a field is stored as 'f32', not '{}'",
                dtype.name()
            )));
        }
        if kind == CellKind::Field || self.dtypes.contains(&dtype) {
            self.check_values(dtype, options.values)?;
            return Ok(dtype);
        }
        let known: Vec<_> = self.dtypes.iter().map(|dtype| dtype.name()).collect();
        let first = known.first().unwrap_or(&"");
        let hint = [
            format!("it stores {}", known.join(" or ")),
            format!("`--dtype {first}` writes that"),
        ];
        Err(Error::usage(format!(
            "{} does not store {} as '{}'",
            self.name,
            kind.plural(),
            dtype.name()
        ))
        .with_hint(hint))
    }
}

impl Format {
    /// Whether a file has the exposed faces of cells, whose number is known only once they are made.
    pub fn is_of_faces(&self) -> bool {
        ["ply", "obj", "glb", "stl"].contains(&self.name)
    }

    /// Whether cells are elements of a model that is computed, which shares nodes where they touch.
    pub fn has_elements(&self) -> bool {
        ["inp", "vtu"].contains(&self.name)
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Format({})", self.name)
    }
}

impl Voxels {
    /// Saves to `path`, in the format its extension names, atomically.
    ///
    /// # Errors
    /// If no format has the extension, it cannot hold the grid, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        save(self, path, named_by(path)?, &SaveOptions::default()).map(drop)
    }

    /// Reads a file of any voxel format, with its sidecar if it has one.
    ///
    /// # Errors
    /// If the file cannot be read or is broken.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        open(path.as_ref())
    }
}

/// Refuses cells with sides of different lengths in a format that has one size for all axes.
fn require_cubes(lattice: Option<&Lattice>, extension: &str) -> Result<()> {
    if lattice.is_none_or(Lattice::is_cubic) {
        return Ok(());
    }
    let text = format!("a .{extension} file cannot hold cells that are not cubes");
    Err(Error::usage(text).with_hint("give one cell size for all axes, or save as .npz"))
}

/// The metadata of cells that are stored as `dtype`.
fn metadata(source: &dyn CellSource, dtype: Dtype) -> Metadata {
    let (legend, background) = match source.cell_type() {
        CellType::Labels(legend) if matches!(dtype, Dtype::U8 | Dtype::I8) => {
            (Some(legend.clone()), None)
        }
        CellType::Field { background } => (None, Some(background)),
        _ => (None, None),
    };
    let dims = Some(source.dims());
    let lattice = source.lattice().cloned();
    let record = source.record().clone();
    let mut metadata = Metadata {
        dims,
        lattice,
        record,
        legend,
        background,
        ..Metadata::default()
    };
    if shares::are_bytes(source.cell_type(), dtype) {
        shares::annotate(&mut metadata);
    }
    metadata
}

/// The key for what cells are stored as.
const DTYPE: &str = "dtype";

/// The key for the digest of the cells.
const CELLS: &str = "cells";

/// The key for the digest of the cells and of where they are.
const GRID: &str = "grid";

/// Adds the digests, which are known behind the last slab, to what is known of cells.
fn put_digest(digest: Digest, metadata: &mut Metadata) {
    metadata
        .extra
        .insert(CELLS.into(), digest.cells.to_string());
    metadata
        .extra
        .extend(digest.grid.map(|grid| (GRID.into(), grid.to_string())));
}

/// The key for the choices that a file was written with.
const CHOICES: &str = "choices";

/// The key for the order of the cells, and its value in files of this tool.
const ORDER: [&str; 2] = ["order", "x fastest"];

/// The key for the order of bits in a byte, and its value in files of this tool: the word of `numpy.unpackbits`.
const BIT_ORDER: [&str; 2] = ["bit_order", "little"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_are_found() {
        assert_eq!(by_path(Path::new("a/b.NPZ")).unwrap().name, "npz");
        assert!(
            by_path(Path::new("a/b.raw.json")).is_none() && by_path(Path::new("vox")).is_none()
        );
        for format in FORMATS {
            assert!(std::ptr::eq(by_name(format.name).unwrap(), format));
            assert!(!format.dtypes.is_empty() && !format.about.contains('\n'));
        }
        for dtype in Dtype::ALL {
            assert_eq!(Dtype::from_name(dtype.name()), Some(dtype));
        }
    }
}

/// The names that examples of this package use: those of the package `voxelize-mesh`.
#[doc(hidden)]
pub mod voxelize {
    pub use crate as format;
    pub mod grid {
        pub use crate::{InMemory, Voxels};
        pub use voxelize_core::grid::*;
    }
    pub use crate::Voxels;
    pub use voxelize_core::{BitGrid, Error, Field, Lattice, Result};
}
