//! Buffered writing in the background. One thread writes to the file while the caller makes the next bytes.
//! Another thread syncs the bytes already written, so that the final sync is short. Small files start neither
//! thread. If the system cannot start a thread, the caller's thread writes.
//!
//! Some formats seek back to fill in sizes. They do so after writing all other bytes. From the first seek on,
//! the caller's thread writes.
//!
//! Whole blocks of zeros in a large file are skipped. They become holes, which take no space on the disk,
//! need no sync, and are read as zeros. A file system without holes fills them itself.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::Durability;
use voxelize_core::par;
use voxelize_kernel::memory::Zeroed;

/// Number of bytes per write. So many bytes stay in the processor's cache.
const PIECE: usize = 256 << 10;

/// Number of pieces that may be waiting to be written.
const PIECES: usize = 16;

/// Number of bytes that the caller's thread writes itself. Starting a writer thread pays off only for larger
/// files.
const DIRECT: usize = 2 << 20;

/// Number of bytes between two syncs.
const SYNC: usize = 4 << 20;

/// Size of the write buffer after the first seek, in bytes.
const SEEK_BUFFER: usize = 64 << 10;

/// Size of a block that may become a hole, in bytes. This is the usual block size of a file system.
const HOLE: usize = 4 << 10;

/// File that is written from start to end, except for seeks at the end.
pub(super) struct Ahead {
    file: File,
    durability: Durability,
    /// Piece that is being filled. `None` if an allocation failed, or if the last piece was passed on.
    piece: Option<Piece>,
    /// Number of bytes accepted from the caller.
    length: u64,
    /// Number of bytes that the caller's thread still has to write before a writer thread is started.
    direct: usize,
    writer: Option<WriterThread>,
    /// Buffered file, used after the first seek. All bytes before that seek are already written.
    seeking: Option<BufWriter<File>>,
}

/// Bytes that are to be written. Their memory is mapped directly, so that it does not stay in the allocator
/// of a thread.
struct Piece {
    bytes: Zeroed<u8>,
    length: usize,
}

impl Piece {
    fn new() -> Option<Self> {
        Some(Self {
            bytes: Zeroed::new(PIECE)?,
            length: 0,
        })
    }

    fn filled(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Copies as many of these bytes as fit, and returns how many.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(PIECE - self.length);
        self.bytes[self.length..][..taken].copy_from_slice(&bytes[..taken]);
        self.length += taken;
        taken
    }
}

/// Thread that writes a large file.
struct WriterThread {
    full: SyncSender<Piece>,
    /// Returns pieces that have been written, so that their memory can be used again.
    empty: Receiver<Piece>,
    writer: JoinHandle<io::Result<()>>,
}

impl Ahead {
    pub(super) fn new(file: File, durability: Durability) -> Self {
        Self {
            file,
            durability,
            piece: None,
            length: 0,
            direct: DIRECT,
            writer: None,
            seeking: None,
        }
    }

    /// Writes the remaining bytes and waits until everything is written. The bytes may still be in the
    /// system's cache, not on the disk.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Some(buffered) = self.seeking.take() {
            buffered
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?;
            return Ok(());
        }
        self.write_rest()
    }

    fn write_rest(&mut self) -> io::Result<()> {
        if self.writer.is_some() {
            self.pass_on()?;
        } else if let Some(piece) = self.piece.take() {
            self.file.write_all(piece.filled())?;
        }
        self.join()?;
        // The file ends in a hole, which no write has reached.
        if self.file.metadata()?.len() < self.length {
            self.file.set_len(self.length)
        } else {
            Ok(())
        }
    }

    /// Writes the current piece, or sends it to the writer thread.
    fn pass_on(&mut self) -> io::Result<()> {
        let Some(piece) = self.piece.take() else {
            return Ok(());
        };
        if self.direct > 0 {
            self.file.write_all(piece.filled())?;
            self.direct = self.direct.saturating_sub(piece.length);
            self.piece = Some(piece);
        } else {
            if self.writer.is_none() {
                self.writer = WriterThread::start(self.file.try_clone()?, self.durability);
            }
            if let Some(thread) = &self.writer {
                if thread.full.send(piece).is_err() {
                    // Sending fails only if the thread has ended with an error.
                    return self.join();
                }
                self.piece = thread.empty.try_recv().ok();
            } else {
                write_with_holes(&mut self.file, piece.filled())?;
                self.piece = Some(piece);
            }
        }
        if let Some(piece) = &mut self.piece {
            piece.length = 0;
        }
        Ok(())
    }

    /// Waits until the writer thread ends, and returns its error.
    fn join(&mut self) -> io::Result<()> {
        let Some(WriterThread {
            full,
            empty,
            writer,
        }) = self.writer.take()
        else {
            return Ok(());
        };
        drop((full, empty));
        writer
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Ahead {
    /// Discards buffered bytes. After an error, dropping the file must not write anything.
    fn drop(&mut self) {
        self.seeking.take().map(BufWriter::into_parts);
        let _ = self.join();
    }
}

impl io::Write for Ahead {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(buffered) = &mut self.seeking {
            return buffered.write(bytes);
        }
        let mut piece = match self.piece.take() {
            Some(piece) => piece,
            None => Piece::new().ok_or(io::ErrorKind::OutOfMemory)?,
        };
        let taken = piece.take(bytes);
        self.length += taken as u64;
        let is_full = piece.length == PIECE;
        self.piece = Some(piece);
        if is_full {
            self.pass_on()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Ahead {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let Some(buffered) = &mut self.seeking {
            return buffered.seek(to);
        }
        if to == SeekFrom::Current(0) {
            return Ok(self.length);
        }
        self.write_rest()?;
        let buffered = BufWriter::with_capacity(SEEK_BUFFER, self.file.try_clone()?);
        let buffered = self.seeking.insert(buffered);
        buffered.seek(SeekFrom::Start(self.length))?;
        buffered.seek(to)
    }
}

impl WriterThread {
    /// Starts the thread. `None` if the system cannot start one.
    fn start(file: File, durability: Durability) -> Option<Self> {
        let (full, pieces) = sync_channel::<Piece>(PIECES);
        let (back, empty) = sync_channel(PIECES);
        let writer = par::start(move || write_all(file, durability, &pieces, &back)).ok()?;
        Some(Self {
            full,
            empty,
            writer,
        })
    }
}

/// Writes all pieces and sends them back, so that their memory can be used again.
fn write_all(
    mut file: File,
    durability: Durability,
    pieces: &Receiver<Piece>,
    back: &SyncSender<Piece>,
) -> io::Result<()> {
    let mut syncer = None;
    let mut left = SYNC;
    for piece in pieces {
        write_with_holes(&mut file, piece.filled())?;
        left = left.saturating_sub(piece.length);
        let _ = back.try_send(piece);
        if left == 0 && durability == Durability::Synced {
            if syncer.is_none() {
                syncer = Syncer::start(file.try_clone()?);
            }
            // If the syncer is busy, these bytes are synced at a later request.
            if syncer
                .as_ref()
                .is_some_and(|sync| sync.begin.try_send(()).is_ok())
            {
                left = SYNC;
            }
        }
    }
    match syncer {
        None => Ok(()),
        Some(Syncer { begin, thread }) => {
            drop(begin);
            // The syncer ends at its first error, which is returned here.
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }
    }
}

/// Writes a piece except for its blocks of zeros. The piece must begin at a multiple of [`HOLE`].
fn write_with_holes(file: &mut File, piece: &[u8]) -> io::Result<()> {
    let is_hole: Vec<bool> = piece
        .chunks(HOLE)
        .map(|block| block.len() == HOLE && is_zero(block))
        .collect();
    let mut rest = piece;
    for run in is_hole.chunk_by(|a, b| a == b) {
        let (bytes, after) = rest.split_at(rest.len().min(run.len() * HOLE));
        rest = after;
        if run[0] {
            file.seek_relative(bytes.len() as i64)?;
        } else {
            file.write_all(bytes)?;
        }
    }
    Ok(())
}

/// Returns `true` if all bytes are zero. Stops soon after the first byte that is not.
fn is_zero(bytes: &[u8]) -> bool {
    bytes
        .chunks(256)
        .all(|some| some.iter().fold(0, |all, byte| all | byte) == 0)
}

/// Thread that syncs a file. At each request it syncs the bytes written so far.
struct Syncer {
    begin: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Syncer {
    /// Starts the thread. `None` if the system cannot start one.
    fn start(file: File) -> Option<Self> {
        let (begin, begun) = sync_channel::<()>(0);
        let thread = par::start(move || {
            for () in begun {
                file.sync_data()?;
            }
            Ok(())
        })
        .ok()?;
        Some(Self { begin, thread })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn all_bytes_are_written_in_order() {
        for count in [
            0,
            1,
            PIECE - 1,
            PIECE,
            PIECE + 1,
            3 * PIECE + 5,
            SYNC + 2 * PIECE + 3,
        ] {
            for (durability, direct) in [
                (Durability::Synced, 0),
                (Durability::Unsynced, 0),
                (Durability::Synced, 2 * PIECE),
            ] {
                let mut file = tempfile::tempfile().unwrap();
                let bytes: Vec<u8> = (0..count).map(|n| (n % 251) as u8).collect();
                let mut ahead = Ahead::new(file.try_clone().unwrap(), durability);
                ahead.direct = direct;
                bytes
                    .chunks(77_777)
                    .for_each(|some| ahead.write_all(some).unwrap());
                ahead.finish().unwrap();
                let mut read = vec![];
                file.rewind().unwrap();
                file.read_to_end(&mut read).unwrap();
                assert!(read == bytes, "{count}");
            }
        }
    }

    #[test]
    fn holes_are_read_as_zeros() {
        for zeros in [
            0..HOLE,
            PIECE - HOLE..2 * PIECE,
            5..3 * HOLE + 7,
            2 * PIECE..3 * PIECE,
            0..3 * PIECE,
        ] {
            let mut file = tempfile::tempfile().unwrap();
            let mut bytes = vec![1; 3 * PIECE];
            bytes[zeros.clone()].fill(0);
            let mut ahead = Ahead::new(file.try_clone().unwrap(), Durability::Synced);
            ahead.direct = 0;
            ahead.write_all(&bytes).unwrap();
            ahead.finish().unwrap();
            let mut read = vec![];
            file.rewind().unwrap();
            file.read_to_end(&mut read).unwrap();
            assert!(read == bytes, "{zeros:?}");
        }
    }

    #[test]
    fn bytes_written_after_a_seek_replace_earlier_ones() {
        for count in [10, PIECE, 12 * PIECE + 5] {
            let mut file = tempfile::tempfile().unwrap();
            let mut ahead = Ahead::new(file.try_clone().unwrap(), Durability::Synced);
            ahead.write_all(&vec![1; count]).unwrap();
            // The zeros at the end become a hole.
            ahead.write_all(&vec![0; count]).unwrap();
            assert_eq!(ahead.stream_position().unwrap(), 2 * count as u64);
            ahead.seek(SeekFrom::Start(4)).unwrap();
            ahead.write_all(&[2, 3]).unwrap();
            assert_eq!(ahead.seek(SeekFrom::End(0)).unwrap(), 2 * count as u64);
            ahead.write_all(&[4]).unwrap();
            ahead.finish().unwrap();
            let mut read = vec![];
            file.rewind().unwrap();
            file.read_to_end(&mut read).unwrap();
            let expected = [
                &[1, 1, 1, 1, 2, 3][..],
                &vec![1; count - 6],
                &vec![0; count],
                &[4],
            ]
            .concat();
            assert!(read == expected, "{count}");
        }
    }

    #[test]
    fn an_error_of_the_writer_thread_is_returned() {
        let path = tempfile::NamedTempFile::new().unwrap();
        // Every write fails, because the file is open only for reading.
        let mut ahead = Ahead::new(File::open(path.path()).unwrap(), Durability::Unsynced);
        ahead.direct = 0;
        let failed = (0..64).any(|_| ahead.write_all(&[0; PIECE]).is_err());
        assert!(failed || ahead.finish().is_err());
    }
}
