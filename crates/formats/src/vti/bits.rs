//! Bits in VTK's order: eight cells per byte, the first in the highest bit. There are no gaps at the ends of
//! rows.

use std::io::{self, Read, Write};

use voxelize_core::grid::spread::{gather, spread};

/// Writer that receives one byte per cell and writes one bit per cell.
pub(super) struct BitWriter<W: Write> {
    out: W,
    /// Cells that do not yet fill a byte.
    rest: Vec<u8>,
}

impl<W: Write> BitWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            rest: Vec::new(),
        }
    }

    /// Writes the remaining cells, which may not fill a byte.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let last = packed(&self.rest);
        self.out.write_all(&last)
    }
}

/// Packs cells into bytes. Of eight cells, the first becomes the highest bit.
fn packed(cells: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(cells.len().div_ceil(8));
    for cells in cells.chunks(64) {
        let word = gather(cells).to_le_bytes().map(u8::reverse_bits);
        bytes.extend_from_slice(&word[..cells.len().div_ceil(8)]);
    }
    bytes
}

impl<W: Write> Write for BitWriter<W> {
    fn write(&mut self, cells: &[u8]) -> io::Result<usize> {
        let first = if self.rest.is_empty() {
            0
        } else {
            cells.len().min(8 - self.rest.len())
        };
        self.rest.extend_from_slice(&cells[..first]);
        if self.rest.len() == 8 {
            self.out.write_all(&packed(&self.rest))?;
            self.rest.clear();
        }
        let whole = (cells.len() - first) / 8 * 8;
        self.out.write_all(&packed(&cells[first..first + whole]))?;
        self.rest.extend_from_slice(&cells[first + whole..]);
        Ok(cells.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reader that reads one bit per cell and returns one byte per cell.
pub(super) struct BitReader<R: Read> {
    input: R,
    cells: Vec<u8>,
    next: usize,
}

impl<R: Read> BitReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            cells: Vec::new(),
            next: 0,
        }
    }
}

impl<R: Read> Read for BitReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.next == self.cells.len() {
            let mut bytes = [0; 4096];
            let count = self.input.read(&mut bytes)?;
            self.cells.clear();
            self.next = 0;
            for eight in bytes[..count].chunks(8) {
                let mut word = [0; 8];
                for (byte, found) in word.iter_mut().zip(eight) {
                    *byte = found.reverse_bits();
                }
                let cells = spread(u64::from_le_bytes(word));
                self.cells
                    .extend_from_slice(&cells.as_flattened()[..8 * eight.len()]);
            }
        }
        let count = out.len().min(self.cells.len() - self.next);
        out[..count].copy_from_slice(&self.cells[self.next..self.next + count]);
        self.next += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back_after_writes_of_any_size() {
        let cells: Vec<u8> = (0..100_003_usize)
            .map(|n| u8::from(n * n % 7 < 3))
            .collect();
        for cut in [1, 3, 8, 13, 64, 4097, 100_003] {
            let mut bits = vec![];
            let mut writer = BitWriter::new(&mut bits);
            cells
                .chunks(cut)
                .for_each(|some| writer.write_all(some).unwrap());
            writer.finish().unwrap();
            assert_eq!(bits.len(), cells.len().div_ceil(8));
            assert!(
                (0..cells.len()).all(|n| bits[n / 8] >> (7 - n % 8) & 1 == cells[n]),
                "{cut}"
            );
            let mut back = vec![0; cells.len()];
            BitReader::new(&*bits).read_exact(&mut back).unwrap();
            assert!(back == cells);
        }
    }
}
