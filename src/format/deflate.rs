//! Deflate in several threads: pieces of fixed size, each compressed on its own, follow each other in one stream. So
//! the bytes depend on no thread.
//!
//! A piece ends at a whole byte, with an empty block (RFC 1951, 3.2.4); the last one ends the stream. The caller's
//! thread compresses, too, where the others have enough.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use flate2::{Compress, Compression, Crc, FlushCompress};

use crate::par;

/// Bytes compressed at a time.
const PIECE: usize = 512 << 10;

/// Pieces that a thread may have: the one it compresses, and the next.
const AHEAD: usize = 2;

/// The most threads besides the caller's: more would wait for the bytes.
const MOST: usize = 7;

/// A stream that is compressed on its way to `out`.
pub(super) struct Deflate<'a> {
    out: &'a mut dyn io::Write,
    piece: Vec<u8>,
    /// The caller's own.
    compress: Compress,
    workers: Vec<Worker>,
    /// Pieces that are not written, in order.
    waiting: VecDeque<Waiting>,
    crc: Crc,
    sums: Sums,
}

/// What a zip says of a member.
#[derive(Default, Clone, Copy)]
pub(super) struct Sums {
    pub crc: u32,
    pub bytes: u64,
    pub packed: u64,
}

/// A piece that is not written.
enum Waiting {
    Packed(PackedPiece),
    /// It is with the worker of this number.
    With(usize),
}

/// A piece and its compressed bytes.
struct PackedPiece {
    piece: Vec<u8>,
    bytes: Vec<u8>,
    crc: Crc,
}

/// A thread that compresses.
struct Worker {
    pieces: SyncSender<Vec<u8>>,
    packed: Receiver<io::Result<PackedPiece>>,
    /// How many pieces it has.
    has: usize,
}

impl<'a> Deflate<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write) -> Self {
        Self {
            out,
            piece: Vec::with_capacity(PIECE),
            compress: compressor(),
            workers: vec![],
            waiting: VecDeque::new(),
            crc: Crc::new(),
            sums: Sums::default(),
        }
    }

    /// Ends the stream.
    pub(super) fn finish(mut self) -> io::Result<Sums> {
        let last = pack(&mut self.compress, std::mem::take(&mut self.piece), FlushCompress::Finish)?;
        self.write_until(0)?;
        self.write_packed(last)?;
        Ok(Sums { crc: self.crc.sum(), ..self.sums })
    }

    /// Has the piece compressed by a thread that has few, or compresses it here.
    fn pass_on(&mut self) -> io::Result<()> {
        let more = (par::current_threads() - 1).min(MOST);
        if self.workers.is_empty() && self.sums.bytes == 0 && self.waiting.is_empty() {
            self.workers.extend((0..more).map_while(|_| Worker::start()));
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        let free = self.workers.iter().enumerate().min_by_key(|(_, worker)| worker.has);
        let free = free.filter(|(_, worker)| worker.has < AHEAD).map(|(n, _)| n);
        self.waiting.push_back(match free {
            Some(n) => {
                self.workers[n].pieces.send(piece).map_err(|_| io::Error::other("a thread ended"))?;
                self.workers[n].has += 1;
                Waiting::With(n)
            }
            None => Waiting::Packed(pack(&mut self.compress, piece, FlushCompress::Sync)?),
        });
        self.write_until((AHEAD + 1) * self.workers.len())
    }

    /// Writes what is compressed, in order, and waits until no more than `most` pieces are left.
    fn write_until(&mut self, most: usize) -> io::Result<()> {
        while let Some(first) = self.waiting.pop_front() {
            let packed = match first {
                Waiting::Packed(packed) => packed,
                Waiting::With(n) => {
                    let worker = &mut self.workers[n];
                    let answer = match worker.packed.try_recv() {
                        Err(TryRecvError::Empty) if self.waiting.len() < most => {
                            self.waiting.push_front(first);
                            break;
                        }
                        Err(_) => worker.packed.recv().map_err(|_| io::Error::other("a thread ended"))?,
                        Ok(answer) => answer,
                    };
                    worker.has -= 1;
                    answer?
                }
            };
            self.write_packed(packed)?;
        }
        Ok(())
    }

    fn write_packed(&mut self, PackedPiece { piece, bytes, crc }: PackedPiece) -> io::Result<()> {
        self.out.write_all(&bytes)?;
        self.crc.combine(&crc);
        self.sums.bytes += piece.len() as u64;
        self.sums.packed += bytes.len() as u64;
        Ok(())
    }
}

impl io::Write for Deflate<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        if self.piece.len() == PIECE {
            self.pass_on()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Worker {
    /// `None` if the system cannot start a thread.
    fn start() -> Option<Self> {
        let (pieces, mine) = sync_channel::<Vec<u8>>(AHEAD);
        let (done, packed) = sync_channel(AHEAD);
        let work = move || {
            let mut compress = compressor();
            let mut pack = |piece| pack(&mut compress, piece, FlushCompress::Sync);
            mine.iter().try_for_each(|piece| done.send(pack(piece)))
        };
        par::start(work).ok().map(|_| Self { pieces, packed, has: 0 })
    }
}

fn compressor() -> Compress {
    Compress::new(Compression::fast(), false)
}

fn pack(compress: &mut Compress, piece: Vec<u8>, flush: FlushCompress) -> io::Result<PackedPiece> {
    compress.reset();
    let (mut bytes, mut crc) = (Vec::with_capacity(piece.len() / 16 + 64), Crc::new());
    crc.update(&piece);
    loop {
        let rest = &piece[compress.total_in() as usize..];
        compress.compress_vec(rest, &mut bytes, flush)?;
        // With room left it is done.
        if bytes.len() < bytes.capacity() {
            return Ok(PackedPiece { piece, bytes, crc });
        }
        bytes.reserve(bytes.len() + 64);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn pieces_are_one_stream_whatever_threads_made_them() {
        for count in [0, 1, PIECE - 1, PIECE, PIECE + 1, 9 * PIECE + 5] {
            let bytes: Vec<u8> =
                (0..count).map(|n| if n % 5000 < 4000 { 0 } else { (n * n % 251) as u8 }).collect();
            let packed = [1, 2, 3].map(|threads| {
                let pack = || {
                    let mut out = vec![];
                    let mut deflate = Deflate::new(&mut out);
                    bytes.chunks(77_777).for_each(|some| deflate.write_all(some).unwrap());
                    let sums = deflate.finish().unwrap();
                    let mut crc = Crc::new();
                    crc.update(&bytes);
                    assert_eq!(
                        (sums.crc, sums.bytes, sums.packed),
                        (crc.sum(), count as u64, out.len() as u64)
                    );
                    out
                };
                par::with_threads(threads, pack).unwrap()
            });
            assert!(packed[0] == packed[1] && packed[0] == packed[2], "{count}");
            let mut read = vec![];
            flate2::read::DeflateDecoder::new(&packed[0][..]).read_to_end(&mut read).unwrap();
            assert!(read == bytes, "{count}");
        }
    }
}
