//! Conversion from cells to faces. Cells are read slab by slab and processed one wall of z after the other,
//! so that neither the whole grid nor the whole mesh is in memory.
//!
//! Wall k is between layers k − 1 and k. For each wall, the vertices come first, then the side faces of the
//! layer below, then the faces on the wall itself. Only the last layer of a slab is kept for the next slab.

use std::io;

use super::exposed::{CellLayer, LayerPair, last_layer};
use super::greedy::GreedyFaces;
use super::single::SingleFaces;
use super::sink::{FaceMaker, FaceSink};
use crate::steps::{cancelled, next};
use crate::{Choice, Dtype, SaveOptions};
use voxelize_core::grid::{CellSource, CellType, Cells};

/// Returns `true` if the faces have labels.
pub(super) fn has_labels(source: &dyn CellSource, dtype: Dtype) -> bool {
    matches!(source.cell_type(), CellType::Labels(_)) && dtype == Dtype::U8
}

/// Passes all exposed faces of the cells to `sink`.
pub(super) fn mesh(
    source: &mut dyn CellSource,
    sink: &mut dyn FaceSink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let dims = source.dims();
    let has_labels = has_labels(source, dtype);
    let zeros = vec![0; dims[0].div_ceil(64)];
    let empty = CellLayer::empty(&zeros);
    let mut maker: Box<dyn FaceMaker> = if options.has(Choice::GreedyFaces) {
        Box::new(GreedyFaces::new(dims, has_labels))
    } else {
        Box::new(SingleFaces::new(dims, has_labels))
    };
    let mut last: Option<Cells> = None;
    options.progress.begin("write", dims[2] as u64);
    while let Some(slab) = next(source)? {
        let layers = slab.cells.dims()[2];
        let mut below = match &last {
            Some(cells) => CellLayer::of(cells.as_ref(), 0, has_labels, &zeros)?,
            None => empty,
        };
        for k in 0..layers {
            cancelled(options.progress)?;
            let above = CellLayer::of(slab.cells, k, has_labels, &zeros)?;
            maker.wall((slab.first + k) as u32, &LayerPair { below, above }, sink)?;
            below = above;
            options.progress.advance(1);
        }
        let end = slab.first + layers;
        if end == dims[2] {
            maker.wall(
                end as u32,
                &LayerPair {
                    below,
                    above: empty,
                },
                sink,
            )?;
        } else {
            last = Some(last_layer(slab.cells, has_labels).map_err(io::Error::other)?);
        }
    }
    Ok(())
}
