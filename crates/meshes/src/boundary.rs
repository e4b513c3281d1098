//! Boundary of triangles as closed loops of edges, and caps that close these loops.
//!
//! The boundary of triangles is the sum of their directed edges, in which opposite edges cancel. At each
//! vertex, as many of the remaining edges begin as end, so they form loops. Edges that occur an odd number of
//! times also form loops if their directions are ignored. These loops are the holes of a mesh.

use super::Mesh;
use super::edges::{self, Side};
use super::weld::Welded;
use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Point, Triangle};

/// Closed loop of edges that visits no vertex twice. It begins with its least vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// Vertices in order. There is an edge from each vertex to the next, and from the last to the first.
    pub points: Vec<Point>,
}

impl Loop {
    /// Returns the edges as pairs of their start and end.
    pub fn edges(&self) -> impl Iterator<Item = [Point; 2]> {
        let count = self.points.len();
        (0..count).map(move |n| [self.points[n], self.points[(n + 1) % count]])
    }

    /// Returns the sum of the lengths of the edges, computed in doubles.
    pub fn length(&self) -> f64 {
        // The sum is a fold, because `Iterator::sum` returns -0 if there are no numbers.
        self.edges().fold(0.0, |sum, edge| sum + length(&edge))
    }

    /// Returns the centre of mass of the edges, as if they were pieces of wire.
    pub fn centre(&self) -> [f64; 3] {
        let first = self.points[0].map(f64::from);
        let mut sum = [0.0; 3];
        let mut weight = 0.0;
        for edge in self.edges() {
            let weight_of_edge = length(&edge);
            for i in 0..3 {
                let middle = (f64::from(edge[0][i]) - first[i]) / 2.0
                    + (f64::from(edge[1][i]) - first[i]) / 2.0;
                sum[i] += weight_of_edge * middle;
            }
            weight += weight_of_edge;
        }
        std::array::from_fn(|i| first[i] + if weight > 0.0 { sum[i] / weight } else { 0.0 })
    }

    /// Returns the bounds of the vertices.
    pub fn bounds(&self) -> Bounds {
        self.points.iter().fold(Bounds::EMPTY, Bounds::with)
    }

    /// Returns the cap that closes triangles with this boundary: a fan with one triangle for each edge. Its
    /// apex is the centre of mass, rounded to floats.
    pub fn cap(&self) -> impl Iterator<Item = Triangle> {
        // The mean of floats is at most the largest float, so the conversion does not overflow.
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

/// Returns the caps of all loops. If triangles have these loops as their boundary, the triangles and the caps
/// together have no boundary.
pub fn caps(loops: &[Loop]) -> Vec<Triangle> {
    loops.iter().flat_map(Loop::cap).collect()
}

/// Returns the boundary of triangles as loops, in the direction of the remaining edges.
///
/// The result depends neither on the order of the triangles nor on the rotation of their corners. If an edge
/// remains several times, it is in as many loops.
///
/// # Errors
/// If there are more than 1.4 billion triangles.
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
    /// Returns the holes: loops of the edges that occur an odd number of times, whatever their directions.
    /// The result depends neither on the order of the triangles nor on the order of their corners.
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
    /// If there are more than 1.4 billion triangles.
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

/// Returns the loop through the vertices with these numbers.
pub(super) fn of(circuit: &[u32], points: &[Point]) -> Loop {
    Loop {
        points: circuit.iter().map(|n| points[*n as usize]).collect(),
    }
}

/// Returns the directed edges that remain after opposite edges have cancelled. An edge that remains several
/// times is returned as often.
///
/// `sides` must be sorted. `is_forth` states whether a side goes from the lesser end to the greater.
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

/// Directions in which loops may use edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Only in the direction of the edge.
    Along,
    /// In both directions.
    Either,
}

/// Edge, in a direction in which a loop may use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arc {
    from: u32,
    to: u32,
    edge: usize,
}

/// Splits all edges into loops that visit no vertex twice. The walk always continues along the least unused
/// edge. When it returns to a vertex of its path, the loop since that vertex is cut off.
///
/// With [`Way::Along`], as many edges must begin at each vertex as end there. With [`Way::Either`], each
/// vertex must have an even number of edges.
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
        // A vertex is identified by the index of its first arc.
        if start == 0 || walk.arcs[start - 1].from != walk.arcs[start].from {
            walk.all_from(start);
        }
    }
    walk.found
}

struct Walk {
    arcs: Vec<Arc>,
    /// For each vertex, the index of its first arc that may be unused.
    next: Vec<usize>,
    /// For each edge: it was used.
    used: Vec<bool>,
    /// For each vertex, its index in the path. `None` if the path does not visit it.
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
                for vertex in path.drain(at + 1..) {
                    self.place[vertex] = None;
                }
            } else {
                self.place[to] = Some(path.len());
                path.push(to);
            }
        }
        debug_assert_eq!(path, [start], "edges that are no loops");
        self.place[start] = None;
    }

    /// Follows the next unused edge from a vertex. Returns the vertex at its end. `None` if the vertex has no
    /// unused edge.
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

    /// Returns the vertices of a closed path, beginning with the least.
    fn circuit(&self, path: &[usize]) -> Vec<u32> {
        let mut vertices: Vec<u32> = path.iter().map(|vertex| self.arcs[*vertex].from).collect();
        let least = (0..vertices.len())
            .min_by_key(|n| vertices[*n])
            .unwrap_or(0);
        vertices.rotate_left(least);
        vertices
    }
}
