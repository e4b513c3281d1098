//! Voxel formats. Each format has its own file, which begins with a table of its byte layout. The table
//! [`FORMATS`] lists all of them.
//!
//! Help, format detection, tests and documentation all iterate over [`FORMATS`], so a new format needs only
//! one file and one row. Cells are written in blocks, and the whole grid is never copied as bytes. Each
//! format reads its cells from a [`CellSource`], so that a grid larger than memory is written in the same way
//! as a grid in memory.
//!
//! Findings of voxel files have the codes V001 and up; see [`CODES`](voxelize_core::CODES).
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
#[doc(hidden)]
pub mod group;
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
mod pgm;
#[doc(hidden)]
pub mod place;
mod png;
mod point_cloud;
mod points;
mod raw;
mod room;
mod runs;
mod save;
mod scan_order;
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
#[doc(hidden)]
pub use self::slices::{MAX_PLATE_SIDE, check_plate, draw_bits};
pub use self::voxels::{InMemory, Voxels};

/// Key in the [metadata](voxelize_core::grid::metadata::Metadata::extra) of a file for the names of the
/// arrays that are stored in addition to its cells.
pub const ARRAYS: &str = "arrays";

use self::open::VoxelSource;
use self::save::Sink;
use self::several::{Companions, FolderLayout, NewFolder};
use voxelize_core::error::{Error, Finding, Result};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{
    CellKind, CellSource, CellType, Digest, Lattice, Legend, MAX_DIM, ScanFrame,
};
use voxelize_core::par::Progress;

/// Voxel format.
pub struct Format {
    /// Name of the format on the command line.
    pub name: &'static str,
    /// File name extensions in lower case. The first one is the default.
    pub extensions: &'static [&'static str],
    /// Description in one line, for help.
    pub about: &'static str,
    /// Where the lattice is stored.
    pub carries: Carries,
    /// Values that programs assume when they read this format: the unit, and the axis that points up. They
    /// are [entries of a record](voxelize_core::grid::Record::transform). The format cannot state other
    /// values.
    pub assumes: &'static [(&'static str, &'static str)],
    /// Kinds of cells that the format can hold.
    pub kinds: &'static [CellKind],
    /// What the format keeps of the frame of a scan.
    pub frames: FrameSupport,
    /// Number types for bits and labels. The first one is the default. A field is stored as [`Dtype::F32`]. A
    /// field of shares of cells can also be stored as [`Dtype::U8`], [on request](Self::has_bytes_of_shares).
    pub dtypes: &'static [Dtype],
    /// Maximum size of a file in bytes. `None` for no limit.
    pub max_bytes: Option<u64>,
    /// Variants of the format that a caller can choose; see [`SaveOptions::choices`].
    pub choices: &'static [Choice],
    /// The format is a map for robots, in which occupied cells are obstacles.
    pub is_map: bool,
    /// Returns, for each label, what it becomes in a file, such as a block of Minecraft. Empty if it stays a label.
    pub label_names: fn(&Legend) -> Vec<(u8, String)>,
    /// The format is written from slabs whose number of layers is a multiple of this number. Only the last
    /// slab may have fewer.
    pub slab_layers: usize,
    /// First bytes by which a file of this format is recognised. Empty if the format has no such bytes.
    magic: &'static [&'static [u8]],
    /// First bytes that other formats also have. A file with these bytes must also have the extension of this
    /// format.
    weak_magic: &'static [&'static [u8]],
    limits: fn(Option<&Lattice>, &[Choice]) -> Result<()>,
    /// Returns the warnings for a lattice. The second argument is the number of cells along each axis of the
    /// file.
    warnings: fn(&Lattice, [usize; 3]) -> Vec<Finding>,
    /// Returns the size of a file, if it is known.
    size: SizeOf,
    /// Returns the memory that writing needs in addition to the cells.
    memory: MemoryOf,
    write: Write,
    /// Adds the entries that readers of this format need to the metadata for a sidecar.
    annotate: fn(Dtype, &mut Metadata),
    /// Functions that read the format. `None` if it is only written.
    reader: Option<Reader>,
    /// Returns `true` if these first 4 KiB are of a file that this tool wrote. Used only for formats without
    /// a reader; files of the others are recognised by their metadata.
    is_ours: fn(&[u8]) -> bool,
}

/// Function that returns the size of a file, given the dims, the number type, the number of occupied cells
/// and the choices.
type SizeOf = fn([usize; 3], Dtype, Option<u64>, &[Choice]) -> Option<FileSize>;

/// Function that returns an upper bound for the memory of writing in bytes, given the dims, the number type,
/// the number of threads and the choices. The bound does not include the cells, a few rows of cells, and the
/// buffer of [`save`].
type MemoryOf = fn([usize; 3], Dtype, usize, &[Choice]) -> u64;

/// Functions that read a format.
struct Reader {
    cells: fn(&mut VoxelSource) -> Result<Voxels>,
    /// Returns the metadata of the file without reading its cells.
    describe: fn(&mut VoxelSource) -> Result<Metadata>,
}

/// How a format is written.
enum Write {
    /// Bytes are written from start to end.
    Forward(fn(&mut dyn CellSource, &mut dyn io::Write, Dtype, &SaveOptions) -> io::Result<()>),
    /// Bytes are written from start to end, then the writer seeks back to fill in sizes.
    Seeking(fn(&mut dyn CellSource, &mut dyn Sink, Dtype, &SaveOptions) -> io::Result<()>),
    /// Other files are written next to the file. The first function returns their paths, the second one
    /// writes all files.
    Several(fn(&Path, &OutputShape) -> Vec<PathBuf>, WriteSeveral),
    /// The output is a folder of several files.
    Folder(
        &'static FolderLayout,
        fn(&mut dyn CellSource, &NewFolder, Dtype, &SaveOptions) -> io::Result<()>,
    ),
}

/// Function that writes a file, given its path and an interface for writing its companion files.
type WriteSeveral = fn(
    &mut dyn CellSource,
    &mut dyn Sink,
    Dtype,
    &SaveOptions,
    (&Path, &Companions),
) -> io::Result<()>;

/// Properties of an output that are known before its cells are computed.
#[derive(Debug, Clone, Copy)]
pub struct OutputShape<'a> {
    /// Kind of the cells.
    pub kind: CellKind,
    /// Number of cells along each axis.
    pub dims: [usize; 3],
    /// The y axis points up instead of z.
    pub is_y_up: bool,
    /// Chosen variants of the format.
    pub choices: &'a [Choice],
}

/// All voxel formats.
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
    pgm::FORMAT,
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

/// Value of `slab_layers` for a format that can be written only from the whole grid.
const WHOLE: usize = MAX_DIM;

/// Where the lattice of a grid is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carries {
    /// In the file, exactly.
    InFile,
    /// In the file, as rounded numbers and without some properties. A sidecar with the exact lattice is
    /// written on request.
    Rounded,
    /// In the sidecar `NAME.ext.json`, which is always written.
    Sidecar,
    /// In the sidecar, which is written only on request. Otherwise the lattice is not stored.
    SidecarOnRequest,
}

/// What a format keeps of the [frame of a scan](ScanFrame).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameSupport {
    /// The header states the frame, and the array has the axes of the scan.
    Header,
    /// The record states the frame. The array has the axes of the lattice.
    Record,
    /// The record states the frame, and the array has the axes of the lattice, which must be x, y and z.
    None,
}

/// Copies that are made to reorder the cells of a grid for the frame of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reordering {
    /// Cells are not reordered.
    Nothing,
    /// Each slab is copied.
    EachSlab,
    /// A few layers of the array are copied at a time, from the whole grid. They take at most this number of
    /// bytes, or a layer if that is larger.
    Parts(u64),
}

/// Number type of a stored cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dtype {
    /// One byte of type bool. 1 is an occupied cell. The values of labels are lost.
    Bool,
    /// Unsigned 8-bit integer. 0 is an empty cell. An occupied cell is 1 or its label. A share of a cell is
    /// rounded to 255ths.
    U8,
    /// Signed 8-bit integer. Like [`Dtype::U8`], but labels are at most 127. See [`SaveOptions::values`].
    I8,
    /// One bit. 1 is an occupied cell. The values of labels are lost.
    Bit,
    /// 32-bit float. Only for fields.
    F32,
}

/// Size of a file that is not written yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSize {
    /// Approximate size in bytes, without a header.
    About(u64),
    /// Upper bound for the size in bytes, without a header.
    AtMost(u64),
}

impl FileSize {
    fn about(bytes: u128) -> Self {
        Self::About(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    fn at_most(bytes: u128) -> Self {
        Self::AtMost(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// Adds at most this many bytes. Unless the number is 0, the result is an upper bound.
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

    /// Returns the name of the type on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::Bit => "bit",
            Self::F32 => "f32",
        }
    }

    /// Returns the type with this name. `None` if there is no such type.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }
}

/// When a sidecar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sidecar {
    /// Only if the format needs one.
    #[default]
    Auto,
    /// Always.
    Write,
}

/// Kinds of failure after which a saved file is still complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The file survives a power failure. It is synced to the disk before it gets its final name, and the
    /// name is synced before saving ends.
    #[default]
    Synced,
    /// The file survives the end of this process. Saving may end before the data are on the disk.
    Unsynced,
}

/// Treatment of an existing file at the path of an output.
#[derive(Debug, Clone, Copy, Default)]
pub enum Existing {
    /// The existing file is replaced.
    #[default]
    Replace,
    /// The existing file is replaced if this function returns `true` for its path. Otherwise it is kept, and
    /// saving fails with [`Code::Exists`](voxelize_core::Code::Exists). This is also checked for a file that
    /// appears while the output is made.
    ReplaceIf(fn(&Path) -> bool),
}

/// Options for saving cells. The defaults are the format's default number type, a sidecar only if the format
/// needs one, syncing to the disk, replacing an existing file, and no progress.
#[derive(Clone, Copy)]
pub struct SaveOptions<'a> {
    /// Number type of the stored cells. `None` for the default of the format.
    pub dtype: Option<Dtype>,
    /// Chosen variants of the format, from [`Format::choices`].
    pub choices: &'a [Choice],
    /// Numbers to store for empty cells and for labels 1, 2, …, if [`Format::takes_values`]. If there are two
    /// numbers, the second one stands for all occupied cells. Empty for the default numbers 0, 1, 2, ….
    pub values: &'a [i16],
    /// Width and height in pixels of the pictures of layers, if [`Format::has_plate`]. The layers are in the
    /// middle of the pictures. `None` for pictures of the size of a layer.
    pub plate: Option<[usize; 2]>,
    /// Store bits as a segment with the name of the input, as in files whose name ends in `.seg.nrrd`.
    pub is_segmentation: bool,
    /// When a sidecar is written.
    pub sidecar: Sidecar,
    /// Kinds of failure after which the files are still complete.
    pub durability: Durability,
    /// Treatment of an existing file.
    pub existing: Existing,
    /// Collects finished files. [`PendingNames::give`] later syncs them and gives them their final names.
    /// `None` if this is done before saving ends.
    pub later: Option<&'a PendingNames>,
    /// Receives the progress, and can cancel the work.
    pub progress: &'a dyn Progress,
}

impl SaveOptions<'_> {
    /// Returns `true` if this choice is set.
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
            plate: None,
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
    /// Path as the caller gave it.
    pub path: PathBuf,
    /// Name of the format, or `json` for a sidecar.
    pub format: &'static str,
    /// Size in bytes.
    pub bytes: u64,
}

/// Returns the format with this name. `None` if there is no such format.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Returns the format that the extension of `path` belongs to. Upper and lower case do not matter. `None` if
/// there is no such format.
pub fn by_path(path: &Path) -> Option<&'static Format> {
    // Replacing bytes that are not UTF-8 does no harm. An extension that has such bytes belongs to no format.
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

/// Returns the format that the extension of `path` belongs to.
///
/// # Errors
/// Fails if the extension belongs to no format.
pub fn named_by(path: &Path) -> Result<&'static Format> {
    by_path(path).ok_or_else(|| {
        let known: Vec<_> = FORMATS.iter().map(|format| format.extensions[0]).collect();
        Error::usage("no voxel format has this extension")
            .in_file(path)
            .with_hint(format!("the extensions are .{}", known.join(", .")))
    })
}

/// Checks that `format` can hold cells of this kind on this lattice. Call this before the cells are computed.
///
/// # Errors
/// Fails if the format cannot hold the kind of cells, does not have the number type, holds only cubic cells
/// and the cells of the lattice are not cubes, or if a layer does not fit on the plate.
pub fn check(
    kind: CellKind,
    lattice: &Lattice,
    format: &Format,
    options: &SaveOptions,
) -> Result<()> {
    format.check_choices(options)?;
    format.check_plate(lattice.dims(), options)?;
    format.dtype(kind, options)?;
    (format.limits)(Some(lattice), options.choices)
}

/// Returns the warnings about saving a grid in `format`. `stands` is the number of cells along each axis of
/// the file. It differs from the dims of the lattice if the format turns the grid.
pub fn warnings(lattice: &Lattice, stands: [usize; 3], format: &Format) -> Vec<Finding> {
    (format.warnings)(lattice, stands)
}

impl Format {
    /// Defaults of a format: all kinds of cells, the lattice in the file, no limits, no choices, no first
    /// bytes for recognition, and no reader. Each format overrides what differs.
    const BASE: Self = Self {
        name: "",
        extensions: &[],
        about: "",
        carries: Carries::InFile,
        assumes: &[],
        kinds: &CellKind::ALL,
        frames: FrameSupport::None,
        dtypes: &[],
        max_bytes: None,
        choices: &[],
        is_map: false,
        label_names: |_| Vec::new(),
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
    /// Returns `true` if the format can hold cells of this kind.
    pub fn holds(&self, kind: CellKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns `true` if the format can hold cells of this kind with these choices.
    pub fn holds_with(&self, kind: CellKind, choices: &[Choice]) -> bool {
        self.holds(kind)
            || choices
                .iter()
                .any(|choice| self.choices.contains(choice) && choice.adds() == Some(kind))
    }

    /// Checks that the format can hold cells of this kind.
    ///
    /// # Errors
    /// Fails if it cannot.
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

    /// Returns the number types that keep all data of cells of this kind. Empty if the format cannot hold
    /// such cells, or would lose data of them.
    pub fn dtypes_of(&self, kind: CellKind) -> &'static [Dtype] {
        match kind {
            _ if !self.holds(kind) => &[],
            CellKind::Bits => self.dtypes,
            CellKind::Labels if !self.dtypes.contains(&Dtype::U8) => &[],
            CellKind::Labels => &[Dtype::U8],
            CellKind::Field => &[Dtype::F32],
        }
    }

    /// Returns the size of a file of cells that are stored as `dtype`. `occupied` is the number of occupied
    /// cells. `None` if the size depends on this number and it is not known.
    pub fn size(
        &self,
        dims: [usize; 3],
        dtype: Dtype,
        occupied: Option<u64>,
        choices: &[Choice],
    ) -> Option<FileSize> {
        (self.size)(dims, dtype, occupied, choices)
    }

    /// Returns `true` if the format can be read.
    pub fn is_readable(&self) -> bool {
        self.reader.is_some()
    }

    /// Returns `true` if an output in this format is a folder.
    pub fn is_folder(&self) -> bool {
        self.folder().is_some()
    }

    fn folder(&self) -> Option<&'static FolderLayout> {
        match self.write {
            Write::Folder(layout, _) => Some(layout),
            _ => None,
        }
    }

    /// Returns the dims of the grids that writing keeps in memory in addition to a slab. `dims` are the dims
    /// of the whole grid.
    pub fn pending(&self, dims: [usize; 3], choices: &[Choice]) -> Vec<[usize; 3]> {
        self.folder()
            .map_or_else(Vec::new, |layout| (layout.pending)(dims, choices))
    }

    /// Returns an upper bound for the memory of writing, in bytes. It does not include the cells and the
    /// grids of [`Self::pending`].
    pub fn memory(
        &self,
        dims: [usize; 3],
        dtype: Dtype,
        threads: usize,
        choices: &[Choice],
    ) -> u64 {
        (self.memory)(dims, dtype, threads, choices)
    }

    /// Checks that the format can store a grid with this frame. The formats of images and of arrays can store
    /// every frame. Others can store a grid whose axes are x, y and z.
    ///
    /// # Errors
    /// Fails if the frame is tilted and the format states positions along x, y and z.
    pub fn check_frame(&self, frame: Option<&ScanFrame>) -> Result<()> {
        let Some(frame) = frame.filter(|frame| frame.is_tilted()) else {
            return Ok(());
        };
        if self.frames != FrameSupport::None {
            return Ok(());
        }
        let known: Vec<_> = FORMATS
            .iter()
            .filter(|format| format.frames != FrameSupport::None)
            .map(|format| format.name)
            .collect();
        let text = format!(
            "the axes of the scan are tilted by {:.4} degrees, and {} has no place for such axes",
            frame.tilt(),
            self.name
        );
        Err(Error::usage(text).with_hint(format!("formats that have: {}", known.join(", "))))
    }

    /// Returns a number of layers. The height of every slab of a grid with this frame must be a multiple of it.
    /// It is at least [`Self::slab_layers`].
    pub fn slab_layers_in(&self, frame: Option<&ScanFrame>) -> usize {
        match (self.frames, frame) {
            (FrameSupport::Header, Some(frame)) => {
                self.slab_layers.max(scan_order::slab_layers(frame.axes()))
            }
            _ => self.slab_layers,
        }
    }

    /// Returns what is copied to reorder the cells of a grid with this frame.
    pub fn reordering(&self, frame: Option<&ScanFrame>) -> Reordering {
        match (self.frames, frame) {
            (FrameSupport::Header, Some(frame)) => scan_order::reordering(frame.axes()),
            _ => Reordering::Nothing,
        }
    }

    /// Returns the paths of the files that are written next to `path`.
    pub fn companions(&self, path: &Path, shape: &OutputShape) -> Vec<PathBuf> {
        match self.write {
            Write::Several(companions, _) => companions(path, shape),
            _ => Vec::new(),
        }
    }

    /// Checks that the format has the choices in the options, and that no two of them conflict.
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

    /// Returns `true` if the format consists of pictures of layers, for which a size can be chosen; see
    /// [`SaveOptions::plate`].
    pub fn has_plate(&self) -> bool {
        ["slices", "slices.zip"].contains(&self.name)
    }

    /// Returns an upper bound, in bytes, for the compressed pixels around the cells on the plate. 0 without a
    /// plate.
    pub fn plate_bytes(&self, [_, _, nz]: [usize; 3], plate: Option<[usize; 2]>) -> u64 {
        match plate {
            Some(plate) => slices::empty_bytes(plate) as u64 * nz as u64,
            None => 0,
        }
    }

    /// Checks that the layers of a grid fit on the plate, if there is one.
    fn check_plate(&self, [nx, ny, _]: [usize; 3], options: &SaveOptions) -> Result<()> {
        match options.plate {
            None => Ok(()),
            Some(plate) if self.has_plate() => slices::check_plate([nx, ny], plate),
            Some(_) => Err(Error::usage(format!(
                "{} has no pictures, so it has no plate",
                self.name
            ))
            .with_hint("slices and slices.zip have one")),
        }
    }

    /// Returns the number type for cells of this kind: the type in the options, or the default.
    fn dtype(&self, kind: CellKind, options: &SaveOptions) -> Result<Dtype> {
        if kind == CellKind::Field && self.has_greys() {
            return self.dtype_of_greys(options.dtype);
        }
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
        let hint = if kind == CellKind::Labels && *first == "bool" {
            [
                "`--dtype bool` writes all parts as one".to_string(),
                "`--only NAME` writes a single part".to_string(),
            ]
        } else {
            [
                format!("it stores {}", known.join(" or ")),
                format!("`--dtype {first}` writes that"),
            ]
        };
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
    /// Returns `true` if a file holds the exposed faces of the cells. Their number is known only after they
    /// are made.
    pub fn is_of_faces(&self) -> bool {
        ["ply", "obj", "glb", "stl"].contains(&self.name)
    }

    /// Returns `true` if cells become finite elements, which share nodes where they touch.
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
    /// Saves the cells to `path` in the format of its extension. The file appears only when it is complete.
    ///
    /// # Errors
    /// Fails if the extension belongs to no format, if the format cannot hold the grid, or if the file cannot
    /// be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        save(self, path, named_by(path)?, &SaveOptions::default()).map(drop)
    }

    /// Reads a file of any voxel format. If the file has a sidecar, reads that as well.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is malformed.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        open(path.as_ref())
    }
}

/// Fails if the cells are not cubes. Used for formats that store one cell size for all axes.
fn require_cubes(lattice: Option<&Lattice>, extension: &str) -> Result<()> {
    if lattice.is_none_or(Lattice::is_cubic) {
        return Ok(());
    }
    let text = format!("a .{extension} file cannot hold cells that are not cubes");
    Err(Error::usage(text).with_hint("give one cell size for all axes, or save as .npz"))
}

/// Returns the metadata for cells that are stored as `dtype`.
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

/// Metadata key for the number type of the stored cells.
const DTYPE: &str = "dtype";

/// Metadata key for the digest of the cells.
const CELLS: &str = "cells";

/// Metadata key for the digest of the cells and their lattice.
const GRID: &str = "grid";

/// Adds the digests to the metadata. They are known only after the last slab.
fn put_digest(digest: Digest, metadata: &mut Metadata) {
    metadata
        .extra
        .insert(CELLS.into(), digest.cells.to_string());
    metadata
        .extra
        .extend(digest.grid.map(|grid| (GRID.into(), grid.to_string())));
}

/// Metadata key for the choices with which a file was written.
const CHOICES: &str = "choices";

/// Metadata key for the order of the cells, and its value in files of this tool.
const ORDER: [&str; 2] = ["order", "x fastest"];

/// Metadata key for the order of bits in a byte, and its value in files of this tool. The value is a
/// parameter of `numpy.unpackbits`.
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

/// Re-exports for the doc examples of this package, under the paths that `voxelize-mesh` has.
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
