//! `voxelize convert` keeps every digest and loses no file.

use voxelize::format::{Carries, FORMATS, Format};
use voxelize::grid::CellKind;

use crate::support::place::{Place, refused};

/// Options that create cells of each kind.
const KINDS: [(CellKind, &str); 3] = [
    (CellKind::Bits, "--surface"),
    (CellKind::Labels, "--labels object"),
    (CellKind::Field, "--rule distance --band 2vx"),
];

fn place() -> Place {
    let place = Place::new();
    place.write("f.stl", std::fs::read("fixtures/f.stl").unwrap());
    place
}

/// Returns a file name of this format, and the option that saves the place of its cells.
fn file(stem: &str, format: &Format) -> String {
    let sidecar = if format.carries != Carries::InFile {
        " --sidecar"
    } else {
        ""
    };
    format!("{stem}.{}{sidecar}", format.extensions[0])
}

fn name(file: &str) -> &str {
    file.split(' ').next().unwrap_or_default()
}

#[test]
fn each_readable_format_into_each_other_keeps_the_digests() {
    let place = place();
    let mut seen = 0;
    for (kind, options) in KINDS {
        let readable = || {
            FORMATS
                .iter()
                .filter(|format| format.is_readable() && format.holds(kind))
        };
        for from in readable() {
            let source = file("a", from);
            let made = place
                .run(&format!("f.stl -r 20 {options} -o {source} --json"))
                .expect(0)
                .json();
            for to in readable() {
                let target = file("b", to);
                let words = format!("convert {} {target} --json", name(&source));
                let converted = place.run(&words).expect(0).json();
                assert_eq!(converted["digest"], made["digest"], "{words}");
                let found = place
                    .run(&format!("info {} --json", name(&target)))
                    .expect(0)
                    .json();
                assert_eq!(found["digest"], made["digest"], "{words}");
                assert_eq!(found["contents"], converted["contents"], "{words}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 3 * 49, "{seen} pairs");
}

#[test]
fn failed_conversions_leave_files_unchanged() {
    let place = place();
    place.run("f.stl -r 8 --rule distance -o d.npz").expect(0);
    place.run("f.stl -r 8 -o b.npz").expect(0);
    place.write("kept.vox", "kept");
    let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
    let before = bytes("b.npz");
    for (words, code, said) in [
        ("convert d.npz kept.vox", 2, "vox does not hold fields"),
        ("convert b.npz b.npz", 2, "would be overwritten"),
        (
            "convert b.npz kept.foo",
            2,
            "no voxel format has the extension .foo",
        ),
        ("convert b.npz -", 2, "no extension to name the format"),
        ("convert b.npz kept.vox --dtype f32", 2, "f32"),
        ("convert f.stl kept.vox", 3, "is a mesh, not voxels"),
        ("convert missing.npz kept.vox", 3, "missing.npz"),
        ("convert b.npz kept.vox --max-memory 1", 5, "--max-memory"),
    ] {
        let error = refused(&place, words, code);
        assert!(error.contains(said), "{words}: {error}");
        assert_eq!(
            (bytes("kept.vox"), bytes("b.npz")),
            (b"kept".to_vec(), before.clone()),
            "{words}"
        );
    }
    let stream = place.run("convert b.npz - -f nii").expect(0);
    place.run("convert b.npz b.nii").expect(0);
    assert!(stream.out == bytes("b.nii"));
}
