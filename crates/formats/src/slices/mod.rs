//! `NAME.slices/`, a picture for each layer of z, and `.zip` of the same: masks of resin printers, and stacks for tools of
//! computed tomography, Fiji and scikit-image.
//!
//! | file | content |
//! |---|---|
//! | `slices.json` | cells along each axis, pixel size, unit, the walls and the centre of each layer, as decimals and exactly; `voxelize`, our JSON |
//! | `0000.png` … | the layers, the lowest z first, with more digits where there are more than 10 000 |
//!
//! A layer is seen from above, as a slicer shows it: x goes to the right and y up, so that the first row of a picture has the
//! highest y. A tool that counts rows downwards as its second axis has the grid mirrored: `stack[:, ::-1, :]` is a[z, y, x].
//!
//! | cells | picture |
//! |---|---|
//! | bits | grey of 1 bit, occupied cells white; with `--dtype u8` of 8 bits, 0 and 255 |
//! | labels | grey of 8 bits, the label as it is, 0 for empty cells; with `--dtype bit` as bits |
//!
//! | part of a picture | content |
//! |---|---|
//! | `IHDR` | width nx, height ny, 1 or 8 bits, grey |
//! | `pHYs` | pixels per metre along x and y, if the unit of the mesh is known |
//! | `IDAT` | the rows, none filtered, in one zlib stream |
//! | `IEND` | |
//!
//! A field is not held: the range of its values, by which greys would be chosen, is known only after its last layer.
//! Members of an archive are stored, with the date 1980-01-01. Both are written only.
//!
//! <https://www.w3.org/TR/png-3/>

mod json;
mod png;
mod write;

use super::several::FolderLayout;
use super::{Dtype, FileSize, Format, Write, dense, npy};
use voxelize_core::grid::CellKind;

/// The description of the pictures.
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
    // Rows of pixels, and what they are packed into.
    memory: |[nx, ny, _], _, threads, _| 2 * (write::LAYERS_PER_THREAD * threads * nx * ny) as u64,
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
