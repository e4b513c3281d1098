//! Reading from a pipe that may stay silent for ever: an interrupt ends the wait.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use voxelize::Error;

use super::signals::Signals;

/// So many bytes are passed on at most at a time.
const BLOCK: usize = 256 << 10;

/// How long nobody asks whether to stop.
const PATIENCE: Duration = Duration::from_millis(20);

/// A pipe, read by a thread of its own, which a system call may hold for as long as it likes.
pub struct Stream {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: io::Cursor<Vec<u8>>,
    signals: Signals,
}

impl Stream {
    /// Standard input.
    pub fn stdin(signals: &Signals) -> Self {
        Self::new(signals, || Ok(io::stdin()))
    }

    /// What `path` names; to open a pipe is to wait for its writer.
    pub fn open(path: &Path, signals: &Signals) -> Self {
        let path = PathBuf::from(path);
        Self::new(signals, move || File::open(path))
    }

    fn new<R: Read>(signals: &Signals, open: impl FnOnce() -> io::Result<R> + Send + 'static) -> Self {
        let (sender, blocks) = sync_channel(2);
        std::thread::spawn(move || match open() {
            Ok(pipe) => pass_on(pipe, &sender),
            Err(error) => drop(sender.send(Err(error))),
        });
        Self { blocks, block: io::Cursor::default(), signals: signals.clone() }
    }
}

/// Passes on what there is until the pipe ends, or nobody wants more.
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

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.block.read(into)?;
            if n > 0 || into.is_empty() {
                return Ok(n);
            }
            match self.blocks.recv_timeout(PATIENCE) {
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
