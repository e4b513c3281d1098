//! `voxelize convert` keeps every digest and loses no file.

use std::fs;

use voxelize::format::{Carries, FORMATS, Format};
use voxelize::grid::CellKind;

use crate::support::place::Place;
use crate::support::rows;

/// Options that create cells of each kind.
const KINDS: [(CellKind, &str); 3] = [
    (CellKind::Bits, "--surface"),
    (CellKind::Labels, "--labels object"),
    (CellKind::Field, "--rule distance --band 2vx"),
];

fn place() -> Place {
    let place = Place::new();
    place.write("f.stl", fs::read("fixtures/f.stl").unwrap());
    place
}

/// Returns the option that saves the position of the cells in this format.
fn sidecar(format: &Format) -> &'static str {
    if format.carries == Carries::InFile {
        ""
    } else {
        " --sidecar"
    }
}

#[test]
fn each_readable_format_into_each_other_keeps_the_digests() {
    let place = place();
    let mut seen = 0;
    for (kind, options) in KINDS {
        let mut readable: Vec<&Format> = vec![];
        for format in FORMATS {
            if format.is_readable() && format.holds(kind) {
                readable.push(format);
            }
        }
        for from in &readable {
            let source = format!("a.{}", from.extensions[0]);
            let line = format!("f.stl -r 20 {options} -o {source}{} --json", sidecar(from));
            let digest = &place.run(&line).expect(0).json()["digest"];
            for to in &readable {
                let target = format!("b.{}", to.extensions[0]);
                let table = format!(
                    "0 convert {source} {target}{} --json
                        /digest {digest}
                     0 info {target} --json
                        /digest {digest}",
                    sidecar(to)
                );
                let runs = rows::check(&place, &table);
                let [converted, found] = [runs[0].json(), runs[1].json()];
                assert_eq!(found["contents"], converted["contents"], "{table}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 3 * 49, "{seen} pairs");
}

#[test]
fn failed_conversions_leave_files_unchanged() {
    let place = place();
    rows::check(
        &place,
        "0 f.stl -r 8 --rule distance -o d.npz
         0 f.stl -r 8 -o b.npz",
    );
    place.write("kept.vox", "kept");
    rows::refused(
        &place,
        "2 convert d.npz kept.vox
            err vox cannot store fields
         2 convert b.npz b.npz
            err would be overwritten
         2 convert b.npz kept.foo
            err no voxel format has the extension .foo
         2 convert b.npz -
            err no extension to name the format
         2 convert b.npz kept.vox --dtype f32
            err f32
         3 convert f.stl kept.vox
            err is a mesh, not voxels
         3 convert missing.npz kept.vox
            err missing.npz
         5 convert b.npz kept.vox --max-memory 1
            err --max-memory",
    );
    let stream = place.run("convert b.npz - -f nii").expect(0);
    place.run("convert b.npz b.nii").expect(0);
    assert!(stream.out == fs::read(place.path("b.nii")).unwrap());
}
