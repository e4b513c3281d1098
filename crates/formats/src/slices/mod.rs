//! `NAME.slices/` is a folder with a picture of each layer of z, and `.slices.zip` is an archive of the same
//! files. They serve as masks for resin printers, and as image stacks for tools of computed tomography, Fiji
//! and scikit-image.
//!
//! | file | content |
//! |---|---|
//! | `slices.json` | cells along each axis, pixel size, unit, the walls and the centre of each layer, rounded and exact; `voxelize`, our JSON |
//! | `0000.png` … | the layers, the lowest z first, with more digits if there are more than 10 000 layers |
//!
//! A layer is seen from above, as in a slicer. x points to the right and y up, so the first row of a picture
//! has the highest y. In a program that counts rows downwards the grid is mirrored: `stack[:, ::-1, :]` is
//! a[z, y, x].
//!
//! A picture has the size of a layer, or of the plate in [`SaveOptions::plate`](crate::SaveOptions::plate). In
//! the middle of a plate of W × H pixels, layers of nx × ny cells begin at column (W - nx) / 2 and at row
//! (H - ny) / 2, rounded down; `corner` in `slices.json` has these numbers. The other pixels are 0.
//!
//! | cells | picture |
//! |---|---|
//! | bits | grey with 1 bit, occupied cells white; with `--dtype u8` 8 bits, 0 and 255 |
//! | labels | grey with 8 bits, the label, 0 for empty cells; with `--dtype bit` as bits |
//! | shares of cells | grey with 8 bits, the share times 255, rounded to the nearest, halves up |
//!
//! | part of a picture | content |
//! |---|---|
//! | `IHDR` | width, height, 1 or 8 bits, grey |
//! | `pHYs` | pixels per metre along x and y, if the unit of the mesh is known |
//! | `IDAT` | the unfiltered rows, in one zlib stream |
//! | `IEND` | |
//!
//! The format cannot hold other fields, because the grey of a value depends on the range of all values, which
//! is known only after the last layer. Members of an archive are not compressed, and have the date 1980-01-01.
//! Both formats are only written.
//!
//! <https://www.w3.org/TR/png-3/>

mod json;
mod plate;
mod write;

pub(crate) use self::plate::empty_bytes;
pub use self::plate::{MAX_PLATE_SIDE, check_plate};
pub use self::write::draw_bits;

use super::several::FolderLayout;
use super::{Choice, Dtype, FileSize, Format, Write, dense, npy};
use voxelize_core::grid::CellKind;

/// Name of the file that describes the pictures.
const INDEX: &str = "slices.json";

static LAYOUT: FolderLayout = FolderLayout {
    index: INDEX,
    owns: |name| {
        let number = name.strip_suffix(".png").unwrap_or_default();
        name == INDEX || !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    },
    pending: |_, _| Vec::new(),
};

pub(super) const FORMAT: Format = Format {
    name: "slices",
    extensions: &["slices"],
    about: "folder of PNG pictures, one for each layer of z seen from above, for resin printers and image stacks",
    assumes: &[("up", "z")],
    kinds: &[CellKind::Bits, CellKind::Labels],
    dtypes: &[Dtype::Bit, Dtype::U8],
    size: |dims, dtype, _, _| dense::bytes_for(dims, dtype).map(FileSize::at_most),
    memory,
    write: Write::Folder(&LAYOUT, write::folder),
    annotate: npy::annotate,
    ..Format::BASE
};

#[cfg(feature = "npz")]
pub(super) const ZIP: Format = Format {
    name: "slices.zip",
    extensions: &["slices.zip", "zip"],
    about: "zip archive of the pictures of slices",
    write: Write::Seeking(write::archive),
    ..FORMAT
};

/// Memory of a compressor in bytes.
const COMPRESSOR: usize = 512 << 10;

/// Returns an upper bound for the memory of writing in bytes, also if the layers are on the largest plate. The
/// compressed layers of all threads are kept, and each thread compresses one into a vector that doubles when it
/// grows.
fn memory([nx, ny, _]: [usize; 3], dtype: Dtype, threads: usize, _: &[Choice]) -> u64 {
    let row = if dtype == Dtype::Bit {
        nx.div_ceil(8)
    } else {
        nx
    };
    let cells = (row + 1) * ny;
    // Bytes that cannot be compressed are stored with a head for each block.
    let layer = cells + cells / 1000 + 1024 + plate::empty_bytes([MAX_PLATE_SIDE; 2]);
    (threads * ((write::LAYERS_PER_THREAD + 1) * layer + COMPRESSOR)) as u64
}
