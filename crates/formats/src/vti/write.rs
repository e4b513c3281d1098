//! Writing `.vti`.

use std::io::{self, SeekFrom, Write as _};

use quick_xml::escape::escape;

use super::bits::BitWriter;
use super::{CELLS, JSON};
use crate::arrays::KeptArrays;
use crate::comments::codes;
use crate::image::described;
use crate::packed::ZlibBlocks;
use crate::save::Sink;
use crate::vtk_xml::{head_bytes, write_head};
use crate::{Choice, Dtype, SaveOptions, dense};
use voxelize_core::geom::Rational;
use voxelize_core::grid::{CellArray, CellSource};

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let bytes = bytes_of(source.dims(), dtype);
    let bytes = bytes.ok_or_else(|| io::Error::other("the image has 16 EiB or more"))?;
    let is_packed = !options.has(Choice::Uncompressed);
    let mut kept = KeptArrays::new(source, dtype);
    let mut further = further_arrays(&kept);
    let start = out.stream_position()?;
    out.write_all(head(&kept, dtype, is_packed, &further).as_bytes())?;
    let begin = out.stream_position()?;
    write_data(out, bytes, is_packed, |data| {
        write_cells(&mut kept, data, dtype, options)
    })?;
    for (n, array) in further.iter_mut().enumerate() {
        array.offset = out.stream_position()? - begin;
        write_data(out, array.bytes, is_packed, |data| kept.write(n, data))?;
    }
    out.write_all(b"\n</AppendedData>\n</VTKFile>\n")?;
    if !further.is_empty() {
        // The offsets are known only now.
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(start))?;
        out.write_all(head(&kept, dtype, is_packed, &further).as_bytes())?;
        out.seek(SeekFrom::Start(end))?;
    }
    out.flush()
}

/// Array in addition to the cells.
struct FurtherArray {
    name: String,
    kind: &'static str,
    components: usize,
    /// Size of its data in bytes.
    bytes: u64,
    /// Offset of its data in the appended data. 0 until they are written.
    offset: u64,
}

/// Returns the arrays in addition to the cells.
fn further_arrays(kept: &KeptArrays) -> Vec<FurtherArray> {
    let contents = kept.contents();
    let names = CellArray::unique_names(&contents);
    let mut further = vec![];
    for (content, name) in contents.iter().zip(names) {
        let dtype = kept.dtype(content);
        further.push(FurtherArray {
            name,
            kind: kind(dtype),
            components: content.numbers(),
            bytes: bytes_of(CellArray::dims_for(content, kept.dims()), dtype).unwrap_or(u64::MAX),
            offset: 0,
        });
    }
    further
}

impl FurtherArray {
    /// Returns the XML element. Its length does not depend on the offset.
    fn element(&self) -> String {
        let components = match self.components {
            1 => String::new(),
            count => format!(" NumberOfComponents=\"{count}\""),
        };
        let offset = format!("\"{}\"", self.offset);
        format!(
            "<DataArray type=\"{}\" Name=\"{}\"{components} format=\"appended\" offset={offset:<22}/>\n",
            self.kind,
            escape(&*self.name)
        )
    }
}

/// Returns VTK's name of a number type.
fn kind(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F32 => "Float32",
        Dtype::Bit => "Bit",
        _ => "UInt8",
    }
}

/// Returns the size of the cells in bytes. `None` if it overflows.
pub(super) fn bytes_of(dims: [usize; 3], dtype: Dtype) -> Option<u64> {
    let bytes = match dtype {
        Dtype::Bit => dense::bytes_for(dims, Dtype::U8)?.div_ceil(8),
        _ => dense::bytes_for(dims, dtype)?,
    };
    u64::try_from(bytes).ok()
}

/// Returns the XML before the cells.
fn head(
    source: &dyn CellSource,
    dtype: Dtype,
    is_packed: bool,
    further: &[FurtherArray],
) -> String {
    let compressor = if is_packed {
        " compressor=\"vtkZLibDataCompressor\""
    } else {
        ""
    };
    let extent = source.dims().map(|n| format!("0 {n}")).join(" ");
    let (origin, spacing) = match source.lattice() {
        Some(lattice) => (
            lattice.origin().each_ref().map(Rational::to_f64),
            lattice.spacing().each_ref().map(Rational::to_f64),
        ),
        None => ([0.0; 3], [1.0; 3]),
    };
    let origin = origin.map(|value| value.to_string()).join(" ");
    let spacing = spacing.map(|value| value.to_string()).join(" ");
    let codes = codes(&(described(source, dtype) + "\0"));
    let kind = kind(dtype);
    let mut others = String::new();
    for array in further {
        others += &array.element();
    }
    format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>\n\
         <ImageData WholeExtent=\"{extent}\" Origin=\"{origin}\" Spacing=\"{spacing}\" Direction=\"1 0 0 0 1 0 0 0 1\">\n\
         <FieldData>\n<Array type=\"String\" Name=\"{JSON}\" NumberOfTuples=\"1\" format=\"ascii\">\n{codes}\n</Array>\n</FieldData>\n\
         <Piece Extent=\"{extent}\">\n<PointData/>\n<CellData Scalars=\"{CELLS}\">\n\
         <DataArray type=\"{kind}\" Name=\"{CELLS}\" format=\"appended\" offset=\"0\"/>\n{others}\
         </CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_"
    )
}

fn write_cells(
    source: &mut dyn CellSource,
    out: &mut dyn io::Write,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    match dtype {
        Dtype::Bit => {
            let mut bits = BitWriter::new(out);
            dense::write(source, &mut bits, Dtype::Bool, options.progress)?;
            bits.finish()
        }
        _ => dense::write(source, out, dtype, options.progress),
    }
}

/// Writes data of this many bytes. Compressed data are written in blocks. The writer then seeks back to write
/// their lengths.
fn write_data(
    out: &mut dyn Sink,
    bytes: u64,
    is_packed: bool,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    if !is_packed {
        out.write_all(&bytes.to_le_bytes())?;
        return write(out);
    }
    let start = out.stream_position()?;
    io::copy(&mut io::Read::take(io::repeat(0), head_bytes(bytes)), out)?;
    let mut blocks = ZlibBlocks::new(&mut *out);
    write(&mut blocks)?;
    blocks.flush()?;
    let lengths = blocks.lengths;
    let end = out.stream_position()?;
    out.seek(SeekFrom::Start(start))?;
    write_head(out, bytes, &lengths)?;
    out.seek(SeekFrom::Start(end)).map(drop)
}
