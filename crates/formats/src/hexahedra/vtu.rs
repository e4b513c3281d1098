//! Writing `.vtu`.

use std::io;

use super::nodes::{HexahedronSink, hexahedra};
use super::walls;
use crate::comments::codes;
use crate::image::described;
use crate::vtk_xml::ArrayData;
use crate::{Choice, Dtype, SaveOptions};
use voxelize_core::grid::{CellKind, CellSource};

/// VTK's cell type of a hexahedron.
const HEXAHEDRON: u8 = 12;

/// One array of the file.
struct VtuArray {
    name: &'static str,
    kind: &'static str,
    components: usize,
    data: ArrayData,
}

/// All arrays of the file. They are complete before anything is written, because the XML states the offset of
/// each array.
struct VtuArrays {
    walls: [Vec<f64>; 3],
    /// Number of bytes of a value.
    value_bytes: usize,
    /// Number of bytes of a node number.
    number_bytes: usize,
    nodes: u64,
    cells: u64,
    values: VtuArray,
    indices: VtuArray,
    points: VtuArray,
    connectivity: VtuArray,
    offsets: VtuArray,
    types: VtuArray,
}

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn io::Write,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let is_packed = !options.has(Choice::Uncompressed);
    let json = described(source, dtype);
    let mut arrays = VtuArrays::new(source, is_packed);
    hexahedra(source, dtype, options, &mut arrays)?;
    arrays.write(out, &json, is_packed)
}

impl VtuArrays {
    fn new(source: &dyn CellSource, is_packed: bool) -> Self {
        let is_field = source.cell_type().kind() == CellKind::Field;
        let most: u128 = source.dims().iter().map(|n| *n as u128 + 1).product();
        // A cell has at most eight node numbers, so `8 * most` also bounds the last offset.
        let is_narrow = 8 * most <= i32::MAX as u128;
        let number = if is_narrow { "Int32" } else { "Int64" };
        Self {
            walls: walls(source),
            value_bytes: if is_field { 4 } else { 1 },
            number_bytes: if is_narrow { 4 } else { 8 },
            nodes: 0,
            cells: 0,
            values: VtuArray::new(
                "voxels",
                if is_field { "Float32" } else { "UInt8" },
                1,
                is_packed,
            ),
            indices: VtuArray::new("ijk", "Int32", 3, is_packed),
            points: VtuArray::new("Points", "Float64", 3, is_packed),
            connectivity: VtuArray::new("connectivity", number, 1, is_packed),
            offsets: VtuArray::new("offsets", number, 1, is_packed),
            types: VtuArray::new("types", "UInt8", 1, is_packed),
        }
    }

    /// Writes the XML and then the arrays.
    fn write(self, out: &mut dyn io::Write, json: &str, is_packed: bool) -> io::Result<()> {
        let (nodes, cells) = (self.nodes, self.cells);
        let mut arrays = [
            self.values,
            self.indices,
            self.points,
            self.connectivity,
            self.offsets,
            self.types,
        ];
        let mut offset = 0;
        let mut elements = Vec::new();
        for array in &mut arrays {
            elements.push(array.element(offset));
            offset += array.data.finish()?;
        }
        let [values, indices, points, rest @ ..] = &elements[..] else {
            unreachable!("six arrays")
        };
        let rest = rest.concat();
        let compressor = if is_packed {
            " compressor=\"vtkZLibDataCompressor\""
        } else {
            ""
        };
        write!(
            out,
            "<?xml version=\"1.0\"?>\n\
             <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>\n\
             <UnstructuredGrid>\n<FieldData>\n\
             <DataArray type=\"UInt8\" Name=\"voxelize\" NumberOfTuples=\"{}\" format=\"ascii\">\n{}\n</DataArray>\n\
             </FieldData>\n<Piece NumberOfPoints=\"{nodes}\" NumberOfCells=\"{cells}\">\n<PointData/>\n\
             <CellData Scalars=\"voxels\">\n{values}{indices}</CellData>\n<Points>\n{points}</Points>\n\
             <Cells>\n{rest}</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_",
            json.len(),
            codes(json),
        )?;
        for array in arrays {
            array.data.write(out)?;
        }
        out.write_all(b"\n</AppendedData>\n</VTKFile>\n")
    }
}

impl VtuArray {
    fn new(name: &'static str, kind: &'static str, components: usize, is_packed: bool) -> Self {
        Self {
            name,
            kind,
            components,
            data: ArrayData::new(is_packed),
        }
    }

    /// Returns the XML element of the array, which states the offset of its data.
    fn element(&self, offset: u64) -> String {
        let Self {
            name,
            kind,
            components,
            ..
        } = self;
        // If the attribute is present for a single component, meshio reads the numbers as a column of a
        // matrix.
        let components = match components {
            1 => String::new(),
            count => format!(" NumberOfComponents=\"{count}\""),
        };
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\"{components} format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }
}

impl HexahedronSink for VtuArrays {
    fn node(&mut self, walls: [usize; 3]) -> io::Result<()> {
        let place: [[u8; 8]; 3] =
            std::array::from_fn(|axis| self.walls[axis][walls[axis]].to_le_bytes());
        self.nodes += 1;
        self.points.data.push(place.as_flattened())
    }

    fn hexahedron(&mut self, cell: [usize; 3], nodes: &[u64; 8], value: u32) -> io::Result<()> {
        self.cells += 1;
        self.values
            .data
            .push(&value.to_le_bytes()[..self.value_bytes])?;
        // The cast cannot truncate, because an axis has at most 2²⁴ cells.
        self.indices
            .data
            .push(cell.map(|n| (n as u32).to_le_bytes()).as_flattened())?;
        let width = self.number_bytes;
        let mut bytes = [0; 64];
        for (bytes, node) in bytes.chunks_exact_mut(width).zip(nodes) {
            bytes.copy_from_slice(&node.to_le_bytes()[..width]);
        }
        self.connectivity.data.push(&bytes[..8 * width])?;
        self.offsets
            .data
            .push(&(8 * self.cells).to_le_bytes()[..width])?;
        self.types.data.push(&[HEXAHEDRON])
    }
}
