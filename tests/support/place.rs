//! Separate folder for a test, in which the command runs, and the result of a run.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub use super::solids::{Triangle, cuboid, stl};

/// Returns the command: the one of this build, or another one, to show that tests fail on earlier code.
pub fn binary() -> std::ffi::OsString {
    std::env::var_os("VOXELIZE_UNDER_TEST").unwrap_or_else(|| env!("CARGO_BIN_EXE_voxelize").into())
}

/// Gives children the default dispositions of signals. A shell without job control starts background
/// processes with interrupts ignored, and `nohup` ignores a closed terminal. A child inherits that, and the
/// command honours it. Signals that this process catches have their default disposition in its children.
pub fn dispositions() {
    #[cfg(target_os = "linux")]
    {
        use std::sync::{Arc, Once};
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let ignored = status
                .lines()
                .find_map(|line| line.strip_prefix("SigIgn:"))
                .unwrap();
            let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
            // SIGPIPE keeps the disposition of Rust, which the command expects.
            for signal in (1..32).filter(|signal| ignored >> (signal - 1) & 1 == 1 && *signal != 13)
            {
                let _ = signal_hook::flag::register(signal, Arc::default());
            }
        });
    }
}

/// Separate folder for a test, in which the command runs.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// Creates a folder with `cube.stl`, the cube from 0 to 20, and `thirds.stl`, a box to 0.7, 0.3, 0.5.
    pub fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        place.write("cube.stl", stl(&cuboid([20.0; 3])));
        place.write("thirds.stl", stl(&cuboid([0.7, 0.3, 0.5])));
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Returns the command with these arguments, in this folder and outside of CI, because goldens are not
    /// recorded there.
    pub fn command(&self, line: &str) -> Command {
        dispositions();
        let mut command = Command::new(binary());
        command
            .env_remove("CI")
            .current_dir(self.folder.path())
            .args(line.split_whitespace())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, line: &str) -> Run {
        Run::new(line, self.command(line).output().unwrap())
    }

    /// Runs the command with `input` on standard input.
    pub fn run_with(&self, line: &str, input: &[u8]) -> Run {
        let mut command = self.command(line);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses does not read its input, so a closed pipe is no failure.
        let _ = child.stdin.take().unwrap().write_all(input);
        Run::new(line, child.wait_with_output().unwrap())
    }

    /// Returns the names of the files, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Exit code and output of a command.
pub struct Run {
    pub line: String,
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: String,
}

impl Run {
    pub fn new(line: &str, output: Output) -> Self {
        let err = String::from_utf8(output.stderr).unwrap();
        Self {
            line: line.to_string(),
            code: output.status.code(),
            out: output.stdout,
            err,
        }
    }

    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "voxelize {}\n{}",
            self.line,
            self.err
        );
        assert!(
            !self.err.contains('\x1b'),
            "colours or bars off a terminal: {:?}",
            self.err
        );
        self
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(
            self.text().lines().count(),
            1,
            "one object, one line: {}",
            self.text()
        );
        serde_json::from_str(self.text()).unwrap()
    }

    /// Returns the text after `label` in the summary.
    #[track_caller]
    pub fn line(&self, label: &str) -> &str {
        let line = self.err.lines().find_map(|line| line.strip_prefix(label));
        line.unwrap_or_else(|| panic!("no '{label}' in\n{}", self.err))
            .trim()
    }
}

impl Run {
    /// Returns the text after `label` on standard output.
    #[track_caller]
    pub fn label(&self, label: &str) -> &str {
        let line = self
            .text()
            .lines()
            .find_map(|line| line.strip_prefix(label));
        line.unwrap_or_else(|| panic!("no '{label}' in\n{}", self.text()))
            .trim()
    }
}

/// Runs a command that must be refused with one line of error and one of hint. Returns the error.
#[track_caller]
pub fn refused(place: &Place, line: &str, code: i32) -> String {
    let run = place.run(line).expect(code);
    let start = |what: &str| {
        run.err
            .lines()
            .filter(|line| line.starts_with(what))
            .count()
    };
    assert_eq!(
        (start("error"), start("hint: ")),
        (1, 1),
        "voxelize {line}\n{}",
        run.err
    );
    assert_eq!(run.err.lines().count(), 2, "voxelize {line}\n{}", run.err);
    run.err.lines().next().unwrap_or_default().to_string()
}
