//! The triangles of a mesh in the cells of a lattice, cells in blocks of eight and blocks in larger ones, each with its
//! bounds. Cells are divided further when they are first looked at: few of them ever are.
//!
//! A triangle is in the cell that holds the middle of its bounds, large triangles apart from small ones: a large one would
//! make the bounds of its neighbours useless. No result depends on where triangles are put.

use std::sync::OnceLock;

use crate::geom::{Bounds, Triangle};
use crate::mesh::Mesh;
use crate::par;

/// Boxes that are compared at a time.
pub(super) const LANES: usize = 16;

/// Sixteen boxes: the lowest coordinates x, y, z, then the highest. Unused boxes contain no point.
pub(super) type LaneBoxes = [[f32; LANES]; 6];

/// Triangles to an occupied cell, about.
const PER_CELL: usize = 64;

/// The most bits of a cell's index along an axis.
const MOST_BITS: u32 = 7;

/// Triangles that a thread takes at a time.
const CHUNK: usize = 1 << 14;

/// Some triangles near each other.
#[derive(Debug)]
pub(super) struct BinNode {
    pub(super) bounds: [[f32; 3]; 2],
    /// How many triangles it has.
    pub(super) count: usize,
    /// Their numbers; none where it was made of its parts.
    numbers: Vec<u32>,
    parts: OnceLock<BinParts>,
}

/// The children of a node: at most sixteen nodes, or triangles.
#[derive(Debug)]
pub(super) struct BinParts {
    pub(super) boxes: LaneBoxes,
    pub(super) nodes: Vec<BinNode>,
    /// The triangles, if there are at most sixteen.
    pub(super) numbers: Vec<u32>,
}

/// A mesh as a node.
pub(super) fn root(mesh: &Mesh) -> BinNode {
    let triangles = mesh.triangles();
    // A surface meets about 3 · 4^bits cells.
    let bits = ((triangles.len() / (3 * PER_CELL)).max(1).ilog2() / 2).min(MOST_BITS);
    let cells = CellKeys::new(mesh.bounds(), bits);
    let (order, starts) = cells.sorted(triangles);
    let bins: Vec<&[u32]> =
        starts.windows(2).map(|w| &order[w[0]..w[1]]).filter(|bin| !bin.is_empty()).collect();
    let keys: Vec<u32> = bins.iter().map(|bin| cells.key(&triangles[bin[0] as usize])).collect();
    let shares: Vec<_> = bins.chunks(256).collect();
    let nodes = par::map(shares, |bins: &[&[u32]]| {
        bins.iter().map(|bin| BinNode::of(triangles, bin.to_vec())).collect::<Vec<_>>()
    });
    let mut nodes: Vec<(u32, BinNode)> = keys.into_iter().zip(nodes.into_iter().flatten()).collect();
    while nodes.len() > LANES {
        let mut larger: Vec<(u32, Vec<BinNode>)> = vec![];
        for (key, node) in nodes {
            match larger.last_mut() {
                Some((last, block)) if *last == key >> 3 => block.push(node),
                _ => larger.push((key >> 3, vec![node])),
            }
        }
        nodes = larger.into_iter().map(|(key, block)| (key, BinNode::around(block))).collect();
    }
    BinNode::around(nodes.into_iter().map(|(_, node)| node).collect())
}

/// The bytes that it takes for so many triangles, all cells divided.
pub(super) fn bytes_for(triangles: usize) -> u128 {
    // Nodes of more than sixteen triangles are divided into such that have eight at least.
    let node = size_of::<BinNode>() + size_of::<LaneBoxes>();
    triangles as u128 * (4 * size_of::<u32>() + node / 8) as u128
}

impl BinNode {
    fn of(triangles: &[Triangle], numbers: Vec<u32>) -> Self {
        let own = |bounds: Bounds, n: &u32| triangles[*n as usize].iter().fold(bounds, Bounds::with);
        let bounds = numbers.iter().fold(Bounds::EMPTY, own);
        Self { bounds: [bounds.min, bounds.max], count: numbers.len(), numbers, parts: OnceLock::new() }
    }

    fn around(nodes: Vec<Self>) -> Self {
        let empty = [Bounds::EMPTY.min, Bounds::EMPTY.max];
        let bounds = nodes.iter().fold(empty, |[low, high], node| {
            let [l, h] = node.bounds;
            [std::array::from_fn(|a| low[a].min(l[a])), std::array::from_fn(|a| high[a].max(h[a]))]
        });
        let count = nodes.iter().map(|node| node.count).sum();
        let boxes = lane_boxes(nodes.iter().map(|node| node.bounds));
        let parts = OnceLock::from(BinParts { boxes, nodes, numbers: vec![] });
        Self { bounds, count, numbers: vec![], parts }
    }

    /// Whether it is divided into triangles.
    pub(super) fn is_leaf(&self) -> bool {
        !self.numbers.is_empty() && self.numbers.len() <= LANES
    }

    /// Its children.
    pub(super) fn parts(&self, triangles: &[Triangle]) -> &BinParts {
        self.parts.get_or_init(|| {
            if self.is_leaf() {
                let own = |n: &u32| {
                    let bounds = Bounds::of(&triangles[*n as usize..][..1]);
                    [bounds.min, bounds.max]
                };
                let boxes = lane_boxes(self.numbers.iter().map(own));
                return BinParts { boxes, nodes: vec![], numbers: self.numbers.clone() };
            }
            let mut nodes = vec![];
            divide(triangles, self.numbers.clone(), LANES, &mut nodes);
            BinParts { boxes: lane_boxes(nodes.iter().map(|node| node.bounds)), nodes, numbers: vec![] }
        })
    }
}

/// Halves triangles along the longest axis of their middles, again and again, into so many nodes at most.
fn divide(triangles: &[Triangle], mut numbers: Vec<u32>, most: usize, nodes: &mut Vec<BinNode>) {
    if numbers.len() <= LANES || most == 1 {
        return nodes.push(BinNode::of(triangles, numbers));
    }
    let middle = |n: u32, axis: usize| {
        let [a, b, c] = triangles[n as usize].map(|v| v[axis]);
        a.min(b).min(c) / 2.0 + a.max(b).max(c) / 2.0
    };
    let extents = [0, 1, 2].map(|axis| {
        let middles = numbers.iter().map(|n| middle(*n, axis));
        let [low, high] = middles.fold([f32::INFINITY, f32::NEG_INFINITY], |[l, h], m| [l.min(m), h.max(m)]);
        high - low
    });
    let axis = (0..3).max_by(|a, b| extents[*a].total_cmp(&extents[*b])).unwrap_or(0);
    let half = (numbers.len() / 2).next_multiple_of(LANES).min(numbers.len() - 1);
    numbers.select_nth_unstable_by(half, |a, b| middle(*a, axis).total_cmp(&middle(*b, axis)));
    let rest = numbers.split_off(half);
    divide(triangles, numbers, most / 2, nodes);
    divide(triangles, rest, most / 2, nodes);
}

fn lane_boxes(bounds: impl Iterator<Item = [[f32; 3]; 2]>) -> LaneBoxes {
    let (low, high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let mut boxes = [low, low, low, high, high, high];
    for (lane, corners) in bounds.enumerate() {
        for (row, coordinate) in corners.as_flattened().iter().enumerate() {
            boxes[row][lane] = *coordinate;
        }
    }
    boxes
}

/// Cells of a lattice in Morton order; cells of large triangles come last.
struct CellKeys {
    low: [f64; 3],
    /// Cells to a unit of length.
    scale: f64,
    bits: u32,
}

impl CellKeys {
    fn new(bounds: &Bounds, bits: u32) -> Self {
        let extent = (0..3).map(|a| f64::from(bounds.max[a]) - f64::from(bounds.min[a])).fold(0.0, f64::max);
        let scale = if extent > 0.0 { f64::from(1 << bits) / extent } else { 0.0 };
        Self { low: bounds.min.map(f64::from), scale, bits }
    }

    /// Bits of the cell of its middle, and of how large it is.
    fn key(&self, [a, b, c]: &Triangle) -> u32 {
        let (mut code, mut longest) = (0, 0.0_f64);
        for axis in 0..3 {
            let low = f64::from(a[axis].min(b[axis]).min(c[axis]));
            let high = f64::from(a[axis].max(b[axis]).max(c[axis]));
            longest = longest.max((high - low) * self.scale);
            let middle = ((low + high) / 2.0 - self.low[axis]) * self.scale;
            code |= spread((middle as u32).min((1 << self.bits) - 1)) << axis;
        }
        let size = [1.0, 4.0, 16.0].into_iter().filter(|least| longest > *least).count() as u32;
        size << (3 * self.bits) | code
    }

    /// The numbers of triangles by their cells, and where cells begin.
    fn sorted(&self, triangles: &[Triangle]) -> (Vec<u32>, Vec<usize>) {
        let keys = par::map(triangles.chunks(CHUNK).collect(), |some: &[Triangle]| {
            some.iter().map(|triangle| self.key(triangle)).collect::<Vec<_>>()
        });
        let mut starts = vec![0; (4 << (3 * self.bits)) + 1];
        keys.iter().flatten().for_each(|key| starts[*key as usize + 1] += 1);
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let (mut places, mut order) = (starts.clone(), vec![0; triangles.len()]);
        for (number, key) in (0..).zip(keys.iter().flatten()) {
            let place = &mut places[*key as usize];
            order[*place] = number;
            *place += 1;
        }
        (order, starts)
    }
}

/// Seven bits, two zeros after each.
fn spread(bits: u32) -> u32 {
    (0..MOST_BITS).map(|n| (bits >> n & 1) << (3 * n)).sum()
}
