//! Content of all chunks except the voxels: nodes of the scene, layers, and the palette.
//!
//! Node 0 is the root, node 1 the group of all objects. Without parts, each tile is an object. The tiles of a
//! part are one object: a transform with its name, and a shape, or a group if there are several tiles.

use std::io;

use vox_format::chunk::ChunkId;

use super::chunks::ChunkFile;
use super::cuts::ScenePiece;
use super::objects::SceneObjects;
use super::tile::Tile;
use super::{ATTRIBUTE, NAME, Turn, shift};
use voxelize_core::grid::{CellType, Label};

/// Returns the root node. It does not move its child, and it has the attribute with the metadata.
pub(super) fn root(json: &str) -> Vec<u8> {
    transform(
        0,
        &attributes(&[(ATTRIBUTE, json)]),
        [1, 0],
        &attributes(&[]),
    )
}

/// Writes the nodes below the root: the group of all objects, and the nodes of each object. Tile `n` is the
/// model `n`.
pub(super) fn put_objects(
    chunks: &mut ChunkFile,
    tiles: &[Tile],
    objects: &SceneObjects,
    turn: Turn,
    piece: &ScenePiece,
) -> io::Result<()> {
    let of_objects = models_of_objects(tiles, objects);
    let mut children = vec![];
    let mut id = 2;
    for (_, models) in &of_objects {
        children.push(id);
        id += nodes_of(models.len());
    }
    chunks.put(ChunkId::NGrp, &group(1, &children))?;
    for ((object, models), id) in of_objects.into_iter().zip(children) {
        let layer = objects.layer(object);
        let name = object.map(|object| &*objects.names()[object]);
        let place = |n: usize| place(&tiles[n], turn, piece);
        if let [n] = models[..] {
            put_shape(chunks, id, name, layer, (n, &place(n)))?;
            continue;
        }
        let still = attributes(&[]);
        let named = transform(id, &named(name), [id + 1, layer], &still);
        chunks.put(ChunkId::NTrn, &named)?;
        let members: Vec<u32> = (0..models.len() as u32).map(|n| id + 2 + 2 * n).collect();
        chunks.put(ChunkId::NGrp, &group(id + 1, &members))?;
        for (n, id) in models.into_iter().zip(members) {
            put_shape(chunks, id, None, layer, (n, &place(n)))?;
        }
    }
    Ok(())
}

/// Returns the models of each object that has models, in the order of the objects. Without parts, each tile
/// is an object.
fn models_of_objects(tiles: &[Tile], objects: &SceneObjects) -> Vec<(Option<usize>, Vec<usize>)> {
    let mut found: Vec<(Option<usize>, Vec<usize>)> = vec![];
    for object in 0..objects.names().len() {
        found.push((Some(object), vec![]));
    }
    for (n, tile) in tiles.iter().enumerate() {
        match tile.object {
            Some(object) => found[object].1.push(n),
            None => found.push((None, vec![n])),
        }
    }
    found.retain(|(_, models)| !models.is_empty());
    found
}

/// Returns the number of nodes of an object with this number of models. Several models are in a group.
fn nodes_of(models: usize) -> u32 {
    match models {
        1 => 2,
        models => 2 + 2 * models as u32,
    }
}

fn group(id: u32, children: &[u32]) -> Vec<u8> {
    let mut group = numbers([id, 0, children.len() as u32]);
    group.extend(children.iter().flat_map(|child| child.to_le_bytes()));
    group
}

/// Writes the transform node `id` and the shape node `id + 1` of model `n`, which is at `place`.
fn put_shape(
    chunks: &mut ChunkFile,
    id: u32,
    name: Option<&str>,
    layer: u32,
    (n, place): (usize, &str),
) -> io::Result<()> {
    let frame = attributes(&[("_t", place)]);
    let moved = transform(id, &named(name), [id + 1, layer], &frame);
    chunks.put(ChunkId::NTrn, &moved)?;
    chunks.put(ChunkId::NShp, &numbers([id + 1, 0, 1, n as u32, 0]))
}

/// Returns the attributes of a node with this name.
fn named(name: Option<&str>) -> Vec<u8> {
    match name {
        Some(name) => attributes(&[(NAME, name)]),
        None => attributes(&[]),
    }
}

/// Returns the place of a tile in a piece, as the attribute `_t` states it.
fn place(tile: &Tile, turn: Turn, piece: &ScenePiece) -> String {
    let dims = piece.dims();
    let shift = shift(turn.dims(dims));
    let first: [usize; 3] = std::array::from_fn(|a| tile.origin[a] - piece.cells[a].start);
    // The lowest corner of the tile in the scene is the minimum of two opposite corners, because the turn may
    // exchange them.
    let ends =
        [0, 1].map(|end| turn.place([0, 1, 2].map(|a| first[a] + end * (tile.size[a] - 1)), dims));
    let [x, y, z]: [i64; 3] = std::array::from_fn(|a| {
        let half = i64::from(tile.even_size(turn)[a] / 2);
        ends[0][a].min(ends[1][a]) as i64 + half - shift[a] as i64
    });
    format!("{x} {y} {z}")
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
        &attributes(&[(NAME, name)]),
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
pub(super) fn palette(cells: CellType, objects: &SceneObjects) -> Vec<u8> {
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
            put_colour(&mut colours, objects.colour(label.value), colour);
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
