//! `.raw` holds only the cells. The sidecar `NAME.raw.json` describes them.
//!
//! | dtype | bytes | content |
//! |---|---|---|
//! | u8 | nx·ny·nz | one byte per cell, x fastest, then y: bits as 0 and 1; labels, 0 for empty cells; shares of cells in 255ths, rounded, with the `value_scale` 1/255 in the sidecar |
//! | i8 | nx·ny·nz | like u8, for labels up to 127; or the `values` in the sidecar, such as −1 for empty and 1 for occupied cells |
//! | bit | 8·⌈nx/64⌉·ny·nz | one bit per cell, x fastest, the first in the lowest bit of the first byte; rows padded to 64 bits with zeros |
//! | f32 | 4·nx·ny·nz | a field, x fastest, then y, little-endian |
//!
//! The sidecar has `dims`, `origin`, `spacing` and `closed` as for every format, the legend of labels or the
//! `background` of a field, and these entries:
//!
//! - `dtype`: `u8`, `i8`, `bit` or `f32`.
//! - `values`, if the user requested other numbers for u8 or i8 (`-1,0,1`). The first number stands for empty
//!   cells, the others for labels 1, 2, …. If there are two numbers, the second one stands for all occupied
//!   cells.
//! - `order` (`x fastest`) and `row_bytes`.
//! - `bit_order` for bits: `little`, a parameter of `numpy.unpackbits`.
//! - `cells`, the digest of the cells.

use super::dense::{self, Order};
use super::open::{VoxelSource, is_about};
use super::{
    BIT_ORDER, Carries, Dtype, FileSize, Format, FrameSupport, ORDER, Reader, Write, shares, values,
};
use crate::Voxels;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::grid::Cells;
use voxelize_core::grid::metadata::Metadata;

pub(super) const FORMAT: Format = Format {
    name: "raw",
    extensions: &["raw"],
    about: "cells as bytes, floats, or bits in rows of 64-bit words, x fastest; a .raw.json describes them",
    carries: Carries::Sidecar,
    frames: FrameSupport::Record,
    dtypes: &[Dtype::U8, Dtype::Bit, Dtype::I8],
    size: |dims, dtype, _, _| dense::bytes_for(dims, dtype).map(FileSize::about),
    write: Write::Forward(values::write),
    annotate,
    reader: Some(Reader {
        cells: read,
        describe,
    }),
    ..Format::BASE
};

/// Returns the number of bytes in a row of cells.
fn row_bytes(nx: usize, dtype: Dtype) -> Option<u64> {
    u64::try_from(dense::bytes_for([nx, 1, 1], dtype)?).ok()
}

fn annotate(dtype: Dtype, metadata: &mut Metadata) {
    metadata.extra.insert("dtype".into(), dtype.name().into());
    metadata.extra.insert(ORDER[0].into(), ORDER[1].into());
    if dtype == Dtype::Bit {
        metadata
            .extra
            .insert(BIT_ORDER[0].into(), BIT_ORDER[1].into());
    }
    let row = metadata.dims.and_then(|[nx, ..]| row_bytes(nx, dtype));
    metadata
        .numbers
        .extend(row.map(|bytes| ("row_bytes".to_string(), bytes)));
}

fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let (dims, dtype) = layout(source)?;
    let expected = dense::bytes_for(dims, dtype);
    if expected != Some(u128::from(source.len())) {
        let [x, y, z] = dims;
        let expected = expected.map_or("far more".into(), |n| n.to_string());
        let len = source.len();
        let name = dtype.name();
        let message =
            format!("{x} × {y} × {z} cells as {name} take {expected} bytes, the file has {len}");
        return Err(
            Error::input(Code::V005, message).with_hint("the sidecar may be of another file")
        );
    }
    let metadata = source.sidecar.take().ok_or_else(no_sidecar)?;
    let order = Order::XFastest;
    let room = source.room;
    let cells: Cells = match dtype {
        Dtype::Bit => dense::read_words(source, dims, room)?.into(),
        Dtype::Bool => dense::read_occupied(source, dims, order, room)?.into(),
        Dtype::U8 if shares::are_stated(&metadata) => {
            dense::read_shares(source, dims, order, metadata.background, room)?.into()
        }
        Dtype::U8 | Dtype::I8 => values::read(source, dtype, Some(&metadata), |input| {
            dense::read_values(input, dims, order, metadata.legend.as_ref(), room)
        })?,
        Dtype::F32 => dense::read_floats(source, dims, order, metadata.background, room)?.into(),
    };
    if !is_about(&metadata, &cells) {
        return Err(
            Error::input(Code::V007, "the sidecar has the digest of other cells")
                .with_hint("the sidecar belongs to another file, or the file was changed"),
        );
    }
    Ok(Voxels {
        cells,
        lattice: metadata.lattice,
        record: metadata.record,
    })
}

fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    source.sidecar.take().ok_or_else(no_sidecar)
}

/// Returns the dims and the number type that the sidecar states.
fn layout(source: &VoxelSource) -> Result<([usize; 3], Dtype)> {
    let metadata = source.sidecar.as_ref().ok_or_else(no_sidecar)?;
    let dims = metadata
        .dims
        .filter(|dims| !dims.contains(&0))
        .ok_or_else(|| bad("does not state the dims"))?;
    let extra = &metadata.extra;
    let dtype = extra
        .get("dtype")
        .and_then(|name| Dtype::from_name(name))
        .ok_or_else(|| bad("has an unknown dtype"))?;
    if extra.get("order").is_some_and(|order| order != "x fastest") {
        return Err(bad("has an order other than 'x fastest'"));
    }
    if extra
        .get(BIT_ORDER[0])
        .is_some_and(|order| order != BIT_ORDER[1])
    {
        return Err(bad("has a bit_order other than 'little'"));
    }
    let row = metadata.numbers.get("row_bytes");
    if row.is_some_and(|row| Some(*row) != row_bytes(dims[0], dtype)) {
        return Err(bad("has row_bytes that do not fit its dims"));
    }
    Ok((dims, dtype))
}

fn bad(what: &str) -> Error {
    Error::input(Code::V007, format!("the sidecar {what}"))
}

fn no_sidecar() -> Error {
    Error::input(
        Code::V006,
        "the size of this grid is unknown: NAME.raw.json is missing",
    )
    .with_hint("keep the sidecar next to the file, or save as .npz, which contains it")
}
