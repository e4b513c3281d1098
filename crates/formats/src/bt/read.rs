//! Reading `.bt`. Free and unknown cells are both empty.
//!
//! A file of this tool states its grid. The grid of another file is the box of its known cells, in metres.

use std::io::{BufRead, BufReader, Read};

use super::{DEPTH, INNER, KEYS, NodeState, ZERO, first_key};
use crate::comments::MARK;
use crate::open::{VoxelSource, failure};
use crate::{DTYPE, Voxels};
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::geom::Rational;
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{BitGrid, Lattice, MAX_DIM, Record};

/// First bytes of an octree of OctoMap.
pub(super) const MAGIC: &[u8] = b"# Octoma";

/// First line of a binary octree.
const FIRST_LINE: &str = "# Octomap OcTree binary file";

/// Maximum size of the header in bytes.
const MAX_HEADER: u64 = 1 << 20;

/// Lines before the nodes.
struct OctreeHeader {
    /// Metadata of this tool. `None` in files of other programs.
    metadata: Option<Metadata>,
    /// Number of nodes.
    nodes: u64,
    /// Size of a cell.
    size: Rational,
    /// Offset of the first node in the file.
    end: u64,
}

fn broken(why: impl Into<String>) -> Error {
    Error::input(Code::V003, why)
}

impl OctreeHeader {
    fn read(source: &mut VoxelSource) -> Result<Self> {
        source.seek(0)?;
        let mut metadata = None;
        let mut nodes = None;
        let mut size = None;
        let mut input = BufReader::new(source.by_ref().take(MAX_HEADER));
        let mut end = 0;
        loop {
            let mut line = Vec::new();
            let begins = end == 0;
            end += input.read_until(b'\n', &mut line).map_err(failure)? as u64;
            if line.last() != Some(&b'\n') {
                let text = "the file ends early, or has no line 'data'";
                return Err(Error::input(Code::V002, text).at_byte(end));
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if begins && line != FIRST_LINE {
                let text = format!("'{}' is not a binary octree", sanitize(line));
                return Err(Error::input(Code::V004, text).with_hint(
                    "an .ot has probabilities; convert_octree of OctoMap makes a .bt of it",
                ));
            }
            if let Some(json) = line
                .strip_prefix("# ")
                .and_then(|line| line.strip_prefix(MARK))
            {
                // A comment that is not metadata is skipped, like every comment.
                metadata = Metadata::from_json(json).ok();
                continue;
            }
            let mut words = line.split_whitespace();
            match (words.next().unwrap_or_default(), words.next()) {
                ("id", Some("OcTree")) => {}
                ("id", _) => {
                    let text = format!("'{}' is not an OcTree", sanitize(line));
                    return Err(Error::input(Code::V004, text));
                }
                ("size", Some(word)) => nodes = word.parse().ok(),
                ("res", Some(word)) => {
                    size = Rational::parse_decimal(word)
                        .ok()
                        .filter(Rational::is_positive);
                }
                ("data", None) => break,
                _ => {}
            }
        }
        drop(input);
        Ok(Self {
            metadata,
            nodes: nodes.ok_or_else(|| broken("no line states the number of nodes: size N"))?,
            size: size.ok_or_else(|| broken("no line states the size of a cell: res R"))?,
            end,
        })
    }

    /// Returns the grid that the metadata states, if it has cells of the size in the header.
    fn stated(&self) -> Option<OctreeGrid> {
        let metadata = self.metadata.as_ref()?;
        let dims = metadata.dims?;
        let Some(lattice) = &metadata.lattice else {
            // Cells without a lattice are written from 0 on, with size 1.
            return Some(OctreeGrid {
                dims,
                first: [ZERO as usize; 3],
                lattice: None,
                record: metadata.record.clone(),
            });
        };
        let is_own = lattice.dims() == dims
            && lattice.is_cubic()
            && lattice.spacing()[0].to_f64() == self.size.to_f64();
        if !is_own {
            return None;
        }
        Some(OctreeGrid {
            dims,
            first: first_key(lattice).ok()?,
            lattice: Some(lattice.clone()),
            record: metadata.record.clone(),
        })
    }

    /// Returns the grid of the box of known cells.
    fn of_box(&self, known: KnownBox) -> Result<OctreeGrid> {
        if known.low[0] > known.high[0] {
            return Err(Error::input(Code::V005, "no cell of the octree is known"));
        }
        let dims = [0, 1, 2].map(|axis| known.high[axis] - known.low[axis]);
        let [x, y, z] = dims;
        if dims.iter().any(|n| *n > MAX_DIM) {
            let text = format!(
                "the known cells span {x} × {y} × {z}, at most {MAX_DIM} per axis are read"
            );
            return Err(Error::too_large(text));
        }
        let origin = known
            .low
            .map(|key| &Rational::from(key as i64 - ZERO) * &self.size);
        let spacing = [0; 3].map(|_| self.size.clone());
        let record = Record {
            transform: vec![("unit", "m".to_string())],
            ..Record::default()
        };
        Ok(OctreeGrid {
            dims,
            first: known.low,
            lattice: Some(Lattice::new(dims, origin, spacing, [false; 3])?),
            record,
        })
    }
}

/// Grid of the cells of an octree.
struct OctreeGrid {
    dims: [usize; 3],
    /// Keys of cell (0, 0, 0), one for each axis.
    first: [usize; 3],
    /// `None` if the cells have no position.
    lattice: Option<Lattice>,
    record: Record,
}

/// Leaf of the tree: a cube of known cells.
struct Leaf {
    /// Keys of its lowest cell.
    first: [usize; 3],
    /// Number of cells along each axis.
    side: usize,
    is_occupied: bool,
}

/// Box of known cells: the lowest keys, and the keys after the highest ones.
struct KnownBox {
    low: [usize; 3],
    high: [usize; 3],
}

/// Nodes of an octree, read depth first.
struct NodeReader<'a> {
    data: &'a [u8],
    position: usize,
    /// Number of nodes below the root that were read.
    nodes: u64,
}

impl NodeReader<'_> {
    /// Reads an inner node and the nodes below it. `level` is the number of levels below the node.
    fn read(
        &mut self,
        level: usize,
        place: [usize; 3],
        found: &mut dyn FnMut(Leaf) -> Result<()>,
    ) -> Result<()> {
        let Some(bytes) = self.data.get(self.position..self.position + 2) else {
            return Err(Error::input(Code::V002, "the file ends early"));
        };
        let node = u16::from_le_bytes([bytes[0], bytes[1]]);
        self.position += 2;
        let mut inner = [None; 8];
        for (n, inner) in inner.iter_mut().enumerate() {
            let state = (node >> (2 * n)) as NodeState & INNER;
            let [x, y, z] = place;
            let child = [2 * x + (n & 1), 2 * y + (n >> 1 & 1), 2 * z + (n >> 2)];
            if state != 0 {
                self.nodes += 1;
            }
            match state {
                0 => {}
                INNER if level == 1 => {
                    let text = format!("the octree has more than {DEPTH} levels");
                    return Err(Error::input(Code::V005, text));
                }
                INNER => *inner = Some(child),
                _ => found(Leaf {
                    first: child.map(|n| n << (level - 1)),
                    side: 1 << (level - 1),
                    is_occupied: state == 2,
                })?,
            }
        }
        for child in inner.into_iter().flatten() {
            self.read(level - 1, child, found)?;
        }
        Ok(())
    }
}

/// Calls `found` with all leaves. Checks the number of nodes.
fn leaves(
    header: &OctreeHeader,
    data: &[u8],
    found: &mut dyn FnMut(Leaf) -> Result<()>,
) -> Result<()> {
    let mut reader = NodeReader {
        data,
        position: 0,
        nodes: 0,
    };
    let mut nodes = 0;
    if header.nodes > 0 {
        let read = reader.read(DEPTH, [0; 3], found);
        read.map_err(|error| error.at_byte(header.end + reader.position as u64))?;
        nodes = 1 + reader.nodes;
    }
    let end = header.end + reader.position as u64;
    if nodes != header.nodes {
        let text = format!(
            "the octree has {nodes} nodes, but its header states {}",
            header.nodes
        );
        return Err(Error::input(Code::V005, text).at_byte(end));
    }
    if reader.position < data.len() {
        return Err(Error::input(Code::V005, "more bytes follow the last node")
            .at_byte(end)
            .with_hint("the file may be damaged"));
    }
    Ok(())
}

/// Finds the box of known cells.
fn known_box(header: &OctreeHeader, data: &[u8]) -> Result<KnownBox> {
    let mut known = KnownBox {
        low: [KEYS; 3],
        high: [0; 3],
    };
    leaves(header, data, &mut |leaf| {
        for axis in 0..3 {
            known.low[axis] = known.low[axis].min(leaf.first[axis]);
            known.high[axis] = known.high[axis].max(leaf.first[axis] + leaf.side);
        }
        Ok(())
    })?;
    Ok(known)
}

pub(super) fn describe(source: &mut VoxelSource) -> Result<Metadata> {
    let header = OctreeHeader::read(source)?;
    if header.stated().is_some()
        && let Some(mut metadata) = header.metadata
    {
        // The format has a single type.
        metadata.extra.remove(DTYPE);
        return Ok(metadata);
    }
    let data = source_nodes(&header, source)?;
    let grid = header.of_box(known_box(&header, &data)?)?;
    Ok(Metadata {
        dims: Some(grid.dims),
        lattice: grid.lattice,
        record: grid.record,
        ..Metadata::default()
    })
}

/// Reads the bytes of all nodes.
fn source_nodes(header: &OctreeHeader, source: &mut VoxelSource) -> Result<Vec<u8>> {
    source.seek(header.end)?;
    source.vec(source.left())
}

pub(super) fn read(source: &mut VoxelSource) -> Result<Voxels> {
    let header = OctreeHeader::read(source)?;
    let room = source.room;
    let bytes = source.len() - header.end;
    room.admit(u128::from(bytes), [0; 3])?;
    let data = source_nodes(&header, source)?;
    let known = known_box(&header, &data)?;
    let stated = header.stated().filter(|grid| {
        (0..3).all(|axis| {
            let is_empty = known.low[axis] > known.high[axis];
            let end = grid.first[axis] + grid.dims[axis];
            is_empty || grid.first[axis] <= known.low[axis] && known.high[axis] <= end
        })
    });
    let grid = match stated {
        Some(grid) => grid,
        None => header.of_box(known)?,
    };
    room.check_proportion(grid.dims, 1, source.len())?;
    room.admit(BitGrid::bytes_for(grid.dims) + u128::from(bytes), grid.dims)?;
    let mut bits = BitGrid::new(grid.dims)?;
    leaves(&header, &data, &mut |leaf| {
        if leaf.is_occupied {
            let first = [0, 1, 2].map(|axis| leaf.first[axis] - grid.first[axis]);
            occupy(&mut bits, first, leaf.side);
        }
        Ok(())
    })?;
    Ok(Voxels {
        cells: bits.into(),
        lattice: grid.lattice,
        record: grid.record,
    })
}

/// Occupies a cube of cells.
fn occupy(bits: &mut BitGrid, [x, y, z]: [usize; 3], side: usize) {
    let [_, ny, _] = bits.dims();
    let row_words = bits.row_words();
    for k in z..z + side {
        for j in y..y + side {
            let start = row_words * (j + ny * k);
            let row = &mut bits.words_mut()[start..start + row_words];
            let mut i = x;
            while i < x + side {
                let count = (64 - i % 64).min(x + side - i);
                row[i / 64] |= u64::MAX >> (64 - count) << (i % 64);
                i += count;
            }
        }
    }
}
