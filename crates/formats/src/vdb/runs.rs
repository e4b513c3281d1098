//! Runs of leaves in the order of the file: sorted by children of the root, then by nodes of leaves, then by
//! layers.

use std::ops::Range;

use super::leaf::{LEAVES, SIDE};
use super::tree::{MIDDLE, NodeSlot, TreeTile, UPPER};

/// Number of nodes of leaves along each axis of a root's child.
const NODES: u32 = (UPPER / MIDDLE) as u32;

/// Leaves of a column, which is eight layers high.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeafRun {
    /// Position of the column along x and y, and its index along z.
    pub place: [u32; 3],
    pub content: RunContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunContent {
    Tile(TreeTile),
    Leaves {
        heads: Range<u64>,
        blocks: Range<u64>,
    },
}

impl LeafRun {
    /// Returns the position along each axis of the node of leaves that contains the run.
    fn node(&self) -> [u32; 3] {
        let [x, y, layer] = self.place;
        [x, y, layer / LEAVES as u32]
    }

    /// Returns the position along each axis of the root's child that contains the run.
    fn upper(&self) -> [u32; 3] {
        self.node().map(|n| n / NODES)
    }

    /// Returns the sort key for the order of the file.
    pub(super) fn key(&self) -> ([u32; 3], usize, u32) {
        (self.upper(), self.place_of_node(), self.place[2])
    }

    /// Returns the index of the node of leaves within the root's child.
    fn place_of_node(&self) -> usize {
        place_in(self.node().map(|n| n % NODES), NODES)
    }
}

/// Returns the index of a child in a node with `side` children along each axis.
pub(super) fn place_in([x, y, z]: [u32; 3], side: u32) -> usize {
    ((x * side + y) * side + z) as usize
}

/// Divides the runs by children of the root.
pub(super) fn uppers(runs: &[LeafRun]) -> impl Iterator<Item = &[LeafRun]> {
    runs.chunk_by(|a, b| a.upper() == b.upper())
}

/// Returns the lowest cell of a root's child. `runs` are the runs in it.
pub(super) fn upper_origin(runs: &[LeafRun]) -> [i32; 3] {
    runs.first()
        .map_or([0; 3], |run| run.upper().map(|n| n as i32 * UPPER as i32))
}

/// Returns the lowest cell of leaf number `place` in a node of leaves. `runs` are the runs in the node.
pub(super) fn leaf_origin(runs: &[LeafRun], place: usize) -> [i32; 3] {
    let node = runs.first().map_or([0; 3], LeafRun::node);
    let within = [
        place / (LEAVES * LEAVES),
        place / LEAVES % LEAVES,
        place % LEAVES,
    ];
    std::array::from_fn(|n| node[n] as i32 * MIDDLE as i32 + (SIDE * within[n]) as i32)
}

/// Divides the runs of a root's child by nodes of leaves. Returns the index, the slot and the runs of each
/// node.
pub(super) fn nodes(runs: &[LeafRun]) -> impl Iterator<Item = (usize, NodeSlot, &[LeafRun])> {
    runs.chunk_by(|a, b| a.node() == b.node()).map(|runs| {
        let tile = uniform(runs.iter().map(|run| tile_of(&run.content)), LEAVES);
        (
            runs[0].place_of_node(),
            tile.map_or(NodeSlot::Child, NodeSlot::Tile),
            runs,
        )
    })
}

/// Returns the tile that replaces a root's child. `None` unless all its nodes are the same tile.
pub(super) fn upper_tile(runs: &[LeafRun]) -> Option<TreeTile> {
    let tiles = nodes(runs).map(|(_, slot, _)| match slot {
        NodeSlot::Tile(tile) => Some(tile),
        NodeSlot::Child => None,
    });
    uniform(tiles, (NODES * NODES * NODES) as usize)
}

fn tile_of(content: &RunContent) -> Option<TreeTile> {
    match content {
        RunContent::Tile(tile) => Some(*tile),
        RunContent::Leaves { .. } => None,
    }
}

/// Returns the tile if there are exactly `count` tiles and all are equal. Otherwise returns `None`.
fn uniform(mut tiles: impl Iterator<Item = Option<TreeTile>>, count: usize) -> Option<TreeTile> {
    let first = tiles.next()??;
    let mut found = 1;
    for tile in tiles {
        if tile != Some(first) {
            return None;
        }
        found += 1;
    }
    if found == count { Some(first) } else { None }
}

#[cfg(test)]
impl LeafRun {
    /// Returns all runs of the root's child at (0, 4096, 0). All of them are the same tile.
    pub(super) fn upper_of(tile: TreeTile) -> Vec<Self> {
        let layers = (LEAVES as u32) * NODES;
        let columns = (0..NODES).flat_map(|x| (NODES..2 * NODES).map(move |y| [x, y]));
        let places = columns.flat_map(|[x, y]| (0..layers).map(move |layer| [x, y, layer]));
        places
            .map(|place| Self {
                place,
                content: RunContent::Tile(tile),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_children_of_the_root_are_tiles() {
        let tile = TreeTile::Active(7);
        let mut runs = LeafRun::upper_of(tile);
        assert_eq!(
            (upper_tile(&runs), upper_origin(&runs)),
            (Some(tile), [0, 4096, 0])
        );
        assert_eq!((uppers(&runs).count(), nodes(&runs).count()), (1, 32768));
        let (place, slot, of_node) = nodes(&runs).last().unwrap();
        assert_eq!(
            (place, slot, of_node.len()),
            (32767, NodeSlot::Tile(tile), 16)
        );
        runs[5].content = RunContent::Tile(TreeTile::Minus);
        assert_eq!(upper_tile(&runs), None);
        assert_eq!(
            nodes(&runs)
                .filter(|(_, slot, _)| *slot == NodeSlot::Child)
                .count(),
            1
        );
        runs[5].content = RunContent::Tile(tile);
        runs.pop();
        assert_eq!(upper_tile(&runs), None);
        assert_eq!(leaf_origin(&runs[16..], 4095), [120, 4096 + 120, 128 + 120]);
    }
}
