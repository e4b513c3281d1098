//! Cells in which two grids differ: their number, their bounding box and their labels. Bits are compared 64
//! cells at a time. [`FieldDifference`](super::FieldDifference) compares fields.

use voxelize_core::error::{Error, Result};
use voxelize_core::grid::bits::bits_of;
use voxelize_core::grid::record::TOOL;
use voxelize_core::grid::{BitGrid, CellsRef, Label, Labels, Lattice, Legend, Record};
use voxelize_core::par;
use voxelize_formats::Voxels;

/// Cell-by-cell difference of two grids of bits or labels. Both grids must have the same dims.
///
/// ```
/// # use voxelize_compare::voxelize;
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
    /// Number of cells that are occupied in both grids.
    pub common: u64,
    /// Number of cells that are occupied only in the second grid.
    pub added: u64,
    /// Number of cells that are occupied only in the first grid.
    pub removed: u64,
    /// Number of common cells that have different labels.
    pub relabelled: u64,
    /// Bounding box of the cells that differ, as `[lowest, highest]`. Both are included. `None` if no cell
    /// differs.
    pub bounds: Option<[[usize; 3]; 2]>,
}

impl Difference {
    /// Compares two grids. Labels are compared if both grids have labels, except for the standard labels that
    /// this crate assigns itself, such as surface and interior.
    ///
    /// # Errors
    /// Fails if the dims differ, or if one of the grids is a field.
    pub fn between<'a>(
        first: impl Into<CellsRef<'a>>,
        second: impl Into<CellsRef<'a>>,
    ) -> Result<Self> {
        let first = first.into();
        let second = second.into();
        let old = first.occupied()?;
        let new = second.occupied()?;
        same_dims(old.dims(), new.dims())?;
        let labels = match (first, second) {
            (CellsRef::Labels(a), CellsRef::Labels(b)) => Some([a, b]),
            _ => None,
        };
        let labels =
            labels.filter(|labels| labels.iter().all(|labels| !labels.legend().is_standard()));
        let layers = par::map_range(0..old.dims()[2], |k| {
            let mut found = Self::of_layer(old, new, k);
            if let Some(labels) = labels {
                found.compare_labels(labels, k);
            }
            found
        });
        Ok(layers
            .iter()
            .fold(Self::default(), |all, layer| all.and(layer)))
    }

    /// Returns `true` if no cell differs.
    pub fn is_none(&self) -> bool {
        self.differing() == 0
    }

    /// Returns the number of cells that were added, removed or relabelled.
    pub fn differing(&self) -> u64 {
        self.added + self.removed + self.relabelled
    }

    /// Returns the number of occupied cells in the first grid.
    pub fn first(&self) -> u64 {
        self.common + self.removed
    }

    /// Returns the number of occupied cells in the second grid.
    pub fn second(&self) -> u64 {
        self.common + self.added
    }

    /// Returns the intersection over union of the occupied cells. It is 1 for two empty grids.
    pub fn iou(&self) -> f64 {
        let union = self.common + self.added + self.removed;
        if union == 0 {
            1.0
        } else {
            self.common as f64 / union as f64
        }
    }

    fn of_layer(first: &BitGrid, second: &BitGrid, k: usize) -> Self {
        let mut found = Self::default();
        for j in 0..first.dims()[1] {
            let words = first.row(j, k).iter().zip(second.row(j, k));
            for (n, (a, b)) in words.enumerate() {
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

    /// Adds the common cells of a layer that have different labels.
    fn compare_labels(&mut self, [first, second]: [&Labels; 2], k: usize) {
        let [nx, ny, _] = first.dims();
        let mut old = vec![0; nx];
        let mut new = vec![0; nx];
        for j in 0..ny {
            first.row(j, k, &mut old);
            second.row(j, k, &mut new);
            for (i, (a, b)) in old.iter().zip(&new).enumerate() {
                if *a != 0 && *b != 0 && a != b {
                    self.relabelled += 1;
                    self.bounds = joined(self.bounds, Some([[i, j, k]; 2]));
                }
            }
        }
    }

    fn and(mut self, other: &Self) -> Self {
        self.common += other.common;
        self.added += other.added;
        self.removed += other.removed;
        self.relabelled += other.relabelled;
        self.bounds = joined(self.bounds, other.bounds);
        self
    }
}

/// Returns the cells of two grids with three labels: [common](Label::COMMON), [added](Label::ADDED) for cells
/// only in the second grid, and [removed](Label::REMOVED) for cells only in the first grid.
///
/// # Errors
/// Fails if the dims differ, or if the labels do not fit into memory.
pub fn labels(first: &BitGrid, second: &BitGrid) -> Result<Labels> {
    same_dims(first.dims(), second.dims())?;
    let occupied = combined(first, second, |a, b| a | b)?;
    // The second label is added and the third is removed.
    let planes = vec![
        combined(first, second, |a, b| b & !a)?,
        combined(first, second, |a, b| a & !b)?,
    ];
    Ok(Labels::from_planes(occupied, planes, Legend::difference()))
}

/// Returns the cells that differ with two labels: added for cells only in the second grid, and removed for
/// cells only in the first grid.
///
/// # Errors
/// Fails like [`labels`].
pub fn changes(first: &BitGrid, second: &BitGrid) -> Result<Labels> {
    same_dims(first.dims(), second.dims())?;
    let occupied = combined(first, second, |a, b| a ^ b)?;
    let removed = combined(first, second, |a, b| a & !b)?;
    Ok(Labels::from_planes(
        occupied,
        vec![removed],
        Legend::changes(),
    ))
}

/// Returns a difference as voxels that can be saved, with the lattice of the cells.
pub fn saved(changes: Labels, lattice: Option<&Lattice>) -> Voxels {
    let snap = lattice.map(|lattice| lattice.snap().name().to_string());
    let record = Record {
        tool: Some(TOOL.to_string()),
        snap,
        ..Record::default()
    };
    Voxels {
        cells: changes.into(),
        lattice: lattice.cloned(),
        record,
    }
}

/// Computes each word of a new grid from the corresponding words of two grids.
fn combined(first: &BitGrid, second: &BitGrid, of: fn(u64, u64) -> u64) -> Result<BitGrid> {
    let mut cells = BitGrid::new(first.dims())?;
    let pairs = first.words().iter().zip(second.words());
    for (word, (a, b)) in cells.words_mut().iter_mut().zip(pairs) {
        // A word that stays zero is not written, so that its memory page is never allocated.
        let both = of(*a, *b);
        if both != 0 {
            *word = both;
        }
    }
    Ok(cells)
}

/// Returns the cells that differ, each with the label added or removed. x varies fastest.
pub fn cells<'a>(
    first: &'a BitGrid,
    second: &'a BitGrid,
) -> impl Iterator<Item = ([usize; 3], Label)> + 'a {
    let [_, ny, nz] = first.dims();
    let rows = (0..nz).flat_map(move |k| (0..ny).map(move |j| (j, k)));
    rows.flat_map(|(j, k)| {
        let words = first.row(j, k).iter().zip(second.row(j, k)).enumerate();
        words.flat_map(move |(n, (a, b))| {
            bits_of(a ^ b).map(move |bit| {
                let label = if b >> bit & 1 == 1 {
                    Label::ADDED
                } else {
                    Label::REMOVED
                };
                ([64 * n + bit, j, k], label)
            })
        })
    })
}

/// Checks that two grids have the same dims.
///
/// # Errors
/// Fails if the dims differ.
pub(super) fn same_dims(first: [usize; 3], second: [usize; 3]) -> Result<()> {
    if first == second {
        return Ok(());
    }
    let dims = |dims: [usize; 3]| dims.map(|n| n.to_string()).join(" × ");
    let message = format!(
        "grids of {} and {} cells have no cells to compare",
        dims(first),
        dims(second)
    );
    Err(Error::usage(message))
}

/// Returns the bounding box of two boxes. `None` if neither exists.
pub(super) fn joined(
    one: Option<[[usize; 3]; 2]>,
    other: Option<[[usize; 3]; 2]>,
) -> Option<[[usize; 3]; 2]> {
    let (Some([a, b]), Some([c, d])) = (one, other) else {
        return one.or(other);
    };
    Some([
        std::array::from_fn(|n| a[n].min(c[n])),
        std::array::from_fn(|n| b[n].max(d[n])),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use voxelize_core::grid::Field;

    /// Returns two grids whose rows have several words, and their difference, counted cell by cell.
    fn grids() -> (BitGrid, BitGrid, Difference) {
        let dims = [150, 5, 3];
        let mut first = BitGrid::new(dims).unwrap();
        let mut second = BitGrid::new(dims).unwrap();
        let mut expected = Difference::default();
        let mut differing = BitGrid::new(dims).unwrap();
        let mut random = Random::new(1);
        for (i, j, k) in
            (0..150).flat_map(|i| (0..5).flat_map(move |j| (0..3).map(move |k| (i, j, k))))
        {
            let a = random.one_in(2);
            let b = if j > 0 && random.one_in(8) {
                random.one_in(2)
            } else {
                a
            };
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
    fn words_count_like_cells() {
        let (first, second, expected) = grids();
        assert!(
            expected.added > 20 && expected.removed > 20 && expected.common > 100,
            "{expected:?}"
        );
        let found = Difference::between(&first, &second).unwrap();
        assert_eq!(found, expected);
        assert_eq!(
            (found.first(), found.second()),
            (first.count(), second.count())
        );
        let back = Difference::between(&second, &first).unwrap();
        assert_eq!(
            (back.added, back.removed, back.bounds),
            (found.removed, found.added, found.bounds)
        );
    }

    #[test]
    fn labels_and_listed_cells_match_the_counts() {
        let (first, second, expected) = grids();
        let all = labels(&first, &second).unwrap();
        let counts =
            [Label::COMMON, Label::ADDED, Label::REMOVED].map(|label| all.count(label.value));
        assert_eq!(counts, [expected.common, expected.added, expected.removed]);
        let changed = changes(&first, &second).unwrap();
        let listed: Vec<_> = cells(&first, &second).collect();
        assert_eq!(listed.len() as u64, expected.differing());
        for (cell, label) in &listed {
            assert_eq!(
                [all.get(*cell), changed.get(*cell)],
                [label.value; 2],
                "{cell:?}"
            );
        }
        assert_eq!(changed.occupied().count(), expected.differing());
    }

    #[test]
    fn labels_are_compared_if_both_grids_have_them() {
        let legend = Legend::default();
        let (first, second, _) = grids();
        let of = |bits: &BitGrid, every: usize| {
            let mut labels = Labels::new(bits.dims(), legend.clone()).unwrap();
            for cell in bits.iter() {
                labels.set(cell, if cell[0] % every == 3 { 7 } else { 200 });
            }
            labels
        };
        let old = of(&first, 5);
        let new = of(&second, 10);
        let found = Difference::between(&old, &new).unwrap();
        let plain = Difference::between(&first, &second).unwrap();
        let relabelled = first
            .iter()
            .filter(|cell| second.get(*cell) && cell[0] % 10 == 8)
            .count() as u64;
        assert!(relabelled > 5);
        assert_eq!(
            found,
            Difference {
                relabelled,
                bounds: found.bounds,
                ..plain
            }
        );
        assert_eq!(found.differing(), plain.differing() + relabelled);
        // If one grid has bits or standard labels, only occupancy is compared.
        let mut standard = Labels::new(first.dims(), Legend::surface_and_interior()).unwrap();
        for cell in first.iter() {
            standard.set(cell, 1 + (cell[1] % 2) as u8);
        }
        assert_eq!(Difference::between(&first, &new).unwrap(), plain);
        assert_eq!(Difference::between(&standard, &new).unwrap(), plain);
        assert!(Difference::between(&old, &Field::new([150, 5, 3], 0.0).unwrap()).is_err());
    }

    #[test]
    fn empty_grids_are_the_same() {
        let empty = BitGrid::new([3, 2, 1]).unwrap();
        let found = Difference::between(&empty, &empty).unwrap();
        assert!(found.is_none() && found.bounds.is_none() && found.iou() == 1.0);
        assert!(Difference::between(&empty, &BitGrid::new([3, 2, 2]).unwrap()).is_err());
    }
}
