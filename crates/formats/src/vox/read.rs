//! Reading `.vox`. The chunks are read first. The voxels are then copied directly from the file to their
//! cells.

use std::collections::BTreeMap;

use vox_format::chunk::ChunkId;

use super::objects::SceneObjects;
use super::scene::{ModelUse, Motion, SceneNode, placements};
use super::{ATTRIBUTE, NAME, TILE, Turn, shift};
use crate::Voxels;
use crate::open::VoxelSource;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{Cells, Labels};

/// Total number of voxels that a file of any size may place, which takes about a second. Larger scenes must
/// be in proportion to the size of the file, because a short file can use one model many times.
const FREE_PLACED: u64 = 1 << 26;

/// Number of additional voxels that each byte of the file allows.
const PLACED_PER_BYTE: u64 = 64;

/// Model: its size, and the offset of its voxels in the file.
struct Model {
    size: [u32; 3],
    start: u64,
    voxels: u32,
}

/// Use of a model: where it is, and the name of its object.
struct PlacedModel<'a> {
    model: &'a Model,
    motion: Motion,
    name: &'a str,
}

/// Content of the file except for its voxels.
#[derive(Default)]
struct Chunks {
    /// Size of a model whose voxels have not been read yet.
    size: Option<[u32; 3]>,
    models: Vec<Model>,
    nodes: BTreeMap<u32, SceneNode>,
    /// Metadata of the grid, from the root node.
    metadata: Option<Metadata>,
}

pub(super) fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    Ok(read_chunks(source)?.metadata.unwrap_or_default())
}

pub(super) fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let mut chunks = read_chunks(source)?;
    let metadata = chunks.metadata.take().unwrap_or_default();
    let uses = uses(&chunks, source.len())?;
    let turn = Turn::of(&metadata.record);
    let (dims, shift) = match metadata.dims {
        Some(dims) => (dims, shift(turn.dims(dims)).map(|n| n as i64)),
        None => {
            let (dims, shift) = occupied_box(source, &uses)?;
            (turn.dims(dims), shift)
        }
    };
    if dims.contains(&0) {
        return Err(Error::input(
            Code::V007,
            format!("the attribute {ATTRIBUTE} states {dims:?} cells"),
        ));
    }
    // Bits, and labels with a short legend, take a few bits per cell. Other labels take a byte.
    let is_bytes = metadata
        .legend
        .as_ref()
        .is_some_and(|legend| !(1..=4).contains(&legend.labels().len()));
    source
        .room
        .check_proportion(dims, if is_bytes { 8 } else { 1 }, source.len())?;
    let mut cells: Cells = match metadata.legend {
        Some(legend) => source.room.labels(dims, legend, 0)?.into(),
        None => source.room.bits(dims)?.into(),
    };
    let scene = turn.dims(dims);
    let objects = match &cells {
        Cells::Labels(labels) => Some(SceneObjects::of_legend(labels.legend())),
        _ => None,
    };
    // Labels of the colours of the object whose voxels are read.
    let mut of_object = ("", None);
    for_each_voxel(source, &uses, |at, colour, name| {
        let cell = turn.back(place_of(at, shift, scene)?, dims);
        match &mut cells {
            Cells::Labels(labels) => {
                let Some(objects) = &objects else {
                    return Ok(());
                };
                if !objects.has_shared_colours() {
                    return put(labels, cell, colour, at);
                }
                let table = match of_object {
                    (known, Some(table)) if known == name => table,
                    _ => objects.labels(labels.legend(), Some(name)),
                };
                of_object = (name, Some(table));
                match table[usize::from(colour)] {
                    0 => return Err(unknown_colour(colour, name, at)),
                    label => put(labels, cell, label, at)?,
                }
            }
            Cells::Bits(bits) => bits.set(cell),
            Cells::Field(_) => {}
        }
        Ok(())
    })?;
    Ok(Voxels {
        cells,
        lattice: metadata.lattice,
        record: metadata.record,
    })
}

/// Converts a position in the scene to a cell. `dims` are the dims of the scene, and `shift` is added to the
/// position. Fails if the cell is outside.
fn place_of(at: [i64; 3], shift: [i64; 3], dims: [usize; 3]) -> Result<[usize; 3]> {
    let place: [Option<usize>; 3] = std::array::from_fn(|a| {
        usize::try_from(at[a] + shift[a])
            .ok()
            .filter(|n| *n < dims[a])
    });
    let [Some(x), Some(y), Some(z)] = place else {
        return Err(Error::input(
            Code::V009,
            format!("the voxel at {at:?} is outside the grid"),
        )
        .with_hint("the scene was changed since it was saved"));
    };
    Ok([x, y, z])
}

/// Sets the label of a voxel's cell. The label is the voxel's colour. Fails if the cell has a voxel already,
/// or if the legend does not name the colour.
fn put(labels: &mut Labels, cell: [usize; 3], colour: u8, at: [i64; 3]) -> Result<()> {
    let what = if labels.occupied().get(cell) {
        format!("there are two voxels at {at:?}")
    } else if !labels.legend().allows(colour) {
        format!("the voxel at {at:?} has colour {colour}, which the legend does not name")
    } else {
        labels.set(cell, colour);
        return Ok(());
    };
    Err(Error::input(Code::V007, what).with_hint("the scene was changed since it was saved"))
}

fn unknown_colour(colour: u8, name: &str, at: [i64; 3]) -> Error {
    let name = sanitize(name);
    let what = format!(
        "the voxel at {at:?} of '{name}' has colour {colour}, which the legend does not name"
    );
    Error::input(Code::V007, what).with_hint("the scene was changed since it was saved")
}

/// Returns all uses of models, after checking that they are valid and not too many.
fn uses(chunks: &Chunks, bytes: u64) -> Result<Vec<PlacedModel<'_>>> {
    let found = if !chunks.nodes.is_empty() {
        placements(&chunks.nodes)?
    } else {
        match chunks.models.len() {
            1 => vec![ModelUse {
                model: 0,
                motion: Motion::NONE,
                name: "",
            }],
            0 => return Err(Error::input(Code::V008, "the file has no model")),
            n => {
                return Err(Error::input(
                    Code::V008,
                    format!("the file has {n} models, but no scene that places them"),
                ));
            }
        }
    };
    let mut placed = 0;
    let mut uses = Vec::new();
    for found in found {
        let model = chunks.models.get(found.model as usize);
        let model = model.ok_or_else(|| {
            Error::input(Code::V008, format!("there is no model {}", found.model))
        })?;
        placed += u64::from(model.voxels);
        uses.push(PlacedModel {
            model,
            motion: found.motion,
            name: found.name,
        });
    }
    if placed > FREE_PLACED + PLACED_PER_BYTE * bytes {
        return Err(Error::too_large(format!(
            "the scene places {placed} voxels, but the file has only {bytes} bytes"
        ))
        .with_hint("save it with fewer copies of its models"));
    }
    Ok(uses)
}

fn read_chunks(source: &mut VoxelSource) -> Result<Chunks> {
    let magic: [u8; 4] = source.bytes()?;
    let version = source.u32()?;
    let (id, content, children) = chunk_header(source)?;
    if magic != *b"VOX " || !(150..=200).contains(&version) || id != ChunkId::Main || content != 0 {
        return Err(Error::input(
            Code::V003,
            format!("is not a .vox file of version 150 to 200 ({version})"),
        ));
    }
    if children != source.left() {
        let code = if children > source.left() {
            Code::V002
        } else {
            Code::V003
        };
        let left = source.left();
        return Err(source.error(
            code,
            format!("{children} more bytes are expected, {left} follow"),
        ));
    }
    let mut chunks = Chunks::default();
    while source.left() > 0 {
        let (id, content, children) = chunk_header(source)?;
        if content + children > source.left() {
            return Err(source.error(
                Code::V002,
                format!("a chunk of {} bytes is cut short", content + children),
            ));
        }
        let next = source.position() + content + children;
        chunks.take(id, content, source)?;
        source.seek(next)?;
    }
    Ok(chunks)
}

fn chunk_header(source: &mut VoxelSource) -> Result<(ChunkId, u64, u64)> {
    let id: [u8; 4] = source.bytes()?;
    Ok((id.into(), source.u32()?.into(), source.u32()?.into()))
}

impl Chunks {
    /// Reads one chunk. Chunks that do not concern the cells are skipped.
    fn take(&mut self, id: ChunkId, length: u64, source: &mut VoxelSource) -> Result<()> {
        let start = source.position();
        let broken = |code, what: &str| {
            Error::input(code, format!("{}: {what}", sanitize(<[u8; 4]>::from(id)))).at_byte(start)
        };
        match id {
            ChunkId::Size => {
                let content = source.vec(length)?;
                let size = Fields(&content).size();
                let size = size.filter(|size| size.iter().all(|n| (1..=TILE as u32).contains(n)));
                self.size = Some(size.ok_or_else(|| {
                    broken(Code::V003, "does not have three sizes from 1 to 256")
                })?);
            }
            ChunkId::Xyzi => {
                let voxels = source.u32()?;
                if 4 + 4 * u64::from(voxels) != length {
                    return Err(broken(
                        Code::V003,
                        &format!("{length} bytes do not fit {voxels} voxels"),
                    ));
                }
                let size = self
                    .size
                    .take()
                    .ok_or_else(|| broken(Code::V003, "has no SIZE before it"))?;
                self.models.push(Model {
                    size,
                    start: source.position(),
                    voxels,
                });
            }
            ChunkId::NTrn | ChunkId::NGrp | ChunkId::NShp => {
                let content = source.vec(length)?;
                let mut fields = Fields(&content);
                let node = self.node(id, &mut fields)?;
                let (id, node) = node.ok_or_else(|| broken(Code::V008, "is broken"))?;
                if self.nodes.insert(id, node).is_some() {
                    return Err(broken(Code::V008, &format!("node {id} occurs twice")));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn node(&mut self, kind: ChunkId, fields: &mut Fields) -> Result<Option<(u32, SceneNode)>> {
        let Some((id, attributes)) = fields.u32().zip(fields.attributes()) else {
            return Ok(None);
        };
        let attribute = attributes
            .iter()
            .find(|(key, _)| id == 0 && key == ATTRIBUTE);
        if let Some((_, json)) = attribute {
            let metadata = Metadata::from_json(json);
            self.metadata = Some(metadata.map_err(|why| {
                Error::input(
                    Code::V007,
                    format!("the attribute {ATTRIBUTE} is broken: {why}"),
                )
            })?);
        }
        let node = match kind {
            ChunkId::NTrn => {
                let named = attributes.into_iter().find(|(key, _)| key == NAME);
                fields.transform(named.map(|(_, name)| name).unwrap_or_default())
            }
            ChunkId::NGrp => fields.list(|fields| fields.u32()).map(SceneNode::Group),
            _ => fields
                .list(|fields| fields.u32().filter(|_| fields.attributes().is_some()))
                .and_then(|models| models.first().copied().map(SceneNode::Shape)),
        };
        Ok(node.map(|node| (id, node)))
    }
}

/// Remaining bytes of a chunk's content. Methods that read a field return `None` at the end of the content.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    fn size(&mut self) -> Option<[u32; 3]> {
        Some([self.u32()?, self.u32()?, self.u32()?])
    }

    fn text(&mut self) -> Option<String> {
        let len = self.u32()? as usize;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// Reads a number and then this many items. Each item takes at least a byte, so a number that is too
    /// large fails at the end of the content.
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.u32()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(one(self)?);
        }
        Some(list)
    }

    fn attributes(&mut self) -> Option<Vec<(String, String)>> {
        self.list(|fields| Some((fields.text()?, fields.text()?)))
    }

    /// Reads a transform after its attributes: the child, a reserved number, the layer, and the frames.
    fn transform(&mut self, name: String) -> Option<SceneNode> {
        let [child, _, _] = [self.u32()?, self.u32()?, self.u32()?];
        let frames = self.list(Self::attributes)?;
        Some(SceneNode::Transform {
            child,
            motion: Motion::parse(frames.first().map_or(&[], Vec::as_slice))?,
            name,
        })
    }
}

/// Returns the size of the bounding box of all voxels, and the offset that maps positions in the scene to
/// cells of the box. Used for scenes of other programs, which do not state the size of a grid.
fn occupied_box(source: &mut VoxelSource, uses: &[PlacedModel]) -> Result<([usize; 3], [i64; 3])> {
    let mut low = [i64::MAX; 3];
    let mut high = [i64::MIN; 3];
    for_each_voxel(source, uses, |at, _, _| {
        for a in 0..3 {
            (low[a], high[a]) = (low[a].min(at[a]), high[a].max(at[a]));
        }
        Ok(())
    })?;
    if low[0] > high[0] {
        return Err(Error::input(
            Code::V004,
            "the scene has no voxels, so the size of its grid is unknown",
        ));
    }
    Ok((
        std::array::from_fn(|a| (high[a] - low[a] + 1) as usize),
        low.map(|n| -n),
    ))
}

/// Calls `act` with the position and the colour of each voxel, and the name of its object. A model that is used
/// several times is visited once per use.
fn for_each_voxel<'a>(
    source: &mut VoxelSource,
    uses: &[PlacedModel<'a>],
    mut act: impl FnMut([i64; 3], u8, &'a str) -> Result<()>,
) -> Result<()> {
    let mut buffer = vec![[0; 4]; 16 << 10];
    for PlacedModel {
        model,
        motion,
        name,
    } in uses
    {
        source.seek(model.start)?;
        let mut left = model.voxels as usize;
        while left > 0 {
            let n = left.min(buffer.len());
            source.fill(buffer[..n].as_flattened_mut())?;
            for [x, y, z, colour] in &buffer[..n] {
                let at = [*x, *y, *z];
                if (0..3).any(|a| u32::from(at[a]) >= model.size[a]) {
                    return Err(
                        source.error(Code::V009, format!("the voxel {at:?} is outside its model"))
                    );
                }
                // A voxel of colour 0 is empty.
                if *colour != 0 {
                    act(motion.place(at, model.size), *colour, name)?;
                }
            }
            left -= n;
        }
    }
    Ok(())
}
