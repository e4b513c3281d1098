//! Meshes for finite elements. Each cell is a hexahedron, and neighbouring cells share nodes.
//!
//! `.vtu` is the unstructured grid of VTK, for ParaView, PyVista and meshio. It is XML with appended data:
//!
//! | part | content |
//! |---|---|
//! | `<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor">` | without `compressor` if nothing is packed |
//! | `<FieldData><DataArray type="UInt8" Name="voxelize" …>` | JSON as the numbers of its bytes: the exact lattice and the record of how the grid was made |
//! | `<Piece NumberOfPoints="N" NumberOfCells="M">` | nodes and cells |
//! | `<CellData Scalars="voxels">` `voxels` | UInt8: 1, or the label; Float32 of a field |
//! | `ijk` | three Int32: the indices of the cell |
//! | `<Points>` `Points` | three Float64 for each node |
//! | `<Cells>` `connectivity` | eight nodes of each cell, counted from 0; Int32, or Int64 if the grid may have too many nodes |
//! | `offsets`, `types` | 8, 16, …, as wide as `connectivity`; UInt8 12, a hexahedron |
//! | `<AppendedData encoding="raw">_` | the data in this order, each encoded as in the module `vtk_xml` |
//!
//! `.inp`, the input of Abaqus and CalculiX, is a text file. FreeCAD, PrePoMax, Gmsh and meshio also read it:
//!
//! | line | content |
//! |---|---|
//! | `*HEADING`, then a line | the tool and the input |
//! | `** voxelize …` | JSON, cut into lines: join the text after `** voxelize ` |
//! | `*NODE, NSET=NALL`, then `n, x, y, z` | nodes, counted from 1 |
//! | `*ELEMENT, TYPE=C3D8, ELSET=bone`, then `n, a, b, c, d, e, f, g, h` | the cells of a label, counted from 1 over all labels |
//!
//! Each label has an element set. The sets are in the order of the legend. The name of a set consists of the
//! letters and digits of the label's name, with `_` for all other characters. The cells of a grid of bits are
//! the set VOXELS. CalculiX reads at most 20 characters of a number, so longer coordinates are rounded. The
//! numbers of nodes and elements go up to 999,999,999.
//!
//! In both formats the nodes of a hexahedron have the order (0,0,0), (1,0,0), (1,1,0), (0,1,0), followed by
//! the same four on the upper side of z. Cells are ordered with x varying fastest, then y. Nodes are ordered
//! by the first cell layer that needs them. A field can be written only as .vtu, and cells that equal its
//! background are left out. Coordinates are those of the mesh as the nearest doubles, and the formats state
//! no up axis.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>,
//! <http://www.dhondt.de/ccx_2.21.pdf>

mod elements;
mod inp;
mod nodes;
mod vtu;

use super::comments::{MARK, METADATA_START, codes, contains};
use super::save::SPOOL;
use super::{Carries, Choice, Dtype, FileSize, Format, Write, npy, packed};
use voxelize_core::grid::{CellKind, CellSource};

pub(super) const VTU: Format = Format {
    name: "vtu",
    extensions: &["vtu"],
    about: "hexahedra with shared nodes for ParaView, PyVista and finite elements, packed by zlib",
    dtypes: &[Dtype::U8],
    choices: &[Choice::Uncompressed],
    // A cell has at most eight nodes of three doubles, eight node numbers, three indices, a value, an offset
    // and a type.
    size: |_, _, occupied, _| {
        Some(FileSize::at_most(
            u128::from(occupied?) * (8 * 32 + 12 + 4 + 8 + 1),
        ))
    },
    // Each of the six arrays has its own temporary file.
    memory: |_, _, threads, choices| 6 * (packed::memory(threads, choices) + SPOOL as u64),
    write: Write::Forward(vtu::write),
    is_ours: |head| {
        head.starts_with(b"<?xml")
            && contains(head, "Name=\"voxelize\" NumberOfTuples=")
            && contains(head, &codes(METADATA_START))
    },
    annotate: npy::annotate,
    ..Format::BASE
};

pub(super) const INP: Format = Format {
    name: "inp",
    extensions: &["inp"],
    about: "hexahedra with shared nodes for Abaqus, CalculiX and FreeCAD, as text; a set of elements for each label",
    carries: Carries::InFile,
    kinds: &[CellKind::Bits, CellKind::Labels],
    dtypes: &[Dtype::Bool, Dtype::U8],
    choices: &[],
    // A cell takes at most eight lines of a number and three coordinates, and one line of nine numbers.
    size: |_, _, occupied, _| Some(FileSize::at_most(u128::from(occupied?) * (8 * 78 + 100))),
    memory: |_, _, _, _| elements::BYTES,
    write: Write::Forward(inp::write),
    is_ours: |head| {
        head.starts_with(b"*HEADING\n") && contains(head, &format!("\n** {MARK}{METADATA_START}"))
    },
    ..VTU
};

/// Returns the coordinates of the walls along each axis, as the nearest doubles. If there is no lattice,
/// cells begin at 0 and have size 1.
fn walls(source: &dyn CellSource) -> [Vec<f64>; 3] {
    let dims = source.dims();
    std::array::from_fn(|axis| {
        let mut walls = Vec::with_capacity(dims[axis] + 1);
        for n in 0..=dims[axis] {
            walls.push(match source.lattice() {
                Some(lattice) => lattice.wall(axis, n).to_f64(),
                None => n as f64,
            });
        }
        walls
    })
}
