//! Starting points of rays. For each square of pixels, the distance to the nearest block of cells that is
//! visible there is stored. Rays that miss all blocks are not followed, and the others start at the first
//! block. Without these squares, a picture of the mesh dragon takes 1.2 times as long with 256 cells, and 1.9
//! times as long with 1024 cells.

use super::camera::Camera;
use super::solid::{BLOCK, Solid};

/// Number of pixels along each side of a square.
const TILE: usize = 16;

/// Starting points for all squares of a picture.
pub(super) struct Tiles {
    columns: usize,
    /// For each square, the fraction of its rays before which there is no cell. Infinite if the rays meet no
    /// block.
    starts: Vec<f64>,
}

impl Tiles {
    /// Computes the starting points for a picture. `spacing` is the size of a cell.
    pub(super) fn new(solid: &Solid, spacing: [f64; 3], camera: &Camera, size: [usize; 2]) -> Self {
        let [columns, rows] = size.map(|n| n.div_ceil(TILE));
        let mut tiles = Self {
            columns,
            starts: vec![f64::INFINITY; columns * rows],
        };
        for block in solid.blocks.iter() {
            let corner = |n: usize| -> [f64; 3] {
                std::array::from_fn(|a| ((block[a] + (n >> a & 1)) * BLOCK) as f64 * spacing[a])
            };
            let seen: [_; 8] = std::array::from_fn(|n| camera.project(corner(n)));
            // A block next to the eye or behind it cannot be projected, so it may appear anywhere.
            if !seen
                .iter()
                .all(|p| p[2].is_finite() && p[0].is_finite() && camera.is_before(p[2]))
            {
                tiles.starts.fill(0.0);
                return tiles;
            }
            // A margin of a pixel and a millionth makes up for rounding.
            let [across, down] = [(0, columns), (1, rows)].map(|(a, count)| {
                let places = seen.iter().map(|p| p[a]);
                let low = places.clone().fold(f64::INFINITY, f64::min) - 1.0;
                let high = places.fold(f64::NEG_INFINITY, f64::max) + 1.0;
                tile_at(low)..(tile_at(high) + 1).min(count)
            });
            let nearest = (0..8)
                .map(|n| camera.fraction(corner(n)))
                .fold(f64::INFINITY, f64::min);
            let start = (nearest - 1e-6).max(0.0);
            for row in down {
                for tile in &mut tiles.starts[row * columns..][across.clone()] {
                    *tile = tile.min(start);
                }
            }
        }
        tiles
    }

    /// Returns the fraction at which the ray through a point of the picture may start. `None` if it meets no
    /// block.
    pub(super) fn start(&self, at: [f64; 2]) -> Option<f64> {
        let [column, row] = at.map(|n| n as usize / TILE);
        let start = self.starts[row * self.columns + column];
        start.is_finite().then_some(start)
    }
}

/// Returns the column or the row of the square that contains a pixel.
fn tile_at(pixel: f64) -> usize {
    pixel.max(0.0) as usize / TILE
}
