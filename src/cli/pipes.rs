//! Pipes, whose other end may do nothing for ever: an interrupt ends the wait.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::Duration;

use voxelize::job::{InFile, OutFile};
use voxelize::{Error, tool};

use super::signals::Signals;

/// So many bytes are passed on at most at a time.
const BLOCK: usize = 64 << 10;

/// How often interrupts are looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long to wait for the other end before the next try.
const RETRY_DELAY: Duration = Duration::from_micros(200);

/// A pipe to read, by a thread of its own that a system call may hold for as long as it likes.
pub struct Inlet {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: io::Cursor<Vec<u8>>,
    signals: Signals,
}

impl Inlet {
    /// Standard input.
    pub fn stdin(signals: &Signals) -> Self {
        Self::new(signals, || Ok(io::stdin()))
    }

    /// A file of the run; to open a pipe is to wait for its writer.
    pub fn open(file: &InFile, signals: &Signals) -> Self {
        let path = PathBuf::from(file.path());
        Self::new(signals, move || File::open(path))
    }

    fn new<R: Read>(signals: &Signals, open: impl FnOnce() -> io::Result<R> + Send + 'static) -> Self {
        let (sender, blocks) = sync_channel(2);
        let no_thread = SyncSender::clone(&sender);
        let started = tool::detached(move || match open() {
            Ok(pipe) => pass_on(pipe, &sender),
            Err(error) => {
                let _ = sender.send(Err(error));
            }
        });
        if let Err(error) = started {
            let _ = no_thread.send(Err(io::Error::other(error)));
        }
        Self { blocks, block: io::Cursor::default(), signals: signals.clone() }
    }
}

/// Forwards bytes until the pipe ends or the receiver is gone.
fn pass_on(mut pipe: impl Read, to: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut block = vec![0; BLOCK];
        let read = match pipe.read(&mut block) {
            Ok(0) => return,
            Ok(n) => {
                block.truncate(n);
                Ok(block)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let ends = read.is_err();
        if to.send(read).is_err() || ends {
            return;
        }
    }
}

impl Read for Inlet {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.block.read(into)?;
            if n > 0 || into.is_empty() {
                return Ok(n);
            }
            match self.blocks.recv_timeout(POLL_INTERVAL) {
                Ok(block) => self.block = io::Cursor::new(block?),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if self.signals.caught().is_some() => {
                    return Err(io::Error::other(Error::interrupted()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// A pipe to write to, by such a thread.
pub struct Outlet {
    to: SyncSender<PipeBlock>,
    /// The failure of a write, after which nothing more is taken.
    failed: Receiver<io::Error>,
    /// Written blocks, for reuse: memory that one thread takes from the allocator and another
    /// gives back adds up to megabytes.
    spare: Receiver<Vec<u8>>,
    /// Data that is not passed on yet.
    block: Vec<u8>,
    signals: Signals,
}

/// The data that is passed on.
enum PipeBlock {
    Bytes(Vec<u8>),
    /// Answered when all before it is written.
    Flush(SyncSender<()>),
}

impl Outlet {
    /// Standard output.
    pub fn stdout(signals: &Signals) -> Self {
        Self::new(signals, || Ok(io::stdout()))
    }

    /// A file of the run; to open a pipe is to wait for its reader.
    pub fn open(file: &OutFile, signals: &Signals) -> Self {
        let path = PathBuf::from(file.path());
        Self::new(signals, move || OpenOptions::new().write(true).open(path))
    }

    fn new<W: Write>(signals: &Signals, open: impl FnOnce() -> io::Result<W> + Send + 'static) -> Self {
        let (to, blocks) = sync_channel(2);
        let (failure, failed) = sync_channel(1);
        let (used, spare) = sync_channel(4);
        let no_thread = SyncSender::clone(&failure);
        let started = tool::detached(move || {
            if let Err(error) = open().and_then(|pipe| write_all(pipe, &blocks, &used)) {
                // It is there before the other side finds that nobody takes blocks.
                let _ = failure.send(error);
            }
            drop(blocks);
        });
        if let Err(error) = started {
            let _ = no_thread.send(io::Error::other(error));
        }
        Self { to, failed, spare, block: Vec::with_capacity(BLOCK), signals: signals.clone() }
    }

    fn pass_on(&mut self, mut block: PipeBlock) -> io::Result<()> {
        loop {
            block = match self.to.try_send(block) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(block)) => block,
                Err(TrySendError::Disconnected(_)) => return Err(self.failure()),
            };
            self.check()?;
            std::thread::sleep(RETRY_DELAY);
        }
    }

    fn check(&self) -> io::Result<()> {
        if self.signals.caught().is_some() { Err(io::Error::other(Error::interrupted())) } else { Ok(()) }
    }

    fn failure(&self) -> io::Error {
        self.failed.try_recv().unwrap_or_else(|_| io::ErrorKind::BrokenPipe.into())
    }
}

fn write_all(
    mut pipe: impl Write,
    blocks: &Receiver<PipeBlock>,
    used: &SyncSender<Vec<u8>>,
) -> io::Result<()> {
    for block in blocks {
        match block {
            PipeBlock::Bytes(mut bytes) => {
                pipe.write_all(&bytes)?;
                bytes.clear();
                // Too many, or nobody is left: it goes.
                let _ = used.try_send(bytes);
            }
            PipeBlock::Flush(done) => {
                pipe.flush()?;
                // The caller may have been interrupted.
                let _ = done.send(());
            }
        }
    }
    Ok(())
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..n]);
        if self.block.len() == BLOCK {
            let next = self.spare.try_recv().unwrap_or_else(|_| Vec::with_capacity(BLOCK));
            let full = std::mem::replace(&mut self.block, next);
            self.pass_on(PipeBlock::Bytes(full))?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.block);
        self.pass_on(PipeBlock::Bytes(rest))?;
        let (done, written) = sync_channel(1);
        self.pass_on(PipeBlock::Flush(done))?;
        loop {
            match written.try_recv() {
                Ok(()) => return Ok(()),
                Err(TryRecvError::Disconnected) => return Err(self.failure()),
                Err(TryRecvError::Empty) => self.check()?,
            }
            std::thread::sleep(RETRY_DELAY);
        }
    }
}
