//! Writing `.vox`: tiles, their models, and the scene that puts them in their places.

use std::io::{self, Write};

use vox_format::chunk::{ChunkId, ChunkWriter};
use vox_format::types::Version;
use vox_format::writer::{Error as VoxError, main_chunk_writer};

use super::super::save::{Sink, cancelled};
use super::super::{Dtype, record};
use super::{ATTRIBUTE, TILE, shift};
use crate::error::Error;
use crate::grid::bits::bits_of;
use crate::grid::meta::Style;
use crate::grid::{BitGrid, Voxels};
use crate::par::{self, Progress};

/// The colour of surface voxels.
const SURFACE: u8 = 1;

/// Words of a row of a tile.
const TILE_WORDS: usize = TILE / 64;

/// A box of at most 256³ cells that holds voxels.
struct Tile {
    origin: [usize; 3],
    size: [usize; 3],
    voxels: u32,
}

type Main<'a> = ChunkWriter<&'a mut dyn Sink>;
type VoxResult = Result<(), VoxError>;

pub(super) fn write(
    voxels: &Voxels,
    out: &mut dyn Sink,
    _: Dtype,
    progress: &dyn Progress,
) -> io::Result<()> {
    let bits = &voxels.bits;
    let tiles = tiles(bits);
    let count = tiles.iter().map(|tile| u64::from(tile.voxels)).sum();
    let json = record(voxels).to_json(Style::OneLine);
    check_length(count, &tiles, &json).map_err(io::Error::other)?;
    progress.begin("write", count);
    let result = main_chunk_writer(out, Version::default(), |main| {
        for tile in &tiles {
            write_model(main, bits, tile, progress)?;
        }
        write_scene(main, &tiles, shift(bits.dims()), &json)?;
        put(main, ChunkId::Layr, &layer())?;
        put(main, ChunkId::Rgba, &palette())
    });
    match result {
        Ok(()) => Ok(()),
        Err(VoxError::Io(error)) => Err(error),
        Err(other) => Err(io::Error::other(other.to_string())),
    }
}

/// Lengths are 32 bits, so a file ends at 4 GiB. Nodes of a tile take less than 300 bytes.
fn check_length(count: u64, tiles: &[Tile], json: &str) -> crate::error::Result<()> {
    let bytes = 4 * count + 300 * tiles.len() as u64 + json.len() as u64 + 2048;
    if bytes <= u64::from(u32::MAX) {
        return Ok(());
    }
    Err(Error::too_large(format!("{count} voxels do not fit a .vox file, which ends at 4 GiB"))
        .with_hint("use larger cells, or save as .npz"))
}

/// The tiles that hold voxels, x fastest; of an empty grid the first.
fn tiles(bits: &BitGrid) -> Vec<Tile> {
    let dims = bits.dims();
    let [tx, ty, tz] = dims.map(|n| n.div_ceil(TILE));
    let all = par::map_range(0..tz, |k| {
        let in_layer = (0..tx * ty).map(|n| [n % tx, n / tx, k]);
        in_layer.map(|tile| Tile::of(bits, tile)).filter(|tile| tile.voxels > 0).collect::<Vec<_>>()
    });
    let mut tiles: Vec<_> = all.into_iter().flatten().collect();
    if tiles.is_empty() {
        tiles.push(Tile::of(bits, [0; 3]));
    }
    tiles
}

impl Tile {
    fn of(bits: &BitGrid, number: [usize; 3]) -> Self {
        let origin = number.map(|n| n * TILE);
        let size = std::array::from_fn(|a| TILE.min(bits.dims()[a] - origin[a]));
        let mut tile = Self { origin, size, voxels: 0 };
        let rows = (0..size[2]).flat_map(|k| (0..size[1]).map(move |j| (j, k)));
        tile.voxels = rows.flat_map(|(j, k)| tile.row(bits, j, k)).map(|word| word.count_ones()).sum();
        tile
    }

    /// The words of row `(j, k)` of the tile.
    fn row<'a>(&self, bits: &'a BitGrid, j: usize, k: usize) -> &'a [u64] {
        let row = bits.row(self.origin[1] + j, self.origin[2] + k);
        let first = self.origin[0] / 64;
        &row[first..row.len().min(first + TILE_WORDS)]
    }

    /// The size that is written: even, so that viewers that turn about size / 2.0 agree with those
    /// that turn about floor(size / 2).
    fn even_size(&self) -> [usize; 3] {
        self.size.map(|n| n.next_multiple_of(2))
    }
}

fn write_model(main: &mut Main, bits: &BitGrid, tile: &Tile, progress: &dyn Progress) -> VoxResult {
    put(main, ChunkId::Size, &numbers(tile.even_size().map(|n| n as u32)))?;
    main.child_content_writer(ChunkId::Xyzi, |content| {
        content.write_all(&tile.voxels.to_le_bytes())?;
        let mut layer = Vec::new();
        for k in 0..tile.size[2] {
            cancelled(progress)?;
            layer.clear();
            for j in 0..tile.size[1] {
                for (n, word) in tile.row(bits, j, k).iter().enumerate() {
                    for bit in bits_of(*word) {
                        layer.extend_from_slice(&[(64 * n + bit) as u8, j as u8, k as u8, SURFACE]);
                    }
                }
            }
            content.write_all(&layer)?;
            progress.advance(layer.len() as u64 / 4);
        }
        Ok(())
    })
}

/// The nodes: 0 turns nothing and carries the attribute, 1 groups, tile `n` is `2n + 2` and `2n + 3`.
fn write_scene(main: &mut Main, tiles: &[Tile], shift: [usize; 3], json: &str) -> VoxResult {
    put(main, ChunkId::NTrn, &transform(0, &attributes(&[(ATTRIBUTE, json)]), 1, &attributes(&[])))?;
    let mut group = numbers([1, 0, tiles.len() as u32]);
    group.extend((0..tiles.len() as u32).flat_map(|n| (2 * n + 2).to_le_bytes()));
    put(main, ChunkId::NGrp, &group)?;
    for (n, tile) in tiles.iter().enumerate() {
        let id = 2 * n as u32 + 2;
        let [x, y, z]: [i64; 3] =
            std::array::from_fn(|a| (tile.origin[a] + tile.even_size()[a] / 2) as i64 - shift[a] as i64);
        let place = attributes(&[("_t", &format!("{x} {y} {z}"))]);
        put(main, ChunkId::NTrn, &transform(id, &attributes(&[]), id + 1, &place))?;
        put(main, ChunkId::NShp, &numbers([id + 1, 0, 1, n as u32, 0]))?;
    }
    Ok(())
}

fn transform(id: u32, attributes: &[u8], child: u32, frame: &[u8]) -> Vec<u8> {
    // Reserved, always −1; then the layer and the number of frames.
    let middle = numbers([child, u32::MAX, 0, 1]);
    [&id.to_le_bytes(), attributes, &middle, frame].concat()
}

fn layer() -> Vec<u8> {
    [numbers([0]), attributes(&[("_name", "voxels")]), numbers([u32::MAX])].concat()
}

fn attributes(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = numbers([pairs.len() as u32]);
    for text in pairs.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// Colour 1 a warm sand, 2 a slate blue for what lies inside, the rest greys.
fn palette() -> Vec<u8> {
    let mut colours: [[u8; 4]; 256] = std::array::from_fn(|n| {
        let grey = 255 - n as u8 / 2;
        [grey, grey, grey, 255]
    });
    // The first entry is colour 1.
    colours[0] = [0xe8, 0xb0, 0x6c, 0xff];
    colours[1] = [0x5b, 0x7c, 0x99, 0xff];
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
