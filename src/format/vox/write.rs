//! Writing `.vox`: tiles, their models, and the scene that puts them in their places.

use std::io::{self, Write};
use std::ops::Range;

use vox_format::chunk::{ChunkId, ChunkWriter};
use vox_format::types::Version;
use vox_format::writer::{Error as VoxError, main_chunk_writer};

use super::super::save::{Sink, cancelled, next};
use super::super::{Dtype, SaveOptions, metadata};
use super::{ATTRIBUTE, TILE, Turn, shift};
use crate::error::Error;
use crate::grid::bits::bits_of;
use crate::grid::metadata::Style;
use crate::grid::{BitGrid, CellSource, CellType, CellsRef, Label, Slab};
use crate::par::{self, Progress};

/// The colour of all cells of bits.
const PLAIN: u8 = 1;

/// Voxels that one thread makes at a time, about: those of a full layer of a tile, 256 KiB.
const PART: u32 = (TILE * TILE) as u32;

/// Words of a row of a tile.
const TILE_WORDS: usize = TILE / 64;

/// The most layers of a scene that viewers list.
const MOST_LAYERS: usize = 32;

/// A box of at most 256³ cells that holds voxels: all, or those of one label.
struct Tile {
    origin: [usize; 3],
    size: [usize; 3],
    /// The place in the legend of the label whose voxels it holds, which is also that of its layer.
    layer: Option<usize>,
    voxels: u32,
    parts: Vec<TilePart>,
}

/// Layers of a tile that follow each other, with so many voxels: what one thread makes at a time.
#[derive(Clone)]
struct TilePart {
    layers: Range<usize>,
    voxels: u32,
}

type Main<'a> = ChunkWriter<&'a mut dyn Sink>;
type VoxResult = Result<(), VoxError>;

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let dims = source.dims();
    let json = metadata(source, dtype).to_json(Style::OneLine);
    let turn = Turn::of(source.record());
    let result = main_chunk_writer(out, Version::default(), |main| {
        let layers = layers(&source.cell_type());
        let tiles = write_models(main, source, (turn, layers.len()), json.len(), options.progress)?;
        write_scene(main, &tiles, turn, dims, &json)?;
        for (n, name) in
            layers.iter().map(String::as_str).chain(layers.is_empty().then_some("voxels")).enumerate()
        {
            put(main, ChunkId::Layr, &layer(n as u32, name))?;
        }
        put(main, ChunkId::Rgba, &palette(source.cell_type()))
    });
    match result {
        Ok(()) => Ok(()),
        Err(VoxError::Io(error)) => Err(error),
        Err(other) => Err(io::Error::other(other.to_string())),
    }
}

/// The names of the layers: one for each label that has a name of its own, unless these are too many.
fn layers(cells: &CellType) -> Vec<String> {
    let CellType::Labels(legend) = cells else { return vec![] };
    let labels = legend.labels();
    // Colours are named by their numbers.
    let is_named = !legend.is_standard() && labels.iter().all(|label| !label.name.starts_with('#'));
    match is_named && labels.len() <= MOST_LAYERS {
        true => labels.iter().map(|label| label.name.to_string()).collect(),
        false => vec![],
    }
}

/// The models of all tiles that hold voxels, x fastest, one for each of so many layers, if there are any; of an empty
/// grid of the first tile.
fn write_models(
    main: &mut Main,
    source: &mut dyn CellSource,
    (turn, layers): (Turn, usize),
    json: usize,
    progress: &dyn Progress,
) -> Result<Vec<Tile>, VoxError> {
    let dims = source.dims();
    let mut tiles = Vec::new();
    let mut count = 0;
    while let Some(slab) = next(source)? {
        let start = tiles.len();
        let bits = slab.cells.occupied().map_err(io::Error::other)?;
        tiles.extend(tiles_of(&slab, bits, dims, layers).map_err(io::Error::other)?);
        count += tiles[start..].iter().map(|tile: &Tile| u64::from(tile.voxels)).sum::<u64>();
        check_length(count, tiles.len(), json).map_err(io::Error::other)?;
        progress.begin("write", count);
        for tile in &tiles[start..] {
            write_model(main, &slab, bits, (tile, turn), progress)?;
        }
    }
    if tiles.is_empty() {
        let tile = Tile::new([0; 3], dims, None);
        put(main, ChunkId::Size, &numbers(tile.even_size(turn)))?;
        put(main, ChunkId::Xyzi, &numbers([0]))?;
        tiles.push(tile);
    }
    Ok(tiles)
}

/// Lengths are 32 bits, so a file ends at 4 GiB. Nodes of a tile take less than 300 bytes.
fn check_length(count: u64, tiles: usize, json: usize) -> crate::error::Result<()> {
    let bytes = 4 * count + 300 * tiles as u64 + json as u64 + 2048;
    if super::FORMAT.max_bytes.is_none_or(|most| bytes <= most) {
        return Ok(());
    }
    Err(Error::too_large(format!("{count} voxels do not fit a .vox file, which ends at 4 GiB"))
        .with_hint("use larger cells, or save as .npz"))
}

/// The tiles of a slab that hold voxels, x fastest.
fn tiles_of(slab: &Slab, bits: &BitGrid, dims: [usize; 3], layers: usize) -> crate::error::Result<Vec<Tile>> {
    let first = slab.first;
    let end = first + bits.dims()[2];
    if !first.is_multiple_of(TILE) || !end.is_multiple_of(TILE) && end != dims[2] {
        return Err(Error::usage(format!("a .vox file is made of slabs of {TILE} layers")));
    }
    let [tx, ty, _] = dims.map(|n| n.div_ceil(TILE));
    let tz = bits.dims()[2].div_ceil(TILE);
    let each = layers.max(1);
    let tiles = par::map_range(0..tx * ty * tz * each, |n| {
        let (n, layer) = (n / each, (layers > 0).then_some(n % each));
        let mut tile = Tile::new([n % tx, n / tx % ty, first / TILE + n / (tx * ty)], dims, layer);
        tile.count(slab, bits);
        tile
    });
    Ok(tiles.into_iter().filter(|tile| tile.voxels > 0).collect())
}

impl Tile {
    /// The tile of this number on each axis, in a grid of `dims` cells.
    fn new(number: [usize; 3], dims: [usize; 3], layer: Option<usize>) -> Self {
        let origin = number.map(|n| n * TILE);
        let size = std::array::from_fn(|a| TILE.min(dims[a] - origin[a]));
        Self { origin, size, layer, voxels: 0, parts: vec![] }
    }

    /// Counts the voxels, and divides the layers into parts.
    fn count(&mut self, slab: &Slab, bits: &BitGrid) {
        let mut labels = vec![0; bits.dims()[0]];
        for k in 0..self.size[2] {
            let voxels = (0..self.size[1]).map(|j| {
                let row = self.row(bits, slab.first, j, k);
                match self.layer {
                    _ if is_empty(row) => 0,
                    None => row.iter().map(|word| word.count_ones()).sum(),
                    Some(layer) => self
                        .words_of(slab, layer, &mut labels, [j, k])
                        .iter()
                        .map(|word| word.count_ones())
                        .sum(),
                }
            });
            let voxels: u32 = voxels.sum();
            self.voxels += voxels;
            match self.parts.last_mut() {
                Some(part) if part.voxels + voxels <= PART => {
                    part.layers.end = k + 1;
                    part.voxels += voxels;
                }
                _ => self.parts.push(TilePart { layers: k..k + 1, voxels }),
            }
        }
    }

    /// The words of row `(j, k)` of the tile, of `bits` whose first layer is `first`.
    fn row<'a>(&self, bits: &'a BitGrid, first: usize, j: usize, k: usize) -> &'a [u64] {
        let row = bits.row(self.origin[1] + j, self.origin[2] - first + k);
        let first = self.origin[0] / 64;
        &row[first..row.len().min(first + TILE_WORDS)]
    }

    /// The words of the cells of row `(j, k)` of the tile that have the label of a layer.
    fn words_of(&self, slab: &Slab, layer: usize, row: &mut [u8], [j, k]: [usize; 2]) -> [u64; TILE_WORDS] {
        let mut words = [0; TILE_WORDS];
        let CellsRef::Labels(labels) = slab.cells else { return words };
        let (j, k) = (self.origin[1] + j, self.origin[2] - slab.first + k);
        if labels.is_in_planes() {
            let all = labels.words(layer, j, k).skip(self.origin[0] / 64);
            words.iter_mut().zip(all).for_each(|(word, of)| *word = of);
            return words;
        }
        labels.row(j, k, row);
        let value = labels.legend().labels()[layer].value;
        let cells = row[self.origin[0]..].iter().take(TILE).enumerate();
        cells.for_each(|(n, is)| words[n / 64] |= u64::from(*is == value) << (n % 64));
        words
    }

    /// Adds the voxels of row `(j, k)`: of labels in planes one label after the other, else x fastest.
    fn push_row(
        &self,
        voxels: &mut Vec<u8>,
        slab: &Slab,
        bits: &BitGrid,
        row: &mut [u8],
        ([j, k], turn): ([usize; 2], Turn),
    ) {
        let words = self.row(bits, slab.first, j, k);
        if is_empty(words) {
            return;
        }
        // No turn moves cells along x.
        let [_, y, z] = turn.place([0, j, k], self.size);
        let CellsRef::Labels(labels) = slab.cells else {
            return push(voxels, words.iter().copied(), y, z, |_| PLAIN);
        };
        if let Some(layer) = self.layer {
            let words = self.words_of(slab, layer, row, [j, k]);
            return push(voxels, words.into_iter(), y, z, |_| labels.legend().labels()[layer].value);
        }
        let place = [self.origin[1] + j, self.origin[2] - slab.first + k];
        if labels.is_in_planes() {
            for (n, label) in labels.legend().labels().iter().enumerate() {
                let words = labels.words(n, place[0], place[1]).skip(self.origin[0] / 64).take(TILE_WORDS);
                push(voxels, words, y, z, |_| label.value);
            }
        } else {
            labels.row(place[0], place[1], row);
            push(voxels, words.iter().copied(), y, z, |i| row[self.origin[0] + i]);
        }
    }

    /// The size that is written: even, so that viewers that turn about size / 2.0 agree with those
    /// that turn about floor(size / 2).
    fn even_size(&self, turn: Turn) -> [u32; 3] {
        turn.dims(self.size).map(|n| n.next_multiple_of(2) as u32)
    }
}

fn write_model(
    main: &mut Main,
    slab: &Slab,
    bits: &BitGrid,
    (tile, turn): (&Tile, Turn),
    progress: &dyn Progress,
) -> VoxResult {
    put(main, ChunkId::Size, &numbers(tile.even_size(turn)))?;
    let made = |TilePart { layers, voxels }: TilePart| {
        let mut voxels = Vec::with_capacity(4 * voxels as usize);
        let mut row = vec![0; bits.dims()[0]];
        for (k, j) in layers.flat_map(|k| (0..tile.size[1]).map(move |j| (k, j))) {
            tile.push_row(&mut voxels, slab, bits, &mut row, ([j, k], turn));
        }
        voxels
    };
    main.child_content_writer(ChunkId::Xyzi, |content| {
        content.write_all(&tile.voxels.to_le_bytes())?;
        for parts in tile.parts.chunks(2 * par::current_threads()) {
            cancelled(progress)?;
            for voxels in par::map(parts.to_vec(), made) {
                content.write_all(&voxels)?;
                progress.advance(voxels.len() as u64 / 4);
            }
        }
        Ok(())
    })
}

/// Whether a row has no cell: most have none.
fn is_empty(words: &[u64]) -> bool {
    words.iter().fold(0, |all, word| all | word) == 0
}

/// Adds the voxels of a row of a tile, of the colour of each column.
fn push(
    voxels: &mut Vec<u8>,
    row: impl Iterator<Item = u64>,
    j: usize,
    k: usize,
    colour: impl Fn(usize) -> u8,
) {
    let mut cells = [[0; 4]; 64];
    for (n, word) in row.enumerate().filter(|(_, word)| *word != 0) {
        let mut count = 0;
        for bit in bits_of(word) {
            let i = 64 * n + bit;
            cells[count] = [i as u8, j as u8, k as u8, colour(i)];
            count += 1;
        }
        voxels.extend_from_slice(cells[..count].as_flattened());
    }
}

/// The nodes: 0 turns nothing and carries the attribute, 1 groups, tile `n` is `2n + 2` and `2n + 3`.
fn write_scene(main: &mut Main, tiles: &[Tile], turn: Turn, dims: [usize; 3], json: &str) -> VoxResult {
    let shift = shift(turn.dims(dims));
    put(main, ChunkId::NTrn, &transform(0, &attributes(&[(ATTRIBUTE, json)]), [1, 0], &attributes(&[])))?;
    let mut group = numbers([1, 0, tiles.len() as u32]);
    group.extend((0..tiles.len() as u32).flat_map(|n| (2 * n + 2).to_le_bytes()));
    put(main, ChunkId::NGrp, &group)?;
    for (n, tile) in tiles.iter().enumerate() {
        let id = 2 * n as u32 + 2;
        // The corner of the tile that is lowest in the scene.
        let ends =
            [0, 1].map(|end| turn.place([0, 1, 2].map(|a| tile.origin[a] + end * (tile.size[a] - 1)), dims));
        let origin: [usize; 3] = std::array::from_fn(|a| ends[0][a].min(ends[1][a]));
        let [x, y, z]: [i64; 3] = std::array::from_fn(|a| {
            (origin[a] as i64 + i64::from(tile.even_size(turn)[a] / 2)) - shift[a] as i64
        });
        let place = attributes(&[("_t", &format!("{x} {y} {z}"))]);
        put(
            main,
            ChunkId::NTrn,
            &transform(id, &attributes(&[]), [id + 1, tile.layer.unwrap_or(0) as u32], &place),
        )?;
        put(main, ChunkId::NShp, &numbers([id + 1, 0, 1, n as u32, 0]))?;
    }
    Ok(())
}

fn transform(id: u32, attributes: &[u8], [child, layer]: [u32; 2], frame: &[u8]) -> Vec<u8> {
    // Reserved, always −1; and the number of frames.
    let middle = numbers([child, u32::MAX, layer, 1]);
    [&id.to_le_bytes(), attributes, &middle, frame].concat()
}

fn layer(id: u32, name: &str) -> Vec<u8> {
    [&numbers([id])[..], &attributes(&[("_name", name)]), &numbers([u32::MAX])].concat()
}

fn attributes(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = numbers([pairs.len() as u32]);
    for text in pairs.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// The colours of the labels of this grid, and of surface and interior where these leave room; the rest greys.
fn palette(cells: CellType) -> Vec<u8> {
    let mut colours: [[u8; 4]; 256] = std::array::from_fn(|n| {
        let grey = 255 - n as u8 / 2;
        [grey, grey, grey, 255]
    });
    // The first entry is colour 1.
    let mut put = |value: u8, [r, g, b]: [u8; 3]| colours[usize::from(value) - 1] = [r, g, b, 0xff];
    for label in [Label::SURFACE, Label::INTERIOR] {
        label.standard_colour().into_iter().for_each(|colour| put(label.value, colour));
    }
    if let CellType::Labels(legend) = cells {
        let labels = legend.labels();
        labels.iter().for_each(|label| {
            put(label.value, label.standard_colour().unwrap_or(legend.colour(label.value)))
        });
        if labels.is_empty() {
            (1..=255).for_each(|value| put(value, legend.colour(value)));
        }
    }
    colours.concat()
}

fn numbers<const N: usize>(values: [u32; N]) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A chunk of its own; never without content, which the chunk writer would measure wrongly.
fn put(main: &mut Main, id: ChunkId, content: &[u8]) -> VoxResult {
    debug_assert!(!content.is_empty());
    main.child_content_writer(id, |out| Ok(out.write_all(content)?))
}
