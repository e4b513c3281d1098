//! Runs of leaves, in the order of a file: by the children of the root, then by the nodes of leaves, then by layers.

use std::ops::Range;

use super::leaf::{LEAVES, SIDE};
use super::tree::{MIDDLE, NodeSlot, TreeTile, UPPER};

/// The nodes of leaves along a side of a child of the root.
const NODES: u32 = (UPPER / MIDDLE) as u32;

/// A column of leaves in eight layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeafRun {
    /// The column, and the number of eight layers.
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
    /// The node of leaves that it belongs to, along each axis.
    fn node(&self) -> [u32; 3] {
        let [x, y, layer] = self.place;
        [x, y, layer / LEAVES as u32]
    }

    /// The child of the root that it belongs to, along each axis.
    fn upper(&self) -> [u32; 3] {
        self.node().map(|n| n / NODES)
    }

    /// Its place in the order of the file.
    pub(super) fn key(&self) -> ([u32; 3], usize, u32) {
        (self.upper(), self.place_of_node(), self.place[2])
    }

    /// The place of its node among those of a child of the root.
    fn place_of_node(&self) -> usize {
        place_in(self.node().map(|n| n % NODES), NODES)
    }
}

/// The place of a child in a node of so many along each axis.
pub(super) fn place_in([x, y, z]: [u32; 3], side: u32) -> usize {
    ((x * side + y) * side + z) as usize
}

/// The children of the root, each with its runs.
pub(super) fn uppers(runs: &[LeafRun]) -> impl Iterator<Item = &[LeafRun]> {
    runs.chunk_by(|a, b| a.upper() == b.upper())
}

/// The lowest cell of a child of the root.
pub(super) fn upper_origin(runs: &[LeafRun]) -> [i32; 3] {
    runs.first()
        .map_or([0; 3], |run| run.upper().map(|n| n as i32 * UPPER as i32))
}

/// The lowest cell of the leaf at this place in a node of leaves.
pub(super) fn leaf_origin(runs: &[LeafRun], place: usize) -> [i32; 3] {
    let node = runs.first().map_or([0; 3], LeafRun::node);
    let within = [
        place / (LEAVES * LEAVES),
        place / LEAVES % LEAVES,
        place % LEAVES,
    ];
    std::array::from_fn(|n| node[n] as i32 * MIDDLE as i32 + (SIDE * within[n]) as i32)
}

/// The nodes of leaves of a child of the root, each with its runs, place and what it is there.
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

/// The tile in the stead of a child of the root, if all its nodes are that tile.
pub(super) fn upper_tile(runs: &[LeafRun]) -> Option<TreeTile> {
    let tile = |slot| {
        if let NodeSlot::Tile(tile) = slot {
            Some(tile)
        } else {
            None
        }
    };
    uniform(
        nodes(runs).map(|(_, slot, _)| tile(slot)),
        (NODES * NODES * NODES) as usize,
    )
}

fn tile_of(content: &RunContent) -> Option<TreeTile> {
    if let RunContent::Tile(tile) = content {
        Some(*tile)
    } else {
        None
    }
}

/// What all are, if there are so many.
fn uniform(mut tiles: impl Iterator<Item = Option<TreeTile>>, count: usize) -> Option<TreeTile> {
    let first = tiles.next()??;
    let others = tiles
        .map_while(|tile| (tile == Some(first)).then_some(()))
        .count();
    (others + 1 == count).then_some(first)
}

#[cfg(test)]
impl LeafRun {
    /// All runs of a child of the root at (0, 4096, 0), which are one tile.
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
    fn children_of_the_root_are_tiles_if_all_their_cells_are_one() {
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
