//! Number of instructions of a command, counted by `perf` if the machine supports it, or by `valgrind`.

use std::process::Command;

use super::suite::process;

/// Source of the count.
#[derive(Clone, Copy)]
pub enum Counter {
    /// The processor. Many virtual machines do not support it.
    Perf,
    /// A simulation that is about fifty times slower and lacks AVX-512, so the tool uses AVX2.
    Callgrind,
}

impl Counter {
    /// Returns the processor if it counts, otherwise the simulation if it is installed and requested.
    pub fn choose(asked: bool) -> Option<Self> {
        let nothing = Command::new("true");
        let wanted = if asked {
            &[Self::Perf, Self::Callgrind][..]
        } else {
            &[Self::Perf]
        };
        let counter = wanted
            .iter()
            .copied()
            .find(|counter| counter.count(&nothing).is_some());
        if asked {
            eprintln!(
                "instructions by {}",
                counter.map_or("nothing: no perf, no valgrind", Self::name)
            );
        }
        counter
    }

    fn name(self) -> &'static str {
        match self {
            Self::Perf => "perf: in user space",
            Self::Callgrind => "callgrind, on the level that it offers",
        }
    }

    /// Returns the number of instructions of `command` from start to end, in all its threads.
    pub fn count(self, command: &Command) -> Option<u64> {
        let words: &[&str] = match self {
            Self::Perf => &["perf", "stat", "-x", ",", "-e", "instructions:u", "--"],
            Self::Callgrind => &[
                "valgrind",
                "--tool=callgrind",
                "--callgrind-out-file=/dev/null",
            ],
        };
        let has_it = |folder: std::path::PathBuf| folder.join(words[0]).is_file();
        if !std::env::split_paths(&std::env::var_os("PATH")?).any(has_it) {
            return None;
        }
        let mut counted = Command::new(words[0]);
        counted
            .args(&words[1..])
            .arg(command.get_program())
            .args(command.get_args());
        let said = process::succeed(&mut counted).stderr;
        // `123,,instructions:u,…`, or `<not supported>,…`.
        let by_perf = || {
            said.lines()
                .find_map(|line| line.split_once(",,instructions:u")?.0.parse().ok())
        };
        // `==7== Collected : 123`.
        let by_callgrind = || {
            said.lines()
                .find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
        };
        match self {
            Self::Perf => by_perf(),
            Self::Callgrind => by_callgrind(),
        }
    }
}
