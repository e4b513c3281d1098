//! Boundary loops: where triangles end, as closed loops of edges, and the caps that close them.
//!
//! The boundary of triangles is the sum of their directed edges, where opposite ones cancel. As many of
//! them leave a vertex as come to it, so it falls into loops. What goes by parity, the edges that are
//! there an odd number of times, does so as well: those are the holes that people look for.

use super::Mesh;
use super::edges::{self, Side};
use super::weld::Welded;
use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Point, Triangle};

/// A closed loop of edges that meets no vertex twice. It begins with its least vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// Its vertices in order, one for each edge: from each an edge goes to the next, from the last to
    /// the first.
    pub points: Vec<Point>,
}

impl Loop {
    /// Its edges, from where to where.
    pub fn edges(&self) -> impl Iterator<Item = [Point; 2]> {
        let count = self.points.len();
        (0..count).map(move |n| [self.points[n], self.points[(n + 1) % count]])
    }

    /// How long it is, by doubles.
    pub fn length(&self) -> f64 {
        // A sum of no numbers would be -0.
        self.edges().fold(0.0, |sum, edge| sum + length(&edge))
    }

    /// The centre of its edges, as if they were of wire.
    pub fn centre(&self) -> [f64; 3] {
        let first = self.points[0].map(f64::from);
        let mut sum = [0.0; 3];
        let mut weight = 0.0;
        for edge in self.edges() {
            let its = length(&edge);
            let middle = |i: usize| {
                (f64::from(edge[0][i]) - first[i]) / 2.0 + (f64::from(edge[1][i]) - first[i]) / 2.0
            };
            (0..3).for_each(|i| sum[i] += its * middle(i));
            weight += its;
        }
        std::array::from_fn(|i| first[i] + if weight > 0.0 { sum[i] / weight } else { 0.0 })
    }

    /// The bounds of its vertices.
    pub fn bounds(&self) -> Bounds {
        self.points.iter().fold(Bounds::EMPTY, Bounds::with)
    }

    /// The cap that closes triangles whose boundary this is: a fan of one triangle for each edge around
    /// the centre, rounded to floats.
    pub fn cap(&self) -> impl Iterator<Item = Triangle> {
        // A mean of floats is no larger than the largest float.
        let apex = self.centre().map(|c| c as f32);
        self.edges().map(move |[from, to]| [to, from, apex])
    }
}

fn length([from, to]: &[Point; 2]) -> f64 {
    (0..3)
        .map(|i| (f64::from(to[i]) - f64::from(from[i])).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// The caps of all loops: with them the triangles whose boundary the loops are have none.
pub fn caps(loops: &[Loop]) -> Vec<Triangle> {
    loops.iter().flat_map(Loop::cap).collect()
}

/// The boundary of triangles, as loops in the direction of their edges. The same for any order of the
/// triangles and any rotation of their corners. An edge that is there more than once is in as many loops.
///
/// # Errors
/// If there are more than 1.4 thousand million triangles.
pub fn boundary(triangles: &[Triangle]) -> Result<Vec<Loop>> {
    let welded = Welded::of(triangles)?;
    let sides = edges::sorted(&welded.triangles, welded.points.len());
    let net = net(&sides, |side| side.is_forth(&welded.triangles));
    Ok(circuits(&net, Way::Along)
        .iter()
        .map(|circuit| of(circuit, &welded.points))
        .collect())
}

impl Mesh {
    /// The holes: loops of the edges that are there an odd number of times, whatever their direction.
    /// The same for any order of the triangles and their corners.
    ///
    /// ```
    /// # use voxelize_meshes::voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::Mesh;
    ///
    /// let cube = Mesh::open("fixtures/cube.stl")?;
    /// assert!(cube.holes()?.is_empty());
    ///
    /// let without_two = Mesh::from_triangles(cube.triangles()[2..].to_vec())?;
    /// let holes = without_two.holes()?;
    /// assert_eq!((holes.len(), holes[0].points.len(), holes[0].length()), (1, 4, 256.0));
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are more than 1.4 thousand million triangles.
    pub fn holes(&self) -> Result<Vec<Loop>> {
        let welded = Welded::of(self.triangles())?;
        let sides = edges::sorted(&welded.triangles, welded.points.len());
        let odd = edges::by_edge(&sides).filter(|group| group.len() % 2 == 1);
        let odd: Vec<[u32; 2]> = odd.map(|group| group[0].ends).collect();
        Ok(circuits(&odd, Way::Either)
            .iter()
            .map(|circuit| of(circuit, &welded.points))
            .collect())
    }
}

/// The loop through these vertices.
pub(super) fn of(circuit: &[u32], points: &[Point]) -> Loop {
    Loop {
        points: circuit.iter().map(|n| points[*n as usize]).collect(),
    }
}

/// The directed edges that no opposite ones cancel, as often as they are left, from where to where; of
/// sorted sides, and whether they go from the lesser end to the greater.
pub(super) fn net(sides: &[Side], is_forth: impl Fn(&Side) -> bool) -> Vec<[u32; 2]> {
    let mut left = vec![];
    for group in edges::by_edge(sides) {
        let [low, high] = group[0].ends;
        let forth = group.iter().filter(|side| is_forth(side)).count();
        let back = group.len() - forth;
        let edge = if forth > back {
            [low, high]
        } else {
            [high, low]
        };
        left.extend(std::iter::repeat_n(edge, forth.abs_diff(back)));
    }
    left
}

/// Which ways edges may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Along their direction.
    Along,
    /// Both ways.
    Either,
}

/// An edge as it may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arc {
    from: u32,
    to: u32,
    edge: usize,
}

/// All edges in loops that meet no vertex twice: a walk along the least edge left, from which a loop is
/// cut whenever it comes back to itself. Every vertex must be left as often as it is come to, or, either
/// way, by an even number of edges.
pub(super) fn circuits(edges: &[[u32; 2]], way: Way) -> Vec<Vec<u32>> {
    let forth = edges
        .iter()
        .enumerate()
        .map(|(edge, &[from, to])| Arc { from, to, edge });
    let mut arcs: Vec<Arc> = forth.collect();
    if way == Way::Either {
        arcs.extend(
            edges
                .iter()
                .enumerate()
                .map(|(edge, &[to, from])| Arc { from, to, edge }),
        );
    }
    arcs.sort_unstable();
    let mut walk = Walk {
        next: (0..arcs.len()).collect(),
        used: vec![false; edges.len()],
        place: vec![None; arcs.len()],
        found: vec![],
        arcs,
    };
    for start in 0..walk.arcs.len() {
        // The first arc of a vertex stands for it.
        if start == 0 || walk.arcs[start - 1].from != walk.arcs[start].from {
            walk.all_from(start);
        }
    }
    walk.found
}

struct Walk {
    arcs: Vec<Arc>,
    /// For each vertex its first arc that may be left.
    next: Vec<usize>,
    /// Whether an edge was taken.
    used: Vec<bool>,
    /// For each vertex where it is in the path.
    place: Vec<Option<usize>>,
    found: Vec<Vec<u32>>,
}

impl Walk {
    fn all_from(&mut self, start: usize) {
        let mut path = vec![start];
        self.place[start] = Some(0);
        while let Some(to) = self.step(path[path.len() - 1]) {
            if let Some(at) = self.place[to] {
                self.found.push(self.circuit(&path[at..]));
                path.drain(at + 1..)
                    .for_each(|vertex| self.place[vertex] = None);
            } else {
                self.place[to] = Some(path.len());
                path.push(to);
            }
        }
        debug_assert_eq!(path, [start], "edges that are no loops");
        self.place[start] = None;
    }

    /// Takes the next edge from a vertex, if there is one left: to which vertex.
    fn step(&mut self, vertex: usize) -> Option<usize> {
        let from = self.arcs[vertex].from;
        while let Some(arc) = self
            .arcs
            .get(self.next[vertex])
            .filter(|arc| arc.from == from)
        {
            self.next[vertex] += 1;
            if !std::mem::replace(&mut self.used[arc.edge], true) {
                return Some(self.arcs.partition_point(|other| other.from < arc.to));
            }
        }
        None
    }

    /// The vertices of a path, from the least on.
    fn circuit(&self, path: &[usize]) -> Vec<u32> {
        let mut vertices: Vec<u32> = path.iter().map(|vertex| self.arcs[*vertex].from).collect();
        let least = (0..vertices.len())
            .min_by_key(|n| vertices[*n])
            .unwrap_or(0);
        vertices.rotate_left(least);
        vertices
    }
}
