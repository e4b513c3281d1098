//! Medical images keep their frame to the last digit, and images of other programs are read in their place.

use std::io::Write;

use voxelize::grid::Cells;

use super::*;
#[cfg(feature = "cli")]
use crate::support::{place::Place, rows};

fn image(name: &str, bytes: &[u8]) -> Result<Voxels> {
    read(bytes, named(name), None)
}

/// Returns a NRRD of 2 × 3 × 4 cells with these fields. One cell is occupied: the second along the first
/// axis, the first along the others.
fn nrrd(fields: &str) -> Vec<u8> {
    let mut cells = vec![0; 24];
    cells[1] = 255;
    let head = format!(
        "NRRD0004\n# made elsewhere\ntype: unsigned char\ndimension: 3\nsizes: 2 3 4\n{fields}encoding: raw\n\n"
    );
    [head.as_bytes(), &cells].concat()
}

#[test]
fn frames_of_others_are_taken_exactly() {
    for (fields, frame) in [
        (
            "space: left-posterior-superior\nspace directions: (0.7,0,0) (0,0.7,0) (0,0,1.25)\nspace origin: (-12.3,4.5,100)\n",
            "2 3 4 at -12.65 4.15 99.375 by 0.7 0.7 1.25: 1 0 0",
        ),
        // The file counts to the right and to the front, the mesh to the left and to the back.
        (
            "space: RAS\nspace directions: (0.5,0,0) (0,0.5,0) (0,0,2)\nspace origin: (10,20,30)\n",
            "2 3 4 at -10.75 -21.25 29 by 0.5 0.5 2: 0 2 0",
        ),
        // The first axis points down.
        (
            "space: left-posterior-superior\nspace directions: (0,0,-1) (1,0,0) (0,1,0)\nspace origin: (0,0,0)\n",
            "3 4 2 at -0.5 -0.5 -1.5 by 1 1 1: 0 0 0",
        ),
        (
            "spacings: 0.1 0.2 0.3\n",
            "2 3 4 at -0.05 -0.1 -0.15 by 0.1 0.2 0.3: 1 0 0",
        ),
    ] {
        check_frame(&image("nrrd", &nrrd(fields)).unwrap(), frame);
    }
    assert_eq!(image("nrrd", &nrrd("")).unwrap().lattice, None);
    // The lattice of a tilted image has the axes of the image, and zero at the centre of the first cell.
    let tilted =
        nrrd("space directions: (0.8,0.6,0) (-0.6,0.8,0) (0,0,1)\nspace origin: (3,4,5)\n");
    let tilted = image("nrrd", &tilted).unwrap();
    check_frame(&tilted, "2 3 4 at -0.5 -0.5 -0.5 by 1 1 1: 1 0 0");
    let frame = tilted.record.transform("scan_frame");
    assert_eq!(frame, Some("4/5,3/5,0,-3/5,4/5,0,0,0,1,3,4,5"));
    let sheared = nrrd("space directions: (0.8,0.6,0) (-0.6,0.9,0) (0,0,1)\n");
    let error = image("nrrd", &sheared).unwrap_err();
    assert_eq!(error.code(), Code::V004);
    assert!(error.message().contains("axes 1 and 2 meet at"), "{error}");
}

#[test]
fn segments_are_labels_with_their_names() {
    let keys = "Segment0_ID:=a\nSegment0_Name:=bone\\\\1\nSegment0_LabelValue:=255\nSegment0_Color:=1 0.5 0\n";
    let found = image("nrrd", &nrrd(keys)).unwrap();
    let Cells::Labels(labels) = found.cells else {
        panic!("no labels")
    };
    let bone = labels.legend().get(255).unwrap();
    assert_eq!((&*bone.name, bone.colour), ("bone\\1", Some([255, 128, 0])));
    assert_eq!(labels.count(255), 1);
}

/// Returns a NIfTI image of one occupied cell, changed by `change`.
fn nifti(change: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut bytes = vec![0; 352 + 24];
    bytes[..4].copy_from_slice(&348_u32.to_le_bytes());
    for (n, size) in [3, 2, 3, 4, 1, 1, 1, 1].into_iter().enumerate() {
        bytes[40 + 2 * n] = size;
    }
    bytes[70] = 2;
    bytes[72] = 8;
    floats(&mut bytes, 76, &[1.0, 0.5, 0.5, 2.0]);
    floats(&mut bytes, 108, &[352.0]);
    bytes[344..347].copy_from_slice(b"n+1");
    bytes[353] = 1;
    change(&mut bytes);
    bytes
}

fn floats(bytes: &mut [u8], at: usize, values: &[f32]) {
    for (n, value) in values.iter().enumerate() {
        bytes[at + 4 * n..][..4].copy_from_slice(&value.to_le_bytes());
    }
}

/// Returns a NIfTI image with these floats. `form` is the byte of the code of the frame.
fn placed(form: usize, places: &[(usize, &[f32])]) -> Vec<u8> {
    nifti(|bytes| {
        bytes[form] = 1;
        for (at, values) in places {
            floats(bytes, *at, values);
        }
    })
}

#[test]
fn every_form_of_nifti_places_cells() {
    const SFORM: usize = 254;
    const QFORM: usize = 252;
    const ROWS: &[f32] = &[
        0.5, 0.0, 0.0, 10.0, 0.0, 0.5, 0.0, 20.0, 0.0, 0.0, 2.0, 30.0,
    ];
    let usual = "2 3 4 at -10.75 -21.25 29 by 0.5 0.5 2: 0 2 0";
    for (bytes, frame) in [
        (placed(SFORM, &[(280, ROWS)]), usual),
        // The same frame as a quaternion: no rotation, and the offset.
        (
            placed(QFORM, &[(256, &[0.0, 0.0, 0.0, 10.0, 20.0, 30.0])]),
            usual,
        ),
        // Half a turn about z, and the third axis reversed.
        (
            placed(
                QFORM,
                &[(76, &[-1.0]), (256, &[0.0, 0.0, 1.0, 10.0, 20.0, 30.0])],
            ),
            "2 3 4 at -10.25 -20.25 23 by 0.5 0.5 2: 1 0 3",
        ),
    ] {
        check_frame(&image("nii", &bytes).unwrap(), frame);
    }
    // Without either frame, the sizes of cells are known.
    let plain = image("nii", &nifti(|_| ())).unwrap();
    let sizes = plain.lattice.as_ref().unwrap().spacing().clone();
    assert_eq!(sizes.map(|size| size.to_f64()), [0.5, 0.5, 2.0]);
    assert_eq!(occupied_cells(&plain), [[1, 0, 0]]);
}

#[test]
fn cut_and_lengthened_images_are_errors() {
    let mut packer = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    packer.write_all(&nifti(|_| ())).unwrap();
    let mut seen = 0;
    for (name, bytes) in [
        ("nrrd", nrrd("spacings: 1 1 1\n")),
        ("nii", nifti(|_| ())),
        ("nii.gz", packer.finish().unwrap()),
    ] {
        assert!(image(name, &bytes).is_ok());
        for length in 0..bytes.len() {
            let error = image(name, &bytes[..length]).unwrap_err();
            let is_read = error.code().name().starts_with('V');
            assert!(is_read, "{name}, {length}: {error}");
            seen += 1;
        }
        let longer = [&bytes[..], &[1, 2, 3]].concat();
        assert!(image(name, &longer).is_err(), "{name}");
    }
    assert!(seen > 400);
}

#[test]
fn broken_images_are_errors() {
    // Lines of a header are separated by bars.
    for [code, fields] in table(
        "
        V004 space: scanner-xyz-time|spacings: 1 1 1
        V004 space directions: (1,0,0) (0,1,0)
        V004 space directions: (1,0,0) (0,1,0) (0,0,x)
        V004 space origin: 5
        V004 data file: elsewhere.raw
        V003 nothing of this kind
        V007 voxelize:={\"dims\":",
    ) {
        let file = nrrd(&format!("{}\n", fields.replace('|', "\n")));
        check_error(image("nrrd", &file), code, fields);
    }
    for [code, file] in table(
        "
        V004 NRRD0004|type: uchar|dimension: 2|sizes: 2 2|encoding: raw||1234
        V002 NRRD0004|type: uchar|sizes: 99999 99999 99999|encoding: gzip||1234
        V004 NRRD0004|type: short|sizes: 1 1 1|encoding: raw||12
        V004 NRRD0004|type: uchar|sizes: 1 1 1|encoding: hex||12",
    ) {
        let bytes = file.replace('|', "\n");
        check_error(image("nrrd", bytes.as_bytes()), code, file);
    }
    for (at, bytes, code) in [
        (344, &b"N"[..], "V003"),
        (0, &[0], "V003"),
        (40, &[9], "V004"),
        (43, &[0x80], "V004"),
        (70, &[4], "V004"),
        (42, &[0xff, 0x7f], "V002"),
    ] {
        let file = nifti(|file| file[at..at + bytes.len()].copy_from_slice(bytes));
        check_error(image("nii", &file), code, at);
    }
    for (at, values, code) in [
        (112, &[2.0, 1.0][..], "V004"),
        (108, &[f32::NAN], "V003"),
        (108, &[1e9], "V002"),
        (80, &[f32::NAN], "V004"),
        (80, &[0.0], "V004"),
    ] {
        let file = nifti(|file| floats(file, at, values));
        check_error(image("nii", &file), code, (at, values));
    }
}

#[test]
#[cfg(feature = "cli")]
fn a_scan_gives_its_grid() {
    let place = Place::new();
    // Numbers of any type.
    let scan = "NRRD0004\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: 40 30 20\n\
                space directions: (0.3,0,0) (0,0.3,0) (0,0,0.7)\nspace origin: (-1,-2,-3)\nencoding: raw\n\n";
    place.write("ct.nrrd", scan);
    for name in ["a.nrrd", "a.nii", "a.nii.gz", "a.npz"] {
        let runs = rows::check(
            &place,
            &format!(
                "0 cube.stl --like ct.nrrd --solid -o {name} --json
                    /grid/dims [40,30,20]
                    /grid/origin_exact [\"-23/20\",\"-43/20\",\"-67/20\"]
                 0 cube.stl --like {name} --solid -o b.npz --json"
            ),
        );
        assert_eq!(runs[0].json()["digest"], runs[1].json()["digest"], "{name}");
    }
    rows::check(
        &place,
        "3 convert ct.nrrd a.npz
             err 'short'
             err uint8 or float
         3 ct.nrrd -r 8 -o a.vox
             err holds voxels (nrrd)",
    );
}

#[test]
#[cfg(feature = "cli")]
fn data_of_other_programs_after_our_header_is_kept() {
    let place = Place::new();
    rows::check(
        &place,
        "0 cube.stl -r 4 --pad 1 --rule fraction --dtype u8 -o shares.nii
         0 cube.stl -r 4 --pad 1 --solid -o cells.nii",
    );
    let bytes = |name: &str| fs::read(place.path(name)).unwrap();
    let cells = image("nii", &bytes("cells.nii")).unwrap();
    // A mask with slope 1.
    let mut mask = bytes("shares.nii");
    floats(&mut mask, 112, &[1.0]);
    let begin = mask.len() - 6 * 6 * 6;
    for byte in &mut mask[begin..] {
        *byte = u8::from(*byte > 127);
    }
    let mask = image("nii", &mask).unwrap();
    assert_eq!((mask.count(), mask.occupied()), (64, cells.occupied()));
    let doubles = |voxels: &Voxels| {
        let lattice = voxels.lattice.as_ref().unwrap();
        [lattice.origin(), lattice.spacing()].map(|v| v.each_ref().map(Rational::to_f64))
    };
    assert_eq!(
        (mask.dims(), doubles(&mask)),
        (cells.dims(), doubles(&cells))
    );
    // Moved by nibabel: only an sform, with a different frame.
    let mut moved = bytes("cells.nii");
    moved[252..256].copy_from_slice(&[0, 0, 2, 0]);
    let x = f32::from_le_bytes(moved[292..296].try_into().unwrap());
    floats(&mut moved, 292, &[x - 2.0]);
    let mut expected = doubles(&cells)[0];
    expected[0] += 2.0;
    assert_eq!(doubles(&image("nii", &moved).unwrap())[0], expected);
}
