//! Records of a binary STL, 50 bytes per triangle. They are decoded in blocks.

use crate::not_finite;
use voxelize_core::error::Error;
use voxelize_core::geom::Triangle;
use voxelize_kernel::Level;
use voxelize_kernel::seen::{self, SeenTriangles};

/// Number of bytes before the first record.
pub(super) const HEADER: usize = 84;
/// Number of bytes of a record.
pub(super) const RECORD: usize = 50;
/// Offset of the vertices in a record, after the normal.
const VERTICES: usize = 12;
/// Offset of the attributes, after the vertices.
const ATTRIBUTES: usize = 48;

/// Number of triangles that are decoded and examined as a group. They fit into the first-level cache.
const GROUP: usize = 256;

/// Returns the length in bytes of a file with this many triangles. It is also the offset of the record with
/// this index.
pub(super) fn length_for(count: u64) -> u64 {
    HEADER as u64 + RECORD as u64 * count
}

/// Statistics of consecutive records.
#[derive(Default)]
pub(super) struct Looked {
    pub seen: SeenTriangles,
    /// Records whose attributes are not zero.
    pub attributes: Odd,
    /// Records whose normal is not finite.
    pub normals: Odd,
    /// Error of the first coordinate that is not finite.
    pub not_finite: Option<Error>,
}

/// Number of triangles with some peculiarity, and the number of the first of them.
#[derive(Default)]
pub(super) struct Odd {
    pub count: u64,
    pub first: Option<u64>,
}

impl Looked {
    /// Combines the statistics with those of the following records.
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
    fn of(records: &[[u8; RECORD]], first: u64, is_odd: impl Fn(&[u8; RECORD]) -> bool) -> Self {
        let mut odd = Self::default();
        for (n, record) in (first..).zip(records) {
            if is_odd(record) {
                odd.count += 1;
                odd.first = odd.first.or(Some(n));
            }
        }
        odd
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            count: self.count + other.count,
            first: self.first.or(other.first),
        }
    }
}

/// Decodes the triangles of `block` into `triangles`. `first` is the number of the first of them.
pub(super) fn decode(block: &[u8], triangles: &mut [Triangle], first: u64) -> Looked {
    let records = block.as_chunks::<RECORD>().0;
    let level = Level::best();
    let mut normals = 0;
    let mut attributes = 0;
    let mut seen = Some(SeenTriangles::default());
    for (records, triangles) in records.chunks(GROUP).zip(triangles.chunks_mut(GROUP)) {
        for (record, triangle) in records.iter().zip(triangles.iter_mut()) {
            *triangle = vertices(record);
            normals |= normal_carry(record);
            attributes |= record[ATTRIBUTES] | record[ATTRIBUTES + 1];
        }
        let more = seen::seen(level, triangles);
        seen = seen.zip(more).map(|(seen, more)| seen.and(&more));
    }
    let mut looked = Looked::default();
    if normals & TOP_BITS != 0 {
        looked.normals = Odd::of(records, first, |record| {
            normal_carry(record) & TOP_BITS != 0
        });
    }
    if attributes != 0 {
        looked.attributes = Odd::of(records, first, |record| record[ATTRIBUTES..] != [0, 0]);
    }
    match seen {
        Some(seen) => looked.seen = seen,
        None => looked.not_finite = Some(first_odd(triangles, first)),
    }
    looked
}

#[inline(always)]
fn vertices(record: &[u8; RECORD]) -> Triangle {
    let float =
        |n: usize| f32::from_le_bytes(std::array::from_fn(|i| record[VERTICES + 4 * n + i]));
    std::array::from_fn(|vertex| std::array::from_fn(|axis| float(3 * vertex + axis)))
}

/// Top bit of each half of a 64-bit number.
const TOP_BITS: u64 = 0x8000_0000_8000_0000;

/// Returns a number in which the top bit of a half is set exactly if some coordinate of the normal is
/// infinite or NaN, that is, has all exponent bits set. Two 32-bit numbers are added at a time, and no carry
/// crosses from one half to the other.
#[inline(always)]
fn normal_carry(record: &[u8; RECORD]) -> u64 {
    let carry = |bits: u64| (bits & !TOP_BITS) + 0x0080_0000_0080_0000;
    let two = u64::from_le_bytes(std::array::from_fn(|i| record[i]));
    let last = u32::from_le_bytes(std::array::from_fn(|i| record[8 + i]));
    carry(two) | carry(last.into())
}

/// Returns whether at least nine of ten records look like triangles. Their coordinates must have a size that
/// is usual in meshes. If normals count, the normal must have length one, be zero or be NaN. Records of zeros
/// do not look like triangles. In random bytes, about one of three hundred records has such coordinates.
pub(super) fn look_like_triangles(block: &[u8], normals: Normals) -> bool {
    let records = block.as_chunks::<RECORD>().0;
    let is_usual = |c: f32| c == 0.0 || (1e-20..1e20).contains(&c.abs());
    let looks_like_one = |record: &&[u8; RECORD]| {
        let float = |n: usize| f32::from_le_bytes(std::array::from_fn(|i| record[4 * n + i]));
        let squared = (0..3).map(|n| float(n) * float(n)).sum::<f32>();
        let is_normal = normals == Normals::Ignored
            || squared.is_nan()
            || squared == 0.0
            || (0.98..1.02).contains(&squared);
        is_normal && vertices(record).as_flattened().iter().all(|c| is_usual(*c))
    };
    let alike = records.iter().filter(looks_like_one).count();
    let is_blank = records
        .iter()
        .all(|record| vertices(record) == Triangle::default());
    10 * alike >= 9 * records.len() && !is_blank
}

/// Whether normals are examined to recognize triangles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Normals {
    Count,
    Ignored,
}

/// Returns the error for the first coordinate of a block that is not finite.
fn first_odd(triangles: &[Triangle], first: u64) -> Error {
    let coordinates = triangles.as_flattened().as_flattened();
    let place = coordinates.iter().position(|c| !c.is_finite()).unwrap_or(0);
    let triangle = first + (place / 9) as u64;
    let byte = length_for(triangle) + (VERTICES + place % 9 * 4) as u64;
    not_finite(coordinates[place])
        .at_triangle(triangle)
        .at_byte(byte)
}
