//! Pipes whose other end may never respond. A separate thread makes the system calls, and an interrupt ends
//! the wait for that thread.

use std::fs::{File, OpenOptions};
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use voxelize::{Error, Result, tool};

use super::signals::Signals;

/// Number of bytes in a block.
const BLOCK: usize = 256 << 10;

/// Time between two checks for interrupts.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Waits for the next block. Returns `None` if the other thread has ended. Fails after an interrupt.
fn receive(
    blocks: &Receiver<io::Result<Vec<u8>>>,
    signals: &Signals,
) -> io::Result<Option<Vec<u8>>> {
    loop {
        match blocks.recv_timeout(POLL_INTERVAL) {
            Ok(block) => return block.map(Some),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if signals.caught().is_some() => {
                return Err(io::Error::other(Error::interrupted()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Reading end of a pipe.
pub struct PipeReader {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Cursor<Vec<u8>>,
    signals: Signals,
}

impl PipeReader {
    /// Reads standard input.
    pub fn stdin(signals: &Signals) -> Result<Self> {
        Self::start(signals, || Ok(io::stdin()))
    }

    /// Opens a named pipe. A separate thread waits for the writer.
    pub fn open(path: &Path, signals: &Signals) -> Result<Self> {
        let path = PathBuf::from(path);
        Self::start(signals, || File::open(path))
    }

    fn start<R: Read>(
        signals: &Signals,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> Result<Self> {
        let (sender, blocks) = sync_channel(1);
        tool::detached(move || {
            let read = open().and_then(|mut pipe| {
                // The loop ends at the end of the pipe, or when the receiver has been dropped.
                loop {
                    let mut block = Vec::with_capacity(BLOCK);
                    pipe.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
                    if block.is_empty() || sender.send(Ok(block)).is_err() {
                        return Ok(());
                    }
                }
            });
            if let Err(error) = read {
                let _ = sender.send(Err(error));
            }
        })?;
        Ok(Self {
            blocks,
            block: Cursor::default(),
            signals: signals.clone(),
        })
    }
}

impl Read for PipeReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.block.read(into)?;
        if n > 0 || into.is_empty() {
            return Ok(n);
        }
        match receive(&self.blocks, &self.signals)? {
            Some(block) => self.block = Cursor::new(block),
            None => return Ok(0),
        }
        self.block.read(into)
    }
}

/// Writing end of a pipe.
pub struct PipeWriter {
    blocks: SyncSender<Vec<u8>>,
    /// Returns each block once it is written, so that its buffer can be filled again.
    written: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    signals: Signals,
}

impl PipeWriter {
    /// Writes to standard output.
    pub fn stdout(signals: &Signals) -> Result<Self> {
        Self::start(signals, || Ok(io::stdout()))
    }

    /// Opens a named pipe. A separate thread waits for the reader.
    pub fn open(path: &Path, signals: &Signals) -> Result<Self> {
        let path = PathBuf::from(path);
        Self::start(signals, || OpenOptions::new().write(true).open(path))
    }

    fn start<W: Write>(
        signals: &Signals,
        open: impl FnOnce() -> io::Result<W> + Send + 'static,
    ) -> Result<Self> {
        let (blocks, received) = sync_channel::<Vec<u8>>(1);
        let (sender, written) = sync_channel(1);
        tool::detached(move || {
            let done = open().and_then(|mut pipe| {
                for mut block in received {
                    pipe.write_all(&block)?;
                    pipe.flush()?;
                    block.clear();
                    if sender.send(Ok(block)).is_err() {
                        break;
                    }
                }
                Ok(())
            });
            if let Err(error) = done {
                let _ = sender.send(Err(error));
            }
        })?;
        Ok(Self {
            blocks,
            written,
            block: Vec::with_capacity(BLOCK),
            signals: signals.clone(),
        })
    }
}

impl Write for PipeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..n]);
        if self.block.len() == BLOCK {
            self.flush()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        // Sending fails if the thread has ended. Its last message is then the reason.
        let _ = self.blocks.send(std::mem::take(&mut self.block));
        match receive(&self.written, &self.signals)? {
            Some(block) => self.block = block,
            None => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        Ok(())
    }
}
