//! Contacts: pairs of triangles of a mesh with a common point outside their shared edges and vertices.
//!
//! A tree of bounding boxes finds the pairs whose bounds intersect (`pairs`). Exact predicates decide whether
//! the triangles of a pair meet (`crates/core/src/geom/beyond.rs`). Vertices are equal if their coordinates
//! are equal (−0 is 0).

use crate::Mesh;
use crate::pairs::{self, Exam, Examined, Findings, Pair, PairLimit, PairsOf};
use crate::weld::Welded;
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::beyond::{SharedVertices, beyond_shared};
use voxelize_core::geom::tri_tri::Meeting;
use voxelize_core::geom::{Triangle, degenerate};
use voxelize_core::par::Progress;
use voxelize_kernel::Level;
use voxelize_kernel::apart::{Common, PAIRS, surely_part};

/// Two triangles of a mesh that meet beyond their shared vertices and edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contact {
    /// Numbers of the triangles, the lesser first.
    pub triangles: [u32; 2],
    /// Kind of meeting, never [`Meeting::Apart`].
    pub meeting: Meeting,
}

impl Mesh {
    /// Returns all pairs of triangles that meet beyond their shared vertices and edges, in the
    /// order of their numbers. The decisions are exact.
    ///
    /// Two kinds of pairs are left out, because they are separate defects: pairs with a triangle without
    /// area, and pairs with three common vertices.
    ///
    /// # Errors
    /// If the number of pairs whose bounds intersect exceeds [`PairLimit::Usual`], or the work was cancelled.
    pub fn contacts(&self, progress: &dyn Progress) -> Result<Vec<Contact>> {
        let welded = Welded::of(self.triangles())?;
        let new = || ContactList {
            queues: ContactQueues::new(self.triangles(), &welded.triangles),
            found: vec![],
        };
        let examined = self.examine_contacts(&welded, (PairLimit::Usual, progress), &new)?;
        if !examined.is_all {
            let most = PairLimit::Usual.pairs(self.triangles().len());
            let error = Error::too_large(format!(
                "more than {most} pairs of triangles have bounds that meet"
            ));
            return Err(error.with_hint("a check examines only the first pairs"));
        }
        let mut found = examined.found.finished();
        found.sort_unstable();
        Ok(found)
    }

    /// Passes the pairs of triangles that may meet beyond their shared vertices and edges to collectors, in
    /// no particular order. Triangles without area are left out.
    pub(super) fn examine_contacts<A: Findings>(
        &self,
        welded: &Welded,
        (limit, progress): (PairLimit, &dyn Progress),
        new: &(dyn Fn() -> A + Sync),
    ) -> Result<Examined<A>> {
        let has_degenerate = self.degenerate() > 0;
        let is_left_out = |t: &Triangle| has_degenerate && degenerate::is_degenerate(t);
        let exam = Exam {
            phase: "contacts",
            progress,
            limit,
            max_bytes: None,
            new,
        };
        pairs::examine(
            &PairsOf::One(self.triangles(), &welded.triangles),
            &is_left_out,
            &exam,
        )
    }
}

/// Pairs of triangles that wait for a decision, in queues by their number of shared vertices. A full queue is
/// decided at once, first in doubles.
pub(super) struct ContactQueues<'a> {
    triangles: &'a [Triangle],
    /// Numbers of the vertices of each triangle.
    vertices: &'a [[u32; 3]],
    level: Level,
    queues: [ContactQueue; 3],
}

/// Pairs with the same number of shared vertices. Among the corners of a triangle the shared vertices come
/// first.
#[derive(Clone, Copy)]
struct ContactQueue {
    common: Common,
    waiting: usize,
    pairs: [Pair; PAIRS],
    corners: [[Triangle; PAIRS]; 2],
}

impl<'a> ContactQueues<'a> {
    pub(super) fn new(triangles: &'a [Triangle], vertices: &'a [[u32; 3]]) -> Self {
        let queues = [Common::Nothing, Common::Vertex, Common::Edge].map(|common| ContactQueue {
            common,
            waiting: 0,
            pairs: [Pair {
                numbers: [0; 2],
                count: 0,
            }; PAIRS],
            corners: [[[[0.0; 3]; 3]; PAIRS]; 2],
        });
        Self {
            triangles,
            vertices,
            level: Level::best(),
            queues,
        }
    }

    /// Adds a pair of triangles to its queue. Both triangles have an area. If they meet beyond their shared
    /// vertices and edges, `found` is called with the pair, in this call or a later one.
    #[inline]
    pub(super) fn take(&mut self, pair: Pair, found: impl FnMut(Pair, Meeting)) {
        let [s, t] = pair.numbers.map(|n| &self.triangles[n as usize]);
        let vertices = pair.numbers.map(|n| &self.vertices[n as usize]);
        let shared = SharedVertices::of(vertices);
        // Triangles with three common vertices are duplicates.
        let Some(queue) = self.queues.get_mut(shared.count()) else {
            return;
        };
        let place = queue.waiting;
        queue.pairs[place] = pair;
        for ((corners, triangle), order) in queue.corners.iter_mut().zip([s, t]).zip(shared.first())
        {
            for (corner, n) in corners[place].iter_mut().zip(order) {
                *corner = triangle[usize::from(*n)];
            }
        }
        queue.waiting += 1;
        if queue.waiting == PAIRS {
            self.decide(shared.count(), found);
        }
    }

    /// Decides all waiting pairs.
    pub(super) fn finish(&mut self, mut found: impl FnMut(Pair, Meeting)) {
        for n in 0..self.queues.len() {
            self.decide(n, &mut found);
        }
    }

    fn decide(&mut self, n: usize, mut found: impl FnMut(Pair, Meeting)) {
        let queue = &mut self.queues[n];
        let pairs = &queue.pairs[..std::mem::take(&mut queue.waiting)];
        if pairs.is_empty() {
            return;
        }
        let corners = queue
            .corners
            .each_ref()
            .map(|corners| &corners[..pairs.len()]);
        let proven = surely_part(self.level, queue.common, corners);
        for (n, pair) in pairs.iter().enumerate() {
            if proven >> n & 1 == 1 {
                continue;
            }
            let triangles = pair.numbers.map(|n| &self.triangles[n as usize]);
            let vertices = pair.numbers.map(|n| &self.vertices[n as usize]);
            if let Some(meeting) = beyond_shared(triangles, vertices) {
                found(*pair, meeting);
            }
        }
    }
}

/// Pairs that wait for a decision, and the contacts found so far.
struct ContactList<'a> {
    queues: ContactQueues<'a>,
    found: Vec<Contact>,
}

impl ContactList<'_> {
    /// Decides all waiting pairs and returns the contacts.
    fn finished(mut self) -> Vec<Contact> {
        self.queues
            .finish(|pair, meeting| self.found.push(contact(pair, meeting)));
        self.found
    }
}

fn contact(pair: Pair, meeting: Meeting) -> Contact {
    let [a, b] = pair.numbers;
    Contact {
        triangles: [a.min(b), a.max(b)],
        meeting,
    }
}

impl Findings for ContactList<'_> {
    fn take(&mut self, pair: Pair) {
        self.queues.take(pair, |pair, meeting| {
            self.found.push(contact(pair, meeting))
        });
    }

    fn join(&mut self, other: Self) {
        self.found.append(&mut other.finished());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use voxelize_core::geom::Point;

    /// Finds the contacts by comparing every pair, without bounding boxes.
    fn all_pairs(mesh: &Mesh) -> Vec<Contact> {
        let triangles = mesh.triangles();
        let mut found = vec![];
        for j in 0..triangles.len() {
            for i in 0..j {
                let [s, t] = [&triangles[i], &triangles[j]];
                if degenerate::is_degenerate(s) || degenerate::is_degenerate(t) {
                    continue;
                }
                let meeting = beyond_shared([s, t], [s, t]);
                found.extend(meeting.map(|meeting| Contact {
                    triangles: [i as u32, j as u32],
                    meeting,
                }));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn boxes_find_the_same_contacts_as_all_pairs() {
        let mut random = Random::new(7);
        let mut next = || random.unit();
        let mut seen = 0;
        for sort in 0..12_u32 {
            // Small triangles and a few large ones. Some have coordinates on a coarse lattice.
            let triangles = (0..300).map(|n| {
                let (at, size): (Point, f32) = (
                    [next(), next(), next()],
                    if n % 50 == 0 { 3.0 } else { 0.3 },
                );
                std::array::from_fn(|_| {
                    let mut place = |a: usize| at[a] + size * (next() - 0.5);
                    let v: Point = [place(0), place(1), place(2)];
                    if sort % 2 == 0 {
                        v.map(|c| (c * 8.0).round() / 8.0)
                    } else {
                        v
                    }
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
