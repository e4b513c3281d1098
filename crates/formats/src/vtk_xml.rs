//! Parts that the XML formats of VTK share: data that are compressed in blocks.
//!
//! | bytes | content (numbers are 64 bits, little-endian) |
//! |---|---|
//! | 8 | the number of blocks |
//! | 8 each | plain bytes of a block, and of the last block if it is shorter, else 0 |
//! | 8 each | the packed bytes of each block |
//! | … | the blocks, each a zlib stream |
//!
//! If data are not compressed, they are preceded by the number of their bytes.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>

use std::io::{self, BufWriter, Seek, Write};

use tempfile::SpooledTempFile;

use super::packed::{PIECE, ZlibBlocks};
use super::save::{SPOOL, not_spooled};

/// Returns the size of the header for data of this many uncompressed bytes.
pub(super) fn head_bytes(bytes: u64) -> u64 {
    8 * (3 + bytes.div_ceil(PIECE as u64))
}

/// Writes the header for data of this many uncompressed bytes. `lengths` are the compressed lengths of the
/// blocks.
pub(super) fn write_head(out: &mut dyn Write, bytes: u64, lengths: &[u64]) -> io::Result<()> {
    let piece = PIECE as u64;
    let sizes = [lengths.len() as u64, piece, bytes % piece];
    for number in sizes.iter().chain(lengths) {
        out.write_all(&number.to_le_bytes())?;
    }
    Ok(())
}

/// Data of an array in a temporary file. All arrays are collected before they are written, because the XML
/// states the offset of each.
pub(super) struct ArrayData {
    bytes: u64,
    store: DataStore,
}

enum DataStore {
    Plain(BufWriter<SpooledTempFile>),
    Packed(ZlibBlocks<SpooledTempFile>),
}

impl ArrayData {
    pub(super) fn new(is_packed: bool) -> Self {
        let spool = SpooledTempFile::new(SPOOL);
        let store = if is_packed {
            DataStore::Packed(ZlibBlocks::new(spool))
        } else {
            DataStore::Plain(BufWriter::with_capacity(PIECE, spool))
        };
        Self { bytes: 0, store }
    }

    pub(super) fn push(&mut self, data: &[u8]) -> io::Result<()> {
        self.bytes += data.len() as u64;
        self.out().write_all(data).map_err(not_spooled)
    }

    fn out(&mut self) -> &mut dyn Write {
        match &mut self.store {
            DataStore::Plain(out) => out,
            DataStore::Packed(blocks) => blocks,
        }
    }

    /// Completes the data, and returns the size that they will have in the file.
    pub(crate) fn finish(&mut self) -> io::Result<u64> {
        self.out().flush().map_err(not_spooled)?;
        Ok(match &self.store {
            DataStore::Plain(_) => 8 + self.bytes,
            DataStore::Packed(blocks) => {
                head_bytes(self.bytes) + blocks.lengths.iter().sum::<u64>()
            }
        })
    }

    /// Writes the data. [`finish`](Self::finish) must have been called before.
    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let mut spool = match self.store {
            DataStore::Plain(buffered) => {
                out.write_all(&self.bytes.to_le_bytes())?;
                buffered
                    .into_inner()
                    .map_err(|error| not_spooled(error.into_error()))?
            }
            DataStore::Packed(blocks) => {
                write_head(out, self.bytes, &blocks.lengths)?;
                blocks.out
            }
        };
        spool.rewind().map_err(not_spooled)?;
        io::copy(&mut spool, out).map(drop)
    }
}
