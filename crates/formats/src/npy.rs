//! `.npy`, the array file of NumPy: `numpy.load` gives `a[x, y, z]`.
//!
//! | bytes | content |
//! |---|---|
//! | 6 | `\x93NUMPY` |
//! | 2 | version, 1 and 0 |
//! | 2 | length of the header, little-endian (4 bytes from version 2 on) |
//! | … | `{'descr': '\|b1', 'fortran_order': True, 'shape': (nx, ny, nz), }`, padded with spaces and a line end so that the cells start at a multiple of 64 |
//! | nx·ny·nz | the cells, x fastest (Fortran order) |
//!
//! | `descr` | bytes per cell | holds |
//! |---|---|---|
//! | `\|b1` | 1 | bits, 0 or 1 |
//! | `\|u1` | 1 | bits, 0 or 1; labels, 0 for empty cells; shares of cells in 255ths, rounded, with `"value_scale": "1/255"` in the sidecar |
//! | `\|i1` | 1 | like `\|u1`, for labels up to 127 |
//! | `<f4` | 4 | a field, little-endian |
//! | `\|u1`, with `--dtype bit` | 1/8 | bits, eight cells along x in a byte, the first in its lowest bit; rows are filled up to bytes with zeros |
//!
//! Packed bits have the shape (⌈nx/8⌉, ny, nz). `numpy.unpackbits(a, axis=0, count=nx, bitorder="little")`
//! unpacks them to `a[x, y, z]` with the values 0 and 1. The sidecar states `dtype` (`bit`), `dims` and
//! `bit_order` (`little`). If there is no sidecar, the bytes are read as plain numbers.
//!
//! `--order zyx` writes the same bytes as an array `a[z, y, x]` in C order: `'fortran_order': False, 'shape':
//! (nz, ny, nx)`. The sidecar states this order. If there is no sidecar, the array is read as `a[x, y, z]`,
//! like an array of another program.
//!
//! `--values -1,0,1` stores other numbers in a `|u1` or `|i1` array. The first number stands for empty cells,
//! the others for labels 1, 2, …. If there are two numbers, the second one stands for all occupied cells. The
//! sidecar lists the numbers.
//!
//! Both orders and the versions 1 to 3 can be read. In a `|b1` array, and in a `|i1` array without a
//! description, every value except 0 is an occupied cell. A `|u1` array is labels if the sidecar has a legend
//! or if two values other than 0 occur, otherwise bits. The sidecar `NAME.npy.json`, which is written on
//! request, has the lattice, the legend and the background. Without it labels have no names, and the
//! background of a field is 0.
//!
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use std::io::{self, Read};
use std::path::Path;

use super::dense::{self, Order};
use super::open::{VoxelSource, failure, is_about, nameless};
use super::room::CellRoom;
use super::{
    BIT_ORDER, CHOICES, Carries, Choice, DTYPE, Dtype, Existing, FileSize, Format, FrameSupport,
    ORDER, Reader, SaveOptions, Write, Written, shares, values,
};
use crate::Voxels;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{CellSource, Cells};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Maximum size of a header that is read, in bytes. The headers of plain arrays have 128 bytes.
const MAX_HEADER: u32 = 1 << 16;

pub(super) const FORMAT: Format = Format {
    name: "npy",
    extensions: &["npy"],
    about: "NumPy array a[x, y, z] of bool, u8 or f32, or of packed bits; numpy.load reads it",
    carries: Carries::SidecarOnRequest,
    frames: FrameSupport::Record,
    dtypes: &[Dtype::Bool, Dtype::U8, Dtype::Bit, Dtype::I8],
    choices: &[Choice::Zyx],
    magic: &[MAGIC],
    size: |dims, dtype, _, _| bytes_for(dims, dtype).map(FileSize::about),
    write: Write::Forward(write),
    annotate: |dtype, metadata| {
        annotate(dtype, metadata);
        if dtype == Dtype::Bit {
            metadata
                .extra
                .insert(BIT_ORDER[0].into(), BIT_ORDER[1].into());
        }
    },
    reader: Some(Reader {
        cells: read,
        describe,
    }),
    ..Format::BASE
};

pub(super) fn annotate(dtype: Dtype, metadata: &mut Metadata) {
    metadata.extra.insert(DTYPE.into(), dtype.name().into());
}

/// Returns the size of the cells in bytes. Cells that are packed bits take an eighth of a byte. `None` if the
/// size overflows.
pub(super) fn bytes_for(dims: [usize; 3], dtype: Dtype) -> Option<u128> {
    match dtype {
        Dtype::Bit => dense::bytes_for(dense::bit_row_shape(dims), Dtype::U8),
        _ => dense::bytes_for(dims, dtype),
    }
}

/// Writes the cells as an array. In a `.npz` the member has the same bytes.
pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn io::Write,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    out.write_all(&header_of_cells(source.dims(), dtype, options))?;
    match dtype {
        Dtype::Bit => dense::write_bit_rows(source, out, options.progress),
        _ => values::write(source, out, dtype, options),
    }
}

/// Returns NumPy's name of a number type.
pub(super) fn descr(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::U8 | Dtype::Bit => "|u1",
        Dtype::I8 => "|i1",
        Dtype::F32 => "<f4",
        Dtype::Bool => "|b1",
    }
}

/// Returns the header for an array of cells.
pub(super) fn header_of_cells(dims: [usize; 3], dtype: Dtype, options: &SaveOptions) -> Vec<u8> {
    let descr = descr(dtype);
    let [x, y, z] = if dtype == Dtype::Bit {
        dense::bit_row_shape(dims)
    } else {
        dims
    };
    if options.has(Choice::Zyx) {
        header_of_rows(descr, &[z, y, x])
    } else {
        header(descr, &[x, y, z])
    }
}

/// Saves one `int32` per cell as an array in which x varies fastest. `work` passes the numbers, in order, to
/// the function that it receives.
///
/// # Errors
/// Returns the error of `work`. Also fails if the file cannot be written, or if the number of values differs
/// from the number of cells. After an error an existing file at `path` is unchanged.
pub fn save_numbers(
    path: &Path,
    dims: [usize; 3],
    work: impl FnOnce(&mut dyn FnMut(&[i32]) -> Result<()>) -> Result<()>,
) -> Result<Written> {
    super::save::save_bytes(path, Existing::Replace, FORMAT.name, |out| {
        out.write_all(&header("<i4", &dims))?;
        let mut left = dims.iter().product::<usize>();
        let mut block = vec![];
        let mut put = |numbers: &[i32]| {
            left = left
                .checked_sub(numbers.len())
                .ok_or_else(|| Error::usage("more numbers than cells"))?;
            for numbers in numbers.chunks(1 << 16) {
                block.clear();
                block.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
                out.write_all(&block)
                    .map_err(|e| Error::output(format!("cannot be written: {e}")).in_file(path))?;
            }
            Ok(())
        };
        work(&mut put).map_err(io::Error::other)?;
        if left == 0 {
            Ok(())
        } else {
            Err(io::Error::other(Error::usage("fewer numbers than cells")))
        }
    })
}

/// Returns the header for an array in Fortran order.
pub(super) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    header_in(descr, shape, "True")
}

/// Returns the header for an array in C order, in which rows are contiguous.
pub(super) fn header_of_rows(descr: &str, shape: &[usize]) -> Vec<u8> {
    header_in(descr, shape, "False")
}

fn header_in(descr: &str, shape: &[usize], is_fortran: &str) -> Vec<u8> {
    let mut sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    // Python writes a tuple with one element with a comma after it.
    sizes.truncate(
        sizes
            .len()
            .saturating_sub(if shape.len() == 1 { 1 } else { 2 }),
    );
    let mut dict =
        format!("{{'descr': '{descr}', 'fortran_order': {is_fortran}, 'shape': ({sizes}), }}");
    let len = (MAGIC.len() + 4 + dict.len() + 1).next_multiple_of(64);
    dict.push_str(&" ".repeat(len - MAGIC.len() - 4 - dict.len() - 1));
    dict.push('\n');
    [
        MAGIC,
        &[1, 0],
        &(dict.len() as u16).to_le_bytes(),
        dict.as_bytes(),
    ]
    .concat()
}

/// Header of an array.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    /// Number type without its byte order: `b1`, `u1`, `f8`, `U12`.
    pub descr: String,
    pub fortran: bool,
    pub shape: Vec<usize>,
    /// Offset of the data in the file.
    pub bytes: u64,
}

impl Header {
    pub(super) fn read(input: &mut dyn Read) -> Result<Self> {
        let mut start = [0; 8];
        input.read_exact(&mut start).map_err(failure)?;
        let mut len = [0; 4];
        let wide = start[6] >= 2;
        input
            .read_exact(&mut len[..if wide { 4 } else { 2 }])
            .map_err(failure)?;
        let len = u32::from_le_bytes(len);
        if !start.starts_with(MAGIC) || !matches!(start[6], 1..=3) || len > MAX_HEADER {
            return Err(Error::input(
                Code::V003,
                "the array does not begin with a header of NumPy",
            ));
        }
        let mut text = vec![0; len as usize];
        input.read_exact(&mut text).map_err(failure)?;
        let text = String::from_utf8_lossy(&text);
        let bytes = if wide { 12 } else { 10 } + u64::from(len);
        parse(&text, bytes).ok_or_else(|| {
            Error::input(
                Code::V003,
                format!(
                    "the header of the array is broken: {}",
                    sanitize(text.trim())
                ),
            )
            .at_byte(10)
        })
    }

    /// Returns the header for the same bytes in the other memory order (C or Fortran), with the axes
    /// reversed.
    pub(super) fn reversed(mut self) -> Self {
        self.shape.reverse();
        Self {
            fortran: !self.fortran,
            ..self
        }
    }

    /// Returns the dims of the array. Fails if it cannot be the cells of a grid.
    pub(super) fn dims(&self) -> Result<[usize; 3]> {
        if !matches!(self.descr.as_str(), "b1" | "u1" | "i1" | "?" | "f4") {
            let descr = sanitize(&self.descr);
            return Err(refused(format!(
                "the array is of type '{descr}', not bool, u8 or f32"
            )));
        }
        match *self.shape {
            [x, y, z] if x > 0 && y > 0 && z > 0 => Ok([x, y, z]),
            _ => Err(refused(format!(
                "the array has the shape {}, not three axes",
                sanitize(format!("{:?}", self.shape))
            ))),
        }
    }

    /// Returns the number type of the cells.
    pub(super) fn dtype(&self) -> Dtype {
        match self.descr.as_str() {
            "u1" => Dtype::U8,
            "i1" => Dtype::I8,
            "f4" => Dtype::F32,
            _ => Dtype::Bool,
        }
    }

    /// Returns the size of the cells in bytes. `None` if it overflows.
    pub(super) fn bytes_of_cells(&self) -> Result<Option<u128>> {
        Ok(dense::bytes_for(self.dims()?, self.dtype()))
    }

    /// Returns `true` if the array can be the packed bits of a grid with these dims.
    pub(super) fn packs(&self, dims: [usize; 3]) -> bool {
        self.descr == "u1" && self.shape == dense::bit_row_shape(dims)
    }

    /// Returns the order of the cells.
    fn order(&self) -> Order {
        if self.fortran {
            Order::XFastest
        } else {
            Order::ZFastest
        }
    }

    /// Reads the packed bits of a grid with these dims. `input` must be at the start of the data.
    pub(super) fn bits(
        &self,
        input: &mut dyn Read,
        dims: [usize; 3],
        room: CellRoom,
    ) -> Result<Cells> {
        Ok(dense::read_bit_rows(input, dims, self.order(), room)?.into())
    }

    /// Reads the cells. `input` must be at the start of the data. `metadata` states the labels of a grid of
    /// labels and the background of a field.
    pub(super) fn cells(
        &self,
        input: &mut dyn Read,
        metadata: Option<&Metadata>,
        room: CellRoom,
    ) -> Result<Cells> {
        let dims = self.dims()?;
        let order = self.order();
        match self.descr.as_str() {
            "i1" if !metadata.is_some_and(is_numbered) => {
                Ok(dense::read_occupied(input, dims, order, room)?.into())
            }
            "u1" if metadata.is_some_and(shares::are_stated) => {
                let background = metadata.and_then(|metadata| metadata.background);
                Ok(dense::read_shares(input, dims, order, background, room)?.into())
            }
            "u1" | "i1" => values::read(input, self.dtype(), metadata, |input| {
                let legend = metadata.and_then(|metadata| metadata.legend.as_ref());
                dense::read_values(input, dims, order, legend, room)
            }),
            "f4" => {
                let background = metadata.and_then(|metadata| metadata.background);
                Ok(dense::read_floats(input, dims, order, background, room)?.into())
            }
            _ => Ok(dense::read_occupied(input, dims, order, room)?.into()),
        }
    }
}

/// Returns the error for an array that cannot be the cells of a grid.
fn refused(what: String) -> Error {
    let hint = "save a.astype(bool), uint8 or float32, of three axes x, y, z, from NumPy";
    Error::input(Code::V004, what).with_hint(hint)
}

/// Returns `true` if the metadata explain the numbers, either by a legend or by the list of numbers that were
/// stored.
fn is_numbered(metadata: &Metadata) -> bool {
    metadata.legend.is_some() || values::are_stated(metadata)
}

/// Parses the dictionary in the header. It must have exactly three keys, in any order.
fn parse(text: &str, bytes: u64) -> Option<Header> {
    let mut descr = None;
    let mut fortran = None;
    let mut shape = None;
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    while !rest.is_empty() {
        let (key, value) = rest.split_once(':')?;
        let value = value.trim_start();
        // A tuple ends at its closing bracket, every other value at a comma.
        let end = if value.starts_with('(') {
            value.find(')')? + 1
        } else {
            value.find(',').unwrap_or(value.len())
        };
        let (value, after) = value.split_at(end);
        let value = value.trim_end();
        match unquoted(key.trim())? {
            "descr" if descr.is_none() => descr = Some(unquoted(value)?),
            "fortran_order" if fortran.is_none() => {
                fortran = Some(match value {
                    "True" => true,
                    "False" => false,
                    _ => return None,
                });
            }
            "shape" if shape.is_none() => shape = Some(tuple(value)?),
            _ => return None,
        }
        let after = after.trim_start();
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
    let descr = descr?.trim_start_matches(['|', '<', '=']).to_string();
    Some(Header {
        descr,
        fortran: fortran?,
        shape: shape?,
        bytes,
    })
}

fn unquoted(text: &str) -> Option<&str> {
    for quote in ['\'', '"'] {
        if let Some(rest) = text.strip_prefix(quote) {
            return rest.strip_suffix(quote);
        }
    }
    None
}

fn tuple(text: &str) -> Option<Vec<usize>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    if inside.is_empty() {
        return Some(Vec::new());
    }
    inside
        .split(',')
        .map(|n| n.trim().trim_end_matches('L').parse().ok())
        .collect()
}

/// Reads the header and checks that the file has the length that the header implies.
fn checked_header(source: &mut VoxelSource) -> Result<Header> {
    let header = Header::read(source)?;
    let choices = source
        .sidecar
        .as_ref()
        .and_then(|metadata| metadata.extra.get(CHOICES));
    let is_zyx = !header.fortran && choices.is_some_and(|words| *words == Choice::Zyx.words());
    let header = if is_zyx { header.reversed() } else { header };
    let [x, y, z] = header.dims()?;
    let expected = header.bytes_of_cells()?.unwrap_or(u128::MAX);
    let left = source.left();
    if expected != u128::from(left) {
        let (code, how) = if u128::from(left) < expected {
            (Code::V002, "only ")
        } else {
            (Code::V005, "")
        };
        let message = format!("{x} × {y} × {z} cells take {expected} bytes, {how}{left} follow");
        return Err(source.error(code, message));
    }
    Ok(header)
}

fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let header = checked_header(source)?;
    let metadata = source.sidecar.take();
    let room = source.room;
    if let Some(metadata) = &metadata
        && let Some(dims) = packed_dims(&header, metadata)
    {
        match header.bits(source, dims, room) {
            Ok(cells) if is_about(metadata, &cells) => {
                return Ok(described(cells, metadata.clone()));
            }
            // The sidecar belongs to an earlier file, and the array is not packed bits but numbers.
            _ => source.seek(header.bytes)?,
        }
    }
    let metadata =
        metadata.filter(|metadata| metadata.dims.is_some() && metadata.dims == header.dims().ok());
    let cells = header.cells(source, metadata.as_ref(), room)?;
    Ok(
        match metadata.filter(|metadata| is_about(metadata, &cells)) {
            Some(metadata) => described(cells, metadata),
            // The sidecar belongs to an earlier file.
            None => Voxels::new(nameless(cells)?),
        },
    )
}

fn described(cells: Cells, metadata: Metadata) -> Voxels {
    Voxels {
        cells,
        lattice: metadata.lattice,
        record: metadata.record,
    }
}

/// Returns the dims of the cells if the sidecar describes the array as packed bits. Otherwise returns `None`.
fn packed_dims(header: &Header, metadata: &Metadata) -> Option<[usize; 3]> {
    let dtype = metadata.extra.get(DTYPE)?;
    if dtype != Dtype::Bit.name() {
        return None;
    }
    let bit_order = metadata.extra.get(BIT_ORDER[0]);
    if bit_order.is_some_and(|order| order != BIT_ORDER[1]) {
        return None;
    }
    metadata.dims.filter(|dims| header.packs(*dims))
}

fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let header = checked_header(source)?;
    let sidecar = source.sidecar.take();
    let is_packed = sidecar
        .as_ref()
        .is_some_and(|metadata| packed_dims(&header, metadata).is_some());
    let dims = header.dims()?;
    let metadata = sidecar.filter(|metadata| is_packed || metadata.dims == Some(dims));
    let mut metadata = metadata.unwrap_or(Metadata {
        dims: Some(dims),
        ..Metadata::default()
    });
    let dtype = if is_packed {
        Dtype::Bit
    } else {
        header.dtype()
    };
    annotate(dtype, &mut metadata);
    if header.fortran {
        metadata.extra.insert(ORDER[0].into(), ORDER[1].into());
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_the_bytes_numpy_writes() {
        let dict = "{'descr': '|b1', 'fortran_order': True, 'shape': (3, 4, 2), }";
        let expected = format!("\u{1}\u{0}v\u{0}{dict:<117}\n");
        assert_eq!(
            header("|b1", &[3, 4, 2]),
            [MAGIC, expected.as_bytes()].concat()
        );
        assert!(String::from_utf8_lossy(&header("<f8", &[3])).contains("'shape': (3,), }"));
        assert!(String::from_utf8_lossy(&header("<U5", &[])).contains("'shape': (), }"));
    }

    #[test]
    fn headers_of_others_are_understood() {
        for text in [
            "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4, 2), }  \n",
            "{\"shape\":(3,4,2),\"descr\":\"u1\",\"fortran_order\":False}",
            "{'shape': (3L, 4L, 2L), 'fortran_order': False, 'descr': '<u1', }",
        ] {
            let header = parse(text, 128).expect(text);
            assert_eq!(
                (header.dims().unwrap(), header.fortran),
                ([3, 4, 2], false),
                "{text}"
            );
        }
    }

    #[test]
    fn broken_headers_are_refused() {
        for text in [
            "",
            "{}",
            "{'descr': '|u1', 'fortran_order': False}",
            "{'descr': '|u1', 'fortran_order': 0, 'shape': (1, 1, 1)}",
            "{'descr': '|u1', 'fortran_order': True, 'shape': (1, -1, 1)}",
            "{'descr': [('a', '|u1')], 'fortran_order': True, 'shape': (1, 1, 1)}",
            "{'descr': '|u1', 'descr': '|u1', 'fortran_order': True, 'shape': (1, 1, 1)}",
            "{'descr': '|u1', 'fortran_order': True, 'shape': (99999999999999999999, 1, 1)}",
        ] {
            assert_eq!(parse(text, 0), None, "{text}");
        }
    }
}
