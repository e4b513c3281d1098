//! One child process from start to end: its time, its peak memory, and its output.
//!
//! The kernel reports the peak when the child is waited for. Before it runs its own program, a child is a
//! copy of its parent, which counts. Benchmarks that measure peaks therefore hold no mesh themselves.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use wait4::Wait4;

/// Result of a child process.
pub struct Ended {
    pub status: ExitStatus,
    /// Time from before the start until the end of the wait, in milliseconds.
    pub ms: f64,
    /// Peak memory in bytes.
    pub peak: u64,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `command` to its end.
pub fn run(command: &mut Command) -> Ended {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    // The output is shorter than the buffer of a pipe.
    let mut stdout = String::new();
    let mut stderr = String::new();
    child
        .stdout
        .take()
        .expect("it is piped")
        .read_to_string(&mut stdout)
        .expect("UTF-8");
    child
        .stderr
        .take()
        .expect("it is piped")
        .read_to_string(&mut stderr)
        .expect("UTF-8");
    let used = child.wait4().expect("a child is waited for");
    Ended {
        status: used.status,
        ms: begin.elapsed().as_secs_f64() * 1e3,
        peak: used.rusage.maxrss,
        stdout,
        stderr,
    }
}

/// Runs a command that has to succeed.
pub fn succeed(command: &mut Command) -> Ended {
    let ended = run(command);
    assert!(
        ended.status.success(),
        "{command:?}: {}\n{}",
        ended.status,
        ended.stderr
    );
    ended
}
