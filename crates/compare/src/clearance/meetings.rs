//! Pairs of triangles of two meshes that meet: their number, the first pairs, and the triangles that meet the
//! other mesh.

use super::{ClearanceBody, ClearanceOptions, MeetingPair, in_files, pair_of};
use voxelize_core::error::Result;
use voxelize_core::geom::fractions::{ExactPoint, rounded};
use voxelize_core::geom::separation;
use voxelize_core::geom::tri_tri::{self, Meeting};
use voxelize_meshes::pairs::{
    self, Exam, Findings, Least, Pair, PairsOf, TriangleKey, TriangleMarks, pair_key,
};

/// Minimum number of pairs that are kept. The planes of their triangles may show that the meshes do not
/// overlap.
pub(super) const PLANES: usize = 4;

/// Pairs of triangles that meet.
pub(super) struct Meetings {
    pub count: u64,
    /// Some pair of triangles pass through each other.
    pub crosses: bool,
    /// The first pairs. Crossings come first, then pairs are sorted by the coordinates of their triangles.
    pub first: Vec<MeetingPlace>,
    /// Marks on the triangles of each mesh that meet the other mesh. They are incomplete if triangles cross.
    /// Of several triangles with the same vertices, only one has to be marked.
    pub marks: [TriangleMarks; 2],
    /// All pairs whose boxes meet were examined.
    pub is_all: bool,
}

/// Two triangles that meet. Its order is the order of the list: crossings come first. Then the vertices of
/// the triangles decide, with the lesser triangle of each pair first, then the mesh that the lesser triangle
/// belongs to, then the triangle indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MeetingPlace {
    is_no_crossing: bool,
    vertices: [TriangleKey; 2],
    /// The triangle of the first mesh is the greater one. This distinguishes two pairs with the same vertices
    /// in meshes that contain copies of both triangles.
    is_exchanged: bool,
    pub triangles: [u32; 2],
    meeting: Meeting,
}

impl MeetingPlace {
    /// Returns the pair with the ends of the triangles' intersection.
    pub(super) fn measured(&self, pair: [&ClearanceBody; 2]) -> MeetingPair {
        let [s, t] = pair_of(pair, self.triangles);
        let corners = separation::common(s, t);
        let end = |corner: Option<&ExactPoint>| corner.map_or([0.0; 3], rounded);
        let ends = [end(corners.first()), end(corners.last())];
        MeetingPair {
            triangles: in_files(pair, self.triangles),
            meeting: self.meeting,
            ends,
        }
    }
}

/// Finds all pairs of triangles that meet.
///
/// # Errors
/// Fails if the work was cancelled.
pub(super) fn meetings(pair: [&ClearanceBody; 2], options: &ClearanceOptions) -> Result<Meetings> {
    let ClearanceOptions {
        pairs: limit,
        max_bytes,
        progress,
        ..
    } = *options;
    let places = options.places.max(PLANES);
    let marks = pair.map(|body| TriangleMarks::new(body.mesh.triangles().len()));
    let new = || MeetingCount {
        pair,
        marks: &marks,
        count: 0,
        crosses: false,
        first: Least::new(places),
    };
    let exam = Exam {
        phase: "collisions",
        progress,
        limit,
        max_bytes,
        new: &new,
    };
    let trees = pair.map(|body| &body.tree);
    let examined = pairs::examine(&PairsOf::Two(trees), &|_| false, &exam)?;
    let is_all = examined.is_all;
    let MeetingCount {
        count,
        crosses,
        first,
        ..
    } = examined.found;
    Ok(Meetings {
        count,
        crosses,
        first: first.into_sorted(),
        marks,
        is_all,
    })
}

struct MeetingCount<'a> {
    pair: [&'a ClearanceBody<'a>; 2],
    marks: &'a [TriangleMarks; 2],
    count: u64,
    crosses: bool,
    first: Least<MeetingPlace>,
}

impl Findings for MeetingCount<'_> {
    fn take(&mut self, pair: Pair) {
        let [s, t] = pair_of(self.pair, pair.numbers);
        let meeting = tri_tri::meeting(s, t);
        if meeting == Meeting::Apart {
            return;
        }
        self.count += pair.count;
        self.crosses |= meeting == Meeting::Crossing;
        if !self.crosses {
            for (marks, n) in self.marks.iter().zip(pair.numbers) {
                marks.set(n);
            }
        }
        self.first.add(MeetingPlace {
            is_no_crossing: meeting != Meeting::Crossing,
            vertices: pair_key([s, t]),
            is_exchanged: TriangleKey::of(t) < TriangleKey::of(s),
            triangles: pair.numbers,
            meeting,
        });
    }

    fn join(&mut self, other: Self) {
        self.count += other.count;
        self.crosses |= other.crosses;
        self.first.join(other.first);
    }
}
