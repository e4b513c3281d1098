//! File without a name, for readers that need a file. It leaves nothing behind.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

static FILE: LazyLock<Mutex<File>> = LazyLock::new(|| {
    Mutex::new(tempfile::tempfile().expect("a file in the folder for temporary ones"))
});

/// Calls `read` with the path of a file that contains `bytes`.
pub fn with_file<R>(bytes: &[u8], read: impl FnOnce(PathBuf) -> R) -> R {
    use std::os::fd::AsRawFd;
    let mut file = FILE.lock().expect("a check that panics ends the process");
    file.set_len(0)
        .and_then(|()| file.rewind())
        .expect("an open file");
    file.write_all(bytes).expect("room for an input");
    read(format!("/proc/self/fd/{}", file.as_raw_fd()).into())
}
