//! Union-find over triangles with common vertices: a hash table of corners and a forest of triangles.
//!
//! Corners are one vertex if their coordinates are equal (−0 is 0). The table keeps one corner of each vertex, and
//! the bits of its hash that are not its slot: most others are skipped without comparing coordinates.

use crate::error::{Error, Result};
use crate::geom::{Point, Triangle};
use crate::kernel::memory::Zeroed;

/// Triangles whose corners are hashed at a time: one after the other, that takes its time.
const BATCH: usize = 32;

/// For each triangle the first triangle of its component. Fewer than 2³²
/// corners are expected.
///
/// # Errors
/// If the memory for the table is not there.
pub(super) fn firsts(triangles: &[Triangle]) -> Result<Vec<u32>> {
    let mut vertices = CornerTable::new(triangles)?;
    let mut forest: Vec<u32> = (0..triangles.len() as u32).collect();
    let mut hashes = [[0; 3]; BATCH];
    for (batch, some) in triangles.chunks(BATCH).enumerate() {
        vertices.make_room(3 * BATCH)?;
        for (hashes, triangle) in hashes.iter_mut().zip(some) {
            *hashes = triangle.map(|point| hash(&point));
        }
        vertices.fetch(hashes.as_flattened());
        let first = (batch * BATCH) as u32;
        for (triangle, hashes) in (first..first + some.len() as u32).zip(&hashes) {
            for (corner, hash) in (3 * triangle..).zip(hashes) {
                let same = vertices.first(corner, *hash);
                if same != corner {
                    join(&mut forest, same / 3, triangle);
                }
            }
        }
    }
    // Parents come before their children, so that they are final already.
    for triangle in 0..forest.len() {
        forest[triangle] = forest[forest[triangle] as usize];
    }
    Ok(forest)
}

/// A corner of each vertex: slots that follow each other where hashes are alike.
struct CornerTable<'a> {
    corners: &'a [Point],
    slots: Zeroed<TableSlot>,
    used: usize,
}

/// The upper half of a hash, whose lower half says where to look; and a corner, from 1 on, or [`FREE`].
type TableSlot = [u32; 2];

const FREE: u32 = 0;

impl<'a> CornerTable<'a> {
    /// None, and room for those of a closed mesh: half as many as triangles.
    fn new(triangles: &'a [Triangle]) -> Result<Self> {
        let slots = slots(triangles.len().max(BATCH).next_power_of_two())?;
        Ok(Self { corners: triangles.as_flattened(), slots, used: 0 })
    }

    /// Sees to it that a quarter of the slots stay free with so many more.
    fn make_room(&mut self, more: usize) -> Result<()> {
        while 4 * (self.used + more) > 3 * self.slots.len() {
            let mut larger = slots(2 * self.slots.len())?;
            for slot in self.slots.iter().filter(|slot| slot[1] != FREE) {
                let mut place = hash(&self.corners[slot[1] as usize - 1]) as usize & (larger.len() - 1);
                while larger[place][1] != FREE {
                    place = (place + 1) & (larger.len() - 1);
                }
                larger[place] = *slot;
            }
            self.slots = larger;
        }
        Ok(())
    }

    /// Brings the slots of these hashes into the cache, many at a time: looked at one after the other, each
    /// waits for the memory of the one before.
    fn fetch(&self, hashes: &[u64]) {
        let slots: &[TableSlot] = &self.slots;
        let slot = |hash: &u64| slots[*hash as usize & (slots.len() - 1)][1];
        std::hint::black_box(hashes.iter().fold(0, |all, hash| all ^ slot(hash)));
    }

    /// The first corner seen with the vertex of this one, of that hash.
    #[inline]
    fn first(&mut self, corner: u32, hash: u64) -> u32 {
        let slots: &mut [TableSlot] = &mut self.slots;
        let (point, tag) = (&self.corners[corner as usize], (hash >> 32) as u32);
        let mut place = hash as usize & (slots.len() - 1);
        loop {
            let [its, same] = slots[place];
            if same == FREE {
                slots[place] = [tag, corner + 1];
                self.used += 1;
                return corner;
            }
            if its == tag && self.corners[same as usize - 1] == *point {
                return same - 1;
            }
            place = (place + 1) & (slots.len() - 1);
        }
    }
}

fn slots(count: usize) -> Result<Zeroed<TableSlot>> {
    Zeroed::new(count).ok_or_else(|| Error::too_large("no memory to tell the parts of the mesh apart"))
}

/// A hash of a vertex: twice a product whose halves are put together.
#[inline(always)]
pub(super) fn hash(point: &Point) -> u64 {
    // −0 + 0 is 0.
    let [x, y, z] = point.map(|c| u64::from((c + 0.0).to_bits()));
    let folded = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    // The fraction of the golden ratio, and a factor of SplitMix64.
    folded(folded(x << 32 | y, 0x9e37_79b9_7f4a_7c15) ^ z, 0xbf58_476d_1ce4_e5b9)
}

/// The first triangle that one is joined to; paths are halved on the way.
fn root(forest: &mut [u32], mut triangle: u32) -> u32 {
    while forest[triangle as usize] != triangle {
        let next = forest[forest[triangle as usize] as usize];
        forest[triangle as usize] = next;
        triangle = next;
    }
    triangle
}

fn join(forest: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(forest, a), root(forest, b));
    forest[a.max(b) as usize] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By looking at all pairs, over and over.
    fn slowly(triangles: &[Triangle]) -> Vec<u32> {
        let mut firsts: Vec<u32> = (0..triangles.len() as u32).collect();
        let touch = |a: usize, b: usize| triangles[a].iter().any(|p| triangles[b].contains(p));
        loop {
            let before = firsts.clone();
            for a in 0..triangles.len() {
                for b in (0..triangles.len()).filter(|b| touch(a, *b)) {
                    firsts[a] = firsts[a].min(firsts[b]);
                }
            }
            if firsts == before {
                return firsts;
            }
        }
    }

    #[test]
    fn triangles_with_a_common_vertex_are_connected() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut joined, mut alone) = (0, 0);
        for values in [2, 4, 6, 9, 14, 40] {
            for count in [0, 1, 30, 200] {
                // Zeros of both signs among them.
                let mut coordinate = || {
                    let sign = if random(2) == 0 { 1.0 } else { -1.0 };
                    sign * random(values) as f32
                };
                let triangles: Vec<Triangle> =
                    (0..count).map(|_| [(); 3].map(|()| [(); 3].map(|()| coordinate()))).collect();
                let firsts = firsts(&triangles).unwrap();
                assert_eq!(firsts, slowly(&triangles), "{count} of {values} values");
                let roots = firsts.iter().enumerate().filter(|(n, first)| *n as u32 == **first).count();
                (joined, alone) = (joined + count - roots, alone + roots);
            }
        }
        assert!(joined > 300 && alone > 300, "{joined} {alone}");
    }

    #[test]
    fn vertices_that_grow_beyond_the_room_are_found_again() {
        // A strip without common vertices, and then each of its triangles again.
        let strip = |n: usize| [0.0, 0.25, 0.5].map(|c| [n as f32 + c, c, 1.0]);
        let triangles: Vec<Triangle> = (0..10_000).chain(0..10_000).map(strip).collect();
        let firsts = firsts(&triangles).unwrap();
        assert!(firsts.iter().enumerate().all(|(n, first)| *first as usize == n % 10_000));
    }
}
