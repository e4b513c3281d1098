//! Writing `.vti`.

use std::io::{self, SeekFrom, Write as _};

use super::bits::BitWriter;
use super::{CELLS, JSON};
use crate::comments::codes;
use crate::image::described;
use crate::packed::ZlibBlocks;
use crate::save::Sink;
use crate::vtk_xml::{head_bytes, write_head};
use crate::{Choice, Dtype, SaveOptions, dense};
use voxelize_core::geom::Rational;
use voxelize_core::grid::CellSource;

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let bytes = bytes_of(source.dims(), dtype);
    let bytes = bytes.ok_or_else(|| io::Error::other("the image has 16 EiB or more"))?;
    let is_packed = !options.has(Choice::Uncompressed);
    out.write_all(head(source, dtype, is_packed).as_bytes())?;
    if is_packed {
        write_packed(source, out, dtype, options, bytes)?;
    } else {
        out.write_all(&bytes.to_le_bytes())?;
        write_cells(source, out, dtype, options)?;
    }
    out.write_all(b"\n</AppendedData>\n</VTKFile>\n")?;
    out.flush()
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
fn head(source: &dyn CellSource, dtype: Dtype, is_packed: bool) -> String {
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
    let kind = match dtype {
        Dtype::F32 => "Float32",
        Dtype::Bit => "Bit",
        _ => "UInt8",
    };
    format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>\n\
         <ImageData WholeExtent=\"{extent}\" Origin=\"{origin}\" Spacing=\"{spacing}\" Direction=\"1 0 0 0 1 0 0 0 1\">\n\
         <FieldData>\n<Array type=\"String\" Name=\"{JSON}\" NumberOfTuples=\"1\" format=\"ascii\">\n{codes}\n</Array>\n</FieldData>\n\
         <Piece Extent=\"{extent}\">\n<PointData/>\n<CellData Scalars=\"{CELLS}\">\n\
         <DataArray type=\"{kind}\" Name=\"{CELLS}\" format=\"appended\" offset=\"0\"/>\n\
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

/// Writes the cells in compressed blocks. Then seeks back to write their lengths.
fn write_packed(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
    bytes: u64,
) -> io::Result<()> {
    let start = out.stream_position()?;
    io::copy(&mut io::Read::take(io::repeat(0), head_bytes(bytes)), out)?;
    let mut blocks = ZlibBlocks::new(&mut *out);
    write_cells(source, &mut blocks, dtype, options)?;
    blocks.flush()?;
    let lengths = blocks.lengths;
    let end = out.stream_position()?;
    out.seek(SeekFrom::Start(start))?;
    write_head(out, bytes, &lengths)?;
    out.seek(SeekFrom::Start(end)).map(drop)
}
