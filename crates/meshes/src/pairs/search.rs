//! Search for pairs of triangles whose boxes are near each other, in two trees or in one, starting at the
//! roots.

use super::boxes::{LANES, LaneBoxes, lanes};
use super::tree::{BinNode, PairTree};
use voxelize_core::error::Result;
use voxelize_core::geom::Triangle;

/// Minimum number of pairs of nodes to distribute to threads, if there are that many.
const TASKS: usize = 1 << 10;

/// Decides which boxes are near each other, and receives the pairs of near triangles.
pub trait PairVisitor {
    /// Returns the lanes whose boxes are near a box, as bits. If `SORTED` is true, also stores their squared
    /// distances in `gaps`.
    fn near(&self, boxes: &LaneBoxes, bounds: &[[f32; 3]; 2], gaps: &mut [f64; LANES]) -> u32;

    /// Whether nearer boxes are visited first.
    const SORTED: bool;

    /// Returns whether a box at this squared distance is still near. The limit may have changed during the
    /// search.
    fn is_near(&self, gap: f64) -> bool;

    /// Returns whether a pair of nodes at this squared distance is visited.
    fn enters(&self, gap: f64, pair: NodePair) -> bool;

    /// Called before the pairs of triangles of two leaves are visited.
    ///
    /// # Errors
    /// An error ends the search.
    fn step(&mut self) -> Result<()>;

    /// Receives a pair of triangles by their numbers.
    fn take(&mut self, numbers: [u32; 2]);
}

/// Two nodes, one of each tree. The same node twice stands for all pairs of its triangles.
pub type NodePair<'a> = [&'a BinNode; 2];

/// Two trees to search, or the same tree twice.
pub struct PairSearch<'a> {
    triangles: [&'a [Triangle]; 2],
    roots: NodePair<'a>,
}

impl<'a> PairSearch<'a> {
    /// Creates a search for pairs of one triangle from each tree.
    pub fn two(trees: [&'a PairTree<'a>; 2]) -> Self {
        Self {
            triangles: trees.map(|tree| tree.triangles),
            roots: trees.map(|tree| &tree.root),
        }
    }

    /// Creates a search for pairs of triangles of one tree, except pairs within a star.
    pub(crate) fn one(tree: &'a PairTree<'a>) -> Self {
        Self::two([tree, tree])
    }

    /// Divides the search into pairs of near nodes, enough of them to distribute to threads.
    pub fn tasks(&self, visitor: &impl PairVisitor) -> Vec<NodePair<'a>> {
        let mut tasks = vec![self.roots];
        loop {
            if tasks.len() >= TASKS || tasks.iter().flatten().all(|node| node.is_leaf()) {
                return tasks;
            }
            let mut finer = Vec::with_capacity(LANES * tasks.len());
            for task in tasks {
                if task.iter().all(|node| node.is_leaf()) {
                    finer.push(task);
                } else {
                    self.divide(task, visitor, &mut |pair, _| finer.push(pair));
                }
            }
            tasks = finer;
        }
    }

    /// Divides a pair of nodes into pairs of near children, with their squared distances. Leaves are not
    /// divided.
    fn divide(
        &self,
        [a, b]: NodePair<'a>,
        visitor: &impl PairVisitor,
        take: &mut impl FnMut(NodePair<'a>, f64),
    ) {
        let mut gaps = [0.0; LANES];
        if std::ptr::eq(a, b) {
            if a.is_star {
                return;
            }
            let parts = a.parts(self.triangles[0]);
            for (n, node) in parts.nodes.iter().enumerate() {
                take([node, node], 0.0);
                let near = visitor.near(&parts.boxes, &node.bounds, &mut gaps) & lanes_from(n + 1);
                for m in lanes(near & lanes_below(parts.nodes.len())) {
                    take([node, &parts.nodes[m]], gaps[m]);
                }
            }
            return;
        }
        let side = usize::from(a.is_leaf() || !b.is_leaf() && b.count > a.count);
        let (divided, kept) = if side == 0 { (a, b) } else { (b, a) };
        let parts = divided.parts(self.triangles[side]);
        let near =
            visitor.near(&parts.boxes, &kept.bounds, &mut gaps) & lanes_below(parts.nodes.len());
        for n in lanes(near) {
            let node = &parts.nodes[n];
            let pair = if side == 0 {
                [node, kept]
            } else {
                [kept, node]
            };
            take(pair, gaps[n]);
        }
    }

    /// Visits all near pairs of triangles of the two nodes of `pair`.
    ///
    /// # Errors
    /// Errors of the visitor, which end the search.
    pub fn visit<V: PairVisitor>(&self, pair: NodePair<'a>, visitor: &mut V) -> Result<()> {
        let [a, b] = pair;
        if a.is_leaf() && b.is_leaf() {
            visitor.step()?;
            if std::ptr::eq(a, b) {
                self.visit_leaf(a, visitor);
            } else {
                self.visit_leaves(pair, visitor);
            }
            return Ok(());
        }
        if std::ptr::eq(a, b) {
            let mut parts = Vec::with_capacity(LANES * (LANES + 1) / 2);
            self.divide(pair, visitor, &mut |part, _| parts.push(part));
            for part in parts {
                self.visit(part, visitor)?;
            }
            return Ok(());
        }
        let mut near = [(0.0, pair); LANES];
        let mut count = 0;
        self.divide(pair, visitor, &mut |part, gap| {
            near[count] = (gap, part);
            count += 1;
        });
        let near = &mut near[..count];
        if V::SORTED {
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        }
        for (gap, part) in near {
            if visitor.enters(*gap, *part) {
                self.visit(*part, visitor)?;
            }
        }
        Ok(())
    }

    fn visit_leaf<V: PairVisitor>(&self, leaf: &BinNode, visitor: &mut V) {
        let parts = leaf.parts(self.triangles[0]);
        let mut gaps = [0.0; LANES];
        for (lane, number) in parts.numbers.iter().enumerate() {
            let near = visitor.near(&parts.boxes, &own_box(&parts.boxes, lane), &mut gaps);
            for m in lanes(near & lanes_from(lane + 1) & lanes_below(parts.numbers.len())) {
                visitor.take([*number, parts.numbers[m]]);
            }
        }
    }

    fn visit_leaves<V: PairVisitor>(&self, [a, b]: NodePair, visitor: &mut V) {
        let [first, second] = [(0, a), (1, b)].map(|(n, node)| node.parts(self.triangles[n]));
        let mut gaps = [0.0; LANES];
        let near =
            visitor.near(&first.boxes, &b.bounds, &mut gaps) & lanes_below(first.numbers.len());
        for lane in lanes(near) {
            let others = visitor.near(&second.boxes, &own_box(&first.boxes, lane), &mut gaps);
            for m in lanes(others & lanes_below(second.numbers.len())) {
                if visitor.is_near(gaps[m]) {
                    visitor.take([first.numbers[lane], second.numbers[m]]);
                }
            }
        }
    }
}

fn own_box(boxes: &LaneBoxes, lane: usize) -> [[f32; 3]; 2] {
    [0, 3].map(|n| std::array::from_fn(|axis| boxes[n + axis][lane]))
}

fn lanes_below(count: usize) -> u32 {
    (1 << count) - 1
}

fn lanes_from(first: usize) -> u32 {
    !0 << first
}
