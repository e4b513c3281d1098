//! Voxel formats: one file each, with its byte layout in a table on top, and the table [`FORMATS`].
//!
//! Help, sniffing, tests and documentation loop over [`FORMATS`]. A new format is one file and one row. Cells
//! are streamed a block at a time; a grid is never copied as bytes. Every format takes a [`CellSource`], so
//! that a grid beyond memory is written like a grid in memory.
//!
//! Findings in files that are read have codes from V001 on of [`CODES`](voxelize_core::CODES).
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

/// Key in the [metadata](voxelize_core::grid::metadata::Metadata::extra) of a file for the names of the
/// arrays next to its cells.
pub const ARRAYS: &str = "arrays";

use self::open::VoxelSource;
use self::save::Sink;
use self::several::{Companions, FolderLayout, NewFolder};
use voxelize_core::error::{Error, Finding, Result};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{CellKind, CellSource, CellType, Digest, Lattice, MAX_DIM};
use voxelize_core::par::Progress;

/// Voxel format.
pub struct Format {
    /// Name on the command line.
    pub name: &'static str,
    /// File name extensions in lower case. The first is the usual one.
    pub extensions: &'static [&'static str],
    /// Description in one line, for help.
    pub about: &'static str,
    /// Place of the lattice.
    pub carries: Carries,
    /// Assumptions of programs that read the format, as [entries of a
    /// record](voxelize_core::grid::Record::transform): the unit, and the axis that points up. The format has
    /// no place for other values.
    pub assumes: &'static [(&'static str, &'static str)],
    /// Kinds of cells that the format holds.
    pub kinds: &'static [CellKind],
    /// Types of numbers for bits and labels. The first is the default. A field is stored as [`Dtype::F32`]. A
    /// field of shares of cells may also be stored as [`Dtype::U8`], [on request](Self::has_bytes_of_shares).
    pub dtypes: &'static [Dtype],
    /// Maximum size of a file in bytes. `None` for a format without a limit.
    pub max_bytes: Option<u64>,
    /// Choices of the format; see [`SaveOptions::choices`].
    pub choices: &'static [Choice],
    /// Slabs to write from have a multiple of this number of layers, except the last.
    pub slab_layers: usize,
    /// First bytes by which content is recognised. Empty if the format has no mark.
    magic: &'static [&'static [u8]],
    /// First bytes that other formats share. A file of this format must also have its extension.
    weak_magic: &'static [&'static [u8]],
    limits: fn(Option<&Lattice>, &[Choice]) -> Result<()>,
    /// Returns the findings about a lattice, given the number of cells along each axis of the file.
    warnings: fn(&Lattice, [usize; 3]) -> Vec<Finding>,
    /// Size of a file, if known.
    size: SizeOf,
    /// Memory for writing, besides the cells.
    memory: MemoryOf,
    write: Write,
    /// Adds to a sidecar the entries that readers of this format need.
    annotate: fn(Dtype, &mut Metadata),
    /// Reader. `None` for a format that is only written.
    reader: Option<Reader>,
    /// Recognises a file that this tool wrote by its first 4 KiB. Formats with a reader are recognised by their metadata.
    is_ours: fn(&[u8]) -> bool,
}

/// Size of a file, from dims, type, number of occupied cells, and choices.
type SizeOf = fn([usize; 3], Dtype, Option<u64>, &[Choice]) -> Option<FileSize>;

/// Upper bound for the memory of writing besides the cells, in bytes, from dims, type, threads, and choices.
/// It leaves out some rows of cells, and the buffer of [`save`].
type MemoryOf = fn([usize; 3], Dtype, usize, &[Choice]) -> u64;

/// Functions that read a format.
struct Reader {
    cells: fn(&mut VoxelSource) -> Result<Voxels>,
    /// Returns the description of the file, without its cells.
    describe: fn(&mut VoxelSource) -> Result<Metadata>,
}

/// Way of writing a format.
enum Write {
    /// From start to end.
    Forward(fn(&mut dyn CellSource, &mut dyn io::Write, Dtype, &SaveOptions) -> io::Result<()>),
    /// With seeks back to fill in sizes.
    Seeking(fn(&mut dyn CellSource, &mut dyn Sink, Dtype, &SaveOptions) -> io::Result<()>),
    /// With other files next to it: their paths, and the function that writes all files.
    Several(fn(&Path, &OutputShape) -> Vec<PathBuf>, WriteSeveral),
    /// As files of a folder.
    Folder(
        &'static FolderLayout,
        fn(&mut dyn CellSource, &NewFolder, Dtype, &SaveOptions) -> io::Result<()>,
    ),
}

/// Writes a file, given its path and the place of its companions.
type WriteSeveral = fn(
    &mut dyn CellSource,
    &mut dyn Sink,
    Dtype,
    &SaveOptions,
    (&Path, &Companions),
) -> io::Result<()>;

/// Properties of an output, before it is computed.
#[derive(Debug, Clone, Copy)]
pub struct OutputShape<'a> {
    /// Kind of the cells.
    pub kind: CellKind,
    /// Cells per axis.
    pub dims: [usize; 3],
    /// y points up, not z.
    pub is_y_up: bool,
    /// Choices for the format.
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

/// Slab layers of a format that takes the whole grid at once.
const WHOLE: usize = MAX_DIM;

/// Place of the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carries {
    /// In the file itself.
    InFile,
    /// In the file itself, but as rounded numbers and without the rest. A sidecar has the exact lattice, if
    /// requested.
    Rounded,
    /// In `NAME.ext.json`, which is always written.
    Sidecar,
    /// Nowhere, unless a sidecar is requested.
    SidecarOnRequest,
}

/// Type of number of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dtype {
    /// A byte of type bool: 1 for an occupied cell. Labels lose their values.
    Bool,
    /// A byte of type unsigned integer: 0 for an empty cell; 1 or the label for an occupied cell; the nearest
    /// 255th for the share of a cell.
    U8,
    /// A byte of type signed integer, like [`Dtype::U8`] but for labels up to 127; see
    /// [`SaveOptions::values`].
    I8,
    /// One bit: 1 for an occupied cell. Labels lose their values.
    Bit,
    /// A 32-bit float, only for fields.
    F32,
}

/// Size of a file before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSize {
    /// Approximate size, without a header.
    About(u64),
    /// Upper bound, without a header.
    AtMost(u64),
}

impl FileSize {
    fn about(bytes: u128) -> Self {
        Self::About(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    fn at_most(bytes: u128) -> Self {
        Self::AtMost(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// Adds an upper bound for more bytes.
    #[must_use]
    pub fn and_at_most(self, bytes: u64) -> Self {
        match bytes {
            0 => self,
            _ => Self::AtMost(self.bytes().saturating_add(bytes)),
        }
    }

    /// Returns the number of bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::About(bytes) | Self::AtMost(bytes) => bytes,
        }
    }
}

impl Dtype {
    const ALL: [Self; 5] = [Self::Bool, Self::U8, Self::I8, Self::Bit, Self::F32];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::Bit => "bit",
            Self::F32 => "f32",
        }
    }

    /// Returns the type of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }
}

/// Request for a sidecar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sidecar {
    /// Only if the format needs one.
    #[default]
    Auto,
    /// Always.
    Write,
}

/// Failures that a saved file survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A power failure: the file is on the disk before it gets its name, and its name is on the disk before
    /// saving ends.
    #[default]
    Synced,
    /// Any end of this process. Saving may end before the data are on the disk.
    Unsynced,
}

/// Treatment of a file that already exists at the path of an output.
#[derive(Debug, Clone, Copy, Default)]
pub enum Existing {
    /// The file is replaced.
    #[default]
    Replace,
    /// The file is replaced if this function returns true for its path. Otherwise it stays, even if it
    /// appears while the output is made, and saving fails with [`Code::Exists`](voxelize_core::Code::Exists).
    ReplaceIf(fn(&Path) -> bool),
}

/// Options of saving. The defaults: the usual type of the format, a sidecar only if needed, synced to the
/// disk, replacing an older file, without progress.
#[derive(Clone, Copy)]
pub struct SaveOptions<'a> {
    /// Type of number of a cell. `None` for the default of the format.
    pub dtype: Option<Dtype>,
    /// Other choices, from [`Format::choices`].
    pub choices: &'a [Choice],
    /// Numbers to store for empty cells and for labels 1, 2, …, if [`Format::takes_values`]. With two
    /// numbers, the second stands for all occupied cells. Empty for 0, 1, 2, ….
    pub values: &'a [i16],
    /// Bits are stored as a segment that is named after the input, as in files whose name ends in
    /// `.seg.nrrd`.
    pub is_segmentation: bool,
    /// Request for a sidecar.
    pub sidecar: Sidecar,
    /// Failures that the files survive.
    pub durability: Durability,
    /// Treatment of an older file.
    pub existing: Existing,
    /// Collects finished files, which are synced and get their names by [`PendingNames::give`]. `None` to
    /// finish them before saving ends.
    pub later: Option<&'a PendingNames>,
    /// Receives progress, and may cancel.
    pub progress: &'a dyn Progress,
}

impl SaveOptions<'_> {
    /// Returns true for a choice that is set.
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

/// File that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Path as requested.
    pub path: PathBuf,
    /// Name of the format; `json` for a sidecar.
    pub format: &'static str,
    /// Size in bytes.
    pub bytes: u64,
}

/// Returns the format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Returns the format for the extension of `path`, in upper or lower case.
pub fn by_path(path: &Path) -> Option<&'static Format> {
    // Bytes that are not UTF-8 come before the extension, or the extension is not one of ours.
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let mut best = None;
    let mut longest = 0;
    for format in FORMATS {
        for extension in format.extensions {
            let is_named = name
                .strip_suffix(extension)
                .is_some_and(|stem| stem.len() > 1 && stem.ends_with('.'));
            if is_named && extension.len() >= longest {
                best = Some(format);
                longest = extension.len();
            }
        }
    }
    best
}

/// Returns the format for the extension of `path`.
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

/// Checks that `format` can hold cells of this kind and lattice. Call it before computing the cells.
///
/// # Errors
/// If the format does not hold the kind, does not have the type, or holds only cubic cells and these are not
/// cubes.
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

/// Returns the warnings for saving a grid in `format`. `stands` is the number of cells along each axis of the
/// file, which differs from the lattice if the format turns the grid.
pub fn warnings(lattice: &Lattice, stands: [usize; 3], format: &Format) -> Vec<Finding> {
    (format.warnings)(lattice, stands)
}

impl Format {
    /// Common defaults: all kinds of cells, the lattice within the file, no limits, no choices, no mark of
    /// the content, and no reader. A format overrides the rest.
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
    /// Returns true if the format holds cells of this kind.
    pub fn holds(&self, kind: CellKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns true if the format holds cells of this kind with these choices.
    pub fn holds_with(&self, kind: CellKind, choices: &[Choice]) -> bool {
        self.holds(kind)
            || choices
                .iter()
                .any(|choice| self.choices.contains(choice) && choice.adds() == Some(kind))
    }

    /// Checks that the format holds cells of a kind.
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
        Err(
            Error::usage(format!("{} cannot store {kind}", self.name)).with_hint(format!(
                "formats that can store {kind}: {}",
                known.join(", ")
            )),
        )
    }

    /// Returns the types that keep all data of cells of this kind. Empty if the format does not hold them, or
    /// only a part.
    pub fn dtypes_of(&self, kind: CellKind) -> &'static [Dtype] {
        match kind {
            _ if !self.holds(kind) => &[],
            CellKind::Bits => self.dtypes,
            CellKind::Labels if !self.dtypes.contains(&Dtype::U8) => &[],
            CellKind::Labels => &[Dtype::U8],
            CellKind::Field => &[Dtype::F32],
        }
    }

    /// Returns the size of a file of cells stored as `dtype`, from the number of occupied cells. `None` if
    /// the size depends on this number and it is not known.
    pub fn size(
        &self,
        dims: [usize; 3],
        dtype: Dtype,
        occupied: Option<u64>,
        choices: &[Choice],
    ) -> Option<FileSize> {
        (self.size)(dims, dtype, occupied, choices)
    }

    /// Returns true if the format is read, not only written.
    pub fn is_readable(&self) -> bool {
        self.reader.is_some()
    }

    /// Returns true if an output is a folder.
    pub fn is_folder(&self) -> bool {
        self.folder().is_some()
    }

    fn folder(&self) -> Option<&'static FolderLayout> {
        match self.write {
            Write::Folder(layout, _) => Some(layout),
            _ => None,
        }
    }

    /// Returns the dims of the grids that are held next to a slab during writing, from the dims of the whole
    /// grid.
    pub fn pending(&self, dims: [usize; 3], choices: &[Choice]) -> Vec<[usize; 3]> {
        self.folder()
            .map_or_else(Vec::new, |layout| (layout.pending)(dims, choices))
    }

    /// Returns an upper bound for the memory of writing in bytes, besides the cells and the grids of
    /// [`Self::pending`].
    pub fn memory(
        &self,
        dims: [usize; 3],
        dtype: Dtype,
        threads: usize,
        choices: &[Choice],
    ) -> u64 {
        (self.memory)(dims, dtype, threads, choices)
    }

    /// Returns the files that are written next to `path`.
    pub fn companions(&self, path: &Path, shape: &OutputShape) -> Vec<PathBuf> {
        match self.write {
            Write::Several(companions, _) => companions(path, shape),
            _ => Vec::new(),
        }
    }

    /// Checks that the format has the choices, and that they do not conflict.
    fn check_choices(&self, options: &SaveOptions) -> Result<()> {
        for one in options.choices {
            let has_rival = options
                .choices
                .iter()
                .any(|two| two != one && two.option() == one.option());
            if has_rival {
                return Err(Error::usage(format!(
                    "'{}' cannot be combined with another choice of the same option",
                    one.words()
                )));
            }
        }
        for choice in options.choices {
            if self.choices.contains(choice) {
                continue;
            }
            let known: Vec<_> = FORMATS
                .iter()
                .filter(|format| format.choices.contains(choice))
                .map(|format| format.name)
                .collect();
            let text = format!("{} has no choice '{}'", self.name, choice.words());
            return Err(Error::usage(text).with_hint(format!("{} have it", known.join(", "))));
        }
        Ok(())
    }

    /// Returns the type for storing cells of this kind: the type in the options, or the usual type.
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
    /// Returns true if a file has the exposed faces of cells. Their number is known only after they are made.
    pub fn is_of_faces(&self) -> bool {
        ["ply", "obj", "glb", "stl"].contains(&self.name)
    }

    /// Returns true if cells become elements of a simulation model, which share nodes where they touch.
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
    /// Saves to `path`, in the format of its extension, atomically.
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

/// Returns an error for cells with sides of different lengths, for a format that has one size for all axes.
fn require_cubes(lattice: Option<&Lattice>, extension: &str) -> Result<()> {
    if lattice.is_none_or(Lattice::is_cubic) {
        return Ok(());
    }
    let text = format!("a .{extension} file cannot hold cells that are not cubes");
    Err(Error::usage(text).with_hint("give one cell size for all axes, or save as .npz"))
}

/// Returns the metadata of cells that are stored as `dtype`.
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

/// Key for the type of stored cells.
const DTYPE: &str = "dtype";

/// Key for the digest of the cells.
const CELLS: &str = "cells";

/// Key for the digest of the cells and their lattice.
const GRID: &str = "grid";

/// Adds the digests, which are known after the last slab, to the metadata of cells.
fn put_digest(digest: Digest, metadata: &mut Metadata) {
    metadata
        .extra
        .insert(CELLS.into(), digest.cells.to_string());
    metadata
        .extra
        .extend(digest.grid.map(|grid| (GRID.into(), grid.to_string())));
}

/// Key for the choices with which a file was written.
const CHOICES: &str = "choices";

/// Key for the order of the cells, and its value in files of this tool.
const ORDER: [&str; 2] = ["order", "x fastest"];

/// Key for the order of bits in a byte, and its value in files of this tool, a word of `numpy.unpackbits`.
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

/// Names of the package `voxelize-mesh`, for the examples of this package.
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
