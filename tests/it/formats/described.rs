//! A file of every format states the place and the origin of its cells, in itself or in its sidecar.

use std::path::Path;

use voxelize::grid::metadata::Metadata;

use super::*;

/// Reads the sidecar of a file.
fn sidecar(path: &Path) -> Metadata {
    let text = fs::read_to_string(format!("{}.json", path.display())).unwrap();
    Metadata::from_json(&text).unwrap()
}

/// Returns the metadata of a file without its sidecar.
fn metadata(path: &Path) -> Metadata {
    format::describe(path).unwrap().metadata
}

/// All metadata except the cells. For formats that are only written, the sidecar contains it.
#[test]
fn every_format_states_the_place_and_the_origin_of_its_cells() {
    let voxels = at_odd_place(f_grid());
    let digest = voxels.digest();
    let cells = Some(digest.cells.to_string());
    let grid = digest.grid.map(|grid| grid.to_string());
    let mut seen = 0;
    for format in FORMATS {
        if !format.holds(CellKind::Bits) {
            continue;
        }
        for dtype in format.dtypes {
            let case = format!("{format:?} {}", dtype.name());
            let folder = tempfile::tempdir().unwrap();
            let path = path_of(&folder, format);
            format::save(&voxels, &path, format, &as_dtype(*dtype)).unwrap();
            let beside = sidecar(&path);
            let mut all = vec![&beside];
            if format.carries == Carries::InFile {
                fs::remove_file(format!("{}.json", path.display())).unwrap();
            }
            let own = format.is_readable().then(|| metadata(&path));
            all.extend(&own);
            for metadata in all {
                // Fractions, closed walls and the snap.
                assert_eq!(metadata.lattice, voxels.lattice, "{case}");
                // The rule with all options, the transform with the unit, the tool and the input.
                assert_eq!(metadata.record, voxels.record, "{case}");
                assert_eq!(metadata.dims, Some(voxels.dims()));
            }
            assert_eq!(beside.extra.get("cells"), cells.as_ref(), "{case}");
            assert_eq!(beside.extra.get("grid"), grid.as_ref(), "{case}");
            if let (Some(own), "npz" | "vox") = (own, format.name) {
                assert_eq!(own.extra.get("cells"), cells.as_ref(), "{case}");
                assert_eq!(own.extra.get("grid"), grid.as_ref(), "{case}");
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
    let legend = Legend::new([Label::new(7, "seven")]).unwrap();
    let mut labels = Labels::new([2, 1, 1], legend).unwrap();
    labels.set([1, 0, 0], 7);
    let voxels = Voxels::new(labels);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    for (dtype, is_kept) in [(Dtype::U8, true), (Dtype::Bool, false), (Dtype::Bit, false)] {
        format::save(&voxels, &path, named("npz"), &as_dtype(dtype)).unwrap();
        let expected = is_kept.then(|| voxels.digest().cells.to_string());
        for metadata in [metadata(&path), sidecar(&path)] {
            assert_eq!(metadata.extra.get("cells"), expected.as_ref(), "{dtype:?}");
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
    const KEYS: &str = "rule variant radius ties band iso inside close_holes snap transform input grid made_by digest";
    const PLACE: &str = "--unit mm --translate 1/7,0,-2 --axes -y,z,-x --up y -r 7 --pad 1";
    let mut seen = 0;
    for (rule, kind) in [
        (
            "--surface --ties both --snap none --scale 1/3",
            CellKind::Bits,
        ),
        (
            "--filled --inside flood --close-holes 1 --scale 1/3",
            CellKind::Bits,
        ),
        ("--rule offset --radius 1vx --scale 1/3", CellKind::Bits),
        // Distances are in units of the file.
        (
            "--rule distance --band 2vx --signed --inside evenodd",
            CellKind::Field,
        ),
    ] {
        let make = |name: &str, format: &str| {
            let line = format!("thirds.stl {rule} {PLACE} -f {format} -o {name}");
            place.run(&line).expect(0);
        };
        let info = |name: &str| place.run(&format!("info {name} --json")).expect(0).json();
        make("whole.npz", "npz");
        let expected = info("whole.npz");
        assert_eq!(expected["transform"]["unit"], "mm");
        for format in FORMATS.iter().filter(|format| format.holds(kind)) {
            let name = format!("{seen}.{}", format.extensions[0]);
            make(&name, &format!("{} --sidecar", format.name));
            if format.is_readable() {
                let found = info(&name);
                for key in KEYS.split(' ') {
                    assert_eq!(found[key], expected[key], "{rule}: {format:?} {key}");
                }
            } else {
                let whole = metadata(&place.path("whole.npz"));
                let beside = sidecar(&place.path(&name));
                assert_eq!(beside.record, whole.record, "{rule}: {format:?}");
            }
            seen += 1;
        }
    }
    assert!(seen > 3 * FORMATS.len(), "{seen}");
}
