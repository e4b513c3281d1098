//! Union-find over triangles with common vertices.
//!
//! Consecutive triangles of a file are usually neighbours. A first pass stores recent vertices in a small
//! cache, in which new vertices overwrite old ones. It finds *pieces* of components, typically one large
//! piece and a few small ones. A second pass stores the vertices of all pieces except the largest in a hash
//! table without overwriting, and looks up the vertices of the largest piece.
//!
//! The result is exact. Each pass only joins triangles with a common vertex, so it joins nothing wrongly. It
//! also joins all: two triangles with a common vertex are either both in the largest piece, or the vertices
//! of at least one of them are in the table.
//!
//! Vertices are equal if their coordinates are equal (−0 is 0). For each vertex the table stores one position
//! in the list of corners, and the bits of the hash that do not determine the slot. Comparing these bits
//! distinguishes most other vertices without access to their coordinates.

use voxelize_core::error::{Error, Result};
use voxelize_core::geom::forest;
use voxelize_core::geom::{Point, Triangle};
use voxelize_kernel::memory::Zeroed;

/// Number of triangles whose vertices are hashed as a batch, so that their memory accesses overlap.
const BATCH: usize = 32;

/// Maximum number of vertices in the cache of the first pass. They fit into the second-level cache of a core,
/// with room for the triangles that are read.
const REMEMBERED: usize = 1 << 15;

/// Returns, for each triangle, the first triangle of its component. Triangles with a common vertex are
/// connected. At most 2³² − 1 corners are allowed.
///
/// # Errors
/// If there is not enough memory for the table.
pub(super) fn firsts(triangles: &[Triangle]) -> Result<Vec<u32>> {
    connected(triangles, REMEMBERED)
}

/// Returns the first triangle of each triangle's component. `remembered` is the number of vertices in the
/// cache of the first pass, a power of two.
fn connected(triangles: &[Triangle], remembered: usize) -> Result<Vec<u32>> {
    let mut pieces = VertexPieces::of(triangles, remembered);
    let mut sizes = vec![0_u32; pieces.forest.len()];
    for piece in &pieces.of {
        sizes[*piece as usize] += 1;
    }
    let largest = (0..).zip(sizes).max_by_key(|(_, size)| *size);
    if let Some((largest, size)) = largest
        && (size as usize) < triangles.len()
    {
        pieces.join_others(triangles, largest)?;
    }
    let VertexPieces { mut of, first, .. } = pieces;
    for piece in &mut of {
        *piece = first[*piece as usize];
    }
    Ok(of)
}

/// Vertex as the bits of its x, y and z.
type VertexBits = [u32; 3];

/// Returns the vertices of a triangle.
#[inline(always)]
fn vertices(triangle: &Triangle) -> [VertexBits; 3] {
    // Adding 0 turns −0 into 0.
    triangle.map(|point| point.map(|c| (c + 0.0).to_bits()))
}

/// Returns a hash with few collisions.
#[inline(always)]
fn well_hashed(vertex: &VertexBits) -> u64 {
    let [x, y, z] = vertex.map(u64::from);
    // Fraction of the golden ratio, and a multiplier of SplitMix64.
    folded(
        folded(x << 32 | y, 0x9e37_79b9_7f4a_7c15) ^ z,
        0xbf58_476d_1ce4_e5b9,
    )
}

/// Returns a hash of the bits of a vertex. It takes one multiplication, so it is faster than [`well_hashed`]
/// but has more collisions.
#[inline(always)]
pub(super) fn hash(bits: &[u32; 3]) -> u64 {
    let [x, y, z] = bits.map(u64::from);
    folded(
        (x << 32 | y) ^ 0x94d0_49bb_1331_11eb,
        (z << 32 | z) ^ 0xd6e8_feb8_6659_fd93,
    )
}

/// Multiplies the numbers, and combines both halves of the product by exclusive or.
#[inline(always)]
pub(super) fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Pieces: sets of triangles that are known to be connected.
struct VertexPieces {
    /// Piece of each triangle.
    of: Vec<u32>,
    /// Number of the first triangle of each piece, ascending. The entry of [`NONE`] is never read.
    first: Vec<u32>,
    /// Union-find forest: for each piece, an earlier piece that it is joined to. The first piece of a joined
    /// set has itself.
    forest: Vec<u32>,
}

/// Piece of vertices that are not in the cache. It comes before all real pieces and has no triangles.
const NONE: u32 = 0;

impl VertexPieces {
    /// Connects triangles by common vertices, as far as they are found in a cache of `remembered` vertices.
    fn of(triangles: &[Triangle], remembered: usize) -> Self {
        // Cache of recent vertices and their pieces.
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
            // There are no branches here. Each piece is replaced by the piece that it was joined to, so the
            // pieces of the three corners seldom differ.
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
            for (slot, vertex) in slots.into_iter().zip(vertices) {
                last[slot] = (vertex, piece);
            }
        }
        pieces.settle();
        pieces
    }

    /// Joins all pieces with a common vertex. `largest` is the piece with the most triangles.
    fn join_others(&mut self, triangles: &[Triangle], largest: u32) -> Result<()> {
        let mut others: Vec<u32> = vec![];
        for (n, piece) in (0..).zip(&self.of) {
            if *piece != largest {
                others.push(n);
            }
        }
        let mut theirs = SeenCoordinates::new(3 * others.len());
        for n in &others {
            for point in &triangles[*n as usize] {
                theirs.add(point);
            }
        }
        // Triangles of the largest piece that may have a vertex of another piece.
        let mut within: Vec<u32> = vec![];
        for ((n, piece), triangle) in (0..).zip(&self.of).zip(triangles) {
            if *piece == largest && triangle.iter().any(|point| theirs.may_have(point)) {
                within.push(n);
            }
        }
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

    /// Replaces every piece by the first piece of its joined set.
    fn settle(&mut self) {
        // A piece comes after the piece that it points to, which is therefore already final.
        for piece in 0..self.forest.len() {
            self.forest[piece] = self.forest[self.forest[piece] as usize];
        }
        for piece in &mut self.of {
            *piece = self.forest[*piece as usize];
        }
    }
}

/// Approximate set of x coordinates, with one bit for each hash. One multiplication per corner excludes most
/// triangles without a common vertex.
struct SeenCoordinates {
    bits: Vec<u64>,
    shift: u32,
}

impl SeenCoordinates {
    /// Creates an empty set for this many points.
    fn new(points: usize) -> Self {
        let bits = (64 * points).next_power_of_two().clamp(1 << 10, 1 << 24);
        Self {
            bits: vec![0; bits / 64],
            shift: 32 - bits.trailing_zeros(),
        }
    }

    #[inline(always)]
    fn place(&self, point: &Point) -> usize {
        // Adding 0 turns −0 into 0. The factor is the fraction of the golden ratio.
        ((point[0] + 0.0).to_bits().wrapping_mul(0x9e37_79b1) >> self.shift) as usize
    }

    fn add(&mut self, point: &Point) {
        let place = self.place(point);
        self.bits[place / 64] |= 1 << (place % 64);
    }

    /// Returns false if no added point has the x coordinate of this point.
    #[inline(always)]
    fn may_have(&self, point: &Point) -> bool {
        let place = self.place(point);
        self.bits[place / 64] >> (place % 64) & 1 == 1
    }
}

/// Hash table with one corner for each vertex. A corner is numbered three times its triangle plus its number
/// in the triangle. After a collision the following slots are searched.
struct VertexTable<'a> {
    triangles: &'a [Triangle],
    slots: Zeroed<TableSlot>,
    used: usize,
}

/// Slot of the table: the upper half of a hash, and the number of a corner plus 1, or [`FREE`]. The lower
/// half of the hash determines the first slot to search.
type TableSlot = [u32; 2];

const FREE: u32 = 0;

impl<'a> VertexTable<'a> {
    /// Creates an empty table for the vertices of this many triangles. A closed mesh has half as many
    /// vertices as triangles.
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

    /// Enlarges the table until at least a quarter of its slots stays free after `more` insertions.
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

    /// Loads the slots of these vertices into the cache. The loads overlap, whereas separate accesses would
    /// each wait for memory.
    fn fetch(&self, vertices: &[VertexBits]) {
        let slots: &[TableSlot] = &self.slots;
        let slot = |vertex| slots[well_hashed(vertex) as usize & (slots.len() - 1)][1];
        std::hint::black_box(vertices.iter().fold(0, |all, vertex| all ^ slot(vertex)));
    }

    /// Returns the first stored corner with the same vertex. If there is none, returns `place`, and stores it
    /// if `is_kept` is true.
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
    Zeroed::new(count).ok_or_else(|| {
        Error::too_large("there is too little memory to find the connected parts of the mesh")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Computes the components by comparing all pairs of triangles until nothing changes.
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
        let mut joined = 0;
        let mut alone = 0;
        let mut forgotten = 0;
        for values in [2, 4, 6, 9, 14, 40] {
            for count in [0, 1, 30, 200] {
                // The coordinates include zeros of both signs.
                let mut coordinate = || {
                    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
                    sign * random.below(values) as f32
                };
                let triangles: Vec<Triangle> = (0..count)
                    .map(|_| [(); 3].map(|()| [(); 3].map(|()| coordinate())))
                    .collect();
                let wanted = slowly(&triangles);
                // The cache of the first pass holds one vertex, a few, or all.
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
                joined += count - roots;
                alone += roots;
            }
        }
        assert!(
            [joined, alone, forgotten].iter().all(|count| *count > 200),
            "{joined} {alone} {forgotten}"
        );
    }

    #[test]
    fn vertices_are_found_after_the_table_has_grown() {
        // Triangles without common vertices, followed by a copy of each.
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
