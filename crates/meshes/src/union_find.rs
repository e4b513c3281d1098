//! Union-find over triangles with common vertices.
//!
//! Triangles that follow each other in a file are mostly neighbours. So a first pass remembers the vertices seen last, in
//! a small cache that forgets: it finds *pieces* of components, mostly one large one and a few small ones. A second pass
//! puts the vertices of all but the largest into a hash table that forgets none, and looks up those of the largest. This
//! is exact: each pass joins only triangles with a common vertex, and two such triangles are either both of the largest
//! piece, or one of them has its vertices in the table.
//!
//! Vertices are one if their coordinates are equal (−0 is 0). The table keeps one place of each, and the bits of its
//! hash that are not its slot: most others are skipped without comparing coordinates.

use voxelize_core::error::{Error, Result};
use voxelize_core::geom::forest;
use voxelize_core::geom::{Point, Triangle};
use voxelize_kernel::memory::Zeroed;

/// Triangles whose vertices are hashed at a time: one after the other, that takes its time.
const BATCH: usize = 32;

/// Vertices that the first pass remembers, at most: as many as stay in the second-level cache of a core, with room for the
/// triangles that pass.
const REMEMBERED: usize = 1 << 15;

/// For each triangle the first triangle of its component: those that are connected by common vertices. Fewer than 2³²
/// corners are expected.
///
/// # Errors
/// If the memory for the table is not there.
pub(super) fn firsts(triangles: &[Triangle]) -> Result<Vec<u32>> {
    connected(triangles, REMEMBERED)
}

/// For each triangle the first of its component, by a first pass that remembers so many vertices, a power of two.
fn connected(triangles: &[Triangle], remembered: usize) -> Result<Vec<u32>> {
    let mut pieces = VertexPieces::of(triangles, remembered);
    let mut sizes = vec![0_u32; pieces.forest.len()];
    pieces
        .of
        .iter()
        .for_each(|piece| sizes[*piece as usize] += 1);
    let largest = (0..).zip(sizes).max_by_key(|(_, size)| *size);
    if let Some((largest, size)) = largest
        && (size as usize) < triangles.len()
    {
        pieces.join_others(triangles, largest)?;
    }
    let VertexPieces { mut of, first, .. } = pieces;
    of.iter_mut()
        .for_each(|piece| *piece = first[*piece as usize]);
    Ok(of)
}

/// A vertex by the bits of its x, y and z.
type VertexBits = [u32; 3];

/// The vertices of a triangle.
#[inline(always)]
fn vertices(triangle: &Triangle) -> [VertexBits; 3] {
    // −0 + 0 is 0.
    triangle.map(|point| point.map(|c| (c + 0.0).to_bits()))
}

/// A hash of few collisions.
#[inline(always)]
fn well_hashed(vertex: &VertexBits) -> u64 {
    let [x, y, z] = vertex.map(u64::from);
    // The fraction of the golden ratio, and a factor of SplitMix64.
    folded(
        folded(x << 32 | y, 0x9e37_79b9_7f4a_7c15) ^ z,
        0xbf58_476d_1ce4_e5b9,
    )
}

/// A hash of the bits of a vertex, of one product: faster than [`well_hashed`], and with more collisions.
#[inline(always)]
pub(super) fn hash(bits: &[u32; 3]) -> u64 {
    let [x, y, z] = bits.map(u64::from);
    folded(
        (x << 32 | y) ^ 0x94d0_49bb_1331_11eb,
        (z << 32 | z) ^ 0xd6e8_feb8_6659_fd93,
    )
}

/// A product whose halves are put together.
#[inline(always)]
pub(super) fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Triangles that are known to be connected.
struct VertexPieces {
    /// The piece of each triangle.
    of: Vec<u32>,
    /// The first triangle of each piece, ascending; [`NONE`] has one that nobody reads.
    first: Vec<u32>,
    /// By piece: one that it is joined to, itself if it is the first of all these.
    forest: Vec<u32>,
}

/// The piece of a vertex that is not remembered: the one before all others, without triangles.
const NONE: u32 = 0;

impl VertexPieces {
    /// The connections that common vertices show, as far as a cache of so many remembers them.
    fn of(triangles: &[Triangle], remembered: usize) -> Self {
        // Vertices and their pieces.
        let mut last = vec![([0; 3], NONE); remembered.min(triangles.len().next_power_of_two())];
        let mut pieces = Self {
            of: Vec::with_capacity(triangles.len()),
            first: vec![NONE],
            forest: vec![NONE],
        };
        for triangle in triangles {
            let vertices = vertices(triangle);
            let slots = vertices
                .each_ref()
                .map(|vertex| well_hashed(vertex) as usize & (last.len() - 1));
            // Without branches, and with what a piece has been joined to since: pieces seldom differ then.
            let found: [u32; 3] = std::array::from_fn(|n| {
                let (its, piece) = last[slots[n]];
                let differing = (0..3).fold(0, |bits, a| bits | (its[a] ^ vertices[n][a]));
                pieces.forest[(if differing == 0 { piece } else { NONE }) as usize]
            });
            let mut piece = found.into_iter().fold(NONE, u32::max);
            if found.iter().fold(false, |differ, other| {
                differ | (*other != piece) & (*other != NONE)
            }) {
                let others = found.into_iter().filter(|other| *other != NONE);
                piece = others.fold(piece, |piece, other| {
                    forest::join(&mut pieces.forest, piece, other)
                });
            }
            if piece == NONE {
                piece = pieces.forest.len() as u32;
                pieces.forest.push(piece);
                pieces.first.push(pieces.of.len() as u32);
            }
            pieces.of.push(piece);
            slots
                .iter()
                .zip(vertices)
                .for_each(|(slot, vertex)| last[*slot] = (vertex, piece));
        }
        pieces.settle();
        pieces
    }

    /// Joins all that have a common vertex; `largest` is the piece with the most triangles.
    fn join_others(&mut self, triangles: &[Triangle], largest: u32) -> Result<()> {
        let is_other = |n: &u32| self.of[*n as usize] != largest;
        let others: Vec<u32> = (0..triangles.len() as u32).filter(is_other).collect();
        let mut theirs = SeenCoordinates::new(3 * others.len());
        others.iter().for_each(|n| {
            triangles[*n as usize]
                .iter()
                .for_each(|point| theirs.add(point))
        });
        let may_touch = |n: &u32| {
            triangles[*n as usize]
                .iter()
                .any(|point| theirs.may_have(point))
        };
        let within: Vec<u32> = (0..triangles.len() as u32)
            .filter(|n| !is_other(n) && may_touch(n))
            .collect();
        let mut table = VertexTable::new(triangles, others.len())?;
        let mut found = [[[0; 3]; 3]; BATCH];
        let batches = others.chunks(BATCH).map(|batch| (batch, true));
        for (batch, are_kept) in batches.chain(within.chunks(BATCH).map(|batch| (batch, false))) {
            table.make_room(3 * BATCH)?;
            for (found, triangle) in found.iter_mut().zip(batch) {
                *found = vertices(&triangles[*triangle as usize]);
            }
            table.fetch(found[..batch.len()].as_flattened());
            for (triangle, found) in batch.iter().zip(&found) {
                for (place, vertex) in (3 * triangle..).zip(found) {
                    let same = table.first(place, vertex, are_kept);
                    if same / 3 != *triangle {
                        forest::join(
                            &mut self.forest,
                            self.of[same as usize / 3],
                            self.of[*triangle as usize],
                        );
                    }
                }
            }
        }
        self.settle();
        Ok(())
    }

    /// Makes every piece that is joined to others the first of these.
    fn settle(&mut self) {
        // Parents come before their children, so that they are final already.
        for piece in 0..self.forest.len() {
            self.forest[piece] = self.forest[self.forest[piece] as usize];
        }
        self.of
            .iter_mut()
            .for_each(|piece| *piece = self.forest[*piece as usize]);
    }
}

/// The coordinates along x of some points, by a bit for each of their hashes: most triangles without a common vertex are
/// told by one multiplication a corner.
struct SeenCoordinates {
    bits: Vec<u64>,
    shift: u32,
}

impl SeenCoordinates {
    /// None yet, and room for those of so many points.
    fn new(points: usize) -> Self {
        let bits = (64 * points).next_power_of_two().clamp(1 << 10, 1 << 24);
        Self {
            bits: vec![0; bits / 64],
            shift: 32 - bits.trailing_zeros(),
        }
    }

    #[inline(always)]
    fn place(&self, point: &Point) -> usize {
        // −0 + 0 is 0. The fraction of the golden ratio.
        ((point[0] + 0.0).to_bits().wrapping_mul(0x9e37_79b1) >> self.shift) as usize
    }

    fn add(&mut self, point: &Point) {
        let place = self.place(point);
        self.bits[place / 64] |= 1 << (place % 64);
    }

    /// Whether one of them may have the coordinate of this point.
    #[inline(always)]
    fn may_have(&self, point: &Point) -> bool {
        let place = self.place(point);
        self.bits[place / 64] >> (place % 64) & 1 == 1
    }
}

/// A place of each vertex, three times the number of a triangle and which of its corners it is: slots that follow each other
/// where hashes are alike.
struct VertexTable<'a> {
    triangles: &'a [Triangle],
    slots: Zeroed<TableSlot>,
    used: usize,
}

/// The upper half of a hash, whose lower half says where to look; and a place, from 1 on, or [`FREE`].
type TableSlot = [u32; 2];

const FREE: u32 = 0;

impl<'a> VertexTable<'a> {
    /// None, and room for those of so many triangles of a closed mesh: half as many vertices.
    fn new(triangles: &'a [Triangle], count: usize) -> Result<Self> {
        let slots = slots(count.max(BATCH).next_power_of_two())?;
        Ok(Self {
            triangles,
            slots,
            used: 0,
        })
    }

    fn vertex(&self, place: u32) -> VertexBits {
        vertices(&self.triangles[place as usize / 3])[place as usize % 3]
    }

    /// Sees to it that a quarter of the slots stay free with so many more.
    fn make_room(&mut self, more: usize) -> Result<()> {
        while 4 * (self.used + more) > 3 * self.slots.len() {
            let mut larger = slots(2 * self.slots.len())?;
            for slot in self.slots.iter().filter(|slot| slot[1] != FREE) {
                let mut place =
                    well_hashed(&self.vertex(slot[1] - 1)) as usize & (larger.len() - 1);
                while larger[place][1] != FREE {
                    place = (place + 1) & (larger.len() - 1);
                }
                larger[place] = *slot;
            }
            self.slots = larger;
        }
        Ok(())
    }

    /// Brings the slots of these vertices into the cache, many at a time: looked at one after the other, each waits for the
    /// memory of the one before.
    fn fetch(&self, vertices: &[VertexBits]) {
        let slots: &[TableSlot] = &self.slots;
        let slot = |vertex| slots[well_hashed(vertex) as usize & (slots.len() - 1)][1];
        std::hint::black_box(vertices.iter().fold(0, |all, vertex| all ^ slot(vertex)));
    }

    /// The first place kept of a vertex, which this place has, too; this one if there is none, which is kept if that is
    /// wanted.
    #[inline]
    fn first(&mut self, place: u32, vertex: &VertexBits, is_kept: bool) -> u32 {
        let hash = well_hashed(vertex);
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut slot = hash as usize & mask;
        loop {
            let [its, same] = self.slots[slot];
            if same == FREE {
                if is_kept {
                    self.slots[slot] = [tag, place + 1];
                    self.used += 1;
                }
                return place;
            }
            if its == tag && self.vertex(same - 1) == *vertex {
                return same - 1;
            }
            slot = (slot + 1) & mask;
        }
    }
}

fn slots(count: usize) -> Result<Zeroed<TableSlot>> {
    Zeroed::new(count)
        .ok_or_else(|| Error::too_large("no memory to tell the parts of the mesh apart"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// By looking at all pairs, over and over.
    fn slowly(triangles: &[Triangle]) -> Vec<u32> {
        let touch = |a: &Triangle, b: &Triangle| a.iter().any(|p| b.contains(p));
        let mut firsts: Vec<u32> = (0..triangles.len() as u32).collect();
        loop {
            let before = firsts.clone();
            for a in 0..triangles.len() {
                for b in (0..triangles.len()).filter(|b| touch(&triangles[a], &triangles[*b])) {
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
        let mut random = Random::new(1);
        let [mut joined, mut alone, mut forgotten] = [0; 3];
        for values in [2, 4, 6, 9, 14, 40] {
            for count in [0, 1, 30, 200] {
                // Zeros of both signs among them.
                let mut coordinate = || {
                    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
                    sign * random.below(values) as f32
                };
                let triangles: Vec<Triangle> = (0..count)
                    .map(|_| [(); 3].map(|()| [(); 3].map(|()| coordinate())))
                    .collect();
                let wanted = slowly(&triangles);
                // The first pass remembers one, a few, or all.
                for remembered in [1, 4, 32, REMEMBERED] {
                    let found = connected(&triangles, remembered).unwrap();
                    assert_eq!(found, wanted, "{count} triangles, {remembered} remembered");
                    let pieces = VertexPieces::of(&triangles, remembered);
                    let first = pieces.of.iter().map(|piece| pieces.first[*piece as usize]);
                    forgotten += first
                        .zip(&wanted)
                        .filter(|(found, wanted)| found != *wanted)
                        .count();
                }
                let roots = (0..).zip(&wanted).filter(|(n, first)| n == *first).count();
                (joined, alone) = (joined + count - roots, alone + roots);
            }
        }
        assert!(
            [joined, alone, forgotten].iter().all(|count| *count > 200),
            "{joined} {alone} {forgotten}"
        );
    }

    #[test]
    fn vertices_that_grow_beyond_the_room_are_found_again() {
        // A strip without common vertices, and then each of its triangles again.
        let strip = |n: usize| [0.0, 0.25, 0.5].map(|c| [n as f32 + c, c, 1.0]);
        let triangles: Vec<Triangle> = (0..10_000).chain(0..10_000).map(strip).collect();
        let firsts = firsts(&triangles).unwrap();
        assert!(
            firsts
                .iter()
                .enumerate()
                .all(|(n, first)| *first as usize == n % 10_000)
        );
    }
}
