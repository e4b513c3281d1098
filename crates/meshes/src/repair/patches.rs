//! Patches: sets of triangles connected across edges of exactly two triangles, turned over where necessary so
//! that neighbours have the same orientation.

use crate::edges::{self, Side};
use voxelize_core::error::Result;
use voxelize_core::par::Progress;

/// Patches of triangles, and the triangles that are turned over to match their neighbours.
#[derive(Debug)]
pub(super) struct Patches {
    /// Triangles of all patches, one patch after the other. The triangles of a patch ascend, and patches are
    /// in the order of their first triangles.
    members: Vec<u32>,
    /// Index in `members` of the first triangle of each patch, followed by the length of `members`.
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    /// For each triangle: it is turned over, so that its vertices are not in ascending order.
    pub turned: Vec<bool>,
    /// Number of patches that are not orientable, such as a Möbius strip.
    pub one_sided: u64,
}

const NONE: u32 = u32::MAX;

/// Number of triangles between two checks for cancellation.
const CHUNK: usize = 1 << 16;

impl Patches {
    /// Finds the patches of triangles with ascending vertices. `sides` are their sorted sides. The first
    /// triangle of each patch is not turned over.
    ///
    /// # Errors
    /// If the work is cancelled.
    pub(super) fn of(
        triangles: &[[u32; 3]],
        sides: &[Side],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let neighbours = neighbours(triangles.len(), sides);
        let mut patch = vec![NONE; triangles.len()];
        let mut turned = vec![false; triangles.len()];
        let mut count = 0;
        let mut one_sided = 0;
        let mut waiting = vec![];
        let mut done = 0_usize;
        for first in 0..triangles.len() {
            if patch[first] != NONE {
                continue;
            }
            let mut fits = true;
            patch[first] = count;
            waiting.push(first);
            while let Some(here) = waiting.pop() {
                done += 1;
                if done.is_multiple_of(CHUNK) {
                    progress.check()?;
                }
                for side in 0..3 {
                    let across = neighbours[3 * here + side];
                    if across == NONE {
                        continue;
                    }
                    let there = across as usize / 3;
                    let turn = turned[here] ^ (is_forth(side) == is_forth(across as usize % 3));
                    if patch[there] == NONE {
                        patch[there] = count;
                        turned[there] = turn;
                        waiting.push(there);
                    } else {
                        fits &= turned[there] == turn;
                    }
                }
            }
            count += 1;
            one_sided += u64::from(!fits);
        }
        let (members, starts) = grouped(&patch, count as usize);
        Ok(Self {
            members,
            starts,
            neighbours,
            turned,
            one_sided,
        })
    }

    /// Number of patches.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Triangles of a patch, ascending.
    pub(super) fn members(&self, patch: usize) -> &[u32] {
        &self.members[self.starts[patch]..self.starts[patch + 1]]
    }

    /// Returns whether the triangle, in its present orientation, goes along side `place` from the lesser end
    /// to the greater.
    pub(super) fn is_forth(&self, place: u32) -> bool {
        is_forth(place as usize % 3) != self.turned[place as usize / 3]
    }

    /// Returns the sides of a patch without a matching side on a neighbour, sorted.
    pub(super) fn open_sides(&self, patch: usize, triangles: &[[u32; 3]]) -> Vec<Side> {
        let mut sides = vec![];
        for place in self.members(patch).iter().flat_map(|n| 3 * n..3 * n + 3) {
            if self.is_open(place) {
                let [a, b, c] = triangles[place as usize / 3];
                let ends = [[a, b], [b, c], [a, c]][place as usize % 3];
                sides.push(Side { ends, place });
            }
        }
        sides.sort_unstable();
        sides
    }

    /// Returns, for each triangle, whether its patch has at least as many open sides as triangles.
    pub(super) fn ragged(&self) -> Vec<bool> {
        let mut ragged = vec![false; self.turned.len()];
        for patch in 0..self.count() {
            let members = self.members(patch);
            let places = members.iter().flat_map(|n| 3 * n..3 * n + 3);
            if places.filter(|place| self.is_open(*place)).count() >= members.len() {
                for n in members {
                    ragged[*n as usize] = true;
                }
            }
        }
        ragged
    }

    /// Returns whether the side has no matching side: its edge does not have exactly two sides, or both have
    /// the same direction.
    fn is_open(&self, place: u32) -> bool {
        let across = self.neighbours[place as usize];
        across == NONE || self.is_forth(across) == self.is_forth(place)
    }

    /// Turns a patch over.
    pub(super) fn turn(&mut self, patch: usize) {
        for member in &self.members[self.starts[patch]..self.starts[patch + 1]] {
            self.turned[*member as usize] ^= true;
        }
    }
}

/// Returns whether side `side` of a triangle with ascending vertices goes from the lesser to the greater
/// vertex.
fn is_forth(side: usize) -> bool {
    side != 2
}

/// Returns, for each side of each triangle, the other side of its edge. [`NONE`] unless the edge
/// has exactly two sides.
fn neighbours(triangles: usize, sides: &[Side]) -> Vec<u32> {
    let mut neighbours = vec![NONE; 3 * triangles];
    for group in edges::by_edge(sides) {
        if let [one, two] = group {
            neighbours[one.place as usize] = two.place;
            neighbours[two.place as usize] = one.place;
        }
    }
    neighbours
}

/// Returns the triangles patch by patch, and the start of each patch.
fn grouped(patch: &[u32], count: usize) -> (Vec<u32>, Vec<usize>) {
    let mut starts = vec![0; count + 1];
    for own in patch {
        starts[*own as usize + 1] += 1;
    }
    for n in 0..count {
        starts[n + 1] += starts[n];
    }
    let mut next = starts.clone();
    let mut members = vec![0; patch.len()];
    for (triangle, own) in patch.iter().enumerate() {
        members[next[*own as usize]] = triangle as u32;
        next[*own as usize] += 1;
    }
    (members, starts)
}
