//! Search for defects of edges and vertices.

use super::sites::{Search, Site, Sites, middle};
use crate::boundary::{self, Way};
use crate::edges::{self, EdgeUse, Side};
use crate::weld::Welded;
use voxelize_core::geom::Point;
use voxelize_core::geom::forest;

/// Defects of edges and vertices.
#[derive(Debug, Clone, Default)]
pub struct TopologyDefects {
    /// Edges that occur an odd number of times. Their places are loops of edges.
    pub open: Sites,
    /// Edges of more than two triangles.
    pub crowded_edges: Sites,
    /// Vertices whose triangles form more than one fan.
    pub crowded_vertices: Sites,
    /// Edges that occur twice in one direction after opposite directions have cancelled.
    pub reversed: Sites,
    /// Edges that occur an odd number of times by the vertex numbers of the file, although they do not by the
    /// coordinates of their vertices.
    pub cracks: Sites,
    /// Number of edges that do not occur equally often in both directions.
    pub unbalanced_edges: u64,
    /// Number of edges that do not belong to exactly two triangles in opposite directions.
    pub not_manifold_edges: u64,
    /// Number of triangles with two equal vertices.
    pub folded: u64,
    /// For each component: each of its edges occurs an even number of times.
    pub closed: Vec<bool>,
    /// For each component: each of its edges occurs equally often in both directions.
    pub oriented: Vec<bool>,
}

/// Inputs of the search for defects of edges and vertices.
pub(super) struct Topology<'a> {
    pub search: &'a Search<'a>,
    pub welded: &'a Welded,
}

impl Topology<'_> {
    fn point(&self, vertex: u32) -> Point {
        self.welded.points[vertex as usize]
    }

    pub(super) fn defects(&self) -> TopologyDefects {
        let mut found = TopologyDefects::default();
        let welded = self.welded;
        let most = self.search.most;
        let sides = edges::sorted(&welded.triangles, welded.points.len());
        let of = &self.search.components.of;
        let count = self.search.components.components.len();
        found.closed = vec![true; count];
        found.oriented = vec![true; count];
        let mut odd = vec![];
        let mut fans = Fans::new(welded);
        found.folded = welded.triangles.iter().filter(|t| is_folded(t)).count() as u64;
        for group in edges::by_edge(&sides) {
            if self.is_faultless(group) {
                fans.join(group.iter());
                continue;
            }
            let all = self.edge_use(group.iter());
            let component = of[group[0].place as usize / 3] as usize;
            found.oriented[component] &= all.is_balanced();
            found.closed[component] &= !all.is_open();
            found.unbalanced_edges += u64::from(!all.is_balanced());
            let whole = || {
                group
                    .iter()
                    .filter(|side| !is_folded(&welded.triangles[side.place as usize / 3]))
            };
            found.not_manifold_edges += u64::from(!self.edge_use(whole()).is_manifold());
            fans.join(whole());
            if all.is_open() {
                odd.push(group[0].ends);
            }
            if self.is_crack(group) && !all.is_open() {
                let triangles: Vec<u32> = group.iter().map(|side| side.place / 3).collect();
                let at = middle(group[0].ends.map(|n| self.point(n)));
                found.cracks.add(most, &triangles, || {
                    Site::new(at, triangles.iter().copied())
                });
            }
            if all.is_reversed() || self.edge_use(whole()).is_crowded() {
                let triangles: Vec<u32> = group.iter().map(|side| side.place / 3).collect();
                let site = || {
                    Site::new(
                        middle(group[0].ends.map(|n| self.point(n))),
                        triangles.iter().copied(),
                    )
                };
                if self.edge_use(whole()).is_crowded() {
                    found.crowded_edges.add(most, &triangles, site);
                }
                if all.is_reversed() {
                    found.reversed.add(most, &triangles, site);
                }
            }
        }
        found.open = self.loops(&odd, &sides);
        found.crowded_vertices = fans.split(self);
        for sites in [
            &mut found.crowded_edges,
            &mut found.reversed,
            &mut found.cracks,
        ] {
            *sites = std::mem::take(sites).finished();
        }
        found
    }

    /// Returns whether an edge has no defect: it has exactly two sides, in opposite directions, of triangles
    /// with three distinct vertices, and is not a crack. Most edges have no defect.
    fn is_faultless(&self, sides: &[Side]) -> bool {
        let [one, other] = sides else { return false };
        let triangles = &self.welded.triangles;
        one.is_forth(triangles) != other.is_forth(triangles)
            && !is_folded(&triangles[one.place as usize / 3])
            && !is_folded(&triangles[other.place as usize / 3])
            && !self.is_crack(sides)
    }

    fn edge_use<'b>(&self, sides: impl Iterator<Item = &'b Side>) -> EdgeUse {
        let mut edge = EdgeUse { forth: 0, back: 0 };
        for side in sides {
            if side.is_forth(&self.welded.triangles) {
                edge.forth += 1;
            } else {
                edge.back += 1;
            }
        }
        edge
    }

    /// Returns whether an edge occurs an odd number of times if vertices are equal by their numbers in the
    /// file.
    fn is_crack(&self, sides: &[Side]) -> bool {
        let Some(numbers) = self.search.mesh.vertex_numbers() else {
            return false;
        };
        let numbered = |side: &Side| {
            let triangle = numbers[side.place as usize / 3];
            let corner = side.place as usize % 3;
            let [from, to] = [triangle[corner], triangle[(corner + 1) % 3]];
            if side.is_forth(&self.welded.triangles) {
                [from, to]
            } else {
                [to, from]
            }
        };
        if let [one, other] = sides {
            return numbered(one) != numbered(other);
        }
        let mut all: Vec<_> = sides.iter().map(numbered).collect();
        all.sort_unstable();
        all.chunk_by(|a, b| a == b).any(|same| same.len() % 2 == 1)
    }

    /// Returns the loops that the edges in `odd` form. These edges occur an odd number of times.
    fn loops(&self, odd: &[[u32; 2]], sides: &[Side]) -> Sites {
        let triangles_at = |ends: [u32; 2]| {
            let from = sides.partition_point(|side| side.ends < ends);
            sides[from..]
                .iter()
                .take_while(move |side| side.ends == ends)
                .map(|side| side.place / 3)
        };
        let mut found = Sites::default();
        for ends in odd {
            found.triangles.extend(triangles_at(*ends));
        }
        for circuit in boundary::circuits(odd, Way::Either) {
            found.places += 1;
            if found.first.len() == self.search.most {
                continue;
            }
            let around = boundary::of(&circuit, &self.welded.points);
            let ends = (0..circuit.len()).map(|n| {
                let [a, b] = [circuit[n], circuit[(n + 1) % circuit.len()]];
                [a.min(b), a.max(b)]
            });
            found.first.push(Site {
                length: Some(around.length()),
                edges: Some(circuit.len()),
                ..Site::new(around.centre(), ends.flat_map(triangles_at))
            });
        }
        found.count = odd.len() as u64;
        found.finished()
    }
}

fn is_folded([a, b, c]: &[u32; 3]) -> bool {
    a == b || b == c || c == a
}

/// Fans of triangles around vertices, as a union-find forest of the triangles' corners. Corners at one vertex
/// are joined if their triangles have a common edge.
struct Fans<'a> {
    welded: &'a Welded,
    forest: Vec<u32>,
}

impl<'a> Fans<'a> {
    fn new(welded: &'a Welded) -> Self {
        Self {
            welded,
            forest: (0..3 * welded.triangles.len() as u32).collect(),
        }
    }

    /// Joins the corners at each end of an edge. `sides` are the sides of that edge.
    fn join<'b>(&mut self, mut sides: impl Iterator<Item = &'b Side>) {
        let Some(first) = sides.next() else { return };
        let first = self.corners(first);
        for side in sides {
            let corners = self.corners(side);
            for n in 0..2 {
                forest::join(&mut self.forest, first[n], corners[n]);
            }
        }
    }

    /// Returns the corners at the lesser and at the greater end of a side.
    fn corners(&self, side: &Side) -> [u32; 2] {
        let triangle = side.place / 3 * 3;
        let n = side.place % 3;
        let [from, to] = [side.place, triangle + (n + 1) % 3];
        if side.is_forth(&self.welded.triangles) {
            [from, to]
        } else {
            [to, from]
        }
    }

    /// Returns the vertices whose triangles form more than one fan.
    fn split(mut self, topology: &Topology) -> Sites {
        let welded = self.welded;
        let mut fans = vec![0_u32; welded.points.len()];
        for (n, triangle) in welded.triangles.iter().enumerate() {
            if is_folded(triangle) {
                continue;
            }
            for corner in 3 * n..3 * n + 3 {
                if forest::root(&mut self.forest, corner as u32) as usize == corner {
                    fans[welded.triangles.as_flattened()[corner] as usize] += 1;
                }
            }
        }
        let mut around: Vec<[u32; 2]> = vec![];
        for (n, triangle) in welded.triangles.iter().enumerate() {
            if is_folded(triangle) {
                continue;
            }
            for vertex in *triangle {
                if fans[vertex as usize] > 1 {
                    around.push([vertex, n as u32]);
                }
            }
        }
        around.sort_unstable();
        let mut found = Sites::default();
        for fan in around.chunk_by(|one, next| one[0] == next[0]) {
            let triangles: Vec<u32> = fan.iter().map(|[_, n]| *n).collect();
            let at = topology.point(fan[0][0]).map(f64::from);
            found.add(topology.search.most, &triangles, || {
                Site::new(at, triangles.iter().copied())
            });
        }
        found.finished()
    }
}
