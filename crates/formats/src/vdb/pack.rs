//! Compression and decompression of values. Arrays are stored unchanged, or each as a zlib stream.

use std::io;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// Compresses many short arrays, one after the other.
pub(super) struct Packer {
    /// Compressor. `None` if values are not zipped.
    deflate: Option<Compress>,
    packed: Vec<u8>,
}

impl Packer {
    pub(super) fn new(is_zipped: bool) -> Self {
        let deflate = is_zipped.then(|| Compress::new(Compression::fast(), true));
        Self {
            deflate,
            packed: Vec::new(),
        }
    }

    /// Appends `bytes` to `out`. They are compressed if that makes them shorter.
    pub(super) fn put(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let Some(deflate) = &mut self.deflate else {
            out.extend_from_slice(bytes);
            return Ok(());
        };
        self.packed.clear();
        self.packed.reserve(bytes.len());
        deflate.reset();
        let status = deflate.compress_vec(bytes, &mut self.packed, FlushCompress::Finish)?;
        let is_shorter = status == Status::StreamEnd && self.packed.len() < bytes.len();
        let (length, bytes) = if is_shorter {
            (self.packed.len() as i64, &self.packed[..])
        } else {
            (-(bytes.len() as i64), bytes)
        };
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(bytes);
        Ok(())
    }
}

/// Decompresses many short arrays, one after the other.
pub(super) struct Unpacker {
    inflate: Decompress,
}

impl Unpacker {
    pub(super) fn new() -> Self {
        Self {
            inflate: Decompress::new(true),
        }
    }

    /// Decompresses the zlib stream `packed` into `out`. Returns `true` if the result has exactly the length
    /// of `out`.
    pub(super) fn fill(&mut self, packed: &[u8], out: &mut [u8]) -> io::Result<bool> {
        self.inflate.reset(true);
        let status = self
            .inflate
            .decompress(packed, out, FlushDecompress::Finish)?;
        Ok(status == Status::StreamEnd && self.inflate.total_out() == out.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_come_back_and_do_not_grow() {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let noise: Vec<u8> = (0..2048).map(|_| next()).collect();
        let mut packer = Packer::new(true);
        let mut unpacker = Unpacker::new();
        let mut zipped = 0;
        for bytes in [&[][..], &[7], &[1; 512], &noise, &[0; 2048]] {
            let mut out = vec![];
            packer.put(bytes, &mut out).unwrap();
            let length = i64::from_le_bytes(out[..8].try_into().unwrap());
            assert_eq!(length.unsigned_abs() as usize, out.len() - 8);
            assert!(out.len() <= 8 + bytes.len());
            if length <= 0 {
                assert_eq!(&out[8..], bytes);
                continue;
            }
            let mut back = vec![0; bytes.len()];
            assert!(unpacker.fill(&out[8..], &mut back).unwrap() && back == bytes);
            assert!(!unpacker.fill(&out[8..], &mut back[1..]).unwrap_or(false));
            assert!(
                !unpacker
                    .fill(&out[8..], &mut vec![0; bytes.len() + 1])
                    .unwrap_or(false)
            );
            assert!(
                !unpacker
                    .fill(&out[8..out.len() - 1], &mut back)
                    .unwrap_or(false)
            );
            zipped += 1;
        }
        assert_eq!(zipped, 2);
        let mut out = vec![];
        Packer::new(false).put(&noise, &mut out).unwrap();
        assert_eq!(out, noise);
    }
}
