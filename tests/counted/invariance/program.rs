//! The command line tool: no level, thread or format changes a digest, and files match its output.

use std::path::Path;
use std::process::Command;

use voxelize::format::{self, FORMATS, Format};
use voxelize::{Digest, Fit, Level, Rule, Size, Ties};

use crate::support::meshes::{fitted, fixture, folder};
use crate::support::suite::Counts;

/// Meshes with options, and the equivalent in the library.
fn cases() -> [(&'static str, &'static str, Fit, Ties); 3] {
    let tenths = Size::Spacing([0; 3].map(|_| voxelize::Rational::new(1, 10)));
    [
        (
            "bracket.stl",
            "--voxel-size 0.1",
            Fit::new(tenths),
            Ties::Up,
        ),
        (
            "knot.stl",
            "--res 70 --ties none",
            Fit::longest(70),
            Ties::None,
        ),
        (
            "octahedron.stl",
            "--res 16 --pad 1 --ties both",
            Fit::longest(16).pad(1),
            Ties::Both,
        ),
    ]
}

/// `--simd` × `-j`, and formats × types, each with two of these ways in turn.
pub fn the_program_and_its_files() -> Counts {
    let dir = tempfile::tempdir().expect("a folder");
    let levels = Level::available().into_iter().map(Level::name);
    let levels = ["auto"].into_iter().chain(levels);
    let ways: Vec<_> = levels
        .flat_map(|simd| [1, 2, 7].map(|threads| (simd, threads)))
        .collect();
    let readable = FORMATS.iter().filter(|format| format.is_readable());
    let kinds: Vec<_> = readable
        .flat_map(|format| format.dtypes.iter().map(move |dtype| (format, dtype)))
        .collect();
    let mut turn = ways.iter().cycle();
    let cases = cases();
    let mut runs = 0;
    for (mesh, options, fit, ties) in &cases {
        let lattice = fitted(fit.clone(), &fixture(mesh));
        let rule = Rule::Surface { ties: *ties };
        let expected = voxelize::voxelize(&fixture(mesh), &lattice, rule).expect("it fits");
        for (format, dtype) in &kinds {
            for _ in 0..2 {
                let (simd, threads) = turn.next().expect("it has no end");
                let output = dir.path().join(format!("out.{}", format.extensions[0]));
                let how = format!("-f {} --dtype {}", format.name, dtype.name());
                let line = format!("{options} --simd {simd} -j {threads} {how}");
                check(mesh, &line, &output, expected.digest());
                runs += 1;
            }
        }
    }
    assert!(runs >= 3 * ways.len(), "{runs} runs");
    vec![
        ("meshes", cases.len() as u64),
        ("formats and types", kinds.len() as u64),
        ("runs", runs as u64),
    ]
}

/// Runs the tool and compares both its digests, printed and read back.
fn check(mesh: &str, line: &str, output: &Path, expected: Digest) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    command.arg(folder().join(mesh)).args(line.split(' '));
    command.args(["--json", "--sidecar", "-o"]).arg(output);
    let out = command.output().expect("the tool starts");
    let [stdout, stderr] = [&out.stdout, &out.stderr].map(|text| String::from_utf8_lossy(text));
    let name = format!("{mesh} {line}");
    assert!(out.status.success(), "{name}: {stderr}\n{stdout}");
    let json: serde_json::Value = serde_json::from_str(&stdout).expect(&name);
    let grid = expected.grid.expect("the lattice is known").to_string();
    let cells = expected.cells.to_string();
    assert_eq!(json["digest"]["cells"], cells, "{name}");
    assert_eq!(json["digest"]["grid"], grid, "{name}");
    if format::by_path(output).is_some_and(Format::is_readable) {
        let read = format::open(output).expect(&name);
        assert_eq!(read.digest(), expected, "{name}, read back");
    }
    let removed = if output.is_dir() {
        std::fs::remove_dir_all(output)
    } else {
        std::fs::remove_file(output)
    };
    removed.expect("it was written");
}
