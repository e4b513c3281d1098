//! Writing ahead: what is written goes to a file by a thread of its own, while the next bytes are made, and another one
//! syncs what is written, so that little is left to wait for at the end. Neither is started for a few bytes. Where the
//! system cannot start a thread, the caller's thread writes.
//!
//! A format that goes back to fill in sizes does so behind all else: from then on the caller's thread writes.
//!
//! Where a large file has whole blocks of zeros nothing is written: they are holes, which take no space on the disk,
//! need no sync, and are read as zeros. A file system without holes fills them itself.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::Durability;
use voxelize_core::par;
use voxelize_kernel::memory::Zeroed;

/// Bytes that are written at a time: they stay in the cache.
const PIECE: usize = 256 << 10;

/// Pieces on their way.
const PIECES: usize = 16;

/// Bytes that are written at once, before a thread is worth it.
const DIRECT: usize = 2 << 20;

/// Bytes after which what is written is synced.
const SYNC: usize = 4 << 20;

/// Bytes that are written at a time once something was gone back to.
const BEHIND: usize = 64 << 10;

/// Bytes that a hole is a multiple of: the usual block of a file system.
const HOLE: usize = 4 << 10;

/// A file that is written to in order.
pub(super) struct Ahead {
    file: File,
    durability: Durability,
    /// None where memory for it ended, or it was passed on.
    piece: Option<Piece>,
    /// The bytes that were taken.
    length: u64,
    /// As many bytes are still written at once.
    direct: usize,
    writer: Option<WriterThread>,
    /// The file, once something was gone back to: all that came before is written.
    behind: Option<BufWriter<File>>,
}

/// Bytes on their way. They are mapped, so that no thread's allocator keeps them.
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

    /// Takes as many bytes as there is room for.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(PIECE - self.length);
        self.bytes[self.length..][..taken].copy_from_slice(&bytes[..taken]);
        self.length += taken;
        taken
    }
}

/// The thread that writes a large file.
struct WriterThread {
    full: SyncSender<Piece>,
    /// Pieces that are written, to be filled again.
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
            behind: None,
        }
    }

    /// Writes what is left, and waits until all of it is written; it need not be on the disk yet.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.behind.take() {
            Some(behind) => behind
                .into_inner()
                .map_err(io::IntoInnerError::into_error)
                .map(drop),
            None => self.write_rest(),
        }
    }

    fn write_rest(&mut self) -> io::Result<()> {
        if self.writer.is_some() {
            self.pass_on()?;
        } else if let Some(piece) = self.piece.take() {
            self.file.write_all(piece.filled())?;
        }
        self.join()?;
        // A hole at the end.
        if self.file.metadata()?.len() < self.length {
            self.file.set_len(self.length)
        } else {
            Ok(())
        }
    }

    /// Writes the piece, or hands it to the writer.
    fn pass_on(&mut self) -> io::Result<()> {
        let Some(piece) = self.piece.take() else {
            return Ok(());
        };
        if self.direct == 0 && self.writer.is_none() {
            self.writer = WriterThread::start(self.file.try_clone()?, self.durability);
        }
        if let Some(thread) = self.writer.as_ref().filter(|_| self.direct == 0) {
            if thread.full.send(piece).is_err() {
                // It ended with an error.
                return self.join();
            }
            self.piece = thread.empty.try_recv().ok();
        } else {
            match self.direct {
                0 => write_with_holes(&mut self.file, piece.filled())?,
                _ => self.file.write_all(piece.filled())?,
            }
            self.direct = self.direct.saturating_sub(piece.length);
            self.piece = Some(piece);
        }
        if let Some(piece) = &mut self.piece {
            piece.length = 0;
        }
        Ok(())
    }

    /// Waits for the writer.
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
    /// After an error nothing is written any more once the file goes.
    fn drop(&mut self) {
        self.behind.take().map(BufWriter::into_parts);
        let _ = self.join();
    }
}

impl io::Write for Ahead {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(behind) = &mut self.behind {
            return behind.write(bytes);
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
        match (&mut self.behind, to) {
            (None, SeekFrom::Current(0)) => Ok(self.length),
            (Some(behind), to) => behind.seek(to),
            (None, to) => {
                self.write_rest()?;
                let behind = BufWriter::with_capacity(BEHIND, self.file.try_clone()?);
                let behind = self.behind.insert(behind);
                behind.seek(SeekFrom::Start(self.length))?;
                behind.seek(to)
            }
        }
    }
}

impl WriterThread {
    /// `None` if the system cannot start a thread.
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

/// Writes all pieces, and sends them back.
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
            // While it is busy the rest waits for the next time.
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
            // What it could not sync the last sync reports again.
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }
    }
}

/// Writes a piece that begins at a multiple of [`HOLE`], save its blocks of zeros.
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

/// Whether all bytes are zero; looked at until one is not.
fn is_zero(bytes: &[u8]) -> bool {
    bytes
        .chunks(256)
        .all(|some| some.iter().fold(0, |all, byte| all | byte) == 0)
}

/// Syncs the bytes written so far, on every request.
struct Syncer {
    begin: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Syncer {
    /// `None` if the system cannot start a thread.
    fn start(file: File) -> Option<Self> {
        let (begin, begun) = sync_channel::<()>(0);
        let work = move || begun.iter().try_for_each(|()| file.sync_data());
        let thread = par::start(work).ok()?;
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
    fn what_is_gone_back_to_is_changed_and_more_follows() {
        for count in [10, PIECE, 12 * PIECE + 5] {
            let mut file = tempfile::tempfile().unwrap();
            let mut ahead = Ahead::new(file.try_clone().unwrap(), Durability::Synced);
            ahead.write_all(&vec![1; count]).unwrap();
            // Zeros at the end, of which a hole is made.
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
    fn an_error_of_the_writer_ends_the_writing() {
        let path = tempfile::NamedTempFile::new().unwrap();
        // Not open for writing.
        let mut ahead = Ahead::new(File::open(path.path()).unwrap(), Durability::Unsynced);
        ahead.direct = 0;
        let failed = (0..64).any(|_| ahead.write_all(&[0; PIECE]).is_err());
        assert!(failed || ahead.finish().is_err());
    }
}
