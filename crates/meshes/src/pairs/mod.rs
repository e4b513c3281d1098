//! Search for pairs of triangles whose bounds intersect, in one mesh or between two. If there are more pairs
//! than a limit, only the first pairs in a fixed order are examined.
//!
//! A tree of bounding boxes finds the pairs (`tree`, `search`). Pairs of triangles around a common vertex are
//! found by their directions (`stars`). The number of pairs does not depend on any order. If it exceeds the
//! limit, the search starts again with the triangles in the order of their coordinates, and stops at the
//! limit (`sweep`).

pub mod boxes;
mod key;
mod least;
mod marks;
mod ray;
pub mod search;
mod stars;
mod sweep;
pub mod tree;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use boxes::{LANES, LaneBoxes};
pub use key::{TriangleKey, pair_key};
pub use least::Least;
pub use marks::TriangleMarks;
pub use ray::{RayCount, RaySample};
use search::{NodePair, PairSearch, PairVisitor};
use stars::Star;
pub(crate) use sweep::DistinctTriangles;
use tree::PairTree;

use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::geom::Triangle;
use voxelize_core::par::{self, Progress};
use voxelize_core::text::{bytes, grouped};

/// Limit on the number of pairs of triangles to examine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PairLimit {
    /// 2^24 pairs whose bounds intersect, or 64 per triangle if that is more. Ordinary meshes have fewer than
    /// 20 per triangle.
    #[default]
    Usual,
    /// This many pairs whose bounds intersect.
    AtMost(u64),
    /// All pairs.
    All,
}

impl PairLimit {
    /// Returns the maximum number of pairs for a mesh with this many triangles.
    pub fn pairs(self, triangles: usize) -> u64 {
        match self {
            Self::Usual => (64 * triangles as u64).max(1 << 24),
            Self::AtMost(most) => most,
            Self::All => u64::MAX,
        }
    }

    /// Returns the maximum number of intersecting pairs up to which the volume shared by two meshes is
    /// searched for. It is lower than [`pairs`](Self::pairs), because an exact point takes a thousand times
    /// as long as a pair.
    pub fn places(self, triangles: usize) -> u64 {
        (self.pairs(triangles) >> 10).max(1 << 14)
    }

    /// Returns the warning that the limit of [`places`](Self::places) was exceeded.
    pub fn finding_of_places(self, triangles: usize) -> Finding {
        let most = grouped(self.places(triangles));
        let text = format!(
            "more than {most} pairs of triangles meet; volume that the meshes share was not searched for"
        );
        Finding::new(Code::W014, text).with_hint("`--max-pairs all` examines all of them")
    }

    /// Returns the warning that the limit of [`pairs`](Self::pairs) was exceeded.
    pub fn finding(self, triangles: usize) -> Finding {
        let most = grouped(self.pairs(triangles));
        let text = format!(
            "the bounding boxes of more than {most} pairs of triangles overlap; only the first {most} pairs were examined, so \
             counts are lower bounds"
        );
        Finding::new(Code::W014, text).with_hint("`--max-pairs all` examines all of them")
    }
}

/// Lists from which the two triangles of a pair are taken.
#[derive(Debug, Clone, Copy)]
pub enum PairsOf<'a> {
    /// Both triangles are from one list. The second slice has the vertex numbers of each triangle, in the
    /// order of the coordinates.
    One(&'a [Triangle], &'a [[u32; 3]]),
    /// One triangle is from each of two lists.
    Two([&'a PairTree<'a>; 2]),
}

impl<'a> PairsOf<'a> {
    fn lists(&self) -> Vec<&'a [Triangle]> {
        match self {
            Self::One(triangles, _) => vec![triangles],
            Self::Two(trees) => trees.iter().map(|tree| tree.triangles).collect(),
        }
    }
}

/// Two triangles whose bounds intersect.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// Numbers of the two triangles. If there are copies with the same vertices, the least number.
    pub numbers: [u32; 2],
    /// Number of pairs with the same vertices as this pair.
    pub count: u64,
}

/// Collector that examines pairs and keeps its findings.
pub trait Findings: Send {
    /// Examines a pair.
    fn take(&mut self, pair: Pair);

    /// Adds the findings of another thread's collector.
    fn join(&mut self, other: Self);
}

/// Options of an examination of pairs.
pub struct Exam<'a, A> {
    /// Name of the phase in progress reports.
    pub phase: &'a str,
    /// Receives progress and may cancel the examination.
    pub progress: &'a dyn Progress,
    /// Limit on the number of pairs to examine.
    pub limit: PairLimit,
    /// Maximum memory to use in addition to existing trees, in bytes.
    pub max_bytes: Option<u64>,
    /// Creates an empty collector.
    pub new: &'a (dyn Fn() -> A + Sync),
}

/// Result of an examination of pairs.
pub struct Examined<A> {
    /// Findings of all threads.
    pub found: A,
    /// All pairs were examined.
    pub is_all: bool,
    /// Triangles of each list, grouped by their vertices, if only one triangle of each group was examined.
    /// Otherwise empty.
    pub(crate) distinct: Vec<DistinctTriangles>,
}

/// Number of pairs between two checks for cancellation.
const CHECKED: u64 = 1 << 12;

/// Examines all pairs whose bounds intersect and that may have a common point beyond a shared vertex or edge.
/// Triangles for which `is_left_out` returns true are left out. If there are more pairs than the limit, only
/// the first pairs are examined.
///
/// # Errors
/// If the work was cancelled.
pub fn examine<A: Findings>(
    pairs: &PairsOf,
    is_left_out: &(impl Fn(&Triangle) -> bool + Sync),
    exam: &Exam<A>,
) -> Result<Examined<A>> {
    let most = exam
        .limit
        .pairs(pairs.lists().iter().map(|list| list.len()).sum());
    let budget = PairBudget {
        most,
        examined: AtomicU64::new(0),
        is_spent: AtomicBool::new(false),
    };
    let found = match pairs {
        PairsOf::One(triangles, vertices) => {
            within((triangles, vertices), is_left_out, &budget, exam)
        }
        PairsOf::Two(trees) => by_tree(&PairSearch::two(*trees), &|n| n, &budget, exam),
    };
    if budget.is_spent.load(Ordering::Relaxed) {
        drop(found);
        let count: usize = pairs.lists().iter().map(|list| list.len()).sum();
        refuse_more(count as u64 * sweep::BYTES, exam.max_bytes)?;
        return sweep::sweep(pairs, is_left_out, most, exam);
    }
    Ok(Examined {
        found: found?,
        is_all: true,
        distinct: vec![],
    })
}

/// Checks that `need` bytes of memory do not exceed `left`. `None` is no limit.
///
/// # Errors
/// If the work needs more memory than `left`.
pub fn refuse_more(need: u64, left: Option<u64>) -> Result<()> {
    let Some(left) = left.filter(|left| need > *left) else {
        return Ok(());
    };
    let need = bytes(need);
    let left = bytes(left);
    let error = Error::too_large(format!(
        "the comparison needs {need} more, {left} are left for it"
    ));
    Err(error.with_hint(["raise `--max-memory`", "or compare fewer meshes at a time"]))
}

/// Maximum number of pairs to examine, and the number of pairs examined so far.
struct PairBudget {
    most: u64,
    examined: AtomicU64,
    is_spent: AtomicBool,
}

impl PairBudget {
    fn spend(&self, pairs: u64) -> Result<()> {
        let before = self.examined.fetch_add(pairs, Ordering::Relaxed);
        if before.saturating_add(pairs) > self.most {
            self.is_spent.store(true, Ordering::Relaxed);
            return Err(Error::too_large(
                "more pairs of triangles than are examined",
            ));
        }
        Ok(())
    }
}

/// Examines the pairs of one list: pairs within a star by their directions, all other pairs by their boxes.
fn within<A: Findings>(
    (triangles, vertices): (&[Triangle], &[[u32; 3]]),
    is_left_out: &(impl Fn(&Triangle) -> bool + Sync),
    budget: &PairBudget,
    exam: &Exam<A>,
) -> Result<A> {
    let stars = stars::stars(triangles, vertices, is_left_out);
    let members: Vec<_> = stars.iter().map(|star| star.members.as_slice()).collect();
    let mut free = others(triangles.len(), &members);
    free.retain(|n| !is_left_out(&triangles[*n as usize]));
    let tree = PairTree::with_stars(triangles, &free, &members);
    drop(free);
    let mut found = by_tree(&PairSearch::one(&tree), &|n| n, budget, exam)?;
    drop(tree);
    for star in &stars {
        found.join(of_star(triangles, star, budget, exam)?);
    }
    Ok(found)
}

/// Returns the numbers below `count` that are not in any of these lists.
fn others(count: usize, lists: &[&[u32]]) -> Vec<u32> {
    let mut is_other = vec![true; count];
    for list in lists {
        for n in *list {
            is_other[*n as usize] = false;
        }
    }
    (0..count as u32)
        .filter(|n| is_other[*n as usize])
        .collect()
}

/// Examines the pairs within a star.
fn of_star<A: Findings>(
    triangles: &[Triangle],
    star: &Star,
    budget: &PairBudget,
    exam: &Exam<A>,
) -> Result<A> {
    exam.progress.check()?;
    let edges = star.edges(triangles);
    let arcs = star.arcs(triangles);
    let members: Vec<_> = edges.iter().map(|(_, places)| places.as_slice()).collect();
    let tree = PairTree::with_stars(&arcs, &others(arcs.len(), &members), &members);
    let mut found = by_tree(
        &PairSearch::one(&tree),
        &|n| star.members[n as usize],
        budget,
        exam,
    )?;
    drop(tree);
    for (end, places) in &edges {
        let directions = star.directions(triangles, end, places);
        let tree = PairTree::new(&directions);
        let number = |n: u32| star.members[places[n as usize] as usize];
        found.join(by_tree(&PairSearch::one(&tree), &number, budget, exam)?);
    }
    Ok(found)
}

/// Examines the pairs of boxes that intersect. `number` maps the number of a box to the number of its
/// triangle.
fn by_tree<A: Findings>(
    search: &PairSearch,
    number: &(dyn Fn(u32) -> u32 + Sync),
    budget: &PairBudget,
    exam: &Exam<A>,
) -> Result<A> {
    let visitor = || BoxPairs {
        found: (exam.new)(),
        number,
        budget,
        exam,
        pairs: 0,
        steps: 0,
    };
    let tasks = search.tasks(&visitor());
    exam.progress.begin(exam.phase, tasks.len() as u64);
    let found = par::share(&tasks, |next| {
        let mut visitor = visitor();
        for task in next {
            search.visit(*task, &mut visitor)?;
            visitor.look()?;
            exam.progress.advance(1);
        }
        Ok(visitor.found)
    });
    joined(found, exam)
}

/// Joins the findings of all threads.
fn joined<A: Findings>(found: Vec<Result<A>>, exam: &Exam<A>) -> Result<A> {
    let mut all = (exam.new)();
    for found in found {
        all.join(found?);
    }
    Ok(all)
}

/// Visitor of pairs of boxes that intersect.
struct BoxPairs<'a, A> {
    found: A,
    number: &'a (dyn Fn(u32) -> u32 + Sync),
    budget: &'a PairBudget,
    exam: &'a Exam<'a, A>,
    /// Number of pairs since the last check.
    pairs: u64,
    /// Number of visited pairs of leaves since the last check.
    steps: u64,
}

impl<A> BoxPairs<'_, A> {
    /// Checks the budget, and whether the work was cancelled.
    fn look(&mut self) -> Result<()> {
        self.budget.spend(self.pairs)?;
        self.pairs = 0;
        self.steps = 0;
        self.exam.progress.check()
    }
}

impl<A: Findings> PairVisitor for BoxPairs<'_, A> {
    const SORTED: bool = false;

    fn near(&self, boxes: &LaneBoxes, bounds: &[[f32; 3]; 2], _: &mut [f64; LANES]) -> u32 {
        boxes::meeting(boxes, bounds)
    }

    fn is_near(&self, _: f64) -> bool {
        true
    }

    fn enters(&self, _: f64, _: NodePair) -> bool {
        true
    }

    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.pairs + self.steps > CHECKED {
            self.look()
        } else {
            Ok(())
        }
    }

    fn take(&mut self, [a, b]: [u32; 2]) {
        self.pairs += 1;
        self.found.take(Pair {
            numbers: [(self.number)(a), (self.number)(b)],
            count: 1,
        });
    }
}
