//! `--like` of scans in any frame: the mask has the array and the position of the scan.

use std::fs;
use std::io::Cursor;

use voxelize::format::{self, SaveOptions};
use voxelize::grid::{CellSource, CellType, Cells, InMemory, ScanFrame, Slab};
use voxelize::{BitGrid, Digest, Field, Lattice, Rational, Record, Result, Voxels};

use crate::support::bless::root;
use crate::support::place::Place;
use crate::support::rows;

/// Returns the header of a scan of 16-bit numbers.
fn scan(dims: [usize; 3], centre: &[String; 3], steps: &[[String; 3]; 3]) -> String {
    let [x, y, z] = dims;
    format!(
        "NRRD0004\ntype: short\ndimension: 3\nsizes: {x} {y} {z}\nspace: left-posterior-superior\n\
         space directions: {}\nspace origin: {}\nencoding: raw\n\n",
        steps.each_ref().map(vector).join(" "),
        vector(centre)
    )
}

fn vector(parts: &[String; 3]) -> String {
    format!("({})", parts.join(","))
}

/// Returns the bytes of the cells of an uncompressed NRRD, and the lines of its header that state its position.
fn parts_of(bytes: &[u8]) -> (Vec<String>, &[u8]) {
    let end = bytes.windows(2).position(|two| two == b"\n\n").unwrap();
    let header = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let names = ["sizes", "space directions", "space origin"];
    let is_position = |line: &&str| names.iter().any(|name| line.starts_with(name));
    let lines = header.lines().filter(is_position);
    (lines.map(str::to_string).collect(), &bytes[end + 2..])
}

/// Returns the axes of the array in terms of the axes of the lattice, with a sign: 6 orders, 8 signs.
fn signed_permutations() -> Vec<[(usize, bool); 3]> {
    let mut all = vec![];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        for signs in 0..8 {
            all.push([0, 1, 2].map(|n| (order[n], signs >> n & 1 == 1)));
        }
    }
    all
}

const DIMS: [usize; 3] = [9, 11, 7];

/// Returns the dims, the centre of the first cell and the steps of an array with these axes, whose cells have the
/// corner −0.5, −1.25, −0.75 and the sizes 0.5, 0.75 and 1.
fn along(axes: [(usize, bool); 3]) -> ([usize; 3], [String; 3], [[String; 3]; 3]) {
    let (origin, size) = ([-0.5, -1.25, -0.75], [0.5, 0.75, 1.0]);
    let mut centre = [0, 1, 2].map(|axis| origin[axis] + size[axis] / 2.0);
    let mut steps = [[0.0; 3]; 3];
    for (n, (axis, is_back)) in axes.into_iter().enumerate() {
        steps[n][axis] = if is_back { -size[axis] } else { size[axis] };
        if is_back {
            centre[axis] += size[axis] * (DIMS[axis] - 1) as f64;
        }
    }
    let text = |vector: [f64; 3]| vector.map(|part| part.to_string());
    (
        axes.map(|(axis, _)| DIMS[axis]),
        text(centre),
        steps.map(text),
    )
}

/// Returns the index in the lattice of a cell of an array with these axes.
fn in_lattice(cell: [usize; 3], axes: [(usize, bool); 3]) -> [usize; 3] {
    let mut found = [0; 3];
    for (index, (axis, is_back)) in cell.into_iter().zip(axes) {
        found[axis] = if is_back {
            DIMS[axis] - 1 - index
        } else {
            index
        };
    }
    found
}

fn every_cell([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..nx * ny * nz).map(move |n| [n % nx, n / nx % ny, n / nx / ny])
}

#[test]
fn masks_have_the_array_of_scans_whose_axes_are_reversed_or_permuted() {
    let place = Place::new();
    fs::copy(root("fixtures/f.stl"), place.path("f.stl")).unwrap();
    let (mut base, mut digest) = (None, None);
    for axes in signed_permutations() {
        let (dims, centre, steps) = along(axes);
        let header = scan(dims, &centre, &steps);
        place.write("scan.nrrd", &header);
        let runs = rows::check(
            &place,
            "0 f.stl --like scan.nrrd --filled --dtype bool --uncompressed -o mask.nrrd --json
                no err W018
             0 convert mask.nrrd mask.nii
             0 convert mask.nii again.nrrd --uncompressed",
        );
        let json = runs[0].json()["digest"].clone();
        let bytes = fs::read(place.path("mask.nrrd")).unwrap();
        let (position, cells) = parts_of(&bytes);
        let read = Voxels::open(place.path("mask.nrrd")).unwrap();
        let occupied = read.occupied().unwrap().clone();
        // The first scan has the axes x, y and z.
        let base = base.get_or_insert(occupied.clone());
        assert!(base.count() > 50 && base.count() < 600, "{}", base.count());
        assert_eq!(*digest.get_or_insert(json.clone()), json, "{axes:?}");
        assert!(*base == occupied, "{axes:?}");
        for (n, cell) in every_cell(dims).enumerate() {
            let expected = base.get(in_lattice(cell, axes));
            assert_eq!(cells[n] == 1, expected, "{axes:?}: {cell:?}");
        }
        assert_eq!(position, parts_of(header.as_bytes()).0, "{axes:?}");
        let again = fs::read(place.path("again.nrrd")).unwrap();
        assert!(parts_of(&again) == (position, cells), "{axes:?}");
        let nii = fs::read(place.path("mask.nii")).unwrap();
        assert!(nii.ends_with(cells), "{axes:?}");
    }
}

/// Tilted frames: angles about z and then x in radians, cell sizes, whether the third axis is reversed, and whether
/// the numbers are rounded to 32-bit floats.
const TILTED: [(f64, f64, [f64; 3], bool, bool); 5] = [
    (0.242, 0.0, [1.25, 1.25, 2.5], false, false),
    (0.3, -0.7, [0.9, 1.1, 1.3], false, false),
    (2.1, 0.4, [1.0, 1.0, 1.0], true, false),
    (-0.05, 0.02, [0.78125, 0.78125, 3.0], false, true),
    (1.1, 2.9, [1.7, 0.8, 1.0], true, true),
];

/// Returns the centre of the first cell and the steps of a tilted scan as decimals.
fn tilted(number: usize) -> ([String; 3], [[String; 3]; 3]) {
    let (about_z, about_x, sizes, is_reversed, is_float) = TILTED[number];
    let ([s, c], [t, d]) = (
        [about_z.sin(), about_z.cos()],
        [about_x.sin(), about_x.cos()],
    );
    let columns = [[c, s * d, s * t], [-s, c * d, c * t], [0.0, -t, d]];
    let mut steps = [[0.0; 3]; 3];
    for (n, column) in columns.into_iter().enumerate() {
        let sign = if is_reversed && n == 2 { -1.0 } else { 1.0 };
        steps[n] = column.map(|part| sign * part * sizes[n]);
    }
    // The middle of the scan is next to a corner of the cube.
    let mut centre = [17.31, 16.17, 2.63];
    for (axis, part) in centre.iter_mut().enumerate() {
        for (n, count) in TILTED_DIMS.into_iter().enumerate() {
            *part -= steps[n][axis] * (count / 2) as f64;
        }
    }
    // The addition of zero turns a negative zero into zero.
    let rounded = |part: f64| {
        0.0 + if is_float {
            f64::from(part as f32)
        } else {
            part
        }
    };
    let text = |vector: [f64; 3]| vector.map(|part| rounded(part).to_string());
    (text(centre), steps.map(text))
}

const TILTED_DIMS: [usize; 3] = [22, 18, 13];

#[test]
fn masks_of_tilted_scans_are_exact() {
    let zero = Rational::ZERO;
    let side = Rational::from(20);
    let near = Rational::new(1, 100_000);
    let (mut inside, mut skipped) = (0, 0);
    for number in 0..TILTED.len() {
        let place = Place::new();
        let (centre, steps) = tilted(number);
        let header = scan(TILTED_DIMS, &centre, &steps);
        place.write("scan.nrrd", &header);
        rows::check(
            &place,
            r#"0 cube.stl --like scan.nrrd --solid --uncompressed -o mask.nrrd --json
                /transform/frame/axes null
                /transform/frame/rounded true
                /warnings/0/code "W001"
                no err W018
               0 cube.stl --like scan.nrrd --solid -o mask.nii.gz
                err degrees into the axes of the scan, coordinates rounded
               0 cube.stl --like mask.nrrd --solid -o mask.npz
               0 diff mask.nrrd mask.nii.gz
               0 diff mask.nrrd mask.npz
               0 verify mask.nii.gz cube.stl
               0 verify mask.npz cube.stl
               0 info mask.nii.gz
                out along the axes of the image, which are tilted by
               0 convert mask.nii.gz again.nrrd --uncompressed
               0 view mask.nii.gz -o mask.png"#,
        );
        let exact = |text: &String| Rational::parse_decimal(text).unwrap();
        let centre = centre.each_ref().map(exact);
        let steps = steps.each_ref().map(|step| step.each_ref().map(exact));
        let mask = fs::read(place.path("mask.nrrd")).unwrap();
        let (position, cells) = parts_of(&mask);
        assert_eq!(position, parts_of(header.as_bytes()).0, "{number}");
        let again = fs::read(place.path("again.nrrd")).unwrap();
        assert!(parts_of(&again) == (position, cells), "{number}");
        for (n, cell) in every_cell(TILTED_DIMS).enumerate() {
            let mut is_inside = true;
            let mut is_near = false;
            for axis in 0..3 {
                let mut at = centre[axis].clone();
                for (index, step) in cell.into_iter().zip(&steps) {
                    at = &at + &(&step[axis] * &Rational::from(index as i64));
                }
                is_inside &= at > zero && at < side;
                is_near |= at.abs() < near || (&at - &side).abs() < near;
            }
            skipped += usize::from(is_near);
            inside += usize::from(is_inside);
            assert_eq!(cells[n] == 1, is_inside, "{number}: {cell:?}");
        }
    }
    assert!(inside > 3000 && skipped == 0, "{inside}, {skipped}");
}

#[test]
fn frames_that_cannot_be_kept_are_refused() {
    let place = Place::new();
    let write = |name: &str, steps: [[&str; 3]; 3]| {
        let text = |vector: [&str; 3]| vector.map(str::to_string);
        place.write(name, scan([8; 3], &text(["0"; 3]), &steps.map(text)));
    };
    write(
        "sheared.nrrd",
        [["1", "0", "0"], ["0.1", "1", "0"], ["0", "0", "1"]],
    );
    write(
        "flat.nrrd",
        [["1", "0", "0"], ["1", "0", "0"], ["0", "0", "1"]],
    );
    write(
        "short.nrrd",
        [["1", "0", "0"], ["0", "0", "0"], ["0", "0", "1"]],
    );
    write(
        "tilted.nrrd",
        [["0.8", "0.6", "0"], ["-0.6", "0.8", "0"], ["0", "0", "1"]],
    );
    // Such a deviation results from rounding.
    write(
        "nearly.nrrd",
        [
            ["0.8", "0.6", "0.00005"],
            ["-0.6", "0.8", "0"],
            ["0", "0", "1"],
        ],
    );
    rows::refused(
        &place,
        "3 cube.stl --like sheared.nrrd -o a.nrrd
            err V004]: sheared.nrrd: the axes of the image are not perpendicular: axes 1 and 2 meet at 84.2894 degrees
         3 cube.stl --like flat.nrrd -o a.nrrd
            err span no volume
         3 cube.stl --like short.nrrd -o a.nrrd
            err span no volume
         2 cube.stl --like tilted.nrrd -o a.vox
            err a.vox: the axes of the scan are tilted by 36.8699 degrees, and vox has no place for such axes
            err hint: formats that have: npy, npz, nrrd, nii, nii.gz, raw
         2 cube.stl --like tilted.nrrd -o a.stl
            err has no place for such axes
         2 cube.stl --like tilted.nrrd --solid --doubt b.vti -o a.nrrd
            err b.vti: the axes of the scan are tilted",
    );
    rows::check(
        &place,
        "0 cube.stl --like nearly.nrrd --solid -o nearly.nii
         0 cube.stl --like tilted.nrrd --solid -o tilted.npz
         0 verify nearly.nii cube.stl
         0 cube.stl -r 8 --solid -o plain.npz
         2 diff tilted.npz nearly.nii
            err directions of the axes
         2 convert tilted.npz a.vtu
            err vtu has no place for such axes
         2 plan cube.stl --like tilted.nrrd -o a.zarr
            err zarr has no place for such axes",
    );
}

#[test]
fn scale_translation_and_poses_precede_the_frame() {
    let place = Place::new();
    let (centre, steps) = tilted(1);
    place.write("scan.nrrd", scan(TILTED_DIMS, &centre, &steps));
    rows::check(
        &place,
        "0 cube.stl --like scan.nrrd --solid -o mask.nrrd
         0 cube.stl@scale=1/2 --like scan.nrrd --solid --scale 2 --unit mm -o scaled.nrrd
         0 diff mask.nrrd scaled.nrrd
         0 cube.stl@translate=-7,0,100 --like scan.nrrd --solid --translate 7,0,-100 -o moved.nrrd
         0 diff mask.nrrd moved.nrrd
         0 cube.stl@rotate=z,90 --like scan.nrrd --solid --rotate z,-90 -o turned.nrrd
         0 diff mask.nrrd turned.nrrd
         0 verify scaled.nrrd cube.stl@scale=1/2",
    );
}

/// Source that returns slabs of two layers.
struct TwoLayers<'a> {
    voxels: &'a Voxels,
    slab: Cells,
    next: usize,
}

impl CellSource for TwoLayers<'_> {
    fn dims(&self) -> [usize; 3] {
        self.voxels.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.voxels.lattice.as_ref()
    }

    fn record(&self) -> &Record {
        &self.voxels.record
    }

    fn cell_type(&self) -> CellType<'_> {
        self.voxels.cells.as_ref().cell_type()
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        let [nx, ny, nz] = self.dims();
        let first = self.next;
        if first == nz {
            return Ok(None);
        }
        self.next = nz.min(first + 2);
        let dims = [nx, ny, self.next - first];
        self.slab = match &self.voxels.cells {
            Cells::Bits(bits) => {
                let mut slab = BitGrid::new(dims)?;
                for [i, j, k] in every_cell(dims) {
                    if bits.get([i, j, first + k]) {
                        slab.set([i, j, k]);
                    }
                }
                slab.into()
            }
            Cells::Field(field) => {
                let values = every_cell(dims).map(|[i, j, k]| field.get([i, j, first + k]));
                Field::from_values(dims, field.background(), values.collect())?.into()
            }
            Cells::Labels(_) => panic!("bits or a field"),
        };
        Ok(Some(Slab {
            first,
            cells: self.slab.as_ref(),
        }))
    }

    fn digest(&self) -> Digest {
        self.voxels.digest()
    }
}

#[test]
fn bytes_do_not_depend_on_slabs() {
    let mut bits = BitGrid::new(DIMS).unwrap();
    every_cell(DIMS)
        .filter(|[i, j, k]| (i * i + 3 * j + 7 * k) % 5 < 2)
        .for_each(|cell| bits.set(cell));
    let values = every_cell(DIMS).map(|[i, j, k]| (i + 20 * j + 400 * k) as f32);
    let field = Field::from_values(DIMS, -1.0, values.collect()).unwrap();
    let lattice = Lattice::from_f64(DIMS, [-4.0, 5.0, 6.0], [0.5, 0.75, 1.0]).unwrap();
    let mut seen = 0;
    for cells in [Cells::from(bits), Cells::from(field)] {
        for axes in signed_permutations() {
            let names = axes.map(|(axis, is_back)| {
                let sign = if is_back { "-" } else { "" };
                format!("{sign}{}", ["x", "y", "z"][axis])
            });
            let Ok(frame) = names.join(",").parse::<ScanFrame>() else {
                continue;
            };
            let voxels = Voxels {
                cells: cells.clone(),
                lattice: Some(lattice.clone()),
                record: Record {
                    transform: vec![("scan_frame", frame.to_string())],
                    ..Record::default()
                },
            };
            for name in ["nrrd", "nii", "nii.gz"] {
                let format = format::by_name(name).unwrap();
                let write = |source: &mut dyn CellSource| {
                    let mut bytes = vec![];
                    let options = SaveOptions::default();
                    format::write_source_to(source, &mut bytes, format, &options).map(|_| bytes)
                };
                let whole = write(&mut InMemory::new(&voxels)).unwrap();
                let slabs = write(&mut TwoLayers {
                    voxels: &voxels,
                    slab: cells.clone(),
                    next: 0,
                });
                if axes[2] == (2, false) {
                    assert!(slabs.unwrap() == whole, "{name}, {frame}");
                } else {
                    let error = slabs.unwrap_err();
                    assert!(error.message().contains("the whole grid"), "{error}");
                }
                let read = format::read_from(Cursor::new(whole), format, None).unwrap();
                assert!(read.digest() == voxels.digest(), "{name}, {frame}");
                assert_eq!(
                    read.record.transform("scan_frame"),
                    Some(&*frame.to_string())
                );
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 2 * 47 * 3);
}
