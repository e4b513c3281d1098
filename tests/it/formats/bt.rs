//! A `.bt` file is the octree that OctoMap reads, cell by cell. It is read again, also without our metadata.

use std::collections::BTreeMap;

use super::*;
#[cfg(feature = "cli")]
use crate::support::{place::Place, rows};

const FREE: u8 = 1;
const OCCUPIED: u8 = 2;
const INNER: u8 = 3;

fn bt() -> &'static Format {
    named("bt")
}

/// Returns voxels whose first wall is `origin` cells of 1/10 from 0.
fn at(bits: BitGrid, origin: [Rational; 3]) -> Voxels {
    let spacing = [(); 3].map(|()| Rational::new(1, 10));
    let origin = origin.map(|cells| &cells * &Rational::new(1, 10));
    let lattice = Lattice::new(bits.dims(), origin, spacing, [true; 3]).unwrap();
    Voxels {
        lattice: Some(lattice),
        ..Voxels::new(bits)
    }
}

fn whole(cells: [i64; 3]) -> [Rational; 3] {
    cells.map(Rational::from)
}

/// Parsed file: the lines of the header, the bytes of the tree, and the leaves by key and size.
struct Tree {
    head: Vec<String>,
    data: Vec<u8>,
    leaves: BTreeMap<([usize; 3], usize), u8>,
    nodes: usize,
}

impl Tree {
    fn of(voxels: &Voxels, choices: &[Choice]) -> Self {
        Self::parse(&written(voxels, bt(), &with_choices(choices)).unwrap())
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut windows = bytes.windows(6);
        let end = windows.position(|window| window == b"\ndata\n").unwrap();
        let (head, mut data) = bytes.split_at(end + 6);
        let head = std::str::from_utf8(head).unwrap();
        assert!(head.starts_with("# Octomap OcTree binary file\n# voxelize {"));
        let mut tree = Self {
            head: head.lines().map(str::to_string).collect(),
            data: data.to_vec(),
            leaves: BTreeMap::new(),
            nodes: 0,
        };
        if !data.is_empty() {
            tree.nodes = 1;
            tree.inner(&mut data, [0; 3], 1 << 16);
        }
        assert!(data.is_empty(), "{} bytes are left", data.len());
        assert_eq!(tree.head[3], format!("size {}", tree.nodes));
        tree
    }

    fn inner(&mut self, data: &mut &[u8], key: [usize; 3], size: usize) {
        assert!(size > 1);
        let (node, rest) = data.split_at(2);
        *data = rest;
        let half = size / 2;
        let states: Vec<u8> = (0..8).map(|n| node[n / 4] >> (2 * (n % 4)) & 3).collect();
        let is_root = size == 1 << 16;
        let is_uniform = states.iter().all(|state| *state == states[0]);
        assert!(is_root || !is_uniform || states[0] == INNER, "not pruned");
        self.nodes += states.iter().filter(|state| **state != 0).count();
        for (n, state) in states.into_iter().enumerate() {
            let child = [0, 1, 2].map(|axis| key[axis] + (n >> axis & 1) * half);
            match state {
                INNER => self.inner(data, child, half),
                FREE | OCCUPIED => drop(self.leaves.insert((child, half), state)),
                _ => {}
            }
        }
    }

    /// Returns the cells of a state as indices of a grid whose first cell has this key.
    fn cells(&self, state: u8, first: [usize; 3]) -> Vec<[usize; 3]> {
        let mut cells = Vec::new();
        for ((key, size), _) in self.leaves.iter().filter(|(_, found)| **found == state) {
            let cell = |at: [usize; 3]| [0, 1, 2].map(|axis| key[axis] + at[axis] - first[axis]);
            cells.extend(every_cell([*size; 3]).map(cell));
        }
        cells.sort_by_key(|[x, y, z]| [*z, *y, *x]);
        cells
    }
}

#[test]
fn bytes_match_the_description() {
    let free: &[Choice] = &[Choice::MarkFree];
    // The first cell above 0 is in child 7 of the root, and then in child 0 of each level.
    for (text, choices, size, inner, last) in [
        ("#", &[][..], 17, 14, [2, 0]),
        (".#", &[], 17, 14, [8, 0]),
        (".\n#", &[], 17, 14, [2, 0]),
        (".\n\n#", &[], 17, 14, [0, 2]),
        // Eight equal children are merged.
        ("##\n##\n\n##\n##", &[], 16, 13, [2, 0]),
        ("##\n##\n\n##\n#.", &[], 23, 14, [0xaa, 0xa2]),
        ("#.", free, 18, 14, [6, 0]),
        ("..\n..\n\n..\n..", free, 16, 13, [1, 0]),
    ] {
        let tree = Tree::of(
            &at(BitGrid::from_text(text).unwrap(), whole([0; 3])),
            choices,
        );
        assert!(tree.head[1].starts_with("# voxelize {\"dims\":"));
        let head = format!("id OcTree size {size} res 0.1 data");
        assert_eq!(tree.head[2..].join(" "), head, "{text} {choices:?}");
        let data = [&[0x00, 0xc0][..], &[3, 0].repeat(inner), &last].concat();
        assert_eq!(tree.data, data, "{text} {choices:?}");
    }
    let empty = Tree::of(&at(BitGrid::from_text("..").unwrap(), whole([0; 3])), &[]);
    assert_eq!((&*empty.head[3], empty.data.len()), ("size 0", 0));
}

#[test]
fn every_cell_is_in_the_tree_wherever_the_grid_is() {
    let dims = [[65, 3, 7], [3, 90, 20], [70, 40, 33]].map(scattered);
    for bits in dims.into_iter().chain([f_grid(), full([40, 33, 64])]) {
        let [_, _, nz] = bits.dims();
        let occupied: Vec<_> = bits.iter().collect();
        let empty: Vec<_> = every_cell(bits.dims())
            .filter(|cell| !bits.get(*cell))
            .collect();
        for origin in [
            [0, 0, 0],
            [-1, -5, -40],
            [-32768, 31, 32768 - nz as i64],
            [1000, -1023, 97],
        ] {
            let voxels = at(bits.clone(), whole(origin));
            let first = origin.map(|cells| (32768 + cells) as usize);
            for (choices, free) in [(&[][..], &vec![]), (&[Choice::MarkFree], &empty)] {
                let tree = Tree::of(&voxels, choices);
                assert!(tree.cells(OCCUPIED, first) == occupied, "{origin:?}");
                assert!(tree.cells(FREE, first) == *free, "{origin:?}");
            }
        }
    }
}

#[test]
fn a_grid_off_the_walls_of_the_tree_is_moved_to_the_nearest() {
    let cells: Vec<_> = f_grid().iter().collect();
    let half = |n| Rational::new(n, 2);
    let third = |n| Rational::new(n, 3);
    for (origin, walls, moved) in [
        ([half(1), third(1), third(2)], [1, 0, 1], 1),
        ([half(-1), third(-1), third(-2)], [0, 0, -1], 1),
        ([half(-3), third(4), third(-5)], [-1, 1, -2], 1),
        (whole([3, -4, 0]), [3, -4, 0], 0),
    ] {
        let voxels = at(f_grid(), origin);
        let tree = Tree::of(&voxels, &[]);
        let first = walls.map(|wall| (32768 + wall) as usize);
        assert_eq!(tree.cells(OCCUPIED, first), cells, "{walls:?}");
        // The file also contains the exact place.
        let json = tree.head[1].strip_prefix("# voxelize ").unwrap();
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        let lattice = voxels.lattice.as_ref().unwrap();
        assert_eq!(json["origin"][0], lattice.origin()[0].to_string());
        let found = format::warnings(lattice, lattice.dims(), bt());
        assert_eq!(found.len(), moved, "{walls:?}");
        for found in found {
            assert_eq!(found.code(), Code::W004);
            assert!(found.text().contains("moved by"), "{}", found.text());
        }
    }
    // Cells without a place start at 0.
    let tree = Tree::of(&Voxels::new(f_grid()), &[]);
    assert_eq!(tree.cells(OCCUPIED, [32768; 3]), cells);
    assert_eq!(tree.head[4], "res 1");
}

/// Other keys of a row of 65,536 cells, cells without neighbours before and after, and grids beyond the tree.
#[test]
fn the_tree_holds_65536_cells_an_axis_and_no_more() {
    let row = [0, 1, 257, 2001, 32767, 32768, 65535].map(|i| [i, 0, 0]);
    let bits = grid_of([65536, 1, 1], row);
    let tree = Tree::of(&at(bits, whole([-32768, 0, 0])), &[]);
    assert_eq!(tree.cells(OCCUPIED, [0, 32768, 32768]), row);
    let options = SaveOptions::default();
    for (dims, origin, message) in [
        ([70_000, 1, 1], [0, 0, 0], "70000 cells along x"),
        ([1, 1, 65_537], [-32768, 0, 0], "65537 cells along z"),
        ([1, 65_536, 1], [0, 0, 0], "too far from 0 along y"),
        ([3, 4, 2], [32766, 0, 0], "too far from 0 along x"),
        ([3, 4, 2], [0, 0, -32769], "too far from 0 along z"),
    ] {
        let voxels = at(BitGrid::new(dims).unwrap(), whole(origin));
        let error = written(&voxels, bt(), &options).unwrap_err();
        assert_eq!(error.code(), Code::TooLarge, "{error}");
        assert!(error.message().contains(message), "{error}");
        let lattice = voxels.lattice.as_ref().unwrap();
        let early = format::check(CellKind::Bits, lattice, bt(), &options).unwrap_err();
        assert_eq!(
            (early.code(), early.message()),
            (error.code(), error.message())
        );
    }
    // Cells without a place start at 0.
    let long = Voxels::new(BitGrid::new([32_769, 1, 1]).unwrap());
    let error = written(&long, bt(), &options).unwrap_err();
    assert_eq!(error.code(), Code::TooLarge);
    let spacing = [1, 1, 2].map(Rational::from);
    let flat = Lattice::new([3, 4, 2], whole([0; 3]), spacing, [true; 3]).unwrap();
    let error = format::check(CellKind::Bits, &flat, bt(), &options).unwrap_err();
    assert_eq!(error.code(), Code::Usage);
}

#[cfg(feature = "cli")]
#[test]
fn the_command_warns_about_moved_cells_and_reads_them() {
    let place = Place::new();
    rows::check(
        &place,
        "0 thirds.stl --voxel-size 0.1 --bounds 0.05,0,0,0.7,0.3,0.5 -o a.bt
            err warning[W004]
            err --origin 0,0,0
            err moved by (0.05, 0, 0);
         0 thirds.stl --scale 2 --voxel-size 0.2 --bounds 0.1,0,0,1.4,0.6,1 -o a.bt
            err moved by (0.1, 0, 0);
         0 thirds.stl --voxel-size 0.1 --origin 0,0,0 --mark-free -o b.bt
            no err moved by
            err leaves the inside of a part empty, so
         0 thirds.stl --voxel-size 0.1 --origin 0,0,0 --mark-free --filled -o b.bt
            no err W004
         0 thirds.stl --voxel-size 0.1 --bounds 0.05,0,0,0.7,0.3,0.5 -o a.npz
         0 convert a.npz c.bt
            err warning[W004]
            err moved by
         0 diff a.npz c.bt
         0 info c.bt
         0 view c.bt --slice z=0
         0 view c.bt --size 80x60 -o c.png",
    );
    let tree = Tree::parse(&fs::read(place.path("b.bt")).unwrap());
    assert!(!tree.leaves.is_empty());
    rows::refused(
        &place,
        "5 cube.stl --voxel-size 0.0003 -o a.bt
            err 66667 cells along x
         2 cube.stl -r 8 -o a.npz --mark-free
            err --mark-free",
    );
}

/// Returns a file without the line of this tool.
fn foreign(bytes: &[u8]) -> Vec<u8> {
    let mut lines = bytes.splitn(3, |byte| *byte == b'\n');
    let [first, own, rest] = [(); 3].map(|()| lines.next().unwrap());
    assert!(own.starts_with(b"# voxelize {"));
    [first, b"\n", rest].concat()
}

#[test]
fn octrees_of_other_programs_are_read_as_the_box_of_known_cells() {
    let free: &[Choice] = &[Choice::MarkFree];
    let mut seen = 0;
    for (bits, choices) in [
        (BitGrid::from_text("#").unwrap(), &[][..]),
        (full([16, 8, 8]), &[]),
        (full([70, 9, 33]), &[]),
        (scattered([70, 9, 33]), &[]),
        (scattered([70, 9, 33]), free),
        (BitGrid::new([5, 9, 3]).unwrap(), free),
    ] {
        for first in [[0, 0, 0], [-7, 5, -40], [3, -1, 64]] {
            let voxels = at(bits.clone(), whole(first));
            let bytes = written(&voxels, bt(), &with_choices(choices)).unwrap();
            assert_eq!(read(&bytes, bt(), None).unwrap(), voxels);
            let found = read(&foreign(&bytes), bt(), None).unwrap();
            assert_eq!(found.record.transform, [("unit", "m".to_string())]);
            let lattice = found.lattice.as_ref().unwrap();
            let own = voxels.lattice.as_ref().unwrap();
            assert_eq!(lattice.spacing(), own.spacing());
            let cells = |voxels: &Voxels, lattice: &Lattice| -> Vec<[Rational; 3]> {
                let corner = |cell: [usize; 3], axis: usize| {
                    let cells = Rational::from(cell[axis] as i64);
                    &lattice.origin()[axis] + &(&lattice.spacing()[axis] * &cells)
                };
                let occupied = voxels.occupied().unwrap().iter();
                occupied
                    .map(|cell| [0, 1, 2].map(|axis| corner(cell, axis)))
                    .collect()
            };
            assert_eq!(cells(&found, lattice), cells(&voxels, own), "{first:?}");
            if choices.is_empty() {
                let [low, high] = found.occupied().unwrap().occupied_box().unwrap();
                assert_eq!(low, [0; 3]);
                assert_eq!(high.map(|n| n + 1), found.dims());
            } else {
                assert_eq!(
                    (found.dims(), lattice.origin()),
                    (voxels.dims(), own.origin())
                );
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 18);
}

#[test]
fn broken_octrees_are_errors() {
    let bytes = written(&at(full([1; 3]), whole([0; 3])), bt(), &with_choices(&[])).unwrap();
    let file = foreign(&bytes);
    let text = |from: &str, to: &str| {
        let head = String::from_utf8_lossy(&file).replacen(from, to, 1);
        assert_ne!(head.len(), 0);
        let end = file.windows(6).position(|w| w == b"\ndata\n").unwrap() + 6;
        let at = head.find("\ndata\n").map_or(head.len(), |at| at + 6);
        [&head.as_bytes()[..at], &file[end..]].concat()
    };
    let mut deep = file.clone();
    *deep.iter_mut().rev().nth(1).unwrap() = 3;
    for (file, code, part) in [
        (
            text("binary file", "file"),
            Code::V004,
            "is not a binary octree",
        ),
        (
            text("id OcTree", "id ColorOcTree"),
            Code::V004,
            "is not an OcTree",
        ),
        (
            text("size 17", "size 18"),
            Code::V005,
            "has 17 nodes, but its header states 18",
        ),
        (text("size 17", "seize 17"), Code::V003, "size N"),
        (text("res 0.1", "res -0.1"), Code::V003, "res R"),
        (text("res 0.1", "res x"), Code::V003, "res R"),
        (text("\ndata", "\ndate"), Code::V002, "no line 'data'"),
        (file[..file.len() - 1].to_vec(), Code::V002, "ends early"),
        ([&file[..], b"."].concat(), Code::V005, "more bytes follow"),
        (deep, Code::V005, "more than 16 levels"),
        (
            b"# Octomap OcTree binary file\nid OcTree\nsize 0\nres 1\ndata\n".to_vec(),
            Code::V005,
            "no cell of the octree is known",
        ),
    ] {
        let error = read(&file, bt(), None).unwrap_err();
        assert_eq!(error.code(), code, "{part}: {error}");
        assert!(error.message().contains(part), "{error}");
    }
}
