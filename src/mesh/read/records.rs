//! The records of a binary STL: 50 bytes a triangle, taken apart block by block.

use crate::error::Error;
use crate::geom::{Bounds, Triangle, degenerate};
use crate::mesh::{TriangleSummary, not_finite};

/// The bytes before the first record.
pub(super) const HEADER: usize = 84;
/// The bytes of a record.
pub(super) const RECORD: usize = 50;
/// Where the vertices begin in a record, after the normal.
const VERTICES: usize = 12;
/// Where the attributes are, after the vertices.
const ATTRIBUTES: usize = 48;

/// The length of a file of so many triangles, and where the next would begin.
pub(super) fn length_for(count: u64) -> u64 {
    HEADER as u64 + RECORD as u64 * count
}

/// Statistics of consecutive records.
#[derive(Default)]
pub(super) struct Looked {
    pub seen: TriangleSummary,
    /// Records whose attributes are not zero.
    pub attributes: Odd,
    /// Records whose normal is not finite.
    pub normals: Odd,
    /// The error for the first coordinate that is not finite.
    pub not_finite: Option<Error>,
}

/// How many triangles are odd in one way, and which is the first.
#[derive(Default)]
pub(super) struct Odd {
    pub count: u64,
    pub first: Option<u64>,
}

impl Looked {
    /// Merged with the statistics of the following records.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            seen: self.seen.and(&other.seen),
            attributes: self.attributes.and(&other.attributes),
            normals: self.normals.and(&other.normals),
            not_finite: self.not_finite.or(other.not_finite),
        }
    }
}

impl Odd {
    fn of(block: &[u8], first: u64, is_odd: impl Fn(&[u8]) -> bool) -> Self {
        let odd = || block.chunks_exact(RECORD).enumerate().filter(|(_, record)| is_odd(record));
        Self { count: odd().count() as u64, first: odd().next().map(|(n, _)| first + n as u64) }
    }

    fn and(&self, other: &Self) -> Self {
        Self { count: self.count + other.count, first: self.first.or(other.first) }
    }
}

/// Takes the vertices out of `block` into `triangles`, the first of which is number `first`.
pub(super) fn decode(block: &[u8], triangles: &mut [Triangle], first: u64) -> Looked {
    let (mut min, mut max, mut odd) = ([f32::INFINITY; 9], [f32::NEG_INFINITY; 9], [0_u32; 9]);
    let (mut normals, mut attributes) = (0, 0);
    for (record, triangle) in block.chunks_exact(RECORD).zip(triangles.iter_mut()) {
        let bits: [u32; 9] = std::array::from_fn(|i| word(record, VERTICES + 4 * i));
        for (i, coordinate) in triangle.as_flattened_mut().iter_mut().enumerate() {
            *coordinate = f32::from_bits(bits[i]);
            min[i] = if *coordinate < min[i] { *coordinate } else { min[i] };
            max[i] = if *coordinate > max[i] { *coordinate } else { max[i] };
            odd[i] |= exponent_carry(bits[i]);
        }
        normals |= normal_carry(record);
        attributes |= record[ATTRIBUTES] | record[ATTRIBUTES + 1];
    }
    let mut looked = Looked::default();
    if normals >> 31 != 0 {
        looked.normals = Odd::of(block, first, |record| normal_carry(record) >> 31 != 0);
    }
    if attributes != 0 {
        looked.attributes = Odd::of(block, first, |record| record[ATTRIBUTES..] != [0, 0]);
    }
    if odd.iter().any(|bits| bits >> 31 != 0) {
        looked.not_finite = Some(first_odd(triangles, first));
        return looked;
    }
    let corner = |of: [f32; 9], v: usize| [of[v], of[v + 1], of[v + 2]];
    let bounds = if triangles.is_empty() { [].iter() } else { [0, 3, 6].iter() };
    let bounds = bounds.fold(Bounds::EMPTY, |bounds, &v| bounds.with(&corner(min, v)).with(&corner(max, v)));
    looked.seen = TriangleSummary { bounds, degenerate: degenerate::count(triangles) };
    looked
}

#[inline(always)]
fn word(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

/// Carries into the top bit exactly if all exponent bits are set: infinite or NaN.
#[inline(always)]
fn exponent_carry(bits: u32) -> u32 {
    (bits & 0x7fff_ffff) + 0x0080_0000
}

#[inline(always)]
fn normal_carry(record: &[u8]) -> u32 {
    exponent_carry(word(record, 0)) | exponent_carry(word(record, 4)) | exponent_carry(word(record, 8))
}

/// The error for the first coordinate of a block that is not finite.
fn first_odd(triangles: &[Triangle], first: u64) -> Error {
    let coordinates = triangles.as_flattened().as_flattened();
    let place = coordinates.iter().position(|c| !c.is_finite()).unwrap_or(0);
    let triangle = first + (place / 9) as u64;
    let byte = length_for(triangle) + (VERTICES + place % 9 * 4) as u64;
    not_finite(coordinates[place]).at_triangle(triangle).at_byte(byte)
}
