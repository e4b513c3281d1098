//! Reading `.vdb`.

use super::fill::{ActiveBounds, TreeFill};
use super::walk::{TreeWalk, ValueCoding};
use super::{BLOSC, JSON, MAGIC, TreeType, ZIP};
use crate::Voxels;
use crate::image::ImageFrame;
use crate::open::VoxelSource;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::Rational;
use voxelize_core::grid::metadata::Metadata;

/// Suffix of a type name whose floats are stored as half floats.
const HALF: &str = "_HalfFloat";

/// Maximum size of a text that is read, in bytes.
const MAX_TEXT: u64 = 1 << 20;

/// A grid of the file, read up to its tree.
struct VdbGrid {
    coding: ValueCoding,
    json: Option<String>,
    /// Centre of the cell with index (0, 0, 0), and the step vectors along the axes.
    centre: [Rational; 3],
    steps: [[Rational; 3]; 3],
    /// Offset of the tree.
    topology: u64,
    /// Offsets of the start and the end of the leaves' values. `None` if the file does not state them.
    buffers: Option<[u64; 2]>,
    /// No other grid follows in the file.
    is_last: bool,
}

fn other(why: impl Into<String>) -> Error {
    Error::input(Code::V004, why)
}

/// Reads a length and a text of that length.
fn text(source: &mut VoxelSource) -> Result<String> {
    let length = u64::from(source.u32()?);
    if length > MAX_TEXT {
        return Err(source.error(Code::V003, format!("a text has {length} bytes")));
    }
    Ok(String::from_utf8_lossy(&source.vec(length)?).into_owned())
}

fn long(source: &mut VoxelSource) -> Result<u64> {
    source.bytes().map(u64::from_le_bytes)
}

/// Reads all metadata entries. Returns the text of the entry `wanted`. `None` if it does not exist.
fn metadata(source: &mut VoxelSource, wanted: &str) -> Result<Option<String>> {
    let mut found = None;
    for _ in 0..source.u32()? {
        let name = text(source)?;
        let kind = text(source)?;
        if name == wanted && kind == "string" {
            found = Some(text(source)?);
            continue;
        }
        let length = u64::from(source.u32()?);
        if length > source.left() {
            let why = format!(
                "the file ends early: the metadata '{}' have {length} bytes",
                sanitize(&name)
            );
            return Err(source.error(Code::V002, why));
        }
        source.seek(source.position() + length)?;
    }
    Ok(found)
}

/// Reads the head of the file. Returns `true` if the descriptors of the grids have offsets.
fn file_head(source: &mut VoxelSource) -> Result<bool> {
    source.seek(0)?;
    if source.bytes()? != MAGIC {
        return Err(Error::input(Code::V001, "not a file of OpenVDB"));
    }
    let version = source.u32()?;
    if !(222..=225).contains(&version) {
        return Err(other(format!(
            "the file has version {version} of the format; versions 222 to 225 can be read"
        )));
    }
    let [_, _] = [source.u32()?, source.u32()?];
    let [has_offsets] = source.bytes()?;
    source.bytes::<36>()?;
    metadata(source, "")?;
    Ok(has_offsets != 0)
}

/// Returns the type of tree with this name, and `true` if its floats are stored as half floats. `None` if the
/// type is unknown.
fn tree_of(name: &str) -> Option<(TreeType, bool)> {
    let whole = name.strip_suffix(HALF);
    let name = whole.unwrap_or(name);
    let tree = TreeType::ALL.into_iter().find(|tree| tree.name() == name)?;
    Some((tree, whole.is_some()))
}

impl VdbGrid {
    /// Finds the first grid whose type of tree is known, and reads it up to its tree.
    fn read(source: &mut VoxelSource) -> Result<Self> {
        let has_offsets = file_head(source)?;
        let count = source.u32()?;
        let mut found = None;
        let mut kinds = Vec::new();
        for n in 0..count {
            let name = text(source)?;
            let kind = text(source)?;
            let parent = text(source)?;
            let offsets = [long(source)?, long(source)?, long(source)?];
            let start = source.position();
            if let Some(tree) = tree_of(&kind)
                && parent.is_empty()
                && found.is_none()
            {
                found = Some((tree, start, has_offsets.then_some(offsets)));
            }
            if !has_offsets {
                // The next descriptor follows at the end of this grid, which is not known without offsets.
                kinds.push((name, kind));
                break;
            }
            check_offsets(source, start, offsets)?;
            source.seek(offsets[2])?;
            if n < 8 {
                kinds.push((name, kind));
            }
        }
        let is_last = has_offsets || count == 1;
        if has_offsets && source.left() > 0 {
            return Err(source.error(Code::V005, "bytes follow the last grid"));
        }
        let Some((tree, start, offsets)) = found else {
            return Err(none_fits(&kinds));
        };
        source.seek(start)?;
        Self::read_head(source, tree, offsets, is_last)
    }

    /// Reads the compression flags, the metadata and the map.
    fn read_head(
        source: &mut VoxelSource,
        (tree, is_half): (TreeType, bool),
        offsets: Option<[u64; 3]>,
        is_last: bool,
    ) -> Result<Self> {
        if offsets.is_some_and(|[start, ..]| start != source.position()) {
            return Err(source.error(Code::V003, "the grid does not follow its description"));
        }
        let compression = source.u32()?;
        if compression > 7 || compression & (ZIP | BLOSC) == ZIP | BLOSC {
            return Err(source.error(
                Code::V003,
                format!("compression {compression} is not known"),
            ));
        }
        let json = metadata(source, JSON)?;
        let (centre, steps) = map(source)?;
        let coding = ValueCoding {
            tree,
            is_half,
            compression,
        };
        let buffers = offsets.map(|[_, buffers, end]| [buffers, end]);
        Ok(Self {
            coding,
            json,
            centre,
            steps,
            topology: source.position(),
            buffers,
            is_last,
        })
    }

    /// Reads the tree without the values of its leaves. Returns the bounding box of the active cells, the
    /// background and the offset of the values.
    fn outline(&self, source: &mut VoxelSource) -> Result<TreeOutline> {
        source.seek(self.topology)?;
        let mut bounds = ActiveBounds::default();
        let mut walk = TreeWalk::new(source, self.coding);
        walk.topology(&mut bounds)?;
        let background = walk.background;
        let buffers = source.position();
        if self.buffers.is_some_and(|[start, _]| start != buffers) {
            return Err(source.error(Code::V003, "the values of cells do not follow the tree"));
        }
        self.place(bounds.cells(), background, buffers)
    }

    /// Returns the position of the cells. If the JSON of this tool describes a grid that contains all active
    /// cells, it is that grid. Otherwise it is the bounding box of the active cells.
    fn place(
        &self,
        active: Option<[[i64; 3]; 2]>,
        background: u32,
        buffers: u64,
    ) -> Result<TreeOutline> {
        let metadata = match &self.json {
            Some(json) => Metadata::from_json(json).map_err(|why| {
                Error::input(
                    Code::V007,
                    format!("the description of the cells is broken: {why}"),
                )
            })?,
            None => Metadata::default(),
        };
        if let Some(dims) = metadata.dims
            && holds(dims, active)
        {
            let frame = self.frame([0; 3], dims)?;
            let metadata = self.described(metadata, &frame)?;
            return Ok(TreeOutline {
                base: [0; 3],
                frame,
                metadata,
                background,
                buffers,
            });
        }
        let [low, high] = active.ok_or_else(|| other("a grid without active cells"))?;
        let dims = std::array::from_fn(|n| (high[n] - low[n] + 1) as usize);
        let frame = self.frame(low, dims)?;
        let lattice = Some(frame.lattice.clone());
        let metadata = Metadata {
            lattice,
            ..Metadata::default()
        };
        Ok(TreeOutline {
            base: low,
            frame,
            metadata,
            background,
            buffers,
        })
    }

    fn frame(&self, first: [i64; 3], dims: [usize; 3]) -> Result<ImageFrame> {
        let mut centre = self.centre.clone();
        for (step, n) in self.steps.iter().zip(first) {
            let n = Rational::from(n);
            centre = std::array::from_fn(|axis| &centre[axis] + &(&step[axis] * &n));
        }
        ImageFrame::parallel(dims, &centre, &self.steps)
    }

    /// Adds the lattice to the metadata of the JSON. It is the exact one unless another program changed the
    /// map.
    fn described(&self, mut metadata: Metadata, frame: &ImageFrame) -> Result<Metadata> {
        let unit = [0, 1, 2].map(|n| {
            let mut step = [Rational::ZERO; 3];
            step[n] = Rational::ONE;
            step
        });
        let half = [0, 1, 2].map(|_| Rational::new(1, 2));
        // The writer writes this map if the cells have no lattice.
        let is_default = self.centre == half && self.steps == unit;
        let is_stated = metadata.lattice.is_some() || !is_default;
        metadata.lattice = frame.lattice_of(&metadata, is_stated, Rational::to_f64);
        Ok(metadata)
    }
}

/// Returns `true` if a grid with these dims contains all active cells.
fn holds(dims: [usize; 3], active: Option<[[i64; 3]; 2]>) -> bool {
    if dims.contains(&0) {
        return false;
    }
    for cell in active.into_iter().flatten() {
        if (0..3).any(|n| !(0..dims[n] as i64).contains(&cell[n])) {
            return false;
        }
    }
    true
}

/// Checks that the offsets are in ascending order and within the file.
fn check_offsets(source: &VoxelSource, start: u64, [grid, buffers, end]: [u64; 3]) -> Result<()> {
    if end > source.len() {
        let text = format!(
            "the file ends early: a grid ends at byte {end}, of {}",
            source.len()
        );
        return Err(source.error(Code::V002, text));
    }
    if start <= grid && grid <= buffers && buffers <= end {
        return Ok(());
    }
    Err(source.error(
        Code::V003,
        format!("parts of a grid at bytes {grid}, {buffers} and {end}"),
    ))
}

fn none_fits(kinds: &[(String, String)]) -> Error {
    let kinds: Vec<_> = kinds
        .iter()
        .map(|(name, kind)| format!("'{}' is a {}", sanitize(name), sanitize(kind)))
        .collect();
    if kinds.is_empty() {
        return other("no grid is in the file");
    }
    other(format!(
        "no grid of bool, int32 or float: {}",
        kinds.join(", ")
    ))
}

/// Reads the map. Returns the centre of the cell with index (0, 0, 0), and the step vectors along the axes.
fn map(source: &mut VoxelSource) -> Result<([Rational; 3], [[Rational; 3]; 3])> {
    let kind = text(source)?;
    let (centre, steps) = match &*kind {
        "UniformScaleTranslateMap" | "ScaleTranslateMap" => {
            // The sizes are followed by the same sizes again and by their inverses.
            let [centre, sizes, ..] = doubles::<3, 6>(source)?;
            (centre, diagonal(sizes))
        }
        "UniformScaleMap" | "ScaleMap" => {
            let [sizes, ..] = doubles::<3, 5>(source)?;
            ([0.0; 3], diagonal(sizes))
        }
        "TranslationMap" => {
            let [centre] = doubles(source)?;
            (centre, diagonal([1.0; 3]))
        }
        "AffineMap" => {
            // Each of the first three rows is a step vector and a 0. The last row is the centre and a 1.
            let rows = doubles::<4, 4>(source)?;
            let [x, y, z, centre] = rows.map(|[x, y, z, _]| [x, y, z]);
            (centre, [x, y, z])
        }
        _ => {
            let error = other(format!("its cells are placed by a {}", sanitize(&kind)));
            return Err(error.with_hint("resample the grid on cells along x, y and z"));
        }
    };
    if steps.contains(&[0.0; 3]) {
        return Err(source.error(Code::V003, "cells have no size"));
    }
    let centre = exact(centre, source)?;
    let [x, y, z] = steps;
    let steps = [exact(x, source)?, exact(y, source)?, exact(z, source)?];
    Ok((centre, steps))
}

fn exact(values: [f64; 3], source: &VoxelSource) -> Result<[Rational; 3]> {
    match values.map(Rational::from_f64) {
        [Some(x), Some(y), Some(z)] => Ok([x, y, z]),
        _ => Err(source.error(Code::V003, format!("cells are placed by {values:?}"))),
    }
}

/// Returns step vectors along the axes with these lengths.
fn diagonal([x, y, z]: [f64; 3]) -> [[f64; 3]; 3] {
    [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]]
}

/// Reads rows of doubles.
fn doubles<const N: usize, const ROWS: usize>(
    source: &mut VoxelSource,
) -> Result<[[f64; N]; ROWS]> {
    let mut all = [[0.0; N]; ROWS];
    for number in all.as_flattened_mut() {
        *number = f64::from_le_bytes(source.bytes()?);
    }
    Ok(all)
}

/// Position of a tree's cells, and the offset of the values.
struct TreeOutline {
    /// Index of the first cell in the tree.
    base: [i64; 3],
    frame: ImageFrame,
    /// Description of the cells. It has no dims if another program wrote the file.
    metadata: Metadata,
    background: u32,
    /// Offset of the values of the leaves.
    buffers: u64,
}

pub(super) fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let grid = VdbGrid::read(source)?;
    let outline = grid.outline(source)?;
    let TreeOutline {
        base,
        frame,
        metadata,
        background,
        buffers,
    } = outline;
    let coding = grid.coding;
    let bits = if coding.tree == TreeType::Bool {
        8
    } else {
        256
    };
    source
        .room
        .check_proportion(frame.dims(), bits, source.len())?;
    let kind = (coding.tree, background);
    let mut fill = TreeFill::new(base, frame.dims(), kind, &metadata, source.room, buffers)?;
    source.seek(grid.topology)?;
    let mut walk = TreeWalk::new(source, coding);
    walk.topology(&mut fill)?;
    let (cells, end) = fill.finish(&mut walk)?;
    if grid.buffers.is_some_and(|[_, stated]| stated != end) {
        return Err(source.error(
            Code::V005,
            format!("the values of cells end at byte {end}, which is not the end of the grid"),
        ));
    }
    if grid.is_last && grid.buffers.is_none() && end < source.len() {
        return Err(source.error(Code::V005, "bytes follow the last grid"));
    }
    let cells = frame.turned(cells)?;
    Ok(Voxels {
        cells,
        lattice: metadata.lattice,
        record: metadata.record,
    })
}

pub(super) fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let outline = VdbGrid::read(source)?.outline(source)?;
    let dims = Some(outline.frame.lattice.dims());
    Ok(Metadata {
        dims,
        ..outline.metadata
    })
}
