//! Hexahedra, one for each cell, with nodes that neighbours share: meshes for finite elements.
//!
//! `.vtu`, the unstructured grid of VTK for ParaView, PyVista and meshio, is XML with data behind it:
//!
//! | part | content |
//! |---|---|
//! | `<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor">` | without `compressor` if nothing is packed |
//! | `<FieldData><DataArray type="UInt8" Name="voxelize" …>` | JSON as the numbers of its bytes: the lattice exactly, and how the grid was made |
//! | `<Piece NumberOfPoints="N" NumberOfCells="M">` | nodes and cells |
//! | `<CellData Scalars="voxels">` `voxels` | UInt8: 1, or the label; Float32 of a field |
//! | `ijk` | three Int32: the indices of the cell |
//! | `<Points>` `Points` | three Float64 for each node |
//! | `<Cells>` `connectivity` | eight nodes of each cell, counted from 0; Int32, or Int64 if all nodes of the grid do not fit |
//! | `offsets`, `types` | 8, 16, …, as wide; UInt8 12, a hexahedron |
//! | `<AppendedData encoding="raw">_` | the data in this order, each as the module `vtk_xml` has it |
//!
//! `.inp`, the input of Abaqus and CalculiX, which FreeCAD, PrePoMax, Gmsh and meshio read as well, is text:
//!
//! | line | content |
//! |---|---|
//! | `*HEADING`, then a line | the tool and the input |
//! | `** voxelize …` | JSON, cut into lines: join what follows `** voxelize ` |
//! | `*NODE, NSET=NALL`, then `n, x, y, z` | nodes, counted from 1 |
//! | `*ELEMENT, TYPE=C3D8, ELSET=bone`, then `n, a, b, c, d, e, f, g, h` | the cells of a label, counted from 1 over all labels |
//!
//! Labels have a set of elements each, in the order of the legend; its name has the letters and digits of the label's, and `_`
//! for others. The elements of bits are the set VOXELS. CalculiX takes 20 characters of a number, so that a coordinate
//! of more is rounded to fit. Nodes and elements have numbers up to 999,999,999.
//!
//! In both a hexahedron has its nodes in the order (0,0,0), (1,0,0), (1,1,0), (0,1,0), then the same at the upper side
//! of z. Cells come by z, then y, then x, and nodes as cells need them. Of a field the cells that differ from its
//! background are written, in .vtu alone. Coordinates are the mesh's, as the nearest doubles, and no axis is up.
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
use voxelize_core::grid::{CellKind, CellSource, Lattice};

pub(super) const VTU: Format = Format {
    name: "vtu",
    extensions: &["vtu"],
    about: "hexahedra with shared nodes for ParaView, PyVista and finite elements, packed by zlib",
    dtypes: &[Dtype::U8],
    choices: &[Choice::Uncompressed],
    // Eight nodes of three doubles and as many numbers, three indices, the value, its offset and its type.
    size: |_, _, occupied, _| {
        Some(FileSize::at_most(
            u128::from(occupied?) * (8 * 32 + 12 + 4 + 8 + 1),
        ))
    },
    // Six arrays, each on its way to a temporary file.
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
    // Eight lines of a number and three coordinates, and a line of nine numbers.
    size: |_, _, occupied, _| Some(FileSize::at_most(u128::from(occupied?) * (8 * 78 + 100))),
    memory: |_, _, _, _| elements::BYTES,
    write: Write::Forward(inp::write),
    is_ours: |head| {
        head.starts_with(b"*HEADING\n") && contains(head, &format!("\n** {MARK}{METADATA_START}"))
    },
    ..VTU
};

/// The walls of the cells along each axis, as the nearest doubles; from 0 on where the lattice is not known.
fn walls(source: &dyn CellSource) -> [Vec<f64>; 3] {
    let lattice = source.lattice();
    let wall =
        |axis, n| lattice.map_or(n as f64, |lattice: &Lattice| lattice.wall(axis, n).to_f64());
    let dims = source.dims();
    std::array::from_fn(|axis| (0..=dims[axis]).map(|n| wall(axis, n)).collect())
}
