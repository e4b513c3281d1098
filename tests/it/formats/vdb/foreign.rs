//! Files of other programs are read with their meaning, and rejected if they are broken.

use std::io::Read as _;

use voxelize::Code;

use super::files::{Foreign, doubles, ends, floats, uniform_map};
use super::*;

/// Returns the values of the leaf, z fastest.
fn values_of(voxels: &Voxels) -> Vec<f32> {
    let field = voxels.field().unwrap();
    assert_eq!(field.dims(), [8; 3]);
    (0..512)
        .map(|n| field.get([n / 64, n / 8 % 8, n % 8]))
        .collect()
}

/// Returns the zlib stream of some values after its length.
fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    flate2::read::ZlibEncoder::new(bytes, flate2::Compression::best())
        .read_to_end(&mut packed)
        .unwrap();
    [&(packed.len() as i64).to_le_bytes()[..], &packed].concat()
}

#[test]
fn values_of_other_programs_are_read_however_they_are_stored() {
    // A mask selects one of two values for each inactive cell.
    let mut which = [0_u8; 64];
    which[1] = 0b1010;
    let chosen = |n: usize| n == 9 || n == 11;
    let all: Vec<f32> = (0..512).map(|n| n as f32 / 8.0).collect();
    let active = floats(&[1.0, 2.0]);
    let no_zip = 0_i64.to_le_bytes();
    let case = |values: &[&[u8]], other: fn(bool) -> f32| {
        let expected = (0..512).map(|n| match n {
            0 => 1.0,
            511 => 2.0,
            n => other(chosen(n)),
        });
        (
            Foreign {
                values: values.concat(),
                ..Foreign::default()
            },
            expected.collect::<Vec<f32>>(),
        )
    };
    let halves: Vec<u8> = [0x3c00_u16, 0x4000]
        .iter()
        .flat_map(|half| half.to_le_bytes())
        .collect();
    let lz4 = {
        // 512 floats of 1.0, in four streams of one byte each: 0, 0, 0x80, 0x3f.
        let stream = |byte: u8| [&[0x1f, byte, 1, 0, 255, 236][..], &[0x10, byte]].concat();
        let streams: Vec<_> = [0, 0, 0x80, 0x3f]
            .map(stream)
            .iter()
            .flat_map(|s| [&8_u32.to_le_bytes()[..], s].concat())
            .collect();
        let length = 16 + 4 + streams.len() as u32;
        let numbers: Vec<u8> = [2048, 2048, length, 20]
            .iter()
            .flat_map(|n: &u32| n.to_le_bytes())
            .collect();
        [
            &i64::from(length).to_le_bytes()[..],
            &[2, 1, 0x21, 4],
            &numbers,
            &streams,
        ]
        .concat()
    };
    let cases = [
        case(&[&[0], &active], |_| 4.0),
        case(&[&[1], &active], |_| -4.0),
        case(&[&[2], &floats(&[7.0]), &active], |_| 7.0),
        case(
            &[&[3], &which, &active],
            |chosen| if chosen { 4.0 } else { -4.0 },
        ),
        case(&[&[4], &floats(&[7.0]), &which, &active], |chosen| {
            if chosen { 4.0 } else { 7.0 }
        }),
        case(&[&[5], &floats(&[7.0, 9.0]), &which, &active], |chosen| {
            if chosen { 9.0 } else { 7.0 }
        }),
        (
            Foreign {
                values: [vec![6], floats(&all)].concat(),
                ..Foreign::default()
            },
            all.clone(),
        ),
        // Every value of every node.
        (
            Foreign {
                compression: 0,
                values: [vec![6], floats(&all)].concat(),
                no_values: vec![6],
                ..Foreign::default()
            },
            all.clone(),
        ),
        (
            Foreign {
                compression: 3,
                no_values: [&[0][..], &no_zip].concat(),
                values: [&[6][..], &zipped(&floats(&all))].concat(),
                ..Foreign::default()
            },
            all.clone(),
        ),
        (
            Foreign {
                compression: 3,
                no_values: [&[0][..], &no_zip].concat(),
                values: [&[1][..], &(-8_i64).to_le_bytes(), &active].concat(),
                ..Foreign::default()
            },
            (0..512)
                .map(|n| {
                    [1.0, 2.0, -4.0][match n {
                        0 => 0,
                        511 => 1,
                        _ => 2,
                    }]
                })
                .collect(),
        ),
        (
            Foreign {
                kind: "Tree_float_5_4_3_HalfFloat",
                values: [&[2][..], &floats(&[0.25]), &halves].concat(),
                ..Foreign::default()
            },
            (0..512)
                .map(|n| {
                    [1.0, 2.0, 0.25][match n {
                        0 => 0,
                        511 => 1,
                        _ => 2,
                    }]
                })
                .collect(),
        ),
        (
            Foreign {
                compression: 6,
                no_values: [&[0][..], &no_zip].concat(),
                values: [&[6][..], &lz4].concat(),
                ..Foreign::default()
            },
            vec![1.0; 512],
        ),
    ];
    let mut seen = 0;
    for (mut file, expected) in cases {
        // The nodes of the case without compression contain all their values.
        if file.compression == 0 {
            let bytes = without_compression(&file);
            assert_eq!(
                values_of(&read_vdb(&bytes).unwrap()),
                expected,
                "case {seen}"
            );
        } else {
            for version in 222..=225 {
                file.version = version;
                let found =
                    read_vdb(&file.bytes()).unwrap_or_else(|error| panic!("case {seen}: {error}"));
                assert_eq!(values_of(&found), expected, "case {seen}");
                assert_eq!(found.field().unwrap().background(), 4.0);
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
}

/// Returns a file whose nodes contain the values of all their places.
fn without_compression(file: &Foreign) -> Vec<u8> {
    let [head, buffers] = file.grid();
    let start = head.len() - 64 - 2 * (1 + 512) - 2 * 4096;
    let mut nodes = head[start..].to_vec();
    let (upper, rest) = nodes.split_at(2 * 4096 + 1);
    let (middle, mask) = rest.split_at(2 * 512 + 1);
    let [many, some] = [32768, 4096].map(|count| floats(&vec![4.0; count]));
    nodes = [upper, &many, middle, &some, mask].concat();
    let whole = file.bytes();
    let at = whole.len() - head.len() - buffers.len();
    let mut bytes = whole[..at].to_vec();
    let start = [head[..start].to_vec(), nodes].concat();
    let offsets = [at, at + start.len(), at + start.len() + buffers.len()];
    let place = at - 24;
    bytes[place..].copy_from_slice(&offsets.map(|n| (n as u64).to_le_bytes()).concat());
    [bytes, start, buffers].concat()
}

#[test]
fn cells_of_other_programs_are_placed_by_their_maps() {
    let zero = [0.0; 3];
    let scale = |sizes: [f64; 3]| {
        [
            sizes,
            sizes,
            sizes.map(|s| 1.0 / s),
            sizes.map(|s| 1.0 / s / s),
            sizes.map(|s| 0.5 / s),
        ]
        .concat()
    };
    let rows = [
        [0.0, 2.0, 0.0, 0.0],
        [0.25, 0.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0],
        [1.0, 2.0, 3.0, 1.0],
    ]
    .concat();
    let mut seen = 0;
    // The leaf is from (-8, 0, 16) to (-1, 7, 23).
    for (map, origin, spacing, first) in [
        (
            uniform_map([1.0, 2.0, 3.0], 0.5),
            [-3.25, 1.75, 10.75],
            [0.5; 3],
            [0, 0, 0],
        ),
        (
            doubles(
                "ScaleTranslateMap",
                &[&[1.0, 2.0, 3.0][..], &scale([0.5, 1.0, 2.0])].concat(),
            ),
            [-3.25, 1.5, 34.0],
            [0.5, 1.0, 2.0],
            [0; 3],
        ),
        (
            doubles("UniformScaleMap", &scale([2.0; 3])),
            [-17.0, -1.0, 31.0],
            [2.0; 3],
            [0; 3],
        ),
        (
            doubles("ScaleMap", &scale([1.0, 2.0, 4.0])),
            [-8.5, -1.0, 62.0],
            [1.0, 2.0, 4.0],
            [0; 3],
        ),
        (
            doubles("TranslationMap", &zero),
            [-8.5, -0.5, 15.5],
            [1.0; 3],
            [0; 3],
        ),
        // x of the tree goes along y, y along x, and z down.
        (
            doubles("AffineMap", &rows),
            [0.875, -15.0, -20.5],
            [0.25, 2.0, 1.0],
            [0, 0, 7],
        ),
    ] {
        let found = read_vdb(
            &Foreign {
                map,
                ..Foreign::default()
            }
            .bytes(),
        )
        .unwrap();
        let lattice = found.lattice.as_ref().unwrap();
        let numbers = |values: &[Rational; 3]| values.each_ref().map(Rational::to_f64);
        assert_eq!(
            (numbers(lattice.origin()), numbers(lattice.spacing())),
            (origin, spacing),
            "map {seen}"
        );
        assert_eq!(found.field().unwrap().get(first), 1.0, "map {seen}");
        let voxels = Voxels {
            record: Record::default(),
            ..found
        };
        assert_eq!(read_vdb(&written(&voxels, &[])).unwrap(), voxels);
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn grids_of_other_kinds_and_files_of_several() {
    // The first grid with cells is read, and a stream without offsets.
    for file in [
        Foreign {
            before: true,
            ..Foreign::default()
        },
        Foreign {
            has_offsets: false,
            ..Foreign::default()
        },
    ] {
        assert_eq!(values_of(&read_vdb(&file.bytes()).unwrap())[511], 2.0);
    }
    let both = Foreign {
        before: true,
        has_offsets: false,
        ..Foreign::default()
    };
    let error = read_vdb(&both.bytes()).unwrap_err();
    assert_eq!(
        error.message(),
        "no grid of bool, int32 or float: 'v' is a Tree_vec3s_5_4_3"
    );
    // For bool, the cells with a true value are read: not all active cells, and no cells beyond the box of
    // the true ones.
    let mut values = ends();
    (values[0], values[1]) = (0, 0b10);
    let bool_tree = Foreign {
        kind: "Tree_bool_5_4_3",
        background: vec![0],
        values: values.to_vec(),
        ..Foreign::default()
    };
    let found = read_vdb(&bool_tree.bytes()).unwrap();
    assert_eq!(
        found.occupied().unwrap().iter().collect::<Vec<_>>(),
        [[0, 1, 1], [7, 7, 7]]
    );
    // Integers are labels, or bits if only one value occurs.
    let whole = |numbers: [i32; 2]| Foreign {
        kind: "Tree_int32_5_4_3",
        background: vec![0; 4],
        values: [
            vec![0],
            numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
        ]
        .concat(),
        ..Foreign::default()
    };
    let found = read_vdb(&whole([7, 255]).bytes()).unwrap();
    assert_eq!(
        found.labels().unwrap().iter().collect::<Vec<_>>(),
        [([0, 0, 0], 7), ([7, 7, 7], 255)]
    );
    let found = read_vdb(&whole([9, 9]).bytes()).unwrap();
    assert_eq!((found.kind(), found.count()), (CellKind::Bits, 2));
    for numbers in [[1, 256], [-1, 1]] {
        assert_eq!(
            read_vdb(&whole(numbers).bytes()).unwrap_err().code(),
            Code::V004
        );
    }
    // A tile of the root has 4096 cells along each axis. The file is too short for that many.
    let tile = Foreign {
        tiles: vec![([0; 3], floats(&[1.0]), true)],
        ..Foreign::default()
    };
    assert_eq!(read_vdb(&tile.bytes()).unwrap_err().kind(), Kind::TooLarge);
}

#[test]
fn our_description_counts_only_while_it_fits() {
    let json = |dims: &str| format!(r#"{{"tool":"voxelize 9.9","dims":{dims},"background":"4"}}"#);
    let at = |json: String, root: i32| {
        let root = [root, 0, 0];
        read_vdb(
            &Foreign {
                json: Some(json),
                root,
                ..Foreign::default()
            }
            .bytes(),
        )
    };
    // The leaf is at (4088, 0, 16): within the dims, next to them, and at negative indices.
    let within = at(json("[4096,8,24]"), 0).unwrap();
    assert_eq!(
        (within.dims(), within.record.tool.as_deref()),
        ([4096, 8, 24], Some("voxelize 9.9"))
    );
    assert_eq!(
        (
            within.field().unwrap().get([4095, 7, 23]),
            within.field().unwrap().get([0; 3])
        ),
        (2.0, 4.0)
    );
    for (dims, root) in [("[4096,8,23]", 0), ("[4096,8,24]", -4096), ("[0,8,24]", 0)] {
        let other = at(json(dims), root).unwrap();
        assert_eq!((other.dims(), other.record.tool), ([8; 3], None), "{dims}");
    }
    assert_eq!(at("{".into(), 0).unwrap_err().code(), Code::V007);
    // A tile that extends beyond the grid is cut.
    let tile = Foreign {
        json: Some(json("[4100,8,24]")),
        root: [0; 3],
        tiles: vec![([4096, 0, 0], floats(&[-4.0]), false)],
        ..Foreign::default()
    };
    let found = read_vdb(&tile.bytes()).unwrap();
    assert_eq!(
        (
            found.field().unwrap().get([4099, 3, 3]),
            found.field().unwrap().get([4087, 3, 3])
        ),
        (-4.0, 4.0)
    );
}

#[test]
fn broken_files_are_specific_errors() {
    let default = Foreign::default;
    let mut cut = default().bytes();
    cut.pop();
    let mut longer = default().bytes();
    longer.push(0);
    let mut stream = Foreign {
        has_offsets: false,
        ..default()
    }
    .bytes();
    stream.push(0);
    let mut other_mask = default().bytes();
    let leaf = other_mask.len() - 64 - 9;
    other_mask[leaf] ^= 2;
    let mut early = default().bytes();
    let place = early.len() - default().grid().concat().len() - 16;
    early[place] ^= 1;
    let mut seen = 0;
    for (bytes, code) in [
        (cut, Code::V002),
        (longer, Code::V005),
        (stream, Code::V005),
        (other_mask, Code::V003),
        (early, Code::V003),
        (
            Foreign {
                version: 221,
                ..default()
            }
            .bytes(),
            Code::V004,
        ),
        (
            Foreign {
                version: 226,
                ..default()
            }
            .bytes(),
            Code::V004,
        ),
        (
            Foreign {
                kind: "Tree_double_5_4_3",
                ..default()
            }
            .bytes(),
            Code::V004,
        ),
        (
            Foreign {
                compression: 8,
                ..default()
            }
            .bytes(),
            Code::V003,
        ),
        (
            Foreign {
                compression: 7,
                ..default()
            }
            .bytes(),
            Code::V003,
        ),
        (
            Foreign {
                map: doubles("UnitaryMap", &[0.0; 16]),
                ..default()
            }
            .bytes(),
            Code::V004,
        ),
        (
            Foreign {
                map: uniform_map([f64::NAN, 0.0, 0.0], 1.0),
                ..default()
            }
            .bytes(),
            Code::V003,
        ),
        (
            Foreign {
                map: uniform_map([0.0; 3], 0.0),
                ..default()
            }
            .bytes(),
            Code::V003,
        ),
        (
            Foreign {
                root: [-4095, 0, 0],
                ..default()
            }
            .bytes(),
            Code::V003,
        ),
        (
            Foreign {
                values: [vec![7], floats(&[1.0, 2.0])].concat(),
                ..default()
            }
            .bytes(),
            Code::V003,
        ),
        (
            Foreign {
                values: [vec![0], floats(&[1.0])].concat(),
                ..default()
            }
            .bytes(),
            Code::V002,
        ),
        (
            Foreign {
                values: [vec![0], floats(&[1.0; 3])].concat(),
                ..default()
            }
            .bytes(),
            Code::V005,
        ),
        (
            Foreign {
                mask: [0; 64],
                values: vec![0],
                ..default()
            }
            .bytes(),
            Code::V004,
        ),
        // A zlib stream that is broken, one that is too short, and one that claims to be long.
        (zip_of(&[1, 2, 3]), Code::V003),
        (zip_of(&zipped(&[0; 7])[8..]), Code::V003),
        (zip_of(&zipped(&[0; 9])[8..]), Code::V003),
        (zip_of(&[0; 1000]), Code::V003),
        (b" BDV\0\0\0\x01".to_vec(), Code::V001),
    ] {
        let error = read_vdb(&bytes).unwrap_err();
        assert_eq!(error.code(), code, "{error}, case {seen}");
        seen += 1;
    }
    assert_eq!(seen, 23);
}

/// Returns the default file, zipped, with this stream for its leaf.
fn zip_of(packed: &[u8]) -> Vec<u8> {
    let no_values = [&[0][..], &0_i64.to_le_bytes()].concat();
    let values = [&[0][..], &(packed.len() as i64).to_le_bytes(), packed].concat();
    Foreign {
        compression: 3,
        no_values,
        values,
        ..Foreign::default()
    }
    .bytes()
}

/// Two cells at both ends of the range of coordinates of a tree, and a node count beyond the file.
#[test]
fn files_cannot_claim_memory() {
    let far = Foreign {
        tiles: vec![
            ([i32::MIN; 3], floats(&[1.0]), true),
            ([i32::MAX - 4095; 3], floats(&[1.0]), true),
        ],
        ..Foreign::default()
    };
    assert_eq!(read_vdb(&far.bytes()).unwrap_err().kind(), Kind::Input);
    let json = r#"{"dims":[100000,100000,100000],"background":"4"}"#.to_string();
    let wide = Foreign {
        json: Some(json),
        root: [0; 3],
        ..Foreign::default()
    };
    assert_eq!(read_vdb(&wide.bytes()).unwrap_err().kind(), Kind::TooLarge);
    let mut many = Foreign::default().bytes();
    let at = many
        .windows(8)
        .position(|window| window == [0, 0, 0, 0, 1, 0, 0, 0])
        .unwrap();
    assert!(at > 100);
    many[at..at + 8].fill(0xff);
    assert_eq!(read_vdb(&many).unwrap_err().code(), Code::V003);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.vdb");
    std::fs::write(&path, Foreign::default().bytes()).unwrap();
    assert!(format::open_within(&path, Some(4096)).is_ok());
    assert_eq!(
        format::open_within(&path, Some(2000)).unwrap_err().kind(),
        Kind::TooLarge
    );
}
