//! Content of all chunks except the voxels: nodes of the scene, layers, and the palette.

use super::cuts::ScenePiece;
use super::tile::Tile;
use super::{ATTRIBUTE, Turn, shift};
use voxelize_core::grid::{CellType, Label};

/// Maximum number of layers that viewers list.
const MOST_LAYERS: usize = 32;

/// Returns the names of the layers, one for each named label. Empty if there are too many labels.
pub(super) fn layers(cells: &CellType) -> Vec<String> {
    let CellType::Labels(legend) = cells else {
        return vec![];
    };
    let labels = legend.labels();
    // A label whose name begins with `#` is named only by its colour.
    let is_named = !legend.is_standard() && labels.iter().all(|label| !label.name.starts_with('#'));
    if !is_named || labels.len() > MOST_LAYERS {
        return vec![];
    }
    labels.iter().map(|label| label.name.to_string()).collect()
}

/// Returns the root node. It does not move its child, and it has the attribute with the metadata.
pub(super) fn root(json: &str) -> Vec<u8> {
    transform(
        0,
        &attributes(&[(ATTRIBUTE, json)]),
        [1, 0],
        &attributes(&[]),
    )
}

/// Returns the group node of all tiles. Tile `n` has the nodes `2n + 2` and `2n + 3`.
pub(super) fn group(tiles: usize) -> Vec<u8> {
    let mut group = numbers([1, 0, tiles as u32]);
    group.extend((0..tiles as u32).flat_map(|n| (2 * n + 2).to_le_bytes()));
    group
}

/// Returns the transform node and the shape node of tile `n` in a piece.
pub(super) fn place(n: u32, tile: &Tile, turn: Turn, piece: &ScenePiece) -> [Vec<u8>; 2] {
    let dims = piece.dims();
    let shift = shift(turn.dims(dims));
    let id = 2 * n + 2;
    let first: [usize; 3] = std::array::from_fn(|a| tile.origin[a] - piece.cells[a].start);
    // The lowest corner of the tile in the scene is the minimum of two opposite corners, because the turn may
    // exchange them.
    let ends =
        [0, 1].map(|end| turn.place([0, 1, 2].map(|a| first[a] + end * (tile.size[a] - 1)), dims));
    let [x, y, z]: [i64; 3] = std::array::from_fn(|a| {
        let half = i64::from(tile.even_size(turn)[a] / 2);
        ends[0][a].min(ends[1][a]) as i64 + half - shift[a] as i64
    });
    let frame = attributes(&[("_t", &format!("{x} {y} {z}"))]);
    let layer = tile.layer.unwrap_or(0) as u32;
    [
        transform(id, &attributes(&[]), [id + 1, layer], &frame),
        numbers([id + 1, 0, 1, n, 0]),
    ]
}

fn transform(id: u32, attributes: &[u8], [child, layer]: [u32; 2], frame: &[u8]) -> Vec<u8> {
    // The child, a reserved number that is always −1, the layer, and the number of frames.
    let middle = numbers([child, u32::MAX, layer, 1]);
    [&id.to_le_bytes(), attributes, &middle, frame].concat()
}

/// Returns the content of a layer chunk. Viewers list the layer under this name.
pub(super) fn layer(id: u32, name: &str) -> Vec<u8> {
    [
        &numbers([id])[..],
        &attributes(&[("_name", name)]),
        &numbers([u32::MAX]),
    ]
    .concat()
}

fn attributes(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = numbers([pairs.len() as u32]);
    for text in pairs.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// Returns the palette: the colours of this grid's labels, the standard colours of surface and interior if
/// their numbers are free, and shades of grey.
pub(super) fn palette(cells: CellType) -> Vec<u8> {
    let mut colours: [[u8; 4]; 256] = std::array::from_fn(|n| {
        let grey = 255 - n as u8 / 2;
        [grey, grey, grey, 255]
    });
    for label in [Label::SURFACE, Label::INTERIOR] {
        if let Some(colour) = label.standard_colour() {
            put_colour(&mut colours, label.value, colour);
        }
    }
    if let CellType::Labels(legend) = cells {
        for label in legend.labels() {
            let colour = label.standard_colour();
            let colour = colour.unwrap_or(legend.colour(label.value));
            put_colour(&mut colours, label.value, colour);
        }
        if legend.labels().is_empty() {
            for value in 1..=255 {
                put_colour(&mut colours, value, legend.colour(value));
            }
        }
    }
    colours.concat()
}

fn put_colour(colours: &mut [[u8; 4]; 256], value: u8, [r, g, b]: [u8; 3]) {
    // The first entry of the palette is colour 1.
    colours[usize::from(value) - 1] = [r, g, b, 0xff];
}

pub(super) fn numbers<const N: usize>(values: [u32; N]) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}
