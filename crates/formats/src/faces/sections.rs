//! Collects the bytes of several sections, which arrive interleaved, and writes one section after the other.
//! Faces come after all vertices, and the faces of one label after the faces of another.

use std::io::{self, Read, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;

use crate::save::{SPOOL, not_spooled};

/// Greatest number of bytes of a section that are written to the temporary file at once.
const PIECE: usize = 64 << 10;

/// Least number of such bytes. It is used if there are many sections.
const LEAST_PIECE: usize = 4 << 10;

/// Sections in a temporary file.
pub(super) struct FaceSections {
    file: SpooledTempFile,
    length: u64,
    sections: Vec<FaceSection>,
    /// Number of bytes of a section that are written to the temporary file at once. For up to 256 sections,
    /// these are at most [`SPOOL`] bytes.
    piece: usize,
}

#[derive(Default)]
struct FaceSection {
    pending: Vec<u8>,
    /// Offset and length of each piece of the section in the temporary file.
    pieces: Vec<(u64, usize)>,
    length: u64,
}

impl FaceSections {
    /// Creates `count` empty sections.
    pub(super) fn new(count: usize) -> Self {
        let sections = (0..count).map(|_| FaceSection::default()).collect();
        Self {
            file: SpooledTempFile::new(SPOOL),
            length: 0,
            sections,
            piece: (SPOOL / count.max(1)).clamp(LEAST_PIECE, PIECE),
        }
    }

    /// Adds bytes to a section.
    pub(super) fn push(&mut self, section: usize, bytes: &[u8]) -> io::Result<()> {
        let section = &mut self.sections[section];
        section.pending.extend_from_slice(bytes);
        section.length += bytes.len() as u64;
        if section.pending.len() < self.piece {
            return Ok(());
        }
        self.file.write_all(&section.pending).map_err(not_spooled)?;
        section.pieces.push((self.length, section.pending.len()));
        self.length += section.pending.len() as u64;
        section.pending.clear();
        Ok(())
    }

    /// Returns the number of bytes in a section.
    pub(super) fn length(&self, section: usize) -> u64 {
        self.sections[section].length
    }

    /// Writes a section to `out`.
    pub(super) fn copy(&mut self, section: usize, out: &mut dyn Write) -> io::Result<()> {
        let FaceSection {
            pending, pieces, ..
        } = std::mem::take(&mut self.sections[section]);
        let mut bytes = vec![];
        for (at, length) in pieces {
            bytes.resize(length, 0);
            self.file.seek(SeekFrom::Start(at)).map_err(not_spooled)?;
            self.file.read_exact(&mut bytes).map_err(not_spooled)?;
            out.write_all(&bytes)?;
        }
        out.write_all(&pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_keep_their_order() {
        let mut sections = FaceSections::new(3);
        let mut expected = [vec![], vec![], vec![]];
        for n in 0..3000_usize {
            let bytes = vec![n as u8; n % 200];
            // The last section stays empty.
            sections.push(n % 2, &bytes).unwrap();
            expected[n % 2].extend(bytes);
        }
        let lengths = [0, 1, 2].map(|n| sections.length(n) as usize);
        assert_eq!(lengths, [0, 1, 2].map(|n| expected[n].len()));
        assert!(lengths[0] > 2 * PIECE && lengths[2] == 0);
        for n in [1, 2, 0] {
            let mut out = vec![];
            sections.copy(n, &mut out).unwrap();
            assert!(out == expected[n], "section {n}");
        }
    }
}
