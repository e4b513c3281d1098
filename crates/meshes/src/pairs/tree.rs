//! Tree of bounding boxes. Triangles of a mesh are in cells of a lattice, cells are in blocks of eight, and
//! blocks are in larger blocks. Each has its bounds. A cell is divided further when it is first visited,
//! because most cells are never visited.
//!
//! A triangle belongs to the cell that contains the middle of its bounds. Large triangles are kept in
//! separate cells, because a large triangle would enlarge the bounds of a cell of small triangles too much.
//! No result depends on the assignment of triangles to cells.

use std::sync::OnceLock;

use super::boxes::{LANES, LaneBoxes, lane_boxes, lanes, meeting};
use voxelize_core::geom::{Bounds, Triangle, morton};
use voxelize_core::par;

/// Approximate number of triangles in an occupied cell.
const PER_CELL: usize = 64;

/// Maximum number of bits of a cell's index along each axis.
const MOST_BITS: u32 = 7;

/// Number of triangles that a thread processes at a time.
const CHUNK: usize = 1 << 14;

/// Tree of the bounding boxes of triangles.
#[derive(Debug)]
pub struct PairTree<'a> {
    pub(crate) triangles: &'a [Triangle],
    pub(crate) root: BinNode,
}

/// Node of the tree: triangles that are near each other.
#[derive(Debug)]
pub struct BinNode {
    /// Lowest and highest corner of the triangles.
    pub bounds: [[f32; 3]; 2],
    /// Number of triangles.
    pub(crate) count: usize,
    /// The triangles are a star. Pairs within a star are searched separately.
    pub(super) is_star: bool,
    /// Numbers of the triangles. Empty for a node that was created from its children.
    numbers: Vec<u32>,
    parts: OnceLock<BinParts>,
}

/// Children of a node: at most sixteen nodes or triangles.
#[derive(Debug)]
pub(crate) struct BinParts {
    pub(crate) boxes: LaneBoxes,
    pub(crate) nodes: Vec<BinNode>,
    /// Triangles of a leaf, at most sixteen.
    pub(crate) numbers: Vec<u32>,
}

impl<'a> PairTree<'a> {
    /// Creates the tree of all triangles. At least one triangle is required.
    pub fn new(triangles: &'a [Triangle]) -> Self {
        Self::of(triangles, &(0..triangles.len() as u32).collect::<Vec<_>>())
    }

    /// Creates the tree of the triangles with these numbers. At least one triangle is required.
    pub(crate) fn of(triangles: &'a [Triangle], numbers: &[u32]) -> Self {
        Self::with_stars(triangles, numbers, &[])
    }

    /// Creates the tree of the triangles with these numbers, and of stars of other triangles. Each star is a
    /// separate node.
    pub(super) fn with_stars(triangles: &'a [Triangle], numbers: &[u32], stars: &[&[u32]]) -> Self {
        Self {
            triangles,
            root: root(triangles, numbers, stars),
        }
    }

    /// Calls `take` with each triangle whose bounds intersect a box.
    pub fn around(&self, bounds: &[[f32; 3]; 2], take: &mut impl FnMut(u32)) {
        self.visit(&|_| true, &|boxes| meeting(boxes, bounds), take);
    }

    /// Calls `take` with the triangles in the lanes that `hit` returns. Nodes for which `enters` returns
    /// false are skipped. `hit` is called with the boxes of child nodes, and in leaves with the boxes of
    /// triangles.
    pub fn visit(
        &self,
        enters: &impl Fn(&BinNode) -> bool,
        hit: &impl Fn(&LaneBoxes) -> u32,
        take: &mut impl FnMut(u32),
    ) {
        let mut waiting = vec![&self.root];
        while let Some(node) = waiting.pop() {
            if !enters(node) {
                continue;
            }
            let parts = node.parts(self.triangles);
            for lane in lanes(hit(&parts.boxes)) {
                if let Some(node) = parts.nodes.get(lane) {
                    waiting.push(node);
                } else if let Some(n) = parts.numbers.get(lane) {
                    take(*n);
                }
            }
        }
    }

    /// Returns the memory in bytes of a tree of this many triangles in which all cells are divided.
    pub fn bytes_for(triangles: usize) -> u64 {
        // Nodes of more than sixteen triangles are divided into nodes of at least eight.
        let node = size_of::<BinNode>() + size_of::<LaneBoxes>();
        triangles as u64 * (4 * size_of::<u32>() + node / 8) as u64
    }
}

fn root(triangles: &[Triangle], numbers: &[u32], stars: &[&[u32]]) -> BinNode {
    // A surface intersects about 3 · 4^bits cells.
    let mut bits = ((numbers.len() / (3 * PER_CELL)).max(1).ilog2() / 2).min(MOST_BITS);
    let bounds = bounds_of(triangles, numbers);
    let mut cells = CellKeys::new(&bounds, bits);
    let (mut order, mut starts) = cells.sorted(triangles, numbers);
    // If the triangles fill a volume instead, more cells are occupied. Then the cells are enlarged.
    while bits > 0 && LANES * starts.windows(2).filter(|w| w[0] < w[1]).count() > numbers.len() {
        bits -= 1;
        cells = CellKeys::new(&bounds, bits);
        (order, starts) = cells.sorted(triangles, numbers);
    }
    let mut bins: Vec<&[u32]> = vec![];
    for w in starts.windows(2) {
        if w[0] < w[1] {
            bins.push(&order[w[0]..w[1]]);
        }
    }
    let keys: Vec<u32> = bins
        .iter()
        .map(|bin| cells.key(&triangles[bin[0] as usize]))
        .collect();
    let shares: Vec<_> = bins.chunks(256).collect();
    let nodes = par::map(shares, |bins: &[&[u32]]| {
        bins.iter()
            .map(|bin| BinNode::of(triangles, bin.to_vec()))
            .collect::<Vec<_>>()
    });
    let mut nodes: Vec<(u32, BinNode)> =
        keys.into_iter().zip(nodes.into_iter().flatten()).collect();
    for own in stars {
        let star = BinNode {
            is_star: true,
            ..BinNode::of(triangles, own.to_vec())
        };
        nodes.push((cells.key(&triangles[own[0] as usize]), star));
    }
    nodes.sort_by_key(|(key, _)| *key);
    while nodes.len() > LANES {
        nodes = blocks(nodes);
    }
    BinNode::around(nodes.into_iter().map(|(_, node)| node).collect())
}

/// Joins nodes whose keys differ only in their last three bits into blocks of at most sixteen nodes.
fn blocks(nodes: Vec<(u32, BinNode)>) -> Vec<(u32, BinNode)> {
    let mut larger: Vec<(u32, Vec<BinNode>)> = vec![];
    for (key, node) in nodes {
        match larger.last_mut() {
            Some((last, block)) if *last == key >> 3 && block.len() < LANES => block.push(node),
            _ => larger.push((key >> 3, vec![node])),
        }
    }
    larger
        .into_iter()
        .map(|(key, block)| (key, BinNode::around(block)))
        .collect()
}

fn bounds_of(triangles: &[Triangle], numbers: &[u32]) -> Bounds {
    let shares = numbers.chunks(CHUNK).collect();
    let bounds = par::map(shares, |some: &[u32]| {
        some.iter().fold(Bounds::EMPTY, |all, n| {
            triangles[*n as usize].iter().fold(all, Bounds::with)
        })
    });
    bounds.iter().fold(Bounds::EMPTY, |all, one| all.union(one))
}

/// Returns the bounding box of boxes.
fn around<'a>(all: impl Iterator<Item = &'a [[f32; 3]; 2]>) -> [[f32; 3]; 2] {
    all.fold(
        [Bounds::EMPTY.min, Bounds::EMPTY.max],
        |[low, high], [l, h]| {
            [
                std::array::from_fn(|a| low[a].min(l[a])),
                std::array::from_fn(|a| high[a].max(h[a])),
            ]
        },
    )
}

#[cfg(test)]
impl PairTree<'_> {
    /// Divides all cells, and returns the memory of the tree in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.visit(&|_| true, &|_| !0, &mut |_| {});
        let mut bytes = 0;
        let mut waiting = vec![&self.root];
        while let Some(node) = waiting.pop() {
            let parts = node.parts(self.triangles);
            let numbers = node.numbers.capacity() + parts.numbers.capacity();
            bytes += size_of::<BinNode>() + numbers * size_of::<u32>();
            waiting.extend(&parts.nodes);
        }
        bytes as u64
    }
}

impl BinNode {
    fn of(triangles: &[Triangle], numbers: Vec<u32>) -> Self {
        let mut bounds = Bounds::EMPTY;
        for n in &numbers {
            bounds = triangles[*n as usize].iter().fold(bounds, Bounds::with);
        }
        let bounds = [bounds.min, bounds.max];
        Self {
            bounds,
            count: numbers.len(),
            is_star: false,
            numbers,
            parts: OnceLock::new(),
        }
    }

    /// Creates a node for triangles of a divided cell. A leaf gets its parts immediately. A larger node is
    /// divided at the first visit.
    fn of_boxed(boxed: &[BoxedTriangle]) -> Self {
        let bounds = around(boxed.iter().map(|own| &own.bounds));
        let numbers: Vec<u32> = boxed.iter().map(|own| own.number).collect();
        let parts = if boxed.len() <= LANES {
            BinParts::of(boxed).into()
        } else {
            OnceLock::new()
        };
        Self {
            bounds,
            count: numbers.len(),
            is_star: false,
            numbers,
            parts,
        }
    }

    fn around(nodes: Vec<Self>) -> Self {
        let bounds = around(nodes.iter().map(|node| &node.bounds));
        let count = nodes.iter().map(|node| node.count).sum();
        let boxes = lane_boxes(nodes.iter().map(|node| node.bounds));
        let parts = OnceLock::from(BinParts {
            boxes,
            nodes,
            numbers: vec![],
        });
        Self {
            bounds,
            count,
            is_star: false,
            numbers: vec![],
            parts,
        }
    }

    /// Returns whether the children are triangles.
    pub(crate) fn is_leaf(&self) -> bool {
        !self.numbers.is_empty() && self.numbers.len() <= LANES
    }

    /// Returns the children. The first call creates them.
    pub(crate) fn parts(&self, triangles: &[Triangle]) -> &BinParts {
        self.parts.get_or_init(|| {
            let mut boxed: Vec<_> = self
                .numbers
                .iter()
                .map(|n| BoxedTriangle::of(triangles, *n))
                .collect();
            if self.is_leaf() {
                return BinParts::of(&boxed);
            }
            let mut nodes = vec![];
            divide(&mut boxed, LANES, &mut nodes);
            BinParts {
                boxes: lane_boxes(nodes.iter().map(|node| node.bounds)),
                nodes,
                numbers: vec![],
            }
        })
    }
}

impl BinParts {
    /// Creates a leaf of at most sixteen triangles.
    fn of(boxed: &[BoxedTriangle]) -> Self {
        let boxes = lane_boxes(boxed.iter().map(|own| own.bounds));
        Self {
            boxes,
            nodes: vec![],
            numbers: boxed.iter().map(|own| own.number).collect(),
        }
    }
}

/// Number of a triangle and its bounds, so that cells are divided without access to the coordinates.
#[derive(Debug, Clone, Copy)]
struct BoxedTriangle {
    bounds: [[f32; 3]; 2],
    number: u32,
}

impl BoxedTriangle {
    fn of(triangles: &[Triangle], number: u32) -> Self {
        let [a, b, c] = &triangles[number as usize];
        let bounds = [
            std::array::from_fn(|i| a[i].min(b[i]).min(c[i])),
            std::array::from_fn(|i| a[i].max(b[i]).max(c[i])),
        ];
        Self { bounds, number }
    }

    fn middle(&self, axis: usize) -> f32 {
        self.bounds[0][axis] / 2.0 + self.bounds[1][axis] / 2.0
    }
}

/// Halves a list of triangles repeatedly, along the longest axis of the bounds of their middles, into at most
/// `most` nodes.
fn divide(boxed: &mut [BoxedTriangle], most: usize, nodes: &mut Vec<BinNode>) {
    if boxed.len() <= LANES || most == 1 {
        return nodes.push(BinNode::of_boxed(boxed));
    }
    let mut low = [f32::INFINITY; 3];
    let mut high = [f32::NEG_INFINITY; 3];
    for own in boxed.iter() {
        for axis in 0..3 {
            let middle = own.middle(axis);
            low[axis] = if middle < low[axis] {
                middle
            } else {
                low[axis]
            };
            high[axis] = if middle > high[axis] {
                middle
            } else {
                high[axis]
            };
        }
    }
    let extents: [f32; 3] = std::array::from_fn(|axis| high[axis] - low[axis]);
    let axis = (0..3)
        .max_by(|a, b| extents[*a].total_cmp(&extents[*b]))
        .unwrap_or(0);
    let half = (boxed.len() / 2)
        .next_multiple_of(LANES)
        .min(boxed.len() - 1);
    boxed.select_nth_unstable_by(half, |a, b| a.middle(axis).total_cmp(&b.middle(axis)));
    let (first, rest) = boxed.split_at_mut(half);
    divide(first, most / 2, nodes);
    divide(rest, most / 2, nodes);
}

/// Keys of the cells of a lattice in Morton order. The cells of large triangles come last.
struct CellKeys {
    low: [f64; 3],
    /// Number of cells per unit of length.
    scale: f64,
    bits: u32,
}

impl CellKeys {
    fn new(bounds: &Bounds, bits: u32) -> Self {
        let extent = (0..3)
            .map(|a| f64::from(bounds.max[a]) - f64::from(bounds.min[a]))
            .fold(0.0, f64::max);
        let scale = if extent > 0.0 {
            f64::from(1 << bits) / extent
        } else {
            0.0
        };
        Self {
            low: bounds.min.map(f64::from),
            scale,
            bits,
        }
    }

    /// Returns the key of a triangle: its size class, then the cell of its middle.
    fn key(&self, [a, b, c]: &Triangle) -> u32 {
        let mut longest = 0.0_f64;
        let middle = [0, 1, 2].map(|axis| {
            let low = f64::from(a[axis].min(b[axis]).min(c[axis]));
            let high = f64::from(a[axis].max(b[axis]).max(c[axis]));
            longest = longest.max((high - low) * self.scale);
            let middle = ((low + high) / 2.0 - self.low[axis]) * self.scale;
            (middle as u64).min((1 << self.bits) - 1)
        });
        let size = [1.0, 4.0, 16.0]
            .into_iter()
            .filter(|least| longest > *least)
            .count() as u32;
        size << (3 * self.bits) | morton::code(middle) as u32
    }

    /// Returns the numbers of the triangles sorted by cell, and the start of each cell in this list.
    fn sorted(&self, triangles: &[Triangle], numbers: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let keys = par::map(numbers.chunks(CHUNK).collect(), |some: &[u32]| {
            some.iter()
                .map(|n| self.key(&triangles[*n as usize]))
                .collect::<Vec<_>>()
        });
        let mut starts = vec![0; (4 << (3 * self.bits)) + 1];
        for key in keys.iter().flatten() {
            starts[*key as usize + 1] += 1;
        }
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let mut places = starts.clone();
        let mut order = vec![0; numbers.len()];
        for (number, key) in numbers.iter().zip(keys.iter().flatten()) {
            let place = &mut places[*key as usize];
            order[*place] = *number;
            *place += 1;
        }
        (order, starts)
    }
}
