//! Runs the bodies of the fuzz targets over the kept corpora, on the stable toolchain, with overflow checks
//! and debug assertions everywhere except in the kernels: `just fuzz-replay [TARGET]...`. It needs no fuzzer,
//! finds nothing new, and stops at the first failing input, with its name.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Target: its name and its check of an input.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("check", checks::check::check),
    ("clearance", checks::clearance::check),
    ("insides", checks::insides::check),
    ("kernels", checks::kernels::check),
    ("names", checks::names::check),
    ("plan", checks::plan::check),
    ("read_ascii", checks::read_ascii::check),
    ("read_indexed", checks::read_indexed::check),
    ("read_gltf", checks::read_gltf::check),
    ("read_3mf", checks::read_3mf::check),
    ("read_goldens", checks::read_goldens::check),
    ("read_stl", checks::read_stl::check),
    ("read_voxels", checks::read_voxels::check),
    ("round_trip", checks::round_trip::check),
];

fn main() -> ExitCode {
    if !cfg!(debug_assertions) {
        eprintln!("replay is for builds with debug assertions: leave out --release");
        return ExitCode::FAILURE;
    }
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = chosen
        .iter()
        .find(|word| TARGETS.iter().all(|(name, _)| name != word))
    {
        eprintln!("no target is called {unknown}");
        return ExitCode::FAILURE;
    }
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut is_empty = false;
    for (name, check) in TARGETS
        .iter()
        .filter(|(name, _)| chosen.is_empty() || chosen.iter().any(|c| c == name))
    {
        let start = Instant::now();
        let mut inputs = 0;
        let mut files: Vec<_> = fs::read_dir(corpora.join(name))
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        files.sort_by_key(fs::DirEntry::path);
        for file in files {
            let Ok(bytes) = fs::read(file.path()) else {
                continue;
            };
            // Printed only if the input ends the process.
            let _report = Named(file.path().display().to_string());
            check(&bytes);
            inputs += 1;
        }
        println!(
            "{name}: {inputs} inputs, {:.1} s",
            start.elapsed().as_secs_f64()
        );
        is_empty |= inputs == 0;
    }
    if is_empty {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Prints the name of an input if its check panics.
struct Named(String);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the input that failed: {}", self.0);
        }
    }
}
