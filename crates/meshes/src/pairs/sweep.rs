//! Limited search: if there are more pairs than the limit allows, examines the first of them. The order of
//! pairs depends neither on the order of the triangles nor on the order of the two meshes.
//!
//! Triangles with the same vertices are merged and then visited in the order of their coordinates. A pair is
//! examined when its later triangle is visited. All pairs of a triangle with earlier triangles are examined,
//! or the search stops before this triangle.

use super::boxes::meeting;
use super::key::TriangleKey;
use super::tree::{BinNode, PairTree};
use super::{CHECKED, Exam, Examined, Findings, Pair, PairsOf, joined};
use voxelize_core::error::Result;
use voxelize_core::geom::{Bounds, Triangle};
use voxelize_core::par::{self, Progress};

/// Memory per triangle in bytes.
pub(super) const BYTES: u64 = 240;

/// Number of triangles in a block. The pairs of a block are counted first, then examined.
const BLOCK: usize = 1 << 10;

/// Triangles of one mesh with distinct sets of vertices, in the order of their coordinates.
#[derive(Debug)]
pub(crate) struct DistinctTriangles {
    keys: Vec<TriangleKey>,
    triangles: Vec<Triangle>,
    /// Numbers of all triangles. Copies are next to each other, the one with the least number first.
    numbers: Vec<u32>,
    /// Index in `numbers` of the first copy of each distinct triangle, followed by the length of `numbers`.
    starts: Vec<u32>,
}

impl DistinctTriangles {
    fn of(triangles: &[Triangle], is_left_out: &impl Fn(&Triangle) -> bool) -> Self {
        let mut keyed = vec![];
        for (n, triangle) in (0_u32..).zip(triangles) {
            if !is_left_out(triangle) {
                keyed.push((TriangleKey::of(triangle), n));
            }
        }
        keyed.sort_unstable();
        let mut distinct = Self {
            keys: vec![],
            triangles: vec![],
            numbers: vec![],
            starts: vec![],
        };
        for copies in keyed.chunk_by(|a, b| a.0 == b.0) {
            distinct.starts.push(distinct.numbers.len() as u32);
            distinct.keys.push(copies[0].0);
            distinct.triangles.push(triangles[copies[0].1 as usize]);
            distinct.numbers.extend(copies.iter().map(|(_, n)| *n));
        }
        distinct.starts.push(distinct.numbers.len() as u32);
        distinct
    }

    /// Returns the numbers of all copies of distinct triangle `n`, the least number first.
    fn copies(&self, n: usize) -> &[u32] {
        &self.numbers[self.starts[n] as usize..self.starts[n + 1] as usize]
    }

    /// Returns the numbers of all copies of each distinct triangle.
    pub(crate) fn all_copies(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.starts.len() - 1).map(|n| self.copies(n))
    }
}

/// Examines pairs in a fixed order until the number of pairs with intersecting bounds would exceed `most`.
///
/// # Errors
/// If the work was cancelled.
pub(super) fn sweep<A: Findings>(
    pairs: &PairsOf,
    is_left_out: &impl Fn(&Triangle) -> bool,
    most: u64,
    exam: &Exam<A>,
) -> Result<Examined<A>> {
    let mut lists: Vec<_> = pairs
        .lists()
        .iter()
        .map(|list| DistinctTriangles::of(list, is_left_out))
        .collect();
    exam.progress.check()?;
    let places = places(&lists);
    for list in &mut lists {
        list.keys = vec![];
    }
    let trees: Vec<_> = lists
        .iter()
        .map(|list| PairTree::new(&list.triangles))
        .collect();
    let sweep = Sweep {
        lists: &lists,
        trees: &trees,
    };
    let mut found = (exam.new)();
    let mut left = most;
    exam.progress.begin(exam.phase, places.len() as u64);
    let mut is_all = true;
    for block in places.chunks(BLOCK) {
        let end = sweep.within(block, &mut left, exam.progress)?;
        found.join(sweep.examine(&block[..end], exam)?);
        is_all = end == block.len();
        if !is_all {
            break;
        }
    }
    drop(trees);
    Ok(Examined {
        found,
        is_all,
        distinct: lists,
    })
}

/// Distinct triangle in the common order of the lists: its index in each list that has it, and the number of
/// earlier triangles in each list.
#[derive(Debug, Clone, Copy)]
struct SweepPlace {
    own: [Option<u32>; 2],
    before: [u32; 2],
}

/// Returns the triangles of one or two lists in the order of their coordinates.
fn places(lists: &[DistinctTriangles]) -> Vec<SweepPlace> {
    let mut before = [0; 2];
    let mut places = vec![];
    loop {
        let next: [Option<&TriangleKey>; 2] = std::array::from_fn(|n| {
            lists
                .get(n)
                .and_then(|list| list.keys.get(before[n] as usize))
        });
        let Some(least) = next.into_iter().flatten().min() else {
            return places;
        };
        let own = [0, 1].map(|n| (next[n] == Some(least)).then_some(before[n]));
        places.push(SweepPlace { own, before });
        for n in 0..2 {
            before[n] += u32::from(own[n].is_some());
        }
    }
}

struct Sweep<'a> {
    lists: &'a [DistinctTriangles],
    trees: &'a [PairTree<'a>],
}

impl Sweep<'_> {
    /// Calls `take` with each pair of this triangle and an earlier triangle whose bounds intersect. Triangles
    /// are given by their indices among the distinct triangles.
    fn earlier(&self, place: &SweepPlace, take: &mut impl FnMut([u32; 2])) {
        let is_one = self.lists.len() == 1;
        for (side, own) in place.own.iter().enumerate() {
            let Some(own) = *own else { continue };
            let other = if is_one { 0 } else { 1 - side };
            let triangle = &self.lists[side].triangles[own as usize];
            visit_earlier(
                &self.trees[other],
                triangle,
                place.before[other],
                &mut |n| {
                    take(if side == 0 { [own, n] } else { [n, own] });
                },
            );
        }
        if let [Some(a), Some(b)] = place.own {
            take([a, b]);
        }
    }

    /// Counts pairs, and returns the number of leading triangles whose pairs do not exceed `left`. Reduces
    /// `left` by the number of these pairs.
    fn within(
        &self,
        places: &[SweepPlace],
        left: &mut u64,
        progress: &dyn Progress,
    ) -> Result<usize> {
        let counts = par::map_range(0..places.len(), |n| {
            progress.check()?;
            let mut count = 0;
            self.earlier(&places[n], &mut |_| count += 1);
            Ok(count)
        });
        for (n, count) in counts.into_iter().enumerate() {
            match left.checked_sub(count?) {
                Some(rest) => *left = rest,
                None => return Ok(n),
            }
        }
        Ok(places.len())
    }

    /// Examines the pairs of these triangles with earlier triangles.
    fn examine<A: Findings>(&self, places: &[SweepPlace], exam: &Exam<A>) -> Result<A> {
        let found = par::share(places, |next| {
            let mut found = (exam.new)();
            for place in next {
                let mut seen = 0;
                let mut go_on = exam.progress.check();
                self.earlier(place, &mut |pair| {
                    seen += 1;
                    if seen % CHECKED == 0 {
                        go_on = exam.progress.check();
                    }
                    if go_on.is_ok() {
                        found.take(self.pair(pair));
                    }
                });
                go_on?;
                exam.progress.advance(1);
            }
            Ok(found)
        });
        joined(found, exam)
    }

    /// Returns the pair of two triangles that are given by their indices among the distinct triangles.
    fn pair(&self, distinct: [u32; 2]) -> Pair {
        let other = self.lists.get(1).unwrap_or(&self.lists[0]);
        let first = self.lists[0].copies(distinct[0] as usize);
        let second = other.copies(distinct[1] as usize);
        Pair {
            numbers: [first[0], second[0]],
            count: first.len() as u64 * second.len() as u64,
        }
    }
}

/// Calls `take` with each triangle before index `end` whose bounds intersect those of `triangle`. `triangle`
/// must not precede any of these triangles.
fn visit_earlier(tree: &PairTree, triangle: &Triangle, end: u32, take: &mut impl FnMut(u32)) {
    let Bounds { min, max } = Bounds::of(std::slice::from_ref(triangle));
    // The least x of an earlier triangle is at most the least x of this triangle.
    let enters = |node: &BinNode| node.bounds[0][0] <= min[0];
    tree.visit(&enters, &|boxes| meeting(boxes, &[min, max]), &mut |n| {
        if n < end {
            take(n);
        }
    });
}
