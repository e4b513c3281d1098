//! The command line tool: no level, thread or format changes a digest, and files match its output.

use std::path::Path;
use std::process::Command;

use voxelize::format::{self, FORMATS, Format};
use voxelize::{Digest, Fit, Level, Rule, Size, Ties};

use crate::support::meshes::{cells, fixture, folder};
use crate::support::suite::Counts;

/// Mesh with options, and the equivalent in the library.
struct Case {
    mesh: &'static str,
    options: &'static [&'static str],
    fit: Fit,
    ties: Ties,
}

fn cases() -> Vec<Case> {
    let tenth = cells(1, &voxelize::Rational::new(1, 10));
    let tenths = Size::Spacing([tenth.clone(), tenth.clone(), tenth]);
    vec![
        Case {
            mesh: "bracket.stl",
            options: &["--voxel-size", "0.1"],
            fit: Fit::new(tenths),
            ties: Ties::Up,
        },
        Case {
            mesh: "knot.stl",
            options: &["--res", "70", "--ties", "none"],
            fit: Fit::longest(70),
            ties: Ties::None,
        },
        Case {
            mesh: "octahedron.stl",
            options: &["--res", "16", "--pad", "1", "--ties", "both"],
            fit: Fit::longest(16).pad(1),
            ties: Ties::Both,
        },
    ]
}

/// `--simd` × `-j` × formats and their types.
pub fn the_program_and_its_files() -> Counts {
    let dir = tempfile::tempdir().expect("a folder");
    let levels = || {
        ["auto"]
            .into_iter()
            .chain(Level::available().into_iter().map(Level::name))
    };
    let readable = || FORMATS.iter().filter(|format| format.is_readable());
    let kinds =
        || readable().flat_map(|format| format.dtypes.iter().map(move |dtype| (format, dtype)));
    let mut runs = 0;
    let cases = cases();
    for case in &cases {
        let mesh = fixture(case.mesh);
        let lattice = case.fit.to(mesh.bounds()).expect("it fits");
        let expected = voxelize::voxelize(&mesh, &lattice, Rule::Surface { ties: case.ties })
            .expect("it fits");
        for simd in levels() {
            for threads in ["1", "2", "7"] {
                for (format, dtype) in kinds() {
                    let output = dir.path().join(format!("out.{}", format.extensions[0]));
                    let how = [
                        "--simd",
                        simd,
                        "-j",
                        threads,
                        "-f",
                        format.name,
                        "--dtype",
                        dtype.name(),
                    ];
                    check(case, &how, &output, expected.digest());
                    runs += 1;
                }
            }
        }
    }
    vec![
        ("meshes", cases.len() as u64),
        ("formats and types", kinds().count() as u64),
        ("runs", runs),
    ]
}

/// Runs the tool and compares both its digests, printed and read back.
fn check(case: &Case, how: &[&str], output: &Path, expected: Digest) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxelize"));
    command
        .arg(folder().join(case.mesh))
        .args(case.options)
        .args(how);
    let out = command
        .args(["--json", "--sidecar", "-o"])
        .arg(output)
        .output()
        .expect("the tool starts");
    let stdout = String::from_utf8_lossy(&out.stdout);
    let name = format!("{} {:?} {how:?}", case.mesh, case.options);
    assert!(
        out.status.success(),
        "{name}: {}\n{stdout}",
        String::from_utf8_lossy(&out.stderr)
    );
    let json: serde_json::Value = serde_json::from_str(&stdout).expect(&name);
    let grid = expected.grid.expect("the lattice is known").to_string();
    assert_eq!(
        json["digest"]["cells"],
        expected.cells.to_string(),
        "{name}"
    );
    assert_eq!(json["digest"]["grid"], grid, "{name}");
    if format::by_path(output).is_some_and(Format::is_readable) {
        assert_eq!(
            format::open(output).expect(&name).digest(),
            expected,
            "{name}, read back"
        );
    }
    let removed = if output.is_dir() {
        std::fs::remove_dir_all(output)
    } else {
        std::fs::remove_file(output)
    };
    removed.expect("it was written");
}
