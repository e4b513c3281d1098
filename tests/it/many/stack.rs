//! The array of many meshes consists of the cells of each mesh alone.

use std::fs;
use std::io::Read;

use super::{below, scans};
use crate::support::place::{Place, cuboid, refused, stl};
use voxelize::Voxels;

/// Returns a member of an archive: its header and its bytes.
fn member(place: &Place, file: &str, name: &str) -> (String, Vec<u8>) {
    let mut archive = zip::ZipArchive::new(fs::File::open(place.path(file)).unwrap()).unwrap();
    let mut bytes = Vec::new();
    archive
        .by_name(&format!("{name}.npy"))
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    let data = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    (
        String::from_utf8(bytes[10..data].to_vec()).unwrap(),
        bytes[data..].to_vec(),
    )
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes
        .chunks(8)
        .map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap()))
        .collect()
}

/// Returns the names, each padded with zeros.
fn names(bytes: &[u8], count: usize) -> Vec<String> {
    let name = |bytes: &[u8]| {
        let letters = bytes
            .chunks(4)
            .map(|c| char::from_u32(u32::from_le_bytes(c.try_into().unwrap())).unwrap());
        letters.filter(|letter| *letter != '\0').collect()
    };
    bytes.chunks(bytes.len() / count).map(name).collect()
}

#[test]
fn one_array_has_the_cells_of_each_mesh() {
    let place = scans();
    place.write("scans/right/cut.stl", &stl(&cuboid([1.0; 3]))[..100]);
    let mut seen = 0;
    let dims = [7, 6, 5];
    for rule in ["--surface", "--solid", "--rule distance --band all"] {
        // The others are complete, and the exit code is the code of the failure.
        let line = format!("{rule} --dims 7,6,5");
        let run = place
            .run(&format!("scans {line} --stack -o all.npz"))
            .expect(3);
        assert!(
            run.err.contains("cut.stl") && run.err.contains("3 of 4 written to all.npz, 1 failed"),
            "{}",
            run.err
        );
        let of_zyx = place
            .run(&format!("scans {line} --stack --order zyx -o zyx.npz"))
            .expect(3);
        assert!(
            of_zyx.err.contains("3 of 4 written to zyx.npz"),
            "{}",
            of_zyx.err
        );
        let meshes = ["scans/b.stl", "scans/left/a.stl", "scans/left/inner/a.STL"];
        let (header, bytes) = member(&place, "all.npz", "voxels");
        assert!(
            header.contains("'fortran_order': False, 'shape': (3, 7, 6, 5)"),
            "{header}"
        );
        let (zyx_header, zyx) = member(&place, "zyx.npz", "voxels");
        assert!(
            zyx_header.contains("'fortran_order': False, 'shape': (3, 5, 6, 7)"),
            "{zyx_header}"
        );
        assert_eq!(names(&member(&place, "all.npz", "names").1, 3), meshes);
        let size = bytes.len() / (3 * 210);
        assert_eq!(
            (size, size * 3 * 210),
            (if rule.contains("distance") { 4 } else { 1 }, zyx.len())
        );
        let origins = doubles(&member(&place, "all.npz", "origin").1);
        let spacings = doubles(&member(&place, "all.npz", "spacing").1);
        for (n, mesh) in meshes.iter().enumerate() {
            place
                .run(&format!("{mesh} {line} -o alone.npz -q"))
                .expect(0);
            let (_, alone) = member(&place, "alone.npz", "voxels");
            // In a single file x is fastest.
            let cells = &bytes[n * 210 * size..];
            let [nx, ny, nz] = dims;
            for (at, cell) in alone.chunks(size).enumerate() {
                let [x, y, z] = [at % nx, at / nx % ny, at / nx / ny];
                let other = size * ((x * ny + y) * nz + z);
                assert_eq!(
                    cell,
                    &cells[other..other + size],
                    "{rule} {mesh} {x} {y} {z}"
                );
                seen += 1;
            }
            assert_eq!(alone, zyx[n * 210 * size..(n + 1) * 210 * size]);
            let lattice = Voxels::open(place.path("alone.npz"))
                .unwrap()
                .lattice
                .unwrap();
            assert_eq!(
                origins[3 * n..3 * n + 3],
                lattice.origin().each_ref().map(|c| c.to_f64())
            );
            assert_eq!(
                spacings[3 * n..3 * n + 3],
                lattice.spacing().each_ref().map(|c| c.to_f64())
            );
        }
    }
    assert_eq!(seen, 3 * 3 * 210);
    // Threads change nothing, and JSON has an object for each mesh.
    place
        .run("scans --dims 7,6,5 --stack -o one.npz -j 1 -q")
        .expect(3);
    place
        .run("scans --dims 7,6,5 --stack -o two.npz -j 2 -q")
        .expect(3);
    assert_eq!(
        fs::read(place.path("one.npz")).unwrap(),
        fs::read(place.path("two.npz")).unwrap()
    );
    // Padding is reported for the whole stack, and commands for single grids describe the stack.
    let run = place
        .run("scans --rule distance --res 4 --cube --stack -o all.npz")
        .expect(3);
    assert!(
        run.err
            .contains("; 10 × 10 × 10 cells each, grown by 3 cells on every side; "),
        "{}",
        run.err
    );
    let (header, backgrounds) = member(&place, "all.npz", "background");
    assert!(header.contains("'shape': (3,)"), "{header}");
    let mut different = std::collections::BTreeSet::new();
    for (n, mesh) in ["scans/b.stl", "scans/left/a.stl", "scans/left/inner/a.STL"]
        .into_iter()
        .enumerate()
    {
        place
            .run(&format!(
                "{mesh} --rule distance --res 4 --cube -o alone.npz -q"
            ))
            .expect(0);
        let alone = Voxels::open(place.path("alone.npz"))
            .unwrap()
            .field()
            .unwrap()
            .background();
        assert_eq!(backgrounds[4 * n..4 * n + 4], alone.to_le_bytes(), "{mesh}");
        different.insert(alone.to_bits());
    }
    assert!(different.len() > 1);
    for line in [
        "info all.npz",
        "view all.npz -o a.png",
        "convert all.npz a.vox",
        "diff all.npz alone.npz",
    ] {
        let refused = place.run(line).expect(3);
        let says = "a stack of 3 grids in one array, scans/b.stl, scans/left/a.stl, scans/left/inner/a.STL, where one";
        assert!(
            refused.err.contains(says) && refused.err.contains("voxels[n]"),
            "{line}: {}",
            refused.err
        );
    }
    let json = place
        .run("scans --dims 7,6,5 --stack -o all.npz --json")
        .expect(3);
    let lines: Vec<serde_json::Value> = json
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let failed: Vec<_> = lines
        .iter()
        .filter(|line| line["status"] == "error")
        .collect();
    assert_eq!((lines.len(), failed.len()), (4, 1));
    assert!(
        lines
            .iter()
            .filter(|line| line["status"] == "ok")
            .all(|line| line["outputs"][0]["path"] == "all.npz")
    );
}

#[test]
fn arrays_of_uneven_grids_are_refused() {
    let place = scans();
    let before = below(&place, "");
    for (line, expected) in [
        ("scans --stack -o all.npz", "different dimensions"),
        (
            "scans --stack -o all.npz --voxel-size 0.5 --cube",
            "different dimensions",
        ),
        ("scans --stack --dims 4,4,4", "--stack needs a file"),
        ("scans --stack --dims 4,4,4 -o out/", "--stack needs a file"),
        ("scans --stack --dims 4,4,4 -o all.npy", "no .npz"),
        (
            "scans --stack --dims 4,4,4 -o all.npz --sparse runs",
            "no .npz",
        ),
        (
            "scans --stack --dims 4,4,4 -o all.npz --dtype u8",
            "--dtype",
        ),
        (
            "scans --stack --dims 4,4,4 -o all.npz --skip-existing",
            "--skip-existing",
        ),
        (
            "scans --stack --dims 4,4,4 -o all.npz --labels object",
            "--labels",
        ),
        (
            "scans/b.stl scans/b.stl --stack --dims 4,4,4 -o all.npz",
            "named twice",
        ),
    ] {
        let message = refused(&place, line, 2);
        assert!(message.contains(expected), "{line}: {message}");
        assert_eq!(below(&place, ""), before, "{line}");
    }
    // Without a valid mesh there is no new file, and the existing one is kept.
    place.write("bad.stl", "solid a\nfacet");
    place.write("all.npz", "mine");
    let bad = place
        .run("bad.stl --stack --dims 4,4,4 -o all.npz")
        .expect(3);
    assert!(
        bad.err
            .contains("0 of 1 made, not written to all.npz, 1 failed"),
        "{}",
        bad.err
    );
    assert_eq!(fs::read(place.path("all.npz")).unwrap(), b"mine");
    place
        .run("scans --stack --dims 4,4,4 -o all.npz -n")
        .expect(0);
    assert_eq!(fs::read(place.path("all.npz")).unwrap(), b"mine");
}
