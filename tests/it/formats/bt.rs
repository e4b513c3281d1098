//! A `.bt` file is the octree that OctoMap reads, cell by cell.

use std::collections::BTreeMap;

use voxelize::format::Choice;
use voxelize::grid::InMemory;

use super::kinds::Split;
use super::*;
#[cfg(feature = "cli")]
use crate::support::place::{Place, refused};

const FREE: u8 = 1;
const OCCUPIED: u8 = 2;
const INNER: u8 = 3;

fn bt() -> &'static Format {
    format::by_name("bt").unwrap()
}

fn written(voxels: &Voxels, choices: &[Choice]) -> Vec<u8> {
    let options = SaveOptions {
        choices,
        ..SaveOptions::default()
    };
    let mut bytes = Vec::new();
    format::write_to(voxels, &mut bytes, bt(), &options).unwrap();
    bytes
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

/// Parsed file: the leaves by key and size.
struct Tree {
    head: Vec<String>,
    leaves: BTreeMap<([usize; 3], usize), u8>,
    nodes: usize,
}

impl Tree {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes
            .windows(6)
            .position(|window| window == b"\ndata\n")
            .unwrap()
            + 6;
        let head = std::str::from_utf8(&bytes[..end])
            .unwrap()
            .lines()
            .map(str::to_string)
            .collect();
        let mut tree = Self {
            head,
            leaves: BTreeMap::new(),
            nodes: 0,
        };
        let mut data = &bytes[end..];
        if !data.is_empty() {
            tree.nodes = 1;
            tree.inner(&mut data, [0; 3], 1 << 16);
        }
        assert!(data.is_empty(), "{} bytes are left", data.len());
        tree
    }

    fn inner(&mut self, data: &mut &[u8], key: [usize; 3], size: usize) {
        assert!(size > 1);
        let (node, rest) = data.split_at(2);
        *data = rest;
        let half = size / 2;
        let states: Vec<u8> = (0..8).map(|n| node[n / 4] >> (2 * (n % 4)) & 3).collect();
        let is_root = size == 1 << 16;
        assert!(
            is_root || states.iter().any(|state| *state != states[0]) || states[0] == INNER,
            "not pruned"
        );
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
            for n in 0..size.pow(3) {
                let at = [n % size, n / size % size, n / size / size];
                cells.push([0, 1, 2].map(|axis| key[axis] + at[axis] - first[axis]));
            }
        }
        cells.sort_by_key(|[x, y, z]| [*z, *y, *x]);
        cells
    }
}

/// Returns the lines of the header after the comments, and the bytes of the tree.
fn parsed(voxels: &Voxels, choices: &[Choice]) -> (String, Vec<u8>) {
    let bytes = written(voxels, choices);
    let end = bytes
        .windows(6)
        .position(|window| window == b"\ndata\n")
        .unwrap()
        + 6;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let lines: Vec<_> = head.lines().map(str::to_string).collect();
    assert!(
        lines[0] == "# Octomap OcTree binary file" && lines[1].starts_with("# voxelize {\"dims\":"),
        "{head}"
    );
    (lines[2..].join(" "), bytes[end..].to_vec())
}

#[test]
fn bytes_match_the_description() {
    let one = |text| at(BitGrid::from_text(text).unwrap(), whole([0; 3]));
    // The first cell above 0 is in child 7 of the root, and then in child 0 of each level.
    let path =
        |levels: usize, last: &[u8]| [&[0x00, 0xc0][..], &[3, 0].repeat(levels), last].concat();
    for (text, choices, head, bytes) in [
        (
            "#",
            &[][..],
            "id OcTree size 17 res 0.1 data",
            path(14, &[2, 0]),
        ),
        (
            ".#",
            &[],
            "id OcTree size 17 res 0.1 data",
            path(14, &[8, 0]),
        ),
        (
            ".\n#",
            &[],
            "id OcTree size 17 res 0.1 data",
            path(14, &[2, 0]),
        ),
        (
            ".\n\n#",
            &[],
            "id OcTree size 17 res 0.1 data",
            path(14, &[0, 2]),
        ),
        // Eight equal children are merged.
        (
            "##\n##\n\n##\n##",
            &[],
            "id OcTree size 16 res 0.1 data",
            path(13, &[2, 0]),
        ),
        (
            "##\n##\n\n##\n#.",
            &[],
            "id OcTree size 23 res 0.1 data",
            path(14, &[0xaa, 0xa2]),
        ),
        (
            "#.",
            &[Choice::MarkFree],
            "id OcTree size 18 res 0.1 data",
            path(14, &[6, 0]),
        ),
        (
            "..\n..\n\n..\n..",
            &[Choice::MarkFree],
            "id OcTree size 16 res 0.1 data",
            path(13, &[1, 0]),
        ),
        ("..", &[], "id OcTree size 0 res 0.1 data", vec![]),
    ] {
        assert_eq!(
            parsed(&one(text), choices),
            (head.to_string(), bytes),
            "{text} {choices:?}"
        );
    }
}

#[test]
fn every_cell_is_in_the_tree_wherever_the_grid_is() {
    let mut seen = 0;
    for bits in [
        f_grid(),
        scattered([65, 3, 7]),
        scattered([3, 90, 20]),
        scattered([70, 40, 33]),
        full([40, 33, 64]),
    ] {
        let [nx, ny, nz] = bits.dims();
        for origin in [
            [0, 0, 0],
            [-1, -5, -40],
            [-32768, 31, 32768 - nz as i64],
            [1000, -1023, 97],
        ] {
            let voxels = at(bits.clone(), whole(origin));
            let first = origin.map(|cells| (32768 + cells) as usize);
            for choices in [&[][..], &[Choice::MarkFree]] {
                let tree = Tree::parse(&written(&voxels, choices));
                assert!(
                    tree.cells(OCCUPIED, first).into_iter().eq(bits.iter()),
                    "{origin:?}"
                );
                let free = tree.cells(FREE, first);
                let expected = if choices.is_empty() {
                    0
                } else {
                    nx * ny * nz - bits.count() as usize
                };
                assert!(
                    free.len() == expected
                        && free.iter().all(|[x, y, z]| *x < nx && *y < ny && *z < nz)
                );
                assert_eq!(tree.head[3], format!("size {}", tree.nodes));
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 5 * 4 * 2);
}

#[test]
fn a_grid_off_the_walls_of_the_tree_is_moved_to_the_nearest() {
    let half = |n| Rational::new(n, 2);
    let third = |n| Rational::new(n, 3);
    for (origin, walls, moved) in [
        ([half(1), third(1), third(2)], [1, 0, 1], true),
        ([half(-1), third(-1), third(-2)], [0, 0, -1], true),
        ([half(-3), third(4), third(-5)], [-1, 1, -2], true),
        (whole([3, -4, 0]), [3, -4, 0], false),
    ] {
        let voxels = at(f_grid(), origin);
        let tree = Tree::parse(&written(&voxels, &[]));
        let first = walls.map(|wall| (32768 + wall) as usize);
        assert!(
            tree.cells(OCCUPIED, first).into_iter().eq(f_grid().iter()),
            "{walls:?}"
        );
        // The file also contains the exact place.
        let json: serde_json::Value =
            serde_json::from_str(tree.head[1].strip_prefix("# voxelize ").unwrap()).unwrap();
        let lattice = voxels.lattice.as_ref().unwrap();
        assert_eq!(json["origin"][0], lattice.origin()[0].to_string());
        let found = format::warnings(lattice, lattice.dims(), bt());
        assert_eq!(found.len(), usize::from(moved), "{walls:?}");
        assert!(
            found
                .iter()
                .all(|found| found.code() == Code::W004 && found.text().contains("moved by"))
        );
    }
    // Cells without a place start at 0.
    let tree = Tree::parse(&written(&Voxels::new(f_grid()), &[]));
    assert!(
        tree.cells(OCCUPIED, [32768; 3])
            .into_iter()
            .eq(f_grid().iter())
    );
    assert_eq!(tree.head[4], "res 1");
}

#[test]
fn slabs_are_put_together() {
    for bits in [f_grid(), scattered([70, 9, 40])] {
        let voxels = at(bits, whole([-7, 5, -20]));
        for choices in [&[][..], &[Choice::MarkFree]] {
            let options = SaveOptions {
                choices,
                ..SaveOptions::default()
            };
            let expected = written(&voxels, choices);
            for height in [1, 7, 39] {
                let mut bytes = Vec::new();
                let mut source = Split::new(&voxels, height);
                format::write_source_to(&mut source, &mut bytes, bt(), &options).unwrap();
                assert!(bytes == expected, "{height}");
            }
            let threads = |threads| {
                let write = || {
                    let mut bytes = Vec::new();
                    format::write_source_to(
                        &mut InMemory::new(&voxels),
                        &mut bytes,
                        bt(),
                        &options,
                    )
                    .unwrap();
                    bytes
                };
                voxelize::par::with_threads(threads, write).unwrap()
            };
            assert!(threads(1) == expected && threads(3) == expected);
        }
    }
}

/// Returns the error of a lattice beyond the tree. It is the same before and during writing.
fn beyond_tree(dims: [usize; 3], origin: [i64; 3]) -> voxelize::Error {
    let bits = BitGrid::new(dims).unwrap();
    let voxels = at(bits, whole(origin));
    let lattice = voxels.lattice.as_ref().unwrap();
    let early = format::check(CellKind::Bits, lattice, bt(), &SaveOptions::default()).unwrap_err();
    let late =
        format::write_to(&voxels, &mut Vec::new(), bt(), &SaveOptions::default()).unwrap_err();
    assert_eq!(
        (early.code(), early.message()),
        (late.code(), late.message())
    );
    early
}

/// Other keys of a row of 65,536 cells, cells without neighbours before and after, and grids beyond the tree.
#[test]
fn the_tree_holds_65536_cells_an_axis_and_no_more() {
    let mut row = BitGrid::new([65536, 1, 1]).unwrap();
    [0, 1, 257, 2001, 32767, 32768, 65535]
        .into_iter()
        .for_each(|i| row.set([i, 0, 0]));
    let tree = Tree::parse(&written(&at(row.clone(), whole([-32768, 0, 0])), &[]));
    assert!(
        tree.cells(OCCUPIED, [0, 32768, 32768])
            .into_iter()
            .eq(row.iter())
    );
    for (dims, origin, said) in [
        ([70_000, 1, 1], [0, 0, 0], "70000 cells along x"),
        ([1, 1, 65_537], [-32768, 0, 0], "65537 cells along z"),
        ([1, 65_536, 1], [0, 0, 0], "too far from 0 along y"),
        ([3, 4, 2], [32766, 0, 0], "too far from 0 along x"),
        ([3, 4, 2], [0, 0, -32769], "too far from 0 along z"),
    ] {
        let error = beyond_tree(dims, origin);
        assert_eq!(error.code(), Code::TooLarge, "{error}");
        assert!(error.message().contains(said), "{error}");
    }
    // Cells without a place start at 0.
    let long = Voxels::new(BitGrid::new([32_769, 1, 1]).unwrap());
    let error =
        format::write_to(&long, &mut Vec::new(), bt(), &SaveOptions::default()).unwrap_err();
    assert_eq!(error.code(), Code::TooLarge);
    let spacing = [1, 1, 2].map(Rational::from);
    let flat = Lattice::new([3, 4, 2], whole([0; 3]), spacing, [true; 3]).unwrap();
    let error = format::check(CellKind::Bits, &flat, bt(), &SaveOptions::default()).unwrap_err();
    assert_eq!(error.code(), Code::Usage);
}

#[cfg(feature = "cli")]
#[test]
fn the_command_warns_about_moved_cells_and_write_only_files() {
    let place = Place::new();
    let run = place
        .run("thirds.stl --voxel-size 0.1 --bounds 0.05,0,0,0.7,0.3,0.5 -o a.bt")
        .expect(0);
    assert!(
        run.err.contains("warning[W004]") && run.err.contains("moved by"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("--origin 0,0,0") && run.err.contains("moved by (0.05, 0, 0);"),
        "{}",
        run.err
    );
    let run = place
        .run("thirds.stl --scale 2 --voxel-size 0.2 --bounds 0.1,0,0,1.4,0.6,1 -o a.bt")
        .expect(0);
    assert!(run.err.contains("moved by (0.1, 0, 0);"), "{}", run.err);
    let run = place
        .run("thirds.stl --voxel-size 0.1 --origin 0,0,0 --mark-free -o b.bt")
        .expect(0);
    assert!(
        !run.err.contains("moved by") && run.err.contains("leaves the inside of a part empty here"),
        "{}",
        run.err
    );
    let run = place
        .run("thirds.stl --voxel-size 0.1 --origin 0,0,0 --mark-free --filled -o b.bt")
        .expect(0);
    assert!(!run.err.contains("W004"), "{}", run.err);
    assert!(
        !Tree::parse(&std::fs::read(place.path("b.bt")).unwrap())
            .leaves
            .is_empty()
    );
    place
        .run("thirds.stl --voxel-size 0.1 --bounds 0.05,0,0,0.7,0.3,0.5 -o a.npz")
        .expect(0);
    let run = place.run("convert a.npz c.bt").expect(0);
    assert!(
        run.err.contains("warning[W004]") && run.err.contains("moved by"),
        "{}",
        run.err
    );
    for (words, code, said) in [
        (
            "info a.bt",
            3,
            "voxels are written to .bt files, not read from them",
        ),
        (
            "convert a.bt a.npz",
            3,
            "voxels are written to .bt files, not read from them",
        ),
        (
            "cube.stl --voxel-size 0.0003 -o a.bt",
            5,
            "66667 cells along x",
        ),
        ("cube.stl -r 8 -o a.npz --mark-free", 2, "--mark-free"),
    ] {
        let error = refused(&place, words, code);
        assert!(error.contains(said), "{words}: {error}");
    }
}
