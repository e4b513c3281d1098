//! Closedness and orientation of a mesh. All triangles are considered, and vertices are equal if their bits
//! are equal (−0 is 0). Vertices are not welded.
//!
//! *Closed*: every undirected edge occurs an even number of times. *Oriented*: every directed edge is
//! cancelled by its reverse. Triangles without area count like any other triangle, because they close
//! T-junctions. The edges of a triangle with two equal vertices cancel each other. Edges are divided into
//! buckets, and all copies of an edge are in one bucket. Each bucket is sorted, so the counts are exact and
//! do not depend on the order of the triangles.
//!
//! Commands that need no counts use sums of hashes instead of the sort (`crates/kernel/src/edge_sums.rs`).
//! For dragon, with 871,414 triangles, the sort takes 0.3 s on two cores, and all of `--filled -r 256` with
//! the sums takes 0.15 s.

use std::hash::{BuildHasher, RandomState};

use super::Mesh;
use super::edges::EdgeUse;
use voxelize_core::geom::{Point, Triangle};
use voxelize_core::par;
use voxelize_kernel::Level;
use voxelize_kernel::edge_sums::{EdgeKeys, EdgeSums};

/// Numbers of open and of unbalanced edges of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeCounts {
    /// Number of undirected edges that occur an odd number of times. They surround holes.
    pub open_edges: u64,
    /// Number of undirected edges that do not occur equally often in both directions. Open edges are
    /// included.
    pub unbalanced_edges: u64,
}

impl EdgeCounts {
    /// Returns whether every undirected edge occurs an even number of times.
    pub fn is_closed(&self) -> bool {
        self.open_edges == 0
    }

    /// Returns whether every directed edge is cancelled by its reverse.
    pub fn is_oriented(&self) -> bool {
        self.unbalanced_edges == 0
    }
}

/// Closedness and orientation of a mesh by its edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closedness {
    /// Every directed edge is cancelled by its reverse.
    Oriented,
    /// Every undirected edge occurs an even number of times.
    Closed,
    /// Neither closed nor oriented.
    Open,
}

/// Defect of a mesh that [`Mesh::closedness_defect`] finds from sums over its edges and triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClosednessDefect {
    /// The mesh is not closed.
    Open,
    /// The mesh is closed, but not consistently oriented.
    NotOriented,
    /// The mesh is closed and oriented, and its volume is negative.
    InsideOut,
}

impl ClosednessDefect {
    /// Text for messages, such as `not closed`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Open => "not closed",
            Self::NotOriented => "not consistently oriented",
            Self::InsideOut => "inside out",
        }
    }
}

/// Undirected edge as the bits of its two ends, the lesser end first.
type Edge = [[u32; 3]; 2];

/// Edges that go from the lesser end to the greater, and edges that go back.
type Both = [Vec<Edge>; 2];

/// Number of buckets that the list of edges is divided into. Each bucket is sorted separately.
const PARTS: usize = 64;

/// Number of triangles that a thread processes at a time.
const CHUNK: usize = 1 << 15;

impl Mesh {
    /// Counts the open and the unbalanced edges.
    ///
    /// ```
    /// # use voxelize_meshes::voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::Mesh;
    ///
    /// let cube = Mesh::open("fixtures/cube.stl")?;
    /// assert!(cube.edge_counts().is_closed() && cube.edge_counts().is_oriented());
    ///
    /// let without_two = Mesh::from_triangles(cube.triangles()[2..].to_vec())?;
    /// assert_eq!(without_two.edge_counts().open_edges, 4);
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    pub fn edge_counts(&self) -> EdgeCounts {
        let chunks: Vec<&[Triangle]> = self.triangles().chunks(CHUNK).collect();
        let by_part = par::map(chunks, edges_by_part);
        let counts = par::map_range(0..PARTS, |part| {
            odd_ones(
                &sorted_part(&by_part, part, 0),
                &sorted_part(&by_part, part, 1),
            )
        });
        let mut all = EdgeCounts {
            open_edges: 0,
            unbalanced_edges: 0,
        };
        for part in counts {
            all.open_edges += part.open_edges;
            all.unbalanced_edges += part.unbalanced_edges;
        }
        all
    }

    /// Returns the closedness, from sums of hashes of the edges. This is many times as fast as
    /// [`edge_counts`](Self::edge_counts), and wrong with a probability of about 2^-62. The keys of the
    /// hashes are random, so nobody can construct a mesh with a wrong result. The result is cached, so
    /// further calls are free.
    pub fn closedness(&self) -> Closedness {
        self.whole.unwrap_or_else(|| self.sums().closedness)
    }

    /// Returns the defect that follows from [`closedness`](Self::closedness) or from a negative volume.
    /// `None` if there is no such defect, or if the mesh [is two-sided](Self::is_two_sided). This is the
    /// cheap part of a `check`.
    pub fn closedness_defect(&self) -> Option<ClosednessDefect> {
        match self.closedness() {
            _ if self.is_two_sided() => None,
            Closedness::Open => Some(ClosednessDefect::Open),
            Closedness::Closed => Some(ClosednessDefect::NotOriented),
            Closedness::Oriented => (self.volume() < 0.0).then_some(ClosednessDefect::InsideOut),
        }
    }

    /// Returns the signed volume that the triangles enclose, in cubic units of the file, computed
    /// in doubles. It is positive for a closed, oriented mesh whose normals point outwards, and has
    /// no meaning for an open mesh.
    pub fn volume(&self) -> f64 {
        self.sums().volume
    }

    /// Returns whether the mesh shows every surface from both sides: every triangle with three different
    /// corners occurs equally often in both orientations. There must be at least one such triangle.
    ///
    /// ```
    /// # use voxelize_meshes::voxelize;
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// use voxelize::Mesh;
    ///
    /// let cube = Mesh::open("fixtures/cube.stl")?;
    /// let both: Vec<_> = cube.triangles().iter().flat_map(|&[a, b, c]| [[a, b, c], [a, c, b]]).collect();
    /// assert!(Mesh::from_triangles(both)?.is_two_sided() && !cube.is_two_sided());
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    pub fn is_two_sided(&self) -> bool {
        self.sums().is_two_sided
    }

    /// Returns sums over all triangles of their extents: the sum of extent along y times extent along z, the
    /// sum of the extents along y, and the sum of the extents along z.
    pub fn extents(&self) -> [f64; 3] {
        self.sums().extents
    }

    /// Returns whether the sums over all triangles have been computed. Only tests use this.
    #[doc(hidden)]
    pub fn has_sums(&self) -> bool {
        self.sums.get().is_some()
    }

    /// Returns sums from one pass over all triangles. The first call computes and stores them.
    fn sums(&self) -> &MeshSums {
        self.sums.get().unwrap_or_else(|| {
            // Several threads may compute the same sums, because waiting for each other could deadlock.
            let found = self.found_sums();
            self.sums.get_or_init(|| found)
        })
    }

    fn found_sums(&self) -> MeshSums {
        let middle: [f64; 3] = std::array::from_fn(|a| {
            (f64::from(self.bounds().min[a]) + f64::from(self.bounds().max[a])) / 2.0
        });
        let level = Level::best();
        let keys = random_keys();
        let chunks = self.triangles().chunks(CHUNK).collect();
        let parts = par::map(chunks, |chunk: &[Triangle]| {
            EdgeSums::of(level, chunk, &middle, &keys)
        });
        let sums = parts.iter().fold(EdgeSums::default(), EdgeSums::and);
        let closedness = if sums.are_oriented() {
            Closedness::Oriented
        } else if sums.are_closed() {
            Closedness::Closed
        } else {
            Closedness::Open
        };
        let is_two_sided = sums.may_be_two_sided() && are_in_both_directions(self.triangles());
        MeshSums {
            closedness,
            is_two_sided,
            volume: sums.six_volumes / 6.0,
            extents: sums.extents,
        }
    }
}

/// Returns random keys, which no file can predict.
fn random_keys() -> EdgeKeys {
    let state = RandomState::new();
    EdgeKeys::new(std::array::from_fn(|n| state.hash_one(n)))
}

/// Sums over the triangles of a mesh.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeshSums {
    closedness: Closedness,
    is_two_sided: bool,
    volume: f64,
    /// See [`Mesh::extents`].
    extents: [f64; 3],
}

/// Returns whether every triangle with three different corners occurs equally often in both orientations, and
/// at least one such triangle exists.
fn are_in_both_directions(triangles: &[Triangle]) -> bool {
    let mut all: Vec<([[u32; 3]; 3], bool)> = vec![];
    for triangle in triangles {
        let mut corners = triangle.map(bits);
        let mut turned = false;
        for n in [0, 1, 0] {
            if corners[n] > corners[n + 1] {
                corners.swap(n, n + 1);
                turned = !turned;
            }
        }
        if corners[0] != corners[1] && corners[1] != corners[2] {
            all.push((corners, turned));
        }
    }
    all.sort_unstable();
    let is_balanced =
        |same: &[(_, bool)]| 2 * same.iter().filter(|(_, turned)| *turned).count() == same.len();
    !all.is_empty() && all.chunk_by(|one, next| one.0 == next.0).all(is_balanced)
}

/// Returns the edges of some triangles by bucket and direction.
fn edges_by_part(triangles: &[Triangle]) -> Vec<Both> {
    let mut parts: Vec<Both> = vec![Both::default(); PARTS];
    for triangle in triangles {
        let ends = triangle.map(bits);
        for n in 0..3 {
            let from = ends[n];
            let to = ends[(n + 1) % 3];
            // The two directions of an edge of zero length are equal, so it cancels itself.
            if from == to {
                continue;
            }
            let (edge, direction) = if from < to {
                ([from, to], 0)
            } else {
                ([to, from], 1)
            };
            parts[part_of(&edge)][direction].push(edge);
        }
    }
    parts
}

/// Returns the edges of bucket `part` in one direction, from all chunks, sorted.
fn sorted_part(chunks: &[Vec<Both>], part: usize, direction: usize) -> Vec<Edge> {
    let mut edges: Vec<Edge> = vec![];
    for parts in chunks {
        edges.extend_from_slice(&parts[part][direction]);
    }
    edges.sort_unstable();
    edges
}

/// Returns the bits of the coordinates. Equal coordinates have equal bits.
pub(super) fn bits(point: Point) -> [u32; 3] {
    // Adding 0 turns −0 into 0.
    point.map(|coordinate| (coordinate + 0.0).to_bits())
}

/// Returns the bucket of an edge: the upper bits of a multiplicative hash.
fn part_of(edge: &Edge) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = 0_u64;
    for word in edge.as_flattened() {
        hash = (hash ^ u64::from(*word))
            .wrapping_mul(GOLDEN)
            .rotate_left(23);
    }
    (hash.wrapping_mul(GOLDEN) >> (64 - PARTS.trailing_zeros())) as usize
}

/// Counts open and unbalanced edges in one pass over the sorted edges of both directions.
fn odd_ones(mut forth: &[Edge], mut back: &[Edge]) -> EdgeCounts {
    let mut found = EdgeCounts {
        open_edges: 0,
        unbalanced_edges: 0,
    };
    loop {
        let edge = match (forth.first(), back.first()) {
            (Some(a), Some(b)) => *a.min(b),
            (Some(edge), None) | (None, Some(edge)) => *edge,
            (None, None) => return found,
        };
        let edge = EdgeUse {
            forth: taken(&mut forth, &edge),
            back: taken(&mut back, &edge),
        };
        found.open_edges += u64::from(edge.is_open());
        found.unbalanced_edges += u64::from(!edge.is_balanced());
    }
}

/// Removes all copies of `edge` from the beginning of `edges`, and returns their number.
fn taken(edges: &mut &[Edge], edge: &Edge) -> u64 {
    let count = edges.iter().take_while(|found| *found == edge).count();
    *edges = &edges[count..];
    count as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const SHEET: [Triangle; 2] = [
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]],
        [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
    ];

    /// Returns the numbers of open and unbalanced edges, after a comparison with the result of the hashes.
    fn edge_counts(triangles: &[Triangle]) -> (u64, u64) {
        let mesh = Mesh::from_triangles(triangles.to_vec()).unwrap();
        let found = mesh.edge_counts();
        let closedness = match (found.is_oriented(), found.is_closed()) {
            (true, _) => Closedness::Oriented,
            (_, true) => Closedness::Closed,
            _ => Closedness::Open,
        };
        assert_eq!(mesh.closedness(), closedness);
        (found.open_edges, found.unbalanced_edges)
    }

    #[test]
    fn edges_are_counted_by_both_directions() {
        let turned = |t: Triangle| [t[0], t[2], t[1]];
        assert_eq!(edge_counts(&[]), (0, 0));
        assert_eq!(edge_counts(&SHEET[..1]), (3, 3));
        assert_eq!(edge_counts(&SHEET), (4, 4));
        // The diagonal occurs twice in the same direction.
        assert_eq!(edge_counts(&[SHEET[0], turned(SHEET[1])]), (4, 5));
        // A triangle is closed by its reverse, and also by a second copy of itself.
        assert_eq!(edge_counts(&[SHEET[0], turned(SHEET[0])]), (0, 0));
        assert_eq!(edge_counts(&[SHEET[0], SHEET[0]]), (0, 3));
        // Each edge occurs three times.
        assert_eq!(edge_counts(&[SHEET[0], SHEET[0], SHEET[0]]), (3, 3));
    }

    #[test]
    fn hashes_agree_with_counts_of_edges() {
        // Tetrahedra with a few random vertices on a lattice. One triangle is removed, turned over or
        // duplicated.
        let mut random = Random::new(3);
        let mut seen = [0; 3];
        let mut two_sided = 0;
        for n in 0..3000 {
            let step = [1.0, 0.125, 1e-30, 3e7][n % 4];
            let mut corner = || {
                [random.below(3), random.below(3), random.below(2)].map(|c| (c as f32 - 1.0) * step)
            };
            let mut triangles: Vec<Triangle> = vec![];
            for _ in 0..n % 5 + 1 {
                let [a, b, c, d] = [corner(), corner(), corner(), corner()];
                triangles.extend([[a, c, b], [a, b, d], [b, c, d], [c, a, d]]);
            }
            match n % 3 {
                0 => triangles[n / 3 % 4].swap(0, 1),
                1 => drop(triangles.pop()),
                _ => {}
            }
            let (open, unbalanced) = edge_counts(&triangles);
            seen[usize::from(unbalanced > 0) + usize::from(open > 0)] += 1;
            let bits = |[a, b, c]: Triangle| {
                let mut turns = [[a, b, c], [b, c, a], [c, a, b]].map(|turn| turn.map(bits));
                turns.sort_unstable();
                turns[0]
            };
            let times =
                |wanted: &[[u32; 3]; 3]| triangles.iter().filter(|t| bits(**t) == *wanted).count();
            let whole = || {
                triangles
                    .iter()
                    .filter(|[a, b, c]| a != b && b != c && c != a)
            };
            let both = whole().all(|t| times(&bits(*t)) == times(&bits([t[0], t[2], t[1]])));
            let mesh = Mesh::from_triangles(triangles.clone()).unwrap();
            assert_eq!(mesh.is_two_sided(), both && whole().next().is_some());
            two_sided += usize::from(mesh.is_two_sided());
        }
        assert!(
            seen.iter().all(|count| *count > 300) && two_sided > 3,
            "{seen:?} {two_sided}"
        );
    }

    #[test]
    fn meshes_are_two_sided_if_every_triangle_is() {
        let turned = |[a, b, c]: Triangle| [a, c, b];
        let is_two_sided = |triangles: &[Triangle]| {
            let mesh = Mesh::from_triangles(triangles.to_vec()).unwrap();
            (mesh.is_two_sided(), mesh.closedness_defect().is_none())
        };
        let cube = Mesh::open("../../fixtures/cube.stl")
            .unwrap()
            .triangles()
            .to_vec();
        let back: Vec<_> = cube
            .iter()
            .rev()
            .map(|t| turned([t[1], t[2], t[0]]))
            .collect();
        let both = [cube.clone(), back.clone()].concat();
        assert_eq!(is_two_sided(&both), (true, true));
        assert_eq!(
            is_two_sided(&[both.clone(), both.clone()].concat()),
            (true, true)
        );
        // A triangle with two equal corners does not count.
        let flat = [[0.0; 3], [0.0; 3], [1.0; 3]];
        assert_eq!(
            is_two_sided(&[both.clone(), vec![flat]].concat()),
            (true, true)
        );
        assert_eq!(is_two_sided(&[flat]), (false, true));
        assert_eq!(is_two_sided(&[]), (false, true));
        assert_eq!(is_two_sided(&cube), (false, true));
        assert!(!is_two_sided(&both[1..]).0 && !is_two_sided(&[cube.clone(), cube].concat()).0);
        assert_eq!(is_two_sided(&[SHEET[0], turned(SHEET[0])]), (true, true));
    }

    #[test]
    fn zeros_have_no_sign_and_triangles_without_area_count() {
        let negative = SHEET[1].map(|v| v.map(|c| if c == 0.0 { -0.0 } else { c }));
        assert_eq!(edge_counts(&[SHEET[0], negative]), (4, 4));
        let point = [[3.0; 3]; 3];
        let needle = [[0.0; 3], [0.0; 3], [1.0, 2.0, 3.0]];
        assert_eq!(edge_counts(&[point, needle]), (0, 0));
        // A T-junction: the long edge from a to b on one side, two short edges on the other, and a triangle
        // without area between them.
        let a = [0.0, 0.0, 0.0];
        let b = [2.0, 0.0, 0.0];
        let m = [1.0, 0.0, 0.0];
        let open = [
            [a, b, [1.0, 1.0, 0.0]],
            [m, a, [0.0, -1.0, 0.0]],
            [b, m, [2.0, -1.0, 0.0]],
        ];
        assert_eq!(edge_counts(&open).0, 9);
        assert_eq!(edge_counts(&[open[0], open[1], open[2], [b, a, m]]).0, 6);
    }

    #[test]
    fn neither_order_nor_threads_change_a_count() {
        // A random list of triangles with common corners, in which many edges occur several times.
        let mut random = Random::new(7);
        let mut corner = || [16, 4, 4].map(|n| random.below(n) as f32);
        let soup: Vec<Triangle> = (0..100_000)
            .map(|_| [corner(), corner(), corner()])
            .collect();
        let found = edge_counts(&soup);
        assert!(found.0 > 1000 && found.1 > found.0, "{found:?}");
        let mut turned = soup.clone();
        turned.reverse();
        for triangle in &mut turned {
            triangle.rotate_left(1);
        }
        assert_eq!(edge_counts(&turned), found);
        assert_eq!(par::with_threads(1, || edge_counts(&soup)).unwrap(), found);
        let twice: Vec<_> = soup.iter().chain(&soup).copied().collect();
        assert_eq!(edge_counts(&twice), (0, found.1));
    }

    #[test]
    fn volumes_have_the_sign_of_their_normals() {
        let cube = Mesh::open("../../fixtures/cube.stl").unwrap();
        assert_eq!(cube.volume(), 262_144.0);
        let turned = cube
            .triangles()
            .iter()
            .map(|t| [t[0], t[2], t[1]])
            .collect();
        assert_eq!(Mesh::from_triangles(turned).unwrap().volume(), -262_144.0);
        assert_eq!(Mesh::from_triangles(vec![]).unwrap().volume(), 0.0);
    }
}
