//! Floor of the time: a process that reads the mesh's file, writes the same number of bytes, and does nothing
//! else.
//!
//! This program starts itself for it, so that both sides include the start of a process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

/// Argument that turns this program into the floor: `--floor INPUT OUTPUT BYTES`.
const FLOOR: &str = "--floor";

/// Size of the buffer for reads and writes.
const BUFFER: usize = 1 << 20;

/// Returns the command of the floor.
pub fn command(input: &Path, output: &Path, bytes: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a running program has a path"));
    command
        .arg(FLOOR)
        .args([input, output])
        .arg(bytes.to_string());
    command
}

/// Reports whether this process is the floor.
pub fn asked() -> bool {
    std::env::args_os().nth(1).is_some_and(|arg| arg == FLOOR)
}

/// Reads the whole input, then writes and syncs the bytes.
pub fn run() {
    let args: Vec<OsString> = std::env::args_os().skip(2).collect();
    let [input, output, bytes] = &args[..] else {
        panic!("{FLOOR} INPUT OUTPUT BYTES")
    };
    let mut left: usize = bytes
        .to_str()
        .and_then(|text| text.parse().ok())
        .expect("a number of bytes");
    let mut buffer = vec![0; BUFFER];
    let mut input = File::open(input).expect("the mesh opens");
    while input.read(&mut buffer).expect("the mesh is read") > 0 {}
    let mut output = File::create(output).expect("the output opens");
    while left > 0 {
        let part = &buffer[..left.min(BUFFER)];
        output.write_all(part).expect("the output is written");
        left -= part.len();
    }
    output.sync_all().expect("the output is synced");
}
