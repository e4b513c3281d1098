//! Files of other programs are read with their meaning, and rejected if they are broken.

use std::io::Read as _;

use super::files::{Foreign, changed, doubles, ends, floats, scale, uniform_map, words};
use super::*;

/// Returns the values of the leaf, z fastest.
fn values_of(voxels: &Voxels) -> Vec<f32> {
    let field = voxels.field().unwrap();
    assert_eq!(field.dims(), [8; 3]);
    let cell = |n: usize| [n / 64, n / 8 % 8, n % 8];
    (0..512).map(|n| field.get(cell(n))).collect()
}

/// Returns a zlib stream.
fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut encoder = flate2::read::ZlibEncoder::new(bytes, flate2::Compression::best());
    encoder.read_to_end(&mut packed).unwrap();
    packed
}

/// Returns a compressed block after its length.
fn block(packed: &[u8]) -> Vec<u8> {
    [&(packed.len() as i64).to_le_bytes(), packed].concat()
}

/// Returns values of nodes that are all background in a compressed file.
fn no_values() -> Vec<u8> {
    [vec![0], block(&[])].concat()
}

/// Returns 512 floats of 1.0, in four streams of one byte each: 0, 0, 0x80, 0x3f.
fn lz4() -> Vec<u8> {
    let stream = |byte: u8| {
        let packed = [0x1f, byte, 1, 0, 255, 236, 0x10, byte];
        [words(&[8]), packed.to_vec()].concat()
    };
    let streams = [0, 0, 0x80, 0x3f].map(stream).concat();
    let length = 16 + 4 + streams.len() as u32;
    let head = [vec![2, 1, 0x21, 4], words(&[2048, 2048, length, 20])].concat();
    block(&[head, streams].concat())
}

#[test]
fn values_of_other_programs_are_read_however_they_are_stored() {
    // A mask selects one of two values for each inactive cell.
    let mut which = [0_u8; 64];
    which[1] = 0b1010;
    let active = floats(&[1.0, 2.0]);
    let all: Vec<f32> = (0..512).map(|n| n as f32 / 8.0).collect();
    // The first and the last value, the values of selected cells, and the others.
    let values = |selected: f32, other: f32| -> Vec<f32> {
        let value = |n: usize| match n {
            0 => 1.0,
            511 => 2.0,
            9 | 11 => selected,
            _ => other,
        };
        (0..512).map(value).collect()
    };
    let kind_6 = |packed: Vec<u8>| [vec![6], packed].concat();
    let halves = [0x3c00_u16, 0x4000].map(u16::to_le_bytes).concat();
    let not_zipped = [&[1][..], &(-8_i64).to_le_bytes(), &active].concat();
    let cases = [
        (2, "", [&[0], &active[..]].concat(), values(4.0, 4.0)),
        (2, "", [&[1], &active[..]].concat(), values(-4.0, -4.0)),
        (
            2,
            "",
            [&[2], &floats(&[7.0])[..], &active].concat(),
            values(7.0, 7.0),
        ),
        (
            2,
            "",
            [&[3], &which[..], &active].concat(),
            values(4.0, -4.0),
        ),
        (
            2,
            "",
            [&[4], &floats(&[7.0])[..], &which, &active].concat(),
            values(4.0, 7.0),
        ),
        (
            2,
            "",
            [&[5], &floats(&[7.0, 9.0])[..], &which, &active].concat(),
            values(9.0, 7.0),
        ),
        (2, "", kind_6(floats(&all)), all.clone()),
        (
            2,
            "_HalfFloat",
            [&[2], &floats(&[0.25])[..], &halves].concat(),
            values(0.25, 0.25),
        ),
        (3, "", kind_6(block(&zipped(&floats(&all)))), all.clone()),
        (3, "", not_zipped, values(-4.0, -4.0)),
        (6, "", kind_6(lz4()), vec![1.0; 512]),
    ];
    for (case, (compression, kind, values, expected)) in cases.into_iter().enumerate() {
        let mut file = Foreign {
            compression,
            kind: if kind.is_empty() {
                "Tree_float_5_4_3"
            } else {
                "Tree_float_5_4_3_HalfFloat"
            },
            values,
            ..Foreign::default()
        };
        if compression != 2 {
            file.no_values = no_values();
        }
        for version in 222..=225 {
            file.version = version;
            let found = read_vdb(&file.bytes()).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(values_of(&found), expected, "case {case}");
            assert_eq!(found.field().unwrap().background(), 4.0);
        }
    }
    let file = Foreign {
        compression: 0,
        values: kind_6(floats(&all)),
        no_values: vec![6],
        ..Foreign::default()
    };
    let found = read_vdb(&without_compression(&file)).unwrap();
    assert_eq!(values_of(&found), all);
}

/// Returns a file whose nodes contain the values of all their places.
fn without_compression(file: &Foreign) -> Vec<u8> {
    let [head, buffers] = file.grid();
    let (start, nodes) = head.split_at(head.len() - 64 - 2 * (1 + 512) - 2 * 4096);
    let (upper, rest) = nodes.split_at(2 * 4096 + 1);
    let (middle, mask) = rest.split_at(2 * 512 + 1);
    let [many, some] = [32768, 4096].map(|count| floats(&vec![4.0; count]));
    let grid = [start, upper, &many, middle, &some, mask].concat();
    let whole = file.bytes();
    let at = whole.len() - head.len() - buffers.len();
    let ends = [at, at + grid.len(), at + grid.len() + buffers.len()];
    let offsets = ends.map(|n| (n as u64).to_le_bytes()).concat();
    [&whole[..at - 24], &offsets, &grid, &buffers].concat()
}

#[test]
fn cells_of_other_programs_are_placed_by_their_maps() {
    let rows = [
        [0.0, 2.0, 0.0, 0.0],
        [0.25, 0.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0],
        [1.0, 2.0, 3.0, 1.0],
    ];
    let place = [vec![1.0, 2.0, 3.0], scale([0.5, 1.0, 2.0])].concat();
    // The leaf is from (-8, 0, 16) to (-1, 7, 23).
    for (map, origin, spacing, first) in [
        (
            uniform_map([1.0, 2.0, 3.0], 0.5),
            [-3.25, 1.75, 10.75],
            [0.5; 3],
            [0; 3],
        ),
        (
            doubles("ScaleTranslateMap", &place),
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
            doubles("TranslationMap", &[0.0; 3]),
            [-8.5, -0.5, 15.5],
            [1.0; 3],
            [0; 3],
        ),
        // x of the tree goes along y, y along x, and z down.
        (
            doubles("AffineMap", rows.as_flattened()),
            [0.875, -15.0, -20.5],
            [0.25, 2.0, 1.0],
            [0, 0, 7],
        ),
    ] {
        let mut found = read_vdb(&changed(|file| file.map = map)).unwrap();
        let lattice = found.lattice.as_ref().unwrap();
        let numbers = |values: &[Rational; 3]| values.each_ref().map(Rational::to_f64);
        assert_eq!(numbers(lattice.origin()), origin);
        assert_eq!(numbers(lattice.spacing()), spacing);
        assert_eq!(found.field().unwrap().get(first), 1.0, "{origin:?}");
        found.record = Record::default();
        assert_eq!(read_vdb(&bytes_of(&found, &[])).unwrap(), found);
    }
}

#[test]
fn grids_of_other_kinds_and_files_of_several() {
    // The first grid with cells is read, and a stream without offsets.
    for bytes in [
        changed(|file| file.before = true),
        changed(|file| file.has_offsets = false),
    ] {
        assert_eq!(values_of(&read_vdb(&bytes).unwrap())[511], 2.0);
    }
    let both = changed(|file| (file.before, file.has_offsets) = (true, false));
    let message = "no grid of bool, int32 or float: 'v' is a Tree_vec3s_5_4_3";
    assert_eq!(read_vdb(&both).unwrap_err().message(), message);
    // For bool, the cells with a true value are read: not all active cells, and no cells beyond the box of
    // the true ones.
    let mut values = ends();
    (values[0], values[1]) = (0, 0b10);
    let found = read_vdb(&changed(|file| {
        file.kind = "Tree_bool_5_4_3";
        file.background = vec![0];
        file.values = values.to_vec();
    }));
    assert_eq!(occupied_cells(&found.unwrap()), [[0, 1, 1], [7, 7, 7]]);
    // Integers are labels, or bits if only one value occurs.
    let whole = |numbers: [i32; 2]| {
        let bytes = changed(|file| {
            file.kind = "Tree_int32_5_4_3";
            file.background = vec![0; 4];
            file.values = [vec![0], numbers.map(i32::to_le_bytes).concat()].concat();
        });
        read_vdb(&bytes)
    };
    let found: Vec<_> = whole([7, 255]).unwrap().labels().unwrap().iter().collect();
    assert_eq!(found, [([0, 0, 0], 7), ([7, 7, 7], 255)]);
    let found = whole([9, 9]).unwrap();
    assert_eq!((found.kind(), found.count()), (CellKind::Bits, 2));
    for numbers in [[1, 256], [-1, 1]] {
        check_error(whole(numbers), "V004", numbers);
    }
    // A tile of the root has 4096 cells along each axis. The file is too short for that many.
    let tile = changed(|file| file.tiles = vec![([0; 3], floats(&[1.0]), true)]);
    assert_eq!(read_vdb(&tile).unwrap_err().kind(), Kind::TooLarge);
}

#[test]
fn our_description_counts_only_while_it_fits() {
    let json = |dims: &str| {
        Some(format!(
            r#"{{"tool":"voxelize 9.9","dims":{dims},"background":"4"}}"#
        ))
    };
    let at = |dims: &str, x: i32| {
        let bytes = changed(|file| (file.json, file.root) = (json(dims), [x, 0, 0]));
        read_vdb(&bytes).unwrap()
    };
    // The leaf is at (4088, 0, 16): within the dims, next to them, and at negative indices.
    let within = at("[4096,8,24]", 0);
    assert_eq!(within.dims(), [4096, 8, 24]);
    assert_eq!(within.record.tool.as_deref(), Some("voxelize 9.9"));
    let field = within.field().unwrap();
    assert_eq!((field.get([4095, 7, 23]), field.get([0; 3])), (2.0, 4.0));
    for (dims, x) in [("[4096,8,23]", 0), ("[4096,8,24]", -4096), ("[0,8,24]", 0)] {
        let other = at(dims, x);
        assert_eq!((other.dims(), other.record.tool), ([8; 3], None), "{dims}");
    }
    let broken = changed(|file| (file.json, file.root) = (Some("{".into()), [0; 3]));
    check_error(read_vdb(&broken), "V007", "{");
    // A tile that extends beyond the grid is cut.
    let tile = changed(|file| {
        (file.json, file.root) = (json("[4100,8,24]"), [0; 3]);
        file.tiles = vec![([4096, 0, 0], floats(&[-4.0]), false)];
    });
    let found = read_vdb(&tile).unwrap();
    let field = found.field().unwrap();
    assert_eq!(field.get([4099, 3, 3]), -4.0);
    assert_eq!(field.get([4087, 3, 3]), 4.0);
}

/// Returns the default file, zipped, with this stream for its leaf.
fn zip_of(packed: &[u8]) -> Vec<u8> {
    changed(|file| {
        file.compression = 3;
        file.no_values = no_values();
        file.values = [vec![0], block(packed)].concat();
    })
}

#[test]
fn broken_files_are_specific_errors() {
    let whole = Foreign::default().bytes();
    let stream = changed(|file| file.has_offsets = false);
    let flipped = |from_end: usize, bits: u8| {
        let mut bytes = whole.clone();
        bytes[whole.len() - from_end] ^= bits;
        bytes
    };
    let offset = Foreign::default().grid().concat().len() + 16;
    let values = |bytes: &[u8]| changed(|file| file.values = bytes.to_vec());
    for (case, bytes, code) in [
        ("cut", whole[..whole.len() - 1].to_vec(), "V002"),
        ("longer", [&whole[..], &[0]].concat(), "V005"),
        ("longer stream", [&stream[..], &[0]].concat(), "V005"),
        ("other mask of the leaf", flipped(64 + 9, 2), "V003"),
        ("early buffers", flipped(offset, 1), "V003"),
        ("old", changed(|file| file.version = 221), "V004"),
        ("new", changed(|file| file.version = 226), "V004"),
        (
            "doubles",
            changed(|file| file.kind = "Tree_double_5_4_3"),
            "V004",
        ),
        (
            "compression 8",
            changed(|file| file.compression = 8),
            "V003",
        ),
        (
            "compression 7",
            changed(|file| file.compression = 7),
            "V003",
        ),
        (
            "unknown map",
            changed(|file| file.map = doubles("UnitaryMap", &[0.0; 16])),
            "V004",
        ),
        (
            "NaN",
            changed(|file| file.map = uniform_map([f64::NAN, 0.0, 0.0], 1.0)),
            "V003",
        ),
        (
            "size 0",
            changed(|file| file.map = uniform_map([0.0; 3], 0.0)),
            "V003",
        ),
        (
            "odd root",
            changed(|file| file.root = [-4095, 0, 0]),
            "V003",
        ),
        (
            "kind 7",
            values(&[vec![7], floats(&[1.0, 2.0])].concat()),
            "V003",
        ),
        (
            "few values",
            values(&[vec![0], floats(&[1.0])].concat()),
            "V002",
        ),
        (
            "many values",
            values(&[vec![0], floats(&[1.0; 3])].concat()),
            "V005",
        ),
        (
            "empty",
            changed(|file| (file.mask, file.values) = ([0; 64], vec![0])),
            "V004",
        ),
        ("broken zlib", zip_of(&[1, 2, 3]), "V003"),
        ("short zlib", zip_of(&zipped(&[0; 7])), "V003"),
        ("long zlib", zip_of(&zipped(&[0; 9])), "V003"),
        ("claims a long zlib", zip_of(&[0; 1000]), "V003"),
        ("other magic", b" BDV\0\0\0\x01".to_vec(), "V001"),
    ] {
        check_error(read_vdb(&bytes), code, case);
    }
}

/// Two cells at both ends of the range of coordinates of a tree, and a node count beyond the file.
#[test]
fn files_cannot_claim_memory() {
    let ends = [[i32::MIN; 3], [i32::MAX - 4095; 3]];
    let far = changed(|file| file.tiles = ends.map(|cell| (cell, floats(&[1.0]), true)).into());
    assert_eq!(read_vdb(&far).unwrap_err().kind(), Kind::Input);
    let json = r#"{"dims":[100000,100000,100000],"background":"4"}"#.to_string();
    let wide = changed(|file| (file.json, file.root) = (Some(json), [0; 3]));
    assert_eq!(read_vdb(&wide).unwrap_err().kind(), Kind::TooLarge);
    let mut many = Foreign::default().bytes();
    let counts = [0, 0, 0, 0, 1, 0, 0, 0];
    let at = many.windows(8).position(|window| window == counts).unwrap();
    assert!(at > 100);
    many[at..at + 8].fill(0xff);
    check_error(read_vdb(&many), "V003", "many nodes");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vdb");
    fs::write(&path, Foreign::default().bytes()).unwrap();
    assert!(format::open_within(&path, Some(4096)).is_ok());
    let error = format::open_within(&path, Some(2000)).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge);
}
