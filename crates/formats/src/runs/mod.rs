//! Deflates cells that are bits, as bytes 0 and 1, without making these bytes. Runs of cells are found in the
//! words of the grid and coded as repetitions, so that empty space takes almost no time.
//!
//! Blocks of rows are compressed in parallel and joined bit by bit. Each block begins with a new run, so that
//! the result does not depend on the slabs or on the number of threads.

mod bit_string;
mod code;
mod sum;

use std::io::{self, Write};
use std::ops::Range;

use self::bit_string::BitString;
use self::code::RunCode;
use self::sum::SumTables;
use super::{Dtype, SaveOptions};
use crate::steps::{cancelled, next};
use voxelize_core::grid::{BitGrid, CellSource, CellType};
use voxelize_core::par::{self, Progress};

/// Approximate number of cells in a block of rows.
const BLOCK: usize = 1 << 19;

/// Approximate number of cells that are compressed in parallel. The result takes at most two bits per cell,
/// which is 2 MiB.
const AT_ONCE: usize = 8 << 20;

/// Properties of the uncompressed bytes that a container states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainBytes {
    /// CRC-32 checksum.
    pub sum: u32,
    pub count: u64,
}

/// Returns `true` if the cells are written as bytes 0 and 1.
pub(super) fn are_written(cells: CellType, dtype: Dtype, options: &SaveOptions) -> bool {
    let is_plain = match cells {
        CellType::Bits => matches!(dtype, Dtype::Bool | Dtype::U8),
        CellType::Labels(_) => dtype == Dtype::Bool,
        CellType::Field { .. } => false,
    };
    is_plain && options.values.is_empty()
}

/// Writes a deflate stream of `head` and all cells. x varies fastest.
pub(super) fn write(
    source: &mut dyn CellSource,
    head: &[u8],
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> io::Result<PlainBytes> {
    let [nx, ny, nz] = source.dims();
    let count = (nx as u64)
        .saturating_mul(ny as u64)
        .saturating_mul(nz as u64);
    progress.begin("write", count);
    let rows = (BLOCK / nx).clamp(1, ny);
    let packer = RowPacker {
        code: RunCode::new(nx),
        sums: SumTables::new(nx * rows + 64),
        nx,
    };
    let mut sum = packer.sums.of_bytes(!0, head);
    for bytes in head.chunks(u16::MAX.into()) {
        let length = bytes.len() as u16;
        // Header of a stored block that is not the last one.
        out.write_all(
            &[
                &[0][..],
                &length.to_le_bytes(),
                &(!length).to_le_bytes(),
                bytes,
            ]
            .concat(),
        )?;
    }
    let mut bits = BitString::default();
    packer.code.begin(&mut bits);
    let mut bytes = vec![];
    while let Some(slab) = next(source)? {
        let cells = slab.cells.occupied().map_err(io::Error::other)?;
        let layers = 0..cells.dims()[2];
        let blocks: Vec<_> = layers
            .flat_map(|k| (0..ny).step_by(rows).map(move |j| (k, j..ny.min(j + rows))))
            .collect();
        for blocks in blocks.chunks((AT_ONCE / (nx * rows)).max(1)) {
            cancelled(progress)?;
            let packed = par::map_range(0..blocks.len(), |n| packer.pack(cells, &blocks[n]));
            for ((_, rows), (packed, sum_of_block)) in blocks.iter().zip(packed) {
                bits.append(&packed);
                sum = packer.sums.after_zeros(sum, nx * rows.len()) ^ sum_of_block;
                progress.advance((nx * rows.len()) as u64);
            }
            bytes.clear();
            bits.take_words(&mut bytes);
            out.write_all(&bytes)?;
        }
    }
    packer.code.end(&mut bits);
    bytes.clear();
    bits.finish(&mut bytes);
    out.write_all(&bytes)?;
    Ok(PlainBytes {
        sum: !sum,
        count: head.len() as u64 + count,
    })
}

/// Compresses rows of cells.
struct RowPacker {
    code: RunCode,
    sums: SumTables,
    nx: usize,
}

impl RowPacker {
    /// Returns the compressed rows of a layer, and their checksum. The checksum starts from zero.
    fn pack(&self, bits: &BitGrid, (k, rows): &(usize, Range<usize>)) -> (BitString, u32) {
        let width = bits.row_words();
        let bit_string = BitString::default();
        let mut block = PackedRows {
            packer: self,
            bits: bit_string,
            run: 0..0,
            repeated: 0..0,
            sum: 0,
            summed: 0,
        };
        // `words` are the nonzero words of the current row with their positions. `before` are the words of
        // the latest row that had any, and `row_before` is the index of that row.
        let (mut words, mut before, mut row_before) = (vec![], vec![], 0);
        let noted = bits.noted(*k).map(|noted| {
            let start = noted.partition_point(|(place, _)| *place < rows.start * width);
            &noted[start..]
        });
        let mut rest = noted.unwrap_or_default();
        for (n, j) in rows.clone().enumerate() {
            words.clear();
            if noted.is_some() {
                let count = rest
                    .iter()
                    .take_while(|(place, _)| *place < (j + 1) * width)
                    .count();
                words.extend(
                    rest[..count]
                        .iter()
                        .map(|(place, word)| (place - j * width, *word)),
                );
                rest = &rest[count..];
            } else {
                let row = bits.row(j, *k).iter().copied().enumerate();
                words.extend(row.filter(|(_, word)| *word != 0));
            }
            if words.is_empty() {
                continue;
            }
            block.push_row(n * self.nx, &words, row_before + 1 == n && before == words);
            std::mem::swap(&mut words, &mut before);
            row_before = n;
        }
        block.finish(self.nx * rows.len())
    }
}

/// Rows that are being compressed.
struct PackedRows<'a> {
    packer: &'a RowPacker,
    bits: BitString,
    /// Last run of occupied cells. Its code is not appended yet.
    run: Range<usize>,
    /// Cells that repeat the previous row. They end where `run` begins. Their code is not appended yet. Empty
    /// if there are none.
    repeated: Range<usize>,
    /// Checksum of the first `summed` cells.
    sum: u32,
    summed: usize,
}

impl PackedRows<'_> {
    /// Adds the row that begins at cell `row`. `words` are its nonzero words. `is_like_before` is `true` if
    /// the row equals the previous one.
    fn push_row(&mut self, row: usize, words: &[(usize, u64)], is_like_before: bool) {
        let Self { packer, .. } = *self;
        for (place, word) in words {
            let count = (packer.nx - 64 * place).min(64);
            let end = row + 64 * place + count;
            self.sum = packer.sums.after_zeros(self.sum, end - self.summed)
                ^ packer.sums.of_word(word << (64 - count));
            self.summed = end;
        }
        if is_like_before && packer.code.repeats(words.len()) {
            self.repeat(row..row + packer.nx);
        } else {
            for (place, word) in words {
                self.push(row + 64 * place, *word);
            }
        }
    }

    /// Adds a nonzero word whose first cell has the index `first`.
    fn push(&mut self, first: usize, word: u64) {
        let (mut rest, mut at) = (word, first);
        while rest != 0 {
            let empty = rest.trailing_zeros();
            // The shift fills the highest bits with zeros, so a run ends at the end of the word at the
            // latest.
            let occupied = (rest >> empty).trailing_ones();
            at += empty as usize;
            self.occupy(at..at + occupied as usize);
            at += occupied as usize;
            rest = rest.checked_shr(empty + occupied).unwrap_or(0);
        }
    }

    /// Adds cells that repeat the previous row.
    fn repeat(&mut self, cells: Range<usize>) {
        if self.repeated.is_empty() || self.repeated.end != cells.start {
            self.end_run(cells.start);
            self.repeated = cells.start..cells.start;
        }
        self.repeated.end = cells.end;
        // The cells after the repetition begin a new run.
        self.run = cells.end..cells.end;
    }

    fn occupy(&mut self, run: Range<usize>) {
        if run.start == self.run.end {
            self.run.end = run.end;
            return;
        }
        self.end_run(run.start);
        self.run = run;
    }

    /// Appends the code of the repeated cells, then of the run, then of the empty cells up to `end`. Repeated
    /// cells and run may be empty.
    fn end_run(&mut self, end: usize) {
        self.packer
            .code
            .push_repeated(&mut self.bits, self.repeated.len());
        self.repeated = 0..0;
        self.packer.code.push_run(&mut self.bits, 1, self.run.len());
        self.packer
            .code
            .push_run(&mut self.bits, 0, end - self.run.end);
    }

    fn finish(mut self, count: usize) -> (BitString, u32) {
        self.end_run(count);
        (
            self.bits,
            self.packer.sums.after_zeros(self.sum, count - self.summed),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::Crc;
    use flate2::read::DeflateDecoder;

    use super::*;
    use crate::{InMemory, Voxels};
    use voxelize_core::error::Result;
    use voxelize_core::grid::{Digest, Lattice, Record, Slab};

    /// Grid that is divided into slabs with a fixed number of layers.
    struct Slabs<'a> {
        voxels: &'a Voxels,
        slabs: Vec<(usize, BitGrid)>,
        next: usize,
    }

    impl<'a> Slabs<'a> {
        fn new(voxels: &'a Voxels, bits: &BitGrid, layers: usize) -> Self {
            let [nx, ny, nz] = bits.dims();
            let slab = |first: usize| {
                let mut slab = BitGrid::new([nx, ny, layers.min(nz - first)]).unwrap();
                let count = slab.layer_words();
                // These slabs record which words are nonzero.
                slab.fill_noted(|k, put| {
                    let words = &bits.words()[(first + k) * count..][..count];
                    for (place, word) in words.iter().enumerate() {
                        if *word != 0 {
                            put(place, *word);
                        }
                    }
                });
                (first, slab)
            };
            Self {
                voxels,
                slabs: (0..nz).step_by(layers).map(slab).collect(),
                next: 0,
            }
        }
    }

    impl CellSource for Slabs<'_> {
        fn dims(&self) -> [usize; 3] {
            self.voxels.dims()
        }

        fn lattice(&self) -> Option<&Lattice> {
            None
        }

        fn record(&self) -> &Record {
            &self.voxels.record
        }

        fn cell_type(&self) -> CellType<'_> {
            CellType::Bits
        }

        fn digest(&self) -> Digest {
            self.voxels.digest()
        }

        fn next(&mut self) -> Result<Option<Slab<'_>>> {
            self.next += 1;
            Ok(self.slabs.get(self.next - 1).map(|(first, bits)| Slab {
                first: *first,
                cells: bits.into(),
            }))
        }
    }

    /// Returns a grid that repeats the rows of the first layer of `grid`: each row twice, and in every layer.
    fn repeated(dims: [usize; 3], of: u32) -> BitGrid {
        let first = grid(dims, of);
        let mut bits = BitGrid::new(dims).unwrap();
        for k in 0..dims[2] {
            for j in 0..dims[1] {
                let cells = (0..dims[0]).filter(|i| first.get([*i, (j / 2 + k) % dims[1], 0]));
                cells.for_each(|i| bits.set([i, j, k]));
            }
        }
        bits
    }

    /// Returns a grid in which about every `of`-th cell begins a new run.
    fn grid(dims: [usize; 3], of: u32) -> BitGrid {
        let mut bits = BitGrid::new(dims).unwrap();
        let (mut state, mut is_occupied) = (7_u32, false);
        for k in 0..dims[2] {
            for j in 0..dims[1] {
                for i in 0..dims[0] {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    is_occupied ^= (state >> 8).is_multiple_of(of);
                    if is_occupied {
                        bits.set([i, j, k]);
                    }
                }
            }
        }
        bits
    }

    #[test]
    fn any_reader_gets_the_bytes_and_their_checksum() {
        for (dims, of) in [
            ([1, 1, 1], 1),
            ([2, 9, 2], 3),
            ([3, 9, 2], 2),
            ([5, 40, 2], 2),
            ([64, 3, 2], 2),
            ([65, 4, 3], 3),
            ([200, 70, 5], 40),
            ([259, 70, 2], 3),
            ([32_768, 6, 2], 20),
            ([32_769, 6, 2], 20),
            ([127, 31, 9], 1000),
            ([700, 900, 3], 20_000),
            ([600_001, 2, 1], 5000),
            ([300, 50, 40], u32::MAX),
        ] {
            for bits in [grid(dims, of), repeated(dims, of)] {
                let head = vec![b'h'; if of == 40 { 70_000 } else { dims[0] % 3 }];
                let mut plain = head.clone();
                for row in bits.words().chunks(bits.row_words()) {
                    plain.extend((0..dims[0]).map(|i| (row[i / 64] >> (i % 64) & 1) as u8));
                }
                let voxels = Voxels::new(bits.clone());
                let mut packed = vec![];
                let found = write(&mut InMemory::new(&voxels), &head, &mut packed, &()).unwrap();
                let mut back = vec![];
                DeflateDecoder::new(&*packed)
                    .read_to_end(&mut back)
                    .unwrap();
                assert!(back == plain, "{dims:?}");
                let mut sum = Crc::new();
                sum.update(&plain);
                assert_eq!(
                    found,
                    PlainBytes {
                        sum: sum.sum(),
                        count: plain.len() as u64
                    },
                    "{dims:?}"
                );
                for (layers, threads) in [(1, 1), (2, 3)] {
                    let mut other = vec![];
                    let mut slabs = Slabs::new(&voxels, &bits, layers);
                    let work = || write(&mut slabs, &head, &mut other, &()).unwrap();
                    assert_eq!(par::with_threads(threads, work).unwrap(), found);
                    assert!(other == packed, "{dims:?}");
                }
            }
        }
    }
}
