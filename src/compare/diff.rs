//! The cells in which two grids differ: counted, boxed, and as parts to be shown. 64 cells a step.

use crate::error::{Error, Result};
use crate::grid::bits::bits_of;
use crate::grid::{BitGrid, Part, Sort};
use crate::par;

/// How two grids of the same dims differ, cell by cell.
///
/// ```
/// use voxelize::BitGrid;
/// use voxelize::compare::Difference;
///
/// let old = BitGrid::from_text("##.#")?;
/// let new = BitGrid::from_text("#.##")?;
/// let difference = Difference::between(&old, &new)?;
/// assert_eq!((difference.added, difference.removed, difference.common), (1, 1, 2));
/// assert_eq!(difference.bounds, Some([[1, 0, 0], [2, 0, 0]]));
/// assert_eq!(difference.iou(), 0.5);
/// assert!(Difference::between(&old, &old)?.is_none());
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Difference {
    /// Cells occupied in both.
    pub common: u64,
    /// Cells occupied in the second only.
    pub added: u64,
    /// Cells occupied in the first only.
    pub removed: u64,
    /// The box of the cells added and removed, `[lowest, highest]`, both inclusive.
    pub bounds: Option<[[usize; 3]; 2]>,
}

impl Difference {
    /// Compares two grids.
    ///
    /// # Errors
    /// If their dims differ.
    pub fn between(first: &BitGrid, second: &BitGrid) -> Result<Self> {
        same_dims(first, second)?;
        let layers = par::map_range(0..first.dims()[2], |k| Self::of_layer(first, second, k));
        Ok(layers.iter().fold(Self::default(), |all, layer| all.and(layer)))
    }

    /// Whether no cell differs.
    pub fn is_none(&self) -> bool {
        self.differing() == 0
    }

    /// The cells added and removed.
    pub fn differing(&self) -> u64 {
        self.added + self.removed
    }

    /// The cells of the first grid.
    pub fn first(&self) -> u64 {
        self.common + self.removed
    }

    /// The cells of the second grid.
    pub fn second(&self) -> u64 {
        self.common + self.added
    }

    /// Intersection over union: the share of all cells that both have; 1 for two empty grids.
    pub fn iou(&self) -> f64 {
        let union = self.common + self.differing();
        if union == 0 { 1.0 } else { self.common as f64 / union as f64 }
    }

    fn of_layer(first: &BitGrid, second: &BitGrid, k: usize) -> Self {
        let mut found = Self::default();
        for j in 0..first.dims()[1] {
            let words = || first.row(j, k).iter().zip(second.row(j, k)).enumerate();
            for (n, (a, b)) in words() {
                found.common += u64::from((a & b).count_ones());
                found.added += u64::from((b & !a).count_ones());
                found.removed += u64::from((a & !b).count_ones());
                if a != b {
                    let low = 64 * n + (a ^ b).trailing_zeros() as usize;
                    let high = 64 * n + (a ^ b).ilog2() as usize;
                    found.bounds = joined(found.bounds, Some([[low, j, k], [high, j, k]]));
                }
            }
        }
        found
    }

    fn and(mut self, other: &Self) -> Self {
        self.common += other.common;
        self.added += other.added;
        self.removed += other.removed;
        self.bounds = joined(self.bounds, other.bounds);
        self
    }
}

/// The cells of two grids as parts: those in both, those added by the second, those removed by it.
///
/// # Errors
/// If their dims differ, or the parts do not fit in memory.
pub fn parts(first: &BitGrid, second: &BitGrid) -> Result<[Part; 3]> {
    same_dims(first, second)?;
    let part = |sort, of: fn(u64, u64) -> u64| -> Result<Part> {
        let mut cells = BitGrid::new(first.dims())?;
        let pairs = first.words().iter().zip(second.words());
        for (word, (a, b)) in cells.words_mut().iter_mut().zip(pairs) {
            // Zero pages that stay zero take no memory.
            if of(*a, *b) != 0 {
                *word = of(*a, *b);
            }
        }
        Ok(Part { sort, cells })
    };
    Ok([
        part(Sort::Common, |a, b| a & b)?,
        part(Sort::Added, |a, b| b & !a)?,
        part(Sort::Removed, |a, b| a & !b)?,
    ])
}

/// The cells that differ, x fastest, and whether each is added or removed.
pub fn cells<'a>(first: &'a BitGrid, second: &'a BitGrid) -> impl Iterator<Item = ([usize; 3], Sort)> + 'a {
    let [_, ny, nz] = first.dims();
    let rows = (0..nz).flat_map(move |k| (0..ny).map(move |j| (j, k)));
    rows.flat_map(|(j, k)| {
        let words = first.row(j, k).iter().zip(second.row(j, k)).enumerate();
        words.flat_map(move |(n, (a, b))| {
            bits_of(a ^ b).map(move |bit| {
                let sort = if b >> bit & 1 == 1 { Sort::Added } else { Sort::Removed };
                ([64 * n + bit, j, k], sort)
            })
        })
    })
}

fn same_dims(first: &BitGrid, second: &BitGrid) -> Result<()> {
    if first.dims() == second.dims() {
        return Ok(());
    }
    let dims = |grid: &BitGrid| grid.dims().map(|n| n.to_string()).join(" × ");
    let message = format!("grids of {} and {} cells have no cells to compare", dims(first), dims(second));
    Err(Error::usage(message))
}

fn joined(one: Option<[[usize; 3]; 2]>, other: Option<[[usize; 3]; 2]>) -> Option<[[usize; 3]; 2]> {
    let (Some([a, b]), Some([c, d])) = (one, other) else { return one.or(other) };
    Some([std::array::from_fn(|n| a[n].min(c[n])), std::array::from_fn(|n| b[n].max(d[n]))])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two grids of several words a row, and what differs, counted a cell at a time.
    fn grids() -> (BitGrid, BitGrid, Difference) {
        let dims = [150, 5, 3];
        let (mut first, mut second) = (BitGrid::new(dims).unwrap(), BitGrid::new(dims).unwrap());
        let mut expected = Difference::default();
        let mut differing = BitGrid::new(dims).unwrap();
        let mut state = 1_u64;
        for (i, j, k) in (0..150).flat_map(|i| (0..5).flat_map(move |j| (0..3).map(move |k| (i, j, k)))) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let [a, b] = [
                state >> 40 & 1 == 1,
                if state >> 50 & 7 == 0 && j > 0 { state >> 45 & 1 } else { state >> 40 & 1 } == 1,
            ];
            if a {
                first.set([i, j, k]);
            }
            if b {
                second.set([i, j, k]);
            }
            match (a, b) {
                (true, true) => expected.common += 1,
                (false, true) => expected.added += 1,
                (true, false) => expected.removed += 1,
                _ => {}
            }
            if a != b {
                differing.set([i, j, k]);
            }
        }
        expected.bounds = differing.occupied_box();
        (first, second, expected)
    }

    #[test]
    fn words_count_as_cells_do() {
        let (first, second, expected) = grids();
        assert!(expected.added > 20 && expected.removed > 20 && expected.common > 100, "{expected:?}");
        let found = Difference::between(&first, &second).unwrap();
        assert_eq!(found, expected);
        assert_eq!((found.first(), found.second()), (first.count(), second.count()));
        let back = Difference::between(&second, &first).unwrap();
        assert_eq!((back.added, back.removed, back.bounds), (found.removed, found.added, found.bounds));
    }

    #[test]
    fn parts_and_listed_cells_are_those_counted() {
        let (first, second, expected) = grids();
        let [common, added, removed] = parts(&first, &second).unwrap();
        let counts = [&common, &added, &removed].map(|part| part.cells.count());
        assert_eq!(counts, [expected.common, expected.added, expected.removed]);
        let listed: Vec<_> = cells(&first, &second).collect();
        assert_eq!(listed.len() as u64, expected.differing());
        for (cell, sort) in listed {
            let part = if sort == Sort::Added { &added } else { &removed };
            assert!(part.cells.get(cell), "{cell:?}");
        }
    }

    #[test]
    fn empty_grids_are_the_same() {
        let empty = BitGrid::new([3, 2, 1]).unwrap();
        let found = Difference::between(&empty, &empty).unwrap();
        assert!(found.is_none() && found.bounds.is_none() && found.iou() == 1.0);
        assert!(Difference::between(&empty, &BitGrid::new([3, 2, 2]).unwrap()).is_err());
    }
}
