//! Pairs of triangles that meet beyond their shared vertices and edges. For each kind the search keeps the
//! number of pairs, the first places and all triangles, but not the pairs themselves.

use super::shape::meeting_point;
use super::sites::{Search, Site, Sites, ascending};
use crate::contacts::ContactQueues;
use crate::pairs::{Findings, Least, Pair, TriangleMarks};
use crate::weld::Welded;
use voxelize_core::error::Result;
use voxelize_core::geom::tri_tri::Meeting;

/// Number of kinds of contacts.
const KINDS: usize = 3;

/// Finds the contacts of a mesh, by kind: pairs that cross, pairs that touch, and pairs that overlap in a
/// plane.
///
/// # Errors
/// If the work is cancelled.
pub(super) fn contacts(search: &Search, welded: &Welded) -> Result<[Sites; KINDS]> {
    let triangles = search.mesh.triangles();
    let marks: [TriangleMarks; KINDS] =
        std::array::from_fn(|_| TriangleMarks::new(triangles.len()));
    let new = || ContactCounts {
        queues: ContactQueues::new(triangles, &welded.triangles),
        found: MeetingCounts {
            welded,
            marks: &marks,
            counts: [0; KINDS],
            first: std::array::from_fn(|_| Least::new(search.most)),
        },
    };
    let examined = search
        .mesh
        .examine_contacts(welded, (search.pairs, search.progress), &new)?;
    for distinct in &examined.distinct {
        for marks in &marks {
            marks.copy(distinct);
        }
    }
    let MeetingCounts {
        counts, mut first, ..
    } = examined.found.finished();
    Ok(std::array::from_fn(|kind| Sites {
        count: counts[kind],
        places: counts[kind],
        first: sites(std::mem::replace(&mut first[kind], Least::new(0)), welded),
        triangles: marks[kind].numbers(),
        is_partial: !examined.is_all,
    }))
}

/// Sort key of a pair: the vertices of both triangles, the lesser triangle first, then the triangle numbers.
type PairPlace = ([[u32; 3]; 2], [u32; 2]);

fn sites(first: Least<PairPlace>, welded: &Welded) -> Vec<Site> {
    let mut sites = vec![];
    for (vertices, triangles) in first.into_sorted() {
        let corners = vertices.map(|key| welded.corners(&key));
        sites.push(Site::new(meeting_point(&corners), triangles));
    }
    sites
}

/// Pairs that wait for a decision, and counts of the pairs that meet.
struct ContactCounts<'a> {
    queues: ContactQueues<'a>,
    found: MeetingCounts<'a>,
}

/// Counts of pairs that meet, by kind.
struct MeetingCounts<'a> {
    welded: &'a Welded,
    marks: &'a [TriangleMarks; KINDS],
    counts: [u64; KINDS],
    first: [Least<PairPlace>; KINDS],
}

impl<'a> ContactCounts<'a> {
    /// Decides all waiting pairs and returns the counts.
    fn finished(mut self) -> MeetingCounts<'a> {
        self.queues
            .finish(|pair, meeting| self.found.add(pair, meeting));
        self.found
    }
}

impl Findings for ContactCounts<'_> {
    fn take(&mut self, pair: Pair) {
        self.queues
            .take(pair, |pair, meeting| self.found.add(pair, meeting));
    }

    fn join(&mut self, other: Self) {
        let other = other.finished();
        for kind in 0..KINDS {
            self.found.counts[kind] += other.counts[kind];
        }
        for (first, other) in self.found.first.iter_mut().zip(other.first) {
            first.join(other);
        }
    }
}

impl MeetingCounts<'_> {
    fn add(&mut self, pair: Pair, meeting: Meeting) {
        let [a, b] = pair.numbers;
        let numbers = [a.min(b), a.max(b)];
        let kind = match meeting {
            Meeting::Crossing => 0,
            Meeting::Overlap => 2,
            _ => 1,
        };
        self.counts[kind] += pair.count;
        for n in numbers {
            self.marks[kind].set(n);
        }
        // Pairs are ordered by vertices, so that the order of the triangles does not matter.
        let mut vertices = numbers.map(|n| ascending(self.welded.triangles[n as usize]));
        vertices.sort_unstable();
        self.first[kind].add((vertices, numbers));
    }
}
