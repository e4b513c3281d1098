//! The layers that voxels are made of: those of a slab, with the last ones of the slab before. Of a hull only the cells are
//! voxels that have an empty cell at one of their six faces, in whatever slab that cell is.

use std::ops::Range;

use super::TILE_WORDS;
use crate::Choice;
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Cells, CellsRef, Labels, Slab};

/// The cells of a grid that become voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    /// All that are occupied.
    Whole,
    /// Those that can be seen.
    Hull,
}

impl Shell {
    /// The one that is chosen.
    pub(super) fn of(choices: &[Choice]) -> Self {
        if choices.contains(&Choice::VoxHull) {
            Self::Hull
        } else {
            Self::Whole
        }
    }
}

/// The last two layers of a slab: voxels of a hull wait for the layer above them, and look at the one below.
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
                    // The legend is the same.
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

/// The cells of the layers at hand.
pub(super) struct SceneLayers<'a> {
    carried: Option<&'a CarriedLayers>,
    slab: &'a Slab<'a>,
    shell: Shell,
    /// The layers of the whole grid.
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

    /// Room for the labels of a row.
    pub(super) fn row_of_labels(&self) -> Vec<u8> {
        vec![0; self.slab.cells.dims()[0]]
    }

    /// Behind the last layer whose voxels are known.
    pub(super) fn end(&self) -> usize {
        let end = self.slab.first + self.slab.cells.dims()[2];
        if self.shell == Shell::Hull && end < self.nz {
            end - 1
        } else {
            end
        }
    }

    /// The cells that have layer `k` of the grid, and its number there.
    fn at(&self, k: usize) -> (CellsRef<'a>, usize) {
        match self.carried {
            Some(carried) if k < self.slab.first => (carried.cells.as_ref(), k - carried.first),
            _ => (self.slab.cells, k - self.slab.first),
        }
    }

    /// The words of the occupied cells of row `(j, k)`; none of a field.
    fn row(&self, j: usize, k: usize) -> &'a [u64] {
        let (cells, k) = self.at(k);
        match cells {
            CellsRef::Bits(bits) => bits.row(j, k),
            CellsRef::Labels(labels) => labels.occupied().row(j, k),
            CellsRef::Field(_) => &[],
        }
    }

    /// The cells of row `(j, k)` that become voxels, from word `first` on.
    pub(super) fn voxels(&self, [j, k]: [usize; 2], first: usize) -> [u64; TILE_WORDS] {
        let row = self.row(j, k);
        let mut voxels = [0; TILE_WORDS];
        for (voxels, word) in voxels.iter_mut().zip(&row[first..]) {
            *voxels = *word;
        }
        if self.shell == Shell::Hull && voxels != [0; TILE_WORDS] {
            let beside = self.beside([j, k]);
            for (n, voxels) in voxels
                .iter_mut()
                .enumerate()
                .filter(|(_, voxels)| **voxels != 0)
            {
                *voxels &= !inner(row, &beside, first + n);
            }
        }
        voxels
    }

    /// The words of plain cells, all of which become voxels, in rows `js` of layer `k` that are not zero: `each` is called
    /// with the row, the place of the word behind word `first`, and the word. Of cells of another kind, or of a hull, `false`.
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
                row.filter(|(_, word)| **word != 0)
                    .for_each(|(n, word)| each(j, n, *word));
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

    /// The four rows that touch row `(j, k)`; empty ones outside the grid.
    fn beside(&self, [j, k]: [usize; 2]) -> [&'a [u64]; 4] {
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

    /// The cells of row `(j, k)` whose label is at this place of the legend, from word `first` on; `row` has room for the
    /// labels of a row.
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
            words
                .iter_mut()
                .zip(labels.words(place, j, k).skip(first))
                .for_each(|(word, of)| *word = of);
            return words;
        }
        labels.row(j, k, row);
        let value = labels.legend().labels()[place].value;
        let cells = row[64 * first..].iter().take(64 * TILE_WORDS).enumerate();
        cells.for_each(|(n, is)| words[n / 64] |= u64::from(*is == value) << (n % 64));
        words
    }

    /// The labels of row `(j, k)`, if cells have some: `row` has room for them.
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

/// The cells of word `n` of a row whose six neighbours are all occupied.
fn inner(row: &[u64], beside: &[&[u64]; 4], n: usize) -> u64 {
    let word = |n: usize| row.get(n).copied().unwrap_or(0);
    let before = if n > 0 { word(n - 1) >> 63 } else { 0 };
    let along = (word(n) << 1 | before) & (word(n) >> 1 | word(n + 1) << 63);
    beside
        .iter()
        .fold(along, |all, row| all & row.get(n).copied().unwrap_or(0))
}
