//! Where the triangles of a mesh meet each other beyond the edges and vertices they share.
//!
//! Triangles are sorted into cells of a coarse lattice by their bounds, and pairs within a cell are compared: by
//! bounds, then by what they share, then exactly ([`tri_tri`]). A pair that shares several cells is taken in the
//! lowest of them. Vertices are equal by their coordinates (−0 is 0).

use crate::error::Result;
use crate::geom::tri_tri::{self, Meeting};
use crate::geom::{Bounds, Point, Triangle, degenerate};
use crate::mesh::Mesh;
use crate::par::{self, Progress};

/// Two triangles that meet beyond what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contact {
    /// Their numbers, the lesser first.
    pub triangles: [u32; 2],
    /// What they have in common; never [`Meeting::Apart`].
    pub meeting: Meeting,
}

/// Cells of the lattice for each triangle, at most, before cells are made larger.
const MOST_ENTRIES: usize = 6;

/// Cells that a thread takes at a time.
const CHUNK: usize = 1 << 10;

impl Mesh {
    /// All pairs of triangles that meet beyond the vertices and edges they share, in the order of their numbers.
    /// Triangles without area, and those that have all three vertices in common, are left out: they are defects
    /// of their own. The decisions are exact.
    ///
    /// # Errors
    /// If there is not enough memory, or the work was cancelled.
    pub fn contacts(&self, progress: &dyn Progress) -> Result<Vec<Contact>> {
        let triangles = self.triangles();
        let bins = Bins::new(triangles, self.bounds());
        let mut entries = bins.entries(triangles);
        entries.sort_unstable();
        let starts: Vec<usize> = (0..entries.len())
            .filter(|n| *n == 0 || entries[*n].cell != entries[n - 1].cell)
            .chain([entries.len()])
            .collect();
        let cells = starts.len().saturating_sub(1);
        progress.begin("contacts", cells as u64);
        let found = par::map_range(0..cells.div_ceil(CHUNK), |chunk| {
            progress.check()?;
            let (mut found, mut bounds) = (vec![], vec![]);
            let range = chunk * CHUNK..cells.min((chunk + 1) * CHUNK);
            progress.advance(range.len() as u64);
            for n in range {
                bins.compare(triangles, &entries[starts[n]..starts[n + 1]], &mut bounds, &mut found);
            }
            Ok(found)
        });
        let mut all = vec![];
        for part in found {
            all.extend(part?);
        }
        all.sort_unstable();
        Ok(all)
    }
}

/// A triangle in a cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BinEntry {
    cell: u64,
    triangle: u32,
}

/// Cubic cells over the bounds of a mesh.
struct Bins {
    low: [f32; 3],
    /// Cells to a unit of length.
    scale: f64,
}

impl Bins {
    /// Cells of about the size of the triangles.
    fn new(triangles: &[Triangle], bounds: &Bounds) -> Self {
        let size = |t: &Triangle| {
            let own = Bounds::of(std::slice::from_ref(t));
            (0..3).map(|a| f64::from(own.max[a]) - f64::from(own.min[a])).fold(0.0, f64::max)
        };
        let mean = triangles.iter().map(size).sum::<f64>() / triangles.len().max(1) as f64;
        let longest = (0..3).map(|a| f64::from(bounds.max[a]) - f64::from(bounds.min[a])).fold(0.0, f64::max);
        // 2^20 cells along an axis, so that three indices fit in a key.
        let mut side = (2.0 * mean).max(longest / f64::from(1 << 20));
        loop {
            let bins = Self { low: bounds.min, scale: if side > 0.0 { 1.0 / side } else { 0.0 } };
            let count = |t: &Triangle| {
                let [low, high] = bins.cells(&Bounds::of(std::slice::from_ref(t)));
                (0..3).map(|a| u128::from(high[a] - low[a] + 1)).product::<u128>()
            };
            let most = (MOST_ENTRIES * triangles.len()).max(1 << 10) as u128;
            if side == 0.0 || triangles.iter().map(count).sum::<u128>() <= most {
                return bins;
            }
            side *= 1.5;
        }
    }

    /// The first and the last cell of a box.
    fn cells(&self, bounds: &Bounds) -> [[u64; 3]; 2] {
        [&bounds.min, &bounds.max].map(|corner| {
            std::array::from_fn(|a| ((f64::from(corner[a]) - f64::from(self.low[a])) * self.scale) as u64)
        })
    }

    fn entries(&self, triangles: &[Triangle]) -> Vec<BinEntry> {
        let mut entries = Vec::with_capacity(2 * triangles.len());
        for (n, triangle) in triangles.iter().enumerate() {
            if degenerate::is_degenerate(triangle) {
                continue;
            }
            let [low, high] = self.cells(&Bounds::of(std::slice::from_ref(triangle)));
            for z in low[2]..=high[2] {
                for y in low[1]..=high[1] {
                    entries.extend(
                        (low[0]..=high[0]).map(|x| BinEntry { cell: key([x, y, z]), triangle: n as u32 }),
                    );
                }
            }
        }
        entries
    }

    /// Compares the pairs of a cell.
    fn compare(
        &self,
        triangles: &[Triangle],
        entries: &[BinEntry],
        bounds: &mut Vec<Bounds>,
        found: &mut Vec<Contact>,
    ) {
        bounds.clear();
        bounds.extend(entries.iter().map(|e| Bounds::of(&triangles[e.triangle as usize..][..1])));
        for (i, first) in bounds.iter().enumerate() {
            for (j, second) in bounds.iter().enumerate().skip(i + 1) {
                if (0..3).any(|a| first.max[a] < second.min[a] || second.max[a] < first.min[a]) {
                    continue;
                }
                // The lowest cell that both are in.
                let low = std::array::from_fn(|a| first.min[a].max(second.min[a]));
                let [lowest, _] = self.cells(&Bounds { min: low, max: low });
                if key(lowest) != entries[i].cell {
                    continue;
                }
                let numbers = [entries[i].triangle, entries[j].triangle];
                let [s, t] = numbers.map(|n| &triangles[n as usize]);
                if let Some(meeting) = beyond_shared(s, t) {
                    found.push(Contact { triangles: numbers, meeting });
                }
            }
        }
    }
}

fn key([x, y, z]: [u64; 3]) -> u64 {
    z << 42 | y << 21 | x
}

/// What two triangles with an area have in common beyond the vertices they share, and the edge between two
/// shared ones.
fn beyond_shared(s: &Triangle, t: &Triangle) -> Option<Meeting> {
    let is_shared = |v: &&Point| t.contains(v);
    match (s.iter().filter(is_shared).count(), tri_tri::meeting(s, t)) {
        // What they have in common is convex: more than a shared vertex has a length.
        (_, Meeting::Apart) | (1, Meeting::Point) | (2, Meeting::Segment) | (3, _) => None,
        (_, meeting) => Some(meeting),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Point;

    /// Every pair, without cells.
    fn all_pairs(mesh: &Mesh) -> Vec<Contact> {
        let triangles = mesh.triangles();
        let mut found = vec![];
        for j in 0..triangles.len() {
            for i in 0..j {
                let [s, t] = [&triangles[i], &triangles[j]];
                if degenerate::is_degenerate(s) || degenerate::is_degenerate(t) {
                    continue;
                }
                let meeting = beyond_shared(s, t);
                found.extend(meeting.map(|meeting| Contact { triangles: [i as u32, j as u32], meeting }));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn cells_find_the_pairs_that_all_pairs_do() {
        let mut seed = 7_u64;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 40) as f32 / (1u64 << 24) as f32
        };
        let mut seen = 0;
        for sort in 0..12 {
            // Small ones and a few large ones, on a coarse lattice and off it.
            let triangles = (0..300).map(|n| {
                let (at, size): (Point, f32) =
                    ([next(), next(), next()], if n % 50 == 0 { 3.0 } else { 0.3 });
                std::array::from_fn(|_| {
                    let mut place = |a: usize| at[a] + size * (next() - 0.5);
                    let v: Point = [place(0), place(1), place(2)];
                    if sort % 2 == 0 { v.map(|c| (c * 8.0).round() / 8.0) } else { v }
                })
            });
            let mesh = Mesh::from_triangles(triangles.collect()).unwrap();
            let found = mesh.contacts(&()).unwrap();
            assert_eq!(found, all_pairs(&mesh));
            seen += found.len();
        }
        assert!(seen > 1000, "{seen}");
    }
}
