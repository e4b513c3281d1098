//! The floor: a process that reads the mesh's file and writes as many bytes, and does nothing else.
//!
//! This program starts itself for it, so that both sides pay for starting one.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

/// The argument that makes this program the floor: `--floor INPUT OUTPUT BYTES`.
const FLOOR: &str = "--floor";

/// Reads and writes go through one buffer of this size.
const BUFFER: usize = 1 << 20;

/// The floor's process.
pub fn command(input: &Path, output: &Path, bytes: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a running program has a path"));
    command
        .arg(FLOOR)
        .args([input, output])
        .arg(bytes.to_string());
    command
}

/// Whether this process is the floor.
pub fn asked() -> bool {
    std::env::args_os().nth(1).is_some_and(|arg| arg == FLOOR)
}

/// Reads all of the input, writes and syncs the bytes.
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
