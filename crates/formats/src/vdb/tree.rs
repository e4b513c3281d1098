//! Encoding of nodes: masks, and the values of tiles and cells.

use std::io;

use super::TreeType;
use super::pack::Packer;

/// Number of cells along each axis of a node of leaves.
pub(super) const MIDDLE: usize = 128;

/// Number of cells along each axis of a root's child.
pub(super) const UPPER: usize = 4096;

/// State that all cells of a leaf or node have. A tile replaces the leaf or node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeTile {
    /// Active cells with this value, as bits.
    Active(u32),
    /// Inactive cells with minus the background.
    Minus,
}

/// Slot of a node that is not inactive background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeSlot {
    Child,
    Tile(TreeTile),
}

/// Appends a value that is given as bits.
pub(super) fn put_value(tree: TreeType, bits: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&bits.to_le_bytes()[..tree.width()]);
}

/// Appends a mask.
pub(super) fn put_mask(mask: &[u64], out: &mut Vec<u8>) {
    out.extend(mask.iter().flat_map(|word| word.to_le_bytes()));
}

/// Appends the masks of a node and the values of its tiles. `places` is the number of slots in the node.
/// `slots` has those that are not inactive background, in order.
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

/// Appends the values of a node or leaf. `taken` marks the slots that have an active value or a child. Each
/// of the other slots has minus the background if its bit in `minus` is set, otherwise the background.
/// `active` has the bytes of the active values.
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
