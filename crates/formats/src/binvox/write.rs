//! Writing `.binvox`.

use std::io::{self, Write};

use super::{MAX_RUN, dims_of, place};
use crate::steps::{cancelled, whole};
use crate::{Dtype, SaveOptions};
use voxelize_core::grid::{BitGrid, CellSource};
use voxelize_core::par::{self, Progress};

/// Number of word columns whose runs are found in parallel. A word holds the cells of 64 values of x.
const BATCH: usize = 8;

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Write,
    _: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let dims = source.dims();
    let all = dims_of(dims, options.choices);
    let ([tx, ty, tz], scale) = source.lattice().map_or(
        ([0.0; 3], all[0].max(all[1]).max(all[2]) as f64),
        |lattice| place(lattice, all),
    );
    let [x, y, z] = all;
    write!(
        out,
        "#binvox 1\ndim {x} {z} {y}\ntranslate {tx} {ty} {tz}\nscale {scale}\ndata\n"
    )?;
    let mut runs = RunWriter {
        out,
        value: false,
        length: 0,
    };
    whole(source, |bits| runs.write(bits, all, options.progress))
}

/// Writes runs of equal cells. A run may continue from one plane of x to the next.
struct RunWriter<'a> {
    out: &'a mut dyn Write,
    value: bool,
    length: usize,
}

impl RunWriter<'_> {
    /// Writes all cells. `all` are the dims of the file.
    fn write(
        &mut self,
        bits: &BitGrid,
        all: [usize; 3],
        progress: &dyn Progress,
    ) -> io::Result<()> {
        let [nx, ..] = bits.dims();
        let plane = all[1] * all[2];
        progress.begin("write", all[0] as u64);
        let columns: Vec<usize> = (0..bits.row_words()).collect();
        for batch in columns.chunks(BATCH) {
            cancelled(progress)?;
            for (column, changes) in batch.iter().zip(par::map(batch.to_vec(), |column| {
                changes(bits, all, column)
            })) {
                for changes in changes.iter().take(nx - 64 * column) {
                    self.plane(changes, plane)?;
                    progress.advance(1);
                }
            }
        }
        self.run(false, (all[0] - nx) * plane)?;
        self.end()
    }

    /// Adds the cells of one plane of x. `changes` are the indices of the cells that differ from the cell
    /// before them. The cell before the first one counts as empty.
    fn plane(&mut self, changes: &[usize], plane: usize) -> io::Result<()> {
        let mut value = false;
        let mut start = 0;
        for &end in changes.iter().chain([&plane]) {
            self.run(value, end - start)?;
            (value, start) = (!value, end);
        }
        Ok(())
    }

    fn run(&mut self, value: bool, length: usize) -> io::Result<()> {
        if value != self.value && length > 0 {
            self.end()?;
            self.value = value;
        }
        self.length += length;
        Ok(())
    }

    /// Writes the current run in pieces whose lengths fit into a byte.
    fn end(&mut self) -> io::Result<()> {
        let full = [u8::from(self.value), MAX_RUN as u8].repeat(64);
        let (parts, rest) = (self.length / MAX_RUN, self.length % MAX_RUN);
        for done in (0..parts).step_by(64) {
            self.out.write_all(&full[..2 * (parts - done).min(64)])?;
        }
        if rest > 0 {
            self.out.write_all(&[u8::from(self.value), rest as u8])?;
        }
        self.length = 0;
        Ok(())
    }
}

/// Returns the changes of 64 planes of x, which share a column of words. A change is the index of a cell that
/// differs from the cell before it; y varies fastest. `all` are the dims of the file.
fn changes(bits: &BitGrid, all: [usize; 3], column: usize) -> Vec<Vec<usize>> {
    let [_, ny, nz] = bits.dims();
    let mut changes = vec![Vec::new(); 64];
    let mut last = 0;
    let mut take = |at: usize, word: u64, last: &mut u64| {
        let mut changed = word ^ *last;
        while changed != 0 {
            changes[changed.trailing_zeros() as usize].push(at);
            changed &= changed - 1;
        }
        *last = word;
    };
    for k in 0..nz {
        let first = k * all[1];
        for j in 0..ny {
            take(first + j, bits.row(j, k)[column], &mut last);
        }
        if ny < all[1] {
            take(first + ny, 0, &mut last);
        }
    }
    if nz < all[2] {
        take(nz * all[1], 0, &mut last);
    }
    changes
}
