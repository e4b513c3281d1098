//! The grid in slabs of layers: every triangle is sorted once into the slabs it reaches, then each
//! slab is filled by one thread, in memory that no other touches.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::geom::Triangle;
use crate::grid::BitGrid;
use crate::kernel::{Coverer, Frame, Level, Slab, Take};
use crate::par::{self, Progress};

/// A slab of about this many bytes stays in cache while triangles fill it. Measured at 1024 cells
/// an axis: 4 layers of 128 KiB cost 40 % more than 32, as triangles span several slabs.
const SLAB_BYTES: usize = 4 << 20;

/// The fewest layers a slab has for the sake of the cache.
const MIN_LAYERS: usize = 8;

/// Slabs per thread, so that uneven ones balance.
const SLABS_PER_THREAD: usize = 4;

/// Triangles that one thread sorts at a time, and that a lone slab takes between reports.
pub(super) const CHUNK: usize = 1 << 15;

/// The triangles that reach each slab, by number: `bins[chunk][slab]`.
type Bins = Vec<Vec<Vec<u32>>>;

/// Occupies every cell of `layers` of the lattice that a triangle touches, in the threads it is
/// called in. Layer 0 of `grid` is layer `layers.start` of the lattice; it has as many. The answer
/// counts the coordinates that snapping moved, of triangles that begin in these layers: over
/// layers that follow each other every triangle counts once.
///
/// # Errors
/// If the run is cancelled, or there are more triangles than 32 bits number.
pub fn cover(
    frame: &Frame,
    triangles: &[Triangle],
    layers: Range<usize>,
    grid: &mut BitGrid,
    level: Level,
    progress: &dyn Progress,
) -> Result<u64> {
    if u32::try_from(triangles.len()).is_err() {
        return Err(Error::too_large(format!("{} triangles; the most is 2^32 - 1", triangles.len())));
    }
    let [cells, rows, count] = grid.dims();
    debug_assert_eq!(count, layers.len());
    let height = slab_height(count, grid.layer_words(), par::current_threads());
    let words = height * grid.layer_words();
    let slabs = grid.words_mut().chunks_mut(words).enumerate().map(|(n, words)| {
        let start = layers.start + n * height;
        Slab::new(start as i64..layers.end.min(start + height) as i64, words, cells, rows)
    });
    let slabs: Vec<Slab> = slabs.collect();
    let whole = count as i64 == frame.axes[2].cells;
    let done = if slabs.len() == 1 && whole {
        progress.begin("voxelize", triangles.len() as u64);
        slabs.into_iter().map(|slab| cover_alone(frame, triangles, slab, level, progress)).collect()
    } else {
        let bins = sort(frame, triangles, &layers, height, progress)?;
        progress.begin("voxelize", slabs.len() as u64);
        let slabs: Vec<(usize, Slab)> = slabs.into_iter().enumerate().collect();
        par::map(slabs, |(n, slab)| {
            progress.check()?;
            let mut coverer = Coverer::new(frame, triangles, slab);
            bins.iter().for_each(|bin| coverer.cover(level, Take::These(&bin[n])));
            progress.advance(1);
            Ok(coverer.finish(level))
        })
    };
    done.into_iter().sum::<Result<u64>>()
}

/// Layers per slab of a grid of so many layers.
pub(super) fn slab_height(layers: usize, layer_words: usize, threads: usize) -> usize {
    let bytes = 8 * layer_words;
    let cached = (SLAB_BYTES / bytes).max(MIN_LAYERS);
    let balanced = if threads == 1 { layers } else { layers.div_ceil(SLABS_PER_THREAD * threads) };
    cached.min(balanced).clamp(1, layers)
}

/// The whole grid as one slab.
fn cover_alone(
    frame: &Frame,
    triangles: &[Triangle],
    slab: Slab,
    level: Level,
    progress: &dyn Progress,
) -> Result<u64> {
    let mut coverer = Coverer::new(frame, triangles, slab);
    for start in (0..triangles.len()).step_by(CHUNK) {
        progress.check()?;
        let count = CHUNK.min(triangles.len() - start);
        coverer.cover(level, Take::Range(start as u32, count as u32));
        progress.advance(count as u64);
    }
    Ok(coverer.finish(level))
}

/// Sorts triangles into the slabs of `height` layers each that `layers` are cut into.
fn sort(
    frame: &Frame,
    triangles: &[Triangle],
    layers: &Range<usize>,
    height: usize,
    progress: &dyn Progress,
) -> Result<Bins> {
    let chunks = par::map_range(0..triangles.len().div_ceil(CHUNK), |chunk| {
        progress.check()?;
        let mut bins = vec![vec![]; layers.len().div_ceil(height)];
        let start = chunk * CHUNK;
        let end = triangles.len().min(start + CHUNK);
        for (n, triangle) in triangles[start..end].iter().enumerate() {
            let reached =
                frame.layers(triangle).filter(|(first, last)| *first < layers.end && *last >= layers.start);
            if let Some((first, last)) = reached {
                let first = first.max(layers.start) - layers.start;
                let last = last.min(layers.end - 1) - layers.start;
                for bin in &mut bins[first / height..=last / height] {
                    bin.push((start + n) as u32);
                }
            }
        }
        Ok(bins)
    });
    chunks.into_iter().collect()
}
