//! Pairs of triangles whose bounds meet, found by a lattice: of one list, or one of each of two.
//!
//! Cells, on each axis of about twice the size of a triangle, hold the triangles whose bounds are in them; large ones
//! are only in the cells that they touch. BinLayers of cells are shared out among threads, which sort the triangles of
//! their layers by cell and compare those within each. Small triangles that share several cells are compared in
//! the first of them; large ones may be compared several times, so answers are sorted, and each is kept once.

use crate::error::{Error, Result};
use crate::geom::solid_angle::{cross, dot, minus};
use crate::geom::{Bounds, Triangle};
use crate::par::{self, Progress};

/// Where the pairs are looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PairsOf<'a> {
    /// One list: both numbers count in it, the lesser first.
    One(&'a [Triangle]),
    /// Two lists: the first number counts in the first, the second in the second.
    Two([&'a [Triangle]; 2]),
}

/// Entries for each triangle, at most, before cells are made larger.
const MOST_ENTRIES: u64 = 8;

/// A triangle in more cells than this is large.
const LARGE: u64 = 64;

/// Cells along an axis, at most.
const MOST_CELLS: f64 = (1 << 20) as f64;

/// Triangles that a thread takes at a time.
const CHUNK: usize = 1 << 15;

/// Parts of the layers for each thread, so that uneven ones balance.
const PARTS_PER_THREAD: usize = 8;

/// Pairs between two looks at whether to go on.
const CHECKED: u64 = 1 << 16;

/// The most answers that are kept: 2^27.
const MOST_FOUND: usize = 1 << 27;

/// Calls `meet` with the numbers of all pairs whose bounds meet, some of them more than once, and gives its answers
/// with these numbers, sorted, each once. `is_left_out` says which triangles are not compared.
///
/// # Errors
/// If there are more than 2^27 answers or 2^31 triangles, or the work was cancelled.
pub(crate) fn overlaps<R: Send + Ord + Copy>(
    pairs: PairsOf,
    progress: &dyn Progress,
    is_left_out: impl Fn(&Triangle) -> bool + Sync,
    meet: impl Fn(&Triangle, &Triangle) -> Option<R> + Sync,
) -> Result<Vec<([u32; 2], R)>> {
    let lists = Lists::new(pairs)?;
    let Some(bins) = Bins::new(&lists) else { return Ok(vec![]) };
    let parts = bins.parts();
    let members = bins.members(&lists, &parts, &is_left_out);
    progress.begin("contacts", parts.len() as u64);
    let found = par::map_range(0..parts.len(), |n| {
        progress.check()?;
        let own: Vec<u32> = members.iter().flat_map(|chunk| &chunk[n]).copied().collect();
        let found = BinLayers::new(&bins, &lists, &parts[n], &own).compare(&lists, progress, &meet)?;
        progress.advance(1);
        Ok(found)
    });
    let mut all = vec![];
    for part in found {
        all.extend(part?);
        refuse_more(all.len())?;
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn refuse_more(found: usize) -> Result<()> {
    if found > MOST_FOUND {
        let error = Error::too_large("more than 134 million pairs of triangles meet");
        return Err(error.with_hint("are whole parts there twice?"));
    }
    Ok(())
}

/// The triangles of one list or of two, one after the other.
struct Lists<'a> {
    first: &'a [Triangle],
    second: &'a [Triangle],
    /// The box that holds all pairs.
    bounds: Bounds,
    /// Whether pairs are of one triangle of each list.
    is_two: bool,
}

impl<'a> Lists<'a> {
    fn new(pairs: PairsOf<'a>) -> Result<Self> {
        let (first, second, is_two): (_, &[Triangle], _) = match pairs {
            PairsOf::One(first) => (first, &[], false),
            PairsOf::Two([first, second]) => (first, second, true),
        };
        if first.len() + second.len() > 1 << 31 {
            return Err(Error::too_large("more than 2^31 triangles are too many to compare"));
        }
        let bounds = if is_two {
            let [a, b] = [of(first), of(second)];
            Bounds {
                min: std::array::from_fn(|i| a.min[i].max(b.min[i])),
                max: std::array::from_fn(|i| a.max[i].min(b.max[i])),
            }
        } else {
            of(first)
        };
        Ok(Self { first, second, bounds, is_two })
    }

    fn len(&self) -> usize {
        self.first.len() + self.second.len()
    }

    fn get(&self, n: u32) -> &'a Triangle {
        let n = n as usize;
        if n < self.first.len() { &self.first[n] } else { &self.second[n - self.first.len()] }
    }

    /// The numbers from chunk `n` on that are compared at all.
    fn chunk(&self, n: usize) -> impl Iterator<Item = (u32, &'a Triangle)> {
        let range = n * CHUNK..self.len().min((n + 1) * CHUNK);
        range.map(|n| (n as u32, self.get(n as u32)))
    }

    fn chunks(&self) -> usize {
        self.len().div_ceil(CHUNK)
    }
}

/// The bounds of triangles.
fn of(triangles: &[Triangle]) -> Bounds {
    let chunks = triangles.chunks(CHUNK).collect();
    par::map(chunks, Bounds::of).iter().fold(Bounds::EMPTY, |all, one| all.union(one))
}

fn do_meet(a: &Bounds, b: &Bounds) -> bool {
    (0..3).all(|i| a.min[i] <= b.max[i]) && (0..3).all(|i| b.min[i] <= a.max[i])
}

/// The bounds of one triangle.
#[inline]
fn bounds_of([a, b, c]: &Triangle) -> Bounds {
    Bounds {
        min: std::array::from_fn(|i| a[i].min(b[i]).min(c[i])),
        max: std::array::from_fn(|i| a[i].max(b[i]).max(c[i])),
    }
}

/// The first and the last cell of a box, `[x, y, z]`.
type CellRange = [[u32; 3]; 2];

/// How many cells that is.
fn cells_in([low, high]: &CellRange) -> u64 {
    (0..3).map(|a| u64::from(high[a] - low[a] + 1)).product()
}

/// Cells over the bounds.
struct Bins {
    bounds: Bounds,
    low: [f64; 3],
    /// Cells to a unit of length.
    scale: [f64; 3],
    dims: [u32; 3],
    /// The axis whose layers are shared out: that with the most.
    axis: usize,
}

impl Bins {
    /// Cells that are on each axis twice as long as triangles in the mean; `None` if no two can meet.
    fn new(lists: &Lists) -> Option<Self> {
        if lists.bounds.is_empty() || (0..3).any(|a| lists.bounds.min[a] > lists.bounds.max[a]) {
            return None;
        }
        let sizes = par::map_range(0..lists.chunks(), |n| {
            let near = lists.chunk(n).map(|(_, t)| bounds_of(t)).filter(|own| do_meet(own, &lists.bounds));
            near.fold(([0.0; 3], 0_u64), |(sums, count), own| {
                (std::array::from_fn(|a| sums[a] + extent(&own, a)), count + 1)
            })
        });
        let count = sizes.iter().map(|(_, count)| count).sum::<u64>();
        let least = (0..3).map(|a| extent(&lists.bounds, a)).fold(0.0, f64::max) / MOST_CELLS;
        let mut sides: [f64; 3] = std::array::from_fn(|a| {
            let sum = sizes.iter().map(|(sums, _)| sums[a]).sum::<f64>();
            (2.0 * sum / count.max(1) as f64).max(least)
        });
        if least <= 0.0 {
            sides = [1.0; 3];
        }
        loop {
            let bins = Self::of_sides(lists.bounds, sides);
            // Of a large triangle about the cells of its box's faces count.
            let entries = par::map_range(0..lists.chunks(), |n| {
                let near =
                    lists.chunk(n).map(|(_, t)| bounds_of(t)).filter(|own| do_meet(own, &lists.bounds));
                near.map(|own| bins.about(&own)).sum::<u64>()
            });
            if entries.iter().sum::<u64>() <= (MOST_ENTRIES * count).max(1 << 10) {
                return Some(bins);
            }
            sides = sides.map(|side| 1.5 * side);
        }
    }

    fn of_sides(bounds: Bounds, sides: [f64; 3]) -> Self {
        let (low, scale) = (bounds.min.map(f64::from), sides.map(|side| 1.0 / side));
        let mut bins = Self { bounds, low, scale, dims: [1; 3], axis: 0 };
        bins.dims = std::array::from_fn(|a| bins.cell(a, bounds.max[a]) + 1);
        bins.axis = (0..3).max_by_key(|a| bins.dims[*a]).unwrap_or(0);
        bins
    }

    /// The cell of a coordinate; those outside belong to the outermost.
    fn cell(&self, axis: usize, coordinate: f32) -> u32 {
        let clamped = coordinate.clamp(self.bounds.min[axis], self.bounds.max[axis]);
        ((f64::from(clamped) - self.low[axis]) * self.scale[axis]) as u32
    }

    fn range(&self, own: &Bounds) -> CellRange {
        [own.min, own.max].map(|corner| std::array::from_fn(|a| self.cell(a, corner[a])))
    }

    fn about(&self, own: &Bounds) -> u64 {
        let range = self.range(own);
        let cells = cells_in(&range);
        if cells <= LARGE {
            return cells;
        }
        let least = (0..3).map(|a| u64::from(range[1][a] - range[0][a] + 1)).min().unwrap_or(1);
        (2 * cells / least).min(cells)
    }

    /// Ranges of layers that are compared apart.
    fn parts(&self) -> Vec<std::ops::Range<u32>> {
        let layers = self.dims[self.axis];
        let parts = (PARTS_PER_THREAD * par::current_threads()).min(layers as usize) as u32;
        (0..parts).map(|n| share(layers, n, parts)..share(layers, n + 1, parts)).collect()
    }

    /// For each chunk and part the triangles with a cell in its layers.
    fn members(
        &self,
        lists: &Lists,
        parts: &[std::ops::Range<u32>],
        is_left_out: &(impl Fn(&Triangle) -> bool + Sync),
    ) -> Vec<Vec<Vec<u32>>> {
        let part_of: Vec<u32> = (0..).zip(parts).flat_map(|(n, part)| part.clone().map(move |_| n)).collect();
        par::map_range(0..lists.chunks(), |chunk| {
            let mut members = vec![vec![]; parts.len()];
            for (n, triangle) in lists.chunk(chunk) {
                let own = bounds_of(triangle);
                if !do_meet(&own, &self.bounds) || is_left_out(triangle) {
                    continue;
                }
                let [first, last] = [own.min, own.max].map(|corner| self.cell(self.axis, corner[self.axis]));
                (part_of[first as usize]..=part_of[last as usize])
                    .for_each(|part| members[part as usize].push(n));
            }
            members
        })
    }
}

/// The `n`th of the places that share out `layers` evenly.
fn share(layers: u32, n: u32, parts: u32) -> u32 {
    (u64::from(layers) * u64::from(n) / u64::from(parts)) as u32
}

fn extent(bounds: &Bounds, axis: usize) -> f64 {
    f64::from(bounds.max[axis]) - f64::from(bounds.min[axis])
}

/// A triangle in a cell.
#[derive(Debug, Clone, Copy, Default)]
struct BinEntry {
    /// Its place among the triangles of these layers.
    member: u32,
    /// Bit by axis, whether this is the first cell of its range along it; all of them for a large one.
    first: u8,
}

/// Some layers of cells with their triangles.
struct BinLayers<'a> {
    numbers: &'a [u32],
    bounds: Vec<Bounds>,
    entries: Vec<BinEntry>,
    /// Where each bucket of cells begins, and at last their end.
    starts: Vec<u32>,
}

impl<'a> BinLayers<'a> {
    /// The triangles of these numbers, by cell. Cells are buckets of a table; several may share one if
    /// they are many more than triangles.
    fn new(bins: &Bins, lists: &Lists, layers: &std::ops::Range<u32>, numbers: &'a [u32]) -> Self {
        let mut low = [0; 3];
        let mut dims = bins.dims;
        (low[bins.axis], dims[bins.axis]) = (layers.start, layers.end - layers.start);
        let most = (4 * numbers.len()).next_power_of_two() as u64;
        let buckets = (0..3).map(|a| u64::from(dims[a])).product::<u64>().min(most) as usize;
        let bucket = |cell: [u32; 3]| {
            let [x, y, z] = [0, 1, 2].map(|a| u64::from(cell[a] - low[a]));
            let n = (z * u64::from(dims[1]) + y) * u64::from(dims[0]) + x;
            // Most tables have a bucket for each cell.
            if n < buckets as u64 { n as usize } else { (n & (most - 1)) as usize }
        };
        let bounds: Vec<Bounds> = numbers.iter().map(|n| bounds_of(lists.get(*n))).collect();
        let ranges: Vec<(CellRange, bool)> = bounds
            .iter()
            .map(|own| {
                let range = bins.range(own);
                let is_large = cells_in(&range) > LARGE;
                let mut clipped = range;
                clipped[0][bins.axis] = range[0][bins.axis].max(layers.start);
                clipped[1][bins.axis] = range[1][bins.axis].min(layers.end - 1);
                (clipped, is_large)
            })
            .collect();
        let mut starts = vec![0_u32; buckets + 2];
        let each = |place: &mut dyn FnMut(usize, BinEntry)| {
            for (member, (range, is_large)) in (0..).zip(&ranges) {
                let triangle = lists.get(numbers[member as usize]);
                if *is_large {
                    touched(bins, triangle, range, &mut |cell| {
                        place(bucket(cell), BinEntry { member, first: 7 })
                    });
                    continue;
                }
                // The first cell along the axis may be in the layers before.
                let begins = bins.cell(bins.axis, bounds[member as usize].min[bins.axis]);
                let [from, to] = range;
                for z in from[2]..=to[2] {
                    for y in from[1]..=to[1] {
                        for x in from[0]..=to[0] {
                            let mut is_first = [x == from[0], y == from[1], z == from[2]];
                            is_first[bins.axis] = [x, y, z][bins.axis] == begins;
                            let first = (0..3).fold(0, |bits, a| bits | u8::from(is_first[a]) << a);
                            place(bucket([x, y, z]), BinEntry { member, first });
                        }
                    }
                }
            }
        };
        each(&mut |bucket, _| starts[bucket + 2] += 1);
        for n in 2..starts.len() {
            starts[n] += starts[n - 1];
        }
        let mut entries = vec![BinEntry::default(); starts[buckets + 1] as usize];
        each(&mut |bucket, entry| {
            let place = &mut starts[bucket + 1];
            entries[*place as usize] = entry;
            *place += 1;
        });
        starts.pop();
        Self { numbers, bounds, entries, starts }
    }

    /// The answers about all pairs of these layers.
    fn compare<R>(
        &self,
        lists: &Lists,
        progress: &dyn Progress,
        meet: &impl Fn(&Triangle, &Triangle) -> Option<R>,
    ) -> Result<Vec<([u32; 2], R)>> {
        let (mut found, mut compared) = (vec![], 0);
        let mut here: Vec<(Bounds, BinEntry)> = vec![];
        for bucket in self.starts.windows(2) {
            let entries = &self.entries[bucket[0] as usize..bucket[1] as usize];
            here.clear();
            here.extend(entries.iter().map(|entry| (self.bounds[entry.member as usize], *entry)));
            for (i, (own, entry)) in here.iter().enumerate() {
                let n = self.numbers[entry.member as usize];
                compared += (here.len() - i) as u64;
                if compared > CHECKED {
                    compared = 0;
                    progress.check()?;
                    refuse_more(found.len())?;
                }
                for (other, its) in &here[i + 1..] {
                    if (entry.first | its.first) != 7 || !do_meet(own, other) || entry.member == its.member {
                        continue;
                    }
                    let m = self.numbers[its.member as usize];
                    let count = lists.first.len() as u32;
                    let numbers = match lists.is_two {
                        false => [n, m],
                        true if n < count && m >= count => [n, m - count],
                        true => continue,
                    };
                    if let Some(answer) = meet(lists.get(n), lists.get(m)) {
                        found.push((numbers, answer));
                    }
                }
            }
        }
        Ok(found)
    }
}

/// The cells of a range that a triangle touches, and perhaps some more: no cell is left out unless its box, made
/// larger by a thousandth for all rounding, lies outside the triangle along its normal, or along one of the
/// directions across an edge in its plane.
fn touched(bins: &Bins, triangle: &Triangle, [from, to]: &CellRange, each: &mut dyn FnMut([u32; 3])) {
    const HALF: f64 = 0.5 + 1.0 / 1024.0;
    // In units of cells.
    let corners: [[f64; 3]; 3] =
        triangle.map(|v| std::array::from_fn(|a| (f64::from(v[a]) - bins.low[a]) * bins.scale[a]));
    let [a, b, c] = &corners;
    let edges = [minus(b, a), minus(c, b), minus(a, c)];
    let normal = cross(&edges[0], &edges[1]);
    let across = edges.map(|edge| cross(&normal, &edge));
    let spans = [normal, across[0], across[1], across[2]].map(|direction| {
        let products = corners.map(|v| dot(&direction, &v));
        let radius = HALF * direction.iter().map(|d| d.abs()).sum::<f64>();
        let low = products.into_iter().fold(f64::INFINITY, f64::min) - radius;
        let high = products.into_iter().fold(f64::NEG_INFINITY, f64::max) + radius;
        (direction, [low, high])
    });
    for z in from[2]..=to[2] {
        for y in from[1]..=to[1] {
            let (mut first, mut last) = (f64::from(from[0]), f64::from(to[0]));
            for (direction, [low, high]) in spans {
                let there = direction[1] * (f64::from(y) + 0.5) + direction[2] * (f64::from(z) + 0.5);
                let (low, high) = (low - there, high - there);
                if direction[0] == 0.0 {
                    if low > 0.0 || high < 0.0 {
                        last = -1.0;
                    }
                    continue;
                }
                let ends = [low / direction[0] - 0.5, high / direction[0] - 0.5];
                first = first.max(ends[0].min(ends[1]).ceil());
                last = last.min(ends[0].max(ends[1]).floor());
            }
            if first <= last {
                (first as u32..=last as u32).for_each(|x| each([x, y, z]));
            }
        }
    }
}
