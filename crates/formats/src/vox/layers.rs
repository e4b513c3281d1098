//! Layers from which voxels are made: the layers of a slab, and the last layers of the previous slab. In a
//! hull a cell becomes a voxel only if one of its six neighbours is empty, even if that neighbour is in
//! another slab.

use std::ops::Range;

use super::TILE_WORDS;
use crate::Choice;
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Cells, CellsRef, Labels, Slab};

/// Which cells of a grid become voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    /// All occupied cells.
    Whole,
    /// Occupied cells that have an empty neighbour.
    Hull,
}

impl Shell {
    /// Returns the variant that these choices request.
    pub(super) fn of(choices: &[Choice]) -> Self {
        if choices.contains(&Choice::VoxHull) {
            Self::Hull
        } else {
            Self::Whole
        }
    }
}

/// Copy of the last two layers of a slab. For a hull, the voxels of the last layer depend on the layer above,
/// which is in the next slab, and on the layer below.
pub(super) struct CarriedLayers {
    first: usize,
    cells: Cells,
}

impl CarriedLayers {
    pub(super) fn of(slab: &Slab) -> Result<Self> {
        let [nx, ny, nz] = slab.cells.dims();
        let count = nz.min(2);
        let start = nz - count;
        let dims = [nx, ny, count];
        let cells = match slab.cells {
            CellsRef::Labels(all) => {
                let mut labels = Labels::new(dims, all.legend().clone())?;
                let mut row = vec![0; nx];
                for (k, j) in (0..count).flat_map(|k| (0..ny).map(move |j| (k, j))) {
                    all.row(j, start + k, &mut row);
                    // Errors cannot occur, because both legends are the same.
                    let _ = labels.put_row(j, k, &row);
                }
                labels.into()
            }
            other => {
                let all = other.occupied()?;
                let mut bits = BitGrid::new(dims)?;
                let words = bits.words().len();
                bits.words_mut()
                    .copy_from_slice(&all.words()[all.words().len() - words..]);
                bits.into()
            }
        };
        Ok(Self {
            first: slab.first + start,
            cells,
        })
    }
}

/// Cells of the slab and of the layers carried over from the previous slab.
pub(super) struct SceneLayers<'a> {
    carried: Option<&'a CarriedLayers>,
    slab: &'a Slab<'a>,
    shell: Shell,
    /// Number of layers in the whole grid.
    nz: usize,
}

impl<'a> SceneLayers<'a> {
    pub(super) fn new(
        slab: &'a Slab<'a>,
        carried: Option<&'a CarriedLayers>,
        shell: Shell,
        nz: usize,
    ) -> Self {
        Self {
            carried,
            slab,
            shell,
            nz,
        }
    }

    /// Allocates a buffer for the labels of a row.
    pub(super) fn row_of_labels(&self) -> Vec<u8> {
        vec![0; self.slab.cells.dims()[0]]
    }

    /// Returns the first layer whose voxels are not known yet.
    pub(super) fn end(&self) -> usize {
        let end = self.slab.first + self.slab.cells.dims()[2];
        if self.shell == Shell::Hull && end < self.nz {
            end - 1
        } else {
            end
        }
    }

    /// Returns the cells that contain layer `k` of the grid, and the index of the layer within them.
    fn at(&self, k: usize) -> (CellsRef<'a>, usize) {
        match self.carried {
            Some(carried) if k < self.slab.first => (carried.cells.as_ref(), k - carried.first),
            _ => (self.slab.cells, k - self.slab.first),
        }
    }

    /// Returns the occupied cells of row `(j, k)` as words. Empty for a field.
    fn row(&self, j: usize, k: usize) -> &'a [u64] {
        let (cells, k) = self.at(k);
        match cells {
            CellsRef::Bits(bits) => bits.row(j, k),
            CellsRef::Labels(labels) => labels.occupied().row(j, k),
            CellsRef::Field(_) => &[],
        }
    }

    /// Returns the cells of row `(j, k)` that become voxels, as words. `first` is the first word of the row
    /// that is needed.
    pub(super) fn voxels(&self, [j, k]: [usize; 2], first: usize) -> [u64; TILE_WORDS] {
        let row = self.row(j, k);
        let mut voxels = [0; TILE_WORDS];
        for (voxels, word) in voxels.iter_mut().zip(&row[first..]) {
            *voxels = *word;
        }
        if self.shell == Shell::Hull && voxels != [0; TILE_WORDS] {
            let adjacent = self.adjacent_rows([j, k]);
            for (n, voxels) in voxels.iter_mut().enumerate() {
                if *voxels != 0 {
                    *voxels &= !inner(row, &adjacent, first + n);
                }
            }
        }
        voxels
    }

    /// Calls `each` for every nonzero word in the rows `js` of layer `k`, if the cells are bits and all of
    /// them become voxels. The arguments are the row, the index of the word relative to `first`, and the
    /// word. Otherwise returns `false` without calling it.
    pub(super) fn each_word(
        &self,
        (js, k): (Range<usize>, usize),
        first: usize,
        mut each: impl FnMut(usize, usize, u64),
    ) -> bool {
        let (CellsRef::Bits(bits), Shell::Whole) = (self.slab.cells, self.shell) else {
            return false;
        };
        let k = k - self.slab.first;
        let width = bits.row_words();
        let Some(noted) = bits.noted(k) else {
            let last = width.min(first + TILE_WORDS);
            for j in js {
                let row = bits.row(j, k)[first..last].iter().enumerate();
                for (n, word) in row {
                    if *word != 0 {
                        each(j, n, *word);
                    }
                }
            }
            return true;
        };
        let start = noted.partition_point(|(place, _)| *place < js.start * width);
        let (mut j, mut row) = (js.start, js.start * width);
        for &(place, word) in noted[start..]
            .iter()
            .take_while(|(place, _)| *place < js.end * width)
        {
            while place >= row + width {
                (j, row) = (j + 1, row + width);
            }
            let n = (place - row).wrapping_sub(first);
            if n < TILE_WORDS {
                each(j, n, word);
            }
        }
        true
    }

    /// Returns the four rows next to row `(j, k)`. Rows outside the grid are empty.
    fn adjacent_rows(&self, [j, k]: [usize; 2]) -> [&'a [u64]; 4] {
        let ny = self.slab.cells.dims()[1];
        [
            if j > 0 { self.row(j - 1, k) } else { &[] },
            if j + 1 < ny { self.row(j + 1, k) } else { &[] },
            if k > 0 { self.row(j, k - 1) } else { &[] },
            if k + 1 < self.nz {
                self.row(j, k + 1)
            } else {
                &[]
            },
        ]
    }

    /// Returns the cells of row `(j, k)` that have label number `place` of the legend, as words. `first` is
    /// the first word that is needed. `row` is a buffer for the labels of a row.
    pub(super) fn of_label(
        &self,
        place: usize,
        [j, k]: [usize; 2],
        first: usize,
        row: &mut [u8],
    ) -> [u64; TILE_WORDS] {
        let mut words = [0; TILE_WORDS];
        let (CellsRef::Labels(labels), k) = self.at(k) else {
            return words;
        };
        if labels.is_in_planes() {
            let planes = labels.words(place, j, k).skip(first);
            for (word, plane) in words.iter_mut().zip(planes) {
                *word = plane;
            }
            return words;
        }
        labels.row(j, k, row);
        let value = labels.legend().labels()[place].value;
        let cells = row[64 * first..].iter().take(64 * TILE_WORDS);
        for (n, label) in cells.enumerate() {
            words[n / 64] |= u64::from(*label == value) << (n % 64);
        }
        words
    }

    /// Returns the labels that contain row `(j, k)`. `None` if the cells have no labels. Unless the labels
    /// are stored in planes, fills `row` with the labels of the row.
    pub(super) fn labels(&self, [j, k]: [usize; 2], row: &mut [u8]) -> Option<&'a Labels> {
        let (CellsRef::Labels(labels), k) = self.at(k) else {
            return None;
        };
        if !labels.is_in_planes() {
            labels.row(j, k, row);
        }
        Some(labels)
    }
}

/// Returns the cells in word `n` of a row whose six neighbours are all occupied. `adjacent` are the four rows
/// next to the row.
fn inner(row: &[u64], adjacent: &[&[u64]; 4], n: usize) -> u64 {
    let word = |n: usize| row.get(n).copied().unwrap_or(0);
    let before = if n > 0 { word(n - 1) >> 63 } else { 0 };
    let along = (word(n) << 1 | before) & (word(n) >> 1 | word(n + 1) << 63);
    adjacent
        .iter()
        .fold(along, |all, row| all & row.get(n).copied().unwrap_or(0))
}
