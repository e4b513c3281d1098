//! Tiles and their voxels. A tile is a box of at most 256³ cells that becomes a model. If the grid has parts,
//! each part in a tile has its own model, cut to the cells of the part.

use std::ops::Range;

use super::cuts::Cuts;
use super::layers::SceneLayers;
use super::objects::SceneObjects;
use super::{TILE, TILE_WORDS, Turn};
use voxelize_core::grid::bits::bits_of;
use voxelize_core::par;

/// Colour of all voxels of a grid of bits.
const PLAIN: u8 = 1;

/// Approximate number of voxels that a thread makes at a time. This is a full layer of a tile, which takes
/// 256 KiB.
const PART: u32 = (TILE * TILE) as u32;

/// Box of at most 256³ cells, with all voxels in it or with those of a single object.
pub(super) struct Tile {
    /// First cell of the tile in the grid.
    pub origin: [usize; 3],
    pub size: [usize; 3],
    /// Index of the object. `None` if the tile has all voxels.
    pub object: Option<usize>,
    pub voxels: u32,
    /// First word of the tile in a row of the grid. The tile of a part may begin at a later cell.
    first_word: usize,
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
/// objects, each object with voxels has its own tile.
pub(super) fn tiles_of(
    layers: &SceneLayers,
    cuts: &Cuts,
    [xs, ys, zs]: [Range<usize>; 3],
    objects: &SceneObjects,
) -> Vec<Tile> {
    let [tx, ty] = [xs.len(), ys.len()];
    let tiles = par::map_range(0..tx * ty * zs.len(), |n| {
        let number = [
            xs.start + n % tx,
            ys.start + n / tx % ty,
            zs.start + n / (tx * ty),
        ];
        let mut tile = Tile::new(number, cuts);
        if objects.names().is_empty() {
            tile.count(layers);
            vec![tile]
        } else {
            tile.of_objects(layers, objects)
        }
    });
    tiles
        .into_iter()
        .flatten()
        .filter(|tile| tile.voxels > 0)
        .collect()
}

/// Voxels of an object in a tile.
#[derive(Clone)]
struct ObjectCount {
    /// Number of voxels in each layer.
    layers: Vec<u32>,
    /// First cell and the cell after the last one, relative to the tile.
    low: [usize; 3],
    high: [usize; 3],
}

impl ObjectCount {
    /// Adds the voxels in word `n` of row `(j, k)`.
    fn add(&mut self, n: usize, word: u64, [j, k]: [usize; 2]) {
        if word == 0 {
            return;
        }
        self.layers[k] += word.count_ones();
        let first = 64 * n + word.trailing_zeros() as usize;
        let end = 64 * (n + 1) - word.leading_zeros() as usize;
        for (axis, [low, high]) in [[first, end], [j, j + 1], [k, k + 1]]
            .into_iter()
            .enumerate()
        {
            self.low[axis] = self.low[axis].min(low);
            self.high[axis] = self.high[axis].max(high);
        }
    }
}

impl Tile {
    /// Creates the tile with this index along each axis. Its voxels are not counted yet.
    pub(super) fn new(number: [usize; 3], cuts: &Cuts) -> Self {
        let cells: [Range<usize>; 3] = std::array::from_fn(|axis| cuts.tile(axis, number[axis]));
        let [origin, size] = [
            cells.clone().map(|cells| cells.start),
            cells.map(|cells| cells.len()),
        ];
        Self {
            origin,
            size,
            object: None,
            voxels: 0,
            first_word: origin[0] / 64,
            parts: vec![],
        }
    }

    /// Counts the voxels of the tile and divides its layers into parts.
    fn count(&mut self, layers: &SceneLayers) {
        for k in 0..self.size[2] {
            let mut voxels = 0;
            if !self.each_word(layers, k, |_, _, word| voxels += word.count_ones()) {
                for j in 0..self.size[1] {
                    for word in layers.voxels(self.row([j, k]), self.first_word) {
                        voxels += word.count_ones();
                    }
                }
            }
            self.put_layer(k, voxels);
        }
    }

    /// Adds layer `k` to the last part, or to a new part if the last one has enough voxels.
    fn put_layer(&mut self, k: usize, voxels: u32) {
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

    /// Returns a tile for each object. It has the cells of the object, and no voxels if there are none.
    fn of_objects(&self, layers: &SceneLayers, objects: &SceneObjects) -> Vec<Self> {
        let mut counts = vec![
            ObjectCount {
                layers: vec![0; self.size[2]],
                low: self.size,
                high: [0; 3],
            };
            objects.names().len()
        ];
        let mut row = layers.row_of_labels();
        for k in 0..self.size[2] {
            for j in 0..self.size[1] {
                let words = layers.voxels(self.row([j, k]), self.first_word);
                if words == [0; TILE_WORDS] {
                    continue;
                }
                let Some(labels) = layers.labels(self.row([j, k]), &mut row) else {
                    continue;
                };
                if labels.is_in_planes() {
                    for (place, label) in labels.legend().labels().iter().enumerate() {
                        let own = self.of_label(layers, place, [j, k], &mut row);
                        let count = &mut counts[objects.object(label.value)];
                        for n in 0..TILE_WORDS {
                            count.add(n, words[n] & own[n], [j, k]);
                        }
                    }
                    continue;
                }
                for (n, word) in words.into_iter().enumerate() {
                    for bit in bits_of(word) {
                        let value = row[64 * (self.first_word + n) + bit];
                        counts[objects.object(value)].add(n, 1 << bit, [j, k]);
                    }
                }
            }
        }
        let mut tiles = vec![];
        for (object, count) in counts.into_iter().enumerate() {
            let size = [0, 1, 2].map(|a| count.high[a].saturating_sub(count.low[a]));
            let mut tile = Self {
                origin: [0, 1, 2].map(|a| self.origin[a] + count.low[a]),
                size,
                object: Some(object),
                voxels: 0,
                first_word: self.first_word,
                parts: vec![],
            };
            for k in 0..size[2] {
                tile.put_layer(k, count.layers[count.low[2] + k]);
            }
            tiles.push(tile);
        }
        tiles
    }

    /// Returns the parts of the tile. Each can be made by a different thread.
    pub(super) fn parts(&self) -> &[TilePart] {
        &self.parts
    }

    /// Converts a row of the tile to a row of the grid.
    fn row(&self, [j, k]: [usize; 2]) -> [usize; 2] {
        [self.origin[1] + j, self.origin[2] + k]
    }

    /// Returns the cells of row `(j, k)` of the tile that have label number `place` of the legend, as words.
    fn of_label(
        &self,
        layers: &SceneLayers,
        place: usize,
        at: [usize; 2],
        row: &mut [u8],
    ) -> [u64; TILE_WORDS] {
        layers.of_label(place, self.row(at), self.first_word, row)
    }

    /// Returns the voxels of a part. Each takes four bytes.
    pub(super) fn make(
        &self,
        part: &TilePart,
        layers: &SceneLayers,
        turn: Turn,
        objects: &SceneObjects,
    ) -> Vec<u8> {
        let mut voxels = Vec::with_capacity(4 * part.voxels as usize);
        let mut row = layers.row_of_labels();
        for k in part.layers.clone() {
            let is_plain = self.each_word(layers, k, |j, n, word| {
                // No turn moves cells along x.
                let [_, y, z] = turn.place([0, j, k], self.size);
                push_word(&mut voxels, (n, word), [y, z], |i| (i, PLAIN));
            });
            if !is_plain {
                for j in 0..self.size[1] {
                    self.push_row(&mut voxels, layers, &mut row, ([j, k], turn, objects));
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
        ([j, k], turn, objects): ([usize; 2], Turn, &SceneObjects),
    ) {
        let mut words = layers.voxels(self.row([j, k]), self.first_word);
        if words == [0; TILE_WORDS] {
            return;
        }
        // No turn moves cells along x.
        let [_, y, z] = turn.place([0, j, k], self.size);
        let start = 64 * self.first_word;
        let before = self.origin[0] - start;
        let Some(labels) = layers.labels(self.row([j, k]), row) else {
            return push(voxels, words, [y, z], |i| (i - before, PLAIN));
        };
        let is_own = |value: u8| {
            self.object
                .is_none_or(|object| object == objects.object(value))
        };
        if labels.is_in_planes() {
            for (place, label) in labels.legend().labels().iter().enumerate() {
                if !is_own(label.value) {
                    continue;
                }
                let of_label = self.of_label(layers, place, [j, k], row);
                let words = std::array::from_fn(|n| words[n] & of_label[n]);
                let colour = objects.colour(label.value);
                push(voxels, words, [y, z], |i| (i - before, colour));
            }
            return;
        }
        if self.object.is_some() {
            for (n, word) in words.iter_mut().enumerate() {
                for bit in bits_of(*word) {
                    if !is_own(row[start + 64 * n + bit]) {
                        *word &= !(1 << bit);
                    }
                }
            }
        }
        push(voxels, words, [y, z], |i| {
            (i - before, objects.colour(row[start + i]))
        });
    }

    /// Returns the size that the file states. It is rounded up to even numbers. Then viewers that rotate
    /// about size / 2.0 agree with viewers that rotate about floor(size / 2).
    pub(super) fn even_size(&self, turn: Turn) -> [u32; 3] {
        turn.dims(self.size).map(|n| n.next_multiple_of(2) as u32)
    }
}

/// Appends the voxels of a row of the tile. `voxel` returns the place along x and the colour of the voxel with
/// this bit.
fn push(
    voxels: &mut Vec<u8>,
    row: [u64; TILE_WORDS],
    [y, z]: [usize; 2],
    voxel: impl Fn(usize) -> (usize, u8),
) {
    for (n, word) in row.into_iter().enumerate().filter(|(_, word)| *word != 0) {
        push_word(voxels, (n, word), [y, z], &voxel);
    }
}

/// Appends the voxels in word `n` of a row.
fn push_word(
    voxels: &mut Vec<u8>,
    (n, word): (usize, u64),
    [y, z]: [usize; 2],
    voxel: impl Fn(usize) -> (usize, u8),
) {
    let mut cells = [[0; 4]; 64];
    let mut count = 0;
    for bit in bits_of(word) {
        let (x, colour) = voxel(64 * n + bit);
        cells[count] = [x as u8, y as u8, z as u8, colour];
        count += 1;
    }
    voxels.extend_from_slice(cells[..count].as_flattened());
}
