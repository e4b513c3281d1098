//! Nodes of a tree in the encoding of a file: masks, and the values of tiles and cells.

use std::io;

use super::TreeType;
use super::pack::Packer;

/// Cells along a side of a node of leaves.
pub(super) const MIDDLE: usize = 128;

/// Cells along a side of a child of the root.
pub(super) const UPPER: usize = 4096;

/// Common state of all cells of a leaf or a node, in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeTile {
    /// Active, with a value of these bits.
    Active(u32),
    /// Inactive, with minus the background.
    Minus,
}

/// Place in a node that is not inactive background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeSlot {
    Child,
    Tile(TreeTile),
}

/// Appends the value of these bits.
pub(super) fn put_value(tree: TreeType, bits: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&bits.to_le_bytes()[..tree.width()]);
}

/// Appends a mask.
pub(super) fn put_mask(mask: &[u64], out: &mut Vec<u8>) {
    out.extend(mask.iter().flat_map(|word| word.to_le_bytes()));
}

/// Appends the masks of a node with this number of places, and the values of its tiles. `slots` are in the
/// order of their places.
pub(super) fn put_node(
    tree: TreeType,
    places: usize,
    slots: impl Iterator<Item = (usize, NodeSlot)>,
    packer: &mut Packer,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let mut children = vec![0_u64; places / 64];
    let mut active = children.clone();
    let mut minus = children.clone();
    let mut values = Vec::new();
    for (place, slot) in slots {
        let mask = match slot {
            NodeSlot::Child => &mut children,
            NodeSlot::Tile(TreeTile::Active(bits)) => {
                put_value(tree, bits, &mut values);
                &mut active
            }
            NodeSlot::Tile(TreeTile::Minus) => &mut minus,
        };
        mask[place / 64] |= 1 << (place % 64);
    }
    put_mask(&children, out);
    put_mask(&active, out);
    let taken: Vec<u64> = children
        .iter()
        .zip(&active)
        .map(|(child, active)| child | active)
        .collect();
    put_values(&taken, &minus, &values, packer, out)
}

/// Appends values. An inactive value is minus the background if `minus` has its bit, and the background
/// otherwise. Places of `taken` are not inactive. `active` has the active values.
pub(super) fn put_values(
    taken: &[u64],
    minus: &[u64],
    active: &[u8],
    packer: &mut Packer,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let others: Vec<u64> = taken
        .iter()
        .zip(minus)
        .map(|(taken, minus)| !(taken | minus))
        .collect();
    if minus.iter().all(|word| *word == 0) {
        out.push(0);
    } else if others.iter().all(|word| *word == 0) {
        out.push(1);
    } else {
        out.push(3);
        put_mask(&others, out);
    }
    packer.put(active, out)
}
