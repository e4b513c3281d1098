//! Pairs of triangles that meet beyond what they share: their number, the first of their places, and all of their
//! triangles, without keeping the pairs.

use super::shape::meeting_point;
use super::sites::{Search, Site, Sites, ascending};
use crate::contacts::ContactQueues;
use crate::pairs::{Findings, Least, Pair, TriangleMarks};
use crate::weld::Welded;
use voxelize_core::error::Result;
use voxelize_core::geom::tri_tri::Meeting;

/// How many kinds of contacts there are.
const KINDS: usize = 3;

/// Finds the contacts of a mesh: pairs that cross, that touch, and that overlap in one plane.
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
    examined
        .distinct
        .iter()
        .for_each(|distinct| marks.iter().for_each(|marks| marks.copy(distinct)));
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

/// A pair by its vertices, the lesser triangle first, then by its numbers.
type PairPlace = ([[u32; 3]; 2], [u32; 2]);

fn sites(first: Least<PairPlace>, welded: &Welded) -> Vec<Site> {
    let site = |(vertices, numbers): PairPlace| {
        Site::new(
            meeting_point(&vertices.map(|key| welded.corners(&key))),
            numbers,
        )
    };
    first.into_sorted().into_iter().map(site).collect()
}

/// Some pairs, and the counts of those that are decided.
struct ContactCounts<'a> {
    queues: ContactQueues<'a>,
    found: MeetingCounts<'a>,
}

/// The counts of some pairs that meet, by kind.
struct MeetingCounts<'a> {
    welded: &'a Welded,
    marks: &'a [TriangleMarks; KINDS],
    counts: [u64; KINDS],
    first: [Least<PairPlace>; KINDS],
}

impl<'a> ContactCounts<'a> {
    /// The counts of all pairs that were taken.
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
        (0..KINDS).for_each(|kind| self.found.counts[kind] += other.counts[kind]);
        self.found
            .first
            .iter_mut()
            .zip(other.first)
            .for_each(|(first, other)| first.join(other));
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
        numbers.iter().for_each(|n| self.marks[kind].set(*n));
        // In the order of the vertices, so that the order of the triangles does not matter.
        let mut vertices = numbers.map(|n| ascending(self.welded.triangles[n as usize]));
        vertices.sort_unstable();
        self.first[kind].add((vertices, numbers));
    }
}
