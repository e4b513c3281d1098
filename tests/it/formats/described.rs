//! A file of every format states the place and the origin of its cells, in itself or in its sidecar.

use voxelize::grid::metadata::Metadata;

use super::*;

/// Reads the sidecar of a file.
fn sidecar(path: &std::path::Path) -> Metadata {
    let text = std::fs::read_to_string(format!("{}.json", path.display())).unwrap();
    Metadata::from_json(&text).unwrap()
}

/// All metadata except the cells. For formats that are only written, the sidecar contains it.
#[test]
fn every_format_states_the_place_and_the_origin_of_its_cells() {
    let voxels = at_odd_place(f_grid());
    let digest = voxels.digest();
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for format in FORMATS.iter().filter(|format| format.holds(CellKind::Bits)) {
        for dtype in format.dtypes {
            let path = folder
                .path()
                .join(format!("{seen}.{}", format.extensions[0]));
            format::save(&voxels, &path, format, &as_dtype(*dtype)).unwrap();
            let beside = sidecar(&path);
            let own = format.is_readable().then(|| {
                if format.carries == Carries::InFile {
                    std::fs::remove_file(format!("{}.json", path.display())).unwrap();
                }
                format::describe(&path).unwrap().metadata
            });
            for metadata in [Some(&beside), own.as_ref()].into_iter().flatten() {
                // Fractions, closed walls and the snap.
                assert_eq!(
                    metadata.lattice,
                    voxels.lattice,
                    "{} {}",
                    format.name,
                    dtype.name()
                );
                // The rule with all options, the transform with the unit, the tool and the input.
                assert_eq!(
                    metadata.record,
                    voxels.record,
                    "{} {}",
                    format.name,
                    dtype.name()
                );
                assert_eq!(metadata.dims, Some(voxels.dims()));
            }
            let said = |metadata: &Metadata, key: &str| metadata.extra.get(key).cloned();
            assert_eq!(
                said(&beside, "cells"),
                Some(digest.cells.to_string()),
                "{}",
                format.name
            );
            assert_eq!(
                said(&beside, "grid"),
                digest.grid.map(|grid| grid.to_string()),
                "{}",
                format.name
            );
            if let (Some(own), "npz" | "vox") = (own, format.name) {
                assert_eq!(
                    said(&own, "cells"),
                    said(&beside, "cells"),
                    "{}",
                    format.name
                );
                assert_eq!(said(&own, "grid"), said(&beside, "grid"), "{}", format.name);
            }
            seen += 1;
        }
    }
    assert!(seen >= FORMATS.len(), "{seen}");
}

/// The digest in an archive covers the cells that are stored in it.
#[cfg(feature = "npz")]
#[test]
fn archives_do_not_claim_digests_of_labels_that_they_lost() {
    use voxelize::grid::{Label, Labels, Legend};
    let npz = format::by_name("npz").unwrap();
    let mut labels =
        Labels::new([2, 1, 1], Legend::new([Label::new(7, "seven")]).unwrap()).unwrap();
    labels.set([1, 0, 0], 7);
    let voxels = Voxels::new(labels);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    for (dtype, is_kept) in [(Dtype::U8, true), (Dtype::Bool, false), (Dtype::Bit, false)] {
        format::save(&voxels, &path, npz, &as_dtype(dtype)).unwrap();
        let claimed = [format::describe(&path).unwrap().metadata, sidecar(&path)];
        let expected = is_kept.then(|| voxels.digest().cells.to_string());
        for metadata in claimed {
            assert_eq!(
                metadata.extra.get("cells"),
                expected.as_ref(),
                "{}",
                dtype.name()
            );
        }
        let back = Voxels::open(&path).unwrap();
        assert_eq!(back.digest() == voxels.digest(), is_kept);
    }
}

/// The same for real jobs: `info` reports the same for a file of any format as for the .npz.
#[cfg(feature = "cli")]
#[test]
fn info_reports_the_same_for_every_format() {
    let place = crate::support::place::Place::new();
    const KEYS: [&str; 12] = [
        "rule",
        "variant",
        "radius",
        "ties",
        "band",
        "iso",
        "inside",
        "close_holes",
        "snap",
        "transform",
        "input",
        "grid",
    ];
    let place_of = "--unit mm --scale 1/3 --translate 1/7,0,-2 --axes -y,z,-x --up y -r 7 --pad 1";
    let mut seen = 0;
    for (rule, kind) in [
        ("--surface --ties both --snap none", CellKind::Bits),
        ("--filled --inside flood --close-holes 1", CellKind::Bits),
        ("--rule offset --radius 1vx", CellKind::Bits),
        (
            "--rule distance --band 2vx --signed --inside evenodd",
            CellKind::Field,
        ),
    ] {
        let info = |name: &str| place.run(&format!("info {name} --json")).expect(0).json();
        // Distances are in units of the file.
        let place_of = match kind {
            CellKind::Field => place_of.replace(" --scale 1/3", ""),
            _ => place_of.to_string(),
        };
        place
            .run(&format!("thirds.stl {rule} {place_of} -o whole.npz"))
            .expect(0);
        let expected = info("whole.npz");
        assert_eq!(expected["transform"]["unit"], "mm");
        for format in FORMATS.iter().filter(|format| format.holds(kind)) {
            let name = format!("{seen}.{}", format.extensions[0]);
            place
                .run(&format!(
                    "thirds.stl {rule} {place_of} -f {} --sidecar -o {name}",
                    format.name
                ))
                .expect(0);
            if format.is_readable() {
                let found = info(&name);
                for key in KEYS.into_iter().chain(["made_by", "digest"]) {
                    assert_eq!(found[key], expected[key], "{rule}: {} {key}", format.name);
                }
            } else {
                let beside = sidecar(&place.path(&name));
                let record = &format::describe(&place.path("whole.npz"))
                    .unwrap()
                    .metadata
                    .record;
                assert_eq!(&beside.record, record, "{rule}: {}", format.name);
            }
            seen += 1;
        }
    }
    assert!(seen > 3 * FORMATS.len(), "{seen}");
}
