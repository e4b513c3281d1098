//! `.vti`, the image format of VTK, ParaView, PyVista and ITK: XML with appended cells.
//!
//! | part | content |
//! |---|---|
//! | `<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor">` | without `compressor` if nothing is packed |
//! | `<ImageData WholeExtent="0 nx 0 ny 0 nz" Origin="x y z" Spacing="sx sy sz">` | the outer corner of cell (0, 0, 0) and the size of a cell, as the nearest doubles |
//! | `<FieldData><Array type="String" Name="voxelize" …>` | JSON as the numbers of its bytes, and 0: the exact lattice and the record of how the grid was made |
//! | `<CellData Scalars="voxels"><DataArray type="UInt8" Name="voxels" format="appended" offset="0"/>` | `UInt8`: 0 and 1, or labels; `Bit`; `Float32` for a field |
//! | further `<DataArray type="Float32" Name="area" …>` | arrays in addition to the cells: those of `--with`, and with `--labels` the field of each part under its name |
//! | `<AppendedData encoding="raw">_` | the rest is not XML |
//! | number of blocks, plain bytes of a block and of the last, packed bytes of each | 64 bits each, little-endian |
//! | … | the blocks, x fastest, each a zlib stream |
//! | … | the same for each further array |
//!
//! If nothing is compressed, the number of bytes (64 bits) and the cells follow the `_`. Bits are packed
//! eight per byte, with the first cell in the highest bit and without gaps at the ends of rows. Coordinates
//! are those of the mesh, and the format states no up axis.
//!
//! Images of other programs can be read if they are a single piece with appended raw data. The data may
//! belong to cells or to points. A point counts as the centre of a cell. The lattice can be read from every
//! image, even if its data are stored in another form.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>

mod bits;
mod read;
mod write;

use super::{Choice, Dtype, Format, Reader, Write, npy, packed};

/// Name of the array that holds the cells.
const CELLS: &str = "voxels";

/// Name of the array that holds the JSON of this tool.
const JSON: &str = "voxelize";

pub(super) const FORMAT: Format = Format {
    name: "vti",
    extensions: &["vti"],
    about: "image of VTK for ParaView, PyVista and ITK, packed by zlib; world coordinates are the mesh's",
    dtypes: &[Dtype::U8, Dtype::Bit],
    choices: &[Choice::Uncompressed],
    weak_magic: &[b"<?xml ve", b"<VTKFile"],
    size: |dims, dtype, _, choices| packed::size(dims, dtype, choices),
    // Between the blocks, the allocator was measured to keep a further mebibyte for the threads.
    memory: |_, _, threads, choices| packed::memory(threads, choices) + (1 << 20),
    write: Write::Seeking(write::write),
    annotate: npy::annotate,
    reader: Some(Reader {
        cells: read::read,
        describe: read::describe,
    }),
    ..Format::BASE
};
