//! The array of many meshes consists of the cells of each mesh alone.

use std::fs;
use std::io::Read;

use voxelize::Voxels;

use super::scans;
use crate::support::place::{Place, cuboid, stl};
use crate::support::rows;

/// Meshes of the stack, in its order.
const MESHES: [&str; 3] = ["scans/b.stl", "scans/left/a.stl", "scans/left/inner/a.STL"];

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
        let table = format!(
            "3 scans {line} --stack -o all.npz
                err cut.stl
                err 3 of 4 written to all.npz, 1 failed
             3 scans {line} --stack --order zyx -o zyx.npz
                err 3 of 4 written to zyx.npz"
        );
        rows::check(&place, &table);
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
        assert_eq!(names(&member(&place, "all.npz", "names").1, 3), MESHES);
        let size = bytes.len() / (3 * 210);
        assert_eq!(
            (size, size * 3 * 210),
            (if rule.contains("distance") { 4 } else { 1 }, zyx.len())
        );
        let origins = doubles(&member(&place, "all.npz", "origin").1);
        let spacings = doubles(&member(&place, "all.npz", "spacing").1);
        for (n, mesh) in MESHES.into_iter().enumerate() {
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
    // Threads change nothing. Padding is reported for the whole stack.
    rows::check(
        &place,
        "3 scans --dims 7,6,5 --stack -o one.npz -j 1 -q
         3 scans --dims 7,6,5 --stack -o two.npz -j 2 -q
         3 scans --rule distance --res 4 --cube --stack -o all.npz
            err ; 10 × 10 × 10 cells each, grown by 3 cells on every side;",
    );
    let [one, two] = ["one.npz", "two.npz"].map(|name| fs::read(place.path(name)).unwrap());
    assert_eq!(one, two);
    let (header, backgrounds) = member(&place, "all.npz", "background");
    assert!(header.contains("'shape': (3,)"), "{header}");
    let mut different = std::collections::BTreeSet::new();
    for (n, mesh) in MESHES.into_iter().enumerate() {
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
    // Commands for single grids describe the stack.
    for line in [
        "info all.npz",
        "view all.npz -o a.png",
        "convert all.npz a.vox",
        "diff all.npz alone.npz",
    ] {
        let table = format!(
            "3 {line}
                err a stack of 3 grids in one array, {}, where one
                err voxels[n]",
            MESHES.join(", ")
        );
        rows::check(&place, &table);
    }
    rows::check(
        &place,
        r#"3 scans --dims 7,6,5 --stack -o all.npz --json
            /0/outputs/0/path "all.npz"
            /1/outputs/0/path "all.npz"
            /2/outputs/0/path "all.npz"
            /3/input/path "scans/right/cut.stl"
            /3/status "error"
            no /4"#,
    );
}

#[test]
fn arrays_of_uneven_grids_are_refused() {
    let place = scans();
    rows::refused(
        &place,
        "2 scans --stack -o all.npz
            err different dimensions
         2 scans --stack -o all.npz --voxel-size 0.5 --cube
            err different dimensions
         2 scans --stack --dims 4,4,4
            err --stack needs a file
         2 scans --stack --dims 4,4,4 -o out/
            err --stack needs a file
         2 scans --stack --dims 4,4,4 -o all.npy
            err not an .npz
         2 scans --stack --dims 4,4,4 -o all.npz --sparse runs
            err not an .npz
         2 scans --stack --dims 4,4,4 -o all.npz --dtype u8
            err --dtype
         2 scans --stack --dims 4,4,4 -o all.npz --skip-existing
            err --skip-existing
         2 scans --stack --dims 4,4,4 -o all.npz --labels object
            err --labels
         2 scans/b.stl scans/b.stl --stack --dims 4,4,4 -o all.npz
            err named twice",
    );
    // Without a valid mesh there is no new file, and the existing one is kept.
    place.write("bad.stl", "solid a\nfacet");
    place.write("all.npz", "mine");
    rows::check(
        &place,
        "3 bad.stl --stack --dims 4,4,4 -o all.npz
            err 0 of 1 made, but not written to all.npz, 1 failed
         0 scans --stack --dims 4,4,4 -o all.npz -n",
    );
    assert_eq!(fs::read(place.path("all.npz")).unwrap(), b"mine");
}
