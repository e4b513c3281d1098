//! Reads a tree node by node. All masks and tiles come first, then the values of the leaves in the same
//! order.

use super::leaf::{LeafMask, SIDE};
use super::pack::Unpacker;
use super::tree::{MIDDLE, UPPER};
use super::{ACTIVE, BLOSC, TreeType, ZIP, blosc};
use crate::open::VoxelSource;
use voxelize_core::error::{Code, Error, Result};
use voxelize_kernel::bits_of;

/// Number of cells in a leaf.
pub(super) const LEAF_CELLS: usize = SIDE * SIDE * SIDE;

/// Maximum ratio of compressed to uncompressed size that is accepted. Deflate and LZ4 stay far below it.
const MOST_PACKED: u64 = 2;

/// Cube of cells that have the same value.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileBox {
    /// Lowest cell.
    pub origin: [i32; 3],
    /// Number of cells along each axis.
    pub side: usize,
    /// Value as bits.
    pub bits: u32,
    pub is_active: bool,
}

/// Receiver of a tree's tiles and leaves.
pub(super) trait TreeVisitor {
    /// Receives a tile that is active or differs from the background.
    fn tile(&mut self, tile: TileBox) -> Result<()>;

    /// Receives a leaf. `origin` is its lowest cell, and `mask` marks its active cells. The visitor may read
    /// at other positions of the file if it seeks back.
    fn leaf(&mut self, walk: &mut TreeWalk, origin: [i32; 3], mask: &LeafMask) -> Result<()>;
}

/// Type of the values in a tree, and how they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueCoding {
    pub tree: TreeType,
    /// Floats are stored as half floats.
    pub is_half: bool,
    pub compression: u32,
}

/// Reader of a tree.
pub(super) struct TreeWalk<'a, 'b> {
    pub source: &'a mut VoxelSource<'b>,
    coding: ValueCoding,
    /// Background as bits. It is known once the root has been read.
    pub background: u32,
    /// Values that were read last, as bits.
    pub values: Vec<u32>,
    bytes: Vec<u8>,
    unpacker: Unpacker,
}

impl<'a, 'b> TreeWalk<'a, 'b> {
    pub(super) fn new(source: &'a mut VoxelSource<'b>, coding: ValueCoding) -> Self {
        Self {
            source,
            coding,
            background: 0,
            values: Vec::new(),
            bytes: Vec::new(),
            unpacker: Unpacker::new(),
        }
    }

    fn broken(&self, why: impl Into<String>) -> Error {
        self.source.error(Code::V003, why)
    }

    /// Reads the tree up to the values of the leaves.
    pub(super) fn topology(&mut self, visitor: &mut dyn TreeVisitor) -> Result<()> {
        let buffers = self.source.u32()?;
        if buffers != 1 {
            return Err(self.broken(format!("the tree has {buffers} buffers of values, not 1")));
        }
        self.background = self.value()?;
        let [tiles, children] = [self.source.u32()?, self.source.u32()?];
        self.tiles_of_root(tiles, visitor)?;
        let mut last = None;
        for _ in 0..children {
            let origin = self.origin_of_root(&mut last)?;
            self.node(origin, UPPER, visitor)?;
        }
        Ok(())
    }

    fn tiles_of_root(&mut self, count: u32, visitor: &mut dyn TreeVisitor) -> Result<()> {
        let mut last = None;
        for _ in 0..count {
            let origin = self.origin_of_root(&mut last)?;
            let bits = self.value()?;
            let [is_active] = self.source.bytes()?;
            let tile = TileBox {
                origin,
                side: UPPER,
                bits,
                is_active: is_active != 0,
            };
            if tile.is_active || bits != self.background {
                visitor.tile(tile)?;
            }
        }
        Ok(())
    }

    /// Reads the lowest cell of a child or tile of the root. These cells must be in ascending order.
    fn origin_of_root(&mut self, last: &mut Option<[i32; 3]>) -> Result<[i32; 3]> {
        let origin = self.origin()?;
        let is_next = last.is_none_or(|last| last < origin);
        if !is_next || origin.iter().any(|n| n % UPPER as i32 != 0) {
            return Err(self.broken(format!(
                "the node at {origin:?} is not where its parent expects it"
            )));
        }
        *last = Some(origin);
        Ok(origin)
    }

    fn origin(&mut self) -> Result<[i32; 3]> {
        let mut origin = [0; 3];
        for n in &mut origin {
            *n = i32::from_le_bytes(self.source.bytes()?);
        }
        Ok(origin)
    }

    /// Reads a node that has `side` cells along each axis.
    fn node(&mut self, origin: [i32; 3], side: usize, visitor: &mut dyn TreeVisitor) -> Result<()> {
        let child = if side == UPPER { MIDDLE } else { SIDE };
        let along = side / child;
        let children = self.mask(along.pow(3))?;
        let active = self.mask(along.pow(3))?;
        if children
            .iter()
            .zip(&active)
            .any(|(child, active)| child & active != 0)
        {
            return Err(self.broken("a node has an active tile where it has a child"));
        }
        self.read_values(&active)?;
        let place = |n: usize| -> [i32; 3] {
            let within = [n / (along * along), n / along % along, n % along];
            std::array::from_fn(|axis| origin[axis].wrapping_add((child * within[axis]) as i32))
        };
        for n in 0..self.values.len() {
            let is_at = |mask: &[u64]| mask[n / 64] >> (n % 64) & 1 == 1;
            let is_active = is_at(&active);
            if !is_at(&children) && (is_active || self.values[n] != self.background) {
                visitor.tile(TileBox {
                    origin: place(n),
                    side: child,
                    bits: self.values[n],
                    is_active,
                })?;
            }
        }
        for (word_index, word) in children.iter().enumerate() {
            for bit in bits_of(*word) {
                let origin = place(64 * word_index + bit);
                if side == UPPER {
                    self.node(origin, child, visitor)?;
                } else {
                    let mask = self.leaf_mask()?;
                    visitor.leaf(self, origin, &mask)?;
                }
            }
        }
        Ok(())
    }

    fn mask(&mut self, places: usize) -> Result<Vec<u64>> {
        let bytes = self.source.vec(places as u64 / 8)?;
        Ok(bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes))
            .collect())
    }

    fn leaf_mask(&mut self) -> Result<LeafMask> {
        Ok(super::column::words(&self.source.bytes()?))
    }

    /// Reads the values of a leaf.
    pub(super) fn leaf(&mut self, origin: [i32; 3], mask: &LeafMask) -> Result<()> {
        if self.leaf_mask()? != *mask {
            return Err(self.broken(format!("the leaf at {origin:?} has two different masks")));
        }
        if self.coding.tree != TreeType::Bool {
            return self.read_values(mask);
        }
        let stated = self.origin()?;
        if stated != origin {
            return Err(self.broken(format!(
                "the leaf at {origin:?} states that it is at {stated:?}"
            )));
        }
        let values = self.leaf_mask()?;
        self.values.clear();
        self.values
            .extend((0..LEAF_CELLS).map(|n| (values[n / 64] >> (n % 64) & 1) as u32));
        Ok(())
    }

    /// Reads a single value.
    fn value(&mut self) -> Result<u32> {
        match self.coding.tree {
            TreeType::Bool => Ok(u32::from(self.source.bytes::<1>()? != [0])),
            _ => self.source.u32(),
        }
    }

    fn negative(&self) -> u32 {
        match self.coding.tree {
            TreeType::Bool => self.background ^ 1,
            TreeType::Int32 => self.background.wrapping_neg(),
            TreeType::Float => self.background ^ 1 << 31,
        }
    }

    /// Reads a value for each slot of a node or leaf. `active` marks the slots with active values.
    fn read_values(&mut self, active: &[u64]) -> Result<()> {
        let places = 64 * active.len();
        let [kind] = self.source.bytes()?;
        if kind > 6 {
            return Err(self.broken(format!("the kind of inactive values is {kind}, not 0 to 6")));
        }
        let mut others = [self.negative(), self.background];
        if kind == 0 {
            others[0] = self.background;
        }
        if matches!(kind, 2 | 4 | 5) {
            others[0] = self.value()?;
        }
        if kind == 5 {
            others[1] = self.value()?;
        }
        let which = if matches!(kind, 3..=5) {
            self.mask(places)?
        } else {
            Vec::new()
        };
        let is_masked = self.coding.compression & ACTIVE != 0 && kind != 6;
        let active_count: usize = active.iter().map(|word| word.count_ones() as usize).sum();
        self.read_data(if is_masked { active_count } else { places })?;
        let unit = self.unit();
        let mut data = self.bytes.chunks_exact(unit);
        self.values.clear();
        for n in 0..places {
            let is_at = |mask: &[u64]| {
                mask.get(n / 64)
                    .is_some_and(|word| word >> (n % 64) & 1 == 1)
            };
            self.values.push(if !is_masked || is_at(active) {
                data.next().map_or(0, decoded)
            } else {
                others[usize::from(is_at(&which))]
            });
        }
        Ok(())
    }

    /// Returns the number of bytes that a value takes in an array.
    fn unit(&self) -> usize {
        if self.coding.is_half && self.coding.tree == TreeType::Float {
            2
        } else {
            self.coding.tree.width()
        }
    }

    /// Reads the bytes of `count` values.
    fn read_data(&mut self, count: usize) -> Result<()> {
        self.bytes.clear();
        self.bytes.resize(count * self.unit(), 0);
        // For half floats, an empty array is stored without its length.
        if self.unit() == 2 && count == 0 {
            return Ok(());
        }
        if self.coding.compression & (ZIP | BLOSC) == 0 {
            return self.source.fill(&mut self.bytes);
        }
        let length = i64::from_le_bytes(self.source.bytes()?);
        let need = self.bytes.len() as u64;
        if length <= 0 {
            if length.unsigned_abs() == need {
                return self.source.fill(&mut self.bytes);
            }
            return Err(self.broken(format!(
                "{} bytes of values, not {need}",
                length.unsigned_abs()
            )));
        }
        if length.unsigned_abs() > MOST_PACKED * need + 256 {
            return Err(self.broken(format!(
                "there are {length} packed bytes for {need} bytes of values"
            )));
        }
        let packed = self.source.vec(length.unsigned_abs())?;
        let is_right = if self.coding.compression & BLOSC != 0 {
            blosc::unpack(&packed, &mut self.bytes).is_some()
        } else {
            let filled = self.unpacker.fill(&packed, &mut self.bytes);
            filled.unwrap_or(false)
        };
        if !is_right {
            let why = "packed values are broken, or their compression is not supported";
            return Err(self.broken(why));
        }
        Ok(())
    }
}

/// Returns a value as bits. A half float is converted to a float.
fn decoded(bytes: &[u8]) -> u32 {
    match *bytes {
        [byte] => u32::from(byte != 0),
        [low, high] => float_of_half(u16::from_le_bytes([low, high])),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// Converts a half float to the bits of a float.
fn float_of_half(half: u16) -> u32 {
    let sign = u32::from(half >> 15) << 31;
    let exponent = u32::from(half >> 10 & 31);
    let fraction = u32::from(half & 0x3ff);
    sign | match exponent {
        // This is a multiple of 2⁻²⁴, which a float represents exactly.
        0 => (fraction as f32 / 16_777_216.0).to_bits(),
        31 => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_are_exact() {
        for (half, float) in [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x3c00, 1.0),
            (0xc500, -5.0),
            (0x3555, 1365.0 / 4096.0),
            (0x0001, 1.0 / 16_777_216.0),
            (0x03ff, 1023.0 / 16_777_216.0),
            (0x7bff, 65504.0),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(float_of_half(half), f32::to_bits(float), "{half:x}");
        }
        assert!(f32::from_bits(float_of_half(0x7e00)).is_nan());
    }
}
