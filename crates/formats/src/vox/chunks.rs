//! Chunks of a `.vox` file. A chunk has an id, the lengths of its content and of its children, and the
//! content. All chunks are children of `MAIN`, whose length is filled in at the end.

use std::io::{self, SeekFrom, Write as _};

use vox_format::chunk::ChunkId;

use super::VERSION;
use crate::save::Sink;

/// Offset in the file of the length of `MAIN`'s children.
const LENGTH_AT: u64 = 16;

/// File that is being written.
pub(super) struct ChunkFile<'a> {
    out: Box<dyn Sink + 'a>,
    /// Number of bytes of all chunks written so far.
    bytes: u64,
}

impl<'a> ChunkFile<'a> {
    /// Writes the start of the file: its first bytes and the chunk `MAIN`.
    pub(super) fn new(mut out: Box<dyn Sink + 'a>) -> io::Result<Self> {
        out.write_all(b"VOX ")?;
        out.write_all(&VERSION.to_le_bytes())?;
        write_id(&mut *out, ChunkId::Main)?;
        out.write_all(&[0; 8])?;
        Ok(Self { out, bytes: 0 })
    }

    /// Writes a chunk.
    pub(super) fn put(&mut self, id: ChunkId, content: &[u8]) -> io::Result<()> {
        self.begin(id, content.len() as u64)?;
        self.write(content)
    }

    /// Writes the start of a chunk. The caller then writes `length` bytes of content.
    pub(super) fn begin(&mut self, id: ChunkId, length: u64) -> io::Result<()> {
        let length = u32::try_from(length).map_err(io::Error::other)?;
        write_id(&mut *self.out, id)?;
        self.bytes += 4;
        self.write(&length.to_le_bytes())?;
        self.write(&[0; 4])
    }

    /// Writes content of the chunk that was begun last.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Fills in the length of `MAIN` and completes the file.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let length = u32::try_from(self.bytes).map_err(io::Error::other)?;
        self.out.seek(SeekFrom::Start(LENGTH_AT))?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.seek(SeekFrom::End(0))?;
        self.out.flush()
    }
}

fn write_id(out: &mut dyn Sink, id: ChunkId) -> io::Result<()> {
    id.write(out).map_err(io::Error::other)
}
