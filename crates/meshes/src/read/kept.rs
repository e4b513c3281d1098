//! Streams that may have to be read a second time.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use voxelize_core::error::{Error, Result};

/// Bytes of a stream, kept because it may have to be read a second time.
pub(super) struct KeptStream {
    max_memory: Option<u64>,
    /// `None` if the bytes are no longer needed, or exceeded the memory limit.
    bytes: RefCell<Option<Vec<u8>>>,
}

impl KeptStream {
    pub(super) fn new(max_memory: Option<u64>) -> Self {
        Self {
            max_memory,
            bytes: RefCell::new(Some(vec![])),
        }
    }

    /// Drops the bytes, because the stream will not be read again.
    pub(super) fn forget(&self) {
        self.bytes.take();
    }

    fn add(&self, more: &[u8]) {
        let mut bytes = self.bytes.borrow_mut();
        let Some(kept) = bytes.as_mut() else { return };
        let most = self.max_memory.map_or(u64::MAX, |most| most / 4);
        if (kept.len() + more.len()) as u64 > most || kept.try_reserve(more.len()).is_err() {
            *bytes = None;
            return;
        }
        kept.extend_from_slice(more);
    }

    /// Returns all bytes of the stream.
    ///
    /// # Errors
    /// If the bytes exceeded the memory limit.
    pub(super) fn take(&self) -> Result<Vec<u8>> {
        self.bytes.take().ok_or_else(|| {
            Error::too_large(
                "the mesh is far from the origin and must be read a second time, but the stream does not fit in memory",
            )
            .with_hint("pass the name of the file instead of a pipe")
        })
    }
}

/// Reader that keeps the bytes it reads in a [`KeptStream`].
pub(super) struct KeepingReader<'a> {
    pub input: &'a mut dyn Read,
    pub kept: Rc<KeptStream>,
}

impl Read for KeepingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.kept.add(&buffer[..read]);
        Ok(read)
    }
}
