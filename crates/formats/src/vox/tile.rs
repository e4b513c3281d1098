//! Tiles and their voxels. A tile is a box of at most 256³ cells that becomes the model of an object.

use std::ops::Range;

use super::cuts::Cuts;
use super::layers::SceneLayers;
use super::{TILE, TILE_WORDS, Turn};
use voxelize_core::grid::bits::bits_of;
use voxelize_core::par;

/// Colour of all voxels of a grid of bits.
const PLAIN: u8 = 1;

/// Approximate number of voxels that a thread makes at a time. This is a full layer of a tile, which takes
/// 256 KiB.
const PART: u32 = (TILE * TILE) as u32;

/// Box of at most 256³ cells, with all voxels in it or with those of a single label.
pub(super) struct Tile {
    /// First cell of the tile in the grid.
    pub origin: [usize; 3],
    pub size: [usize; 3],
    /// Index of the tile's label in the legend. It is also the index of the layer. `None` if the tile has all
    /// voxels.
    pub layer: Option<usize>,
    pub voxels: u32,
    parts: Vec<TilePart>,
}

/// Consecutive layers of a tile, and the number of voxels in them. A single thread makes the voxels of a
/// part.
#[derive(Clone)]
pub(super) struct TilePart {
    layers: Range<usize>,
    voxels: u32,
}

/// Returns the tiles that have voxels and whose indices are in these ranges. x varies fastest. If there are
/// labels, each label with voxels has its own tile.
pub(super) fn tiles_of(
    layers: &SceneLayers,
    cuts: &Cuts,
    [xs, ys, zs]: [Range<usize>; 3],
    labels: usize,
) -> Vec<Tile> {
    let [tx, ty] = [xs.len(), ys.len()];
    let each = labels.max(1);
    let tiles = par::map_range(0..tx * ty * zs.len() * each, |n| {
        let (n, layer) = (n / each, (labels > 0).then_some(n % each));
        let number = [
            xs.start + n % tx,
            ys.start + n / tx % ty,
            zs.start + n / (tx * ty),
        ];
        let mut tile = Tile::new(number, cuts, layer);
        tile.count(layers);
        tile
    });
    tiles.into_iter().filter(|tile| tile.voxels > 0).collect()
}

impl Tile {
    /// Creates the tile with this index along each axis. Its voxels are not counted yet.
    pub(super) fn new(number: [usize; 3], cuts: &Cuts, layer: Option<usize>) -> Self {
        let cells: [Range<usize>; 3] = std::array::from_fn(|axis| cuts.tile(axis, number[axis]));
        let [origin, size] = [
            cells.clone().map(|cells| cells.start),
            cells.map(|cells| cells.len()),
        ];
        Self {
            origin,
            size,
            layer,
            voxels: 0,
            parts: vec![],
        }
    }

    /// Counts the voxels of the tile and divides its layers into parts.
    fn count(&mut self, layers: &SceneLayers) {
        let mut row = layers.row_of_labels();
        for k in 0..self.size[2] {
            let mut voxels = 0;
            if !self.each_word(layers, k, |_, _, word| voxels += word.count_ones()) {
                for j in 0..self.size[1] {
                    for word in self.words(layers, [j, k], &mut row) {
                        voxels += word.count_ones();
                    }
                }
            }
            self.voxels += voxels;
            match self.parts.last_mut() {
                Some(part) if part.voxels + voxels <= PART => {
                    part.layers.end = k + 1;
                    part.voxels += voxels;
                }
                _ => self.parts.push(TilePart {
                    layers: k..k + 1,
                    voxels,
                }),
            }
        }
    }

    /// Returns the parts of the tile. Each can be made by a different thread.
    pub(super) fn parts(&self) -> &[TilePart] {
        &self.parts
    }

    /// Converts a row of the tile to a row of the grid.
    fn row(&self, [j, k]: [usize; 2]) -> [usize; 2] {
        [self.origin[1] + j, self.origin[2] + k]
    }

    /// Returns the voxels of row `(j, k)` of the tile, as words. `row` is a buffer for the labels of a row.
    fn words(&self, layers: &SceneLayers, at: [usize; 2], row: &mut [u8]) -> [u64; TILE_WORDS] {
        let first = self.origin[0] / 64;
        let at = self.row(at);
        let mut words = layers.voxels(at, first);
        if let Some(layer) = self.layer
            && words != [0; TILE_WORDS]
        {
            let of_label = layers.of_label(layer, at, first, row);
            for (word, label) in words.iter_mut().zip(of_label) {
                *word &= label;
            }
        }
        words
    }

    /// Returns the voxels of a part. Each takes four bytes.
    pub(super) fn make(&self, part: &TilePart, layers: &SceneLayers, turn: Turn) -> Vec<u8> {
        let mut voxels = Vec::with_capacity(4 * part.voxels as usize);
        let mut row = layers.row_of_labels();
        for k in part.layers.clone() {
            let is_plain = self.each_word(layers, k, |j, n, word| {
                // No turn moves cells along x.
                let [_, y, z] = turn.place([0, j, k], self.size);
                push_word(&mut voxels, (n, word), [y, z], |_| PLAIN);
            });
            if !is_plain {
                for j in 0..self.size[1] {
                    self.push_row(&mut voxels, layers, &mut row, ([j, k], turn));
                }
            }
        }
        voxels
    }

    /// Calls `each` for the nonzero words in layer `k` of the tile, with the index of the row in the tile.
    /// Returns `false` without calling it unless the cells are bits that all become voxels.
    fn each_word(
        &self,
        layers: &SceneLayers,
        k: usize,
        mut each: impl FnMut(usize, usize, u64),
    ) -> bool {
        let [x, y, z] = self.origin;
        layers.each_word((y..y + self.size[1], z + k), x / 64, |j, n, word| {
            each(j - y, n, word)
        })
    }

    /// Appends the voxels of row `(j, k)`. If labels are stored in planes, the voxels of one label are
    /// appended after those of another. Otherwise x varies fastest.
    fn push_row(
        &self,
        voxels: &mut Vec<u8>,
        layers: &SceneLayers,
        row: &mut [u8],
        ([j, k], turn): ([usize; 2], Turn),
    ) {
        let words = self.words(layers, [j, k], row);
        if words == [0; TILE_WORDS] {
            return;
        }
        // No turn moves cells along x.
        let [_, y, z] = turn.place([0, j, k], self.size);
        let at = self.row([j, k]);
        let Some(labels) = layers.labels(at, row) else {
            return push(voxels, words, [y, z], |_| PLAIN);
        };
        let legend = labels.legend().labels();
        if let Some(layer) = self.layer {
            push(voxels, words, [y, z], |_| legend[layer].value);
        } else if labels.is_in_planes() {
            for (place, label) in legend.iter().enumerate() {
                let of_label = layers.of_label(place, at, self.origin[0] / 64, row);
                let words = std::array::from_fn(|n| words[n] & of_label[n]);
                push(voxels, words, [y, z], |_| label.value);
            }
        } else {
            push(voxels, words, [y, z], |i| row[self.origin[0] + i]);
        }
    }

    /// Returns the size that the file states. It is rounded up to even numbers. Then viewers that rotate
    /// about size / 2.0 agree with viewers that rotate about floor(size / 2).
    pub(super) fn even_size(&self, turn: Turn) -> [u32; 3] {
        turn.dims(self.size).map(|n| n.next_multiple_of(2) as u32)
    }
}

/// Appends the voxels of a row of the tile. `colour` returns the colour of the voxel at each x.
fn push(
    voxels: &mut Vec<u8>,
    row: [u64; TILE_WORDS],
    [y, z]: [usize; 2],
    colour: impl Fn(usize) -> u8,
) {
    for (n, word) in row.into_iter().enumerate().filter(|(_, word)| *word != 0) {
        push_word(voxels, (n, word), [y, z], &colour);
    }
}

/// Appends the voxels in word `n` of a row.
fn push_word(
    voxels: &mut Vec<u8>,
    (n, word): (usize, u64),
    [y, z]: [usize; 2],
    colour: impl Fn(usize) -> u8,
) {
    let mut cells = [[0; 4]; 64];
    let mut count = 0;
    for bit in bits_of(word) {
        let i = 64 * n + bit;
        cells[count] = [i as u8, y as u8, z as u8, colour(i)];
        count += 1;
    }
    voxels.extend_from_slice(cells[..count].as_flattened());
}
