//! Medical images keep their frame to the last digit, and images of other programs are read in their place.

use voxelize::format::{self, read_from};
use voxelize::grid::Cells;
use voxelize::{Code, Lattice, Rational, Result, Voxels};

#[cfg(feature = "cli")]
use crate::support::place::Place;

fn image(name: &str, bytes: &[u8]) -> Result<Voxels> {
    read_from(
        std::io::Cursor::new(bytes),
        format::by_name(name).unwrap(),
        None,
    )
}

fn doubles(values: &[Rational; 3]) -> [f64; 3] {
    values.each_ref().map(Rational::to_f64)
}

fn place_of(lattice: &Lattice) -> ([usize; 3], [f64; 3], [f64; 3]) {
    (
        lattice.dims(),
        doubles(lattice.origin()),
        doubles(lattice.spacing()),
    )
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
    let mut seen = 0;
    for (fields, dims, origin, spacing, cell) in [
        (
            "space: left-posterior-superior\nspace directions: (0.7,0,0) (0,0.7,0) (0,0,1.25)\nspace origin: (-12.3,4.5,100)\n",
            [2, 3, 4],
            ["-12.65", "4.15", "99.375"],
            ["0.7", "0.7", "1.25"],
            [1, 0, 0],
        ),
        // The file counts to the right and to the front, the mesh to the left and to the back.
        (
            "space: RAS\nspace directions: (0.5,0,0) (0,0.5,0) (0,0,2)\nspace origin: (10,20,30)\n",
            [2, 3, 4],
            ["-10.75", "-21.25", "29"],
            ["0.5", "0.5", "2"],
            [0, 2, 0],
        ),
        // The first axis points down.
        (
            "space: left-posterior-superior\nspace directions: (0,0,-1) (1,0,0) (0,1,0)\nspace origin: (0,0,0)\n",
            [3, 4, 2],
            ["-0.5", "-0.5", "-1.5"],
            ["1", "1", "1"],
            [0, 0, 0],
        ),
        (
            "spacings: 0.1 0.2 0.3\n",
            [2, 3, 4],
            ["-0.05", "-0.1", "-0.15"],
            ["0.1", "0.2", "0.3"],
            [1, 0, 0],
        ),
    ] {
        let found = image("nrrd", &nrrd(fields)).unwrap();
        let lattice = found.lattice.unwrap();
        let exact = |words: [&str; 3]| words.map(|word| Rational::parse_decimal(word).unwrap());
        assert_eq!(
            (lattice.dims(), lattice.origin(), lattice.spacing()),
            (dims, &exact(origin), &exact(spacing)),
            "{fields}"
        );
        assert_eq!(
            found
                .cells
                .as_ref()
                .occupied()
                .unwrap()
                .iter()
                .collect::<Vec<_>>(),
            [cell],
            "{fields}"
        );
        seen += 1;
    }
    assert_eq!(seen, 4);
    let nowhere = image("nrrd", &nrrd("")).unwrap();
    assert!(nowhere.lattice.is_none());
    let tilted = nrrd("space directions: (0.8,0.6,0) (-0.6,0.8,0) (0,0,1)\n");
    let error = image("nrrd", &tilted).unwrap_err();
    assert!(
        error.code() == Code::V004 && error.hint().unwrap().to_string().contains("bounds -"),
        "{error}"
    );
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
fn nifti(change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = vec![0; 352];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &348_u32.to_le_bytes());
    for (n, size) in [3_u16, 2, 3, 4, 1, 1, 1, 1].into_iter().enumerate() {
        put(40 + 2 * n, &size.to_le_bytes());
    }
    put(70, &[2, 0, 8, 0]);
    for (n, value) in [1.0_f32, 0.5, 0.5, 2.0].into_iter().enumerate() {
        put(76 + 4 * n, &value.to_le_bytes());
    }
    put(108, &352_f32.to_le_bytes());
    put(344, b"n+1\0");
    bytes.resize(352 + 24, 0);
    bytes[353] = 1;
    change(&mut bytes);
    bytes
}

fn floats(bytes: &mut [u8], at: usize, values: &[f32]) {
    for (n, value) in values.iter().enumerate() {
        bytes[at + 4 * n..][..4].copy_from_slice(&value.to_le_bytes());
    }
}

#[test]
fn every_form_of_nifti_places_cells() {
    let sform = nifti(|bytes| {
        bytes[254] = 1;
        floats(
            bytes,
            280,
            &[
                0.5, 0.0, 0.0, 10.0, 0.0, 0.5, 0.0, 20.0, 0.0, 0.0, 2.0, 30.0,
            ],
        );
    });
    // The same frame as a quaternion: no rotation, and the offset.
    let qform = nifti(|bytes| {
        bytes[252] = 1;
        floats(bytes, 256, &[0.0, 0.0, 0.0, 10.0, 20.0, 30.0]);
    });
    for (name, bytes) in [("sform", &sform), ("qform", &qform)] {
        let found = image("nii", bytes).unwrap();
        let place = place_of(found.lattice.as_ref().unwrap());
        assert_eq!(
            place,
            ([2, 3, 4], [-10.75, -21.25, 29.0], [0.5, 0.5, 2.0]),
            "{name}"
        );
        assert_eq!(
            found.occupied().unwrap().iter().collect::<Vec<_>>(),
            [[0, 2, 0]],
            "{name}"
        );
    }
    // Half a turn about z, and the third axis reversed.
    let turned = nifti(|bytes| {
        bytes[252] = 1;
        floats(bytes, 76, &[-1.0]);
        floats(bytes, 256, &[0.0, 0.0, 1.0, 10.0, 20.0, 30.0]);
    });
    let found = image("nii", &turned).unwrap();
    assert_eq!(
        place_of(&found.lattice.clone().unwrap()).1,
        [-10.25, -20.25, 23.0]
    );
    assert_eq!(
        found.occupied().unwrap().iter().collect::<Vec<_>>(),
        [[1, 0, 3]]
    );
    // Without either frame, the sizes of cells are known.
    let plain = image("nii", &nifti(|_| ())).unwrap();
    assert_eq!(place_of(&plain.lattice.clone().unwrap()).2, [0.5, 0.5, 2.0]);
    assert_eq!(
        plain.occupied().unwrap().iter().collect::<Vec<_>>(),
        [[1, 0, 0]]
    );
}

#[test]
fn broken_images_are_errors() {
    let whole = nrrd("spacings: 1 1 1\n");
    let packed = {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        packer.write_all(&nifti(|_| ())).unwrap();
        packer.finish().unwrap()
    };
    let mut seen = 0;
    for (name, bytes) in [
        ("nrrd", &whole),
        ("nii", &nifti(|_| ())),
        ("nii.gz", &packed),
    ] {
        assert!(image(name, bytes).is_ok());
        for length in 0..bytes.len() {
            let error = image(name, &bytes[..length]).unwrap_err();
            assert!(
                error.code().name().starts_with('V'),
                "{name}, {length}: {error}"
            );
            seen += 1;
        }
        let longer = [&bytes[..], &[1, 2, 3]].concat();
        assert!(image(name, &longer).is_err(), "{name}");
    }
    assert!(seen > 400);
    let text = |from: &str, to: &str| {
        let text = String::from_utf8(nrrd("spacings: 1 1 1\n")[..100].to_vec());
        text.map(|text| text.replace(from, to).into_bytes())
            .unwrap_or_default()
    };
    for (name, bytes, code) in [
        (
            "nrrd",
            nrrd("space: scanner-xyz-time\nspacings: 1 1 1\n"),
            Code::V004,
        ),
        (
            "nrrd",
            nrrd("space directions: (1,0,0) (0,1,0)\n"),
            Code::V004,
        ),
        (
            "nrrd",
            nrrd("space directions: (1,0,0) (0,1,0) (0,0,x)\n"),
            Code::V004,
        ),
        ("nrrd", nrrd("space origin: 5\n"), Code::V004),
        ("nrrd", nrrd("data file: elsewhere.raw\n"), Code::V004),
        ("nrrd", nrrd("nothing of this kind\n"), Code::V003),
        ("nrrd", nrrd("voxelize:={\"dims\":\n"), Code::V007),
        (
            "nrrd",
            b"NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 2\nencoding: raw\n\n1234".to_vec(),
            Code::V004,
        ),
        (
            "nrrd",
            b"NRRD0004\ntype: uchar\nsizes: 99999 99999 99999\nencoding: gzip\n\n1234".to_vec(),
            Code::V002,
        ),
        (
            "nrrd",
            b"NRRD0004\ntype: short\nsizes: 1 1 1\nencoding: raw\n\n12".to_vec(),
            Code::V004,
        ),
        (
            "nrrd",
            b"NRRD0004\ntype: uchar\nsizes: 1 1 1\nencoding: hex\n\n12".to_vec(),
            Code::V004,
        ),
        ("nii", nifti(|bytes| bytes[344] = b'N'), Code::V003),
        ("nii", nifti(|bytes| bytes[0] = 0), Code::V003),
        ("nii", nifti(|bytes| bytes[40] = 9), Code::V004),
        ("nii", nifti(|bytes| bytes[43] = 0x80), Code::V004),
        ("nii", nifti(|bytes| bytes[70] = 4), Code::V004),
        (
            "nii",
            nifti(|bytes| floats(bytes, 112, &[2.0, 1.0])),
            Code::V004,
        ),
        (
            "nii",
            nifti(|bytes| floats(bytes, 108, &[f32::NAN])),
            Code::V003,
        ),
        ("nii", nifti(|bytes| floats(bytes, 108, &[1e9])), Code::V002),
        (
            "nii",
            nifti(|bytes| floats(bytes, 80, &[f32::NAN])),
            Code::V004,
        ),
        ("nii", nifti(|bytes| floats(bytes, 80, &[0.0])), Code::V004),
        (
            "nii",
            nifti(|bytes| (bytes[42], bytes[43]) = (0xff, 0x7f)),
            Code::V002,
        ),
    ] {
        let error = image(name, &bytes).unwrap_err();
        assert_eq!(error.code(), code, "{name}: {error}");
        seen += 1;
    }
    assert!(text("", "").len() == 100 && seen > 420);
}

#[test]
#[cfg(feature = "cli")]
fn a_scan_gives_its_grid() {
    let place = Place::new();
    // Numbers of any type.
    let scan = "NRRD0004\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: 40 30 20\n\
                space directions: (0.3,0,0) (0,0.3,0) (0,0,0.7)\nspace origin: (-1,-2,-3)\nencoding: raw\n\n";
    place.write("ct.nrrd", scan);
    let mut seen = 0;
    for name in ["a.nrrd", "a.nii", "a.nii.gz", "a.npz"] {
        let json = place
            .run(&format!("cube.stl --like ct.nrrd --solid -o {name} --json"))
            .expect(0)
            .json();
        assert_eq!(
            json["grid"]["dims"],
            serde_json::json!([40, 30, 20]),
            "{name}"
        );
        assert_eq!(
            json["grid"]["origin_exact"],
            serde_json::json!(["-23/20", "-43/20", "-67/20"]),
            "{name}"
        );
        let back = place
            .run(&format!("cube.stl --like {name} --solid -o b.npz --json"))
            .expect(0)
            .json();
        assert_eq!(back["digest"], json["digest"], "{name}");
        seen += 1;
    }
    assert_eq!(seen, 4);
    let refused = place.run("convert ct.nrrd a.npz").expect(3);
    assert!(
        refused.err.contains("'short'") && refused.err.contains("uint8 or float"),
        "{}",
        refused.err
    );
    let wrong = place.run("ct.nrrd -r 8 -o a.vox").expect(3);
    assert!(wrong.err.contains("holds voxels (nrrd)"), "{}", wrong.err);
}

#[test]
#[cfg(feature = "cli")]
fn data_of_other_programs_after_our_header_is_kept() {
    let place = Place::new();
    place
        .run("cube.stl -r 4 --pad 1 --rule fraction --dtype u8 -o shares.nii")
        .expect(0);
    place
        .run("cube.stl -r 4 --pad 1 --solid -o cells.nii")
        .expect(0);
    let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
    // A mask with slope 1.
    let mut mask = bytes("shares.nii");
    floats(&mut mask, 112, &[1.0]);
    let begin = mask.len() - 6 * 6 * 6;
    mask[begin..]
        .iter_mut()
        .for_each(|byte| *byte = u8::from(*byte > 127));
    let read = image("nii", &mask).unwrap();
    let cells = image("nii", &bytes("cells.nii")).unwrap();
    assert_eq!(
        (read.count(), read.occupied().unwrap()),
        (64, cells.occupied().unwrap())
    );
    assert_eq!(
        place_of(&read.lattice.unwrap()),
        place_of(cells.lattice.as_ref().unwrap())
    );
    // Moved by nibabel: only an sform, with a different frame.
    let mut moved = bytes("cells.nii");
    moved[252..256].copy_from_slice(&[0, 0, 2, 0]);
    let x = f32::from_le_bytes(moved[292..296].try_into().unwrap());
    floats(&mut moved, 292, &[x - 2.0]);
    let (_, mut corner, _) = place_of(cells.lattice.as_ref().unwrap());
    corner[0] += 2.0;
    assert_eq!(
        place_of(&image("nii", &moved).unwrap().lattice.unwrap()).1,
        corner
    );
}
