//! Octree of a grid. It stores the states of the blocks and of all nodes above them, which takes one byte per
//! 32,768 cells. The contents of a block are computed again when the block is written.

use std::io;

use super::blocks::{self, BlockTree};
use super::{DEPTH, INNER, KEYS, NodeState};
use crate::steps::cancelled;
use voxelize_core::grid::BitGrid;
use voxelize_core::par::{self, Progress};

/// Number of blocks examined in parallel, and number of pieces written in parallel.
const BATCH: usize = 1024;

/// States of the nodes of one level. The nodes fill a box.
struct TreeLevel {
    first: [usize; 3],
    dims: [usize; 3],
    states: Vec<NodeState>,
}

/// Octree of a grid's cells.
pub(super) struct Octree<'a> {
    bits: &'a BitGrid,
    /// Keys of cell (0, 0, 0), one for each axis.
    first: [usize; 3],
    marks_free: bool,
    /// Levels of the tree from the blocks to the root.
    levels: Vec<TreeLevel>,
    /// Number of nodes, including the root and the leaves.
    pub nodes: u64,
    /// Number of blocks that are inner nodes.
    inner_blocks: u64,
}

/// Part of the file: one node, or one block.
enum TreePiece {
    Node(u16),
    Block([usize; 3]),
}

impl TreeLevel {
    /// Creates a level whose nodes are `1 << level` cells wide. The state of every node is unknown.
    fn new(level: usize, first: [usize; 3], cells: [usize; 3]) -> Self {
        let last: [usize; 3] = std::array::from_fn(|a| (first[a] + cells[a] - 1) >> level);
        let first = first.map(|key| key >> level);
        let dims = std::array::from_fn(|a| last[a] - first[a] + 1);
        Self {
            first,
            dims,
            states: vec![0; dims.iter().product()],
        }
    }

    /// Returns the position of node number `n` of this level.
    fn place(&self, n: usize) -> [usize; 3] {
        let [nx, ny, _] = self.dims;
        let within = [n % nx, n / nx % ny, n / nx / ny];
        std::array::from_fn(|a| self.first[a] + within[a])
    }

    fn state(&self, place: [usize; 3]) -> NodeState {
        let within: [usize; 3] = std::array::from_fn(|a| place[a].wrapping_sub(self.first[a]));
        let [x, y, z] = within;
        let [nx, ny, nz] = self.dims;
        if x < nx && y < ny && z < nz {
            self.states[x + nx * (y + ny * z)]
        } else {
            0
        }
    }

    /// Returns the states of the children of node `above`, two bits for each child. The node is on the next
    /// higher level.
    fn children(&self, above: [usize; 3]) -> u16 {
        (0..8).fold(0, |node, n| {
            node | u16::from(self.state(child(above, n))) << (2 * n)
        })
    }
}

/// Returns the position of child `n` of a node.
fn child([x, y, z]: [usize; 3], n: usize) -> [usize; 3] {
    [2 * x + (n & 1), 2 * y + (n >> 1 & 1), 2 * z + (n >> 2)]
}

/// Returns the number of children of a node.
fn count(node: u16) -> u32 {
    ((node | node >> 1) & 0x5555).count_ones()
}

impl<'a> Octree<'a> {
    /// Builds the tree of `bits`. `first` are the keys of cell (0, 0, 0).
    pub(super) fn new(
        bits: &'a BitGrid,
        first: [usize; 3],
        marks_free: bool,
        progress: &dyn Progress,
    ) -> io::Result<Self> {
        debug_assert!((0..3).all(|a| first[a] + bits.dims()[a] <= KEYS));
        let levels = (blocks::LEVELS..=DEPTH)
            .map(|level| TreeLevel::new(level, first, bits.dims()))
            .collect();
        let mut tree = Self {
            bits,
            first,
            marks_free,
            levels,
            nodes: 0,
            inner_blocks: 0,
        };
        tree.find_blocks(progress)?;
        for level in 1..tree.levels.len() {
            tree.reduce(level);
        }
        if tree.root() != 0 {
            tree.nodes += 1 + u64::from(count(tree.levels[tree.levels.len() - 2].children([0; 3])));
        }
        Ok(tree)
    }

    /// Returns the state of the root. If it is unknown, no cell of the tree is known.
    pub(super) fn root(&self) -> NodeState {
        self.levels[self.levels.len() - 1].state([0; 3])
    }

    fn block(&self, place: [usize; 3]) -> Option<BlockTree> {
        let first =
            std::array::from_fn(|a| (place[a] << blocks::LEVELS) as isize - self.first[a] as isize);
        BlockTree::new(self.bits, first, self.marks_free)
    }

    /// Computes the states of all blocks and counts the nodes below them.
    fn find_blocks(&mut self, progress: &dyn Progress) -> io::Result<()> {
        let all = self.levels[0].states.len();
        progress.begin("write", all as u64);
        for start in (0..all).step_by(BATCH) {
            cancelled(progress)?;
            let end = all.min(start + BATCH);
            let found = par::map_range(start..end, |n| {
                let Some(block) = self.block(self.levels[0].place(n)) else {
                    return (0, 0);
                };
                let mut bytes = Vec::new();
                if block.state() == INNER {
                    block.push(&mut bytes);
                }
                let nodes: u32 = bytes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|node| count(u16::from_le_bytes(*node)))
                    .sum();
                (block.state(), nodes)
            });
            for (state, (found, nodes)) in self.levels[0].states[start..end].iter_mut().zip(found) {
                *state = found;
                self.inner_blocks += u64::from(found == INNER);
                self.nodes += u64::from(nodes);
            }
            progress.advance((end - start) as u64);
        }
        Ok(())
    }

    /// Computes the states of the nodes of a level above the blocks, and counts the children of the level's
    /// inner nodes. The children of the root are not counted here, because the caller counts them in any
    /// case.
    fn reduce(&mut self, level: usize) {
        let (below, above) = self.levels.split_at_mut(level);
        let (below, above) = (&below[level - 1], &mut above[0]);
        for n in 0..above.states.len() {
            let node = below.children(above.place(n));
            let state = node & 3;
            let is_leaf = node == state * 0x5555;
            above.states[n] = if is_leaf { state as NodeState } else { INNER };
            if above.states[n] == INNER && level < DEPTH - blocks::LEVELS {
                self.nodes += u64::from(count(node));
            }
        }
    }

    /// Writes all inner nodes, depth first.
    pub(super) fn write(&self, out: &mut dyn io::Write, progress: &dyn Progress) -> io::Result<()> {
        if self.root() == 0 {
            return Ok(());
        }
        progress.begin("write", self.inner_blocks);
        let mut writer = OctreeWriter {
            tree: self,
            out,
            progress,
            pieces: Vec::new(),
        };
        writer.push(self.levels.len() - 1, [0; 3])?;
        writer.flush()
    }
}

/// Writer of a tree. It collects pieces, and computes the bytes of blocks in parallel.
struct OctreeWriter<'a> {
    tree: &'a Octree<'a>,
    out: &'a mut dyn io::Write,
    progress: &'a dyn Progress,
    pieces: Vec<TreePiece>,
}

impl OctreeWriter<'_> {
    /// Adds an inner node and all inner nodes below it. The nodes of level 0 are blocks.
    fn push(&mut self, level: usize, place: [usize; 3]) -> io::Result<()> {
        if level == 0 {
            return self.add(TreePiece::Block(place));
        }
        let node = self.tree.levels[level - 1].children(place);
        self.add(TreePiece::Node(node))?;
        let mut inner = (0..8).filter(|n| (node >> (2 * n)) as NodeState & INNER == INNER);
        inner.try_for_each(|n| self.push(level - 1, child(place, n)))
    }

    fn add(&mut self, piece: TreePiece) -> io::Result<()> {
        self.pieces.push(piece);
        if self.pieces.len() == BATCH {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        cancelled(self.progress)?;
        let blocks = self
            .pieces
            .iter()
            .filter(|piece| matches!(piece, TreePiece::Block(_)))
            .count();
        let bytes = par::map(std::mem::take(&mut self.pieces), |piece| match piece {
            TreePiece::Node(node) => node.to_le_bytes().to_vec(),
            TreePiece::Block(place) => {
                let mut bytes = Vec::new();
                if let Some(block) = self.tree.block(place) {
                    block.push(&mut bytes);
                }
                bytes
            }
        });
        self.progress.advance(blocks as u64);
        bytes.iter().try_for_each(|bytes| self.out.write_all(bytes))
    }
}
