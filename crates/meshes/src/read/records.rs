//! The records of a binary STL: 50 bytes a triangle, taken apart block by block.

use crate::not_finite;
use voxelize_core::error::Error;
use voxelize_core::geom::Triangle;
use voxelize_kernel::Level;
use voxelize_kernel::seen::{self, SeenTriangles};

/// The bytes before the first record.
pub(super) const HEADER: usize = 84;
/// The bytes of a record.
pub(super) const RECORD: usize = 50;
/// Where the vertices begin in a record, after the normal.
const VERTICES: usize = 12;
/// Where the attributes are, after the vertices.
const ATTRIBUTES: usize = 48;

/// Triangles that are taken out of records and looked at together, in the first-level cache.
const GROUP: usize = 256;

/// The length of a file of so many triangles, and where the next would begin.
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
    fn of(records: &[[u8; RECORD]], first: u64, is_odd: impl Fn(&[u8; RECORD]) -> bool) -> Self {
        let odd = || {
            records
                .iter()
                .enumerate()
                .filter(|(_, record)| is_odd(record))
        };
        Self {
            count: odd().count() as u64,
            first: odd().next().map(|(n, _)| first + n as u64),
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            count: self.count + other.count,
            first: self.first.or(other.first),
        }
    }
}

/// Takes the vertices out of `block` into `triangles`, the first of which is number `first`.
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

/// The top bits of two words of 32 bits.
const TOP_BITS: u64 = 0x8000_0000_8000_0000;

/// Top bits are set exactly if a coordinate of the normal has all exponent bits set: infinite or NaN. Two words of
/// 32 bits at a time, of which none carries into the next.
#[inline(always)]
fn normal_carry(record: &[u8; RECORD]) -> u64 {
    let carry = |bits: u64| (bits & !TOP_BITS) + 0x0080_0000_0080_0000;
    let two = u64::from_le_bytes(std::array::from_fn(|i| record[i]));
    let last = u32::from_le_bytes(std::array::from_fn(|i| record[8 + i]));
    carry(two) | carry(last.into())
}

/// Whether nine of ten records look like triangles: coordinates of a size that meshes have, and a normal that is one, is
/// missing or is not a number, if normals count. Records of zeros alone do not. Noise has such coordinates once in three
/// hundred records.
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

/// Whether a triangle is known by its normal, too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Normals {
    Count,
    Ignored,
}

/// The error for the first coordinate of a block that is not finite.
fn first_odd(triangles: &[Triangle], first: u64) -> Error {
    let coordinates = triangles.as_flattened().as_flattened();
    let place = coordinates.iter().position(|c| !c.is_finite()).unwrap_or(0);
    let triangle = first + (place / 9) as u64;
    let byte = length_for(triangle) + (VERTICES + place % 9 * 4) as u64;
    not_finite(coordinates[place])
        .at_triangle(triangle)
        .at_byte(byte)
}
