//! Voxel formats: one file each, with its byte layout in a table on top, and the table of them all.
//!
//! Help, sniffing, tests and documentation loop over [`FORMATS`]; a new format is one file and one
//! row. Cells are streamed a block at a time; a grid is never copied as bytes. Every format takes
//! [`Layers`], so that a grid beyond memory is written as one that is whole.
//!
//! Findings in files that are read have stable codes:
//!
//! | code | meaning |
//! |---|---|
//! | V001 | neither the content nor the name is of a format that is known |
//! | V002 | the file ends early |
//! | V003 | a header or a compressed stream is broken |
//! | V004 | well formed, but of a kind that holds no cells: another type, another number of axes |
//! | V005 | the length is not what the size of the grid asks for |
//! | V006 | the sidecar that says the size is missing |
//! | V007 | the description (sidecar, attribute) is broken or does not fit the cells |
//! | V008 | a scene that is not a tree of transforms, groups and shapes |
//! | V009 | a voxel outside its model or grid |
//! | V010 | the system could not open or read the file |

mod dense;
mod fail_once;
mod npy;
mod npz;
mod open;
mod parts;
mod raw;
mod save;
mod vox;

use std::io;
use std::path::{Path, PathBuf};

pub use self::open::{Description, describe, made_by_this_tool, open, read_from, sniff};
pub use self::parts::{open_parts, save_parts};
pub use self::save::{probe_output, save, save_bytes, save_layers, write_layers_to, write_to};

use self::open::Source;
use self::save::Sink;
use crate::error::{Error, Result};
use crate::grid::metadata::Metadata;
use crate::grid::{Lattice, Layers, Part, Sort, Voxels};
use crate::par::Progress;

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
    /// What a cell can be stored as; the first is the default.
    pub dtypes: &'static [Dtype],
    /// Windows to write from have a multiple of so many layers, save the last.
    pub slab_layers: usize,
    /// First bytes by which content is known; none if it has no mark.
    magic: &'static [&'static [u8]],
    limits: fn(Option<&Lattice>) -> Result<()>,
    warnings: fn([usize; 3]) -> Vec<String>,
    write: Write,
    /// Adds to a sidecar what a reader needs to know of this format.
    annotate: fn(Dtype, &mut Metadata),
    read: fn(&mut Source) -> Result<Voxels>,
    /// Reads the parts as well, in formats that tell cells apart.
    read_parts: Option<fn(&mut Source) -> Result<WithParts>>,
    /// What the file says of itself, without its cells.
    describe: fn(&mut Source) -> Result<Metadata>,
}

/// Voxels, and the parts in which they are told apart.
type WithParts = (Voxels, Vec<Part>);

/// How a format is written: in one go, or by going back to fill in sizes.
enum Write {
    Forward(fn(&mut dyn Layers, &mut dyn io::Write, Dtype, &dyn Progress) -> io::Result<()>),
    Seeking(fn(&mut dyn Layers, &mut dyn Sink, Dtype, &dyn Progress) -> io::Result<()>),
}

/// Every voxel format.
pub static FORMATS: &[Format] = &[vox::FORMAT, npy::FORMAT, npz::FORMAT, raw::FORMAT];

/// Where a format keeps the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carries {
    /// In the file itself.
    InFile,
    /// In `NAME.ext.json` beside it, which is always written.
    Sidecar,
    /// Nowhere, unless a sidecar is asked for.
    SidecarOnRequest,
}

/// What a cell is stored as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dtype {
    /// A byte of type bool, 0 or 1.
    Bool,
    /// A byte of type unsigned integer: 0, or the number of the cell's part, [`Sort::number`]; 1 if there are
    /// no parts.
    U8,
    /// One bit.
    Bit,
}

impl Dtype {
    const ALL: [Self; 3] = [Self::Bool, Self::U8, Self::Bit];

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::Bit => "bit",
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

/// What a saved file outlasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A loss of power: the file is on the disk before it has its name, and its name before saving ends.
    #[default]
    Synced,
    /// The end of this process, however that comes. Saving is done before the disk is.
    Unsynced,
}

/// How to save. The default is the usual type of the format, a sidecar where it needs one, on the disk,
/// silence.
#[derive(Clone, Copy)]
pub struct SaveOptions<'a> {
    /// What a cell is stored as; `None` for the default of the format.
    pub dtype: Option<Dtype>,
    /// Whether a sidecar is written.
    pub sidecar: Sidecar,
    /// What the files outlast.
    pub durability: Durability,
    /// Who hears of progress and may cancel.
    pub progress: &'a dyn Progress,
}

impl Default for SaveOptions<'_> {
    fn default() -> Self {
        let (sidecar, durability) = (Sidecar::default(), Durability::default());
        Self { dtype: None, sidecar, durability, progress: &() }
    }
}

/// One file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Where, as it was asked for.
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
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()))
}

/// Whether `format` can hold a grid of this lattice; to be asked before computing it.
///
/// # Errors
/// If the cells are not cubes and the format cannot say so, or the type is none of the format's.
pub fn check(lattice: &Lattice, format: &Format, options: &SaveOptions) -> Result<()> {
    format.dtype(options)?;
    (format.limits)(Some(lattice))
}

/// What to be warned of before a grid of `dims` cells is saved in `format`.
pub fn warnings(dims: [usize; 3], format: &Format) -> Vec<String> {
    (format.warnings)(dims)
}

impl Format {
    /// Whether it can tell parts of a grid apart, as [`save_parts`] saves them.
    pub fn tells_parts(&self) -> bool {
        self.read_parts.is_some()
    }

    /// What cells are stored as: what was asked for, or the usual.
    fn dtype(&self, options: &SaveOptions) -> Result<Dtype> {
        let dtype = options.dtype.unwrap_or(self.dtypes[0]);
        if self.dtypes.contains(&dtype) {
            return Ok(dtype);
        }
        let known: Vec<_> = self.dtypes.iter().map(|dtype| dtype.name()).collect();
        Err(Error::usage(format!("{} does not store cells as '{}'", self.name, dtype.name()))
            .with_hint(format!("it stores {}", known.join(" or "))))
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
        let format = by_path(path).ok_or_else(|| {
            let known: Vec<_> = FORMATS.iter().map(|format| format.extensions[0]).collect();
            Error::usage("no voxel format has this extension")
                .in_file(path)
                .with_hint(format!("the extensions are .{}", known.join(", .")))
        })?;
        save(self, path, format, &SaveOptions::default()).map(drop)
    }

    /// Reads a file of any voxel format, with its sidecar if it has one.
    ///
    /// # Errors
    /// If the file cannot be read or is broken.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        open(path.as_ref())
    }
}

/// What is said beside the cells.
fn metadata(layers: &dyn Layers) -> Metadata {
    let names: Vec<_> = layers.sorts().into_iter().map(Sort::name).collect();
    let parts = (!names.is_empty()).then(|| (PARTS.to_string(), names.join(" ")));
    Metadata {
        dims: Some(layers.dims()),
        lattice: layers.lattice().cloned(),
        record: layers.record().clone(),
        extra: parts.into_iter().collect(),
        ..Metadata::default()
    }
}

/// The key for what cells are stored as.
const DTYPE: &str = "dtype";

/// The key for the names of the parts.
const PARTS: &str = "parts";

/// No limits: any lattice can be held.
fn no_limits(_: Option<&Lattice>) -> Result<()> {
    Ok(())
}

/// Nothing to be warned of.
fn no_warnings(_: [usize; 3]) -> Vec<String> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_are_found() {
        assert_eq!(by_path(Path::new("a/b.NPZ")).unwrap().name, "npz");
        assert!(by_path(Path::new("a/b.raw.json")).is_none() && by_path(Path::new("vox")).is_none());
        for format in FORMATS {
            assert!(std::ptr::eq(by_name(format.name).unwrap(), format));
            assert!(!format.dtypes.is_empty() && !format.about.contains('\n'));
        }
        for dtype in Dtype::ALL {
            assert_eq!(Dtype::from_name(dtype.name()), Some(dtype));
        }
    }
}
