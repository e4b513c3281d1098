//! Inputs that consist of numbers: random, with a meaningful head. Their layouts are in
//! `tools/fuzz/src/kernels.rs` and `tools/fuzz/src/round_trip.rs`.

use voxelize::format::FORMATS;

use super::Seeds;
use super::random::Random;

impl Random {
    fn byte(&mut self) -> u8 {
        (self.next() >> 56) as u8
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.byte()).collect()
    }
}

/// Returns triangles of each kind of coordinates, on lattices with every size of cells.
pub fn triangles() -> Seeds {
    let mut random = Random(7);
    let mut seeds = Seeds::new();
    for case in 0..96_u8 {
        let mut bytes = vec![random.byte(), random.byte()];
        for axis in 0..3 {
            let cells = if axis == 0 && case % 8 == 0 {
                250 + case % 4
            } else {
                2 + random.byte() % 9
            };
            bytes.extend([cells, case % 12, random.byte()]);
        }
        for _ in 0..9 * (1 + case % 6) {
            let kind = if case % 3 == 0 {
                random.byte()
            } else {
                case / 3 % 5
            };
            bytes.push(kind);
            bytes.extend(random.bytes(2));
        }
        seeds.push((format!("random-{case:02}"), bytes));
    }
    seeds
}

/// Returns boxes next to, on and in each other, and random triangles, in the layout of
/// `tools/fuzz/src/clearance.rs`.
pub fn pairs() -> Seeds {
    let mut random = Random(11);
    let mut seeds = Seeds::new();
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let cuboid = |low: [i8; 3], high: [i8; 3]| -> Vec<u8> {
        let corner = |n: usize| {
            [0, 1, 2].map(|axis| (if n >> axis & 1 == 1 { high } else { low })[axis] as u8)
        };
        let triangles = faces
            .into_iter()
            .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
        triangles.flatten().flat_map(corner).collect()
    };
    for case in 0..60_u8 {
        let low = [0, 1, 2].map(|_| (random.byte() % 40) as i8 - 20);
        let mut bytes = vec![case, 11];
        bytes.extend(cuboid([0; 3], [16; 3]));
        bytes.extend(cuboid(low, low.map(|c| c + 4 * (1 + case as i8 % 5))));
        if case % 3 == 0 {
            bytes.truncate(2 + 9 * 12);
            bytes.extend(random.bytes(9 * (1 + usize::from(case))));
        }
        seeds.push((format!("pair-{case:02}"), bytes));
    }
    seeds
}

/// Returns grids of several shapes and patterns in every readable single-file format.
pub fn grids() -> Seeds {
    let mut random = Random(9);
    let mut seeds = Seeds::new();
    let formats = FORMATS
        .iter()
        .filter(|format| format.is_readable() && !format.is_folder());
    for (n, format) in formats.enumerate() {
        for case in 0..8_u8 {
            let mut bytes = vec![n as u8, case];
            let dims: [u16; 3] =
                [[2, 3, 1], [64, 1, 2], [0, 0, 260], [299, 2, 5]][usize::from(case % 4)];
            bytes.extend(dims.iter().flat_map(|n| n.to_le_bytes()));
            bytes.push(random.byte() | 1 | case & 2);
            bytes.extend(random.bytes(36));
            bytes.push(random.byte());
            for word in [
                &b"voxelize 0.1.0"[..],
                b"surface",
                b"up",
                "W\u{fc}rfel \"1\".stl".as_bytes(),
            ] {
                bytes.push(word.len() as u8);
                bytes.extend(word);
            }
            bytes.push(case);
            let cells = [vec![], vec![0xff], random.bytes(40), vec![0, 0, 0, 0, 1]];
            bytes.extend(&cells[usize::from(case / 2)]);
            seeds.push((format!("{}-{case}", format.name), bytes));
        }
    }
    seeds
}
