//! Makes one face for each exposed face of a cell.

use std::io;
use std::mem::swap;

use super::exposed::{ExposedFace, Facing, LayerPair};
use super::numbers::WallNumbers;
use super::sink::{FaceMaker, FaceSink, put_vertices};
use voxelize_core::grid::bits::bits_of;

/// Makes single faces, one for each exposed face of a cell.
pub(super) struct SingleFaces {
    /// Number of rows in a layer.
    rows: usize,
    has_labels: bool,
    /// Vertices on the walls below and above the current layer.
    lower: WallNumbers,
    upper: WallNumbers,
    vertices: u64,
}

impl SingleFaces {
    pub(super) fn new(dims: [usize; 3], has_labels: bool) -> Self {
        let [lower, upper] = [(); 2].map(|()| WallNumbers::new(dims));
        Self {
            rows: dims[1],
            has_labels,
            lower,
            upper,
            vertices: 0,
        }
    }

    /// Adds the exposed faces of the cells in one word. Bit 0 of the word is cell `first` of row `j`.
    fn put(
        &self,
        (facing, word): (Facing, u64),
        [first, j, k]: [usize; 3],
        label: impl Fn(usize) -> u8,
        sink: &mut dyn FaceSink,
    ) -> io::Result<()> {
        for bit in bits_of(word) {
            let i = first + bit;
            let mut low = [i, j, k].map(|n| n as u32);
            let mut high = low.map(|n| n + 1);
            let wall = facing.wall(low[facing.axis]);
            (low[facing.axis], high[facing.axis]) = (wall, wall);
            let label = if self.has_labels { label(i) } else { 0 };
            let face = ExposedFace {
                facing,
                label,
                low,
                high,
            };
            let vertices = face.corners().map(|corner| {
                if facing.axis == 2 || corner[2] == high[2] {
                    self.upper.of(corner)
                } else {
                    self.lower.of(corner)
                }
            });
            sink.face(&face, vertices)?;
        }
        Ok(())
    }
}

impl FaceMaker for SingleFaces {
    fn wall(&mut self, k: u32, layers: &LayerPair, sink: &mut dyn FaceSink) -> io::Result<()> {
        swap(&mut self.lower, &mut self.upper);
        self.upper.clear();
        for (j, corners) in self.upper.rows_mut() {
            layers.corners(j, corners);
        }
        self.vertices = put_vertices(&mut self.upper, self.vertices, k, sink)?;
        let k = k as usize;
        for j in 0..self.rows {
            let Some(rows) = layers.below.rows(j) else {
                continue;
            };
            for facing in Facing::WITHIN {
                for (n, word) in rows.exposed(facing).enumerate() {
                    self.put(
                        (facing, word),
                        [64 * n, j, k - 1],
                        |i| layers.below.label(i, j),
                        sink,
                    )?;
                }
            }
        }
        for j in 0..self.rows {
            for facing in [Facing::UP, Facing::DOWN] {
                let layer = layers.layer(facing);
                // An upward face belongs to the cell below the wall, a downward face to the cell above it.
                let cell = if facing == Facing::UP {
                    k.wrapping_sub(1)
                } else {
                    k
                };
                for (n, word) in layers.exposed(j, facing).enumerate() {
                    self.put(
                        (facing, word),
                        [64 * n, j, cell],
                        |i| layer.label(i, j),
                        sink,
                    )?;
                }
            }
        }
        Ok(())
    }
}
