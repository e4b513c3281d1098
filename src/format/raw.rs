//! `.raw`: the cells and nothing else, with `NAME.raw.json` beside it to say what they are.
//!
//! | dtype | bytes | content |
//! |---|---|---|
//! | u8 | nx·ny·nz | one byte per cell, x fastest, then y: 0, or 1; where cells are told apart 1 surface, 2 interior |
//! | bit | 8·⌈nx/64⌉·ny·nz | one bit per cell, x fastest, the first in the lowest bit of the first byte; rows padded to 64 bits with zeros |
//!
//! The sidecar says `dims`, `origin`, `spacing` and `closed` as in every saved grid, and `dtype`
//! (`u8` or `bit`), `order` (`x fastest`), `row_bytes`, for bits `bit_order` (`little`, the word of
//! `numpy.unpackbits`), and `cells`, the digest of the cells.

use std::io;

use super::dense::{self, Values};
use super::open::{Source, failure};
use super::{Carries, Dtype, Format, Write};
use crate::error::{Error, Result};
use crate::grid::metadata::Metadata;
use crate::grid::{BitGrid, Layers, Voxels};
use crate::par::Progress;

pub(super) const FORMAT: Format = Format {
    name: "raw",
    extensions: &["raw"],
    about: "the cells alone as bytes or as bits in rows of 64-bit words, x fastest, and a .raw.json about them",
    carries: Carries::Sidecar,
    dtypes: &[Dtype::U8, Dtype::Bit],
    slab_layers: 1,
    magic: &[],
    limits: super::no_limits,
    warnings: super::no_warnings,
    write: Write::Forward(write),
    annotate,
    read,
    read_parts: None,
    describe,
};

fn write(
    layers: &mut dyn Layers,
    out: &mut dyn io::Write,
    dtype: Dtype,
    progress: &dyn Progress,
) -> io::Result<()> {
    match dtype {
        Dtype::Bit => dense::write_words(layers, out, progress),
        _ => dense::write_bytes(layers, out, Values::of(dtype), progress),
    }
}

fn row_bytes(nx: usize, dtype: Dtype) -> usize {
    if dtype == Dtype::Bit { 8 * nx.div_ceil(64) } else { nx }
}

fn annotate(dtype: Dtype, metadata: &mut Metadata) {
    metadata.extra.insert("dtype".into(), dtype.name().into());
    metadata.extra.insert("order".into(), "x fastest".into());
    if dtype == Dtype::Bit {
        metadata.extra.insert("bit_order".into(), "little".into());
    }
    if let Some([nx, ..]) = metadata.dims {
        metadata.numbers.insert("row_bytes".into(), row_bytes(nx, dtype) as u64);
    }
}

fn read(source: &mut Source) -> Result<Voxels> {
    let (dims, dtype) = layout(source)?;
    let row = row_bytes(dims[0], dtype) as u128;
    let expected = row.checked_mul(dims[1] as u128).and_then(|n| n.checked_mul(dims[2] as u128));
    if expected != Some(u128::from(source.len())) {
        let [x, y, z] = dims;
        let expected = expected.map_or("far more".into(), |n| n.to_string());
        let (len, name) = (source.len(), dtype.name());
        let message = format!("{x} × {y} × {z} cells as {name} take {expected} bytes, the file has {len}");
        return Err(Error::input("V005", message).with_hint("the sidecar may be of another file"));
    }
    let mut bits = BitGrid::new(dims)?;
    match dtype {
        Dtype::Bit => dense::read_words(source, &mut bits),
        _ => dense::read_bytes(source, &mut bits),
    }
    .map_err(failure)?;
    let Some(metadata) = source.described_by_sidecar(&bits) else {
        return Err(Error::input("V007", "the sidecar has the digest of other cells")
            .with_hint("the sidecar is of another file, or the file was changed"));
    };
    Ok(Voxels { bits, lattice: metadata.lattice.clone(), record: metadata.record.clone() })
}

fn describe(source: &mut Source) -> Result<Metadata> {
    source.sidecar.take().ok_or_else(no_sidecar)
}

/// What the sidecar says of the size and the type.
fn layout(source: &Source) -> Result<([usize; 3], Dtype)> {
    let metadata = source.sidecar.as_ref().ok_or_else(no_sidecar)?;
    let bad = |what: &str| Error::input("V007", format!("the sidecar {what}"));
    let dims = metadata.dims.filter(|dims| !dims.contains(&0)).ok_or_else(|| bad("does not say the dims"))?;
    let text = |key: &str| metadata.extra.get(key).map(String::as_str);
    let dtype = text("dtype").and_then(Dtype::from_name).ok_or_else(|| bad("has no known dtype"))?;
    if text("order").is_some_and(|order| order != "x fastest") {
        return Err(bad("has an order other than 'x fastest'"));
    }
    if text("bit_order").is_some_and(|order| order != "little") {
        return Err(bad("has a bit_order other than 'little'"));
    }
    let row = metadata.numbers.get("row_bytes");
    if row.is_some_and(|row| *row != row_bytes(dims[0], dtype) as u64) {
        return Err(bad("has row_bytes that do not fit its dims"));
    }
    Ok((dims, dtype))
}

fn no_sidecar() -> Error {
    Error::input("V006", "nothing says the size of this grid: NAME.raw.json is missing")
        .with_hint("keep the sidecar beside the file, or save as .npz, which carries it inside")
}
